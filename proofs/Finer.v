(* The program on lattices whose step is 2/L sensitivities: the rows of the four levels, which every private mechanism's
   table satisfies. *)
From mathcomp Require Import all_ssreflect all_algebra zify ring.
From Optratio Require Import Mechanisms Program PermuteAndFlip Integral Private Exponential.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rows.
Variables (R : realFieldType) (n k L : nat).
Implicit Types (d e : depths n k) (r s : 'I_n) (t : table R n k) (z : R).

(* Depth vectors whose scores are neighbors after a shift: no two changes of depth are more than L steps apart. *)
Definition near_by d e := forall s s', (d s + e s' <= e s + d s' + L)%N.
(* The worst neighbor: candidate r sinks by L steps against each other one. *)
Definition sinks_by r d e := forall s, s != r -> (e s + d r + L = d s + e r)%N.
Definition neighbor_rows_by z t :=
  forall r d e, in_lattice d -> in_lattice e -> near_by d e -> z * t d r <= t e r.
Definition worst_rows_by z t :=
  forall r d e, in_lattice d -> in_lattice e -> sinks_by r d e -> z * t d r <= t e r.
Definition feasible_by z (l : level) t := table_proper t /\ match l with
  | Paper => worst_rows_by z t
  | Dp => neighbor_rows_by z t
  | Monotone => worst_rows_by z t /\ monotone_rows t
  | Full => neighbor_rows_by z t /\ monotone_rows t end.

Lemma sinks_near r d e : in_lattice d -> in_lattice e -> sinks_by r d e -> near_by d e.
Proof.
move=> /existsP[u /eqP du] /existsP[w /eqP ew] sk s s'.
have E i : i = r \/ (e i + d r + L = d i + e r)%N by case: (eqVneq i r) => [|/sk]; [left|right].
case: (E s) (E s') => [->|es] [->|es']; lia.
Qed.
Lemma neighbor_worst_by z t : neighbor_rows_by z t -> worst_rows_by z t.
Proof. by move=> H r d e Qd Qe /(sinks_near Qd Qe); exact: H. Qed.
End Rows.

(* With L = 1 these are the rows of Program.v. *)
Section Coarse.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypothesis n1 : (1 < n)%N.
Implicit Types (d e : depths n k) (r s : 'I_n) (t : table R n k).

Lemma sinks_next r d e : in_lattice d -> in_lattice e -> sinks_by 1 r d e <-> next r d = Some e.
Proof.
move=> Qd Qe; have [u ur] : exists u, u != r.
  pose a := Ordinal (ltn_trans (ltn0Sn 0) n1); pose b := Ordinal n1.
  by case: (eqVneq a r) => [<-|]; [exists b | exists a].
rewrite /next; case: ifP => lon.
  have dr := lone_top Qd lon; have up s : s != r -> (0 < d s)%N by move/forallP/(_ s): lon => /= /implyP.
  split=> [sk|[<-] s sr]; last by rewrite !ffunE eqxx (negbTE sr) val_pred dr; have := up s sr; lia.
  congr Some; apply/ffunP => s; apply: val_inj; rewrite ffunE /=.
  have er : e r = 0%N :> nat.
    by case/existsP: Qe => w /eqP ew; case: (eqVneq w r) => [<-//|wr]; have := sk w wr; have := up w wr; lia.
  by case: (eqVneq s r) => [->|sr]; rewrite ?val_pred ?dr ?er //; have := sk s sr; lia.
have [w wr dw] : exists2 w, w != r & d w = 0%N :> nat.
  move/negbT: lon; rewrite negb_forall => /existsP[w]; rewrite negb_imply -leqNgt leqn0 => /andP[wr /eqP dw].
  by exists w.
split=> [sk|].
  have er : (e r = (d r).+1 :> nat)%N.
    have := sk w wr; rewrite dw; case/existsP: Qe => v /eqP ev.
    by case: (eqVneq v r) => [E|vr]; [rewrite -E ev; lia | have := sk v vr; lia].
  have lt : (d r < k)%N by have := ltn_ord (e r); lia.
  rewrite lt; congr Some; apply/ffunP => s; apply: val_inj; rewrite ffunE /=.
  by case: (eqVneq s r) => [->|sr]; rewrite ?inordK //; have := sk s sr; lia.
case: ltnP => // lt [<-] s sr; rewrite !ffunE eqxx (negbTE sr) inordK //; lia.
Qed.

Lemma worst_rows_by_1 t : worst_rows_by 1 z t <-> worst_rows z t.
Proof.
split=> H r d e Qd => [E|Qe /(sinks_next _ Qd Qe)]; last exact: H.
by have Qe := next_in_lattice Qd E; apply: H => //; apply/sinks_next.
Qed.

Theorem feasible_by_1 l t : feasible_by 1 z l t <-> feasible z l t.
Proof.
have W := worst_rows_by_1 t; have N : neighbor_rows_by 1 z t -> worst_rows z t by move/neighbor_worst_by/W.
by case: l => /=; split; case=> tp H; split=> //; tauto.
Qed.
End Coarse.

(* Every private, shift-invariant mechanism gives a table that satisfies all rows, whatever the scores' ring is. *)
Section OfMechanism.
Variables (S : realDomainType) (R : realFieldType) (n k L : nat) (z : R) (h : S) (M : mechanism S R n).
Hypotheses (hL : h *+ L = 2%:R) (Mp : proper M) (Mdp : private z M) (Msi : shift_invariant M).
Implicit Types (d e : depths n k) (r s : 'I_n).
Notation table_by := (@table_by S R n k h M).

Lemma step_ge0 : 0 <= h.
Proof.
have: 0 < h *+ L by rewrite hL ltr0n.
by case: (posnP L) => [->|l0]; rewrite ?mulr0n ?ltxx // pmulrn_lgt0 // => /ltW.
Qed.
Lemma steps_le a b : (a <= b)%N -> h *+ a <= h *+ b.
Proof. by move=> le; rewrite -(subnKC le) mulrnDr ler_addl mulrn_wge0 ?step_ge0. Qed.

Lemma le_same (a b c e : S) : a <= b -> b - a = e - c -> c <= e.
Proof. by rewrite -!(subr_ge0 a) -!(subr_ge0 c) => + <-. Qed.

Lemma table_by_proper : table_proper table_by.
Proof. by move=> d _; split=> [r|]; [exact: Mp.1 | exact: Mp.2]. Qed.

Lemma table_by_neighbor_rows : neighbor_rows_by L z table_by.
Proof.
move=> r d e _ _ nde; rewrite /Mechanisms.table_by.
have [s0 min0] : exists s0, forall s, (d s0 + e s <= e s0 + d s)%N.
  pose f (s : 'I_n) : int := (d s : nat)%:Z - (e s : nat)%:Z.
  have [s0 _ H] := @arg_minP _ _ _ r xpredT f isT.
  by exists s0 => s; have := H s isT; rewrite /f; lia.
rewrite -(Msi (score_by h d) (h *+ d s0 - h *+ e s0 + 1)); apply: Mdp => s; rewrite !ffunE ler_norml.
have := steps_le (min0 s); have := steps_le (nde s s0); rewrite !mulrnDr hL => hi lo.
by apply/andP; split; [apply: le_same hi _ | apply: le_same lo _]; ring.
Qed.

Lemma table_by_monotone_rows : monotone M -> monotone_rows table_by.
Proof.
move=> Mmo r d e _ _ H; rewrite /Mechanisms.table_by.
rewrite -(Msi (score_by h d) (h *+ d r - h *+ e r)); apply: Mmo => [|s _]; rewrite !ffunE.
  by rewrite -subr_ge0 (_ : _ - _ = 0) //; ring.
by have := steps_le (H s); rewrite !mulrnDr => lo; apply: le_same lo _; ring.
Qed.

Theorem table_by_feasible l : (l = Monotone \/ l = Full -> monotone M) -> feasible_by L z l table_by.
Proof.
have [P N] := (table_by_proper, table_by_neighbor_rows); have W := neighbor_worst_by N.
by case: l => H; split=> //; do ?split=> //; apply: table_by_monotone_rows; apply: H; [left|right].
Qed.
End OfMechanism.

(* Permute-and-flip's and the exponential mechanism's own tables satisfy all of these rows where L = 1. *)
Section Known.
Variables (R : realFieldType) (n k : nat) (z : R).
Hypotheses (z0 : 0 < z) (z1 : z <= 1).
Implicit Types (d e : depths n k) (r s : 'I_n) (t : table R n k).

Lemma power_le a b : (b <= a)%N -> z ^+ a <= z ^+ b.
Proof. by apply: ler_wiexpn2l; [exact: ltW | exact: z1]. Qed.
Lemma power_bounds a : 0 <= z ^+ a <= 1.
Proof. by rewrite exprn_ge0 ?exprn_ile1 // ltW. Qed.

(* r falls by at most c steps against any other candidate. *)
Definition falls_by c r d e := forall s, (d s + e r <= e s + d r + c)%N.
Lemma feasible_if t l : table_proper t ->
  (forall c r d e, in_lattice d -> in_lattice e -> falls_by c r d e -> z ^+ c * t d r <= t e r) -> feasible_by 1 z l t.
Proof.
move=> tp le; have N : neighbor_rows_by 1 z t.
  by move=> r d e Qd Qe nde; rewrite -[z]expr1; apply: le => // s; exact: nde.
have M : monotone_rows t.
  by move=> r d e Qd Qe f; rewrite -[t d r]mul1r -(expr0 z); apply: le => // s; rewrite addn0; exact: f.
by have W := neighbor_worst_by N; case: l; split.
Qed.

Theorem pf_feasible l : feasible_by 1 z l (pf_table z : table R n k).
Proof.
apply: feasible_if => [d /existsP[u /eqP du]|c r d e Qd /existsP[u /eqP eu] fall].
  split=> [r|]; last by apply: pf_sum; exists u; rewrite du expr0.
  rewrite mulr_ge0 //; first by case/andP: (power_bounds (d r)).
  by apply/good_int/good_prod => s _; apply: good_factor; case/andP: (power_bounds (d s)).
have up : (e r <= d r + c)%N by have := fall u; rewrite eu add0n; apply: leq_trans; rewrite leq_addl.
apply: (@pf_compare _ _ _ _ _ _ (z ^+ (d r + c - e r))) => [|s|s|s _|]; try exact: power_bounds; rewrite -!exprD.
  by apply: power_le; have := fall s; lia.
by rewrite subnK // addnC lexx.
Qed.

Theorem em_feasible l : feasible_by 1 z l (em_table z : table R n k).
Proof.
have S0 (d : depths n k) (r : 'I_n) : 0 < \sum_s z ^+ d s.
  by rewrite (bigD1 r) //= ltr_paddr ?exprn_gt0 // sumr_ge0 // => s _; rewrite exprn_ge0 // ltW.
apply: feasible_if => [d /existsP[u _]|c r d e _ _ fall].
  split=> [r|]; first by rewrite divr_ge0 ?exprn_ge0 ?(ltW (S0 d u)) // ltW.
  by rewrite -mulr_suml divff // lt0r_neq0 // (S0 d u).
rewrite /em_table mulrA ler_pdivr_mulr ?(S0 d r) // mulrAC ler_pdivl_mulr ?(S0 e r) // -exprD !mulr_sumr.
by apply: ler_sum => s _; rewrite -!exprD; apply: power_le; have := fall s; lia.
Qed.
End Known.
