(** From the bounded lattice to all scores (research/docs/extension.md): every private table is a
    mechanism's. It rounds the scores, all by the same random offset, to steps of the lattice,
    clips the depths at the lattice's last one, and answers as the table says. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint intdiv fingroup perm zify ring.
From Optratio Require Import Mechanisms Program Private Exponential.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Scores in whole steps of the lattice. *)
Section Rounded.
Variables (R : realFieldType) (n k L : nat) (z : R) (t : table R n k).
Implicit Types (a : score integers n) (d : depths n k) (r s : 'I_n).

(** The depths below the best score, clipped at k; r only shows that there is a candidate. *)
Definition clipped a r : depths n k := [ffun s => inord (minn k `|top a r - a s|)].
Definition at_rounded a r : R := t (clipped a r) r.

Lemma clippedE a r s : clipped a r s = minn k `|top a r - a s| :> nat.
Proof. by rewrite ffunE inordK // ltnS geq_minl. Qed.
Lemma clipped_in_lattice a r : in_lattice (clipped a r).
Proof.
by have [s E] := topE a r; apply/existsP; exists s; rewrite clippedE E subrr absz0 minn0.
Qed.
Lemma clipped_any a r r' : clipped a r = clipped a r'.
Proof. by apply/ffunP => s; rewrite !ffunE (top_const a r' r). Qed.
Lemma clipped_shift a c r : clipped [ffun s => a s + c] r = clipped a r.
Proof. by apply/ffunP => s; rewrite !ffunE top_shift opprD addrACA subrr addr0. Qed.
Lemma clipped_perm a (p : {perm 'I_n}) r : clipped [ffun s => a (p s)] r =
  [ffun s => clipped a r (p s)].
Proof. by apply/ffunP => s; rewrite !ffunE (top_perm a p r r). Qed.
Lemma clipped_lattice d r : in_lattice d -> clipped [ffun s => - (d s : nat)%:Z] r = d.
Proof.
case/existsP=> s0 /eqP ds0; have E : top [ffun s => - (d s : nat)%:Z] r = 0.
  by apply: top_eq => [s|]; [rewrite ffunE; lia | exists s0; rewrite ffunE ds0].
apply/ffunP => s; apply: val_inj; rewrite /= clippedE E ffunE; have := ltn_ord (d s); lia.
Qed.

(** Clipping moves no two depths further apart. *)
Lemma clip_near (x y x' y' m m' : int) : 0 <= x' - x <= L%:Z -> 0 <= y' - y <= L%:Z ->
  x <= m -> y <= m -> x' <= m' -> y' <= m' -> m <= m' -> m' <= m + L%:Z ->
  (minn k `|m - x| + minn k `|m' - y'| <= minn k `|m' - x'| + minn k `|m - y| + L)%N.
Proof.
have A (a b : int) : b <= a -> exists2 v : nat, `|a - b|%N = v & a = b + v%:Z by exists `|a - b|%N;
  lia.
move=> hx hy /A[v1 -> E1] /A[v2 -> E2] /A[v3 -> E3] /A[v4 -> E4] mm mL; lia.
Qed.
Lemma clipped_near a a' r : (forall s, 0 <= a' s - a s <= L%:Z) ->
  near_by L (clipped a r) (clipped a' r).
Proof.
move=> moved s s'; rewrite !clippedE.
have m0 : top a r <= top a' r by have [i ->] := topE a r; move: (moved i) (top_ge a' r i); lia.
have mL : top a' r <= top a r + L%:Z by have [i ->] := topE a' r; move: (moved i) (top_ge a r i);
  lia.
apply: (clip_near (moved s) (moved s')) m0 mL; exact: top_ge.
Qed.

Lemma rounded_private a a' r : neighbor_rows_by L z t -> (forall s, 0 <= a' s - a s <= L%:Z) ->
  z * at_rounded a r <= at_rounded a' r.
Proof. by move=> rows /clipped_near near; apply: rows => //; exact: clipped_in_lattice. Qed.
Lemma rounded_ge0 a r : proper_table t -> 0 <= at_rounded a r.
Proof. by move=> tp; apply: (tp _ (clipped_in_lattice a r)).1. Qed.
Lemma rounded_sum a : (0 < n)%N -> proper_table t -> \sum_r at_rounded a r = 1.
Proof.
move=> n0 tp; rewrite -(tp _ (clipped_in_lattice a (Ordinal n0))).2.
by apply: eq_bigr => r _; rewrite /at_rounded (clipped_any a r (Ordinal n0)).
Qed.
Lemma rounded_shift a c r : at_rounded [ffun s => a s + c] r = at_rounded a r.
Proof. by rewrite /at_rounded clipped_shift. Qed.
Lemma rounded_lattice d r : in_lattice d -> at_rounded [ffun s => - (d s : nat)%:Z] r = t d r.
Proof. by move=> Qd; rewrite /at_rounded clipped_lattice. Qed.

(** A table that treats candidates alike. *)
Definition symmetric_table := forall d (p : {perm 'I_n}) r, in_lattice d ->
  t [ffun s => d (p s)] r = t d (p r).
Lemma rounded_symmetric a (p : {perm 'I_n}) r : symmetric_table ->
  at_rounded [ffun s => a (p s)] r = at_rounded a (p r).
Proof.
by move=> sym; rewrite /at_rounded clipped_perm sym ?(clipped_any a (p r) r) // clipped_in_lattice.
Qed.
End Rounded.

(** Integer scores, where a step of the lattice is 2: the offset is 0 or 1, each with probability
    1/2. *)
Section Integers.
Variables (R : realFieldType) (n k : nat) (z : R) (t : table R n k).
Implicit Types (q : score integers n) (d : depths n k) (r s : 'I_n).

Definition halved q (u : int) : score integers n := [ffun s => ((q s + u) %/ 2)%Z].
Definition extension : mechanism integers R n := fun q r =>
  (at_rounded t (halved q 0) r + at_rounded t (halved q 1) r) / 2%:R.

Lemma halved2 q r : at_rounded t (halved q 2) r = at_rounded t (halved q 0) r.
Proof.
rewrite -(rounded_shift t (halved q 0) 1); congr (at_rounded t _ r).
by apply/ffunP => s; rewrite !ffunE; lia.
Qed.

Theorem extension_proper : (0 < n)%N -> proper_table t -> proper_mechanism extension.
Proof.
move=> n0 tp; split=> [q r|q]; first by rewrite divr_ge0 ?ler0n // addr_ge0 // rounded_ge0.
by rewrite -mulr_suml big_split /= !rounded_sum // -[1 + 1]/(2%:R) divff ?pnatr_eq0.
Qed.

Theorem extension_private : neighbor_rows_by 1 z t -> private z extension.
Proof.
move=> rows q q' nb r; rewrite /extension mulrA ler_wpmul2r ?invr_ge0 ?ler0n // mulrDr.
rewrite -(halved2 q' r) [X in _ <= X]addrC.
by rewrite ler_add //; apply: (rounded_private r rows) => s; rewrite !ffunE; have := nb s; lia.
Qed.

Theorem extension_shift_invariant : shift_invariant extension.
Proof.
move=> q c r; have E u : halved [ffun s => q s + c] u = halved q (c + u).
  by apply/ffunP => s; rewrite !ffunE addrA.
rewrite /extension !E addr0; congr (_ / _).
have shift u i : at_rounded t (halved q (u + 2 * i)) r = at_rounded t (halved q u) r.
  rewrite -(rounded_shift t (halved q u) i); congr (at_rounded t _ r).
  by apply/ffunP => s; rewrite !ffunE; lia.
have [|] : (c = 0 + 2 * (c %/ 2)%Z \/ c = 1 + 2 * (c %/ 2)%Z) by lia.
  by move=> ->; rewrite [_ + 1]addrAC !shift.
by move=> ->; rewrite [_ + 1]addrAC !shift halved2 addrC.
Qed.

Theorem extension_symmetric : symmetric_table t -> symmetric_mechanism extension.
Proof.
move=> sym q p r; have E u : halved [ffun s => q (p s)] u = [ffun s => halved q u (p s)].
  by apply/ffunP => s; rewrite !ffunE.
by rewrite /extension !E !rounded_symmetric.
Qed.

Theorem table_of_extension d r : in_lattice d -> table_of extension d r = t d r.
Proof.
move=> Qd; rewrite /table_of /extension.
have E u : 0 <= u <= 1 -> halved (score_of d) u = [ffun s => - (d s : nat)%:Z].
  by move=> u01; apply/ffunP => s; rewrite !ffunE; lia.
by rewrite !E // rounded_lattice // -mulr2n -[t d r *+ 2]mulr_natr mulfK // pnatr_eq0.
Qed.
End Integers.
