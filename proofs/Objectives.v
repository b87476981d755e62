(** The objective box. Its weights add up the lattices of all depths up to k: it is a sum of errors
    of the kind that the other files speak of, and permute-and-flip is optimal for it where it is
    for the mean error. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint zify.
From Optratio Require Import Mechanisms Program CountVectors Integral Threshold PermuteAndFlip.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Lattices.
Variables (n k : nat).

(** Q(n,j) is a part of Q(n,k). *)
Definition widen j (d : depths n j) : depths n k := [ffun s => inord (d s)].
Lemma widenE j (d : depths n j) s : (j <= k)%N -> widen d s = d s :> nat.
Proof. by move=> jk; rewrite ffunE inordK // (leq_trans (ltn_ord _)) // ltnS. Qed.
Lemma widen_in_lattice j (d : depths n j) : (j <= k)%N -> in_lattice (widen d) = in_lattice d.
Proof. by move=> jk; apply: eq_existsb => s; rewrite widenE. Qed.

Lemma sum_shallow (V : zmodType) (F : depths n k -> V) j : (j <= k)%N ->
  \sum_(d | in_lattice d && (\max_s d s <= j)%N) F d = \sum_(d : depths n j
    | in_lattice d) F (widen d).
Proof.
move=> jk; rewrite (reindex_onto (@widen j) (fun d => [ffun s => inord (d s)])) /= =>
  [|d /andP[_ /bigmax_leqP le]].
  apply: eq_bigl => d; rewrite widen_in_lattice //.
  have -> : (\max_s widen d s <= j)%N by apply/bigmax_leqP => s _; rewrite widenE // -ltnS.
  rewrite andbT; case: (in_lattice d) => //=; apply/eqP/ffunP => s; rewrite ffunE widenE //.
  by apply: val_inj; rewrite /= inordK.
apply/ffunP => s; apply: val_inj; rewrite /= widenE // ffunE inordK // ltnS; exact: le.
Qed.

Lemma box_sum (V : zmodType) (F : depths n k -> V) :
  \sum_(d | in_lattice d) F d *+ shifts Box d = \sum_(j < k.+1) \sum_(d : depths n j
    | in_lattice d) F (widen d).
Proof.
rewrite (eq_bigr (fun d : depths n k => \sum_(j < k.+1 | (\max_s d s <= j)%N) F d)) => [|d _];
  last first.
  by rewrite -(big_geq_mkord _ _ xpredT (fun=> F d)) sumr_const_nat.
rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => j _.
by rewrite sum_shallow // -ltnS.
Qed.
End Lattices.

Section Box.
Variables (R : realFieldType) (n k : nat) (z : R).
Implicit Types (t : table R n k).

(** A table on Q(n,j). *)
Definition narrow j t : table R n j := fun d => t (widen k d).
Arguments narrow j t : clear implicits.

Lemma box_loss t : table_loss (fun d => (shifts Box d)%:R) (fun v => v%:R) t =
  \sum_(j < k.+1) table_error (narrow j t).
Proof.
rewrite (eq_bigr (fun j : 'I_k.+1 => \sum_(d : depths n j | in_lattice d) \sum_r (widen k d r)%:R *
  t (widen k d) r)).
  by rewrite -(box_sum (fun d => \sum_r (d r)%:R * t d r)); apply: eq_bigr => d _;
    rewrite mulr_natl.
by move=> j _; apply: eq_bigr => d _; apply: eq_bigr => r _; rewrite widenE // -ltnS.
Qed.

Lemma objective_vectors t : objective_mean Vectors t = table_mean t.
Proof.
rewrite /objective_mean /table_mean sum1_card; congr (_ / _).
by apply: eq_bigr => d _; rewrite mul1r.
Qed.

Lemma narrow_pf j (d : depths n j) r : (j <= k)%N ->
  narrow j (pf_table z : table R n k) d r = pf_table z d r.
Proof.
by move=> jk; rewrite /narrow /pf_table /pf widenE //; congr (_ * integral _);
  apply: eq_bigr => s _; rewrite widenE.
Qed.

(** Tables that are alike on all lattices, as those of mechanisms are. *)
Lemma box_errors (T : forall j, table R n j) : (forall j d r, (j <= k)%N ->
  narrow j (T k) d r = T j d r) ->
  table_loss (fun d => (shifts Box d)%:R) (fun v => v%:R) (T k) = \sum_(j < k.+1) table_error
    (T j).
Proof.
move=> E; rewrite box_loss; apply: eq_bigr => j _; apply: eq_bigr => d _; apply: eq_bigr => r _.
by rewrite E // -ltnS.
Qed.

(** The rows of the level paper on Q(n,j) are rows on Q(n,k). *)
Lemma narrow_feasible j t : (j <= k)%N -> feasible z Paper t -> feasible z Paper (narrow j t).
Proof.
move=> jk [tp tw]; split=> [d Qd|r d e Qd Qe sk]; first by apply: tp; rewrite widen_in_lattice.
by apply: tw; rewrite ?widen_in_lattice // => s sr; rewrite !widenE // sk.
Qed.

(** research/docs/threshold.md, Theorem 2, "where it is for the paper's", and for n <= 2
    everywhere. *)
Theorem pf_optimal_box t : 0 < z -> (n <= 2)%N || (\sum_(1 <= v < k.+1) z ^+ v <= 1) ->
  feasible z Paper t ->
  objective_mean Box (pf_table z : table R n k) <= objective_mean Box t.
Proof.
move=> z0 b1 ft; rewrite ler_wpmul2r ?invr_ge0 ?ler0n //.
rewrite (box_errors (fun j d r => @narrow_pf j d r)) box_loss; apply: ler_sum => j _.
have jk : (j <= k)%N by rewrite -ltnS.
have := @pf_optimal_for_losses R n j z (@same_weight R) (@depth_loss R) (narrow j t) z0
  (depth_is_loss R).
rewrite -!table_error_loss; apply => //; first exact: ltr01.
- by move=> v; exact: ler01.
- case/orP: b1 => [->//|b1]; apply/orP; right; apply: le_trans b1; rewrite same_weight_sum.
  rewrite [X in _ <= X](big_cat_nat _ _ _ (ltn0Sn j)) ?ltnS //= ler_addl sumr_ge0 // => v _.
  by rewrite exprn_ge0 // ltW.
exact: narrow_feasible.
Qed.
End Box.
Arguments narrow {R n k} j t.

Lemma box_gt0 n k : (0 < n)%N -> (0 < \sum_(d : depths n k | in_lattice d) shifts Box d)%N.
Proof.
move=> n0; rewrite (bigD1 [ffun=> ord0]) /=; last first.
  by apply/existsP; exists (Ordinal n0); rewrite ffunE.
by rewrite ltn_addr // subn_gt0 ltnS; apply/bigmax_leqP => s _; rewrite ffunE.
Qed.
(** A vector that reaches down to k is alone. *)
Lemma shifts_deepest n k (d : depths n k) s : d s = k :> nat -> shifts Box d = 1%N.
Proof.
move=> ds; rewrite /shifts; suff -> : \max_s d s = k by rewrite subSnn.
apply/eqP; rewrite eqn_leq -[X in _ && (X <= _)%N]ds (leq_bigmax s) andbT.
by apply/bigmax_leqP => i _; rewrite -ltnS.
Qed.

(** What the weights of the box stand for: a vector of Q(n,k) is what its shifts have in common. *)
Section Shifts.
Variables (n k : nat).
Implicit Types (d e : depths n k).
(** The smallest depth; r only shows that there is a candidate. *)
Definition least_depth d r : nat := d [arg min_(s < r) d s].
Lemma least_depth_le d r s : (least_depth d r <= d s)%N.
Proof. by rewrite /least_depth; case: arg_minnP => // i _; apply. Qed.
Lemma least_eq d r m : (forall s, (m <= d s)%N) -> (exists s, d s = m :> nat) ->
  least_depth d r = m.
Proof. by move=> le [s E]; apply/eqP; rewrite eqn_leq -{1}E least_depth_le; exact: le. Qed.

Variable r : 'I_n.
Definition rise_all d : depths n k := [ffun s => inord (d s - least_depth d r)].
Definition sink_all e (i : 'I_k.+1) : depths n k := [ffun s => inord (e s + i)].

Lemma rise_allE d s : rise_all d s = (d s - least_depth d r)%N :> nat.
Proof. by rewrite ffunE inordK // (leq_ltn_trans (leq_subr _ _)). Qed.
Lemma rise_in_lattice d : in_lattice (rise_all d).
Proof. by apply/existsP; exists [arg min_(s < r) d s]; rewrite rise_allE subnn. Qed.
Lemma sink_allE e (i : 'I_k.+1) s : (\max_s e s + i <= k)%N -> sink_all e i s = (e s + i)%N :> nat.
Proof.
by move=> le; rewrite ffunE inordK // ltnS (leq_trans _ le) // leq_add2r (leq_bigmax s).
Qed.
Lemma least_sink e (i : 'I_k.+1) : in_lattice e -> (\max_s e s + i <= k)%N ->
  least_depth (sink_all e i) r = i.
Proof.
move=> /existsP[s0 /eqP e0] le; apply: least_eq => [s|]; first by rewrite sink_allE // leq_addl.
by exists s0; rewrite sink_allE // e0.
Qed.

Lemma shiftsE e : in_lattice e -> shifts Box e = (\sum_(d | rise_all d == e) 1)%N.
Proof.
move=> Qe; have mk : (\max_s e s <= k)%N by apply/bigmax_leqP => s _; rewrite -ltnS.
rewrite (reindex_onto (sink_all e) (fun d => inord (least_depth d r))) => [|d /eqP <-]; last first.
  apply/ffunP => s; apply: val_inj;
    rewrite /= ffunE rise_allE (@inordK k (least_depth d r)) ?ltn_ord //.
  by rewrite subnK ?least_depth_le // inordK ?ltn_ord.
rewrite (eq_bigl (fun i : 'I_k.+1 => (\max_s e s + i <= k)%N)) => [|i].
  rewrite -(big_mkord (fun i => \max_s e s + i <= k)%N (fun=> 1%N)) /shifts;
    move: (\max_s e s) mk => m mk.
  rewrite (@big_cat_nat _ _ _ (k.+1 - m)) ?leq_subr //= big_nat_cond [X in (_ + X)%N]big_nat_cond.
  rewrite [X in (_ + X)%N]big_pred0 => [|i]; last by apply/negbTE; lia.
  rewrite addn0 (eq_bigl (fun i => 0 <= i < k.+1 - m)%N) => [|i]; last by apply/idP/idP; lia.
  by rewrite -big_nat sum_nat_const_nat subn0 muln1.
apply/idP/idP => [/andP[/eqP E /eqP b]|le]; last first.
  rewrite least_sink // inord_val eqxx andbT; apply/eqP/ffunP => s; apply: val_inj.
  by rewrite /= rise_allE sink_allE // least_sink // addnK.
have b' : least_depth (sink_all e i) r = i by rewrite -[i in RHS]b inordK ?ltn_ord.
have h s : (e s + i)%N = sink_all e i s :> nat.
  by rewrite -{1}E rise_allE b' subnK // -{1}b' least_depth_le.
have /eq_bigmax_cond -/(_ (fun s => e s))[s _ ->] : (0 < #|predT : pred 'I_n|)%N
  by rewrite card_ord; case: r; lia.
by rewrite h -ltnS.
Qed.

Lemma sum_shifts (V : zmodType) (F : depths n k -> V) :
  \sum_(d | in_lattice d) F d *+ shifts Box d = \sum_d F (rise_all d).
Proof.
rewrite [RHS](partition_big rise_all (@in_lattice n k)) => [|d _]; last exact: rise_in_lattice.
apply: eq_bigr => e Qe; rewrite (shiftsE Qe) -sumrMnr.
by apply: eq_bigr => d /eqP ->; rewrite mulr1n.
Qed.
End Shifts.

(** So a shift-invariant mechanism's mean for the box is its mean error over all vectors of depths
    up to k. *)
Theorem box_mean (R : realFieldType) n k (M : mechanism integers R n) : (0 < n)%N ->
  shift_invariant M ->
  objective_mean Box (table_of M : table R n k) =
  (\sum_(d : depths n k) \sum_r (d r - d [arg min_(s < r) d s])%:R * M (score_of d) r) /
    (k.+1 ^ n)%:R.
Proof.
move=> n0 Ms; pose r0 := Ordinal n0; rewrite /objective_mean; congr (_ / _); last first.
  rewrite natr_sum (sum_shifts r0 (fun=> 1)) sumr_const.
  by rewrite -[in RHS](card_ord n) -[in RHS](card_ord k.+1) -card_ffun.
pose F (d : depths n k) := \sum_r (d r)%:R * table_of M d r.
rewrite /table_loss (eq_bigr (fun d : depths n k => F d *+ shifts Box d)).
  rewrite (sum_shifts r0); apply: eq_bigr => d _; apply: eq_bigr => r _.
  have E : least_depth d r0 = least_depth d r.
    by apply: least_eq => [s|]; [exact: least_depth_le | exists [arg min_(s < r) d s]].
  rewrite rise_allE E; congr (_ * _);
    rewrite /table_of -(Ms (score_of d) (2%:Z * (least_depth d r)%:Z)).
  congr (M _ r); apply/ffunP => s; rewrite [LHS]ffunE rise_allE E !ffunE.
  by have := least_depth_le d r s; lia.
by move=> d _; rewrite mulr_natl.
Qed.
