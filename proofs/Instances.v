(** What the theorems speak of exists: on integer scores E may be the powers of any number y with
    0 < y <= 1. Concrete corollaries, and what the theorems do not say. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From Optratio Require Import Mechanisms Program PermuteAndFlip Private Exponential Extension Best.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Powers.
Variables (R : realFieldType) (y : R).
Hypotheses (y0 : 0 < y) (y1 : y <= 1).
(** y stands for e^(-epsilon/2), so e^(-epsilon) is its square. *)
Definition power (x : integers) : R := y ^ (x : int).
Lemma power_add (x x' : integers) : power (x + x') = power x * power x'.
Proof. by apply: expfzDr; rewrite gt_eqF. Qed.
Lemma power_positive (x : integers) : 0 < power x. Proof. exact: exprz_gt0. Qed.
Lemma power_falls (x x' : integers) : x <= x' -> power x' <= power x.
Proof.
move=> le; rewrite -[x'](subrK x) power_add ler_pimull ?(ltW (power_positive _)) //.
have [i ->] : exists i : nat, x' - x = i%:Z by exists `|x' - x|%N; lia.
exact: exprn_ile1 (ltW y0) y1.
Qed.
Lemma power_two : power (1 + 1) = y ^+ 2. Proof. by []. Qed.

Notation pf n := (@permute_and_flip _ R n power).
Notation em n := (@exponential _ R n power).
Theorem pf_is_private n : (0 < n)%N ->
  [/\ proper_mechanism (pf n), private (y ^+ 2) (pf n) & shift_invariant (pf n)].
Proof.
move=> n0; split; first exact: pf_proper power_add power_positive power_falls n0.
  exact: pf_private power_add power_positive power_falls.
exact: pf_shift_invariant.
Qed.
Theorem em_is_private n : (0 < n)%N ->
  [/\ proper_mechanism (em n), private (y ^+ 2) (em n) & shift_invariant (em n)].
Proof.
move=> n0; split; first exact: em_proper power_positive n0.
  exact: em_private power_add power_positive power_falls.
exact: em_shift_invariant power_add power_positive.
Qed.

(** Permute-and-flip is the best of all for every n and k, if e^epsilon >= 2. *)
Theorem pf_best_half n k (M : mechanism integers R n) : y ^+ 2 + y ^+ 2 <= 1 ->
  proper_mechanism M -> private (y ^+ 2) M -> shift_invariant M ->
  mean_error k (pf n) <= mean_error k M.
Proof.
move=> half Mp Mz Ms.
have -> : mean_error k (pf n) = table_mean (pf_table (y ^+ 2) : table R n k).
  rewrite /mean_error /table_mean !table_error_loss.
  by rewrite (pf_loss_on_lattice power_add power_positive).
by apply: pf_optimal_half half _; rewrite ?exprn_gt0 //; apply: table_of_feasible => // -[].
Qed.
End Powers.

(** For e^epsilon = 16/9 and three candidates it is the best on depths up to 2, and on depths up to
    3 it is not. R may be the rationals. *)
Section Sixteen_ninths.
Variable R : realFieldType.
Let y : R := 3%:R / 4%:R.
Let z : R := 9%:R / 16%:R.
Notation pf := (@permute_and_flip _ R 3 (power y)).
Let y0 : 0 < y. Proof. by rewrite divr_gt0 ?ltr0n. Qed.
Let y1 : y <= 1. Proof. by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat. Qed.
Let z1 : z < 1. Proof. by rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat. Qed.
Let power_y : power y (1 + 1) = z. Proof. by rewrite power_two /y /z; field. Qed.
Let to_2 : \sum_(1 <= v < 3) z ^+ v = 225%:R / 256%:R.
Proof. by rewrite big_nat_recr //= big_nat1 /z; field. Qed.
Let to_3 : 1 < \sum_(1 <= v < 4) z ^+ v.
Proof.
have half : 2%:R^-1 <= z.
  by rewrite ler_pdivl_mulr ?ltr0n // mulrC ler_pdivr_mulr ?ltr0n // -natrM ler_nat.
rewrite big_nat_recr //= to_2; apply: (@lt_le_trans _ _ (225%:R / 256%:R + 2%:R^-1 ^+ 3)).
  have -> : 225%:R / 256%:R + 2%:R^-1 ^+ 3 = 257%:R / 256%:R :> R by field.
  by rewrite ltr_pdivl_mulr ?ltr0n // mul1r ltr_nat.
by rewrite ler_add2l ler_expn2r // nnegrE ?(le_trans _ half) // invr_ge0 ler0n.
Qed.

Theorem pf_best_16_9 (M : mechanism integers R 3) :
  proper_mechanism M -> private z M -> shift_invariant M -> mean_error 2 pf <= mean_error 2 M.
Proof.
rewrite -power_y => Mp Mz Ms; apply: (pf_best (power_add y0) (power_positive y0)) => //.
by rewrite power_y to_2 ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
Qed.
Theorem pf_not_best_16_9 : exists M : mechanism integers R 3,
  [/\ proper_mechanism M, private z M, shift_invariant M & symmetric_mechanism M] /\
  mean_error 3 M < mean_error 3 pf.
Proof.
have beaten := @pf_beaten _ 3 3 _ (power_add y0) (power_positive y0) isT.
rewrite power_y in beaten; have [M [Mok [_ less]]] := beaten z1 to_3.
by exists M; split; [exact: Mok | exact: less].
Qed.
End Sixteen_ninths.

(** Level paper asks for less than privacy: a table of two candidates that takes the worse one,
    where there is one, satisfies its rows, and no private mechanism has it. *)
Section Paper.
Variables (R : realFieldType) (z : R).
Hypotheses (z0 : 0 < z) (z1 : z <= 1).
Let i1 : 'I_2 := lift ord0 ord0.
Definition worse : table R 2 1 := fun d r => if (d ord0 + d i1 == 0)%N then 2%:R^-1 else (d r)%:R.

Lemma two (P : 'I_2 -> Prop) : P ord0 -> P i1 -> forall s, P s.
Proof.
move=> p0 p1 [[|[|//]] h]; [suff -> : Ordinal h = ord0 | suff -> : Ordinal h = i1] => //;
  exact: val_inj.
Qed.
Lemma one_at_top (d : depths 2 1) : in_lattice d -> (d ord0 = 0%N :> nat) \/ (d i1 = 0%N :> nat).
Proof. by case/existsP; apply: two => /eqP; [left | right]. Qed.

Theorem paper_is_less : feasible z Paper worse /\
  ~ exists M : mechanism integers R 2, [/\ proper_mechanism M, private z M & shift_invariant M] /\
    forall d r, in_lattice d -> table_of M d r = worse d r.
Proof.
have half0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have half1 : 2%:R^-1 + 2%:R^-1 = 1 :> R.
  by rewrite -mulr2n -[X in X = _]mulr_natr mulVf // pnatr_eq0.
split; first split.
- move=> d Qd; split=> [r|]; first by rewrite /worse; case: ifP => _; rewrite ?ler0n // ltW.
  rewrite !big_ord_recl big_ord0 addr0 -/i1 /worse.
  move: (ltn_ord (d ord0)) (ltn_ord (d i1)) (one_at_top Qd).
  case: (nat_of_ord (d ord0)) => [|[|a]] //; case: (nat_of_ord (d i1)) => [|[|b]] //= _ _;
    rewrite ?addr0 ?add0r //; by case.
- have small : z * 2%:R^-1 <= 1 by rewrite -[X in _ <= X]half1 ler_paddl ?ler_pimull // ltW.
  pose x (a b : nat) : R := if (a + b == 0)%N then 2%:R^-1 else a%:R.
  have other (dr ds er es : nat) : (dr < 2)%N -> (ds < 2)%N -> (er < 2)%N -> (es < 2)%N ->
      dr = 0%N \/ ds = 0%N -> er = 0%N \/ es = 0%N -> (es + dr + 1 = ds + er)%N ->
      z * x dr ds <= x er es.
    rewrite /x => *; have -> : dr = 0%N by lia.
    case: (posnP ds) => ds0; first by have -> : er = 1%N by lia.
    by rewrite /= mulr0; case: ifP => _; rewrite ?ler0n // ltW.
  move=> r d e /one_at_top Qd /one_at_top Qe; move: r; apply: two => sk.
    exact: other (ltn_ord _) (ltn_ord _) (ltn_ord _) (ltn_ord _) Qd Qe (sk i1 isT).
  rewrite /worse [(d ord0 + _)%N]addnC [(e ord0 + _)%N]addnC.
  by apply: other (ltn_ord _) (ltn_ord _) (ltn_ord _) (ltn_ord _) _ _ (sk ord0 isT);
    rewrite or_comm.
move/(@tables_of_mechanisms R 2 1 z isT worse) => [_ rows].
pose d : depths 2 1 := [ffun=> ord0].
pose e : depths 2 1 := [ffun s => if s == ord0 then ord0 else ord_max].
have Qd : in_lattice d by apply/existsP; exists ord0; rewrite ffunE.
have Qe : in_lattice e by apply/existsP; exists ord0; rewrite ffunE.
have nde : near_by 1 d e by move=> s s'; rewrite !ffunE; case: ifP; case: ifP.
by have := rows ord0 d e Qd Qe nde; rewrite /worse /d /e !ffunE /= leNgt mulr_gt0.
Qed.
End Paper.

(** Clipping does not keep monotonicity: the exponential mechanism's table on Q(3,1) satisfies the
    rows of level full, and its extension to all integer scores is not monotone. *)
Section Clipped.
Variables (R : realFieldType) (z : R).
Hypotheses (z0 : 0 < z) (z1 : z < 1).
Let t : table R 3 1 := em_table z.
Let third : 'I_3 := ord_max.
Definition three (a b c : int) : score integers 3 := [ffun s => nth 0 [:: a; b; c] (s : 'I_3)].

Lemma halved_three a b c u : 0 <= u <= 1 ->
  halved (three (2%:Z * a) (2%:Z * b) (2%:Z * c)) u = three a b c.
Proof.
by move=> u01; apply/ffunP => s; rewrite !ffunE; case: s => [[|[|[|s]]] h] //=; lia.
Qed.
Lemma rounded_value (a : score integers 3) m : (forall s, a s <= m) -> (exists s, a s = m) ->
  at_rounded t a third = z ^+ minn 1 `|m - a third| / \sum_s z ^+ minn 1 `|m - a s|.
Proof.
move=> le ex; rewrite /at_rounded /t /em_table clippedE (top_eq third le ex); congr (_ / _).
by apply: eq_bigr => s _; rewrite clippedE (top_eq third le ex).
Qed.
Lemma extension_three a b c : extension t (three (2%:Z * a) (2%:Z * b) (2%:Z * c)) third =
  at_rounded t (three a b c) third.
Proof.
by rewrite /extension !halved_three // -mulr2n -[_ *+ 2 in LHS]mulr_natr mulfK // pnatr_eq0.
Qed.

Theorem extension_not_monotone : feasible z Full t /\ ~ monotone (extension t).
Proof.
split=> [|mono]; first exact: em_feasible z0 (ltW z1) _.
have := mono (three (2%:Z * 0) (2%:Z * -1) (2%:Z * -2%:Z))
  (three (2%:Z * -1) (2%:Z * -1) (2%:Z * -2%:Z)) third.
rewrite !extension_three (@rounded_value _ 0) => [||]; last by exists ord0; rewrite ffunE.
  rewrite (@rounded_value _ (-1)) => [||]; last by exists ord0; rewrite ffunE.
    rewrite !big_ord_recl !big_ord0 !ffunE /= !addr0 !expr1 !expr0 => H.
    have {H} : z / (1 + (z + z)) <= z / (1 + (1 + z)).
      apply: H => [|s sl]; rewrite ?ffunE //.
      by case: s sl => [[|[|[|s]]] h] //=; rewrite !ffunE.
    rewrite ler_pmul2l // lef_pinv ?posrE ?addr_gt0 ?ltr01 // ler_add2l ler_add2r.
    by rewrite leNgt z1.
  by move=> s; rewrite ffunE; case: s => [[|[|[|s]]] h].
by move=> s; rewrite ffunE; case: s => [[|[|[|s]]] h].
Qed.
End Clipped.
