(** The mean of a step function over a uniform number, as a finite sum: no integral of real
    analysis is needed. And whole parts in an archimedean field. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Area.
Variable R : realFieldType.
Implicit Types (f g : R -> R) (b lo mid hi u v : R) (bs cs : seq R).

(** The area below f from lo to hi, where f does not change between neighboring points of bs: each
    piece's length times the value at its left end. *)
Fixpoint area bs f lo hi : R := if bs is b :: bs' then
    if lo < b < hi then area bs' f lo b + area bs' f b hi else area bs' f lo hi
  else (hi - lo) * f lo.
Definition constant_between bs f lo hi := forall u v, lo <= u < hi -> lo <= v < hi ->
  (forall b, b \in bs -> (b <= u) = (b <= v)) -> f u = f v.

Lemma constant_cons b bs f lo hi lo' hi' :
  constant_between (b :: bs) f lo hi -> lo <= lo' -> hi' <= hi ->
  ~~ (lo' < b < hi') -> constant_between bs f lo' hi'.
Proof.
move=> K l h out u v /andP[lu uh] /andP[lv vh] same.
apply: K => [||c]; rewrite ?(le_trans l) ?(lt_le_trans _ h) //.
rewrite inE => /orP[/eqP -> {c}|/same //]; move: out; rewrite negb_and -!leNgt => /orP[le|le].
  by rewrite (le_trans le lu) (le_trans le lv).
by rewrite !leNgt (lt_le_trans uh le) (lt_le_trans vh le).
Qed.
Lemma constant_within bs f lo hi lo' hi' : constant_between bs f lo hi -> lo <= lo' -> hi' <= hi ->
  constant_between bs f lo' hi'.
Proof.
by move=> K l h u v /andP[lu uh] /andP[lv vh]; apply: K; rewrite ?(le_trans l) ?(lt_le_trans _ h).
Qed.
Lemma constant_more bs cs f lo hi :
  constant_between bs f lo hi -> {subset bs <= cs} -> constant_between cs f lo hi.
Proof. by move=> K sub u v hu hv same; apply: K => // b /sub; exact: same. Qed.

Lemma area_split bs f lo mid hi : lo <= mid <= hi -> constant_between bs f lo hi ->
  area bs f lo hi = area bs f lo mid + area bs f mid hi.
Proof.
elim: bs lo mid hi => [|b bs IH] lo mid hi /andP[lm mh] K /=.
  move: mh; rewrite le_eqVlt => /orP[/eqP ->|mh]; first by rewrite subrr mul0r addr0.
  have -> : f mid = f lo by apply: K; rewrite ?lm ?lexx ?(le_lt_trans lm mh).
  by ring.
case: (boolP (lo < b < hi)) => [/andP[lb bh]|out]; last first.
  have -> : (lo < b < mid) = false.
    by apply: contraNF out => /andP[-> bm]; rewrite (lt_le_trans bm mh).
  have -> : (mid < b < hi) = false.
    by apply: contraNF out => /andP[mb ->]; rewrite (le_lt_trans lm mb).
  by apply: IH; rewrite ?lm //; apply: (constant_cons K).
have K1 : constant_between bs f lo b by apply: constant_cons K _ (ltW bh) _; rewrite ?ltxx ?andbF.
have K2 : constant_between bs f b hi by apply: constant_cons K (ltW lb) _ _; rewrite ?ltxx.
case: (ltgtP mid b) => [mb|bm|->].
- by rewrite lb bh /= (IH lo mid b) ?addrA ?lm ?ltW.
- by rewrite lb bh /= (IH b mid hi) ?addrA ?mh ?ltW.
by rewrite ?andbF.
Qed.

Lemma area_constant bs f lo hi :
  constant_between [::] f lo hi -> lo <= hi -> area bs f lo hi = (hi - lo) * f lo.
Proof.
move=> K le; elim: bs lo hi K le => [//|b bs IH] lo hi K le /=.
case: ifP => [/andP[lb bh]|_]; last exact: IH.
rewrite !IH ?(ltW lb) ?(ltW bh) //;
  [|exact: constant_within K (ltW lb) _ | exact: constant_within K _ (ltW bh)].
have -> : f b = f lo by apply: K; rewrite ?lexx ?bh ?(ltW lb) ?(lt_trans lb bh).
by ring.
Qed.

(** It does not depend on the points. *)
Lemma area_any bs cs f lo hi : lo <= hi ->
  constant_between bs f lo hi -> constant_between cs f lo hi -> area bs f lo hi = area cs f lo hi.
Proof.
elim: bs lo hi => [|b bs IH] lo hi le K K' /=; first by rewrite area_constant.
case: (boolP (lo < b < hi)) => [/andP[lb bh]|out]; last first.
  by apply: IH => //; apply: (constant_cons K).
rewrite (@area_split cs f lo b hi) ?ltW //.
rewrite (IH lo b (ltW lb)) ?(IH b hi (ltW bh)) //.
- by apply: (constant_cons K); rewrite ?ltxx ?(ltW lb).
- exact: constant_within K' (ltW lb) _.
- by apply: (constant_cons K); rewrite ?ltxx ?andbF ?(ltW bh).
exact: constant_within K' _ (ltW bh).
Qed.

Lemma area_le bs f g lo hi : lo <= hi -> (forall u, lo <= u < hi -> f u <= g u) ->
  area bs f lo hi <= area bs g lo hi.
Proof.
elim: bs lo hi => [|b bs IH] lo hi le fg /=.
  move: le; rewrite le_eqVlt => /orP[/eqP ->|lt]; first by rewrite subrr !mul0r.
  by rewrite ler_wpmul2l ?subr_ge0 ?(ltW lt) // fg // lexx.
case: ifP => [/andP[lb bh]|_]; last exact: IH.
apply: ler_add; apply: IH; rewrite ?ltW // => u /andP[l h]; apply: fg.
  by rewrite l (lt_trans h bh).
by rewrite (le_trans (ltW lb) l).
Qed.
Lemma area_eq bs f g lo hi : f =1 g -> area bs f lo hi = area bs g lo hi.
Proof. by move=> E; elim: bs lo hi => [|b bs IH] lo hi /=; rewrite ?E // !IH. Qed.
Lemma areaZ bs c f lo hi : area bs (fun u => c * f u) lo hi = c * area bs f lo hi.
Proof. by elim: bs lo hi => [|b bs IH] lo hi /=; rewrite 1?mulrCA // !IH -mulrDr; case: ifP. Qed.
Lemma area_sum bs n (F : 'I_n -> R -> R) lo hi :
  \sum_r area bs (F r) lo hi = area bs (fun u => \sum_r F r u) lo hi.
Proof.
elim: bs lo hi => [|b bs IH] lo hi /=; first by rewrite mulr_sumr.
by case: ifP => _; rewrite -!IH // big_split.
Qed.
Lemma area_shift bs f c lo hi :
  area [seq b + c | b <- bs] f (lo + c) (hi + c) = area bs (fun u => f (u + c)) lo hi.
Proof.
elim: bs lo hi => [|b bs IH] lo hi /=; first by rewrite opprD addrACA subrr addr0.
by rewrite !ltr_add2r !IH.
Qed.


Lemma constant_shift bs f a lo hi : constant_between bs f (lo + a) (hi + a) ->
  constant_between [seq b - a | b <- bs] (fun u => f (u + a)) lo hi.
Proof.
move=> K u v hu hv same; apply: K; rewrite ?ler_add2r ?ltr_add2r // => b bs_b.
by rewrite -!ler_subl_addr; apply: same; exact: map_f.
Qed.

(** From y to y + 1 the area is that from 0 to 1, if f repeats itself after 1. *)
Lemma area_turn bs cs f y : 0 <= y <= 1 -> (forall u, f (u + 1) = f u) ->
  constant_between bs f 0 2%:R -> constant_between cs (fun u => f (u + y)) 0 1 ->
  area cs (fun u => f (u + y)) 0 1 = area bs f 0 1.
Proof.
move=> /andP[y0 y1] per K K'; have le2 : 1 + y <= 2%:R by rewrite -[2%:R]/(1 + 1) ler_add2l.
have back a : [seq b + a | b <- [seq b - a | b <- bs]] = bs.
  by rewrite -map_comp -[RHS]map_id; apply: eq_map => b /=; rewrite subrK.
have Ky : constant_between bs f (0 + y) (1 + y) by apply: constant_within K _ _; rewrite ?add0r.
rewrite (area_any ler01 K' (constant_shift Ky)) -area_shift back add0r.
rewrite add0r in Ky; rewrite (@area_split bs f y 1 (1 + y)) ?y1 ?ler_addl //.
have K1 : constant_between bs f (0 + 1) (y + 1).
  by apply: constant_within K _ _; rewrite ?add0r ?ler01 // addrC.
have -> : area bs f 1 (1 + y) = area bs f 0 y.
  rewrite -{1}[1]add0r [1 + y]addrC -{1}(back 1) area_shift (area_eq _ _ _ per).
  apply: area_any => //; last by apply: constant_within K _ _; rewrite ?(le_trans y1) ?ler1n.
  by move=> u v hu hv same; rewrite -(per u) -(per v); exact: (constant_shift K1).
rewrite addrC -area_split ?y0 //; apply: constant_within K _ _; by rewrite ?ler1n.
Qed.
End Area.

(** Whole parts. *)
Section Floor.
Variable R : archiFieldType.
Implicit Types (x y : R) (m : int).

Lemma whole_part_exists x : exists m : int, (m%:~R <= x) && (x < (m + 1)%:~R).
Proof.
pose b := Num.bound `|x|; have : `|x| < b%:R := archi_boundP (normr_ge0 x).
rewrite ltr_norml => /andP[lo hi]; pose P i := (i%:R - b%:R <= x : bool).
have P0 : exists i, P i by exists 0%N; rewrite /P sub0r ltW.
have Pb i : P i -> (i <= b + b)%N.
  by rewrite /P ler_subl_addr => le; rewrite -(ler_nat R) natrD (le_trans le) // ler_add2r ltW.
case: (ex_maxnP P0 Pb) => i Pi max; exists (i%:Z - b%:Z).
have E (j : nat) : (j%:Z - b%:Z)%:~R = j%:R - b%:R :> R by rewrite mulrzBr -!pmulrn.
have -> : i%:Z - b%:Z + 1 = i.+1%:Z - b%:Z by lia.
by rewrite !E [X in X && _]Pi /= ltNge; apply/negP => /max; rewrite ltnn.
Qed.
Definition whole_part x : int := xchoose (whole_part_exists x).
Lemma whole_part_bounds x : (whole_part x)%:~R <= x < (whole_part x + 1)%:~R.
Proof. exact: (xchooseP (whole_part_exists x)). Qed.
Lemma whole_part_eq x m : m%:~R <= x < (m + 1)%:~R -> whole_part x = m.
Proof.
case/andP=> a b; have /andP[c d] := whole_part_bounds x; apply/eqP; rewrite eq_le.
by rewrite -!ltz_addr1 -!(ltr_int R) (le_lt_trans c b) (le_lt_trans a d).
Qed.
Lemma whole_part_add x m : whole_part (x + m%:~R) = whole_part x + m.
Proof.
by apply: whole_part_eq; rewrite addrAC !rmorphD /= ler_add2r ltr_add2r -rmorphD /=
  whole_part_bounds.
Qed.
Lemma whole_part_le x y : x <= y -> whole_part x <= whole_part y.
Proof.
move=> le; have /andP[a _] := whole_part_bounds x; have /andP[_ b] := whole_part_bounds y.
by rewrite -ltz_addr1 -(ltr_int R) (le_lt_trans (le_trans a le) b).
Qed.
End Floor.
