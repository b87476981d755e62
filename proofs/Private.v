(** Permute-and-flip on scores of any ordered ring, the reals or the integers, is a proper
    mechanism, epsilon-DP, symmetric, monotone and invariant under shifts. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum poly ssrint fingroup perm ring.
From Optratio Require Import Mechanisms Program PermuteAndFlip Integral.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Weights.
Variables (R : realFieldType) (n : nat).
Implicit Types (w v : 'I_n -> R) (r s : 'I_n) (p q : {poly R}).

Lemma comp_prod (P : pred 'I_n) (F : 'I_n -> {poly R}) q :
  (\prod_(s < n | P s) F s) \Po q = \prod_(s < n | P s) (F s \Po q).
Proof.
by apply: (big_morph (fun p => p \Po q)) => [a b|]; rewrite ?comp_polyM // -polyC1 comp_polyC.
Qed.

Lemma good_factor (a : R) : a <= 1 -> good (1 - a *: 'X).
Proof. by move=> a1; rewrite -scaleNr -polyC1; apply: good_linear; rewrite ?ler01 // subr_ge0. Qed.

Lemma good_prod_sub (P : pred 'I_n) (F G : 'I_n -> {poly R}) :
  (forall s, P s -> good (G s) /\ good (F s - G s)) ->
  good (\prod_(s < n | P s) F s - \prod_(s < n | P s) G s).
Proof.
move=> h; suff [] : good (\prod_(s < n | P s) G s) /\
  good (\prod_(s < n | P s) F s - \prod_(s < n | P s) G s) by [].
apply: (big_ind2 (fun f g => good g /\ good (f - g))) => [|f1 g1 f2 g2 [a1 b1] [a2 b2]|s /h //].
  by split; [exact: good1 | rewrite subrr -[0](scale0r 1); apply: goodZ;
    [rewrite lexx | exact: good1]].
split; first exact: goodM.
have -> : f1 * f2 - g1 * g2 = (f1 - g1) * (f2 - g2) + (f1 - g1) * g2 + g1 * (f2 - g2).
  by rewrite -mulrDr subrK mulrBl mulrBr addrA subrK.
by apply: goodD; [apply: goodD|]; apply: goodM.
Qed.

(** A product of linear polynomials that are positive at 0 and nonnegative at 1, times a power of
    t. *)
Lemma int_prod_gt0 (P : pred 'I_n) (a b : 'I_n -> R) i : (forall s, P s ->
  0 < a s /\ 0 <= a s + b s) ->
  0 < integral ('X^i * \prod_(s < n | P s) ((a s)%:P + b s *: 'X)).
Proof.
move=> h; pose G := \prod_(s < n | P s) (a s *: (1 - 'X)).
have G0 : 0 < integral ('X^i * G).
  rewrite /G scaler_prod prodr_const -scalerAr integralZ mulr_gt0 ?int_bernstein //.
  by apply: prodr_gt0 => s /h [].
apply: lt_le_trans G0 _; rewrite -subr_ge0 -mulN1r -integralZ -integralD scaleN1r -mulrBr;
  apply: good_int.
apply: goodM; first by elim: i => [|i IH]; rewrite ?expr0 ?exprS;
  [exact: good1 | apply: goodM IH; exact: goodX].
apply: good_prod_sub => s /h [a0 ab]; split; first by apply: goodZ; [exact: ltW | exact: goodX1].
have -> : (a s)%:P + b s *: 'X - a s *: (1 - 'X) = (a s + b s) *: 'X.
  by rewrite -!mul_polyC polyCD; ring.
by apply: goodZ => //; exact: goodX.
Qed.

(** The probability of r, with the integral over [0, 1] cut at rho. *)
Definition lower_part w r (rho : R) := integral (\prod_(s < n | s != r) (1 - (rho * w s) *: 'X)).
Definition upper_part w r (rho : R) :=
  integral (\prod_(s < n | s != r) ((1 - w s * rho)%:P + (- (w s * (1 - rho))) *: 'X)).
Lemma pf_cut w r rho : pf w r = w r * (rho * lower_part w r rho + (1 - rho) * upper_part w r rho).
Proof.
rewrite /pf (int_cut _ rho) !comp_prod; congr (_ * (_ * integral _ + _ * integral _));
  apply: eq_bigr => s _.
  by rewrite comp_polyB comp_polyZ comp_polyX -polyC1 comp_polyC scalerA mulrC.
rewrite comp_polyB comp_polyZ comp_polyX -polyC1 comp_polyC scalerDr scalerA opprD addrA.
by rewrite scaleNr polyCB polyCM mul_polyC.
Qed.
Lemma upper_part_ge0 w r rho : 0 <= rho <= 1 -> (forall s, 0 <= w s <= 1) ->
  0 <= upper_part w r rho.
Proof.
case/andP=> rho0 rho1 hw; apply/good_int/good_prod => s _; case/andP: (hw s) => a0 a1.
apply: good_linear; first by rewrite subr_ge0 (le_trans _ rho1) // ler_pimull.
by rewrite -addrA -opprD -mulrDr addrC [rho + _]addrC subrK mulr1 addrC subr_ge0.
Qed.
Lemma lower_part_ge w (p : 'I_n -> R) r rho : (forall s, p s <= 1) ->
  (forall s, s != r -> rho * w s <= p s) ->
  integral (\prod_(s < n | s != r) (1 - p s *: 'X)) <= lower_part w r rho.
Proof.
move=> p1 le; rewrite -subr_ge0 -mulN1r -integralZ -integralD scaleN1r;
  apply/good_int/good_prod_sub => s sr.
split; first exact: good_factor.
by rewrite opprB addrC addrA subrK -scalerBl; apply: goodZ; [rewrite subr_ge0 le | exact: goodX].
Qed.

(** Permute-and-flip with the weights p' compared to that with p, where rho is the ratio of their
    scales. *)
Lemma pf_compare (p p' : 'I_n -> R) r (c rho : R) : 0 <= rho <= 1 ->
  (forall s, 0 <= p s <= 1) -> (forall s, 0 <= p' s <= 1) ->
  (forall s, s != r -> rho * p' s <= p s) -> c * p r <= rho * p' r -> c * pf p r <= pf p' r.
Proof.
move=> rho01 hp hp' others hr; have [rho0 rho1] := andP rho01; rewrite (pf_cut p' r rho) /pf mulrA.
have p1 s : p s <= 1 by case/andP: (hp s).
have I0 : 0 <= integral (\prod_(s < n | s != r) (1 - p s *: 'X)).
  by apply/good_int/good_prod => s _; exact: good_factor.
apply: (le_trans (ler_wpmul2r I0 hr)); rewrite [rho * _]mulrC -mulrA ler_wpmul2l //;
  first by case/andP: (hp' r).
rewrite -[X in X <= _]addr0 ler_add ?ler_wpmul2l ?lower_part_ge // mulr_ge0 ?subr_ge0 //.
exact: upper_part_ge0.
Qed.
End Weights.

(** E(x) stands for e^(-epsilon x / 2) where x is a difference of scores: an exponential function
    of base at most 1. *)
Section Mechanism.
Variables (S : realDomainType) (R : realFieldType) (n : nat) (E : S -> R).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x)
  (E_anti : forall x y, x <= y -> E y <= E x).
Implicit Types (q : score S n) (r s : 'I_n).

(** The best score; r only shows that there is a candidate. *)
Definition top q r : S := q [arg max_(s > r) q s]%O.
Definition permute_and_flip : mechanism S R n := fun q r => pf (fun s => E (top q r - q s)) r.

Lemma top_ge q r s : q s <= top q r.
Proof. by rewrite /top; case: Order.TotalTheory.arg_maxP => // i _; apply. Qed.
Lemma top_eq q r m : (forall s, q s <= m) -> (exists s, q s = m) -> top q r = m.
Proof.
by move=> le [s E0]; apply/eqP; rewrite eq_le -{2}E0 top_ge andbT /top le.
Qed.
Lemma topE q r : exists s, top q r = q s. Proof. by exists [arg max_(s > r) q s]%O. Qed.
Lemma top_const q r' r : top q r = top q r'.
Proof. by apply: top_eq => [s|]; [exact: top_ge | have [s ->] := topE q r'; exists s]. Qed.
Lemma top_shift q c r : top [ffun s => q s + c] r = top q r + c.
Proof.
apply: top_eq => [s|]; first by rewrite ffunE ler_add2r top_ge.
by have [s ->] := topE q r; exists s; rewrite ffunE.
Qed.
Lemma top_perm q (p : {perm 'I_n}) r r' : top [ffun s => q (p s)] r = top q r'.
Proof.
apply: top_eq => [s|]; first by rewrite ffunE top_ge.
by have [s ->] := topE q r'; exists (p^-1%g s); rewrite ffunE permKV.
Qed.
Lemma E0 : E 0 = 1.
Proof. by have := ED 0 0; rewrite addr0 -{1}[E 0]mulr1 => /(mulfI (lt0r_neq0 (E_gt0 0))). Qed.
Lemma E_le1 x : 0 <= x -> E x <= 1. Proof. by move=> x0; rewrite -E0 E_anti. Qed.
Lemma weight_bounds q r s : 0 <= E (top q r - q s) <= 1.
Proof. by rewrite ltW ?E_gt0 // E_le1 // subr_ge0 top_ge. Qed.
Lemma norm_le (a b : S) : `|a - b| <= 1 -> a <= 1 + b /\ b <= 1 + a.
Proof.
by rewrite ler_distl ler_subl_addl [b + 1]addrC => /andP[h1 h2]; split=> //;
  rewrite addrC -ler_subl_addr.
Qed.

Theorem pf_private : private (E (1 + 1)) permute_and_flip.
Proof.
move=> q q' nb r; have b s := norm_le (nb s).
have [i ti] := topE q' r.
apply: (@pf_compare _ _ _ _ _ _ (E (1 + top q r - top q' r))).
- by rewrite ltW ?E_gt0 // E_le1 // subr_ge0 ti (le_trans (b i).2) // ler_add2l top_ge.
- exact: weight_bounds.
- exact: weight_bounds.
- by move=> s _; rewrite -ED; apply: E_anti; apply: (le_by (b s).2); ring.
by rewrite -!ED; apply: E_anti; apply: (le_by (b r).1); ring.
Qed.

Theorem pf_monotone : monotone permute_and_flip.
Proof.
move=> q q' r up down; rewrite -[permute_and_flip q r]mul1r.
have [i ti] := topE q' r.
apply: (@pf_compare _ _ _ _ _ _ (E (top q r - top q' r + (q' r - q r)))).
- rewrite ltW ?E_gt0 // E_le1 // ti; case: (eqVneq i r) => [->|ir].
    by apply: (le_by (top_ge q r r)); ring.
  have := ler_add (le_trans (down i ir) (top_ge q r i)) up => h.
  by apply: (le_by h); ring.
- exact: weight_bounds.
- exact: weight_bounds.
- move=> s sr; rewrite -ED; apply: E_anti; have h := ler_add (down s sr) up.
  by apply: (le_by h); ring.
by rewrite mul1r -ED; apply: E_anti; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Theorem pf_shift_invariant : shift_invariant permute_and_flip.
Proof.
move=> q c r; rewrite /permute_and_flip /pf top_shift ffunE.
congr (E _ * integral _); first by ring.
by apply: eq_bigr => s _; rewrite ffunE; congr (1 - E _ *: 'X); ring.
Qed.

Theorem pf_symmetric : symmetric_mechanism permute_and_flip.
Proof.
move=> q p r; rewrite /permute_and_flip /pf (top_perm q p r (p r)) ffunE; congr (_ * integral _).
rewrite [RHS](reindex_inj (@perm_inj _ p)) /=.
by apply: eq_big => [s|s _]; rewrite ?(inj_eq perm_inj) // ffunE.
Qed.

Theorem pf_proper : (0 < n)%N -> proper_mechanism permute_and_flip.
Proof.
move=> n0; split=> [q r|q].
  rewrite mulr_ge0 //; first by case/andP: (weight_bounds q r r).
  by apply/good_int/good_prod => s _; apply: good_factor; case/andP: (weight_bounds q r s).
pose r0 := Ordinal n0; rewrite -(@pf_sum R n (fun s => E (top q r0 - q s))).
  by apply: eq_bigr => r _; rewrite /permute_and_flip (top_const q r0 r).
by have [s h] := topE q r0; exists s; rewrite h subrr E0.
Qed.
End Mechanism.

(** On the lattice it is pf_table, whose optimality PermuteAndFlip.v proves. *)
Section ByLattice.
Variables (S : realDomainType) (R : realFieldType) (n k : nat) (E : S -> R) (h : S).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x) (h0 : 0 <= h).
Implicit Types (d : depths n k) (r : 'I_n).

Lemma E_steps i : E (h *+ i) = E h ^+ i.
Proof. by elim: i => [|i IH]; rewrite ?mulr0n ?(E0 ED E_gt0) // mulrS ED IH exprS. Qed.
Lemma top_by_lattice d r : in_lattice d -> top (score_by h d) r = 0.
Proof.
move=> /existsP[s /eqP ds]; apply: top_eq => [i|]; first by rewrite ffunE oppr_le0 mulrn_wge0.
by exists s; rewrite ffunE ds mulr0n oppr0.
Qed.
Lemma pf_by_lattice d r : in_lattice d ->
  table_by h (@permute_and_flip _ R n E) d r = pf_table (E h) d r.
Proof.
move=> Qd; have e s : E (top (score_by h d) r - score_by h d s) = E h ^+ d s.
  by rewrite top_by_lattice // ffunE sub0r opprK E_steps.
rewrite /table_by /permute_and_flip /pf_table /pf e; congr (_ * integral _).
by apply: eq_bigr => s _; rewrite e.
Qed.
End ByLattice.

Section OnLattice.
Variables (R : realFieldType) (n k : nat) (E : integers -> R).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x)
  (E_anti : forall x y, x <= y -> E y <= E x).

Lemma pf_loss_on_lattice W (c : nat -> R) :
  table_loss W c (table_of (@permute_and_flip _ R n E) : table R n k) =
    table_loss W c (pf_table (E (1 + 1))).
Proof.
apply: eq_bigr => d Qd; congr (_ * _); apply: eq_bigr => r _; congr (_ * _).
exact: pf_by_lattice.
Qed.

(** research/docs/threshold.md, Theorem 1, "if": a mechanism that is itself private is the best of
    all, for every monotone loss and product prior, and for the mean error. *)
Theorem pf_best_for_losses (M : mechanism integers R n) (g c : nat -> R) :
  loss c -> 0 < g 0%N -> (forall v, 0 <= g v) ->
  (n <= 2)%N || (\sum_(1 <= v < k.+1) g v * E (1 + 1) ^+ v <= g 0%N) ->
  proper_mechanism M -> private (E (1 + 1)) M -> shift_invariant M ->
  table_loss (product_prior g) c (table_of (@permute_and_flip _ R n E) : table R n k) <=
  table_loss (product_prior g) c (table_of M : table R n k).
Proof.
move=> c_loss g0 g_ge0 B1 Mp Md Ms; rewrite pf_loss_on_lattice; apply: pf_optimal_for_losses => //.
by apply: table_of_feasible => // -[].
Qed.

Theorem pf_best (M : mechanism integers R n) : \sum_(1 <= v < k.+1) E (1 + 1) ^+ v <= 1 ->
  proper_mechanism M -> private (E (1 + 1)) M -> shift_invariant M ->
  mean_error k (@permute_and_flip _ R n E) <= mean_error k M.
Proof.
move=> B1 Mp Md Ms.
have -> : mean_error k (@permute_and_flip _ R n E) = table_mean (pf_table (E (1 + 1)) :
  table R n k).
  by rewrite /mean_error /table_mean !table_error_loss pf_loss_on_lattice.
by apply: pf_optimal => //; apply: table_of_feasible => // -[].
Qed.
End OnLattice.
