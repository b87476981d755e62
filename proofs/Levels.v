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

(** At the end of its chain r is at depth k, and another candidate is best; before a vector that
    has r there comes another one. *)
Lemma chain_end r d : next r d = None ->
  d r = k :> nat /\ exists2 s, s != r & d s = 0%N :> nat.
Proof.
rewrite /next; case L: (lone d r) => //; case: ltnP => // kr _; split.
  by apply/eqP; rewrite eqn_leq kr -ltnS ltn_ord.
move/negbT: L; rewrite negb_forall => /existsP[s]; rewrite negb_imply -leqNgt leqn0.
by case/andP=> sr /eqP ds; exists s.
Qed.
Lemma step_back r e s0 : s0 != r -> e s0 = 0%N :> nat -> e r = k :> nat -> (0 < k)%N ->
  exists2 c, in_lattice c /\ sinks_by 1 r c e &
    c r = k.-1 :> nat /\ forall s, s != r -> c s = e s.
Proof.
move=> s0r es0 er k0; exists [ffun s => if s == r then inord k.-1 else e s]; split.
- by apply/existsP; exists s0; rewrite ffunE (negbTE s0r) es0.
- by move=> s sr; rewrite !ffunE eqxx (negbTE sr) inordK ?ltnS ?leq_pred // er; lia.
- by rewrite ffunE eqxx inordK // ltnS leq_pred.
by move=> s sr; rewrite ffunE (negbTE sr).
Qed.

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
  have Qc := next_in_lattice Qd E; have sk := next_sinks Qd E.
  apply: (le_trans (tw r d c Qd Qc sk)); apply: tm => // s.
  by case: (eqVneq s r) => [->|/sk]; [rewrite addnC | have := below s; lia].
(* The chain ends: r is at depth k in d, and so it is in e. Go back a step from e. *)
have [dr [s2 s2r ds2]] := chain_end E.
have er : e r = k :> nat by have := above s2; have := ltn_ord (e r); lia.
have es2 : e s2 = 0%N :> nat by have := above s2; lia.
have k0 : (0 < k)%N by have := ltn_ord (d s0); lia.
have [c [Qc sk] [cr ce]] := step_back s2r es2 er k0.
apply: le_trans (tw r c e Qc Qe sk); rewrite ler_wpmul2l //; apply: tm => // s; rewrite cr.
case: (eqVneq s r) => [->|sr]; first by rewrite cr addnC.
by rewrite ce //; have := below s; lia.
Qed.

(** So the two levels have the same points. *)
Theorem full_is_monotone t : feasible z Full t <-> feasible z Monotone t.
Proof.
split=> -[tp [tw tm]]; do !split=> //; first exact: neighbor_worst_by.
exact: monotone_implies_neighbor_rows.
Qed.
End Levels.
