(* The exact errors of permute-and-flip and of the exponential mechanism on the lattice, computed. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip Objectives Exponential Numbers Checker.
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
Definition em_loss : seq nat -> Q := let s := powers in fun m =>
  qdiv (over_depths k m (fun v => qmul (qn v) (nth q0 s v))) (over_depths k m (nth q0 s)).

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

Theorem pf_totalE : qR (total n k recurrence) = table_error (pf_table (qR z) : table R n k).
Proof.
rewrite totalE pf_value.
apply: eq_bigr => d _.
have c0 : nth 0%N (counts d) 0 = cnt d 0 := nth_counts d 0.
have le : (cnt d 0 <= n)%N by rewrite -[X in (_ <= X)%N](sum_counts d) /counts /= leq_addr.
by rewrite /recurrence c0 (nth_map 0%N) ?size_iota // nth_iota // add0n qYE.
Qed.

Theorem em_totalE : qR (total n k em_loss) = table_error (em_table (qR z) : table R n k).
Proof.
rewrite totalE; apply: eq_bigr => d _.
have P (r : 'I_n) : qR (nth q0 powers (d r)) = qR z ^+ d r.
  by rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n qpowE.
rewrite /em_loss qR_div !over_depthsE mulr_suml; apply: eq_bigr => r _.
by rewrite qR_mul qRn P mulrA; congr (_ / _); apply: eq_bigr => s _; rewrite P.
Qed.
End Errors.

(* The mean for an objective of what has the total f j on Q(n,j), and so of the two mechanisms. *)
Section Objective.
Variables (n k : nat) (z : Q) (o : objective).
Definition mean_of (f : nat -> seq nat -> Q) : Q :=
  qdiv (if o is Box then qsum [seq total n j (f j) | j <- iota 0 k.+1] else total n k (f k)) (vectors n k o).
Definition pf_error := mean_of (fun j => recurrence n j z).
Definition em_error := mean_of (fun j => em_loss j z).

Local Open Scope ring_scope.
Variable R : realFieldType.

Lemma mean_ofE f (T : forall j, table R n j) :
  (forall j d r, (j <= k)%N -> narrow j (T k) d r = T j d r) -> (forall j, qR R (total n j (f j)) = table_error (T j)) ->
  qR R (mean_of f) = objective_mean o (T k).
Proof.
move=> alike E; rewrite /mean_of qR_div vectorsE /objective_mean; congr (_ / _); case: o.
  by rewrite E; apply: eq_bigr => d _; rewrite mul1r.
rewrite (box_errors alike) qR_sum -[iota 0 k.+1]/(index_iota 0 k.+1) big_mkord.
by apply: eq_bigr => j _.
Qed.

Theorem pf_errorE : qR R pf_error = objective_mean o (pf_table (qR R z) : table R n k).
Proof.
apply: (mean_ofE (T := fun j => pf_table (qR R z))) => [j d r|j]; [exact: narrow_pf | exact: pf_totalE].
Qed.

Theorem em_errorE : qR R em_error = objective_mean o (em_table (qR R z) : table R n k).
Proof.
apply: (mean_ofE (T := fun j => em_table (qR R z))) => [j d r jk|j]; last exact: em_totalE.
by rewrite /narrow /em_table widenE //; congr (_ / _); apply: eq_bigr => s _; rewrite widenE.
Qed.
End Objective.
