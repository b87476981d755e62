(** Permute-and-flip on the lattice, and its optimality where z + ... + z^k <= 1
    (research/docs/threshold.md, Theorem 1). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum poly.
From Optratio Require Import Mechanisms Program CountVectors Integral Threshold.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Pf.
Variable R : realFieldType.
Variable n : nat.
Implicit Types w : 'I_n -> R.
(** Permute-and-flip takes candidate r with probability w_r times the integral over t in [0, 1] of
    the product of 1 - t w_s over the others, where w_s is e^(-epsilon/(2 Delta)) to the power of
    the distance from the best score. *)
Definition pf w r : R := w r * integral (\prod_(s < n | s != r) (1 - w s *: 'X)).

Lemma pf_sum w : (exists s, w s = 1) -> \sum_r pf w r = 1.
Proof.
case=> s ps.
have E : \sum_r pf w r = - integral ((\prod_(i < n) (1 - w i *: 'X))^`()).
  rewrite deriv_bigprod ?index_enum_uniq // integral_sum -sumrN; apply: eq_bigr => r _.
  by rewrite derivB derivZ derivX derivC sub0r alg_polyC mulNr -scaleN1r integralZ mulN1r opprK
    mul_polyC integralZ.
rewrite E integral_deriv !horner_prod (bigD1 s) //= hornerD hornerN hornerZ hornerX hornerC ps
  mulr1 subrr mul0r sub0r opprK.
by apply: big1 => i _; rewrite hornerD hornerN hornerZ hornerX hornerC mulr0 subr0.
Qed.

Lemma pf_tight w w' z r : w' r = z * w r -> (forall s, s != r -> w' s = w s) ->
  pf w' r = z * pf w r.
Proof.
move=> E1 E2; rewrite /pf E1 mulrA; congr (_ * integral _).
by apply: eq_bigr => s sr; rewrite E2.
Qed.

Variables (k : nat) (z : R).
(** Its table on the lattice of step 2 Delta, where w_s = z^depth. *)
Definition pf_table : table R n k := fun d r => pf (fun s => z ^+ d s) r.

(** Its loss is the bound of Threshold.v, for every loss and product prior. *)
Lemma pf_loss g c : 0 < g 0%N -> loss c ->
  table_loss (product_prior g) c pf_table =
    \sum_(d : depths n k | in_lattice d) product_prior g d * threshold_Y k z g c (cnt d 0).
Proof.
move=> g0 c_loss; pose W := @product_prior R n k g; pose y d := W d * threshold_Y k z g c (cnt d 0).
have -> : \sum_(d : depths n k | in_lattice d) product_prior g d * threshold_Y k z g c (cnt d 0) =
    \sum_r \sum_(d | in_lattice d) y d * pf_table d r.
  rewrite exchange_big /=; apply: eq_bigr => d /existsP[s /eqP ds];
    rewrite -mulr_sumr pf_sum ?mulr1 //.
  by exists s; rewrite ds expr0.
rewrite table_lossE exchange_big /=; apply: eq_bigr => r _; apply/esym.
apply: (tight_chain (z := z) (next := next_depths r) (lam := row_multiplier z g c r)).
- exact: next_injective.
- exact: next_in_lattice.
- move=> a d Qa; rewrite /next_depths; case L: (lone a r).
    by case=> <-; rewrite /row_multiplier ffunE eqxx /= (lone_top Qa L) !(mul0r, mulr0).
  case: ltnP => // lt [<-]; rewrite [z * _]mulrC -mulrA; congr (_ * _).
  apply: pf_tight => [|s sr]; first by rewrite ffunE eqxx inordK // exprS.
  by rewrite ffunE (negbTE sr).
- move=> d Qd; rewrite /row_multiplier; case E: (val (d r)) => [|t]; rewrite ?eqxx // => _.
  pose a : depths n k := [ffun s => if s == r then inord t else d s].
  have tk : (t.+1 <= k)%N by rewrite -ltnS -E ltn_ord.
  have [s ds sr] : exists2 s, d s = 0%N :> nat & s != r.
    case/existsP: Qd => s /eqP ds; exists s => //; apply/eqP => e; by move: E; rewrite -e /= ds.
  exists a; first by apply/existsP; exists s; rewrite ffunE (negbTE sr) ds.
  have -> : next_depths r a = Some (sink a r).
    rewrite /next_depths ffunE eqxx inordK ?ltnS ?(ltnW tk) // tk; case: ifP => // /forallP/(_ s).
    by rewrite sr ffunE (negbTE sr) ds.
  congr Some; apply/ffunP => i; rewrite !ffunE; case: eqP => [->|//]; apply: val_inj.
  by rewrite /= ?ffunE ?eqxx !inordK ?ltnS ?(ltnW tk) ?E.
- by move=> a Qa; apply: red_holds.
Qed.

(** At every level it has the least loss, for all n and k, every monotone loss and every product
    prior with z g(1) + ... + z^k g(k) <= g(0), and for n <= 2 for every product prior. *)
Theorem pf_optimal_for_losses g c (t : table R n k) : 0 < z -> loss c -> 0 < g 0%N ->
  (forall v, 0 <= g v) ->
  (n <= 2)%N || (\sum_(1 <= v < k.+1) g v * z ^+ v <= g 0%N) ->
  feasible z Paper t ->
    table_loss (product_prior g) c pf_table <= table_loss (product_prior g) c t.
Proof.
move=> z0 c_loss g0 g_ge0 b1 ft; rewrite pf_loss //; apply: threshold_lower_bound => //.
by rewrite /threshold_B ler_pdivr_mulr // mul1r.
Qed.

(** The mean error is the loss v at depth v where all score vectors weigh the same. *)
Definition depth_loss v : R := v%:R.
Lemma depth_is_loss : loss depth_loss.
Proof. by split=> // u v; rewrite ler_nat. Qed.
Definition same_weight (v : nat) : R := 1.
Lemma product_same (d : depths n k) : product_prior same_weight d = 1.
Proof. exact: big1. Qed.
Lemma same_weight_sum :
  \sum_(1 <= v < k.+1) same_weight v * z ^+ v = \sum_(1 <= v < k.+1) z ^+ v.
Proof. by apply: eq_bigr => v _; rewrite mul1r. Qed.
Lemma table_error_loss (t : table R n k) :
  table_error t = table_loss (product_prior same_weight) depth_loss t.
Proof. by apply: eq_bigr => d _; rewrite product_same mul1r. Qed.
Lemma table_mean_lt (t t' : table R n k) : (0 < n)%N -> (table_mean t < table_mean t') =
  (table_loss (product_prior same_weight) depth_loss t <
   table_loss (product_prior same_weight) depth_loss t').
Proof.
by move=> n0; rewrite -!table_error_loss ltr_pmul2r // invr_gt0 ltr0n lattice_gt0.
Qed.

Lemma pf_value : table_error pf_table =
  \sum_(d : depths n k | in_lattice d) threshold_Y k z same_weight depth_loss (cnt d 0).
Proof.
rewrite table_error_loss pf_loss ?ltr01 //; last exact: depth_is_loss.
by apply: eq_bigr => d _; rewrite product_same mul1r.
Qed.

(** It has the least mean error for all n and k with z + ... + z^k <= 1. *)
Theorem pf_optimal (t : table R n k) : 0 < z -> \sum_(1 <= v < k.+1) z ^+ v <= 1 ->
  feasible z Paper t -> table_mean pf_table <= table_mean t.
Proof.
move=> z0 b1 ft; rewrite ler_wpmul2r ?invr_ge0 ?ler0n // !table_error_loss;
  apply: pf_optimal_for_losses => //.
- exact: depth_is_loss.
- exact: ltr01.
- by move=> v; exact: ler01.
- by rewrite same_weight_sum b1 orbT.
Qed.

(** So it has for all n and k where z <= 1/2, which is epsilon >= ln 2. *)
Theorem pf_optimal_half (t : table R n k) : 0 < z -> z + z <= 1 -> feasible z Paper t ->
  table_mean pf_table <= table_mean t.
Proof.
move=> z0 z2; apply: pf_optimal => //; suff: \sum_(1 <= v < k.+1) z ^+ v <= 1 - z ^+ k.
  by move/le_trans; apply; rewrite ler_subl_addr ler_addl exprn_ge0 // ltW.
elim: (k) => [|i IH]; first by rewrite big_geq // expr0 subrr.
rewrite big_nat_recr //=; apply: le_trans (ler_add IH (lexx _)) _.
rewrite -addrA ler_add2l addrC ler_subl_addr [X in _ <= X]addrC ler_subr_addr exprS -mulrDl.
by rewrite ler_pimull // exprn_ge0 // ltW.
Qed.
End Pf.
