(** The threshold is sharp (research/docs/threshold.md, Theorem 1, "only if"): where z g(1) + ... +
    z^k g(k) > g(0) and n >= 3, permute-and-flip's loss on Q(n,k) is not the least, at any level. A
    table near permute-and-flip's is better: a candidate below two that are best is taken a little
    more often, and one of these two less often, as far as privacy allows. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum poly ring zify.
From Optratio Require Import Mechanisms Program Levels Threshold PermuteAndFlip Objectives Integral
  Private.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Strict comparisons. *)
Section Strict.
Variables (R : realFieldType) (n : nat).
Implicit Types (w p : 'I_n -> R) (r s : 'I_n).

Lemma upper_part_gt0 w r rho : 0 <= rho < 1 -> (forall s, 0 <= w s <= 1) -> 0 < upper_part w r rho.
Proof.
case/andP=> rho0 rho1 hw; rewrite /upper_part -[\prod_(s < n | _) _]mul1r -(expr0 'X);
  apply: int_prod_gt0 => s _.
case/andP: (hw s) => a0 a1; split; first by rewrite subr_gt0 (le_lt_trans _ rho1) // ler_pimull.
by rewrite -addrA -opprD -mulrDr addrC [rho + _]addrC subrK mulr1 addrC subr_ge0.
Qed.

Lemma lower_part_gt w (p : 'I_n -> R) r rho : (forall s, 0 <= p s <= 1) ->
  (forall s, s != r -> rho * w s <= p s) ->
  (exists2 s, s != r & rho * w s < p s) -> integral (\prod_(s < n | s != r) (1 - p s *: 'X)) <
    lower_part w r rho.
Proof.
move=> hp le [i ir lt]; have p1 s : p s <= 1 by case/andP: (hp s).
have w1 s : s != r -> rho * w s <= 1 by move=> sr; exact: le_trans (le s sr) (p1 s).
rewrite /lower_part (bigD1 i) //= [X in _ < integral X](bigD1 i) //=.
set A := \prod_(s < n | _) (1 - (rho * w s) *: 'X); set B := \prod_(s < n | _) _.
have E : (1 - (rho * w i) *: 'X) * A = (1 - p i *: 'X) * B + (1 - (rho * w i) *: 'X) * (A - B) +
    (p i - rho * w i) *: ('X^1 * B) by rewrite -!mul_polyC polyCB; ring.
rewrite E !integralD integralZ -addrA ltr_addl ltr_paddl ?mulr_gt0 ?subr_gt0 //.
  apply/good_int/goodM; first by apply: good_factor; exact: w1.
  apply: good_prod_sub => s /andP[sr _]; split; first exact: good_factor.
  by rewrite opprB addrC addrA subrK -scalerBl; apply: goodZ; [rewrite subr_ge0 le | exact: goodX].
have -> : B = \prod_(s < n | (s != r) && (s != i)) (1%:P + (- p s) *: 'X).
  by apply: eq_bigr => s _; rewrite scaleNr polyC1.
by apply: int_prod_gt0 => s _; rewrite ltr01 subr_ge0.
Qed.

Lemma pf_compare_strict (p p' : 'I_n -> R) r (c rho : R) : 0 < rho <= 1 ->
  (forall s, 0 <= p s <= 1) -> (forall s, 0 <= p' s <= 1) -> 0 < p' r ->
  (forall s, s != r -> rho * p' s <= p s) -> c * p r <= rho * p' r ->
  rho < 1 \/ (exists2 s, s != r & rho * p' s < p s) -> c * pf p r < pf p' r.
Proof.
move=> /andP[rho0 rho1] hp hp' pr others hr strict; rewrite (pf_cut p' r rho) /pf mulrA.
have p1 s : p s <= 1 by case/andP: (hp s).
have I0 : 0 <= integral (\prod_(s < n | s != r) (1 - p s *: 'X)).
  by apply/good_int/good_prod => s _; exact: good_factor.
apply: (le_lt_trans (ler_wpmul2r I0 hr)); rewrite [rho * _]mulrC -mulrA ltr_pmul2l //.
have U : 0 <= (1 - rho) * upper_part p' r rho.
  by rewrite mulr_ge0 ?subr_ge0 // upper_part_ge0 // ltW.
case: strict => [lt|ex]; last first.
  by rewrite -[X in X < _]addr0 ltr_le_add // ltr_pmul2l // lower_part_gt.
rewrite -[X in X < _]addr0 ler_lt_add // ?ler_pmul2l ?lower_part_ge // mulr_gt0 ?subr_gt0 //.
by apply: upper_part_gt0; rewrite ?ltW.
Qed.
End Strict.

(** Finitely many positive numbers have a positive lower bound. *)
Lemma positive_bound (R : realFieldType) (T : finType) (P : pred T) (F : T -> R) :
  (forall i, P i -> 0 < F i) -> exists2 m, 0 < m & forall i, P i -> m <= F i.
Proof.
move=> F0; have S0 (Q : pred T) : (forall i, Q i -> P i) -> 0 <= \sum_(i | Q i) (F i)^-1.
  by move=> QP; apply: sumr_ge0 => i /QP/F0/ltW; rewrite invr_ge0.
have pos : 0 < 1 + \sum_(i | P i) (F i)^-1 by apply: ltr_paddr (S0 _ _) ltr01.
exists (1 + \sum_(i | P i) (F i)^-1)^-1 => [|i Pi]; first by rewrite invr_gt0.
rewrite -[F i]invrK lef_pinv ?posrE ?invr_gt0 ?F0 //.
by rewrite (bigD1 i) //= addrCA ler_addl addr_ge0 ?ler01 ?S0 // => j /andP[].
Qed.

Section Sharp.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (z0 : 0 < z) (z1 : z < 1).
Notation depths := (depths n k).
Notation table := (table R n k).
Notation pf := (pf_table z : table).
Implicit Types (d e : depths) (s i : 'I_n).

Lemma power_bounds (i : nat) : 0 <= z ^+ i <= 1.
Proof. by rewrite exprn_ge0 ?exprn_ile1 ?ltW. Qed.
Lemma power_gt0 (i : nat) : 0 < z ^+ i <= 1.
Proof. by rewrite exprn_gt0 ?exprn_ile1 ?ltW. Qed.
Lemma power_le (i j : nat) : (z ^+ i <= z ^+ j) = (j <= i)%N. Proof. by rewrite ler_iexpn2l. Qed.
Lemma power_lt (i j : nat) : (z ^+ i < z ^+ j) = (j < i)%N. Proof. by rewrite ltr_iexpn2l. Qed.
Let zE : z ^+ 1 = z := expr1 z.

(** Permute-and-flip's table is positive, and all rows are slack but the steps of a chain where a
    candidate sinks. *)
Lemma pf_gt0 d s : 0 < pf d s.
Proof.
rewrite /pf_table -[X in X < _](mul0r (PermuteAndFlip.pf (fun s => z ^+ d s) s)).
apply: (pf_compare_strict (rho := z ^+ 1)); rewrite ?power_gt0 ?exprn_gt0 //.
- by move=> i; exact: power_bounds.
- by move=> i; exact: power_bounds.
- by move=> i _; rewrite -exprD power_le leq_addl.
- by rewrite mul0r -exprD; case/andP: (power_bounds (1 + d s)).
by left; rewrite zE.
Qed.

Lemma pf_rise d r : in_lattice d -> lone d r -> z * pf d r < pf (rise d r) r.
Proof.
move=> Qd L; apply: (pf_compare_strict (rho := z ^+ 1)); rewrite ?power_gt0 ?exprn_gt0 //.
- by move=> i; exact: power_bounds.
- by move=> i; exact: power_bounds.
- move=> s sr; rewrite -exprD ffunE (negbTE sr) val_pred power_le add1n prednK //.
  by move/forallP/(_ s): L; rewrite sr.
- by rewrite zE ffunE eqxx.
by left; rewrite zE.
Qed.

Lemma pf_favors d e r : in_lattice d -> in_lattice e -> favors r d e -> d != e -> pf d r < pf e r.
Proof.
move=> Qd Qe f de; rewrite -[X in X < _]mul1r; have er := favors_up Qe f.
apply: (pf_compare_strict (rho := z ^+ (d r - e r))); rewrite ?power_gt0 ?exprn_gt0 //.
- by move=> i; exact: power_bounds.
- by move=> i; exact: power_bounds.
- move=> s _; rewrite -exprD power_le -(leq_add2r (e r)) [X in (_ <= X)%N]addnAC subnK //.
  by rewrite [X in (_ <= X)%N]addnC; exact: f.
- by rewrite mul1r -exprD subnK.
case: (ltnP (e r) (d r)) => lt; [left | right].
  by rewrite -[X in _ < X](expr0 z) power_lt subn_gt0.
have e0 : e r = d r :> nat by apply/eqP; rewrite eqn_leq er.
have /existsP[s ds] : [exists s, d s != e s].
  by apply: contraNT de => /existsPn h; apply/eqP/ffunP => s; apply/eqP; move/negPn: (h s).
exists s; first by apply: contraNneq ds => ->; apply/eqP/val_inj.
rewrite -exprD power_lt e0 subnn ltn_neqAle (ds : d s != e s :> nat) -(leq_add2r (d r)).
by have := f s; rewrite e0.
Qed.

(** Three candidates. In the slice b is best, all others but r and a are at depth u, and r is not
    best. *)
Variables (r a b : 'I_n) (u : 'I_k.+1).
Hypotheses (ra : r != a) (rb : r != b) (ab : a != b) (u0 : (0 < u)%N).
Definition rest s : 'I_k.+1 := if s == b then ord0 else u.
Definition at_rest d := [forall s, (s != r) && (s != a) ==> (d s == rest s)].
Definition in_slice d := at_rest d && (0 < d r)%N.
(** What the better table adds, up to a factor. *)
Definition improvement : table := fun d s =>
  if ~~ in_slice d then 0 else if s == r then (if d a == 0%N :> nat then z ^+ d r else 0)
  else if s == a then - z ^+ (d r + d a) else if s == b then (if d a == 0%N :> nat then 0
    else z ^+ (d r + d a)) else 0.

Lemma at_rest_b d : at_rest d -> d b = ord0.
Proof. by move/forallP/(_ b); rewrite ![b == _]eq_sym rb ab /= /rest eqxx => /eqP. Qed.
Lemma slice_in_lattice d : in_slice d -> in_lattice d.
Proof. by case/andP=> /at_rest_b db _; apply/existsP; exists b; rewrite db. Qed.

Lemma improvement_sum d : \sum_s improvement d s = 0.
Proof.
rewrite /improvement; case: (in_slice d); last by rewrite big1.
rewrite (bigD1 r) //= eqxx (bigD1 a) 1?eq_sym //= [a == r]eq_sym (negbTE ra) eqxx (bigD1 b) /=;
  last first.
  by rewrite ![b == _]eq_sym rb ab.
rewrite ![b == _]eq_sym (negbTE rb) (negbTE ab) eqxx big1 ?addr0.
  by case: (posnP (d a)) => [->|/ltn_eqF->]; rewrite ?addn0 ?addr0 ?add0r ?addNr ?subrr.
by move=> s /andP[/andP[sr sa] sb]; rewrite (negbTE sr) (negbTE sa) (negbTE sb).
Qed.

Lemma improvement_bounds d s : - 1 <= improvement d s <= 1.
Proof.
have N1 : - 1 <= 0 :> R by rewrite oppr_le0 ler01.
have P (j : nat) : - 1 <= z ^+ j <= 1 by case/andP: (power_bounds j) => h ->;
  rewrite (le_trans N1 h).
have Z : - 1 <= (0 : R) <= 1 by rewrite N1 ler01.
rewrite /improvement; do ?[case: ifP => _] ; rewrite ?Z ?P //.
by rewrite ler_opp2 ler_oppl andbC; exact: P.
Qed.

(** It keeps the rows where a candidate sinks. *)
Lemma at_rest_sink d i : (i == r) || (i == a) -> at_rest (sink d i) = at_rest d.
Proof.
move=> h; apply: eq_forallb => s; rewrite ffunE.
by case: (eqVneq s i) => // ->; rewrite -negb_or h.
Qed.

Lemma improvement_sink d i : ~~ lone d i -> (d i < k)%N ->
  z * improvement d i <= improvement (sink d i) i.
Proof.
move=> L lt; have dsi : sink d i i = (d i).+1 :> nat by rewrite ffunE eqxx inordK.
have other s : s != i -> sink d i s = d s by move=> si; rewrite ffunE (negbTE si).
case: (eqVneq i r) => [E|ir].
  subst i; rewrite /improvement /in_slice at_rest_sink ?eqxx // dsi other 1?eq_sym //.
  case: (at_rest d) => /=; last by rewrite mulr0.
  case: (posnP (d r)) => [->|r0] /=; first by rewrite mulr0; case: ifP => // _; rewrite expr1 ltW.
  by case: ifP; rewrite ?mulr0 // -exprS.
case: (eqVneq i a) => [E|ia].
  subst i; rewrite /improvement /in_slice at_rest_sink ?eqxx ?orbT // dsi other // [a == r]eq_sym
    (negbTE ra).
  by case: ifP; rewrite ?mulr0 // mulrN -exprS addnS.
case: (eqVneq i b) => [E|ib]; last first.
  by rewrite /improvement (negbTE ir) (negbTE ia) (negbTE ib) !if_same mulr0.
subst i; have -> : improvement d b = 0.
  rewrite /improvement (negbTE ir) (negbTE ia) eqxx; case: ifP => // /negbFE/andP[/forallP h r0].
  case: eqP => // /eqP; rewrite -lt0n => a0; case/negP: L; apply/forallP => s; apply/implyP => sb.
  case: (eqVneq s r) => [->//|sr]; case: (eqVneq s a) => [->//|sa].
  by move: (h s); rewrite sr sa /rest (negbTE sb) => /eqP ->.
rewrite mulr0 /improvement (negbTE ir) (negbTE ia) eqxx; do ?[case: ifP => // _].
by case/andP: (power_bounds (sink d b r + sink d b a)).
Qed.

(** So a table near permute-and-flip's in this direction keeps all rows of all levels. *)
Definition better (eta : R) : table := fun d s => pf d s + eta * improvement d s.

(** The step may not be larger than what any of finitely many rows leaves. *)
Definition fits (eta m : R) := forall x y : R, - 1 <= x <= 1 -> - 1 <= y <= 1 ->
  eta * (x - y) <= m.
Lemma small_step : exists2 eta, 0 < eta & [/\ forall d s, fits eta (pf d s),
  forall d i, in_lattice d -> lone d i -> fits eta (pf (rise d i) i - z * pf d i) &
  forall i d e, in_lattice d -> in_lattice e -> favors i d e -> d != e ->
    fits eta (pf e i - pf d i)].
Proof.
pose T := [finType of 'I_n * depths * depths].
have [m1 m10 h1] :=
  @positive_bound R _ xpredT (fun p : 'I_n * depths => pf p.2 p.1) (fun p _ => pf_gt0 p.2 p.1).
have [|m2 m20 h2] := @positive_bound R _ (fun p : 'I_n * depths => in_lattice p.2 && lone p.2 p.1)
  (fun p => pf (rise p.2 p.1) p.1 - z * pf p.2 p.1).
  by case=> i d /andP[/= Qd L]; rewrite subr_gt0 pf_rise.
pose P3 (p : T) := [&& in_lattice p.1.2, in_lattice p.2,
  [forall s, p.1.2 s + p.2 p.1.1 <= p.2 s + p.1.2 p.1.1]%N & p.1.2 != p.2].
have [|m3 m30 h3] := @positive_bound R _ P3 (fun p => pf p.2 p.1.1 - pf p.1.2 p.1.1).
  by case=> [[i d] e] /and4P[/= Qd Qe /forallP f de]; rewrite subr_gt0 pf_favors.
pose m0 := Num.min m1 (Num.min m2 m3); pose eta : R := m0 / 2%:R.
have e0 : 0 < eta by rewrite divr_gt0 ?ltr0n // !lt_minr m10 m20 m30.
have small m : m0 <= m -> fits eta m.
  move=> le x y /andP[_ x1] /andP[y1 _]; apply: le_trans le.
  rewrite -[X in _ <= X](@divfK _ 2%:R) ?pnatr_eq0 // -/eta ler_wpmul2l ?(ltW e0) //.
  by rewrite -[2%:R]/(1 + 1) ler_add // ler_oppl.
exists eta => //; split=> [d s|d i Qd L|i d e Qd Qe f de]; apply: small.
- by apply: le_trans (h1 (s, d) isT); rewrite /m0 !le_minl lexx.
- by apply: le_trans (h2 (i, d) _); rewrite /m0 /= ?Qd ?L // !le_minl lexx !orbT.
apply: le_trans (h3 (i, d, e) _); first by rewrite /m0 !le_minl lexx !orbT.
by apply/and4P; split=> //; apply/forallP.
Qed.

Lemma better_proper eta : (forall d s, fits eta (pf d s)) -> proper_table (better eta).
Proof.
move=> small d Qd; split=> [s|]; last first.
  rewrite big_split /= -mulr_sumr improvement_sum mulr0 addr0; apply: pf_sum.
  by case/existsP: Qd => s /eqP ds; exists s; rewrite ds expr0.
rewrite /better -ler_subl_addr sub0r -mulrN -[- improvement d s]sub0r.
by rewrite small ?improvement_bounds ?ler01 ?andbT // oppr_le0 ler01.
Qed.
Lemma better_worst eta : 0 < eta ->
  (forall d i, in_lattice d -> lone d i -> fits eta (pf (rise d i) i - z * pf d i)) ->
  worst_rows_by 1 z (better eta).
Proof.
move=> e0 small i d e Qd Qe.
have n1 : (1 < n)%N by rewrite -(card_ord n); apply/card_gt1P; exists r, a.
move/(sinks_next n1 Qd Qe); rewrite /next_depths; case L: (lone d i); first case=> <-.
  have D : - 1 <= z * improvement d i <= 1.
    have := improvement_bounds d i; rewrite -!ler_norml normrM gtr0_norm // => D.
    by rewrite mulr_ile1 ?normr_ge0 ?(ltW z0) ?(ltW z1).
  have H := small d i Qd L _ _ D (improvement_bounds (rise d i) i).
  by apply: (le_by H); rewrite /better; ring.
case: ltnP => // lt [<-]; rewrite /better mulrDr [z * (eta * _)]mulrCA.
have -> : pf (sink d i) i = z * pf d i.
  apply: pf_tight => [|s si]; first by rewrite ffunE eqxx inordK // exprS.
  by rewrite ffunE (negbTE si).
by rewrite ler_add2l ler_pmul2l // improvement_sink ?L.
Qed.
Lemma better_monotone eta : (forall i d e, in_lattice d -> in_lattice e -> favors i d e ->
  d != e -> fits eta (pf e i - pf d i)) -> monotone_rows (better eta).
Proof.
move=> small i d e Qd Qe f; case: (eqVneq d e) => [->//|de].
have H := small i d e Qd Qe f de _ _ (improvement_bounds d i) (improvement_bounds e i).
by apply: (le_by H); rewrite /better /=; ring.
Qed.

Lemma better_feasible l : exists2 eta, 0 < eta & feasible z l (better eta).
Proof.
have [eta e0 [h1 h2 h3]] := small_step; exists eta => //.
have tp := better_proper h1; have tw := better_worst e0 h2; have tm := better_monotone h3.
have tn := monotone_implies_neighbor_rows (ltW z0) (ltW z1) tp tw tm.
by split=> //; case: l.
Qed.

(** Its loss is less. *)
Variables (g c : nat -> R).
Hypotheses (g0 : 0 < g 0%N) (c_loss : loss c).

Definition in_slice_at (p : 'I_k.+1 * 'I_k.+1) : depths :=
  [ffun s => if s == r then p.1 else if s == a then p.2 else rest s].

Lemma sum_slice (F : depths -> R) : (forall d, ~~ in_slice d -> F d = 0) ->
  \sum_(d | in_lattice d) F d = \sum_(t < k.+1 | (0 < t)%N) \sum_(v < k.+1) F (in_slice_at (t, v)).
Proof.
move=> F0; rewrite (bigID in_slice) /= [X in _ + X]big1 ?addr0 => [|d /andP[_ /F0 //]].
rewrite (eq_bigl in_slice) => [|d]; last first.
  by case S: (in_slice d); rewrite ?andbF // slice_in_lattice.
have at_r t v : in_slice_at (t, v) r = t by rewrite ffunE eqxx.
have at_a t v : in_slice_at (t, v) a = v by rewrite ffunE eq_sym (negbTE ra) eqxx.
rewrite pair_big /= (reindex_onto in_slice_at (fun d => (d r, d a))) => [|d /andP[/forallP h _]].
  apply: eq_bigl => -[t v]; rewrite /in_slice at_r at_a eqxx !andbT.
  suff -> : at_rest (in_slice_at (t, v)) by [].
  by apply/forallP => s; apply/implyP => /andP[sr sa]; rewrite ffunE (negbTE sr) (negbTE sa).
apply/ffunP => s; rewrite ffunE /=; case: (eqVneq s r) => [->//|sr];
  case: (eqVneq s a) => [->//|sa].
by move: (h s); rewrite sr sa => /eqP.
Qed.

Let G := \prod_(s | (s != r) && (s != a) && (s != b)) g u.
Let A' := \sum_(1 <= v < k.+1) c v * (g v * z ^+ v).
Let B' := \sum_(1 <= v < k.+1) g v * z ^+ v.

Lemma slice_loss (t v : 'I_k.+1) : (0 < t)%N -> let d := in_slice_at (t, v) in
  product_prior g d * (\sum_s c (d s) * improvement d s) =
  G * g 0%N * (g t * (c t * z ^+ t)) * (g v *+ (v == 0%N :> nat)) - G * g 0%N * (g t * z ^+ t) *
    (c v * (g v * z ^+ v)).
Proof.
move=> t0 d; have dr : d r = t by rewrite ffunE eqxx.
have da : d a = v by rewrite ffunE eq_sym (negbTE ra) eqxx.
have S : in_slice d.
  rewrite /in_slice dr t0 andbT; apply/forallP => s; apply/implyP => /andP[sr sa].
  by rewrite ffunE (negbTE sr) (negbTE sa).
have db : d b = ord0 by apply: at_rest_b; case/andP: S.
have -> : product_prior g d = g t * (g v * (g 0%N * G)).
  rewrite /product_prior (bigD1 r) //= dr (bigD1 a) 1?eq_sym //= da (bigD1 b) /=; last first.
    by rewrite ![b == _]eq_sym rb ab.
  rewrite db; congr (_ * (_ * (_ * _))); apply: eq_bigr => s /andP[/andP[sr sa] sb].
  by rewrite ffunE (negbTE sr) (negbTE sa) /rest (negbTE sb).
have -> : \sum_s c (d s) * improvement d s = c t * (z ^+ t *+ (v == 0%N :> nat)) - c v *
  z ^+ (t + v).
  rewrite /improvement S /= (bigD1 r) //= eqxx (bigD1 a) 1?eq_sym //= [a == r]eq_sym (negbTE ra)
    eqxx dr da.
  rewrite big1 => [|s /andP[sr sa]]; last first.
    rewrite (negbTE sr) (negbTE sa); case: eqP => [->|_]; last by rewrite mulr0.
    by rewrite db c_loss.1 mul0r.
  by rewrite addr0 mulrN [0%N == v]eq_sym; case: eqP.
by rewrite exprD; case: eqP => _; rewrite ?mulr1n ?mulr0n; ring.
Qed.

Lemma sum_from1 (F : nat -> R) : \sum_(1 <= v < k.+1) F v = \sum_(v < k.+1 | (0 < v)%N) F v.
Proof. by rewrite [RHS]big_mkcond big_ord_recl /= add0r big_add1 big_mkord. Qed.

Lemma improvement_loss : table_loss (product_prior g) c improvement = G * g 0%N * A' * (g 0%N - B').
Proof.
rewrite /table_loss sum_slice => [|d /negbTE S]; last first.
  by rewrite big1 ?mulr0 // => s _; rewrite /improvement S mulr0.
have A'E : \sum_(v < k.+1) c v * (g v * z ^+ v) = A'.
  by rewrite /A' sum_from1 [RHS]big_mkcond; apply: eq_bigr => v _; case: posnP => // ->;
    rewrite c_loss.1 mul0r.
have g0E : \sum_(v < k.+1) g v *+ (v == 0%N :> nat) = g 0%N.
  by rewrite big_ord_recl big1 ?addr0.
rewrite (eq_bigr (fun t : 'I_k.+1 => G * g 0%N * g 0%N * (c t * (g t * z ^+ t)) - G * g 0%N * A' *
  (g t * z ^+ t))).
  rewrite sumrB -!mulr_sumr -(sum_from1 (fun t => c t * (g t * z ^+ t)))
    -(sum_from1 (fun t => g t * z ^+ t)).
  by rewrite -/A' -/B'; ring.
move=> t t0; rewrite (eq_bigr _ (fun v _ => slice_loss v t0)) sumrB -!mulr_sumr A'E g0E; ring.
Qed.

Lemma better_loss W eta : table_loss W c (better eta) = table_loss W c pf + eta *
  table_loss W c improvement.
Proof.
rewrite /table_loss mulr_sumr -big_split; apply: eq_bigr => d _; rewrite /= mulrCA -mulrDr;
  congr (_ * _).
by rewrite mulr_sumr -big_split; apply: eq_bigr => s _;
  rewrite /better /= mulrDr [eta * (_ * _)]mulrCA.
Qed.

Lemma better_is_better W eta : (forall d, in_slice d -> W d = product_prior g d) ->
  0 < eta -> (forall v, 0 <= g v) -> 0 < g u * c u -> g 0%N < B' ->
  table_loss W c (better eta) < table_loss W c pf.
Proof.
move=> WE e0 g_ge0 gc lt; rewrite better_loss gtr_addl pmulr_rlt0 //.
have -> : table_loss W c improvement = table_loss (product_prior g) c improvement.
  apply: eq_bigr => d _; case S: (in_slice d); first by rewrite WE.
  by rewrite big1 ?mulr0 // => s _; rewrite /improvement S mulr0.
rewrite improvement_loss pmulr_rlt0 ?subr_lt0 //.
have gu : 0 < g u by rewrite lt_neqAle g_ge0 andbT; apply: contraTneq gc => <-; rewrite mul0r ltxx.
rewrite !mulr_gt0 ?prodr_gt0 // /A' (sum_from1 (fun v => c v * (g v * z ^+ v))) (bigD1 u) //=.
have cu : 0 < c u by move: gc; rewrite pmulr_rgt0.
rewrite ltr_paddr ?mulr_gt0 ?exprn_gt0 //.
by apply: sumr_ge0 => v _; rewrite !mulr_ge0 ?exprn_ge0 ?(ltW z0) // -c_loss.1 c_loss.2.
Qed.
End Sharp.

(** research/docs/threshold.md, Theorem 1: at every level, for every monotone loss and product
    prior that give any depth a positive loss. *)
Section Threshold.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (n3 : (2 < n)%N) (z0 : 0 < z) (z1 : z < 1).

Theorem pf_optimal_iff_for_losses l (g c : nat -> R) : loss c -> 0 < g 0%N ->
  (forall v, 0 <= g v) ->
  (exists2 u, (u <= k)%N & 0 < g u * c u) ->
  (forall t : table R n k, feasible z l t ->
    table_loss (product_prior g) c (pf_table z : table R n k) <= table_loss (product_prior g) c t)
      <->
  \sum_(1 <= v < k.+1) g v * z ^+ v <= g 0%N.
Proof.
move=> c_loss g0 g_ge0 [u uk gc]; split=> [opt|b1 t /feasible_paper ft]; last first.
  by apply: pf_optimal_for_losses => //; rewrite b1 orbT.
case: lerP => // lt; pose i0 := Ordinal (ltnW (ltnW n3)); pose i1 := Ordinal (ltnW n3);
  pose i2 := Ordinal n3.
have u0 : (0 < u)%N by case: u gc {uk} => //; rewrite c_loss.1 mulr0 ltxx.
pose w := Ordinal (uk : (u < k.+1)%N).
have [eta e0 feas] := @better_feasible R n k z z0 z1 i0 i1 i2 w isT isT isT u0 l.
have := @better_is_better R n k z z0 i0 i1 i2 w isT isT isT u0 g c g0 c_loss _ eta
  (fun _ _ => erefl) e0 g_ge0 gc lt.
by rewrite ltNge opt.
Qed.

(** The mean error. *)
Theorem pf_optimal_iff l :
  (forall t : table R n k, feasible z l t -> table_mean (pf_table z : table R n k) <= table_mean t)
    <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof.
split=> [opt|b1 t /feasible_paper]; last exact: pf_optimal.
case: (posnP k) opt => [->|k0] opt; first by rewrite big_geq ?ler01.
have [] := @pf_optimal_iff_for_losses l (same_weight R) (@depth_loss R) (depth_is_loss R) ltr01
  (fun _ => ler01).
  by exists 1%N; rewrite ?mulr1 ?ltr01.
rewrite same_weight_sum => + _; apply => t /opt.
by rewrite !leNgt table_mean_lt // (ltnW (ltnW n3)).
Qed.

(** The box (Theorem 2): vectors with four candidates or more, one of them at depth k, weigh the
    same. *)
Theorem pf_optimal_box_iff l : (3 < n)%N ->
  (forall t : table R n k, feasible z l t ->
    objective_mean Box (pf_table z : table R n k) <= objective_mean Box t) <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof.
move=> n4; split=> [opt|b1 t /feasible_paper ft]; last first.
  by apply: pf_optimal_box => //; rewrite b1 orbT.
case: lerP => // lt; pose i0 := Ordinal (ltnW (ltnW n3)); pose i1 := Ordinal (ltnW n3);
  pose i2 := Ordinal n3.
have k0 : (0 < (ord_max : 'I_k.+1))%N by case: (posnP k) lt => [->|//]; rewrite big_geq // ltr10.
have [eta e0 feas] := @better_feasible R n k z z0 z1 i0 i1 i2 ord_max isT isT isT k0 l.
have := @better_is_better R n k z z0 i0 i1 i2 ord_max isT isT isT k0 (same_weight R)
  (@depth_loss R) ltr01
  (depth_is_loss R) (fun d => (shifts Box d)%:R) eta.
move=> /(_ _ e0 (fun _ => ler01)); rewrite same_weight_sum mul1r ltr0n => /(_ _ k0 lt) less.
have := opt _ feas; rewrite ler_pmul2r ?invr_gt0 ?ltr0n ?box_gt0 ?(ltnW (ltnW n3)) //.
rewrite leNgt less // => d /andP[/forallP/(_ (Ordinal n4)) /= /eqP dk _].
by rewrite product_same -[LHS]/((shifts Box d)%:R) (@shifts_deepest _ _ d (Ordinal n4)) ?dk.
Qed.
End Threshold.
