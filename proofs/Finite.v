(** The kernel of the finite problems: weak duality in numbers. Inputs have cells, a table gives
    each outcome of a cell a probability, and rows with multipliers bound what every table
    costs. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Numbers Checker Cuts.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A cell of so many outcomes, and what it costs that each of them has a probability. *)
Record cell := Cell { name_of : seq nat; times : Q; cost : Q }.
(** A sum of variables with factors. *)
Definition form := seq (seq nat * Q).
Definition factor (t : trie Q) a : Q := odflt q0 (lookup t a).
Definition add_term (t : trie Q) (p : seq nat * Q) : trie Q :=
  insert t p.1 (qadd (factor t p.1) p.2).
Definition collected (f : form) : trie Q := foldl add_term (Node [::]) f.
Definition reduced (t : trie Q) c : Q := qdiv (qadd (cost c) (factor t (name_of c))) (times c).
Definition cheapest (t : trie Q) (cs : seq cell) : Q :=
  if cs is c :: cs' then foldl (fun a c => qmin a (reduced t c)) (reduced t c) cs' else q0.
(** A lower bound on the costs of all tables for which the form is at most the price. *)
Definition dual_bound (inputs : seq (seq cell)) (f : form) (price : Q) : Q :=
  let t := collected f in qsub (qsum [seq cheapest t cs | cs <- inputs]) price.

Section Soundness.
Variables (R : realFieldType) (x : seq nat -> R) (len : nat).
Local Notation qR := (qR R).
Definition value_at (f : form) : R := \sum_(p <- f) qR p.2 * x p.1.
Definition distribution (cs : seq cell) : bool :=
  all (fun c => (0 < qR (times c)) && (0 <= x (name_of c))) cs &&
    (\sum_(c <- cs) qR (times c) * x (name_of c) == 1).
Definition names (inputs : seq (seq cell)) := [seq name_of c | c <- flatten inputs].

Lemma collectedE f a : all (fun p => size p.1 == size a) f ->
  qR (factor (collected f) a) = \sum_(p <- f) (if p.1 == a then qR p.2 else 0).
Proof.
have H t : all (fun p => size p.1 == size a) f ->
    qR (factor (foldl add_term t f) a) = qR (factor t a) + \sum_(p <- f) (if p.1 == a then qR p.2
      else 0).
  elim: f t => [|p f IH] t /=; first by rewrite big_nil addr0.
  case/andP=> /eqP s ok; rewrite IH // big_cons addrA; congr (_ + _).
  rewrite /add_term {1}/factor lookup_insert //; case: eqP => [->|_] /=; last by rewrite addr0.
  by rewrite qR_add.
by move/H => ->; rewrite /factor lookup_empty qR0 add0r.
Qed.

Lemma value_atE f (ns : seq (seq nat)) : uniq ns -> all (fun a => size a == len) ns ->
  all (fun p => size p.1 == len) f ->
  (forall a, a \notin ns -> x a = 0) -> value_at f = \sum_(a <- ns) qR (factor (collected f) a) *
    x a.
Proof.
move=> un sn sf off;
  rewrite big_seq_cond (eq_bigr (fun a => \sum_(p <- f) (if p.1 == a then qR p.2 else 0) * x a));
  last first.
  move=> a /andP[an _];
    rewrite -mulr_suml collectedE // (eq_all (a2 := fun p => size p.1 == len)) // => p /=.
  by rewrite (eqP (allP sn a an)).
rewrite -big_seq_cond exchange_big; apply: eq_bigr => p _; have [pn|pn] := boolP (p.1 \in ns).
  by rewrite (bigD1_seq p.1) //= eqxx big1 ?addr0 // => a; rewrite eq_sym => /negbTE ->;
    rewrite mul0r.
by rewrite off // mulr0 big_seq big1 // => a an; case: eqP pn => [->|_ _]; rewrite ?an ?mul0r.
Qed.

Lemma cheapest_le t cs : distribution cs ->
  qR (cheapest t cs) <= \sum_(c <- cs) (qR (cost c) + qR (factor t (name_of c))) * x (name_of c).
Proof.
case/andP=> ok /eqP one; set m := cheapest t cs.
have: all (fun c => qR m <= qR (reduced t c)) cs.
  rewrite /m /cheapest; case: cs {ok one m} => //= c cs.
  suff H a : let l := qR (foldl (fun a c => qmin a (reduced t c)) a cs) in
      (l <= qR a) && all (fun c => l <= qR (reduced t c)) cs by exact: H.
  elim: cs a => [|c' cs IH] a /=; first by rewrite lexx.
  by have /andP[] := IH (qmin a (reduced t c')); rewrite /= qR_min le_minr => /andP[-> ->] ->.
rewrite -[X in X <= _]mulr1 -one; move: m => m; elim: cs ok {one} => [|c cs IH] /=;
  first by rewrite !big_nil mulr0.
case/andP=> /andP[c0 x0] ok /andP[le les];
  rewrite !big_cons mulrDr ler_add ?IH // mulrA ler_wpmul2r //.
by move: le; rewrite qR_div qR_add ler_pdivl_mulr.
Qed.

Theorem dual_bound_le inputs f price : all distribution inputs -> uniq (names inputs) ->
  all (fun a => size a == len) (names inputs) -> all (fun p => size p.1 == len) f ->
  (forall a, a \notin names inputs -> x a = 0) -> value_at f <= qR price ->
  qR (dual_bound inputs f price) <= \sum_(cs <- inputs) \sum_(c <- cs) qR (cost c) * x (name_of c).
Proof.
move=> ok un sn sf off le; rewrite qR_sub qR_sum ler_subl_addr;
  apply: le_trans (ler_add (lexx _) le).
rewrite (value_atE un sn sf off) /names big_map big_flatten -big_split /=.
elim: inputs ok {un sn off} => [|cs inputs IH] /=; first by rewrite !big_nil.
case/andP=> /(cheapest_le (collected f)) dist ok; rewrite !big_cons ler_add ?IH //;
  apply: le_trans dist _.
by rewrite -big_split; under eq_bigr do rewrite mulrDl.
Qed.
End Soundness.
