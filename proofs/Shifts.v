(** Mechanisms that are not invariant under shifts: in the mean over shifts they are no better than
    the program's optimum, but for a term that falls with the number of shifts
    (research/docs/levels.md, Theorem 1). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From Optratio Require Import Mechanisms Program Threshold PermuteAndFlip Private Extension Best.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tables.
Variables (R : realFieldType) (n k L : nat) (z : R).
Hypotheses (n0 : (0 < n)%N) (z0 : 0 <= z) (z1 : z < 1).
Implicit Types (x : table R n k) (d e : depths n k) (W : depths n k -> R) (c : nat -> R).

(** It takes each candidate alike, whatever the depths. *)
Definition even_table : table R n k := fun _ _ => n%:R^-1.

(** A table that misses the rows by at most b / a is no better than the bound v of all that miss
    none, up to what mixing in the even table costs. *)
Lemma almost_feasible x (a b v : R) W c : 0 < a -> 0 <= b -> proper_table x ->
  (forall r d e, in_lattice d -> in_lattice e -> near_by L d e -> z * x d r <= x e r + b / a) ->
  (forall t, feasible_by L z Dp t -> v <= table_loss W c t) ->
  ((1 - z) * a + n%:R * b) * v <=
  (1 - z) * a * table_loss W c x + n%:R * b * table_loss W c even_table.
Proof.
move=> a0 b0 xp rows bound; have n0R : 0 < n%:R :> R by rewrite ltr0n.
have za : 0 < (1 - z) * a by rewrite mulr_gt0 ?subr_gt0.
have nb : 0 <= n%:R * b by rewrite mulr_ge0 ?ler0n.
pose s := (1 - z) * a + n%:R * b; have s0 : 0 < s by rewrite ltr_paddr.
pose p := (1 - z) * a / s; pose q := n%:R * b / s.
have p0 : 0 <= p by rewrite divr_ge0 ?ltW.
have q0 : 0 <= q by rewrite divr_ge0 // ltW.
have pq : p + q = 1 by rewrite /p /q -mulrDl divff ?gt_eqF.
pose t : table R n k := fun d r => p * x d r + q * even_table d r.
have tp : proper_table t.
  move=> d Qd; split=> [r|].
    by rewrite addr_ge0 // mulr_ge0 ?(xp d Qd).1 // invr_ge0 ler0n.
  rewrite big_split /= -!mulr_sumr (xp d Qd).2 sumr_const card_ord -[_ *+ n]mulr_natr.
  by rewrite mulVf ?gt_eqF // !mulr1.
have tn : neighbor_rows_by L z t.
  move=> r d e Qd Qe nde; have h := ler_wpmul2l p0 (rows r d e Qd Qe nde).
  apply: (le_by h); rewrite /t /p /q /even_table.
  by field; rewrite !gt_eqF.
have := bound t (conj tp tn).
have -> : table_loss W c t = p * table_loss W c x + q * table_loss W c even_table.
  rewrite /table_loss !mulr_sumr -big_split; apply: eq_bigr => d _ /=.
  rewrite ![_ * (W d * _)]mulrCA -mulrDr; congr (_ * _); rewrite !mulr_sumr -big_split.
  by apply: eq_bigr => r _; rewrite /t /=; ring.
have [sp sq] : s * p = (1 - z) * a /\ s * q = n%:R * b.
  by rewrite /p /q ![s * _]mulrC !divfK ?gt_eqF.
by move/(ler_wpmul2l (ltW s0)) => le; apply: (le_by le); rewrite -/s -sp -sq; ring.
Qed.
End Tables.

(** M at scores that are all raised by the same number. *)
Definition at_raised (S : realDomainType) (R : realFieldType) n (M : mechanism S R n) (a : S) :
  mechanism S R n := fun q => M [ffun s => q s + a].

Section Mean.
Variables (S : realDomainType) (R : realFieldType) (n L : nat) (z : R) (g : S).
Variable M : mechanism S R n.
Hypotheses (gL : g *+ L = 1) (Mp : proper_mechanism M) (Mz : private z M).
Hypotheses (n0 : (0 < n)%N) (z0 : 0 <= z) (z1 : z < 1).
Implicit Types (q : score S n) (r : 'I_n).

Lemma M_le1 q r : M q r <= 1.
Proof. by rewrite -(Mp.2 q) (bigD1 r) //= ler_addl sumr_ge0 // => s _; exact: Mp.1. Qed.

(** The mean over the shifts 0, g, ..., N g. *)
Variable N : nat.
Definition shift_mean : mechanism S R n := fun q r =>
  (\sum_(j < N.+1) at_raised M (g *+ j) q r) / N.+1%:R.
Lemma count_gt0 : 0 < N.+1%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma shift_mean_proper : proper_mechanism shift_mean.
Proof.
split=> [q r|q]; first by rewrite divr_ge0 ?ler0n // sumr_ge0 // => j _; exact: Mp.1.
rewrite -mulr_suml exchange_big /= (eq_bigr (fun=> 1)) => [|j _]; last exact: Mp.2.
by rewrite sumr_const card_ord divff // gt_eqF // count_gt0.
Qed.
Lemma shift_mean_private : private z shift_mean.
Proof.
move=> q q' nb r; rewrite mulrA ler_wpmul2r ?invr_ge0 ?ler0n // mulr_sumr.
by apply: ler_sum => j _; apply: Mz => s; rewrite !ffunE opprD addrACA subrr addr0.
Qed.

(** A further shift by i g changes it by at most i / (N + 1). *)
Lemma shift_mean_moves q r i : let q' := [ffun s => q s + g *+ i] in
  shift_mean q r <= shift_mean q' r + i%:R / N.+1%:R /\
  shift_mean q' r <= shift_mean q r + i%:R / N.+1%:R.
Proof.
pose F j := M [ffun s => q s + g *+ j] r.
have E m : \sum_(j < N.+1) at_raised M (g *+ j) [ffun s => q s + g *+ m] r =
    \sum_(j < N.+1) F (j + m)%N.
  apply: eq_bigr => j _; congr (M _ r); apply/ffunP => s; rewrite !ffunE -addrA -mulrnDr addnC //.
have step m : \sum_(j < N.+1) F (j + m)%N <= \sum_(j < N.+1) F (j + m.+1)%N + 1 /\
    \sum_(j < N.+1) F (j + m.+1)%N <= \sum_(j < N.+1) F (j + m)%N + 1.
  have F0 j : 0 <= F j := Mp.1 _ _; have F1 j : F j <= 1 := M_le1 _ _.
  have e : \sum_(j < N.+1) F (j + m)%N + F (N.+1 + m)%N = F m + \sum_(j < N.+1) F (j + m.+1)%N.
    transitivity (\sum_(j < N.+2) F (j + m)%N); first by rewrite [RHS]big_ord_recr.
    rewrite big_ord_recl add0n; congr (_ + _).
    by apply: eq_bigr => j _; rewrite lift0 addSnnS.
  have [lo hi] := (ler_add (F1 m) (F0 (N.+1 + m)%N), ler_add (F1 (N.+1 + m)%N) (F0 m)).
  split; [apply: (le_by lo) | apply: (le_by hi)].
    by rewrite addrAC -[X in _ - X](addrK (F (N.+1 + m)%N)) e; ring.
  by rewrite -[X in X + 1 - _](addrK (F (N.+1 + m)%N)) e; ring.
have total m : \sum_(j < N.+1) F (j + 0)%N <= \sum_(j < N.+1) F (j + m)%N + m%:R /\
    \sum_(j < N.+1) F (j + m)%N <= \sum_(j < N.+1) F (j + 0)%N + m%:R.
  elim: m => [|m [lo hi]]; first by rewrite addr0.
  have [lo' hi'] := step m; rewrite (mulrSr 1 m).
  by split; [apply: (le_by (ler_add lo lo')) | apply: (le_by (ler_add hi hi'))]; ring.
have E0 : \sum_(j < N.+1) at_raised M (g *+ j) q r = \sum_(j < N.+1) F (j + 0)%N.
  by apply: eq_bigr => j _; rewrite addn0.
have [lo hi] := total i.
by rewrite /shift_mean E E0 -!mulrDl !ler_pmul2r ?invr_gt0 ?count_gt0.
Qed.

Variable k : nat.
Let h := g *+ 2.
Implicit Types (d e : depths n k).

Lemma g_steps (a b : nat) : (a <= b)%N -> g *+ a <= g *+ b.
Proof. exact/ler_wpmuln2l/ltW/(step_gt0 gL)/ltr01. Qed.

Lemma shift_mean_rows r d e : in_lattice d -> in_lattice e -> near_by L d e ->
  z * table_by h shift_mean d r <= table_by h shift_mean e r + L%:R / N.+1%:R.
Proof.
move=> /existsP[u /eqP du] /existsP[w /eqP ew] nde; rewrite /table_by.
have [s0 /= min0] := least_gap (fun s => d s : nat) (fun s => e s : nat) r.
have small (i : nat) : (i <= L)%N -> i%:R / N.+1%:R <= L%:R / N.+1%:R :> R.
  by move=> iL; rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_nat.
pose raise (p : score S n) (i : nat) : score S n := [ffun s => p s + g *+ i].
have near i i' : (2 * e s0 + i = 2 * d s0 + L + i')%N ->
    neighbors (raise (score_by h d) i) (raise (score_by h e) i').
  move=> Ei s; rewrite !ffunE /h -!mulrnA ler_norml -gL.
  have a1 : (2 * e s + i <= 2 * d s + L + i')%N by have := min0 s; lia.
  have a2 : (2 * d s + i' <= 2 * e s + L + i)%N by have := nde s s0; lia.
  have := g_steps a1; have := g_steps a2; rewrite !mulrnDr => b2 b1.
  by apply/andP; split; [apply: (le_by b2) | apply: (le_by b1)]; ring.
have same p : raise p 0%N = p by apply/ffunP => s; rewrite ffunE addr0.
have low := nde w s0; have high := min0 u.
have [up|down] := leqP (2 * e s0) (2 * d s0 + L).
  have [i Ei] : exists i, (2 * e s0 + i = 2 * d s0 + L)%N.
    by exists (2 * d s0 + L - 2 * e s0)%N; lia.
  have iL : (i <= L)%N by lia.
  have row := shift_mean_private (near i 0%N ltac:(lia)) r; rewrite same in row.
  have [mv _] := shift_mean_moves (score_by h d) r i; have := ler_wpmul2l z0 mv.
  have := ler_wpmul2r (divr_ge0 (ler0n R i) (ler0n R N.+1)) (ltW z1).
  rewrite mul1r mulrDr => a1 a2.
  by apply: le_trans a2 _; apply: ler_add row _; apply: le_trans a1 (small _ iL).
have [i Ei] : exists i, (2 * e s0 = 2 * d s0 + L + i)%N.
  by exists (2 * e s0 - (2 * d s0 + L))%N; lia.
have iL : (i <= L)%N by lia.
have row := shift_mean_private (near 0%N i ltac:(lia)) r; rewrite same in row.
have [_ mv] := shift_mean_moves (score_by h e) r i.
by apply: le_trans row (le_trans mv _); rewrite ler_add2l small.
Qed.

(** Whatever bounds all tables that level dp allows bounds the mean over shifts, but for the last
    term. The lattice's step is 2 g. *)
Theorem shifts_lower_bound W c v :
  (forall t : table R n k, feasible_by L z Dp t -> v <= table_loss W c t) ->
  ((1 - z) * N.+1%:R + n%:R * L%:R) * v <=
  (1 - z) * (\sum_(j < N.+1) table_loss W c (table_by h (at_raised M (g *+ j)) : table R n k)) +
  n%:R * L%:R * table_loss W c (@even_table R n k).
Proof.
move=> bound; have xp : proper_table (table_by h shift_mean : table R n k).
  by move=> d _; split=> [r|]; [exact: shift_mean_proper.1 | exact: shift_mean_proper.2].
have := almost_feasible n0 z1 count_gt0 (ler0n R L) xp shift_mean_rows bound.
congr (_ <= _ + _); rewrite -mulrA; congr (_ * _).
rewrite /table_loss exchange_big mulr_sumr; apply: eq_bigr => d _.
rewrite -mulr_sumr mulrCA; congr (_ * _); rewrite exchange_big mulr_sumr; apply: eq_bigr => r _.
rewrite -mulr_sumr [LHS]mulrCA; congr (_ * _).
by rewrite /table_by /shift_mean [LHS]mulrC divfK // gt_eqF // count_gt0.
Qed.
End Mean.

(** So some shift is no better, but for as little as one likes, and permute-and-flip is the best of
    all where z + ... + z^k <= 1. *)
Section Some.
Variables (R : archiFieldType) (n k : nat) (z : R).
Hypotheses (n0 : (0 < n)%N) (z0 : 0 <= z) (z1 : z < 1).
Variable M : mechanism integers R n.
Hypotheses (Mp : proper_mechanism M) (Mz : private z M).

Theorem some_shift (W : depths n k -> R) c (v gap : R) : 0 < gap ->
  (forall t : table R n k, feasible z Dp t -> v <= table_loss W c t) ->
  exists j : nat, v - gap < table_loss W c (table_of (at_raised M j%:Z) : table R n k).
Proof.
move=> gap0 bound; pose u := table_loss W c (@even_table R n k).
have a0 : 0 < (1 - z) * gap by rewrite mulr_gt0 ?subr_gt0.
pose N := Num.bound `|n%:R * (u - v) / ((1 - z) * gap)|.
have big : n%:R * (u - v) < (1 - z) * gap * N.+1%:R.
  rewrite [X in _ < X]mulrC -ltr_pdivr_mulr //.
  apply: (@lt_trans _ _ N%:R); last by rewrite ltr_nat.
  by apply: le_lt_trans (ler_norm _) _; exact: archi_boundP (normr_ge0 _).
have := @shifts_lower_bound _ R n 1 z (1 : integers) M (mulr1n 1) Mp Mz n0 z0 z1 N k W c v bound.
rewrite mulr1 -/u => low.
pose F j := table_loss W c (table_of (at_raised M (j : nat)%:Z) : table R n k).
case: (boolP [exists j : 'I_N.+1, v - gap < F j]) => [/existsP[j lt]|]; first by exists j.
rewrite negb_exists => /forallP all; have sum : \sum_(j < N.+1) F j <= (v - gap) * N.+1%:R.
  rewrite mulr_natr -[in X in _ <= X](card_ord N.+1) -sumr_const.
  by apply: ler_sum => j _; rewrite leNgt; exact: all.
have E : \sum_(j < N.+1) F j =
    \sum_(j < N.+1) table_loss W c
      (table_by ((1 : integers) *+ 2) (at_raised M (1 *+ j)) : table R n k).
  by apply: eq_bigr => j _; apply: loss_same => d r _; rewrite -(natz j).
rewrite -E in low; have z1' : 0 <= 1 - z by rewrite subr_ge0 ltW.
have le := ler_add low (ler_wpmul2l z1' sum).
by move: big; rewrite ltNge => /negP[]; apply: (le_by le); ring.
Qed.
End Some.

Section Best.
Variables (R : archiFieldType) (n k : nat) (E : integers -> R).
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x).
Hypotheses (n0 : (0 < n)%N) (z1 : E (1 + 1) < 1).
Variable M : mechanism integers R n.

Theorem pf_best_at_some_shift (gap : R) :
  \sum_(1 <= v < k.+1) E (1 + 1) ^+ v <= 1 -> proper_mechanism M -> private (E (1 + 1)) M ->
    0 < gap ->
  exists j : nat, mean_error k (@permute_and_flip _ R n E) - gap < mean_error k (at_raised M j%:Z).
Proof.
move=> B1 Mp Mz gap0; pose Q : R := #|@in_lattice n k|%:R.
have Q0 : 0 < Q by rewrite ltr0n lattice_gt0.
pose v := table_error (pf_table (E (1 + 1)) : table R n k).
have bound (t : table R n k) : feasible (E (1 + 1)) Dp t ->
    v <= table_loss (product_prior (@same_weight R)) (@depth_loss R) t.
  move=> /feasible_paper ft; have := pf_optimal (E_gt0 _) B1 ft.
  by rewrite ler_pmul2r ?invr_gt0 // -table_error_loss.
have [j lt] := some_shift n0 (ltW (E_gt0 _)) z1 Mp Mz (mulr_gt0 gap0 Q0) bound.
exists j; rewrite /mean_error /table_mean ltr_pdivl_mulr // mulrBl divfK ?gt_eqF //.
by rewrite !table_error_loss (pf_loss_on_lattice ED E_gt0) -table_error_loss.
Qed.
End Best.
