(** With monotonicity, privacy towards the worst neighbors implies privacy towards all of them
    inside the lattice: the levels full and monotone are the same (research/docs/levels.md, Theorem
    2). *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Optratio Require Import Mechanisms Program.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Levels.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (z0 : 0 <= z) (z1 : z <= 1).
Implicit Types (d e : depths n k) (r s : 'I_n) (t : table R n k).

Theorem monotone_implies_neighbor_rows t : table_proper t -> worst_rows_by 1 z t ->
  monotone_rows t -> neighbor_rows_by 1 z t.
Proof.
move=> tp tw tm r d e Qd Qe nde.
have zt : z * t d r <= t d r by rewrite -[X in _ <= X]mul1r ler_wpmul2r ?(tp d Qd).1.
(* Where r does not fall against any other, monotonicity is enough. *)
case: (boolP [forall s, (d s + e r <= e s + d r)%N]) => [/forallP h|].
  exact: le_trans zt (tm r d e Qd Qe h).
rewrite negb_forall => /existsP[s0]; rewrite -ltnNge => h0.
have below s : (d s + e r <= e s + d r + 1)%N := nde s r.
have above s : (e s + d r <= d s + e r)%N by have := nde s0 s; lia.
case E: (next r d) => [c|].
  (* The next vector of the chain has r fall by a step against all others, and lies below e. *)
  have Qc := next_in_lattice Qd E; apply: (le_trans (tw r d c Qd Qc (next_sinks Qd E)));
    apply: tm => // s.
  move: E; rewrite /next; case: ifP => L; [case=> <- | case: ltnP => // lt [<-]];
    rewrite !ffunE eqxx.
    case: (eqVneq s r) => [->|sr]; first by rewrite addnC.
    rewrite val_pred.
    by move/forallP/(_ s): L; rewrite sr /=; have := below s; lia.
  by case: (eqVneq s r) => [->|sr]; rewrite !inordK //; have := below s; lia.
(* The chain ends: r is at depth k in d, and so it is in e. Go back a step from e. *)
move: E; rewrite /next; case L: (lone d r) => //; case: ltnP => // kr _.
have {kr}dr : d r = k :> nat by apply/eqP; rewrite eqn_leq kr -ltnS ltn_ord.
have [s2 s2r ds2] : exists2 s2, s2 != r & d s2 = 0%N :> nat.
  move/negbT: L; rewrite negb_forall => /existsP[s2];
    rewrite negb_imply -leqNgt leqn0 => /andP[? /eqP ?].
  by exists s2.
have er : e r = k :> nat by have := above s2; have := ltn_ord (e r); lia.
have es2 : e s2 = 0%N :> nat by have := above s2; lia.
have k0 : (0 < k)%N by have := ltn_ord (d s0); lia.
pose c : depths n k := [ffun s => if s == r then inord k.-1 else e s].
have cr : c r = k.-1 :> nat by rewrite ffunE eqxx inordK // ltnS leq_pred.
have Qc : in_lattice c by apply/existsP; exists s2; rewrite ffunE (negbTE s2r) es2.
have sk : sinks_by 1 r c e by move=> s sr; rewrite cr er ffunE (negbTE sr); lia.
apply: le_trans (tw r c e Qc Qe sk); rewrite ler_wpmul2l //; apply: tm => // s.
rewrite cr ffunE; case: eqP => [->|_]; first by rewrite inordK ?ltnS ?leq_pred //; lia.
by have := below s; lia.
Qed.

(** So the two levels have the same points. *)
Theorem full_is_monotone t : feasible z Full t <-> feasible z Monotone t.
Proof.
split=> -[tp [tw tm]]; do !split=> //; first exact: neighbor_worst_by.
exact: monotone_implies_neighbor_rows.
Qed.
End Levels.
