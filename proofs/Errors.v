(* The exact errors of permute-and-flip and of the exponential mechanism on the lattice, computed. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip Exponential Numbers Checker.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.

Section Errors.
Variables (n k : nat) (z : Q).
Fixpoint qpow i : Q := if i is i'.+1 then qmul z (qpow i') else qn 1.
Definition powers := [seq qpow v | v <- iota 0 k.+1].
Fixpoint qY (a b : Q) i : Q := if i is i'.+1 then (if i' is 0%N then q0 else qsub a (qmul b (qY a b i'))) else q0.
Definition qA := qsum [seq qmul (qn v) (qpow v) | v <- index_iota 1 k.+1].
Definition qB := qsum [seq qpow v | v <- index_iota 1 k.+1].
(* The multipliers of the recurrence. *)
Definition ys := let a := qA in let b := qB in [seq qY a b i | i <- iota 0 n.+1].
Definition recurrence : seq nat -> Q := let s := ys in fun m => nth q0 s (nth 0%N m 0).
Definition pf_error : Q := qdiv (total n k recurrence) (vectors n k).
Definition em_loss : seq nat -> Q := let s := powers in fun m =>
  qdiv (over_depths k m (fun v => qmul (qn v) (nth q0 s v))) (over_depths k m (nth q0 s)).
Definition em_error : Q := qdiv (total n k em_loss) (vectors n k).

Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).

Lemma qpowE i : qR (qpow i) = qR z ^+ i.
Proof. by elim: i => [|i IH]; rewrite ?qRn // exprS -IH -qR_mul. Qed.
Local Notation ones := (@same_weight R).
Local Notation id := (@depth_loss R).
Lemma qAE : qR qA = A k (qR z) ones id.
Proof. by rewrite /qA qR_sum /A divr1; apply: eq_bigr => v _; rewrite qR_mul qRn qpowE mul1r. Qed.
Lemma qBE : qR qB = B k (qR z) ones.
Proof. by rewrite /qB qR_sum /B divr1; apply: eq_bigr => v _; rewrite qpowE mul1r. Qed.
Lemma qYE i : qR (qY qA qB i) = Y k (qR z) ones id i.
Proof.
elim: i => [|[|i] IH]; rewrite ?qR0 // YS -IH -qAE -qBE -qR_mul -qR_sub //.
Qed.

Theorem pf_errorE : qR pf_error = table_mean (pf_table (qR z) : table R n k).
Proof.
rewrite /pf_error qR_div vectorsE totalE; congr (_ / _); rewrite pf_value.
apply: eq_bigr => d _.
have c0 : nth 0%N (counts d) 0 = cnt d 0 := nth_counts d 0.
have le : (cnt d 0 <= n)%N by rewrite -[X in (_ <= X)%N](sum_counts d) /counts /= leq_addr.
by rewrite /recurrence c0 (nth_map 0%N) ?size_iota // nth_iota // add0n qYE.
Qed.

Theorem em_errorE : qR em_error = table_mean (em_table (qR z) : table R n k).
Proof.
rewrite /em_error qR_div vectorsE totalE; congr (_ / _); apply: eq_bigr => d _.
have P (r : 'I_n) : qR (nth q0 powers (d r)) = qR z ^+ d r.
  by rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n qpowE.
rewrite /em_loss qR_div !over_depthsE mulr_suml; apply: eq_bigr => r _.
by rewrite qR_mul qRn P mulrA; congr (_ / _); apply: eq_bigr => s _; rewrite P.
Qed.
End Errors.
