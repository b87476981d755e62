(* Where z + ... + z^k <= 1, the dual recurrence of docs/results/threshold.md bounds the error of every feasible table from
   below, for all n and k. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Optratio Require Import Mechanisms Program CountVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Threshold.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (z0 : 0 < z) (B1 : \sum_(1 <= v < k.+1) z ^+ v <= 1).
(* A and B' of docs; the dual point y(m) = Y_(m_0); the multiplier of the row into depth t on a chain. *)
Definition A := \sum_(1 <= v < k.+1) v%:R * z ^+ v.
Definition B := \sum_(1 <= v < k.+1) z ^+ v.
Fixpoint Y i : R := if i is i'.+1 then (if i' is 0 then 0 else A - B * Y i') else 0.
Definition Lam y t : R := \sum_(t <= u < k.+1) z ^+ (u - t) * (u%:R - y).

Lemma YS i : Y i.+2 = A - B * Y i.+1. Proof. by []. Qed.
Lemma A_ge0 : 0 <= A.
Proof. by apply: sumr_ge0 => v _; rewrite mulr_ge0 ?ler0n // exprn_ge0 // ltW. Qed.
Lemma B_ge0 : 0 <= B.
Proof. by apply: sumr_ge0 => v _; rewrite exprn_ge0 // ltW. Qed.
Lemma Y_bounds i : 0 <= Y i <= A.
Proof.
elim: i => [|[|i] IH]; rewrite ?lexx ?A_ge0 // YS.
case/andP: IH => l u; rewrite subr_ge0 ler_subl_addr ler_addl mulr_ge0 ?B_ge0 // andbT.
by rewrite (le_trans _ u) // -[X in _ <= X]mul1r ler_wpmul2r.
Qed.
Lemma LamS y t : (t <= k)%N -> Lam y t = t%:R - y + z * Lam y t.+1.
Proof.
move=> lt; rewrite /Lam big_ltn ?ltnS // subnn expr0 mul1r; congr (_ + _).
rewrite mulr_sumr; apply: eq_big_nat => u /andP[tu _].
by rewrite mulrA -exprS -subSn // subSS.
Qed.
Lemma Lam1 y : z * Lam y 1 = A - B * y.
Proof.
rewrite /Lam /A /B mulr_sumr mulr_suml -sumrB; apply: eq_big_nat => u /andP[u1 _].
by rewrite mulrA -exprS -subSn // subSS subn0 mulrBr mulrC.
Qed.
Lemma Lam_ge0_above y t : y <= t%:R -> 0 <= Lam y t.
Proof.
move=> le; rewrite /Lam big_nat; apply: sumr_ge0 => u /andP[tu _].
by rewrite mulr_ge0 ?exprn_ge0 ?(ltW z0) // subr_ge0 (le_trans le) // ler_nat.
Qed.
Lemma Lam_ge0 y t : 0 <= Lam y 1 -> 0 <= Lam y t.+1.
Proof.
move=> l1; elim: t => // t IH; case: (lerP y t.+2%:R) => [|lt]; first exact: Lam_ge0_above.
case: (leqP t.+1 k) => [tk|kt]; last first.
  by rewrite /Lam big_geq // ltnS ltnW.
move: IH; rewrite LamS // => h; rewrite -(pmulr_rge0 _ z0).
apply: (le_trans h); rewrite ger_addr subr_le0 (le_trans _ (ltW lt)) // ler_nat //.
Qed.
Lemma LamY_ge0 i t : (0 < i)%N -> 0 <= Lam (Y i) t.+1.
Proof.
case: i => // i _; apply: Lam_ge0; rewrite -(pmulr_rge0 _ z0) Lam1 -YS.
by case/andP: (Y_bounds i.+2).
Qed.

Notation depths := (depths n k).
Definition lamT r (d : depths) : R := if val (d r) is t.+1 then Lam (Y (cnt d 0)) t.+1 else 0.

Lemma cnt0_sink (d : depths) r t : val (d r) = t -> (t < k)%N -> cnt (sink d r) 0 = (cnt d 0 - (t == 0))%N.
Proof.
move=> <- lt; rewrite -nth_counts counts_sink // /bump nth_mkseq ?size_counts // nth_counts.
by rewrite addn0 eq_sym.
Qed.

Lemma red_holds r (d : depths) : in_lattice d ->
  lamT r d + Y (cnt d 0) = (d r)%:R + z * oapp (lamT r) 0 (next r d).
Proof.
move=> Q; rewrite /lamT /next (lone_cnt r Q); have c0 : (0 < cnt d 0)%N by rewrite -in_lattice_cnt.
case E: (val (d r)) => [|t]; rewrite E /=.
  case: eqP => [c1|/eqP c1] /=.
    by rewrite ffunE eqxx E c1 /= mulr0.
  have {c0 c1}[i ci] : exists i, cnt d 0 = i.+2 by case: (cnt d 0) c0 c1 => [|[|i]] //; exists i.
  rewrite !add0r ci YS; case: ltnP => [k0|]; rewrite /=.
    rewrite (cnt0_sink E k0) ffunE eqxx inordK ?E // ci /= -Lam1; exact: erefl.
  rewrite leqn0 => /eqP kz; rewrite /A /B kz !big_geq // mul0r subr0 mulr0 //.
have tk : (t.+1 <= k)%N by rewrite -ltnS -E ltn_ord.
rewrite LamS // addrAC subrK; congr (_ + z * _).
case: ltnP => [lt|ge] /=; first by rewrite (cnt0_sink E lt) ffunE eqxx inordK ?E // subn0.
by rewrite /Lam big_geq.
Qed.

Theorem threshold_lower_bound (t : table R n k) : feasible z Paper t ->
  \sum_(d : depths | in_lattice d) Y (cnt d 0) <= table_error t.
Proof.
case=> tp tw; apply: (lower_bound (lam := lamT) tp tw) => r d Q; last by rewrite red_holds.
rewrite /lamT; case: (val (d r)) => // u; apply: LamY_ge0; by rewrite -in_lattice_cnt.
Qed.
End Threshold.
