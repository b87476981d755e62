(** With monotonicity, privacy towards the worst neighbors implies privacy towards all of them
    inside the lattice: the levels full and monotone are the same (research/docs/levels.md, Theorem
    2). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zify.
From Optratio Require Import Mechanisms Program.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Depths.
Variables (n k : nat).
Implicit Types (c d e : depths n k) (r s : 'I_n).

(** Towards a neighbor, r does not fall against any other candidate, or does not rise. *)
Lemma near_favors r d e : near_by 1 d e -> favors r d e \/ (0 < k)%N /\ favors r e d.
Proof.
move=> near; case: (boolP [forall s, d s + e r <= e s + d r]%N) => [/forallP|]; first by left.
rewrite negb_forall => /existsP[s0]; rewrite -ltnNge => fall; right; split=> [|s].
  by have := ltn_ord (d s0); have := ltn_ord (e r); lia.
by have := near s0 s; lia.
Qed.

(** After a step in which r alone sinks, or before it, it is no worse off than at the neighbor. *)
Lemma sinks_favors r c d e : sinks_by 1 r d c -> near_by 1 d e -> favors r c e.
Proof.
move=> sk near s; case: (eqVneq s r) => [->|/sk]; first by rewrite addnC.
by have := near s r; lia.
Qed.
Lemma favors_sinks r c d e : sinks_by 1 r c e -> near_by 1 d e -> favors r d c.
Proof.
move=> sk near s; case: (eqVneq s r) => [->|/sk]; first by rewrite addnC.
by have := near s r; lia.
Qed.

(** Where the chain of r ends, r is at depth k below a candidate at depth 0, and so it is wherever
    it does not rise: there its chain has a step before. *)
Lemma step_back r d e : (0 < k)%N -> next_depths r d = None -> favors r e d ->
  exists2 c, in_lattice c & sinks_by 1 r c e.
Proof.
move=> k0; rewrite /next_depths; case: ifP => // /negbT; rewrite negb_forall => /existsP[s].
rewrite negb_imply -leqNgt leqn0 => /andP[sr /eqP ds]; case: ltnP => // dr _ fall.
have [er es] : e r = k :> nat /\ e s = 0%N :> nat.
  by have := fall s; have := ltn_ord (e r); have := ltn_ord (d r); lia.
exists [ffun i => if i == r then inord k.-1 else e i].
  by apply/existsP; exists s; rewrite ffunE (negbTE sr) es.
by move=> i ir; rewrite !ffunE eqxx (negbTE ir) inordK ?ltnS ?leq_pred // er; lia.
Qed.
End Depths.

Section Levels.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (z0 : 0 <= z) (z1 : z <= 1).
Implicit Types t : table R n k.

Theorem monotone_implies_neighbor_rows t : proper_table t -> worst_rows_by 1 z t ->
  monotone_rows t -> neighbor_rows_by 1 z t.
Proof.
move=> tp tw tm r d e Qd Qe near; case: (near_favors r near) => [up|[k0 down]].
  by apply: le_trans (tm r d e Qd Qe up); rewrite ler_pimull ?(tp d Qd).1.
case E: (next_depths r d) => [c|].
  have [Qc sk] := (next_in_lattice Qd E, next_sinks Qd E).
  exact: le_trans (tw r d c Qd Qc sk) (tm r c e Qc Qe (sinks_favors sk near)).
have [c Qc sk] := step_back k0 E down; apply: le_trans (tw r c e Qc Qe sk).
by rewrite ler_wpmul2l // tm //; exact: favors_sinks sk near.
Qed.

(** So the two levels have the same points. *)
Theorem full_is_monotone t : feasible z Full t <-> feasible z Monotone t.
Proof.
split=> -[tp [tw tm]]; do !split=> //; first exact: neighbor_worst_by.
exact: monotone_implies_neighbor_rows.
Qed.
End Levels.
