(** Multipliers of the rows that the levels above paper add, for the lower bound: the rows are
    decided on count vectors, and taken off the costs with their multipliers. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm ring.
From Optratio Require Import Mechanisms Program CountVectors Classes Numbers Checker.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Definition asks_neighbors l := match l with Dp | Full => true | Paper | Monotone => false end.
Definition asks_monotone l := match l with Monotone | Full => true | Paper | Dp => false end.

(** The row x_left >= z x_right of privacy, or x_left >= x_right of monotonicity, of two variables,
    with its multiplier. *)
Record cut := Cut { of_privacy : bool; left_side : seq nat * nat; right_side : seq nat * nat;
  multiplier : Q }.

Section Cuts.
Variables (n k : nat) (z : Q).
Implicit Types (a b : seq nat * nat) (c : cut) (s : seq nat).

(** The depths of all candidates, that of the given one first and the others' in ascending
    order. *)
Definition candidates_of a : seq nat :=
  a.2 :: flatten [seq nseq (nth 0 a.1 u - (u == a.2)) u | u <- iota 0 k.+1].
Definition represents a s := [&& size s == n, all (leq^~ k) s, 0 < nth 0 a.1 0, head 0 s == a.2 &
  [seq count_mem w s | w <- iota 0 k.+1] == a.1].
Definition near_lists L s s' := let pairs := zip s s' in
  all (fun p => all (fun q => p.1 + q.2 <= p.2 + q.1 + L) pairs) pairs.
Definition favors_lists s s' := all (fun p => p.1 + head 0 s' <= p.2 + head 0 s) (zip s s').

(** What the rows take off the costs, by variable. *)
Definition class_weight a := qmul (weight n a.1) (qn (nth 0 a.1 a.2)).
Definition share c : Q := let r :=
  qmul (qdiv (class_weight (left_side c)) (class_weight (right_side c))) (multiplier c) in
  if of_privacy c then qmul z r else r.
Definition taken_off (t : trie Q) a : Q := odflt q0 (lookup t (a.2 :: a.1)).
Definition add_to a x (t : trie Q) : trie Q := insert t (a.2 :: a.1) (qadd (taken_off t a) x).
Definition cost_changes (cs : seq cut) : trie Q := foldr (fun c t =>
  add_to (left_side c) (qsub q0 (multiplier c)) (add_to (right_side c) (share c) t)) (Node [::]) cs.
Definition changed (base : seq nat * nat -> Q) cs : seq nat * nat -> Q :=
  if cs is [::] then base else let t := cost_changes cs in fun a => qadd (base a) (taken_off t a).
End Cuts.

Lemma lookup_empty A m : lookup (Node [::] : trie A) m = None.
Proof. by elim: m => //= i m IH; rewrite nth_nil. Qed.
Lemma lookup_insert A (t : trie A) m m' a : size m = size m' ->
  lookup (insert t m a) m' = if m == m' then Some a else lookup t m'.
Proof.
elim: m m' t => [|i m IH] [|j m'] t //= [sm]; rewrite eqseq_cons nth_set_nth /= [j == i]eq_sym.
case: eqP => [->|_] /=; first by rewrite IH //; case: eqP => // _; case: t => //= ?;
  rewrite nth_nil lookup_empty.
by case: t => //= ?; rewrite nth_nil lookup_empty.
Qed.

Section Soundness.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k : nat) (z : Q).
Hypothesis n0 : (0 < n)%N.
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Implicit Types (d e : depths) (r : 'I_n) (t : table R n k) (a b : seq nat * nat) (s : seq nat).

Definition vector_of s : depths := [ffun i : 'I_n => inord (nth 0%N s i)].
Let first : 'I_n := Ordinal n0.

Lemma vector_ofE s i : size s = n -> all (leq^~ k) s -> vector_of s i = nth 0%N s i :> nat.
Proof. by move=> ss sk; rewrite ffunE inordK // ltnS (allP sk) // mem_nth ?ss. Qed.
Lemma vector_of_class a s : represents n k a s -> class_of (vector_of s) first = a.
Proof.
case: a => m v /and5P[/eqP ss sk /= m0 /eqP hv /eqP <-]; rewrite /class_of; congr (_, _);
  last first.
  by rewrite -hv -nth0; exact: vector_ofE.
apply: eq_map => w; rewrite -sum1_count (big_nth 0%N) ss big_mkord [RHS]big_mkcond.
by apply: eq_bigr => i _; rewrite vector_ofE //; case: (_ == _).
Qed.
Lemma vector_of_lattice a s : represents n k a s -> in_lattice (vector_of s).
Proof.
move=> H; rewrite in_lattice_cnt -nth_counts -[counts _]/(class_of (vector_of s) first).1
  (vector_of_class H).
by case/and5P: H.
Qed.
Lemma all_zip_nth (p : pred (nat * nat)) s s' i : size s = n -> size s' = n -> all p (zip s s') ->
  (i < n)%N -> p (nth 0%N s i, nth 0%N s' i).
Proof.
move=> ss ss' /allP H lt; rewrite -nth_zip ?ss ?ss' //; apply: H.
by rewrite mem_nth // size_zip ss ss' minnn.
Qed.

Lemma favors_permute (p : 'S_n) r d e : favors r d e ->
  favors ((p^-1)%g r) (permuted p d) (permuted p e).
Proof. by move=> H s; rewrite !ffunE permKV. Qed.

Lemma class_weightE a s : represents n k a s -> qR (class_weight n a) = (class_size n k a)%:R.
Proof.
case: a => m v H; have E := vector_of_class H; have [_ _ /= m0 _ _] := and5P H.
have cm : m \in count_vectors k n by have <- : counts (vector_of s) = m := congr1 fst E;
  exact: counts_count_vectors.
by rewrite class_sizeE // /class_weight qR_mul qRn (weightE R cm) natrM.
Qed.
Lemma class_size_gt0 a s : represents n k a s -> 0 < (class_size n k a)%:R :> R.
Proof.
move=> H; rewrite ltr0n /class_size (bigD1 (vector_of s)) ?(vector_of_lattice H) //=.
by rewrite (bigD1 first) ?(vector_of_class H) ?eqxx.
Qed.

(** What a row says of the total probabilities of two classes. *)
Definition holds t c :=
  [/\ exists s, represents n k (left_side c) s, exists s, represents n k (right_side c) s &
  (if of_privacy c then qR z else 1) * mass t (right_side c) * (class_size n k (left_side c))%:R
    <= mass t (left_side c) * (class_size n k (right_side c))%:R].

(** It says so if it holds of two representatives, however their candidates are named. *)
Lemma holds_of t c s s' : represents n k (left_side c) s -> represents n k (right_side c) s' ->
  (forall p : 'S_n, (if of_privacy c then qR z else 1) * t (permuted p (vector_of s'))
    ((p^-1)%g first)
    <= t (permuted p (vector_of s)) ((p^-1)%g first)) -> holds t c.
Proof.
move=> Ha Hb row; split; [by exists s | by exists s' |].
rewrite -{1 2}(vector_of_class Ha) -{1 2}(vector_of_class Hb).
by apply: row_of_classes row; [exact: vector_of_lattice Ha | exact: vector_of_lattice Hb].
Qed.

Lemma near_listsP L a b s s' : represents n k a s -> represents n k b s' -> near_lists L s s' ->
  forall i j, (vector_of s i + vector_of s' j <= vector_of s' i + vector_of s j + L)%N.
Proof.
move=> /and5P[/eqP sa ka _ _ _] /and5P[/eqP sb kb _ _ _] ok i j; rewrite !vector_ofE //.
by have /= := all_zip_nth sa sb (all_zip_nth (p := fun q => all _ _) sa sb ok (ltn_ord i))
  (ltn_ord j).
Qed.
Lemma favors_listsP a b s s' : represents n k a s -> represents n k b s' -> favors_lists s s' ->
  favors first (vector_of s) (vector_of s').
Proof.
move=> /and5P[/eqP sa ka _ _ _] /and5P[/eqP sb kb _ _ _] ok i.
by rewrite !vector_ofE // !nth0; exact: (all_zip_nth sa sb ok (ltn_ord i)).
Qed.

Lemma taken_off_add (u : trie Q) a b x : size a.1 = size b.1 ->
  qR (taken_off (add_to a x u) b) = qR (taken_off u b) + (if a == b then qR x else 0).
Proof.
move=> sab; rewrite {1}/taken_off /add_to lookup_insert /= ?sab //.
have -> : (a.2 :: a.1 == b.2 :: b.1) = (a == b).
  by case: a b {sab} => [m v] [m' v']; rewrite eqseq_cons xpair_eqE andbC.
by case: eqP => [->|_] /=; rewrite ?addr0 // qR_add.
Qed.

Lemma sum_class t a (x : R) :
  \sum_(d | in_lattice d) \sum_r (if a == class_of d r then x else 0) * t d r = x * mass t a.
Proof.
rewrite /mass mulr_sumr; apply: eq_bigr => d _; rewrite mulr_sumr [RHS]big_mkcond;
  apply: eq_bigr => r _.
by rewrite eq_sym; case: ifP; rewrite ?mul0r.
Qed.

Lemma represents_size a s : represents n k a s -> size a.1 = k.+1.
Proof. by case/and5P => _ _ _ _ /eqP <-; rewrite size_map size_iota. Qed.

Section Changed.
Variables (t : table R n k) (row : pred cut).
Hypothesis row_holds : forall c, row c -> holds t c.

Lemma changes_le cs : all row cs -> all (fun c => qle q0 (multiplier c)) cs ->
  \sum_(d | in_lattice d) \sum_r qR (taken_off (cost_changes n z cs) (class_of d r)) * t d r <= 0.
Proof.
elim: cs => [_ _|c cs IH /= /andP[ok rows] /andP[mu0 mus]].
  by rewrite big1 // => d _; rewrite big1 // => r _; rewrite /taken_off lookup_empty qR0 mul0r.
have [[? Ha] [? Hb] le] := row_holds ok; have [sa sb] := (represents_size Ha, represents_size Hb).
rewrite (_ : \sum_(d | _) _ = \sum_(d
  | in_lattice d) \sum_r qR (taken_off (cost_changes n z cs) (class_of d r)) * t d r
  + (qR (share n z c) * mass t (right_side c) - qR (multiplier c) * mass t (left_side c)));
    last first.
  rewrite -mulNr -!sum_class -!big_split; apply: eq_bigr => d _; rewrite -!big_split;
    apply: eq_bigr => r _ /=.
  by rewrite !taken_off_add ?sa ?sb ?size_counts // qR_sub qR0 sub0r !mulrDl !addrA.
rewrite -[X in _ <= X]addr0 ler_add ?IH // subr_le0.
have [wa wb] := (class_size_gt0 Ha, class_size_gt0 Hb); move: le.
have -> : qR (share n z c) = (if of_privacy c then qR z else 1) *
    (class_size n k (left_side c))%:R / (class_size n k (right_side c))%:R * qR (multiplier c).
  rewrite -(class_weightE Ha) -(class_weightE Hb) /share.
  move: (class_weight n (left_side c)) (class_weight n (right_side c)) => wl wr.
  by case: of_privacy; [rewrite 2!qR_mul qR_div !mulrA | rewrite qR_mul qR_div mul1r].
move: wb; set A := (class_size n k (left_side c))%:R; set B := (class_size n k (right_side c))%:R;
  set rho := (if _ then _ else _) => wb H.
have -> : rho * A / B * qR (multiplier c) * mass t (right_side c) = qR (multiplier c) *
  (rho * mass t (right_side c) * A / B).
  by ring.
by rewrite ler_wpmul2l ?ler_pdivr_mulr //; move: mu0; rewrite (qR_le R) qR0.
Qed.

Theorem changed_le_of cs base : all row cs -> all (fun c => qle q0 (multiplier c)) cs ->
  \sum_(d | in_lattice d) \sum_r qR (changed n z base cs (class_of d r)) * t d r
    <= \sum_(d | in_lattice d) \sum_r qR (base (class_of d r)) * t d r.
Proof.
case: cs => // c cs; set cs' := c :: cs => rows mus; have := changes_le rows mus;
  set S := \sum_(d | _) _.
move=> S0; rewrite -[X in _ <= X]addr0; apply: le_trans (ler_add (lexx _) S0); rewrite le_eqVlt;
  apply/orP; left; apply/eqP.
rewrite -big_split; apply: eq_bigr => d _; rewrite -big_split; apply: eq_bigr => r _.
by rewrite /= qR_add mulrDl.
Qed.
End Changed.
End Soundness.
