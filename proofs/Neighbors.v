(* The rows that the levels above paper add, decided for a point that gives each variable of the symmetric program its
   probability: all of them follow from those that are decided here. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect all_algebra zify.
From Optratio Require Import Mechanisms Program CountVectors Levels Numbers Checker Cuts.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Section Rows.
Variables (n k : nat) (z : Q) (x : seq nat -> seq Q).
Implicit Types (m j : seq nat) (v w : nat).

(* A neighbor: of the m_v candidates at each depth v some, j_v, sink by a step; where all the best ones do, all depths are
   counted from one step further down. *)
Fixpoint parts m : seq (seq nat) :=
  if m is i :: m' then let l := parts m' in flatten [seq [seq a :: j | j <- l] | a <- iota 0 i.+1] else [:: [::]].
Definition lowers m j : bool := head 0 m == head 0 j.
Definition neighbor m j : seq nat := let c := lowers m j : nat in
  mkseq (fun w => let u := w + c in nth 0 m u - nth 0 j u + (if u is u'.+1 then nth 0 j u' else 0)) k.+1.
Definition neighbor_ok m (zs : seq Q) j : bool :=
  let c := lowers m j : nat in if (c == 0) && (0 < nth 0 j k) then true else
  let xs := x (neighbor m j) in
  all (fun v => ((nth 0 m v == nth 0 j v) || qle (nth q0 zs v) (nth q0 xs (v - c))) &&
    ((nth 0 j v == 0) || qle (nth q0 zs v) (nth q0 xs (v.+1 - c)))) (iota 0 k.+1).
Definition neighbors_ok m := let zs := [seq qmul z (nth q0 (x m) v) | v <- iota 0 k.+1] in
  all (neighbor_ok m zs) (parts m).

(* Another candidate, at depth u, sinks by a step. *)
Definition step_ok m u : bool := if nth 0 m u == 0 then true else
  if count_next k (m, u) is Some (m', _) then
    let c := ((u == 0) && (nth 0 m 0 == 1)) : nat in let xs := x m in let xs' := x m' in
    all (fun w => (nth 0 m w <= (w == u)) || qle (nth q0 xs w) (nth q0 xs' (w - c))) (iota 0 k.+1)
  else true.
Definition steps_ok m := all (step_ok m) (iota 0 k.+1).

Definition level_ok (l : level) : bool := match l with
  | Paper => true
  | Dp => all neighbors_ok (orbits n k)
  | Monotone => all steps_ok (orbits n k)
  | Full => [&& qle q0 z, qle z (qn 1) & all steps_ok (orbits n k)] end.
End Rows.

Lemma mem_parts m j : size j = size m -> (forall v, nth 0 j v <= nth 0 m v) -> j \in parts m.
Proof.
elim: m j => [|i m IH] [|a j] // [sj] le; apply/flatten_mapP; exists a; first by rewrite mem_iota ltnS (le 0).
by apply: map_f; apply: IH => // v; apply: (le v.+1).
Qed.

(* Monotonicity follows from its rows in which one other candidate sinks by a step. *)
Section Steps.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k : nat) (t : table R n k).
Implicit Types (d e : depths n k) (r s : 'I_n).
Hypothesis step : forall r s d d', in_lattice d -> s != r -> next s d = Some d' -> t d r <= t d' r.

Lemma steps_suffice : monotone_rows t.
Proof.
move=> r d e Qd Qe; pose gap (c : depths n k) s := (e s + c r - (c s + e r))%N.
have [u1 e1] : exists u, e u = 0%N :> nat by case/existsP: Qe => u /eqP; exists u.
elim: {d}(\sum_s gap d s)%N {-2}d (leqnn (\sum_s gap d s)%N) Qd => [|N IH] d le Qd fd.
  suff -> : d = e by [].
  have g0 s : gap d s = 0%N by move: le; rewrite leqn0 sum_nat_eq0 => /forallP/(_ s)/eqP.
  have [u0 d0] : exists u, d u = 0%N :> nat by case/existsP: Qd => u /eqP; exists u.
  apply/ffunP => s; apply: val_inj => /=; move: (g0 s) (g0 u0) (g0 u1) (fd s) (fd u0) (fd u1).
  by rewrite /gap d0 e1; lia.
case: (posnP (\sum_s gap d s)) => [z0|]; first by apply: IH; rewrite ?z0.
rewrite lt0n sum_nat_eq0 negb_forall => /existsP[s1]; rewrite /= -lt0n => gs1.
case: (@arg_minnP _ s1 (fun s => 0 < gap d s)%N (fun s => val (d s)) gs1) => s gs least.
have sr : s != r by apply/eqP => E; move: gs; rewrite E /gap; lia.
have [d' E P] : exists2 d', next s d = Some d' & forall i, (d' i + d r = d i + d' r + (i == s))%N.
  rewrite /next; case: ifP => L.
    exists (rise d s) => // i; rewrite !ffunE [r == s]eq_sym (negbTE sr) val_pred.
    have h j : j != s -> (0 < d j)%N by move=> js; move/forallP/(_ j): L; rewrite js.
    have := h r; rewrite eq_sym sr => /(_ isT) dr.
    case: (eqVneq i s) => [->|/h di]; rewrite ?val_pred; last by lia.
    by have := lone_top Qd L; lia.
  case: ltnP => [lt|ge]; last first.
    move/negbT: L; rewrite negb_forall => /existsP[u]; rewrite negb_imply -leqNgt leqn0 => /andP[us /eqP du].
    have [? ?] := (ltn_ord (e s), ltn_ord (d r)).
    by case: (posnP (gap d u)) => [|/least] /=; move: (fd u) (fd s) gs; rewrite /gap du; lia.
  exists (sink d s) => // i; rewrite !ffunE [r == s]eq_sym (negbTE sr).
  by case: (eqVneq i s) => [->|_]; rewrite ?inordK //; lia.
apply: le_trans (step Qd sr E) _; apply: IH; last 2 first.
- exact: next_in_lattice Qd E.
- move=> i; move: (P i) (fd i) gs; rewrite /gap; case: (eqVneq i s) => [->|_] /=; lia.
rewrite -ltnS; apply: leq_trans le; rewrite (bigD1 s) //= [X in (_ < X)%N](bigD1 s) //= -addSn leq_add //.
  by move: (P s) gs; rewrite /gap eqxx /=; lia.
by apply: leq_sum => i is_; move: (P i); rewrite /gap (negbTE is_) /=; lia.
Qed.
End Steps.

Section Soundness.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k : nat) (z : Q) (x : seq nat -> seq Q).
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Local Notation point := (point R x : table R n k).
Implicit Types (d e : depths) (r s : 'I_n).

Lemma orbit_of d : in_lattice d -> counts d \in orbits n k.
Proof. by move=> Q; rewrite mem_filter counts_count_vectors nth_counts -in_lattice_cnt Q. Qed.

(* Every pair of neighbors is of the kind that is enumerated. *)
Lemma neighbors_sound : all (neighbors_ok k z x) (orbits n k) -> neighbor_rows (qR z) point.
Proof.
move=> /allP ok r d e Qd Qe nde.
have [s0 min0] : exists s0, forall s, (d s + e s0 <= e s + d s0)%N.
  pose f (s : 'I_n) : int := (e s : nat)%:Z - (d s : nat)%:Z.
  have [s0 _ h] := @arg_minP _ _ _ r xpredT f isT.
  by exists s0 => s; have := h s isT; rewrite /f; lia.
have [u0 d0] : exists u, d u = 0%N :> nat by case/existsP: Qd => u /eqP; exists u.
have [u1 e1] : exists u, e u = 0%N :> nat by case/existsP: Qe => u /eqP; exists u.
pose b s : bool := (e s0 + d s < e s + d s0)%N.
pose c : bool := (e s0 < d s0)%N.
have E s : (e s + c = d s + b s)%N.
  rewrite /b /c; have := min0 s; have := nde s0 s; have := min0 u1; have := nde s0 u0; rewrite d0 e1.
  by case: ltnP; case: ltnP => /=; lia.
pose j := mkseq (fun v => \sum_s ((d s == v :> nat) && b s))%N k.+1.
have nth_j v : nth 0%N j v = (\sum_s ((d s == v :> nat) && b s))%N.
  case: (ltnP v k.+1) => h; first by rewrite nth_mkseq.
  rewrite nth_default ?size_mkseq // big1 // => s _; case: eqP => // dv.
  by move: (ltn_ord (d s)); rewrite dv ltnNge h.
have split_cnt v : (cnt d v = nth 0%N j v + \sum_s ((d s == v :> nat) && ~~ b s))%N.
  by rewrite nth_j /cnt -big_split; apply: eq_bigr => s _ /=; case: (_ == _); case: (b s).
have low : lowers (counts d) j = c.
  rewrite /lowers -!nth0 nth_counts split_cnt -[X in _ == X]addn0 eqn_add2l sum_nat_eq0.
  apply/forallP/idP => [/(_ u1)|hc s].
    by rewrite eqb0; have := E u1; rewrite e1; case: (c); case: (b u1) => //=; case: (val (d u1)).
  by rewrite eqb0; apply/negP => /andP[/eqP ds nb]; move: (E s); rewrite hc ds (negbTE nb); lia.
have nb : neighbor k (counts d) j = counts e.
  rewrite /neighbor low; apply: eq_mkseq => w; rewrite nth_counts split_cnt addKn.
  have -> : (if (w + c)%N is u'.+1 then nth 0 j u' else 0)%N = (\sum_s (((d s).+1 == w + c)%N && b s))%N.
    by case: (w + c)%N => [|u]; [rewrite big1 | rewrite nth_j].
  rewrite /cnt -big_split; apply: eq_bigr => s _ /=.
  have := E s; rewrite -(eqn_add2r c (e s)) => ->; case: (b s); rewrite ?andbT ?andbF ?addn0 ?add0n ?addn1 //.
have /ok : counts d \in orbits n k by exact: orbit_of.
move/allP/(_ j).
have mj : j \in parts (counts d).
  apply: mem_parts => [|v]; first by rewrite size_counts size_mkseq.
  by rewrite nth_counts split_cnt leq_addr.
move/(_ mj); rewrite /neighbor_ok low nb.
case: ifP => [/andP[]|_].
  rewrite eqb0 => nc; rewrite nth_j lt0n sum_nat_eq0 negb_forall => /existsP[s]; rewrite eqb0 negbK => /andP[/eqP dk bs].
  by move: (E s) (ltn_ord (e s)); rewrite bs dk (negbTE nc) addn0 addn1 => ->; rewrite ltnn.
move/allP/(_ (val (d r))); rewrite mem_iota /= add0n ltn_ord => /(_ isT) /andP[stay sink].
have zs : nth q0 [seq qmul z (nth q0 (x (counts d)) v) | v <- iota 0 k.+1] (d r) = qmul z (prob x (counts d) (d r)).
  by rewrite (nth_map 0%N) ?size_iota ?ltn_ord // nth_iota ?ltn_ord // add0n.
rewrite {}zs in stay sink.
suff: qle (qmul z (prob x (counts d) (d r))) (nth q0 (x (counts e)) (e r)) by rewrite (qR_le R) qR_mul.
case br: (b r); move: (E r); rewrite br => Er.
  have -> : e r = ((d r).+1 - c)%N :> nat by apply/(canRL (addnK c)); rewrite Er addn1.
  move: sink; case: eqP => // /eqP; rewrite nth_j sum_nat_eq0 => /forallP/(_ r).
  by rewrite eqxx br.
have -> : e r = (d r - c)%N :> nat by apply/(canRL (addnK c)); rewrite Er addn0.
move: stay; case: eqP => //; rewrite nth_counts split_cnt => /eqP.
rewrite -[X in _ == X]addn0 eqn_add2l sum_nat_eq0 => /forallP/(_ r).
by rewrite eqxx br.
Qed.

Lemma steps_sound : all (steps_ok k x) (orbits n k) -> monotone_rows point.
Proof.
move=> /allP ok; apply: steps_suffice => r s d d' Qd sr E.
have /allP/(_ (val (d s))) := ok _ (orbit_of Qd).
rewrite mem_iota /= add0n ltn_ord => /(_ isT); rewrite /step_ok.
have nz : (nth 0%N (counts d) (d s) == 0%N) = false by rewrite nth_counts; have := cnt_pos d s; case: (cnt d (d s)).
rewrite nz (count_next_counts s Qd) E => /allP/(_ (val (d r))); rewrite mem_iota /= add0n ltn_ord => /(_ isT).
have many : (nth 0%N (counts d) (d r) <= (d r == d s :> nat))%N = false.
  by rewrite nth_counts (cntD1 d r) (bigD1 s) //= eqxx [d s == d r :> nat]eq_sym; lia.
rewrite many /= (qR_le R) ?nth_counts -(lone_cnt s Qd) /point /prob.
suff -> : (val (d r) - lone d s)%N = d' r :> nat by [].
move: E; rewrite /next; case: (lone d s); first by case=> <-; rewrite ffunE eq_sym (negbTE sr) val_pred subn1.
by case: ltnP => // _ [<-]; rewrite ffunE eq_sym (negbTE sr) subn0.
Qed.

(* So a point that passes has every row of the level. *)
Theorem level_ok_sound l : level_ok n k z x l -> table_proper point -> worst_rows (qR z) point -> feasible (qR z) l point.
Proof.
case: l => /= [_|ok|ok|/and3P[z0 z1 ok]] tp tw; split=> //; split=> //.
- exact: neighbors_sound.
- exact: steps_sound.
have tm := steps_sound ok; split=> //; apply: monotone_implies_neighbor_rows => //.
- by move: z0; rewrite (qR_le R) qR0.
- by move: z1; rewrite (qR_le R) qRn.
Qed.
End Soundness.
