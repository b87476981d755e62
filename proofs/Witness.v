(** Section witness of probabilities that a table or a program states: at two neighboring score
    vectors an event is too likely for (epsilon, delta)-DP. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Numbers Epsilon Reader Certificate Lines.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** Score vectors whose scores one person changes by at most the sensitivity; how they are
    neighbors, linf being this; and intervals for the probabilities of an event at either. *)
Record witness := Witness {
  lost : parameter; slack : Q; sensitivity : Q; relation : text; at_scores : seq Q;
    at_neighbor : seq Q;
  likely : Q * Q; unlikely : Q * Q }.

Definition changes (w : witness) : seq Q :=
  [seq qsub p.2 p.1 | p <- zip (at_scores w) (at_neighbor w)].
Definition bounded w : bool :=
  all (fun d => qle (qsub q0 (sensitivity w)) d && qle d (sensitivity w)) (changes w).
Definition related (w : witness) : outcome bool := let ds := changes w in let u := sensitivity w in
  if same (relation w) (word "linf") then Ok (bounded w)
  else if same (relation w) (word "monotonic") then
    Ok (bounded w && (all (qle q0) ds || all (qle^~ q0) ds))
  else if same (relation w) (word "shifted") then
    Ok (all (fun d => all (fun e => qle (qsub d e) (qmul (qn 2) u)) ds) ds)
  else if same (relation w) (word "stated") then Ok true else Bad "neighbors".

Definition shows (zl zu : Q) (w : witness) : outcome unit :=
  let! near := related w in
  let! _ := require near "neighbors" in
  let! _ := require (has (fun d => ~~ Qeq_bool d q0) (changes w))
    "the two score vectors are equal" in
  let! _ := require (qle q0 (slack w) && qle q0 (unlikely w).2) "pmf" in
  let more z := ~~ qle (qmul z (qsub (likely w).1 (slack w))) (unlikely w).2 in
  if qle q0 zl && more zl then Ok tt else
  if more zu then Open "a violation as slight as this at an irrational e^epsilon"
    else Bad "the property is not violated there".

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
(** Whatever the probabilities are, the first is more than e^epsilon times the second, and
    delta. *)
Definition too_likely (w : witness) := forall z x y : R, stands_for (lost w) z ->
  within (likely w) x -> within (unlikely w) y ->
  y < z * (x - qR R (slack w)).

Theorem shows_sound zl zu w u : (forall z : R, stands_for (lost w) z -> qR R zl <= z <= qR R zu) ->
  shows zl zu w = Ok u -> too_likely w.
Proof.
rewrite /shows => between H z x y /between/andP[low _] /andP[x1 _] /andP[_ y2].
have [near _ {}H] := bindE H; have [u1 _ {}H] := bindE H; have [u2 _ {}H] := bindE H;
  have [u3 pos {}H] := bindE H.
move: H; case: ifP => [|_]; last by case: ifP.
have /andP[_] := requireE pos; rewrite !(qR_le R) qR0 -ltNge qR_mul qR_sub => y0 /andP[zl0 more] _.
have gap : 0 < qR R (likely w).1 - qR R (slack w).
  rewrite ltNge; apply/negP => le; move: more; rewrite ltNge => /negP; apply.
  by apply: le_trans y0; rewrite mulr_ge0_le0.
apply: (le_lt_trans y2); apply: (lt_le_trans more); apply: ler_pmul => //; first exact: ltW.
by rewrite ler_add2r.
Qed.

(** So no private mechanism gives a set of candidates such probabilities at such scores, in units
    of the sensitivity. *)
Corollary witness_refutes n (w : witness) (z : R) (M : mechanism R R n) (S : {set 'I_n}) (q q' :
  score R n) :
  too_likely w -> qR R (slack w) = 0 -> stands_for (lost w) z -> neighbors q q' ->
  within (likely w) (\sum_(r in S) M q r) -> within (unlikely w) (\sum_(r in S) M q' r) ->
    ~ private z M.
Proof.
move=> too d0 zp nb l u /(_ q q' nb) pr; have := too z _ _ zp l u; rewrite d0 subr0 ltNge => /negP;
  apply.
by rewrite mulr_sumr; apply: ler_sum.
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
Definition take_probability name (l : lines_left) : outcome (Q * Q * lines_left) :=
  let! (a, l) := take_one name l in let! p := found (probability a) name in Ok (p, l).

Definition read_witness (rest : seq text) : outcome witness :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (property, l) := take_one "property" l in
  let! (mechanism, l) := take_line "mechanism" l in
  if ~~ (same property (word "dp") && all2 same mechanism [:: word "table"]) then
    Open "a witness of another kind" else
  let! (e, l) := take_parameter l in
  if l is (a :: _) :: _ then if same a (word "input") then Open "a witness at inputs" else
    let! (scale, l) := take_number "scale" l in
    let! _ := require (~~ qle scale q0) "scale" in
    let! (q, l) := take_values "scores" l in
    let! (kind, l) := take_one "neighbors" l in
    let! (unit, l) := take_number "sensitivity" l in
    let! (delta, l) := take_number "delta" l in
    let! (q', l) := take_values "neighbor" l in
    let! _ := require (size q == size q') "neighbor" in
    if l is (b :: event) :: l then if ~~ same b (word "event") then
      Open "a witness without an event" else
      let! _ := require (if event is [:: [::]] then false else 0 < size event) "event" in
      let! (p, l) := take_probability "pmf" l in
      let! (p', l) := take_probability "neighbor-pmf" l in
      let! _ := finished rest l in
      Ok (Witness e delta unit kind q q' p p')
    else Bad "event"
  else Bad "scale".

Definition check_witness (rest : seq text) : outcome witness :=
  let! w := read_witness rest in
  let! (zl, zu) := ends_for 1200 (lost w) in
  let! _ := shows zl zu w in Ok w.

Theorem check_witness_sound (R : realFieldType) rest w : check_witness rest = Ok w ->
  too_likely R w.
Proof.
rewrite /check_witness => H; have [w' _ {}H] := bindE H; have [[zl zu] E {}H] := bindE H.
have [u S [<-]] := bindE H; apply: shows_sound S => z; exact: ends_forE E.
Qed.
