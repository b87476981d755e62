(** The optimal-mechanism program of McKenna & Sheldon (2020, App. D) at the four levels of
    research/docs/levels.md, over tables that need not be symmetric, on lattices whose step is 2/L
    sensitivities; every private mechanism gives a point of it; and weak duality where L = 1:
    multipliers bound the error of all points from below. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint zify ring.
From Optratio Require Import Mechanisms.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Weak duality where every row says x(next a) >= z x(a) and next is injective. *)
Section Duality.
Variables (R : realFieldType) (T : finType) (z : R).
Variables (P : pred T) (next : T -> option T) (x c y lam : T -> R).
Hypothesis next_inj : forall a b d, P a -> P b -> next a = Some d -> next b = Some d -> a = b.
Hypothesis next_P : forall a d, P a -> next a = Some d -> P d.
Hypothesis x0 : forall a, P a -> 0 <= x a.
Hypothesis row : forall a d, P a -> next a = Some d -> z * x a <= x d.
Hypothesis lam0 : forall a, P a -> 0 <= lam a.
Hypothesis red : forall a, P a -> lam a + y a <= c a + z * oapp lam 0 (next a).

Lemma weak_chain : \sum_(a | P a) y a * x a <= \sum_(a | P a) c a * x a.
Proof.
pose A := [set a | P a && isSome (next a)].
pose h a := odflt a (next a).
pose F a := lam a * x a.
have hinj : {in A &, injective h}.
  move=> a b; rewrite !inE /h => /andP[Pa]; case Ea: (next a) => [a'|//] _.
  by move=> /andP[Pb]; case Eb: (next b) => [b'|//] _ /= E; apply: (next_inj Pa Pb Ea);
    rewrite Eb E.
have le1 : \sum_(a | P a) (z * oapp lam 0 (next a)) * x a <= \sum_(a | P a) F a.
  apply: (@le_trans _ _ (\sum_(a in A) F (h a))).
    rewrite (bigID (fun a => isSome (next a))) /=.
    rewrite [X in _ + X]big1 ?addr0; last first.
      by move=> a /andP[_]; case: (next a) => //= _; rewrite mulr0 mul0r.
    rewrite (eq_bigl (mem A)) => [|a]; last by rewrite !inE.
    apply: ler_sum => a; rewrite !inE /h /F => /andP[Pa]; case E: (next a) => [d|//] _ /=.
    rewrite mulrAC mulrC ler_wpmul2l ?lam0 ?(row Pa E) //; exact: next_P Pa E.
  rewrite -(big_imset F hinj) [X in _ <= X](bigID (mem (h @: A))) /=.
  rewrite (eq_bigl (fun d => P d && (d \in h @: A))) => [|d]; last first.
    case I: (d \in _); last by rewrite andbF.
    rewrite andbT; case/imsetP: I => a; rewrite inE /h => /andP[Pa].
    by case E: (next a) => [d'|//] _ /= ->; rewrite (next_P Pa E).
  rewrite ler_addl sumr_ge0 // => a /andP[Pa _]; rewrite /F mulr_ge0 ?lam0 ?x0 //.
apply: (@le_trans _ _ (\sum_(a | P a) (c a * x a + (z * oapp lam 0 (next a)) * x a - F a))).
  apply: ler_sum => a Pa; rewrite /F -mulrDl -mulrBl ler_wpmul2r ?x0 //.
  by rewrite ler_subr_addr addrC red.
by rewrite sumrB big_split /= -addrA ger_addl subr_le0.
Qed.
End Duality.

Section Lattice.
Variables (R : realFieldType) (n k : nat).
Notation depths := (depths n k).
Notation table := (table R n k).
Implicit Types (d e : depths) (r s : 'I_n) (t : table) (L : nat) (z : R).

(** The chain of candidate r: it sinks by one step, all else staying the same, as long as it can.
    Where it is alone at the top all others rise by one step instead, which is the same up to a
    shift. *)
Definition lone d r := [forall s, (s != r) ==> (0 < d s)%N].
Definition sink d r : depths := [ffun s => if s == r then inord (d s).+1 else d s].
Definition rise d r : depths := [ffun s => if s == r then d s else inord (d s).-1].
Definition next_depths r d : option depths :=
  if lone d r then Some (rise d r) else if (d r < k)%N then Some (sink d r) else None.

(** On a lattice whose step is 2/L sensitivities; the chains are those of L = 1. Depth vectors
    whose scores are neighbors after a shift: no two changes of depth are more than L steps
    apart. *)
Definition near_by L d e := forall s s', (d s + e s' <= e s + d s' + L)%N.
(** The worst neighbor: candidate r sinks by L steps against each other one. *)
Definition sinks_by L r d e := forall s, s != r -> (e s + d r + L = d s + e r)%N.
(** e has r at least as high as d does, against each other candidate. *)
Definition favors r d e := forall s, (d s + e r <= e s + d r)%N.

(** What the levels ask of a table. (P) and (T) of docs are worst_rows_by 1. *)
Definition proper_table t :=
  forall d, in_lattice d -> (forall r, 0 <= t d r) /\ \sum_r t d r = 1.
Definition worst_rows_by L z t :=
  forall r d e, in_lattice d -> in_lattice e -> sinks_by L r d e -> z * t d r <= t e r.
Definition neighbor_rows_by L z t :=
  forall r d e, in_lattice d -> in_lattice e -> near_by L d e -> z * t d r <= t e r.
Definition monotone_rows t :=
  forall r d e, in_lattice d -> in_lattice e -> favors r d e -> t d r <= t e r.

Inductive level := Paper | Dp | Monotone | Full.
Definition feasible_by L z (l : level) t := proper_table t /\ match l with
  | Paper => worst_rows_by L z t
  | Dp => neighbor_rows_by L z t
  | Monotone => worst_rows_by L z t /\ monotone_rows t
  | Full => neighbor_rows_by L z t /\ monotone_rows t end.
Notation feasible := (feasible_by 1).

Lemma favors_up r d e : in_lattice e -> favors r d e -> (e r <= d r)%N.
Proof. by case/existsP=> s /eqP es /(_ s); rewrite es; apply/leq_trans/leq_addl. Qed.
(** The worst neighbor is a neighbor. *)
Lemma sinks_near L r d e : in_lattice d -> in_lattice e -> sinks_by L r d e -> near_by L d e.
Proof.
move=> /existsP[u /eqP du] /existsP[w /eqP ew] sk s s'.
have E i : i = r \/ (e i + d r + L = d i + e r)%N by case: (eqVneq i r) => [|/sk]; [left|right].
case: (E s) (E s') => [->|es] [->|es']; lia.
Qed.
Lemma neighbor_worst_by L z t : neighbor_rows_by L z t -> worst_rows_by L z t.
Proof. by move=> H r d e Qd Qe /(sinks_near Qd Qe); exact: H. Qed.
Lemma feasible_paper L z l t : feasible_by L z l t -> feasible_by L z Paper t.
Proof.
by case: l => -[tp w]; split=> //;
  [exact: neighbor_worst_by | case: w | case: w => /neighbor_worst_by].
Qed.

(** Steps of a chain. *)
Lemma val_pred (i : 'I_k.+1) : (inord i.-1 : 'I_k.+1) = i.-1 :> nat.
Proof. by rewrite inordK // (leq_ltn_trans (leq_pred _)). Qed.

Lemma lone_top d r : in_lattice d -> lone d r -> d r = 0%N :> nat.
Proof.
case/existsP=> s /eqP ds /forallP/(_ s); rewrite ds ltnn implybF negbK => /eqP <-; exact: ds.
Qed.

Lemma next_in_lattice r a d : in_lattice a -> next_depths r a = Some d -> in_lattice d.
Proof.
move=> Qa; rewrite /next_depths; case L: (lone a r).
  by case=> <-; apply/existsP; exists r; rewrite ffunE eqxx (lone_top Qa L).
case: ltnP => // _ [<-]; move/negbT: L; rewrite negb_forall => /existsP[s].
rewrite negb_imply -leqNgt leqn0 => /andP[sr s0]; apply/existsP; exists s.
by rewrite ffunE (negbTE sr).
Qed.

Lemma next_injective r a b d : in_lattice a -> in_lattice b -> next_depths r a = Some d ->
  next_depths r b = Some d -> a = b.
Proof.
move=> Qa Qb; rewrite /next_depths; case La: (lone a r); case Lb: (lone b r).
- case=> <- [] /ffunP E; apply/ffunP => s; move: (E s); rewrite !ffunE.
  case: eqP => [//|/eqP sr] /(congr1 val) /=; rewrite !val_pred => e; apply: val_inj => /=.
  move/forallP/(_ s): La; move/forallP/(_ s): Lb; rewrite sr /=.
  by case: (val (a s)) (val (b s)) e => [|i] [|j] //= ->.
- case=> <-; case: ltnP => // lt [] /ffunP /(_ r); rewrite !ffunE eqxx => /(congr1 val) /=.
  by rewrite inordK // (lone_top Qa La).
- case: ltnP => // lt [] <- [] /ffunP /(_ r); rewrite !ffunE eqxx => /(congr1 val) /=.
  by rewrite inordK // (lone_top Qb Lb).
case: ltnP => // la [<-]; case: ltnP => // lb [] /ffunP E; apply/ffunP => s; move: (E s).
rewrite !ffunE; case: eqP => [->|//] /(congr1 val) /=; rewrite !inordK // => -[] e.
exact/esym/val_inj.
Qed.

(** In a step of a chain the candidate sinks by a step, and that is all that does so. *)
Lemma next_sinks r d e : in_lattice d -> next_depths r d = Some e -> sinks_by 1 r d e.
Proof.
move=> Qd; rewrite /next_depths; case: ifP => lon.
  case=> <- s sr; rewrite !ffunE eqxx (negbTE sr) val_pred (lone_top Qd lon).
  by move/forallP/(_ s): lon; rewrite sr /=; lia.
by case: ltnP => // lt [<-] s sr; rewrite !ffunE eqxx (negbTE sr) inordK //; lia.
Qed.
Lemma sinks_next r d e : (1 < n)%N -> in_lattice d -> in_lattice e -> sinks_by 1 r d e ->
  next_depths r d = Some e.
Proof.
move=> n1 Qd /existsP[v /eqP ev] sk; rewrite /next_depths; case: ifP => lon.
  have dr := lone_top Qd lon; have up s : s != r ->
    (0 < d s)%N by move/forallP/(_ s): lon => /= /implyP.
  have er : e r = 0%N :> nat.
    by case: (eqVneq v r) => [<-//|vr]; have := sk v vr; have := up v vr; lia.
  congr Some; apply/ffunP => s; apply: val_inj; rewrite ffunE /=.
  by case: (eqVneq s r) => [->|sr]; rewrite ?val_pred ?dr ?er //; have := sk s sr; lia.
have [w wr dw] : exists2 w, w != r & d w = 0%N :> nat.
  move/negbT: lon; rewrite negb_forall => /existsP[w];
    rewrite negb_imply -leqNgt leqn0 => /andP[wr /eqP dw].
  by exists w.
have er : (e r = (d r).+1 :> nat)%N.
  by have := sk w wr; rewrite dw; case: (eqVneq v r) => [E|vr];
    [rewrite -E ev; lia | have := sk v vr; lia].
have lt : (d r < k)%N by have := ltn_ord (e r); lia.
rewrite lt; congr Some; apply/ffunP => s; apply: val_inj; rewrite ffunE /=.
by case: (eqVneq s r) => [->|sr]; rewrite ?inordK //; have := sk s sr; lia.
Qed.

(** The lower bound: any multipliers lam >= 0 and y whose reduced costs, for the costs c, are
    nonnegative. *)
Theorem lower_bound z t (c : depths -> 'I_n -> R) (y : depths -> R) (lam : 'I_n -> depths -> R) :
  proper_table t -> worst_rows_by 1 z t ->
  (forall r d, in_lattice d -> 0 <= lam r d) ->
  (forall r d, in_lattice d -> lam r d + y d <= c d r + z * oapp (lam r) 0 (next_depths r d)) ->
  \sum_(d | in_lattice d) y d <= \sum_(d | in_lattice d) \sum_r c d r * t d r.
Proof.
move=> tp tw l0 red.
have -> : \sum_(d | in_lattice d) y d = \sum_r \sum_(d | in_lattice d) y d * t d r.
  by rewrite exchange_big /=; apply: eq_bigr => d Qd; rewrite -mulr_sumr (tp d Qd).2 mulr1.
rewrite [X in _ <= X]exchange_big /=; apply: ler_sum => r _.
apply: (@weak_chain R _ z (@in_lattice n k) (next_depths r) (fun d => t d r)
  (fun d => c d r) y (lam r))
  => //.
- exact: next_injective.
- exact: next_in_lattice.
- by move=> a Qa; exact: (tp a Qa).1.
- by move=> a d Qa E; apply: tw => //; [exact: next_in_lattice Qa E | exact: next_sinks].
- exact: l0.
- exact: red.
Qed.
End Lattice.
Notation feasible := (feasible_by 1).

(** Every private, shift-invariant mechanism gives a table that satisfies all rows, whatever the
    scores' ring is. *)
(** Of two numbers for each candidate, one has the first exceed the second by least. *)
Lemma least_gap n (a b : 'I_n -> nat) (r : 'I_n) :
  exists s0, forall s, (a s0 + b s <= b s0 + a s)%N.
Proof.
pose f (s : 'I_n) : int := (a s)%:Z - (b s)%:Z.
have [s0 _ H] := @arg_minP _ _ _ r xpredT f isT.
by exists s0 => s; have := H s isT; rewrite /f; lia.
Qed.

Section OfMechanism.
Variables (S : realDomainType) (R : realFieldType) (n k L : nat) (z : R) (h : S)
  (M : mechanism S R n).
Hypotheses (hL : h *+ L = 2%:R).
Hypotheses (Mp : proper_mechanism M) (Mdp : private z M) (Msi : shift_invariant M).
Implicit Types (d e : depths n k) (r s : 'I_n).
Variable q : depths n k -> score S n.
Hypothesis qE : forall d s, q d s = - (h *+ d s).
Local Notation t := (fun d => M (q d)).

Lemma step_ge0 : 0 <= h.
Proof.
have: 0 < h *+ L by rewrite hL ltr0n.
by case: (posnP L) => [->|l0]; rewrite ?mulr0n ?ltxx // pmulrn_lgt0 // => /ltW.
Qed.
Lemma steps_le a b : (a <= b)%N -> h *+ a <= h *+ b.
Proof. by move=> le; rewrite -(subnKC le) mulrnDr ler_addl mulrn_wge0 ?step_ge0. Qed.

Lemma le_same (a b c e : S) : a <= b -> b - a = e - c -> c <= e.
Proof. by rewrite -!(subr_ge0 a) -!(subr_ge0 c) => + <-. Qed.

Lemma proper_at : proper_table t.
Proof. by move=> d _; split=> [r|]; [exact: Mp.1 | exact: Mp.2]. Qed.

Lemma neighbor_rows_at : neighbor_rows_by L z t.
Proof.
move=> r d e _ _ nde.
have [s0 /= min0] := least_gap (fun s => d s : nat) (fun s => e s : nat) r.
rewrite -(Msi (q d) (h *+ d s0 - h *+ e s0 + 1)); apply: Mdp => s; rewrite ffunE !qE ler_norml.
have := steps_le (min0 s); have := steps_le (nde s s0); rewrite !mulrnDr hL => hi lo.
by apply/andP; split; [apply: le_same hi _ | apply: le_same lo _]; ring.
Qed.

Lemma monotone_rows_at : monotone M -> monotone_rows t.
Proof.
move=> Mmo r d e _ _ H.
rewrite -(Msi (q d) (h *+ d r - h *+ e r)); apply: Mmo => [|s _]; rewrite ffunE !qE.
  by rewrite -subr_ge0 (_ : _ - _ = 0) //; ring.
by have := steps_le (H s); rewrite !mulrnDr => lo; apply: le_same lo _; ring.
Qed.

Lemma feasible_at l : (l = Monotone \/ l = Full -> monotone M) -> feasible_by L z l t.
Proof.
have [P N] := (proper_at, neighbor_rows_at); have W := neighbor_worst_by N.
by case: l => H; split=> //; do ?split=> //; apply: monotone_rows_at; apply: H; [left|right].
Qed.
End OfMechanism.

(** On real or other scores, and on whole ones with a step of 2. *)
Theorem table_by_feasible (S : realDomainType) (R : realFieldType) n k L (z : R) (h : S) (M :
  mechanism S R n) l :
  h *+ L = 2%:R -> proper_mechanism M -> private z M -> shift_invariant M ->
    (l = Monotone \/ l = Full -> monotone M) ->
  feasible_by L z l (table_by h M : table R n k).
Proof. by move=> hL Mp Mz Ms; apply: (feasible_at hL Mp Mz Ms) => d s; rewrite ffunE. Qed.
Theorem table_of_feasible (R : realFieldType) n k (z : R) (M : mechanism integers R n) l :
  proper_mechanism M -> private z M -> shift_invariant M ->
  (l = Monotone \/ l = Full -> monotone M) ->
  feasible z l (table_of M : table R n k).
Proof.
move=> Mp Mz Ms; apply: (@feasible_at _ R n k 1 z 2%:R) => // d s.
by rewrite ffunE -mulrnA natz.
Qed.
