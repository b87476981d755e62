(** The extension of a table to all real scores, on lattices of step h = 2/L
    (research/docs/extension.md): one offset u, uniform in [0, 1), for all candidates. Scores and
    probabilities are in an archimedean field. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint fingroup perm ring zify.
From Optratio Require Import Mechanisms Program Threshold PermuteAndFlip Objectives Private Sharp.
From Optratio Require Import Extension Best Average.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Extension.
Variables (R : archiFieldType) (n k L : nat) (z h : R) (t : table R n k).
Hypothesis hL : h *+ L = 2%:R.
Implicit Types (q : score R n) (d : depths n k) (r s : 'I_n) (u : R).

Definition rounded q u : score integers n := [ffun s => whole_part (q s / h + u)].
Definition answer q r u : R := at_rounded t (rounded q u) r.
(** Where the whole parts change. *)
Definition breaks q : seq R := let first s := (whole_part (q s / h) + 1)%:~R - q s / h in
  codom first ++ [seq b + 1 | b <- codom first].
Definition real_extension : mechanism R R n := fun q r => area (breaks q) (answer q r) 0 1.

Lemma h_gt0 : 0 < h. Proof. exact/(step_gt0 hL)/ltr0Sn. Qed.

Lemma whole_part_same (x u v : R) : let b := (whole_part x + 1)%:~R - x in
  0 <= u < 2%:R -> 0 <= v < 2%:R ->
  (b <= u) = (b <= v) -> (b + 1 <= u) = (b + 1 <= v) -> whole_part (x + u) <= whole_part (x + v).
Proof.
move=> b /andP[u0 u2] /andP[v0 v2] same same1; rewrite leNgt; apply/negP => lt.
have /andP[lo hi] := whole_part_bounds x.
have b0 : 0 < b by rewrite subr_gt0.
have b1 : b <= 1 by rewrite ler_subl_addr mulrzDl addrC ler_add2l.
pose j := whole_part (x + u) - (whole_part x + 1).
have E : (whole_part (x + u))%:~R = b + j%:~R + x by rewrite /b /j mulrzBr; ring.
have pu : b + j%:~R <= u.
  by have /andP[] := whole_part_bounds (x + u); rewrite E addrC ler_add2l.
have pv : v < b + j%:~R.
  have /andP[_ b2] := whole_part_bounds (x + v); rewrite -(ltr_add2r x) -E addrC.
  by apply: lt_le_trans b2 _; rewrite ler_int lez_addr1.
have j0 : (-1 : int) < j.
  rewrite -(ltr_int R) -(ltr_add2l 1) subrr (le_lt_trans v0) // (lt_le_trans pv) //.
  by rewrite ler_add2r.
have j2 : j < 2%:Z by rewrite -(ltr_int R) (le_lt_trans _ u2) // (le_trans _ pu) // ler_addr ltW.
have [j_is|j_is] : j = 0 \/ j = 1 by clear -j0 j2; move: j j0 j2 => {}j; lia.
  by move: pu pv; rewrite j_is addr0 same leNgt => /negbTE ->.
by move: pu pv; rewrite j_is same1 leNgt => /negbTE ->.
Qed.

Lemma answer_constant q r : constant_between (breaks q) (answer q r) 0 2%:R.
Proof.
move=> u v hu hv same; congr (at_rounded t _ r); apply/ffunP => s; rewrite !ffunE.
have b1 : ((whole_part (q s / h) + 1)%:~R - q s / h) \in breaks q by rewrite mem_cat codom_f.
have b2 : ((whole_part (q s / h) + 1)%:~R - q s / h + 1) \in breaks q.
  rewrite mem_cat; apply/orP; right; apply/mapP.
  by exists ((whole_part (q s / h) + 1)%:~R - q s / h); rewrite ?codom_f.
by apply/eqP; rewrite eq_le !whole_part_same // same.
Qed.
Lemma answer_shift q c r u : answer [ffun s => q s + c] r u = answer q r (u + c / h).
Proof.
by congr (at_rounded t _ r); apply/ffunP => s; rewrite !ffunE mulrDl -addrA [c / h + u]addrC.
Qed.
Lemma answer_whole q r u (m : int) : answer q r (u + m%:~R) = answer q r u.
Proof.
rewrite /answer -(rounded_shift t (rounded q u) m); congr (at_rounded t _ r).
by apply/ffunP => s; rewrite !ffunE addrA whole_part_add.
Qed.
Lemma two1 : 1 <= 2%:R :> R. Proof. by rewrite ler1n. Qed.
Lemma answer_constant1 q r : constant_between (breaks q) (answer q r) 0 1.
Proof. by apply: constant_within (@answer_constant q r) _ _; rewrite ?lexx ?two1. Qed.

Theorem real_extension_proper : (0 < n)%N -> proper_table t -> proper_mechanism real_extension.
Proof.
move=> n0 tp; have const (a : R) bs : area bs (fun=> a) 0 1 = a.
  by rewrite area_constant ?ler01 // subr0 mul1r.
split=> [q r|q].
  by rewrite -(const 0 (breaks q)) area_le ?ler01 // => u _; exact: rounded_ge0.
rewrite area_sum -[RHS](const 1 (breaks q)); apply: area_eq => u.
exact: rounded_sum.
Qed.

Theorem real_extension_shift_invariant : shift_invariant real_extension.
Proof.
move=> q c r; pose y := c / h - (whole_part (c / h))%:~R.
have /andP[lo hi] := whole_part_bounds (c / h); rewrite mulrzDl mulr1z in hi.
have E u : answer [ffun s => q s + c] r u = answer q r (u + y).
  rewrite answer_shift -(answer_whole q r (u + y) (whole_part (c / h))); congr (answer q r _).
  by rewrite /y; ring.
rewrite /real_extension (area_eq _ _ _ E); apply: area_turn.
- by rewrite subr_ge0 lo ler_subl_addl ltW.
- by move=> u; rewrite -(answer_whole q r u 1).
- exact: answer_constant.
by move=> u v hu hv same; rewrite -!E; exact: answer_constant1.
Qed.

Theorem real_extension_private : neighbor_rows_by L z t -> private z real_extension.
Proof.
move=> rows q q' nb r; rewrite -(real_extension_shift_invariant q' 1 r) /real_extension.
set p := [ffun s => q' s + 1]; have h0 := h_gt0.
pose bs := breaks q ++ breaks p.
rewrite (@area_any _ (breaks q) bs) ?ler01 //; last first.
- by apply: constant_more (@answer_constant1 q r) _ => b bq; rewrite mem_cat bq.
- exact: answer_constant1.
rewrite (@area_any _ (breaks p) bs) ?ler01 //; last first.
- by apply: constant_more (@answer_constant1 p r) _ => b bp; rewrite mem_cat bp orbT.
- exact: answer_constant1.
rewrite -areaZ; apply: area_le => [|u _]; first exact: ler01.
apply: (rounded_private r rows) => s; rewrite !ffunE.
have [a1 a2] := norm_le (nb s).
have lo : q s / h + u <= (q' s + 1) / h + u by rewrite ler_add2r ler_pmul2r ?invr_gt0 // addrC.
have hi : (q' s + 1) / h + u <= q s / h + u + (L%:Z)%:~R.
  rewrite addrAC ler_add2r ler_pdivr_mulr // mulrDl divfK ?gt_eqF //.
  by rewrite -pmulrn mulr_natl hL; apply: (le_by a2); ring.
by rewrite subr_ge0 whole_part_le // ler_subl_addl -whole_part_add whole_part_le.
Qed.

Theorem table_of_real_extension d r : in_lattice d -> table_by h real_extension d r = t d r.
Proof.
move=> Qd; have E u : 0 <= u < 1 -> answer (score_by h d) r u = t d r.
  move=> hu; rewrite -(rounded_lattice t r Qd); congr (at_rounded t _ r).
  apply/ffunP => s; rewrite !ffunE mulNr -mulr_natr mulrAC divff ?mul1r ?gt_eqF ?h_gt0 //.
  have u0 : whole_part u = 0 by apply: whole_part_eq; rewrite add0r mulr0z mulr1z.
  by rewrite [in LHS]pmulrn -mulrNz addrC whole_part_add u0 add0r.
rewrite /table_by /real_extension area_constant ?ler01 //.
  by rewrite subr0 mul1r E // lexx ltr01.
by move=> u v hu hv _; rewrite !E.
Qed.
End Extension.

(** A table is a private mechanism's if and only if level dp allows it. *)
Theorem real_tables_of_mechanisms (R : archiFieldType) n k L (z h : R) (t : table R n k) :
  h *+ L = 2%:R -> (0 < n)%N ->
  (exists M : mechanism R R n, [/\ proper_mechanism M, private z M & shift_invariant M] /\
    forall d r, in_lattice d -> table_by h M d r = t d r) <-> feasible_by L z Dp t.
Proof.
move=> hL n0; split=> [[M [[Mp Mz Ms] E]]|[tp rows]].
  by apply: (feasible_same E); apply: table_by_feasible => // -[].
exists (real_extension h t); split; last first.
  by move=> d r Qd; apply: (table_of_real_extension _ hL).
split; [exact: real_extension_proper | exact: real_extension_private hL rows |].
exact: real_extension_shift_invariant.
Qed.

(** The sharp threshold among mechanisms on all these scores; E(x) = e^(-epsilon x / 2). *)
Section Threshold.
Variables (R : archiFieldType) (n k : nat) (E : R -> R).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x).
Hypotheses (n3 : (2 < n)%N) (z1 : E (1 + 1) < 1).
Notation z := (E (1 + 1)).
Notation pf := (@permute_and_flip R R n E).
Notation mean M := (table_mean (table_by (1 + 1 : R) M : table R n k)).

Theorem pf_best_iff_real :
  (forall M : mechanism R R n, proper_mechanism M -> private z M -> shift_invariant M ->
    mean pf <= mean M) <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof.
have n0 : (0 < n)%N := ltnW (ltnW n3); have hL : (1 + 1) *+ 1 = 2%:R :> R by [].
have -> : mean pf = table_mean (pf_table z : table R n k).
  rewrite /table_mean !table_error_loss; congr (_ / _); apply: loss_same => d r Qd.
  by rewrite (pf_by_lattice ED E_gt0) // addr_ge0 ?ler01.
split=> [best|b1 M Mp Mz Ms]; last first.
  apply: pf_optimal => //; apply: (@feasible_paper _ _ _ _ _ Dp).
  by apply: (@table_by_feasible R R n k 1 z (1 + 1) M hL Mp Mz Ms Dp) => -[].
rewrite leNgt; apply/negP; case: (posnP k) best => [->|k0] best lt.
  by move: lt; rewrite big_geq // ltr10.
have extend (t : table R n k) : feasible z Dp t -> exists M, extends z (1 + 1 : R) M t.
  by move/(real_tables_of_mechanisms z t hL n0).
rewrite -same_weight_sum in lt.
have gc : 0 < same_weight R 1 * @depth_loss R 1 by rewrite mulr1 ltr01.
have W_sym p (d : depths n k) : product_prior (@same_weight R) (permuted p d) =
    product_prior (@same_weight R) d by rewrite !product_same.
have [M [[Mp Mz Ms _] [_]]] := better_exists n3 (E_gt0 _) z1 extend (depth_is_loss R) ltr01
  (fun _ => ler01) k0 gc lt W_sym (fun _ _ => erefl).
by rewrite -table_mean_lt // ltNge best.
Qed.
End Threshold.
