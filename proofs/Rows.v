(** The rows of a lattice whose step is 2/L sensitivities, decided for a point that gives each
    variable of the symmetric program its probability; and the lower bound by multipliers of
    rows. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm zify.
From Optratio Require Import Mechanisms Program CountVectors Classes Numbers Checker Cuts Steps.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Section Rows.
Variables (n k L : nat) (z : Q) (x : seq nat -> seq Q).
Implicit Types (m s : seq nat) (j : seq (seq nat)) (v w : nat).

(** How many candidates there are at each depth before the best one is at depth 0: the count vector
    and the best's depth, if no depth is beyond k from there. *)
Definition settle s : option (seq nat * nat) :=
  let c := find (ltn 0) s in let rest := drop c s in
  if all (pred1 0) (drop k.+1 rest) then Some (mkseq (nth 0 rest) k.+1, c) else None.

(** The given candidate, at depth w, sinks by L steps. *)
Definition sunk m w : seq nat := mkseq (fun u => nth 0 m u - (u == w) + (u == w + L)) (k.+1 + L).
Definition worst_ok m w : bool := if nth 0 m w == 0 then true else
  if settle (sunk m w) is Some (m', c) then
    qle (qmul z (nth q0 (x m) w)) (nth q0 (x m') (w + L - c)) else true.
Definition worst_all m := all (worst_ok m) (iota 0 k.+1).

(** A neighbor: of the candidates at depth v, j_v t sink by t <= L steps. *)
Fixpoint moves m : seq (seq (seq nat)) :=
  if m is i :: m' then let l := moves m' in
    flatten [seq [seq a :: j | j <- l] | a <- count_vectors L i] else [:: [::]].
Definition moved j : seq nat :=
  mkseq (fun u =>
    sumn [seq (if t <= u then nth 0 (nth [::] j (u - t)) t else 0) | t <- iota 0 L.+1]) (k.+1 + L).
Definition moves_ok (zs : seq Q) j : bool := if settle (moved j) is Some (m', c) then let xs :=
  x m' in
    all (fun v => let a := nth [::] j v in let zx := nth q0 zs v in
      all (fun t => (nth 0 a t == 0) || qle zx (nth q0 xs (v + t - c))) (iota 0 L.+1)) (iota 0
        k.+1)
  else true.
Definition near_all m := let zs := [seq qmul z (nth q0 (x m) v) | v <- iota 0 k.+1] in
  all (moves_ok zs) (moves m).

Definition rows_ok (l : level) : bool := let all_of ok := all ok (orbits n k) in match l with
  | Paper => all_of worst_all
  | Dp => all_of near_all
  | Monotone => all_of worst_all && all_of (steps_ok k x)
  | Full => all_of near_all && all_of (steps_ok k x) end.
End Rows.

Lemma mem_moves L m j : size j = size m ->
  (forall v, v < size m -> nth [::] j v \in count_vectors L (nth 0 m v)) ->
  j \in moves L m.
Proof.
elim: m j => [|i m IH] [|a j] // [sj] ok; apply/flatten_mapP; exists a; first exact: (ok 0).
by apply: map_f; apply: IH => // v lt; apply: (ok v.+1).
Qed.

Section Soundness.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k L : nat) (z : Q) (x : seq nat -> seq Q).
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Local Notation point := (point R x : table R n k).
Implicit Types (d e : depths) (r s : 'I_n).

(** If all candidates move from d to e by what f says, up to the common c. *)
Lemma settle_counts (f : 'I_n -> nat) (c : nat) e (l : seq nat) : in_lattice e ->
  (forall s, (e s + c = f s)%N) ->
  (forall u, nth 0%N l u = \sum_s (f s == u : nat))%N -> settle k l = Some (counts e, c).
Proof.
move=> /existsP[s0 /eqP e0] E N.
have zero u : (u < c)%N -> nth 0%N l u = 0%N.
  by move=> lt; rewrite N big1 // => s _; rewrite -E; case: eqP => //; lia.
have pos : (0 < nth 0 l c)%N by rewrite N (bigD1 s0) //= -E e0 eqxx.
have fc : find (ltn 0%N) l = c.
  have hl : has (ltn 0%N) l.
    apply/(has_nthP 0%N); exists c => //; rewrite ltnNge; apply/negP => le.
    by move: pos; rewrite nth_default.
  apply/eqP; rewrite eqn_leq; apply/andP; split; rewrite leqNgt; apply/negP => lt.
    by have /= := before_find 0%N lt; rewrite pos.
  by have /= := nth_find 0%N hl; rewrite zero.
rewrite /settle fc; have -> : all (pred1 0%N) (drop k.+1 (drop c l)).
  apply/(all_nthP 0%N) => i _; rewrite !nth_drop /= N big1 // => s _; rewrite -E.
  by have := ltn_ord (e s); case: eqP => //; lia.
congr (Some (_, _)); apply: eq_mkseq => w; rewrite nth_drop N; apply: eq_bigr => s _.
by rewrite -E addnC eqn_add2l.
Qed.

Lemma worst_sound : (1 < n)%N -> all (worst_all k L z x) (orbits n k) ->
  worst_rows_by L (qR z) point.
Proof.
move=> n1 /allP ok r d e Qd Qe sk.
have [w wr] : exists w, w != r.
  pose a := Ordinal (ltn_trans (ltn0Sn 0) n1); pose b := Ordinal n1.
  by case: (eqVneq a r) => [<-|]; [exists b | exists a].
have up : (e r <= d r + L)%N.
  case/existsP: Qe => v /eqP ev; case: (eqVneq v r) => [<-|vr]; first by rewrite ev.
  by have := sk v vr; rewrite ev; lia.
pose c := (d r + L - e r)%N; pose f s := (d s + (s == r) * L)%N.
have E s : (e s + c = f s)%N.
  rewrite /f /c; case: (eqVneq s r) => [->|sr]; first by rewrite mul1n; lia.
  by have := sk s sr; lia.
have N u : nth 0%N (sunk k L (counts d) (d r)) u = (\sum_s (f s == u : nat))%N.
  rewrite (bigD1 r) //= {1}/f eqxx mul1n;
    have -> : (\sum_(s | s != r) (f s == u) = cnt d u - (d r == u :> nat))%N.
    by rewrite (cntD1 d r) addKn; apply: eq_bigr => s sr; rewrite /f (negbTE sr) addn0.
  rewrite /sunk; case: (ltnP u (k.+1 + L)) => lt;
    first by rewrite nth_mkseq // nth_counts addnC (eq_sym u (val _)) (eq_sym u (_ + _)%N).
  rewrite nth_default ?size_mkseq // cnt_out; last by lia.
  by have := ltn_ord (d r); case: eqP => //; lia.
have /ok/allP/(_ (val (d r))) := orbit_of Qd; rewrite mem_iota /= add0n ltn_ord => /(_ isT).
rewrite /worst_ok nth_counts eqn0Ngt cnt_pos /= (settle_counts Qe E N).
have -> : (d r + L - c = e r)%N by rewrite /c; lia.
by rewrite (qR_le R) qR_mul.
Qed.

(** Neighbors, up to a common shift: candidate s sinks by f s steps, of which there are L at
    most. *)
Section Moves.
Variables (d : depths) (f : 'I_n -> nat).
Hypothesis fL : forall s, (f s <= L)%N.
Definition moves_of : seq (seq nat) :=
  mkseq (fun v => mkseq (fun t => \sum_s ((d s == v :> nat) && (f s == t)))%N L.+1) k.+1.

Lemma nth_moves_of v t : (t <= L)%N ->
  nth 0%N (nth [::] moves_of v) t = (\sum_s ((d s == v :> nat) && (f s == t)))%N.
Proof.
move=> tL; case: (ltnP v k.+1) => h; first by rewrite !nth_mkseq.
rewrite [nth [::] _ _]nth_default ?size_mkseq // nth_nil big1 // => s _; case: eqP => // dv.
by move: (ltn_ord (d s)); rewrite dv ltnNge h.
Qed.

Lemma moves_of_mem : moves_of \in moves L (counts d).
Proof.
apply: mem_moves => [|v]; first by rewrite size_counts size_mkseq.
rewrite size_counts => lt; rewrite nth_mkseq //; apply: mem_count_vectors.
  exact: size_mkseq.
rewrite nth_counts sumnE big_map -[iota 0 L.+1]/(index_iota 0 L.+1) big_mkord exchange_big /=.
apply: eq_bigr => s _; case: eqP => _; last by rewrite big1.
rewrite (bigD1 (inord (f s))) //= inordK ?ltnS ?fL // eqxx big1 // => t.
by rewrite -val_eqE /= inordK ?ltnS ?fL // eq_sym => /negbTE ->.
Qed.

Lemma sum_by_step u : (\sum_s (d s + f s == u) =
  \sum_(t < L.+1) if t <= u then \sum_s ((d s == (u - t)%N :> nat) && (f s == t)) else 0)%N.
Proof.
rewrite (eq_bigr (fun s => \sum_(t < L.+1) (d s + f s == u) * (f s == t)))%N => [|s _].
  rewrite exchange_big /=; apply: eq_bigr => t _; case: leqP => tu; last first.
    by rewrite big1 // => s _; case: eqP => // du; case: eqP => // bt; lia.
  apply: eq_bigr => s _; case: (f s =P t) => [->|_]; rewrite ?andbF ?muln0 // andbT muln1.
  by congr nat_of_bool; apply/eqP/eqP; lia.
rewrite (bigD1 (inord (f s))) //= inordK ?ltnS ?fL // eqxx muln1 big1 ?addn0 // => t.
by rewrite -val_eqE /= inordK ?ltnS ?fL // eq_sym => /negbTE ->; rewrite muln0.
Qed.

Lemma moved_counts u : nth 0%N (moved k L moves_of) u = (\sum_s (d s + f s == u : nat))%N.
Proof.
rewrite sum_by_step /moved; case: (ltnP u (k.+1 + L)) => lt; last first.
  rewrite nth_default ?size_mkseq //; symmetry; apply: big1 => t _; case: ifP => // _.
  by apply: big1 => s _; case: eqP => //; have := ltn_ord (d s); have := ltn_ord t; lia.
rewrite nth_mkseq // sumnE big_map -[iota 0 L.+1]/(index_iota 0 L.+1) big_mkord.
by apply: eq_bigr => t _; case: ifP => // _; rewrite nth_moves_of // -ltnS.
Qed.
End Moves.

Lemma near_sound : all (near_all k L z x) (orbits n k) -> neighbor_rows_by L (qR z) point.
Proof.
move=> /allP ok r d e Qd Qe nde.
have [s0 /= min0] := least_gap (fun s => e s : nat) (fun s => d s : nat) r.
have [u1 e1] : exists u, e u = 0%N :> nat by case/existsP: Qe => u /eqP; exists u.
pose f s := (e s + d s0 - (d s + e s0))%N; pose c := (d s0 - e s0)%N.
have fL s : (f s <= L)%N by rewrite /f; have := nde s0 s; lia.
have E s : (e s + c = d s + f s)%N.
  by rewrite /f /c; have := min0 s; have := min0 u1; rewrite e1; lia.
have := ok _ (orbit_of Qd); rewrite /near_all => /allP/(_ _ (moves_of_mem d fL)).
rewrite /moves_ok (settle_counts Qe E (moved_counts d fL)).
have among v w : (v <= w)%N -> v \in iota 0 w.+1 by rewrite mem_iota add0n ltnS.
move=> /allP/(_ _ (among _ _ (ltnSE (ltn_ord (d r)))))/allP/(_ _ (among _ _ (fL r))).
rewrite (nth_map 0%N) ?size_iota ?ltn_ord // nth_iota ?ltn_ord // add0n -E addnK nth_moves_of //.
by rewrite eqn0Ngt (bigD1 r) //= !eqxx /= (qR_le R) qR_mul.
Qed.

(** So a point that passes has every row of the level. *)
Theorem rows_ok_sound l : (1 < n)%N -> rows_ok n k L z x l -> proper_table point ->
  feasible_by L (qR z) l point.
Proof.
by case: l => n1 /= => [ok|ok|/andP[ok mo]|/andP[ok mo]] tp; split=> //; do ?split;
  do ?[exact: worst_sound | exact: near_sound | exact: steps_sound].
Qed.
End Soundness.

(** Rows with multipliers. The first of two lists of depths is that of the right side. *)
Definition sinks_lists n L s s' :=
  all (fun i => nth 0 s' i + head 0 s + L == nth 0 s i + head 0 s') (iota 1 n.-1).
Definition is_row_by n k L l (c : cut) := let s := candidates_of k (left_side c) in let s' :=
  candidates_of k (right_side c) in
  [&& represents n k (left_side c) s, represents n k (right_side c) s' & if of_privacy c
    then if asks_neighbors l then near_lists L s' s else sinks_lists n L s' s
    else asks_monotone l && favors_lists s' s].

(** The least cost of a count vector. *)
Definition least k (cost : seq nat * nat -> Q) (m : seq nat) : Q :=
  foldr (fun v a => if nth 0 m v == 0 then a else qmin (cost (m, v)) a) (cost (m, 0)) (iota 1 k).

Section Lower.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k L : nat) (z : Q) (l : level) (t : table R n k).
Hypothesis n0 : (0 < n)%N.
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Implicit Types (d e : depths) (r : 'I_n) (cost : seq nat * nat -> Q).

Lemma permuteE (p : 'S_n) d s : permuted p d s = d (p s). Proof. by rewrite ffunE. Qed.

Lemma sinks_listsP a b s s' : represents n k a s -> represents n k b s' -> sinks_lists n L s s' ->
  sinks_by L (Ordinal n0) (vector_of n k s) (vector_of n k s').
Proof.
move=> /and5P[/eqP sa ka _ _ _] /and5P[/eqP sb kb _ _ _] /allP ok i i0;
  rewrite !vector_ofE // !nth0.
have /ok/eqP : val i \in iota 1 n.-1; last by [].
rewrite mem_iota add1n prednK // ltn_ord andbT lt0n; apply: contraNneq i0 => E; exact/eqP/val_inj.
Qed.

Lemma is_row_by_holds c : feasible_by L (qR z) l t -> is_row_by n k L l c -> holds z t c.
Proof.
move=> ft /and3P[Ha Hb row]; apply: (holds_of (n0 := n0) Ha Hb) => p.
set d := vector_of _ _ _; set e := vector_of _ _ _.
have [Qd Qe] : in_lattice (permuted p d) /\ in_lattice (permuted p e).
  by rewrite !permuted_in_lattice (vector_of_lattice n0 Ha) (vector_of_lattice n0 Hb).
case: ifP row => kind.
  have W := (feasible_paper ft).2.
  case: ifP => asked ok.
    have N : neighbor_rows_by L (qR z) t by case: l ft asked => // -[_] => // -[].
    by apply: N => // s s'; rewrite !permuteE; exact: (near_listsP Hb Ha ok).
  apply: W => // s sr; rewrite !permuteE permKV; apply: (sinks_listsP Hb Ha ok).
  by apply: contraNneq sr => <-; rewrite permK.
move=> /andP[asked ok].
have rows : monotone_rows t by case: l ft asked => // -[_ []].
by rewrite mul1r; apply: rows => //; apply: favors_permute; exact: (favors_listsP n0 Hb Ha ok).
Qed.

Lemma least_cost_le cost d r : in_lattice d ->
  qR (least k cost (counts d)) <= qR (cost (class_of d r)).
Proof.
move=> Qd; rewrite /least /class_of;
  suff H s : let a := foldr (fun v a => if nth 0%N (counts d) v == 0%N then a
    else qmin (cost (counts d, v)) a) (cost (counts d, 0%N)) s in
  qR a <= qR (cost (counts d, 0%N)) /\ forall v, v \in s -> nth 0%N (counts d) v != 0%N ->
    qR a <= qR (cost (counts d, v)).
  have [h1 h2] := H (iota 1 k); case E: (val (d r)) => [|v] //; rewrite -E; apply: h2.
    by rewrite mem_iota /= add1n E /= -E ltn_ord.
  by rewrite nth_counts -lt0n cnt_pos.
elim: s => [|w s [h1 h2]] /=; first by split.
split=> [|v]; first by case: ifP => // _; rewrite qR_min le_minl h1 orbT.
rewrite inE => /orP[/eqP->|vs] nz; first by rewrite (negbTE nz) qR_min le_minl lexx.
by case: ifP => // _; [|rewrite qR_min le_minl]; rewrite (h2 v vs nz) ?orbT.
Qed.

(** Weak duality: what is left of the costs, after rows were taken off with multipliers, bounds
    every table. *)
Theorem lower_by_sound cs cost : feasible_by L (qR z) l t -> all (is_row_by n k L l) cs ->
  all (fun c => qle q0 (multiplier c)) cs ->
  qR (over_orbits n k (least k (changed n z cost cs))) <= \sum_(d
    | in_lattice d) \sum_r qR (cost (class_of d r)) * t d r.
Proof.
move=> ft rows mus; have H := changed_le_of n0 (fun c => @is_row_by_holds c ft) cost rows mus.
apply: le_trans H; rewrite over_orbitsE; apply: ler_sum => d Qd; have [x0 x1] := ft.1 d Qd.
rewrite -[X in X <= _]mulr1 -x1 mulr_sumr; apply: ler_sum => r _.
by rewrite ler_wpmul2r // least_cost_le.
Qed.
End Lower.
