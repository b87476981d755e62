(** The dual recurrence of research/docs/threshold.md bounds the loss of every feasible table from
    below, for every monotone loss c and every product prior of weights g with z g(1) + ... + z^k
    g(k) <= g(0), for all n and k. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program CountVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Threshold.
Variables (R : realFieldType) (n k : nat) (z : R) (g c : nat -> R).
Hypotheses (z0 : 0 < z) (g0 : 0 < g 0%N) (g_ge0 : forall v, 0 <= g v) (c_loss : loss c).
(** A and B of docs; the dual point y(d) = W(d) Y_i, where i candidates are best; the multiplier of
    the row into depth t on a chain is Lam Y_i t times the weight of the others. *)
Definition threshold_A := (\sum_(1 <= v < k.+1) c v * (g v * z ^+ v)) / g 0%N.
Definition threshold_B := (\sum_(1 <= v < k.+1) g v * z ^+ v) / g 0%N.
Fixpoint threshold_Y i : R := if i is i'.+1
  then (if i' is 0 then 0 else threshold_A - threshold_B * threshold_Y i') else 0.
Definition depth_multiplier y t : R := \sum_(t <= u < k.+1) z ^+ (u - t) * (g u * (c u - y)).
(** With at most two candidates it does not matter how large B is. *)
Hypothesis B1 : (n <= 2)%N || (threshold_B <= 1).

Lemma threshold_YS i : threshold_Y i.+2 = threshold_A - threshold_B * threshold_Y i.+1.
Proof. by []. Qed.
Lemma c_ge0 v : 0 <= c v. Proof. by rewrite -c_loss.1 c_loss.2. Qed.
Lemma threshold_A_ge0 : 0 <= threshold_A.
Proof.
apply: divr_ge0 (ltW g0); apply: sumr_ge0 => v _; by rewrite !mulr_ge0 ?c_ge0 // exprn_ge0 // ltW.
Qed.
Lemma threshold_B_ge0 : 0 <= threshold_B.
Proof.
apply: divr_ge0 (ltW g0); apply: sumr_ge0 => v _; by rewrite mulr_ge0 // exprn_ge0 // ltW.
Qed.
Lemma threshold_Y_bounds i : threshold_B <= 1 -> 0 <= threshold_Y i <= threshold_A.
Proof.
move=> b1; elim: i => [|[|i] IH]; rewrite ?lexx ?threshold_A_ge0 // threshold_YS.
case/andP: IH => l u; rewrite subr_ge0 ler_subl_addr ler_addl mulr_ge0 ?threshold_B_ge0 // andbT.
by rewrite (le_trans _ u) // -[X in _ <= X]mul1r ler_wpmul2r.
Qed.
Lemma depth_multiplierS y t : (t <= k)%N ->
  depth_multiplier y t = g t * (c t - y) + z * depth_multiplier y t.+1.
Proof.
move=> lt; rewrite /depth_multiplier big_ltn ?ltnS // subnn expr0 mul1r; congr (_ + _).
rewrite mulr_sumr; apply: eq_big_nat => u /andP[tu _].
by rewrite [RHS]mulrA -exprS -subSn // subSS.
Qed.
Lemma depth_multiplier1 y : z * depth_multiplier y 1 = g 0%N * (threshold_A - threshold_B * y).
Proof.
have g00 : g 0%N != 0 by rewrite gt_eqF.
have div x : g 0%N * (x / g 0%N) = x by rewrite mulrC divfK.
rewrite mulrBr mulrA /threshold_A /threshold_B !div /depth_multiplier mulr_sumr mulr_suml -sumrB.
apply: eq_big_nat => u /andP[u1 _]; rewrite mulrA -exprS -subSn // subSS subn0.
by rewrite [c u * _]mulrC -mulrBr [g u * z ^+ u]mulrC mulrA.
Qed.
Lemma depth_multiplier_above y t : y <= c t -> 0 <= depth_multiplier y t.
Proof.
move=> le; rewrite /depth_multiplier big_nat; apply: sumr_ge0 => u /andP[tu _].
by rewrite !mulr_ge0 ?exprn_ge0 ?(ltW z0) // subr_ge0 (le_trans le) // c_loss.2.
Qed.
Lemma depth_multiplier_ge0 y t : 0 <= depth_multiplier y 1 -> 0 <= depth_multiplier y t.+1.
Proof.
move=> l1; elim: t => // t IH; case: (lerP y (c t.+2)) => [|lt];
  first exact: depth_multiplier_above.
case: (leqP t.+1 k) => [tk|kt]; last first.
  by rewrite /depth_multiplier big_geq // ltnS ltnW.
move: IH; rewrite depth_multiplierS // => h; rewrite -(pmulr_rge0 _ z0).
by apply: (le_trans h);
  rewrite ger_addr mulr_ge0_le0 // subr_le0 (le_trans _ (ltW lt)) // c_loss.2.
Qed.
Lemma depth_multiplierY i t : (0 < i)%N -> (i < n)%N -> 0 <= depth_multiplier (threshold_Y i) t.+1.
Proof.
case: i => // i _ lt; apply: depth_multiplier_ge0;
  rewrite -(pmulr_rge0 _ z0) depth_multiplier1 -threshold_YS;
  apply: mulr_ge0 (ltW g0) _.
case/orP: B1 => [n2|/(threshold_Y_bounds i.+2)/andP[//]].
have -> : i = 0%N by case: i lt => // i lt; have := leq_trans lt n2.
by rewrite /= mulr0 subr0 threshold_A_ge0.
Qed.

Notation depths := (depths n k).
Definition others_prior r (d : depths) : R := \prod_(s | s != r) g (d s).
Lemma othersE r d : product_prior g d = g (d r) * others_prior r d.
Proof. by rewrite /product_prior (bigD1 r). Qed.
Lemma others_ge0 r d : 0 <= others_prior r d.
Proof. by apply: prodr_ge0. Qed.
Lemma others_sink r d : others_prior r (sink d r) = others_prior r d.
Proof. by apply: eq_bigr => s sr; rewrite ffunE (negbTE sr). Qed.
Definition row_multiplier r (d : depths) : R := if val (d r) is t.+1
  then others_prior r d * depth_multiplier (threshold_Y (cnt d 0)) t.+1 else 0.

Lemma cnt0_sink (d : depths) r t : val (d r) = t -> (t < k)%N ->
  cnt (sink d r) 0 = (cnt d 0 - (t == 0))%N.
Proof.
move=> <- lt; rewrite -nth_counts counts_sink // /one_deeper nth_mkseq ?size_counts // nth_counts.
by rewrite addn0 eq_sym.
Qed.

Lemma row_multiplier_ge0 r (d : depths) : in_lattice d -> 0 <= row_multiplier r d.
Proof.
rewrite /row_multiplier in_lattice_cnt; case E: (val (d r)) => [//|t] Q;
  rewrite mulr_ge0 ?others_ge0 // depth_multiplierY //.
rewrite (cntD1 d r) -[nat_of_ord (d r)]/(val (d r)) E add0n big_mkcond /=.
rewrite -[X in (_ < X)%N]card_ord -sum1_card (bigD1 r) //= [X in (_ < X)%N](bigD1 r) //= eqxx add0n
  add1n ltnS.
by apply: leq_sum => s ->; case: eqP.
Qed.

Lemma red_holds r (d : depths) : in_lattice d ->
  row_multiplier r d + product_prior g d * threshold_Y (cnt d 0) = product_prior g d * c (d r) + z *
    oapp (row_multiplier r) 0 (next_depths r d).
Proof.
move=> Q; rewrite /row_multiplier /next_depths (lone_cnt r Q) (othersE r);
  have n0 : (0 < cnt d 0)%N by rewrite -in_lattice_cnt.
case E: (val (d r)) => [|t]; rewrite E /=.
  rewrite c_loss.1 mulr0 !add0r; case: eqP => [c1|/eqP c1] /=.
    by rewrite ffunE eqxx E c1 /= !mulr0.
  have {n0 c1}[i ci] : exists i, cnt d 0 = i.+2 by case: (cnt d 0) n0 c1 => [|[|i]] //; exists i.
  rewrite ci threshold_YS; case: ltnP => [k0|]; rewrite /=.
    by rewrite (cnt0_sink E k0) ffunE eqxx inordK ?E // ci /= others_sink mulrCA depth_multiplier1
      mulrCA mulrA.
  rewrite leqn0 => /eqP kz; rewrite /threshold_A /threshold_B kz !big_geq // !mul0r subr0 !mulr0 //.
have tk : (t.+1 <= k)%N by rewrite -ltnS -E ltn_ord.
rewrite depth_multiplierS // mulrBr [g _ * others_prior _ _]mulrC -!mulrA mulrDr.
rewrite mulrBr addrAC subrK; congr (_ + _).
case: ltnP => [lt|ge] /=;
  first by rewrite (cnt0_sink E lt) ffunE eqxx inordK ?E // subn0 others_sink mulrCA.
by rewrite /depth_multiplier big_geq // !mulr0.
Qed.

Lemma table_lossE (W : depths -> R) (t : table R n k) :
  table_loss W c t = \sum_(d | in_lattice d) \sum_r W d * c (d r) * t d r.
Proof. by apply: eq_bigr => d _; rewrite mulr_sumr; apply: eq_bigr => r _; rewrite mulrA. Qed.

Theorem threshold_lower_bound (t : table R n k) : feasible z Paper t ->
  \sum_(d : depths | in_lattice d) product_prior g d * threshold_Y (cnt d 0) <=
    table_loss (product_prior g) c t.
Proof.
case=> tp tw; rewrite table_lossE.
by apply: (lower_bound (lam := row_multiplier) tp tw) => r d Q;
  [exact: row_multiplier_ge0 | rewrite red_holds].
Qed.
End Threshold.
