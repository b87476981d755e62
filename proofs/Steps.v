(** The rows of monotonicity, decided for a point that gives each variable of the symmetric program
    its probability: all of them follow from those that are decided here. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum zify.
From Optratio Require Import Mechanisms Program CountVectors Numbers Checker Cuts.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Section Rows.
Variables (k : nat) (x : seq nat -> seq Q).
Implicit Types (m : seq nat) (v w : nat).

(** Another candidate, at depth u, sinks by a step. *)
Definition step_ok m u : bool := if nth 0 m u == 0 then true else
  if count_next k (m, u) is Some (m', _) then
    let c := ((u == 0) && (nth 0 m 0 == 1)) : nat in let xs := x m in let xs' := x m' in
    all (fun w => (nth 0 m w <= (w == u)) || qle (nth q0 xs w) (nth q0 xs' (w - c))) (iota 0 k.+1)
  else true.
Definition steps_ok m := all (step_ok m) (iota 0 k.+1).

End Rows.

(** How far s has yet to sink against r, and a step of the candidate that is highest of those. *)
Section Gap.
Variables (n k : nat).
Implicit Types (d e : depths n k) (r s : 'I_n).
Definition gap r e d s := e s + d r - (d s + e r).
Lemma next_towards r d e s : in_lattice d -> favors r d e -> s != r -> (0 < gap r e d s)%N ->
  (forall u, (0 < gap r e d u)%N -> (d s <= d u)%N) ->
  exists2 d', next_depths s d = Some d' & forall i, (d' i + d r = d i + d' r + (i == s))%N.
Proof.
move=> Qd fd sr gs least; rewrite /next_depths; case: ifP => L.
  exists (rise d s) => // i; rewrite !ffunE [r == s]eq_sym (negbTE sr) val_pred.
  have h j : j != s -> (0 < d j)%N by move=> js; move/forallP/(_ j): L; rewrite js.
  have := h r; rewrite eq_sym sr => /(_ isT) dr.
  case: (eqVneq i s) => [->|/h di]; rewrite ?val_pred; last by lia.
  by have := lone_top Qd L; lia.
case: ltnP => [lt|ge]; last first.
  move/negbT: L; rewrite negb_forall => /existsP[u].
  rewrite negb_imply -leqNgt leqn0 => /andP[us /eqP du].
  have [? ?] := (ltn_ord (e s), ltn_ord (d r)).
  by case: (posnP (gap r e d u)) => [|/least]; move: (fd u) (fd s) gs; rewrite /gap du; lia.
exists (sink d s) => // i; rewrite !ffunE [r == s]eq_sym (negbTE sr).
by case: (eqVneq i s) => [->|_]; rewrite ?inordK //; lia.
Qed.

Lemma gap_falls r d d' e s : favors r d e -> 0 < gap r e d s ->
  (forall i, d' i + d r = d i + d' r + (i == s)) ->
  favors r d' e /\ \sum_i gap r e d' i < \sum_i gap r e d i.
Proof.
rewrite /gap => fd gs P; split=> [i|].
  by move: (P i) (fd i) gs; case: (eqVneq i s) => [->|_] /=; lia.
rewrite (bigD1 s) //= [X in _ < X](bigD1 s) //= -addSn leq_add //.
  by move: (P s) gs; rewrite eqxx /=; lia.
by apply: leq_sum => i /negbTE is_; move: (P i); rewrite is_ /=; lia.
Qed.
Lemma no_gap r d e : in_lattice d -> in_lattice e -> favors r d e ->
  (forall s, gap r e d s = 0) -> d = e.
Proof.
move=> /existsP[u0 /eqP d0] /existsP[u1 /eqP e1] fd g0; apply/ffunP => s; apply: val_inj => /=.
move: (g0 s) (g0 u0) (g0 u1) (fd s) (fd u0) (fd u1).
by rewrite /gap d0 e1; lia.
Qed.
End Gap.

(** Monotonicity follows from its rows in which one other candidate sinks by a step. *)
Section Steps.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k : nat) (t : table R n k).
Implicit Types (d e : depths n k) (r s : 'I_n).
Hypothesis step : forall r s d d', in_lattice d -> s != r -> next_depths s d = Some d' ->
  t d r <= t d' r.

Lemma steps_suffice : monotone_rows t.
Proof.
move=> r d e Qd Qe.
elim: {d}(\sum_s gap r e d s)%N {-2}d (leqnn (\sum_s gap r e d s)%N) Qd => [|N IH] d le Qd fd.
  rewrite (no_gap Qd Qe fd) // => s; move: le.
  by rewrite leqn0 sum_nat_eq0 => /forallP/(_ s)/eqP.
case: (posnP (\sum_s gap r e d s)) => [z0|]; first by apply: IH; rewrite ?z0.
rewrite lt0n sum_nat_eq0 negb_forall => /existsP[s1]; rewrite /= -lt0n => gs1.
case: (@arg_minnP _ s1 (fun s => 0 < gap r e d s)%N (fun s => val (d s)) gs1) => s gs least.
have sr : s != r by apply: contraTneq gs => ->; rewrite /gap addnC subnn.
have [d' E P] := next_towards Qd fd sr gs least; have [fd' lt] := gap_falls fd gs P.
apply: le_trans (step Qd sr E) _; apply: IH fd'; last exact: next_in_lattice Qd E.
by rewrite -ltnS; apply: leq_trans le.
Qed.
End Steps.

Section Soundness.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k : nat) (x : seq nat -> seq Q).
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Local Notation point := (point R x : table R n k).
Implicit Types (d e : depths) (r s : 'I_n).

Lemma orbit_of d : in_lattice d -> counts d \in orbits n k.
Proof. by move=> Q; rewrite mem_filter counts_count_vectors nth_counts -in_lattice_cnt Q. Qed.

Lemma steps_sound : all (steps_ok k x) (orbits n k) -> monotone_rows point.
Proof.
move=> /allP ok; apply: steps_suffice => r s d d' Qd sr E.
have /allP/(_ (val (d s))) := ok _ (orbit_of Qd).
rewrite mem_iota /= add0n ltn_ord => /(_ isT); rewrite /step_ok.
have nz : (nth 0%N (counts d) (d s) == 0%N) = false by rewrite nth_counts; have := cnt_pos d s;
  case: (cnt d (d s)).
rewrite nz (count_next_counts s Qd) E => /allP/(_ (val (d r)));
  rewrite mem_iota /= add0n ltn_ord => /(_ isT).
have many : (nth 0%N (counts d) (d r) <= (d r == d s :> nat))%N = false.
  by rewrite nth_counts (cntD1 d r) (bigD1 s) //= eqxx [d s == d r :> nat]eq_sym; lia.
rewrite many /= (qR_le R) ?nth_counts -(lone_cnt s Qd) /point /prob.
suff -> : (val (d r) - lone d s)%N = d' r :> nat by [].
move: E; rewrite /next_depths; case: (lone d s); first by case=> <-;
  rewrite ffunE eq_sym (negbTE sr) val_pred subn1.
by case: ltnP => // _ [<-]; rewrite ffunE eq_sym (negbTE sr) subn0.
Qed.

End Soundness.
