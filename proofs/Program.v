(** The optimal-mechanism program of McKenna & Sheldon (2020, App. D) at the four levels of
    research/docs/levels.md, over tables that need not be symmetric, on lattices whose step is 2/L
    sensitivities; every private mechanism gives a point of it; and weak duality where L = 1:
    multipliers bound the error of all points from below. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint fingroup perm zify ring.
From Optratio Require Import Mechanisms.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Chains: from each point at most one next one, and to each at most one before. *)
Section Duality.
Variables (R : realFieldType) (T : finType) (z : R).
Variables (P : pred T) (next : T -> option T) (x c y lam : T -> R).
Hypothesis next_inj : forall a b d, P a -> P b -> next a = Some d -> next b = Some d -> a = b.
Hypothesis next_P : forall a d, P a -> next a = Some d -> P d.

Definition reached d := [exists a, P a && (next a == Some d)].
Lemma sum_next (F : T -> R) :
  \sum_(a | P a) oapp F 0 (next a) = \sum_(d | P d && reached d) F d.
Proof.
rewrite (eq_bigr (fun a => \sum_(d | P d && (next a == Some d)) F d)) => [|a Pa]; last first.
  case E: (next a) => [e|] /=; last by rewrite big_pred0 // => d; rewrite andbF.
  rewrite (big_pred1 e) // => d; rewrite /= (inj_eq Some_inj) eq_sym.
  by case: eqP => [->|]; rewrite ?andbF // (next_P Pa E).
rewrite (exchange_big_dep P) /= => [|a d _ /andP[] //]; rewrite [RHS]big_mkcondr.
apply: eq_bigr => d Pd; case: ifP => [/existsP[a /andP[Pa /eqP E]]|none].
  rewrite (big_pred1 a) // => b /=; rewrite Pd /=; apply/andP/eqP => [[Pb /eqP Eb]|->].
    exact: next_inj Pb Pa Eb E.
  by rewrite E.
rewrite big_pred0 // => b; rewrite Pd /=; apply: contraFF none => H; apply/existsP.
by exists b.
Qed.

(** Weak duality where every row says x(next a) >= z x(a). *)
Lemma weak_chain : (forall a, P a -> 0 <= x a) ->
  (forall a d, P a -> next a = Some d -> z * x a <= x d) -> (forall a, P a -> 0 <= lam a) ->
  (forall a, P a -> lam a + y a <= c a + z * oapp lam 0 (next a)) ->
  \sum_(a | P a) y a * x a <= \sum_(a | P a) c a * x a.
Proof.
move=> x0 row lam0 red; pose F a := lam a * x a.
have le1 : \sum_(a | P a) z * oapp lam 0 (next a) * x a <= \sum_(a | P a) F a.
  apply: (@le_trans _ _ (\sum_(a | P a) oapp F 0 (next a))).
    apply: ler_sum => a Pa; case E: (next a) => [d|] /=; last by rewrite mulr0 mul0r.
    by rewrite mulrAC mulrC ler_wpmul2l ?lam0 ?(row a) //; exact: next_P Pa E.
  rewrite sum_next [X in _ <= X](bigID reached) /= ler_addl sumr_ge0 // => a /andP[Pa _].
  by rewrite mulr_ge0 ?lam0 ?x0.
apply: (@le_trans _ _ (\sum_(a | P a) (c a * x a + z * oapp lam 0 (next a) * x a - F a))).
  apply: ler_sum => a Pa; rewrite /F -mulrDl -mulrBl ler_wpmul2r ?x0 //.
  by rewrite ler_subr_addr addrC red.
by rewrite sumrB big_split /= -addrA ger_addl subr_le0.
Qed.

(** Complementary slackness: where every row with a multiplier is tight, the two sides are equal. *)
Lemma tight_chain : (forall a d, P a -> next a = Some d -> lam d * x d = z * lam d * x a) ->
  (forall d, P d -> lam d != 0 -> exists2 a, P a & next a = Some d) ->
  (forall a, P a -> lam a + y a = c a + z * oapp lam 0 (next a)) ->
  \sum_(a | P a) y a * x a = \sum_(a | P a) c a * x a.
Proof.
move=> tight onto red; pose F a := lam a * x a.
have E1 : \sum_(a | P a) z * oapp lam 0 (next a) * x a = \sum_(a | P a) F a.
  transitivity (\sum_(a | P a) oapp F 0 (next a)).
    apply: eq_bigr => a Pa; case E: (next a) => [d|] /=; last by rewrite mulr0 mul0r.
    by rewrite /F (tight a).
  rewrite sum_next [RHS](bigID reached) /= [X in _ = _ + X]big1 ?addr0 // => d /andP[Pd].
  case: (eqVneq (lam d) 0) => [E|/(onto d Pd)[a Pa E]]; first by rewrite /F E mul0r.
  by case/negP; apply/existsP; exists a; rewrite Pa E eqxx.
apply/eqP; rewrite -subr_eq0 -sumrB.
rewrite (eq_bigr (fun a => z * oapp lam 0 (next a) * x a - F a)) => [|a Pa].
  by rewrite sumrB E1 subrr.
rewrite -mulrBl /F -mulrBl; congr (_ * _).
by apply/eqP; rewrite subr_eq addrAC eq_sym subr_eq addrC -(red a Pa) addrC.
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

Lemma lattice_gt0 : (0 < n)%N -> (0 < #|@in_lattice n k|)%N.
Proof.
move=> n0; apply/card_gt0P; exists [ffun=> ord0]; apply/existsP; exists (Ordinal n0).
by rewrite ffunE.
Qed.
Definition permuted (p : {perm 'I_n}) d : depths := [ffun s => d (p s)].
Lemma permuted_in_lattice p d : in_lattice (permuted p d) = in_lattice d.
Proof.
apply/existsP/existsP => -[s]; first by rewrite ffunE; exists (p s).
by exists (p^-1%g s); rewrite ffunE permKV.
Qed.
Lemma permuted_inj p : injective (permuted p).
Proof. by move=> d e /ffunP E; apply/ffunP => s; have := E (p^-1%g s); rewrite !ffunE permKV. Qed.

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
apply: (weak_chain (z := z) (next := next_depths r) (lam := lam r)).
- exact: next_injective.
- exact: next_in_lattice.
- by move=> d Qd; exact: (tp d Qd).1.
- by move=> d e Qd E; apply: tw => //; [exact: next_in_lattice Qd E | exact: next_sinks].
- exact: l0.
- exact: red.
Qed.
End Lattice.
Notation feasible := (feasible_by 1).

(** Of two numbers for each candidate, one has the first exceed the second by least. *)
Lemma least_gap n (a b : 'I_n -> nat) (r : 'I_n) :
  exists s0, forall s, (a s0 + b s <= b s0 + a s)%N.
Proof.
pose f (s : 'I_n) : int := (a s)%:Z - (b s)%:Z.
have [s0 _ H] := @arg_minP _ _ _ r xpredT f isT.
by exists s0 => s; have := H s isT; rewrite /f; lia.
Qed.

Lemma le_by (S : realDomainType) (a b x y : S) : a <= b -> y - x = b - a -> x <= y.
Proof. by rewrite -subr_ge0 => + h; rewrite -h subr_ge0. Qed.
Lemma step_gt0 (S : realDomainType) (h c : S) L : h *+ L = c -> 0 < c -> 0 < h.
Proof. by move=> <-; case: (posnP L) => [->|l0]; rewrite ?mulr0n ?ltxx // pmulrn_lgt0. Qed.

(** Every private, shift-invariant mechanism gives a table that satisfies all rows, whatever the
    scores' ring is. *)
Section OfMechanism.
Variables (S : realDomainType) (R : realFieldType) (n k L : nat) (z : R) (h : S).
Variable M : mechanism S R n.
Hypotheses (hL : h *+ L = 2%:R).
Hypotheses (Mp : proper_mechanism M) (Mdp : private z M) (Msi : shift_invariant M).
Local Notation t := (table_by h M : table R n k).

Lemma steps_le a b : (a <= b)%N -> h *+ a <= h *+ b.
Proof. exact/ler_wpmuln2l/ltW/(step_gt0 hL)/ltr0Sn. Qed.

Lemma table_by_neighbor_rows : neighbor_rows_by L z t.
Proof.
move=> r d e _ _ near; have [s0 /= min0] := least_gap (fun s => d s) (fun s => e s) r.
rewrite /table_by -(Msi (score_by h d) (h *+ d s0 - h *+ e s0 + 1)); apply: Mdp => s.
rewrite !ffunE ler_norml.
have := steps_le (min0 s); have := steps_le (near s s0); rewrite !mulrnDr hL => hi lo.
by apply/andP; split; [apply: le_by hi _ | apply: le_by lo _]; ring.
Qed.

Lemma table_by_monotone_rows : monotone M -> monotone_rows t.
Proof.
move=> Mmo r d e _ _ f; rewrite /table_by -(Msi (score_by h d) (h *+ d r - h *+ e r)).
apply: Mmo => [|s _]; rewrite !ffunE; first by rewrite -subr_ge0 (_ : _ - _ = 0) //; ring.
by have := steps_le (f s); rewrite !mulrnDr => lo; apply: le_by lo _; ring.
Qed.

Theorem table_by_feasible l : (l = Monotone \/ l = Full -> monotone M) -> feasible_by L z l t.
Proof.
have P : proper_table t by move=> d _; split=> [r|]; [exact: Mp.1 | exact: Mp.2].
have N := table_by_neighbor_rows; have W := neighbor_worst_by N.
by case: l => H; split=> //; do ?split=> //; apply: table_by_monotone_rows; apply: H; [left|right].
Qed.
End OfMechanism.

(** On whole scores with a step of 2. *)
Theorem table_of_feasible (R : realFieldType) n k (z : R) (M : mechanism integers R n) l :
  proper_mechanism M -> private z M -> shift_invariant M ->
  (l = Monotone \/ l = Full -> monotone M) -> feasible z l (table_of M : table R n k).
Proof. by move=> Mp Mz Ms; exact: table_by_feasible (mulr1n _) Mp Mz Ms _. Qed.
