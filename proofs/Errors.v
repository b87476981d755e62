(** The errors of permute-and-flip and of the exponential mechanism on the lattice, enclosed where
    z is, and exact where z is known. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip Objectives
  Exponential Numbers Checker.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.

Section Powers.
Variables (k : nat) (z : Q).
Fixpoint qpow i : Q := if i is i'.+1 then qmul z (qpow i') else qn 1.
Definition qpowers := [seq qpow v | v <- iota 0 k.+1].
Definition qA := qsum [seq qmul (qn v) (qpow v) | v <- index_iota 1 k.+1].
Definition qB := qsum [seq qpow v | v <- index_iota 1 k.+1].
End Powers.
Arguments qpowers : simpl never.

(** Of a function whose values are two numbers. *)
Definition both_over_orbits n k (f : seq nat -> Q * Q) : Q * Q :=
  (over_orbits n k (fun m => (f m).1), over_orbits n k (fun m => (f m).2)).

(** z lies between two numbers, and what is worked out is rounded by two functions, down and up. *)
Section Errors.
Variables (n k : nat) (zl zu : Q) (down up : Q -> Q).
(** The multipliers of the recurrence, Y and so A - B Y between the first number and the second. *)
Definition subtract (a b y : Q * Q) : Q * Q :=
  let most := qmul (if qle q0 y.2 then b.2 else b.1) y.2 in
  let least := qmul (if qle q0 y.1 then b.1 else b.2) y.1 in
  (down (qsub a.1 most), up (qsub a.2 least)).
Fixpoint qY (a b : Q * Q) i : Q * Q :=
  if i is i'.+1 then (if i' is 0%N then (q0, q0) else subtract a b (qY a b i')) else (q0, q0).
Definition ys := let a := (qA k zl, qA k zu) in let b := (qB k zl, qB k zu) in
  [seq qY a b i | i <- iota 0 n.+1].
Definition recurrence : seq nat -> Q * Q := let s := ys in fun m => nth (q0, q0) s (nth 0%N m 0).
Definition em_loss : seq nat -> Q * Q := let low := qpowers k zl in let high := qpowers k zu in
  let losses s m := over_depths k m (fun v => qmul (qn v) (nth q0 s v)) in
  let weights s m := over_depths k m (nth q0 s) in
  fun m => (down (qdiv (losses low m) (weights high m)),
    up (qdiv (losses high m) (weights low m))).

Local Open Scope ring_scope.
Variables (R : realFieldType) (z : R).
Local Notation qR := (qR R).
Hypotheses (z0 : 0 < qR zl) (low_z : qR zl <= z) (z_high : z <= qR zu).
Hypotheses (downP : forall x, qR (down x) <= qR x) (upP : forall x, qR x <= qR (up x)).
Definition encloses (i : Q * Q) (x : R) := qR i.1 <= x <= qR i.2.

Lemma qpowE q i : qR (qpow q i) = qR q ^+ i.
Proof. by elim: i => [|i IH]; rewrite ?qRn // exprS -IH -qR_mul. Qed.
Local Notation ones := (@same_weight R).
Local Notation depth := (@depth_loss R).
Lemma z_ge0 : 0 <= z. Proof. exact: le_trans (ltW z0) low_z. Qed.
Lemma pow_low i : qR (qpow zl i) <= z ^+ i.
Proof. by rewrite qpowE ler_expn2r // ?nnegrE ?z_ge0 // ltW. Qed.
Lemma pow_high i : z ^+ i <= qR (qpow zu i).
Proof. by rewrite qpowE ler_expn2r // ?nnegrE ?z_ge0 // (le_trans z_ge0). Qed.
Lemma pow_ge0 i : 0 <= qR (qpow zl i).
Proof. by rewrite qpowE exprn_ge0 // ltW. Qed.

Lemma A_between : encloses (qA k zl, qA k zu) (threshold_A k z ones depth).
Proof.
rewrite /encloses /qA !qR_sum /threshold_A divr1.
by apply/andP; split; apply: ler_sum => v _;
  rewrite qR_mul qRn mul1r ler_wpmul2l ?ler0n ?pow_low ?pow_high.
Qed.
Lemma B_between : encloses (qB k zl, qB k zu) (threshold_B k z ones).
Proof.
rewrite /encloses /qB !qR_sum /threshold_B divr1.
by apply/andP; split; apply: ler_sum => v _; rewrite mul1r ?pow_low ?pow_high.
Qed.
Lemma B_low_ge0 : 0 <= qR (qB k zl).
Proof. by rewrite /qB qR_sum sumr_ge0 // => v _; exact: pow_ge0. Qed.

Lemma subtract_between a b y (a' b' y' : R) : encloses a a' -> encloses b b' -> 0 <= qR b.1 ->
  encloses y y' ->
  encloses (subtract a b y) (a' - b' * y').
Proof.
move=> /andP[a1 a2] /andP[b1 b2] b0 /andP[y1 y2]; have b'0 := le_trans b0 b1.
rewrite /encloses /subtract /=; apply/andP; split.
  apply: (le_trans (downP _)); rewrite qR_sub qR_mul; apply: ler_sub => //.
  apply: (le_trans (ler_wpmul2l b'0 y2)); rewrite (qR_le R) qR0; case: ifP => [pos|/negbT].
    exact: ler_wpmul2r.
  by rewrite -ltNge => neg; rewrite ler_wnmul2r // ltW.
apply: le_trans (upP _); rewrite qR_sub qR_mul; apply: ler_sub => //.
apply: le_trans (ler_wpmul2l b'0 y1); rewrite (qR_le R) qR0; case: ifP => [pos|/negbT].
  exact: ler_wpmul2r.
by rewrite -ltNge => neg; rewrite ler_wnmul2r // ltW.
Qed.
Lemma qY_between i :
  encloses (qY (qA k zl, qA k zu) (qB k zl, qB k zu) i) (threshold_Y k z ones depth i).
Proof.
elim: i => [|[|i] IH]; rewrite ?threshold_YS /encloses /= ?qR0 ?lexx //.
exact: subtract_between A_between B_between B_low_ge0 IH.
Qed.

Lemma over_orbits_between f (F : depths n k -> R) :
  (forall d, in_lattice d -> encloses (f (counts d)) (F d)) ->
  encloses (both_over_orbits n k f) (\sum_(d | in_lattice d) F d).
Proof.
move=> H; rewrite /encloses /= !over_orbitsE.
by apply/andP; split; apply: ler_sum => d /H/andP[].
Qed.

Theorem pf_total_between :
  encloses (both_over_orbits n k recurrence) (table_error (pf_table z : table R n k)).
Proof.
rewrite pf_value; apply: over_orbits_between => d _.
have c0 : nth 0%N (counts d) 0 = cnt d 0 := nth_counts d 0.
have le : (cnt d 0 <= n)%N by rewrite -[X in (_ <= X)%N](sum_counts d) /counts /= leq_addr.
by rewrite /recurrence c0 (nth_map 0%N) ?size_iota // nth_iota // add0n qY_between.
Qed.

Lemma powersE q (d : depths n k) r : qR (nth q0 (qpowers k q) (d r)) = qR (qpow q (d r)).
Proof. by rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n. Qed.

Theorem em_total_between :
  encloses (both_over_orbits n k em_loss) (table_error (em_table z : table R n k)).
Proof.
apply: over_orbits_between => d /existsP[u _].
pose num (q : R) := \sum_r (d r)%:R * q ^+ d r; pose den (q : R) := \sum_s q ^+ d s.
have E : \sum_r (d r)%:R * em_table z d r = num z / den z.
  by rewrite mulr_suml; apply: eq_bigr => r _; rewrite mulrA.
have pow q q' i : 0 < q -> q <= q' -> q ^+ i <= q' ^+ i.
  by move=> q_0 le; rewrite ler_expn2r // nnegrE ?(le_trans _ le) // ltW.
have den_gt0 q : 0 < q -> 0 < den q.
  move=> q_0; rewrite /den (bigD1 u) //= ltr_paddr ?exprn_gt0 // sumr_ge0 // => s _.
  by rewrite exprn_ge0 // ltW.
have ratio q1 q2 q3 q4 : 0 < q1 -> q1 <= q2 -> 0 < q4 -> q4 <= q3 ->
    num q1 / den q3 <= num q2 / den q4.
  move=> p1 le1 p4 le4; have p3 := lt_le_trans p4 le4; apply: ler_pmul.
  - by apply: sumr_ge0 => r _; rewrite mulr_ge0 ?ler0n ?exprn_ge0 // ltW.
  - by rewrite invr_ge0 ltW ?den_gt0.
  - by apply: ler_sum => r _; rewrite ler_wpmul2l ?ler0n ?pow.
  by rewrite lef_pinv ?posrE ?den_gt0 //; apply: ler_sum => s _; exact: pow.
have z_gt0 := lt_le_trans z0 low_z.
have sums q : qR (over_depths k (counts d) (fun v => qmul (qn v) (nth q0 (qpowers k q) v))) =
    num (qR q) /\ qR (over_depths k (counts d) (nth q0 (qpowers k q))) = den (qR q).
  by rewrite !over_depthsE; split; apply: eq_bigr => r _; rewrite ?qR_mul ?qRn powersE qpowE.
rewrite E /em_loss /encloses /=; apply/andP; split.
  by apply: (le_trans (downP _)); rewrite qR_div (sums zl).1 (sums zu).2 ratio.
by apply: le_trans (upP _); rewrite qR_div (sums zu).1 (sums zl).2 ratio.
Qed.
End Errors.

(** The mean for an objective of what has the total f j on Q(n,j), and so of the two mechanisms. *)
Section Objective.
Variables (n k : nat) (zl zu : Q) (down up : Q -> Q) (o : objective).
Definition mean_for (f : nat -> seq nat -> Q) : Q :=
  qdiv (if o is Box then qsum [seq over_orbits n j (f j) | j <- iota 0 k.+1] else over_orbits n k
    (f k))
    (vector_count n k o).
Definition means_of (f : nat -> seq nat -> Q * Q) : Q * Q :=
  (mean_for (fun j m => (f j m).1), mean_for (fun j m => (f j m).2)).
Definition pf_error := means_of (fun j => recurrence n j zl zu down up).
Definition em_error := means_of (fun j => em_loss j zl zu down up).

Local Open Scope ring_scope.
Variables (R : realFieldType) (z : R).
Local Notation qR := (qR R).
Hypotheses (z0 : 0 < qR zl) (low_z : qR zl <= z) (z_high : z <= qR zu).
Hypotheses (downP : forall x, qR (down x) <= qR x) (upP : forall x, qR x <= qR (up x)).

Lemma means_between f (T : forall j, table R n j) :
  (forall j d r, (j <= k)%N -> narrow j (T k) d r = T j d r) ->
  (forall j, encloses (both_over_orbits n j (f j)) (table_error (T j))) ->
  encloses (means_of f) (objective_mean o (T k)).
Proof.
move=> alike E; rewrite /encloses /means_of /mean_for /= !qR_div vector_countE /objective_mean.
have v0 : 0 <= ((\sum_(d : depths n k | in_lattice d) shifts o d)%:R)^-1 :> R
  by rewrite invr_ge0 ler0n.
suff /andP[a b] : qR (if o is Box then qsum [seq over_orbits n j (fun m =>
  (f j m).1) | j <- iota 0 k.+1]
  else over_orbits n k (fun m => (f k m).1))
    <= table_loss (fun d => (shifts o d)%:R) (fun v => v%:R) (T k) <=
    qR (if o is Box then qsum [seq over_orbits n j (fun m => (f j m).2) | j <- iota 0 k.+1]
      else over_orbits n k (fun m => (f k m).2)).
  by rewrite !ler_wpmul2r.
case: o.
  have -> : table_loss (fun d => (shifts Vectors d)%:R) (fun v => v%:R) (T k) = table_error (T k).
    by apply: eq_bigr => d _; rewrite mul1r.
  exact: E.
rewrite (box_errors alike) !qR_sum -[iota 0 k.+1]/(index_iota 0 k.+1) !big_mkord.
by apply/andP; split; apply: ler_sum => j _; have /andP[] := E j.
Qed.

Theorem pf_errorE : encloses pf_error (objective_mean o (pf_table z : table R n k)).
Proof.
apply: (means_between (T := fun j => pf_table z)) => [j d r|j];
  [exact: narrow_pf | exact: pf_total_between].
Qed.

Theorem em_errorE : encloses em_error (objective_mean o (em_table z : table R n k)).
Proof.
apply: (means_between (T := fun j => em_table z)) => [j d r jk|j]; last exact: em_total_between.
by rewrite /narrow /em_table widenE //; congr (_ / _); apply: eq_bigr => s _; rewrite widenE.
Qed.
End Objective.
