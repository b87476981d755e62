(** Section witness of probabilities that a table or a program states: at two neighboring score
    vectors, or inputs of any other kind, an event is too likely for (epsilon, delta)-DP. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Numbers Epsilon Reader Certificate Lines Json.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Fixpoint each A (P : A -> Prop) (s : seq A) : Prop := if s is a :: s' then P a /\ each P s'
  else True.
Lemma each_mix A (P P' T : A -> Prop) s : (forall a, P a -> P' a -> T a) -> each P s ->
  each P' s -> each T s.
Proof. by move=> H; elim: s => //= a s IH [Pa Ps] [Pa' Ps']; split; [exact: H | exact: IH]. Qed.

(** Score vectors, how they are neighbors, and by how much one person changes a score; or two JSON
    values that are said to be neighbors. *)
Inductive place := AtScores of text & Q & seq Q & seq Q | AtInputs of text & text.
(** An outcome, by its number, and intervals for its probabilities at the one and at the other. *)
Record stake := Stake { outcome_of : nat; likely : Q * Q; unlikely : Q * Q }.
Record witness := Witness {
  lost : parameter; away : Q; slack : Q; found_at : place; stakes : seq stake }.

Definition changes (q q' : seq Q) : seq Q := [seq qsub p.2 p.1 | p <- zip q q'].
Definition bounded (u : Q) (ds : seq Q) : bool :=
  all (fun d => qle (qsub q0 u) d && qle d u) ds.
Definition near (kind : text) (u : Q) (ds : seq Q) : option bool :=
  if same kind (word "linf") then Some (bounded u ds)
  else if same kind (word "monotonic") then
    Some (bounded u ds && (all (qle q0) ds || all (qle^~ q0) ds))
  else if same kind (word "shifted") then
    Some (all (fun d => all (fun e => qle (qsub d e) (qmul (qn 2) u)) ds) ds)
  else if same kind (word "stated") then Some true else None.
(** The two are neighbors, or said to be so, and are not equal. *)
Definition apart (p : place) : bool := match p with
  | AtScores kind u q q' => let ds := changes q q' in
    [&& size q == size q', odflt false (near kind u ds) & has (fun d => ~~ Qeq_bool d q0) ds]
  | AtInputs a b => if (json_of a, json_of b) is (Some a, Some b) then ~~ alike a b else false end.

(** By how much an outcome is too likely, and the event of all that are. *)
Definition gain (z : Q) (o : stake) : Q := qsub (qmul z (likely o).1) (unlikely o).2.
Definition gains z (s : seq stake) : seq stake := [seq o <- s | ~~ qle (gain z o) q0].
Definition too_much (d z : Q) (s : seq stake) : bool :=
  ~~ qle (qsum [seq gain z o | o <- s]) (qmul z d).
Definition shows (zl zu : Q) (w : witness) : outcome witness :=
  let! _ := require (apart (found_at w)) "no neighbors, or equal" in
  let! _ := require (all (fun o => qle q0 (unlikely o).2) (stakes w)) "pmf" in
  if qle q0 zl && too_much (slack w) zl (gains zl (stakes w)) then
    Ok (Witness (lost w) (away w) (slack w) (found_at w) (gains zl (stakes w)))
  else if too_much (slack w) zu (gains zu (stakes w)) then
    Open "a violation as slight as this at an irrational e^epsilon"
  else Bad "the property is not violated there".

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
(** Whatever the probabilities x at the one and y at the other are within the intervals, with
    z = e^(-d epsilon) the event has Pr' < z (Pr - delta). *)
Definition within_stake (x y : nat -> R) (o : stake) :=
  within (likely o) (x (outcome_of o)) /\ within (unlikely o) (y (outcome_of o)).
Definition too_likely (w : witness) := forall q (z : R) (x y : nat -> R),
  at_distance (lost w) (away w) = Some q -> stands_for q z -> each (within_stake x y) (stakes w) ->
  \sum_(o <- stakes w) y (outcome_of o) <
    z * (\sum_(o <- stakes w) x (outcome_of o) - qR (slack w)).
Definition refuted (w : witness) := apart (found_at w) /\ too_likely w.

Lemma gain_sum (s : seq stake) (x y : nat -> R) : each (within_stake x y) s ->
  \sum_(o <- s) qR (likely o).1 <= \sum_(o <- s) x (outcome_of o) /\
  \sum_(o <- s) y (outcome_of o) <= \sum_(o <- s) qR (unlikely o).2.
Proof.
elim: s => [|o s IH] /=; first by rewrite !big_nil.
by move=> [[/andP[x1 _] /andP[_ y2]] /IH[Hx Hy]]; rewrite !big_cons !ler_add.
Qed.
Theorem shows_sound zl zu w w' q :
  at_distance (lost w) (away w) = Some q ->
  (forall z : R, stands_for q z -> qR zl <= z <= qR zu) ->
  shows zl zu w = Ok w' -> refuted w'.
Proof.
rewrite /shows => Eq between H; have [u near {}H] := bindE H.
have [v pos {}H] := bindE H; move: H; case: ifP => [/andP[]|_]; last by case: ifP.
rewrite (qR_le R) qR0 /too_much (qR_le R) -ltNge qR_sum qR_mul => zl0 more [<-].
split=> [|q' z x y /=]; first exact: requireE near.
rewrite Eq => -[<-] /between/andP[low _] /gain_sum[Hx Hy]; apply: (le_lt_trans Hy).
have {}pos : 0 <= \sum_(o <- gains zl (stakes w)) qR (unlikely o).2.
  rewrite /gains big_filter; elim: (stakes w) (requireE pos) => [|o s IH]; first by rewrite big_nil.
  by rewrite big_cons => /andP[o0 /IH rest]; case: ifP => // _; rewrite addr_ge0 // -(qR0 R) -qR_le.
move: (gains _ _) more Hx pos => s more Hx pos; move: more.
rewrite (eq_bigr (fun o => qR zl * qR (likely o).1 - qR (unlikely o).2)) => [|o _];
  last by rewrite qR_sub qR_mul.
rewrite sumrB -mulr_sumr ltr_subr_addl -ltr_subr_addr -mulrBr => more.
apply: (lt_le_trans more); have gap : 0 < \sum_(o <- s) qR (likely o).1 - qR (slack w).
  by rewrite ltNge; apply/negP => le; have := le_lt_trans pos more; rewrite ltNge mulr_ge0_le0.
by apply: ler_pmul => //; [exact: ltW | rewrite ler_add2r].
Qed.

(** So no private mechanism has such probabilities at such scores, of single candidates or of sets
    of them. *)
Definition in_units n (u : Q) (q : seq Q) : score R n := [ffun s : 'I_n => qR (nth q0 q s) / qR u].
Definition linf (kind : text) := same kind (word "linf") || same kind (word "monotonic").
Lemma near_in_units n kind u q q' : linf kind -> apart (AtScores kind u q q') -> size q = n ->
  0 < qR u -> neighbors (in_units n u q) (in_units n u q').
Proof.
move=> kinds /and3P[/eqP sizes ok _] sq u0 s; rewrite !ffunE -mulrBl normrM [`|_^-1|]ger0_norm.
  2: by rewrite invr_ge0 ltW.
rewrite ler_pdivr_mulr // mul1r.
have {ok} /(all_nthP q0)/(_ s) : bounded u (changes q q').
  by move: kinds ok; rewrite /linf /near; case: (same kind _) => //= ->; case/andP.
have lt : (s < minn (size q) (size q'))%N by rewrite -sizes minnn sq.
rewrite size_map size_zip (nth_map (q0, q0)) ?size_zip // nth_zip //= => /(_ lt).
by rewrite !(qR_le R) !qR_sub qR0 sub0r distrC ler_norml.
Qed.
Corollary witness_refutes n w kind u q q' (z : R) (M : mechanism R R n) (S : nat -> {set 'I_n}) :
  refuted w -> found_at w = AtScores kind u q q' -> linf kind -> size q = n -> 0 < qR u ->
  qR (slack w) = 0 -> away w = qn 1 -> stands_for (lost w) z ->
  let chances s o := \sum_(r in S o) M (in_units n u s) r in
  each (within_stake (chances q) (chances q')) (stakes w) -> ~ private z M.
Proof.
move=> [near too] place kinds sq u0 d0 one zp chances inside.
rewrite place in near; have nb := near_in_units kinds near sq u0; move=> /(_ _ _ nb) kept.
have := too (lost w) z _ _ _ zp inside; rewrite one d0 subr0 ltNge => /(_ erefl)/negP; apply.
rewrite mulr_sumr; apply: ler_sum => o _; rewrite mulr_sumr; exact: ler_sum.
Qed.
End Meaning.

(** Reading the lines after "problem witness". *)
Definition probability (s : text) : option (Q * Q) :=
  let ends := match split_at ","%char [::] [::] s with
    | [:: a] => omap (fun x => (x, x)) (claimed a)
    | [:: a; b] => if claimed a is Some x then omap (fun y => (x, y)) (claimed b) else None
    | _ => None end in
  if ends is Some (lo, hi) then if [&& qle q0 lo, qle lo hi & qle lo (qn 1)] then ends else None
    else None.
Definition take_number (name : string) (l : lines_left) : outcome (Q * lines_left) :=
  let! (a, l) := take_one name l in let! x := found (short_fraction a) name in
  let! _ := require (qle q0 x) name in Ok (x, l).
Definition take_values name (l : lines_left) : outcome (seq Q * lines_left) :=
  let! (f, l) := take_line name l in let! x := found (values f) name in Ok (x, l).

(** The rest of a line as it stands. *)
Definition take_text name (l : lines_left) : outcome (text * lines_left) :=
  let! (f, l) := take_line name l in
  if f is [::] then Bad name else Ok (behead (flatten [seq " "%char :: a | a <- f]), l).
(** A row of probabilities, some of which may not be known. *)
Definition take_row name (whole_row : bool) (count : nat) (l : lines_left) :
    outcome (seq (option (Q * Q)) * lines_left) :=
  let! (f, l) := take_line name l in
  let known := [seq a <- f | ~~ same a (word "-")] in
  let row := [seq probability a | a <- f] in
  let total side := qsum (pmap (omap side) row) in
  let! _ := require [&& size f == count, all (fun a => isSome (probability a)) known,
    qle (total fst) (qn 1) &
    [|| ~~ whole_row, size known < size f | qle (qn 1) (total snd)]] name in
  Ok (row, l).
(** The outcomes that count, of which both probabilities must be known: an event, one candidate, or
    where delta > 0 all candidates. *)
Definition take_stakes (most : nat) (only : option nat) (whole_row : bool) (l : lines_left) :
    outcome (seq stake * lines_left) :=
  let! (row, l) := take_row "pmf" whole_row most l in
  let! (row', l) := take_row "neighbor-pmf" whole_row most l in
  let counts o := if only is Some r then r == o else true in
  let all_there := [seq t <- zip (iota 0 most) (zip row row') | counts t.1] in
  let stake_of t := if t.2 is (Some p, Some p') then Some (Stake t.1 p p') else None in
  let! _ := require (all (fun t => isSome (stake_of t)) all_there) "pmf" in
  Ok (pmap stake_of all_there, l).

(** Neighbors, the distance at which they are, and before the second what is exceeded. *)
Definition take_place A (take_limit : lines_left -> outcome (A * lines_left)) (l : lines_left) :
    outcome (place * Q * A * lines_left) :=
  if take_text "input" l is Ok (a, l) then
    let! (b, l) := take_text "neighbor-input" l in
    let! (d, l) := take_number "distance" l in
    let! _ := require (~~ qle d q0) "distance" in
    let! (limit, l) := take_limit l in Ok (AtInputs a b, d, limit, l)
  else
    let! (scale, l) := take_number "scale" l in
    let! _ := require (~~ qle scale q0) "scale" in
    let! (q, l) := take_values "scores" l in
    let! (kind, l) := take_one "neighbors" l in
    let! (unit, l) := take_number "sensitivity" l in
    let! (limit, l) := take_limit l in
    let! (q', l) := take_values "neighbor" l in
    Ok (AtScores kind unit q q', qn 1, limit, l).
Definition witness_head (property : string) (rest : seq text) : outcome (parameter * lines_left) :=
  let! (_, l) := take_one "problem" [seq fields a | a <- rest] in
  let! (a, l) := take_one "property" l in
  let! (mechanism, l) := take_text "mechanism" l in
  if ~~ (same a (word property) && same mechanism (word "table")) then
    Open "a witness of another kind" else take_parameter l.
Definition read_witness (rest : seq text) : outcome witness :=
  let! (e, l) := witness_head "dp" rest in
  let! (p, d, delta, l) := take_place (take_number "delta") l in
  let done (s_l : seq stake * lines_left) := let! _ := finished rest s_l.2 in
    Ok (Witness e d delta p s_l.1) in
  if take_text "event" l is Ok (name, l) then
    let! _ := require (0 < size name) "event" in
    let! s := take_stakes 1 None false l in done s
  else if p is AtScores _ _ q _ then
    if qle delta q0 then
      let! (r, l) := take_int "candidate" l in
      let! _ := require (Z.ltb r (Z.of_nat (size q))) "candidate" in
      let! s := take_stakes (size q) (Some (Z.to_nat r)) true l in done s
    else let! s := take_stakes (size q) None true l in done s
  else Bad "event".

Definition check_witness (rest : seq text) : outcome witness :=
  let! w := read_witness rest in
  let! q := if at_distance (lost w) (away w) is Some q then Ok q
    else Open "such a distance at a rational e^epsilon" in
  let! (zl, zu) := ends_for 1200 q in
  shows zl zu w.

Theorem check_witness_sound (R : realFieldType) rest w : check_witness rest = Ok w -> refuted R w.
Proof.
rewrite /check_witness => H; have [w' _ {}H] := bindE H; have [q E {}H] := bindE H.
have [[zl zu] ends {}H] := bindE H; case Eq: (at_distance _ _) E => [q'|] // [E].
by apply: shows_sound Eq _ H => z; rewrite E; exact: ends_forE ends.
Qed.
