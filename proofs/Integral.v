(** Integrals of polynomials over [0, 1] in any ordered field: a sum of products t^i (1-t)^j with
    nonnegative coefficients has a nonnegative integral, and [0, 1] may be cut in two. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum poly.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Integral.
Variable R : realFieldType.
Implicit Types (p q : {poly R}) (a b c : R).

(** The integral of a polynomial over [0, 1]. *)
Definition integral (p : {poly R}) : R := \sum_(i < size p) p`_i / i.+1%:R.
Lemma integralE p N : (size p <= N)%N -> integral p = \sum_(i < N) p`_i / i.+1%:R.
Proof.
move=> le; rewrite /integral (big_ord_widen _ (fun i => p`_i / i.+1%:R) le) big_mkcond.
apply: eq_bigr => i _; case: ltnP => // ge; by rewrite nth_default ?mul0r.
Qed.
Lemma integralD p q : integral (p + q) = integral p + integral q.
Proof.
pose N := maxn (size p) (size q).
rewrite (@integralE _ N) ?size_add // (@integralE p N) ?leq_maxl // (@integralE q N) ?leq_maxr //
  -big_split.
by apply: eq_bigr => i _; rewrite coefD mulrDl.
Qed.
Lemma integralZ c p : integral (c *: p) = c * integral p.
Proof.
rewrite (@integralE _ (size p)) ?size_scale_leq // /integral mulr_sumr.
by apply: eq_bigr => i _; rewrite coefZ mulrA.
Qed.
Lemma integral_of0 : integral 0 = 0. Proof. by rewrite /integral size_poly0 big_ord0. Qed.
Lemma integral_sum I (s : seq I) (F : I -> {poly R}) : integral (\sum_(i <- s) F i) =
  \sum_(i <- s) integral (F i).
Proof. by elim/big_rec2: _ => [|i a b _ <-]; rewrite ?integral_of0 ?integralD. Qed.
Lemma integral_deriv p : integral p^`() = p.[1] - p.[0].
Proof.
rewrite (@integralE _ (size p)); last by rewrite (leq_trans (size_poly _ _)) // leq_pred.
rewrite horner_coef0 [p.[1]](@horner_coef_wide _ (size p).+1) ?leqnSn // big_ord_recl.
rewrite expr0 mulr1 [RHS]addrC addKr; apply: eq_bigr => i _.
by rewrite coef_deriv expr1n mulr1 -mulr_natr mulfK // pnatr_eq0.
Qed.

Lemma deriv_bigprod (I : eqType) (s : seq I) (f : I -> {poly R}) : uniq s ->
  (\prod_(i <- s) f i)^`() = \sum_(r <- s) (f r)^`() * \prod_(i <- s | i != r) f i.
Proof.
elim: s => [|a s IH] /=; first by rewrite !big_nil derivC.
case/andP => na us; rewrite !big_cons derivM IH // eqxx /=; congr (_ * _ + _).
  rewrite big_seq_cond [RHS]big_seq_cond; apply: eq_bigl => i.
  by case: eqP => [->|]; rewrite ?(negbTE na) ?andbT.
rewrite mulr_sumr big_seq [RHS]big_seq; apply: eq_bigr => r rs; rewrite big_cons.
by case: eqP => [E|_]; [rewrite E rs in na | rewrite /= mulrCA].
Qed.

(** Products t^i (1-t)^j. *)
Definition bernstein i j : {poly R} := 'X ^+ i * (1 - 'X) ^+ j.

Lemma deriv_bernstein i j : (bernstein i.+1 j.+1)^`() = i.+1%:R *: bernstein i j.+1 -
  j.+1%:R *: bernstein i.+1 j.
Proof.
have d1 : (1 : {poly R})^`() = 0 by rewrite -polyC1 derivC.
rewrite /bernstein derivM derivXn deriv_exp derivB derivX d1 sub0r /=.
by rewrite mulrnAl mulN1r mulNrn mulrN mulrnAr !scaler_nat.
Qed.

Lemma int_Xn i : integral ('X^i : {poly R}) = i.+1%:R^-1.
Proof.
rewrite (@integralE _ i.+1) ?size_polyXn // big_ord_recr /= coefXn eqxx mul1r big1 ?add0r // =>
  j _.
by rewrite coefXn ltn_eqF ?mul0r.
Qed.

Lemma int_bernstein i j : 0 < integral (bernstein i j).
Proof.
elim: j i => [|j IH] i; first by rewrite /bernstein expr0 mulr1 int_Xn invr_gt0 ltr0n.
have := integral_deriv (bernstein i.+1 j.+1).
have -> : (bernstein i.+1 j.+1).[1] = 0.
  by rewrite /bernstein hornerM [(1 - 'X) ^+ _]exprS hornerM hornerD hornerN hornerX -polyC1
    hornerC subrr mul0r mulr0.
have -> : (bernstein i.+1 j.+1).[0] = 0 by rewrite /bernstein hornerM exprS hornerM hornerX !mul0r.
rewrite subr0 deriv_bernstein integralD -scaleN1r !integralZ mulN1r.
move/eqP; rewrite subr_eq0 => /eqP E.
by rewrite -(pmulr_rgt0 _ (ltr0Sn R i)) E mulr_gt0 ?ltr0n.
Qed.

(** Polynomials whose products with such polynomials have nonnegative integrals. *)
Definition nonneg p := forall i j, 0 <= integral (bernstein i j * p).
Definition good p := forall q, nonneg q -> nonneg (q * p).

Lemma good_int p : good p -> 0 <= integral p.
Proof.
move=> g; have n1 : nonneg 1 by move=> i j; rewrite mulr1 ltW ?int_bernstein.
by have := g _ n1 0%N 0%N; rewrite /bernstein !expr0 !mul1r.
Qed.
Lemma good1 : good 1. Proof. by move=> q; rewrite mulr1. Qed.
Lemma goodM p q : good p -> good q -> good (p * q).
Proof. by move=> gp gq h nh; rewrite mulrA; apply/gq/gp. Qed.
Lemma goodD p q : good p -> good q -> good (p + q).
Proof.
by move=> gp gq h nh i j; rewrite !mulrDr integralD addr_ge0 //; [apply: gp | apply: gq].
Qed.
Lemma goodZ c p : 0 <= c -> good p -> good (c *: p).
Proof. by move=> c0 gp h nh i j; rewrite -!scalerAr integralZ mulr_ge0 //; apply: gp. Qed.
Lemma goodX : good 'X.
Proof.
move=> h nh i j; have := nh i.+1 j; congr (0 <= integral _).
by rewrite /bernstein exprS mulrA [RHS]mulrC !mulrA.
Qed.
Lemma goodX1 : good (1 - 'X).
Proof.
move=> h nh i j; have := nh i j.+1; congr (0 <= integral _).
by rewrite /bernstein exprSr !mulrA [RHS]mulrAC.
Qed.
Lemma good_prod I (s : seq I) (P : pred I) (F : I -> {poly R}) :
  (forall i, P i -> good (F i)) -> good (\prod_(i <- s | P i) F i).
Proof. by move=> h; apply: big_ind => //; [exact: good1 | exact: goodM]. Qed.
(** a linear polynomial that is nonnegative at 0 and at 1 *)
Lemma good_linear a b : 0 <= a -> 0 <= a + b -> good (a%:P + b *: 'X).
Proof.
move=> a0 ab; have -> : a%:P + b *: 'X = a *: (1 - 'X) + (a + b) *: 'X.
  by rewrite scalerBr scalerDl addrA -alg_polyC subrK.
by apply: goodD; apply: goodZ => //; [exact: goodX1 | exact: goodX].
Qed.

Lemma int_cut p c : integral p = c * integral (p \Po (c *: 'X)) + (1 - c) *
  integral (p \Po (c%:P + (1 - c) *: 'X)).
Proof.
pose F : {poly R} := \poly_(i < (size p).+1) (p`_i.-1 / i%:R).
have FE : F^`() = p.
  apply/polyP => i; rewrite coef_deriv coef_poly ltnS; case: ltnP => [lt|ge].
    by rewrite -mulr_natr /= mulfVK // pnatr_eq0.
  by rewrite mul0rn nth_default.
have D a b : b * integral (p \Po (a%:P + b *: 'X)) = F.[a + b] - F.[a].
  have -> : b * integral (p \Po (a%:P + b *: 'X)) = integral ((F \Po (a%:P + b *: 'X))^`()).
    rewrite deriv_comp FE derivD derivC add0r derivZ derivX -integralZ alg_polyC mulrC mul_polyC
      //.
  by rewrite integral_deriv !horner_comp !(hornerD, hornerC, hornerZ, hornerX) mulr1 mulr0 addr0.
have := D 0 c; have := D c (1 - c); have := D 0 1.
rewrite !add0r scale1r comp_polyXr mul1r => -> -> ->;
  have -> : c + (1 - c) = 1 by rewrite addrC subrK.
by rewrite [RHS]addrC addrA subrK.
Qed.
End Integral.
