(* The optimal-mechanism program of McKenna & Sheldon (2020, App. D) at the four levels of research/docs/levels.md, over
   tables that need not be symmetric; every private mechanism gives a point of it; and weak duality: multipliers bound
   the error of all points from below. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Optratio Require Import Mechanisms.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Weak duality where every row says x(next a) >= z x(a) and next is injective. *)
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
  by move=> /andP[Pb]; case Eb: (next b) => [b'|//] _ /= E; apply: (next_inj Pa Pb Ea); rewrite Eb E.
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
Variables (R : realFieldType) (n k : nat) (z : R).
Notation depths := (depths n k).
Notation table := (table R n k).
Implicit Types (d e : depths) (r s : 'I_n) (t : table).

(* The chain of candidate r: it sinks by one step, all else staying the same, as long as it can. Where it is alone at
   the top all others rise by one step instead, which is the same up to a shift. *)
Definition lone d r := [forall s, (s != r) ==> (0 < d s)%N].
Definition sink d r : depths := [ffun s => if s == r then inord (d s).+1 else d s].
Definition rise d r : depths := [ffun s => if s == r then d s else inord (d s).-1].
Definition next r d : option depths :=
  if lone d r then Some (rise d r) else if (d r < k)%N then Some (sink d r) else None.

(* Depth vectors whose scores are neighbors after a shift: no two changes of depth are more than one step apart. *)
Definition near d e := forall s s', (d s + e s' <= e s + d s' + 1)%N.
(* e has r at least as high as d does, against each other candidate. *)
Definition favors r d e := forall s, (d s + e r <= e s + d r)%N.

(* What the levels ask of a table. (P) and (T) of docs are worst_rows. *)
Definition table_proper t :=
  forall d, in_lattice d -> (forall r, 0 <= t d r) /\ \sum_r t d r = 1.
Definition worst_rows t :=
  forall r d e, in_lattice d -> next r d = Some e -> z * t d r <= t e r.
Definition neighbor_rows t :=
  forall r d e, in_lattice d -> in_lattice e -> near d e -> z * t d r <= t e r.
Definition monotone_rows t :=
  forall r d e, in_lattice d -> in_lattice e -> favors r d e -> t d r <= t e r.

Inductive level := Paper | Dp | Monotone | Full.
Definition feasible (l : level) t := table_proper t /\ match l with
  | Paper => worst_rows t
  | Dp => worst_rows t /\ neighbor_rows t
  | Monotone => worst_rows t /\ monotone_rows t
  | Full => worst_rows t /\ neighbor_rows t /\ monotone_rows t end.

(* Steps of a chain. *)
Lemma val_pred (i : 'I_k.+1) : (inord i.-1 : 'I_k.+1) = i.-1 :> nat.
Proof. by rewrite inordK // (leq_ltn_trans (leq_pred _)). Qed.

Lemma lone_top d r : in_lattice d -> lone d r -> d r = 0%N :> nat.
Proof.
case/existsP=> s /eqP ds /forallP/(_ s); rewrite ds ltnn implybF negbK => /eqP <-; exact: ds.
Qed.

Lemma next_in_lattice r a d : in_lattice a -> next r a = Some d -> in_lattice d.
Proof.
move=> Qa; rewrite /next; case L: (lone a r).
  by case=> <-; apply/existsP; exists r; rewrite ffunE eqxx (lone_top Qa L).
case: ltnP => // _ [<-]; move/negbT: L; rewrite negb_forall => /existsP[s].
rewrite negb_imply -leqNgt leqn0 => /andP[sr s0]; apply/existsP; exists s.
by rewrite ffunE (negbTE sr).
Qed.

Lemma next_injective r a b d : in_lattice a -> in_lattice b -> next r a = Some d -> next r b = Some d -> a = b.
Proof.
move=> Qa Qb; rewrite /next; case La: (lone a r); case Lb: (lone b r).
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

(* A step of a chain leads to a neighbor. *)
Lemma next_near r d e : in_lattice d -> next r d = Some e -> near d e.
Proof.
move=> Qd; rewrite /next; case: ifP => L.
  case=> <- s s'; rewrite !ffunE; have := lone_top Qd L.
  have h i : i != r -> (0 < d i)%N by move=> ir; move/forallP/(_ i): L; rewrite ir.
  by case: (eqVneq s r) => [->|/h hs]; case: (eqVneq s' r) => [->|/h hs']; rewrite ?val_pred; lia.
case: ltnP => // lt [<-] s s'; rewrite !ffunE.
by case: (eqVneq s r) => [->|_]; case: (eqVneq s' r) => [->|_]; rewrite ?inordK //; lia.
Qed.

Lemma near_sym d e : near d e -> near e d.
Proof. by move=> h s s'; have := h s' s; lia. Qed.

(* Every private, shift-invariant mechanism gives a table that satisfies all rows; monotonicity gives the others. *)
Section OfMechanism.
Variable M : mechanism integers R n.
Hypotheses (Mp : proper M) (Mdp : private z M) (Msi : shift_invariant M).

Lemma table_of_proper : table_proper (table_of M).
Proof. by move=> d _; split=> [r|]; [exact: Mp.1 | exact: Mp.2]. Qed.

Lemma table_of_neighbor_rows : neighbor_rows (table_of M).
Proof.
move=> r d e _ _ nde; rewrite /table_of.
have [s0 min0] : exists s0, forall s, (d s0 + e s <= e s0 + d s)%N.
  pose f (s : 'I_n) : int := (d s : nat)%:Z - (e s : nat)%:Z.
  have [s0 _ h] := @arg_minP _ _ _ r xpredT f isT.
  by exists s0 => s; have := h s isT; rewrite /f; lia.
pose c : int := 2%:Z * ((d s0 : nat)%:Z - (e s0 : nat)%:Z) + 1.
rewrite -(Msi (score_of d) c); apply: Mdp => s; rewrite !ffunE /c.
by have := min0 s; have := nde s s0; lia.
Qed.

Lemma table_of_worst_rows : worst_rows (table_of M).
Proof.
move=> r d e Qd E; apply: table_of_neighbor_rows => //.
  exact: next_in_lattice Qd E.
exact: next_near Qd E.
Qed.

Lemma table_of_monotone_rows : monotone M -> monotone_rows (table_of M).
Proof.
move=> Mmo r d e _ _ h; rewrite /table_of.
pose c : int := 2%:Z * ((d r : nat)%:Z - (e r : nat)%:Z).
rewrite -(Msi (score_of d) c); apply: Mmo => [|s _]; rewrite !ffunE /c; first by lia.
by have := h s; lia.
Qed.

Theorem table_of_feasible l :
  (l = Monotone \/ l = Full -> monotone M) -> feasible l (table_of M).
Proof.
have [P W] := (table_of_proper, table_of_worst_rows); have N := table_of_neighbor_rows.
by case: l => h; split=> //; do ?split=> //; apply: table_of_monotone_rows; apply: h; [left|right].
Qed.
End OfMechanism.

(* The lower bound: any multipliers lam >= 0 and y whose reduced costs, for the costs c, are nonnegative. *)
Theorem lower_bound t (c : depths -> 'I_n -> R) (y : depths -> R) (lam : 'I_n -> depths -> R) :
  table_proper t -> worst_rows t ->
  (forall r d, in_lattice d -> 0 <= lam r d) ->
  (forall r d, in_lattice d -> lam r d + y d <= c d r + z * oapp (lam r) 0 (next r d)) ->
  \sum_(d | in_lattice d) y d <= \sum_(d | in_lattice d) \sum_r c d r * t d r.
Proof.
move=> tp tw l0 red.
have -> : \sum_(d | in_lattice d) y d = \sum_r \sum_(d | in_lattice d) y d * t d r.
  by rewrite exchange_big /=; apply: eq_bigr => d Qd; rewrite -mulr_sumr (tp d Qd).2 mulr1.
rewrite [X in _ <= X]exchange_big /=; apply: ler_sum => r _.
apply: (@weak_chain R _ z (@in_lattice n k) (next r) (fun d => t d r) (fun d => c d r) y (lam r)) => //.
- exact: next_injective.
- exact: next_in_lattice.
- by move=> a Qa; exact: (tp a Qa).1.
- by move=> a d; exact: tw.
- exact: l0.
- exact: red.
Qed.
End Lattice.
