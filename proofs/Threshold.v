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
Definition A := (\sum_(1 <= v < k.+1) c v * (g v * z ^+ v)) / g 0%N.
Definition B := (\sum_(1 <= v < k.+1) g v * z ^+ v) / g 0%N.
Fixpoint Y i : R := if i is i'.+1 then (if i' is 0 then 0 else A - B * Y i') else 0.
Definition Lam y t : R := \sum_(t <= u < k.+1) z ^+ (u - t) * (g u * (c u - y)).
(** With at most two candidates it does not matter how large B is. *)
Hypothesis B1 : (n <= 2)%N || (B <= 1).

Lemma YS i : Y i.+2 = A - B * Y i.+1. Proof. by []. Qed.
Lemma c_ge0 v : 0 <= c v. Proof. by rewrite -c_loss.1 c_loss.2. Qed.
Lemma A_ge0 : 0 <= A.
Proof.
apply: divr_ge0 (ltW g0); apply: sumr_ge0 => v _; by rewrite !mulr_ge0 ?c_ge0 // exprn_ge0 // ltW.
Qed.
Lemma B_ge0 : 0 <= B.
Proof.
apply: divr_ge0 (ltW g0); apply: sumr_ge0 => v _; by rewrite mulr_ge0 // exprn_ge0 // ltW.
Qed.
Lemma Y_bounds i : B <= 1 -> 0 <= Y i <= A.
Proof.
move=> b1; elim: i => [|[|i] IH]; rewrite ?lexx ?A_ge0 // YS.
case/andP: IH => l u; rewrite subr_ge0 ler_subl_addr ler_addl mulr_ge0 ?B_ge0 // andbT.
by rewrite (le_trans _ u) // -[X in _ <= X]mul1r ler_wpmul2r.
Qed.
Lemma LamS y t : (t <= k)%N -> Lam y t = g t * (c t - y) + z * Lam y t.+1.
Proof.
move=> lt; rewrite /Lam big_ltn ?ltnS // subnn expr0 mul1r; congr (_ + _).
rewrite mulr_sumr; apply: eq_big_nat => u /andP[tu _].
by rewrite [RHS]mulrA -exprS -subSn // subSS.
Qed.
Lemma Lam1 y : z * Lam y 1 = g 0%N * (A - B * y).
Proof.
have g00 : g 0%N != 0 by rewrite gt_eqF.
have div x : g 0%N * (x / g 0%N) = x by rewrite mulrC divfK.
rewrite mulrBr mulrA /A /B !div /Lam mulr_sumr mulr_suml -sumrB.
apply: eq_big_nat => u /andP[u1 _]; rewrite mulrA -exprS -subSn // subSS subn0.
by rewrite [c u * _]mulrC -mulrBr [g u * z ^+ u]mulrC mulrA.
Qed.
Lemma Lam_ge0_above y t : y <= c t -> 0 <= Lam y t.
Proof.
move=> le; rewrite /Lam big_nat; apply: sumr_ge0 => u /andP[tu _].
by rewrite !mulr_ge0 ?exprn_ge0 ?(ltW z0) // subr_ge0 (le_trans le) // c_loss.2.
Qed.
Lemma Lam_ge0 y t : 0 <= Lam y 1 -> 0 <= Lam y t.+1.
Proof.
move=> l1; elim: t => // t IH; case: (lerP y (c t.+2)) => [|lt]; first exact: Lam_ge0_above.
case: (leqP t.+1 k) => [tk|kt]; last first.
  by rewrite /Lam big_geq // ltnS ltnW.
move: IH; rewrite LamS // => h; rewrite -(pmulr_rge0 _ z0).
by apply: (le_trans h);
  rewrite ger_addr mulr_ge0_le0 // subr_le0 (le_trans _ (ltW lt)) // c_loss.2.
Qed.
Lemma LamY_ge0 i t : (0 < i)%N -> (i < n)%N -> 0 <= Lam (Y i) t.+1.
Proof.
case: i => // i _ lt; apply: Lam_ge0; rewrite -(pmulr_rge0 _ z0) Lam1 -YS;
  apply: mulr_ge0 (ltW g0) _.
case/orP: B1 => [n2|/(Y_bounds i.+2)/andP[//]].
have -> : i = 0%N by case: i lt => // i lt; have := leq_trans lt n2.
by rewrite /= mulr0 subr0 A_ge0.
Qed.

Notation depths := (depths n k).
Definition others r (d : depths) : R := \prod_(s | s != r) g (d s).
Lemma othersE r d : product_prior g d = g (d r) * others r d.
Proof. by rewrite /product_prior (bigD1 r). Qed.
Lemma others_ge0 r d : 0 <= others r d.
Proof. by apply: prodr_ge0. Qed.
Lemma others_sink r d : others r (sink d r) = others r d.
Proof. by apply: eq_bigr => s sr; rewrite ffunE (negbTE sr). Qed.
Definition lamT r (d : depths) : R := if val (d r) is t.+1 then others r d * Lam (Y (cnt d 0)) t.+1
  else 0.

Lemma cnt0_sink (d : depths) r t : val (d r) = t -> (t < k)%N ->
  cnt (sink d r) 0 = (cnt d 0 - (t == 0))%N.
Proof.
move=> <- lt; rewrite -nth_counts counts_sink // /one_deeper nth_mkseq ?size_counts // nth_counts.
by rewrite addn0 eq_sym.
Qed.

Lemma lamT_ge0 r (d : depths) : in_lattice d -> 0 <= lamT r d.
Proof.
rewrite /lamT in_lattice_cnt; case E: (val (d r)) => [//|t] Q;
  rewrite mulr_ge0 ?others_ge0 // LamY_ge0 //.
rewrite (cntD1 d r) -[nat_of_ord (d r)]/(val (d r)) E add0n big_mkcond /=.
rewrite -[X in (_ < X)%N]card_ord -sum1_card (bigD1 r) //= [X in (_ < X)%N](bigD1 r) //= eqxx add0n
  add1n ltnS.
by apply: leq_sum => s ->; case: eqP.
Qed.

Lemma red_holds r (d : depths) : in_lattice d ->
  lamT r d + product_prior g d * Y (cnt d 0) = product_prior g d * c (d r) + z *
    oapp (lamT r) 0 (next r d).
Proof.
move=> Q; rewrite /lamT /next (lone_cnt r Q) (othersE r);
  have n0 : (0 < cnt d 0)%N by rewrite -in_lattice_cnt.
case E: (val (d r)) => [|t]; rewrite E /=.
  rewrite c_loss.1 mulr0 !add0r; case: eqP => [c1|/eqP c1] /=.
    by rewrite ffunE eqxx E c1 /= !mulr0.
  have {n0 c1}[i ci] : exists i, cnt d 0 = i.+2 by case: (cnt d 0) n0 c1 => [|[|i]] //; exists i.
  rewrite ci YS; case: ltnP => [k0|]; rewrite /=.
    by rewrite (cnt0_sink E k0) ffunE eqxx inordK ?E // ci /= others_sink mulrCA Lam1 mulrCA mulrA.
  rewrite leqn0 => /eqP kz; rewrite /A /B kz !big_geq // !mul0r subr0 !mulr0 //.
have tk : (t.+1 <= k)%N by rewrite -ltnS -E ltn_ord.
rewrite LamS // mulrBr [g _ * others _ _]mulrC -!mulrA mulrDr.
rewrite mulrBr addrAC subrK; congr (_ + _).
case: ltnP => [lt|ge] /=;
  first by rewrite (cnt0_sink E lt) ffunE eqxx inordK ?E // subn0 others_sink mulrCA.
by rewrite /Lam big_geq // !mulr0.
Qed.

Lemma table_lossE (W : depths -> R) (t : table R n k) :
  table_loss W c t = \sum_(d | in_lattice d) \sum_r W d * c (d r) * t d r.
Proof. by apply: eq_bigr => d _; rewrite mulr_sumr; apply: eq_bigr => r _; rewrite mulrA. Qed.

Theorem threshold_lower_bound (t : table R n k) : feasible z Paper t ->
  \sum_(d : depths | in_lattice d) product_prior g d * Y (cnt d 0) <= table_loss (product_prior g)
    c t.
Proof.
case=> tp tw; rewrite table_lossE.
by apply: (lower_bound (lam := lamT) tp tw) => r d Q; [exact: lamT_ge0 | rewrite red_holds].
Qed.
End Threshold.
