(** The exponential mechanism on real or integer scores. Permute-and-flip is at least as good for
    every loss that does not rise with the score (McKenna & Sheldon 2020, Theorem 2). Where m
    candidates are best, it takes each other one more than 1/(1 + 1/m) times as often
    (research/docs/claims-proofs.md). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum poly ssrint perm zify ring.
From Optratio Require Import Mechanisms Program PermuteAndFlip Integral Private.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Weights.
Variables (R : realFieldType) (n : nat).
Implicit Types (w f g : 'I_n -> R) (r s : 'I_n).

(** Chebyshev's inequality for sums: f and g order the candidates in opposite ways. *)
Lemma chebyshev w f g : (forall r, 0 <= w r) -> (forall r s, 0 <= (f r - f s) * (g s - g r)) ->
  (\sum_r w r) * (\sum_r f r * (w r * g r)) <= (\sum_r f r * w r) * (\sum_r w r * g r).
Proof.
move=> w0 fg; rewrite -subr_ge0 -(pmulrn_lge0 _ (ltn0Sn 1)) mulr2n.
rewrite {1}[(\sum_r w r) * _]mulrC {2}[(\sum_r f r * w r) * _]mulrC !big_distrlr -!sumrB -big_split
  /=.
apply: sumr_ge0 => r _; rewrite -!sumrB -big_split; apply: sumr_ge0 => s _.
by have := mulr_ge0 (mulr_ge0 (w0 r) (w0 s)) (fg r s); congr (0 <= _); rewrite /=; ring.
Qed.

(** Permute-and-flip's probability divided by the weight rises with the weight. *)
Definition per_weight w r : R := integral (\prod_(s < n | s != r) (1 - w s *: 'X)).
Lemma per_weight_mono w r s : (forall i, w i <= 1) -> w r <= w s ->
  per_weight w r <= per_weight w s.
Proof.
move=> w1 le; case: (eqVneq r s) => [->//|rs];
  rewrite -subr_ge0 -mulN1r -integralZ -integralD scaleN1r; apply: good_int.
rewrite (bigD1 r) //= [X in _ - X](bigD1 s) 1?eq_sym //=.
rewrite [X in _ - _ * X](eq_bigl _ _ (fun i => andbC _ _)) -mulrBl; apply: goodM; last first.
  by apply: good_prod => i _; apply: good_factor.
by rewrite opprB addrC addrA subrK -scalerBl; apply: goodZ; [rewrite subr_ge0 | exact: goodX].
Qed.
End Weights.

Section Mechanism.
Variables (S : realDomainType) (R : realFieldType) (n : nat) (E : S -> R).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x).
Hypothesis E_anti : forall x y, x <= y -> E y <= E x.
Implicit Types (q : score S n) (r s : 'I_n).

Definition exponential : mechanism S R n := fun q r => E (- q r) / \sum_s E (- q s).
Local Notation em := exponential.
Local Notation pf := (@permute_and_flip _ R n E).

Lemma total_gt0 q r : 0 < \sum_s E (- q s).
Proof. by rewrite (bigD1 r) //= ltr_paddr // sumr_ge0 // => s _; rewrite ltW. Qed.

Lemma E_ge0 x : 0 <= E x. Proof. exact: ltW. Qed.
Lemma total_ge0 q : 0 <= \sum_s E (- q s). Proof. by rewrite sumr_ge0 // => s _; exact: E_ge0. Qed.

Theorem em_proper : (0 < n)%N -> proper_mechanism em.
Proof.
move=> n0; split=> [q r|q]; first by rewrite mulr_ge0 ?invr_ge0 ?E_ge0 ?total_ge0.
by rewrite -mulr_suml divff // lt0r_neq0 // (total_gt0 q (Ordinal n0)).
Qed.

Theorem em_private : private (E (1 + 1)) em.
Proof.
move=> q q' nb r; have b s := norm_le (nb s).
rewrite mulrA ler_pdivr_mulr ?(total_gt0 q r) // mulrAC ler_pdivl_mulr ?(total_gt0 q' r) // ED.
have -> (a c : R) : E 1 * E 1 * a * c = E 1 * a * (E 1 * c) by ring.
apply: ler_pmul; rewrite ?mulr_ge0 ?E_ge0 ?total_ge0 //.
  by rewrite -ED; apply: E_anti; apply: (le_by (b r).1); ring.
by rewrite mulr_sumr; apply: ler_sum => s _; rewrite -ED; apply: E_anti; apply: (le_by (b s).2);
  ring.
Qed.

Theorem em_symmetric : symmetric_mechanism em.
Proof.
move=> q p r; rewrite /em ffunE [in RHS](reindex_inj (@perm_inj _ p)); congr (_ / _).
by apply: eq_bigr => s _; rewrite ffunE.
Qed.

Theorem em_shift_invariant : shift_invariant em.
Proof.
move=> q c r; rewrite /em ffunE opprD ED.
under eq_bigr do rewrite ffunE opprD ED.
by rewrite -mulr_suml -mulf_div divff ?mulr1 // lt0r_neq0.
Qed.

Theorem em_monotone : monotone em.
Proof.
move=> q q' r up down;
  rewrite ler_pdivr_mulr ?(total_gt0 q r) // mulrAC ler_pdivl_mulr ?(total_gt0 q' r) //.
rewrite (bigD1 r) // [X in _ <= _ * X](bigD1 r) //= !mulrDr [E (- q' r) * E (- q r)]mulrC
  ler_add2l.
apply: ler_pmul; [exact: E_ge0 | by apply: sumr_ge0 => s _;
  exact: E_ge0 | by rewrite E_anti // ler_opp2 |].
by apply: ler_sum => s sr; rewrite E_anti // ler_opp2 down.
Qed.

(** Both mechanisms by the weights relative to the best score. *)
Section ByWeights.
Variables (q : score S n) (r0 : 'I_n).
Let w s := E (top q r0 - q s).
Lemma pf_by_weight r : pf q r = w r * per_weight w r.
Proof. by rewrite /permute_and_flip (top_const q r0 r). Qed.
Lemma em_by_weight r : em q r = w r / \sum_s w s.
Proof.
rewrite -(em_shift_invariant q (- top q r0)) /em ffunE opprB.
by under eq_bigr do rewrite ffunE opprB.
Qed.
Lemma weight_gt0 s : 0 < w s. Proof. exact: E_gt0. Qed.
Lemma weight_le1 s : w s <= 1. Proof. by case/andP: (weight_bounds ED E_gt0 E_anti q r0 s). Qed.
Lemma weight_top : exists s, w s = 1.
Proof. by have [s h] := topE q r0; exists s; rewrite /w h subrr (E0 ED E_gt0). Qed.
Lemma weights_gt0 : 0 < \sum_s w s.
Proof. by rewrite (bigD1 r0) //= ltr_paddr ?weight_gt0 // sumr_ge0 // => s _; exact: E_ge0. Qed.
End ByWeights.

(** With f r = top q r - q r this is the expected error. *)
Theorem pf_dominates q (f : 'I_n -> R) : (forall r s, q r <= q s -> f s <= f r) ->
  \sum_r f r * pf q r <= \sum_r f r * em q r.
Proof.
move=> fq; case: (pickP (xpredT : pred 'I_n)) => [r0 _|no]; last by rewrite !big1 // => r;
  have := no r.
under eq_bigr do rewrite (pf_by_weight q r0);
  under [X in _ <= X]eq_bigr do rewrite (em_by_weight q r0) mulrA.
set w := fun s => E (top q r0 - q s).
rewrite -mulr_suml ler_pdivl_mulr ?weights_gt0 // mulrC -[X in _ <= X]mulr1
  -(pf_sum (weight_top q r0)).
apply: chebyshev => [r|r s]; first exact: E_ge0.
wlog le : r s / q r <= q s => [h|].
  by case/orP: (le_total (q r) (q s)) => le; [exact: h | rewrite -mulrNN !opprB; exact: h].
rewrite mulr_ge0 ?subr_ge0 ?fq //; apply: per_weight_mono; first exact: weight_le1.
by rewrite E_anti // ler_add2l ler_opp2.
Qed.

(** The probability of an error of t or more. *)
Corollary pf_tail q (t : S) :
  \sum_(r | t <= top q r - q r) pf q r <= \sum_(r | t <= top q r - q r) em q r.
Proof.
have by_loss (M : 'I_n -> R) : \sum_(r | t <= top q r - q r) M r =
  \sum_r (t <= top q r - q r)%R%:R * M r.
  by rewrite big_mkcond; apply: eq_bigr => r _; case: ifP; rewrite ?mul1r ?mul0r.
rewrite !by_loss; apply: pf_dominates => r s le; rewrite ler_nat (top_const q r s).
by case: (boolP (t <= _ - q s)) => // /le_trans -> //; rewrite ler_add2l ler_opp2.
Qed.

(** How much better it can be. *)
Theorem em_within q r : q r < top q r ->
  em q r < (1 + (#|[set s | q s == top q s]|%:R)^-1) * pf q r.
Proof.
move=> lt; rewrite (em_by_weight q r) (pf_by_weight q r).
set w := fun s => E (top q r - q s); set m := #|_|%:R.
pose w' s := if s == r then 1 else w s; pose T := \sum_(s | s != r) w s.
have w1 s : w s <= 1 := weight_le1 q r s.
have m0 : 0 < m.
  rewrite ltr0n card_gt0; apply/set0Pn; have [s h] := topE q r; exists s.
  by rewrite inE (top_const q r) h.
have mT : m <= T.
  rewrite /m -sum1_card natr_sum big_mkcond /T [X in _ <= X]big_mkcond; apply: ler_sum => s _.
  rewrite inE (top_const q r); case: (eqVneq s r) => [->|sr]; first by rewrite lt_eqF.
  by case: eqP => [e|_]; [rewrite /w e subrr (E0 ED E_gt0) | exact: E_ge0].
have g1 : 1 <= (1 + T) * per_weight w r.
  have e : per_weight w r = per_weight w' r by congr integral; apply: eq_bigr => s /negbTE sr;
    rewrite /w' sr.
  have e1 : exists s, w' s = 1 by exists r; rewrite /w' eqxx.
  rewrite e -[X in X <= _](pf_sum e1); have -> : 1 + T = \sum_s w' s.
    by rewrite (bigD1 r) //= /w' eqxx; congr (_ + _); apply: eq_bigr => s /negbTE ->.
  rewrite mulr_suml; apply: ler_sum => s _; apply: ler_wpmul2l.
    by rewrite /w'; case: ifP => _; [exact: ler01 | exact: E_ge0].
  by apply: per_weight_mono => [i|]; rewrite /w' ?eqxx; case: ifP.
have T0 := lt_le_trans m0 mT; have W : \sum_s w s = w r + T by rewrite (bigD1 r).
have wr : 0 < w r := weight_gt0 q r r.
rewrite W mulrCA ltr_pmul2l // -[X in X < _]mul1r ltr_pdivr_mulr ?addr_gt0 //.
apply: (le_lt_trans g1); rewrite mulrAC ltr_pmul2r; last first.
  by rewrite -(pmulr_rgt0 _ (addr_gt0 ltr01 T0)) (lt_le_trans ltr01).
rewrite mulrDl mul1r addrC; apply: ltr_le_add; first by rewrite ltr_addr.
by rewrite mulrC ler_pdivl_mulr // mul1r (le_trans mT) // ler_addr ltW.
Qed.
End Mechanism.

(** On the lattice its probabilities are in proportion to z^depth. *)
Definition em_table (R : realFieldType) n k (z : R) : table R n k :=
  fun d r => z ^+ d r / \sum_s z ^+ d s.

Lemma em_on_lattice (R : realFieldType) n k (E : integers -> R) (d : depths n k) r :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
  table_of (@exponential _ R n E) d r = em_table (E (1 + 1)) d r.
Proof.
move=> ED E_gt0; rewrite /table_of /exponential /em_table ffunE opprK (E_steps _ ED E_gt0).
by congr (_ / _); apply: eq_bigr => s _; rewrite ffunE opprK (E_steps _ ED E_gt0).
Qed.

(** Permute-and-flip's and the exponential mechanism's own tables satisfy all rows where the step
    is 2. *)
Section Known.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (z0 : 0 < z) (z1 : z <= 1).
Implicit Types (d e : depths n k) (r s : 'I_n) (t : table R n k).

Lemma power_anti a b : (b <= a)%N -> z ^+ a <= z ^+ b.
Proof. by apply: ler_wiexpn2l; [exact: ltW | exact: z1]. Qed.
Lemma power_unit a : 0 <= z ^+ a <= 1.
Proof. by rewrite exprn_ge0 ?exprn_ile1 // ltW. Qed.

(** r falls by at most c steps against any other candidate. *)
Definition falls_by c r d e := forall s, (d s + e r <= e s + d r + c)%N.
Lemma feasible_if t l : proper_table t ->
  (forall c r d e, in_lattice d -> in_lattice e -> falls_by c r d e -> z ^+ c * t d r <= t e r) ->
    feasible_by 1 z l t.
Proof.
move=> tp le; have N : neighbor_rows_by 1 z t.
  by move=> r d e Qd Qe nde; rewrite -[z]expr1; apply: le => // s; exact: nde.
have M : monotone_rows t.
  by move=> r d e Qd Qe f; rewrite -[t d r]mul1r -(expr0 z); apply: le => // s; rewrite addn0;
    exact: f.
by have W := neighbor_worst_by N; case: l; split.
Qed.

Theorem pf_feasible l : feasible_by 1 z l (pf_table z : table R n k).
Proof.
apply: feasible_if => [d /existsP[u /eqP du]|c r d e Qd /existsP[u /eqP eu] fall].
  split=> [r|]; last by apply: pf_sum; exists u; rewrite du expr0.
  rewrite mulr_ge0 //; first by case/andP: (power_unit (d r)).
  by apply/good_int/good_prod => s _; apply: good_factor; case/andP: (power_unit (d s)).
have up : (e r <= d r + c)%N by have := fall u; rewrite eu add0n; apply: leq_trans;
  rewrite leq_addl.
apply: (@pf_compare _ _ _ _ _ _ (z ^+ (d r + c - e r))) => [|s|s|s _|]; try exact: power_unit;
  rewrite -!exprD.
  by apply: power_anti; have := fall s; lia.
by rewrite subnK // addnC lexx.
Qed.

Theorem em_feasible l : feasible_by 1 z l (em_table z : table R n k).
Proof.
have S0 (d : depths n k) (r : 'I_n) : 0 < \sum_s z ^+ d s.
  by rewrite (bigD1 r) //= ltr_paddr ?exprn_gt0 // sumr_ge0 // => s _; rewrite exprn_ge0 // ltW.
apply: feasible_if => [d /existsP[u _]|c r d e _ _ fall].
  split=> [r|]; first by rewrite divr_ge0 ?exprn_ge0 ?(ltW (S0 d u)) // ltW.
  by rewrite -mulr_suml divff // lt0r_neq0 // (S0 d u).
rewrite /em_table mulrA ler_pdivr_mulr ?(S0 d r) // mulrAC ler_pdivl_mulr ?(S0 e r) // -exprD
  !mulr_sumr.
by apply: ler_sum => s _; rewrite -!exprD; apply: power_anti; have := fall s; lia.
Qed.
End Known.
