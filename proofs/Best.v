(** The optimum of level dp is the least loss of a mechanism, and the sharp threshold is about
    mechanisms: where z + ... + z^k > 1 and n >= 3 there is one that is better than
    permute-and-flip. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint fingroup perm ring zify.
From Optratio Require Import Mechanisms Program Threshold PermuteAndFlip Objectives Private Sharp
  Extension.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tables.
Variables (R : realFieldType) (n k L : nat) (z : R).
Implicit Types (t : table R n k) (d : depths n k) (W : depths n k -> R) (c : nat -> R).
Definition same_on_lattice t t' := forall d r, in_lattice d -> t d r = t' d r.

Lemma feasible_same l t t' : same_on_lattice t t' -> feasible_by L z l t -> feasible_by L z l t'.
Proof.
move=> E [tp rows]; have P : proper_table t'.
  by move=> d Qd; split=> [r|]; rewrite -?E ?(tp d Qd).1 // -(tp d Qd).2; apply: eq_bigr => r _;
    rewrite E.
have N : neighbor_rows_by L z t -> neighbor_rows_by L z t' by move=> H r d e Qd Qe; rewrite -!E //;
  exact: H.
have W : worst_rows_by L z t -> worst_rows_by L z t' by move=> H r d e Qd Qe; rewrite -!E //;
  exact: H.
have M : monotone_rows t -> monotone_rows t' by move=> H r d e Qd Qe; rewrite -!E //; exact: H.
by split=> //; case: l rows => [/W|/N|[/W ? /M]|[/N ? /M]].
Qed.
Lemma loss_same W c t t' : same_on_lattice t t' -> table_loss W c t = table_loss W c t'.
Proof. by move=> E; apply: eq_bigr => d Qd; congr (_ * _); apply: eq_bigr => r _; rewrite E. Qed.
End Tables.

(** The mean over all permutations of the candidates treats them alike. *)
Section Symmetrized.
Variables (S : realDomainType) (R : realFieldType) (n : nat) (M : mechanism S R n).
Implicit Types (q : score S n) (p : {perm 'I_n}).
Definition symmetrized : mechanism S R n := fun q r =>
  (\sum_(p : {perm 'I_n}) M [ffun s => q (p s)] (p^-1%g r)) / #|{perm 'I_n}|%:R.

Lemma perms_gt0 : 0 < #|{perm 'I_n}|%:R :> R.
Proof. by rewrite ltr0n; apply/card_gt0P; exists 1%g. Qed.
Lemma symmetrized_proper : proper_mechanism M -> proper_mechanism symmetrized.
Proof.
case=> M0 M1; split=> [q r|q]; first by rewrite divr_ge0 ?(ltW perms_gt0) // sumr_ge0.
rewrite -mulr_suml exchange_big /= (eq_bigr (fun=> 1)) ?sumr_const ?divff ?(gt_eqF perms_gt0) // =>
  p _.
by rewrite (reindex_inj (@perm_inj _ p)) -[RHS](M1 [ffun s => q (p s)]); apply: eq_bigr => r _;
  rewrite permK.
Qed.
Lemma symmetrized_private z : private z M -> private z symmetrized.
Proof.
move=> Mz q q' nb r; rewrite mulrA ler_wpmul2r ?invr_ge0 ?(ltW perms_gt0) // mulr_sumr.
by apply: ler_sum => p _; apply: Mz => s; rewrite !ffunE.
Qed.
Lemma symmetrized_shift_invariant : shift_invariant M -> shift_invariant symmetrized.
Proof.
move=> Ms q c r; congr (_ / _); apply: eq_bigr => p _; rewrite -(Ms [ffun s => q (p s)] c).
by congr (M _ _); apply/ffunP => s; rewrite !ffunE.
Qed.
Lemma symmetrized_symmetric : symmetric_mechanism symmetrized.
Proof.
move=> q p0 r; congr (_ / _); rewrite [RHS](reindex_inj (mulIg p0)); apply: eq_bigr => p _.
by rewrite invMg permM permK; congr (M _ _); apply/ffunP => s; rewrite !ffunE permM.
Qed.

Variables (k : nat) (h : S).
Implicit Types (d : depths n k) (r : 'I_n).
Lemma table_symmetrized d r :
  table_by h symmetrized d r = (\sum_p table_by h M (permuted p d) (p^-1%g r)) / #|{perm 'I_n}|%:R.
Proof.
by congr (_ / _); apply: eq_bigr => p _; congr (M _ _); apply/ffunP => s; rewrite !ffunE.
Qed.
Lemma symmetrized_monotone_rows : monotone_rows (table_by h M : table R n k) ->
  monotone_rows (table_by h symmetrized : table R n k).
Proof.
move=> H r d e Qd Qe f; rewrite !table_symmetrized ler_wpmul2r ?invr_ge0 ?(ltW perms_gt0) //.
apply: ler_sum => p _; apply: H; rewrite ?permuted_in_lattice // => s.
by rewrite !ffunE permKV; exact: f.
Qed.
Lemma symmetrized_loss (W : depths n k -> R) c : (forall p d, W (permuted p d) = W d) ->
  table_loss W c (table_by h symmetrized) = table_loss W c (table_by h M).
Proof.
move=> sym; have N := lt0r_neq0 perms_gt0.
have E p : \sum_(d : depths n k | in_lattice d) W d *
  (\sum_r c (d r) * table_by h M (permuted p d) (p^-1%g r)) =
    table_loss W c (table_by h M).
  rewrite [RHS](reindex_inj (@permuted_inj n k p)); apply: eq_big => [d|d _];
    first by rewrite permuted_in_lattice.
  rewrite sym; congr (_ * _); rewrite (reindex_inj (@perm_inj _ p)); apply: eq_bigr => r _.
  by rewrite permK ffunE.
apply: (mulIf N); transitivity (\sum_(p : {perm 'I_n}) \sum_(d : depths n k | in_lattice d)
    W d * (\sum_r c (d r) * table_by h M (permuted p d) (p^-1%g r))).
  rewrite exchange_big /table_loss mulr_suml; apply: eq_bigr => d _; rewrite -mulr_sumr -mulrA;
    congr (_ * _).
  rewrite exchange_big mulr_suml; apply: eq_bigr => r _.
  by rewrite table_symmetrized -mulr_sumr -mulrA divfK.
by rewrite (eq_bigr _ (fun p _ => E p)) sumr_const mulr_natr.
Qed.
End Symmetrized.

(** M is a mechanism for all scores that the table is part of. *)
Definition extends (S : realDomainType) (R : realFieldType) n k (z : R) (h : S)
  (M : mechanism S R n)
    (t : table R n k) := [/\ proper_mechanism M, private z M & shift_invariant M] /\
  same_on_lattice (table_by h M) t.

Section Better.
Variables (S : realDomainType) (R : realFieldType) (n k : nat) (z : R) (h : S).
Hypotheses (n3 : (2 < n)%N) (z0 : 0 < z) (z1 : z < 1).
Hypothesis extension_exists : forall t : table R n k, feasible z Dp t -> exists M, extends z h M t.

Definition better_than_pf W (c : nat -> R) (M : mechanism S R n) :=
  [/\ proper_mechanism M, private z M, shift_invariant M & symmetric_mechanism M] /\
    monotone_rows (table_by h M : table R n k) /\
  table_loss W c (table_by h M) < table_loss W c (pf_table z : table R n k).

Lemma better_exists W (g c : nat -> R) u : loss c -> 0 < g 0%N -> (forall v, 0 <= g v) ->
  (u <= k)%N -> 0 < g u * c u -> g 0%N < \sum_(1 <= v < k.+1) g v * z ^+ v ->
  (forall p d, W (permuted p d) = W d) ->
  (forall d : depths n k, (forall s : 'I_n, (2 < s)%N -> d s = u :> nat) ->
    W d = product_prior g d) ->
  exists M, better_than_pf W c M.
Proof.
move=> c_loss g0 g_ge0 uk gc lt W_sym WE.
pose i0 := Ordinal (ltnW (ltnW n3)); pose i1 := Ordinal (ltnW n3); pose i2 := Ordinal n3.
have u0 : (0 < u)%N by case: u gc {uk WE} => //; rewrite c_loss.1 mulr0 ltxx.
pose w := Ordinal (uk : (u < k.+1)%N).
have [eta e0 feas] := @better_feasible R n k z z0 z1 i0 i1 i2 w isT isT isT u0 Full.
have less := @better_is_better R n k z z0 i0 i1 i2 w isT isT isT u0 g c g0 c_loss W eta _ e0 g_ge0
  gc lt.
have [|M [[Mp Mz Ms] E]] := @extension_exists (better z i0 i1 i2 w eta) _;
  first by case: feas => ? [].
exists (symmetrized M); split; last split.
- split; [exact: symmetrized_proper | exact: symmetrized_private
    | exact: symmetrized_shift_invariant |].
  exact: symmetrized_symmetric.
- apply: symmetrized_monotone_rows => r d e Qd Qe f; rewrite !E //.
  by case: feas => _ [_]; apply.
rewrite symmetrized_loss // (loss_same _ _ E); apply: less => d /andP[/forallP sh _];
  apply: WE => s s2.
have other (i : 'I_n) : (i <= 2)%N -> (s == i) = false by move=> i2';
  rewrite -val_eqE gtn_eqF // (leq_ltn_trans i2').
by have := sh s; rewrite !other //= => /eqP ->; rewrite /rest other.
Qed.
End Better.

(** Integer scores: the tables of private mechanisms are those that level dp allows. *)
Section Integers.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypothesis n0 : (0 < n)%N.
Lemma integers_extend (t : table R n k) : feasible z Dp t ->
  exists M, extends z (2%:R : integers) M t.
Proof.
case=> tp rows; exists (extension t); split; last exact: table_of_extension.
by split; [exact: extension_proper | exact: extension_private | exact: extension_shift_invariant].
Qed.

Theorem tables_of_mechanisms (t : table R n k) :
  (exists M : mechanism integers R n, [/\ proper_mechanism M, private z M & shift_invariant M] /\
    forall d r, in_lattice d -> table_of M d r = t d r) <-> feasible z Dp t.
Proof.
split=> [[M [[Mp Mz Ms] E]]|/integers_extend[M [Mok E]]].
  by apply: (feasible_same E); apply: table_of_feasible => // -[].
by exists M.
Qed.
End Integers.

(** The sharp threshold among mechanisms (research/docs/threshold.md, Theorems 1 and 2). They need
    be neither symmetric nor monotone; the better one is symmetric, and monotone as far as Q(n,k)
    goes. *)
Section Threshold.
Variables (R : realFieldType) (n k : nat) (E : integers -> R).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x).
Hypothesis E_anti : forall x y, x <= y -> E y <= E x.
Hypotheses (n3 : (2 < n)%N) (z1 : E (1 + 1) < 1).
Notation z := (E (1 + 1)).
Notation pf := (@permute_and_flip _ R n E).

Notation beats W c M := ([/\ proper_mechanism M, private z M,
  shift_invariant M & symmetric_mechanism M] /\
  monotone_rows (table_of M : table R n k) /\
  table_loss W c (table_of M : table R n k) < table_loss W c (table_of pf : table R n k)).

Lemma beats_exists W c : (exists M, better_than_pf z (2%:R : integers) W c M) ->
  exists M : mechanism integers R n, beats W c M.
Proof.
by case=> M [Mok [mono less]]; exists M; rewrite (pf_loss_on_lattice ED E_gt0).
Qed.
Let n0 : (0 < n)%N := ltnW (ltnW n3).
Let extend := @integers_extend R n k z n0.

Theorem pf_beaten_for_losses (g c : nat -> R) : loss c -> 0 < g 0%N -> (forall v, 0 <= g v) ->
  (exists2 u, (u <= k)%N & 0 < g u * c u) -> g 0%N < \sum_(1 <= v < k.+1) g v * z ^+ v ->
  exists M : mechanism integers R n, beats (product_prior g) c M.
Proof.
move=> c_loss g0 g_ge0 [u uk gc] lt; apply: beats_exists.
apply: (better_exists n3 (E_gt0 _) z1 extend c_loss g0 g_ge0 uk gc lt) => // p d.
by rewrite /product_prior [RHS](reindex_inj (@perm_inj _ p)); apply: eq_bigr => s _; rewrite ffunE.
Qed.
Theorem pf_beaten : 1 < \sum_(1 <= v < k.+1) z ^+ v ->
  exists M : mechanism integers R n, [/\ proper_mechanism M, private z M,
    shift_invariant M & symmetric_mechanism M] /\
    monotone_rows (table_of M : table R n k) /\ mean_error k M < mean_error k pf.
Proof.
move=> lt; case: (posnP k) lt => [->|k0 lt]; first by rewrite big_geq // ltr10.
have [|||M [Mok [mono less]]] :=
  @pf_beaten_for_losses (same_weight R) (@depth_loss R) (depth_is_loss R) ltr01.
- by move=> v; exact: ler01.
- by exists 1%N; rewrite ?mulr1 ?ltr01.
- by rewrite same_weight_sum.
by exists M; rewrite /mean_error table_mean_lt.
Qed.
Theorem pf_beaten_box : (3 < n)%N -> 1 < \sum_(1 <= v < k.+1) z ^+ v ->
  exists M : mechanism integers R n, [/\ proper_mechanism M, private z M,
    shift_invariant M & symmetric_mechanism M] /\
    monotone_rows (table_of M : table R n k) /\
    objective_mean Box (table_of M : table R n k) < objective_mean Box (table_of pf : table R n k).
Proof.
move=> n4 lt; have k0 : (0 < k)%N by case: (posnP k) lt => [->|//]; rewrite big_geq // ltr10.
have [|M [Mok [mono less]]] := @beats_exists (fun d => (shifts Box d)%:R) (@depth_loss R).
  apply: (better_exists (g := same_weight R) (u := k) n3 (E_gt0 _) z1 extend (depth_is_loss R)
    ltr01) => //.
  - by move=> v; exact: ler01.
  - by rewrite mul1r ltr0n.
  - by rewrite same_weight_sum.
  - move=> p d; congr ((_ - _)%:R); rewrite [RHS](reindex_inj (@perm_inj _ p)).
    by apply: eq_bigr => s _; rewrite ffunE.
  by move=> d /(_ (Ordinal n4) isT)/shifts_deepest ->; rewrite product_same.
by exists M; split=> //; split=> //; rewrite ltr_pmul2r // invr_gt0 ltr0n box_gt0.
Qed.

Theorem pf_best_iff_for_losses (g c : nat -> R) : loss c -> 0 < g 0%N -> (forall v, 0 <= g v) ->
  (exists2 u, (u <= k)%N & 0 < g u * c u) ->
  (forall M : mechanism integers R n, proper_mechanism M -> private z M -> shift_invariant M ->
    table_loss (product_prior g) c (table_of pf : table R n k) <=
    table_loss (product_prior g) c (table_of M : table R n k)) <->
  \sum_(1 <= v < k.+1) g v * z ^+ v <= g 0%N.
Proof.
move=> c_loss g0 g_ge0 ex; split=> [best|b1 M Mp Mz Ms]; last by apply: pf_best_for_losses => //;
  rewrite b1 orbT.
rewrite leNgt; apply/negP => lt; have [M [[Mp Mz Ms _] [_]]] :=
  pf_beaten_for_losses c_loss g0 g_ge0 ex lt.
by rewrite ltNge best.
Qed.
Theorem pf_best_iff :
  (forall M : mechanism integers R n, proper_mechanism M -> private z M -> shift_invariant M ->
    mean_error k pf <= mean_error k M) <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof.
split=> [best|b1 M Mp Mz Ms]; last exact: pf_best.
by rewrite leNgt; apply/negP => /pf_beaten[M [[Mp Mz Ms _] [_]]]; rewrite ltNge best.
Qed.
Theorem pf_best_box_iff : (3 < n)%N ->
  (forall M : mechanism integers R n, proper_mechanism M -> private z M -> shift_invariant M ->
    objective_mean Box (table_of pf : table R n k) <=
      objective_mean Box (table_of M : table R n k)) <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof.
move=> n4; split=> [best|b1 M Mp Mz Ms].
  by rewrite leNgt; apply/negP => /(pf_beaten_box n4)[M [[Mp Mz Ms _] [_]]]; rewrite ltNge best.
have -> : objective_mean Box (table_of pf : table R n k) = objective_mean Box (pf_table z :
  table R n k).
  by rewrite /objective_mean pf_loss_on_lattice.
by apply: pf_optimal_box; rewrite ?E_gt0 ?b1 ?orbT //; apply: table_of_feasible => // -[].
Qed.
End Threshold.
