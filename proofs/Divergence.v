(** Section witness of property rdp: at two neighboring inputs the probabilities that a table or a
    program states have a Renyi divergence of more than is claimed. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Numbers Epsilon Reader Certificate Lines Witness.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** The order less 1, which is infinite if there is none; what the divergence exceeds; the places;
    and all outcomes. *)
Record divergence := Divergence {
  above_1 : option Q; exceeded : Q; seen_at : place; all_stakes : seq stake }.

Fixpoint some A (P : A -> Prop) (s : seq A) : Prop := if s is a :: s' then P a \/ some P s'
  else False.

(** The outcomes that count: not those that are never taken. Nothing more is asked where a ratio is
    infinite. *)
Fixpoint settled (s : seq stake) : outcome (option (seq stake)) := if s is o :: s' then
    if qle (likely o).2 q0 then settled s' else
    if ~~ qle (likely o).1 q0 && qle (unlikely o).2 q0 then Ok None else
    let! _ := require (~~ qle (likely o).1 q0 && ~~ qle (unlikely o).1 q0)
      "a probability that may be 0" in
    let! t := settled s' in Ok (omap (cons o) t)
  else Ok (Some [::]).
Definition root_bits := 200.
(** No more than the ratio p/p' to the order less 1. *)
Definition least_power (a : Q) (o : stake) : Q :=
  let t := qto (qdiv (likely o).1 (unlikely o).2) (Z.to_nat (Qnum a)) in
  let r := (root_ends root_bits (Qden a) t).1 in
  if qle q0 r && qle (qto r (Pos.to_nat (Qden a))) t then r else q0.
Definition least_sum (a : Q) (s : seq stake) : Q :=
  qsum [seq qmul (likely o).1 (least_power a o) | o <- s].
Definition larger (d : divergence) (s : seq stake) (z : Q) : bool :=
  if above_1 d is Some a then ~~ qle (qmul z (least_sum a s)) (qn 1)
  else has (fun o => ~~ qle (gain z o) q0) s.
(** e^(-(order - 1) c), or e^-c. *)
Definition threshold_of (d : divergence) : parameter :=
  Epsilon (if above_1 d is Some a then qmul a (exceeded d) else exceeded d).

Definition exceeds (d : divergence) : outcome unit :=
  let! _ := require (apart (seen_at d)) "no neighbors, or equal" in
  let nonnegative o := qle q0 (likely o).1 && qle q0 (unlikely o).1 in
  let! _ := require (all nonnegative (all_stakes d)) "pmf" in
  let! t := settled (all_stakes d) in
  if t is Some s then
    let! (zl, zu) := ends_for 1200 (threshold_of d) in
    let hair := qmul zu (qadd (qn 1) (Qmake 1 (power2 100))) in
    if qle q0 zl && larger d s zl then Ok tt
    else if larger d s hair then Open "a violation as slight as this" else
      Bad "the property is not violated there"
  else Ok tt.

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
(** Whatever the probabilities are within their intervals, a ratio is infinite; or the order is and
    p > e^c p' for some outcome; or the sum of p r is more than e^((order - 1) c), where r is p/p'
    to the order less 1. *)
Definition diverges (d : divergence) := apart (seen_at d) /\ forall x y : nat -> R,
  each (within_stake x y) (all_stakes d) ->
  let at_outcome (P : nat -> Prop) := some (fun o => P (outcome_of o)) (all_stakes d) in
  at_outcome (fun o => 0 < x o /\ y o = 0) \/
  forall z, stands_for (threshold_of d) z ->
    if above_1 d is Some a then forall r : nat -> R,
      (forall o, 0 <= r o /\ r o ^+ Pos.to_nat (Qden a) * y o ^+ Z.to_nat (Qnum a) =
        x o ^+ Z.to_nat (Qnum a)) ->
      1 < z * \sum_(o <- all_stakes d) x (outcome_of o) * r (outcome_of o)
    else at_outcome (fun o => y o < z * x o).

Lemma least_powerE a o (x y r : R) : 0 < y -> 0 <= r ->
  r ^+ Pos.to_nat (Qden a) * y ^+ Z.to_nat (Qnum a) = x ^+ Z.to_nat (Qnum a) ->
  0 <= qR (likely o).1 <= x -> y <= qR (unlikely o).2 -> 0 <= qR (least_power a o) <= r.
Proof.
move=> y0 r0 E /andP[l0 lx] yu; rewrite /least_power; case: ifP; last by rewrite qR0 lexx.
rewrite !(qR_le R) !qtoE qR0 qR_div => /andP[low0 le]; rewrite low0 /=.
have i0 : (0 < Pos.to_nat (Qden a))%N by apply/ssrnat.ltP; exact: Pos2Nat.is_pos.
rewrite -(ler_pexpn2r i0) ?nnegrE //; apply: (le_trans le).
have -> : r ^+ Pos.to_nat (Qden a) = (x / y) ^+ Z.to_nat (Qnum a).
  by rewrite expr_div_n -E mulfK // expf_neq0 // gt_eqF.
have x0 := le_trans l0 lx; have u0 := lt_le_trans y0 yu.
have le' : qR (likely o).1 / qR (unlikely o).2 <= x / y.
  by apply: ler_pmul; rewrite ?invr_ge0 ?(ltW u0) // lef_pinv ?posrE.
by apply: ler_expn2r => //; rewrite nnegrE divr_ge0 // ltW.
Qed.

Definition surely_positive (o : stake) := 0 < qR (likely o).1 /\ 0 < qR (unlikely o).1.
Lemma settledE s t (x y : nat -> R) : settled s = Ok t ->
  all (fun o => qle q0 (likely o).1 && qle q0 (unlikely o).1) s -> each (within_stake x y) s ->
  if t is Some t then [/\ each (within_stake x y) t, each surely_positive t,
    forall f, \sum_(o <- t) x (outcome_of o) * f o = \sum_(o <- s) x (outcome_of o) * f o &
    forall P, some P t -> some P s]
  else some (fun o => 0 < x (outcome_of o) /\ y (outcome_of o) = 0) s.
Proof.
elim: s t => [|o s IH] t /=; first by case=> <-; split=> // f; rewrite !big_nil.
rewrite !(qR_le R) qR0 -!ltNge => H /andP[/andP[x1 y1] nn] [fo fs].
have [/andP[lx xu] /andP[ly yu]] := fo; move: H; case: ifP => [xu0 H|_].
  have := IH _ H nn fs; case: t {H} => [t [ft st Et Pt]|]; last by right.
  split=> // [f|P /Pt]; last by right.
  by rewrite big_cons (_ : x (outcome_of o) = 0) ?mul0r ?add0r //; apply/eqP; rewrite eq_le
    (le_trans xu xu0) (le_trans x1 lx).
case: ifP => [/andP[x0 yu0] [<-]|_ H].
  by left; split; [exact: lt_le_trans x0 lx | apply/eqP; rewrite eq_le (le_trans yu yu0) (le_trans
    y1 ly)].
have [u /requireE/andP[x0 y0] {}H] := bindE H; have [t' E [<-]] := bindE H.
have := IH _ E nn fs; case: t' {E H} => [t' [ft st Et Pt]|] /=; last by right.
by split=> // [f|P [Po|/Pt]]; [rewrite !big_cons Et | left | right].
Qed.

Lemma sum_least a s (x y r : nat -> R) : each (within_stake x y) s -> each surely_positive s ->
  (forall o, 0 <= r o /\ r o ^+ Pos.to_nat (Qden a) * y o ^+ Z.to_nat (Qnum a) =
    x o ^+ Z.to_nat (Qnum a)) ->
  qR (least_sum a s) <= \sum_(o <- s) x (outcome_of o) * r (outcome_of o).
Proof.
move=> f_s sure_s power; rewrite /least_sum qR_sum.
elim: s f_s sure_s => [|o s IH] /=; first by rewrite !big_nil.
move=> [[/andP[lx xu] /andP[ly yu]] fs] [[x0 y0] ss]; rewrite !big_cons ler_add ?IH // qR_mul.
have [r0 E] := power (outcome_of o); have l0 := ltW x0.
have /andP[p0 pr] : 0 <= qR (least_power a o) <= r (outcome_of o).
  by apply: least_powerE r0 E _ yu; rewrite ?l0 // (lt_le_trans y0).
exact: ler_pmul.
Qed.
Lemma gain_some s (zl z : R) (x y : nat -> R) q : qR q = zl -> 0 <= zl <= z ->
  each (within_stake x y) s -> each surely_positive s -> has (fun o => ~~ qle (gain q o) q0) s ->
  some (fun o => y (outcome_of o) < z * x (outcome_of o)) s.
Proof.
move=> Eq /andP[zl0 low]; elim: s => //= o s IH [[/andP[lx _] /andP[_ yu]] fs] [[x0 _] ss].
case/orP => [H|/(IH fs ss)]; [left | by right].
move: H; rewrite (qR_le R) qR0 /gain qR_sub qR_mul Eq -ltNge subr_gt0 => lt.
by apply: (le_lt_trans yu); apply: (lt_le_trans lt); apply: ler_pmul => //; exact: ltW.
Qed.

Theorem exceeds_sound d u : exceeds d = Ok u -> diverges d.
Proof.
rewrite /exceeds => H; have [v near {}H] := bindE H; have [v' nn {}H] := bindE H.
have [t E {}H] := bindE H; split=> [|x y inside at_outcome]; first exact: requireE near.
have := settledE E (requireE nn) inside; case: t {E} H => [s|_]; last by left.
move=> H [fs ss Es Ps]; right=> z zp; have [[zl zu] /ends_forE/(_ zp)/andP[low _] {}H] := bindE H.
move: H; case: ifP => [/andP[]|_]; last by case: ifP.
rewrite (qR_le R) qR0 /larger => zl0 more _; case: (above_1 d) more => [a|] more; last first.
  by apply: Ps; apply: gain_some more => //; rewrite ?zl0 ?low.
move=> r power; have := sum_least fs ss power; rewrite Es.
move: more; rewrite (qR_le R) qR_mul qRn -ltNge => more le.
apply: (lt_le_trans more); apply: ler_pmul => //.
rewrite leNgt; apply/negP => neg; move: more; rewrite ltNge => /negP; apply.
by rewrite (le_trans _ ler01) // mulr_ge0_le0 // ltW.
Qed.
End Meaning.

(** Reading the lines after "problem witness". *)
Definition take_order (l : lines_left) : outcome (option Q * Q * lines_left) :=
  let! (a, l) := take_one "order" l in
  let! a := if same a (word "inf") then Ok None else
    let! x := found (short_fraction a) "order" in
    let! _ := require (qle (qn 1) x && qle x (qz 1048576)) "order" in
    if qle x (qn 1) || Z.ltb 64 (Zpos (Qden x)) || Z.ltb 4096 (Qnum x) then Open "such an order"
    else Ok (Some (qsub x (qn 1))) in
  let! (c, l) := take_number "claimed" l in Ok (a, c, l).
Definition read_divergence (rest : seq text) : outcome divergence :=
  let! (e, l) := witness_head "rdp" rest in
  let! (p, d, order, c, l) := let! (p, d, a, l) := take_place (fun l =>
    let! (a, c, l) := take_order l in Ok ((a, c), l)) l in Ok (p, d, a.1, a.2, l) in
  let! _ := require (same_q d (qn 1)) "distance" in
  let! (name, l) := take_text "event" l in
  let! _ := require (0 < size name) "event" in
  if has (has (same^~ (word "-"))) (take 2 l) then Open "a probability that is not known" else
  let! (s, l) := take_stakes (size (behead (head [::] l))) None true l in
  let! _ := finished rest l in Ok (Divergence order c p s).

Definition check_divergence (rest : seq text) : outcome divergence :=
  let! d := read_divergence rest in let! _ := exceeds d in Ok d.
Theorem check_divergence_sound (R : realFieldType) rest d : check_divergence rest = Ok d ->
  diverges R d.
Proof.
by move=> H; have [d' _ {}H] := bindE H; have [u E [<-]] := bindE H; exact: exceeds_sound E.
Qed.
