(** Section private: probabilities that a table or a program states, at inputs of which pairs are
    neighbors, are (epsilon, delta)-private on these pairs, whatever they are within their
    intervals. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Numbers Epsilon Reader Lines Certificate Witness.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** Two inputs and the distance at which they are neighbors: at the first no set of outcomes may be
    much likelier. *)
Record direction := Direction { likelier : nat; against : nat; distance : Q }.
Record private_table := PrivateTable { keeps : parameter; spare : Q; outputs : nat;
  stated : seq (seq (Q * Q)); pairs : seq direction }.
Definition entry (t : private_table) i o : Q * Q := nth (q0, q0) (nth [::] (stated t) i) o.
(** What lies between which numbers, for every distance that there is. *)
Fixpoint recall (es : seq (Q * (Q * Q))) (d : Q) : option (Q * Q) :=
  if es is (d', e) :: es' then if same_q d' d then Some e else recall es' d else None.
Fixpoint enclosures (bits : Z) (p : parameter) (ps : seq direction) (es : seq (Q * (Q * Q)))
  : outcome (seq (Q * (Q * Q))) :=
  if ps is a :: ps' then let d := distance a in
    if recall es d is Some _ then enclosures bits p ps' es else
    let! q := if at_distance p d is Some q then Ok q
      else Open "such a distance at a rational e^epsilon" in
    let! e := ends_for bits q in
    let! _ := if qle q0 e.1 then Ok tt else Open "epsilon" in enclosures bits p ps' ((d, e) :: es)
  else Ok es.

(** Deciding it. *)
Definition excess_at (t : private_table) (z : Q) (i j : nat) : Q :=
  let row := nth [::] (stated t) i in let row' := nth [::] (stated t) j in
  let at_ := nth (q0, q0) in
  qsum [seq qmax q0 (qsub (qmul z (at_ row o).2) (at_ row' o).1) | o <- iota 0 (outputs t)].
Definition pair_kept (t : private_table) (z : Q) (i j : nat) : bool :=
  qle (excess_at t z i j) (qmul z (spare t)).
Fixpoint all_kept (t : private_table) (es : seq (Q * (Q * Q))) (ps : seq direction) : outcome
  unit := if ps is p :: ps' then
    let! (zl, zu) := found (recall es (distance p)) "pair" in
    if pair_kept t zu (likelier p) (against p) then all_kept t es ps'
    else if pair_kept t zl (likelier p) (against p) then
      Open "a bound as close as this at an irrational e^epsilon"
    else Bad "a pair"
  else Ok tt.
Definition not_negative (t : private_table) := all (all (fun i => qle q0 i.1)) (stated t).

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
Definition total_of (t : private_table) (x : nat -> R) (S : pred nat) :=
  \sum_(o <- iota 0 (outputs t) | S o) x o.
(** With z = e^(-d epsilon), z Pr[S] <= Pr'[S] + z delta for every set S of outcomes. *)
Definition kept (t : private_table) := forall x : nat -> nat ->
  R, (forall i o, within (entry t i o) (x i o)) ->
  each (fun p => forall q (z : R), at_distance (keeps t) (distance p) = Some q -> stands_for q z ->
    forall S, z * total_of t (x (likelier p)) S <= total_of t (x (against p)) S + z *
      qR (spare t)) (pairs t).

Lemma entry_ge0 t (x : nat -> nat -> R) : not_negative t ->
  (forall i o, within (entry t i o) (x i o)) -> forall i o, 0 <= x i o.
Proof.
move=> nn H i o; have /andP[le _] := H i o; apply: le_trans le; rewrite /entry.
case: (ltnP i (size (stated t))) => [lt|ge];
  last by rewrite [nth [::] _ i]nth_default // nth_nil qR0.
have := (all_nthP [::] nn) i lt; move: (nth [::] (stated t) i) => s s0.
case: (ltnP o (size s)) => [lt'|ge]; last by rewrite nth_default // qR0.
by have := (all_nthP (q0, q0) s0) o lt'; rewrite (qR_le R) qR0.
Qed.

Lemma pair_keptE t (zu : Q) (z : R) (x : nat -> nat -> R) i j S :
  (forall i o, within (entry t i o) (x i o)) ->
  (forall i o, 0 <= x i o) -> 0 <= z -> z <= qR zu -> pair_kept t zu i j ->
  z * total_of t (x i) S <= total_of t (x j) S + z * qR (spare t).
Proof.
move=> H x0 z0 zu_z; rewrite /pair_kept (qR_le R) /excess_at qR_sum qR_mul => kept_zu.
have [E|zu0] := eqVneq (qR zu) 0.
  have -> : z = 0 by apply/eqP; rewrite eq_le z0 andbT -E.
  by rewrite !mul0r addr0 sumr_ge0.
have {zu0} zu_gt0 : 0 < qR zu by rewrite lt_neqAle eq_sym zu0 (le_trans z0).
have le : qR zu * total_of t (x i) S - total_of t (x j) S <= qR zu * qR (spare t).
  apply: le_trans kept_zu; rewrite /total_of mulr_sumr -sumrB [X in X <= _]big_mkcond;
    apply: ler_sum => o _.
  have [xi xj] := (H i o, H j o); move: xi xj => /andP[_ xi] /andP[xj _].
  have m0 : 0 <= qR (qmax q0 (qsub (qmul zu (entry t i o).2) (entry t j o).1)).
    by rewrite /qmax; case: ifP; rewrite ?qR0 // (qR_le R) qR0.
  have m1 : qR (qsub (qmul zu (entry t i o).2) (entry t j o).1) <=
    qR (qmax q0 (qsub (qmul zu (entry t i o).2) (entry t j o).1)).
    by rewrite /qmax; case: ifP => // /negbT; rewrite (qR_le R) -ltNge => /ltW.
  case: ifP => // _; apply: le_trans m1; rewrite qR_sub qR_mul; apply: ler_sub => //.
  by rewrite ler_wpmul2l // ltW.
have r01 : 0 <= z / qR zu by rewrite divr_ge0 // ltW.
have r1 : z / qR zu <= 1 by rewrite ler_pdivr_mulr // mul1r.
have E a : z / qR zu * (qR zu * a) = z * a by rewrite mulrA divfK // gt_eqF.
have := ler_wpmul2l r01 le; rewrite mulrBr !E ler_subl_addr => h.
apply: (le_trans h); rewrite addrC ler_add2r ler_pimull //; exact: sumr_ge0.
Qed.

Local Opaque ends_for.
Definition sure (p : parameter) (es : seq (Q * (Q * Q))) :=
  forall d e q (z : R), recall es d = Some e ->
  at_distance p d = Some q -> stands_for q z -> 0 <= qR e.1 /\ qR e.1 <= z <= qR e.2.
Lemma enclosuresE bits p ps es : enclosures bits p ps [::] = Ok es -> sure p es.
Proof.
have: sure p [::] by [].
elim: ps [::] => [|a ps IH] es0 old /=; first by case=> <-.
case: (recall _ _) => [_|] H; first exact: (IH _ old).
have [q Eq {}H] := bindE H; have [[zl zu] E {}H] := bindE H; have [u pos {}H] := bindE H.
apply: IH H => d e q' z /=; case: ifP => [/andP[/Z.eqb_eq n1 /Pos.eqb_eq d1]|_]; last exact: old.
have <- : distance a = d by case: (distance a) d n1 d1 => [? ?] [? ?] /= -> ->.
case: (at_distance p _) Eq => // _ [->] [<-] [<-] zq; split; last exact: ends_forE E zq.
by move: pos; rewrite (qR_le R) qR0; case: ifP.
Qed.
Theorem all_kept_sound bits t es u : not_negative t ->
  enclosures bits (keeps t) (pairs t) [::] = Ok es ->
  all_kept t es (pairs t) = Ok u -> kept t.
Proof.
move=> nn /enclosuresE known ok x H; have x0 := entry_ge0 nn H;
  elim: (pairs t) ok => [|p ps IH] ok; first by [].
have [[zl zu] E {}ok] := bindE ok; move: ok; case: ifP => [k /IH rest|_]; last by case: ifP.
split=> // q z Eq zq S; case Er: (recall _ _) E => [e|] // [Ee].
have [zl0 /andP[low high]] := known (distance p) e q z Er Eq zq.
by apply: (pair_keptE S H x0 _ _ k); [exact: le_trans low | rewrite Ee in high].
Qed.
End Meaning.

(** Reading the lines after "problem private". *)
Definition probabilities (f : seq text) : option (seq (Q * Q)) :=
  let o := [seq probability a | a <- f] in
  if all isSome o then Some [seq odflt (q0, q0) a | a <- o] else None.
Fixpoint inputs (left : nat) (outputs : Z) (l : lines_left) (rows : seq (seq (Q * Q))) : outcome
  (seq (seq (Q * Q)) * lines_left) :=
  if left is left'.+1 then
    let! (name, l) := take_line "input" l in
    let! _ := require (if name is [:: [::]] then false else 0 < size name) "input" in
    let! (f, l) := take_line "pmf" l in
    let! p := found (probabilities f) "pmf" in
    let! _ := require [&& Z.eqb (Z.of_nat (size p)) outputs, qle (qsum [seq i.1 | i <- p]) (qn 1) &
      qle (qn 1) (qsum [seq i.2 | i <- p])] "pmf" in
    inputs left' outputs l (p :: rows)
  else Ok (rev rows, l).
(** The inputs of a line are after those of the line before, and no direction comes twice. *)
Fixpoint neighborhoods (n : Z) (last : Z * Z) (seen : seq (Z * Z)) (l : lines_left)
  (ps : seq direction) :
    outcome (seq direction * lines_left) := match l with
  | (a :: f) :: l' =>
    let one_way := same a (word "arrow") in
    if same a (word "pair") || one_way then if f is [:: i; j; d] then
      let! i := found (whole i) "pair" in let! j := found (whole j) "pair" in
      let! d := found (rational d) "pair" in
      let! _ := require [&& Z.ltb i n, Z.ltb j n, ~~ Z.eqb i j & qle q0 d] "pair" in
      let! _ := require (Z.ltb last.1 i || Z.eqb last.1 i && Z.ltb last.2 j)
        "pair: not after the line before" in
      let twice p := seq.has (fun q => Z.eqb q.1 p.1 && Z.eqb q.2 p.2) seen in
      let! _ := require (~~ twice (i, j) && (one_way || ~~ twice (j, i)))
        "pair: neighbors already" in
      let a := Z.to_nat i in let b := Z.to_nat j in
      let more := if one_way then [:: Direction b a d] else [:: Direction a b d;
        Direction b a d] in
      neighborhoods n (i, j) ((i, j) :: (if one_way then seen else (j, i) :: seen)) l' (more ++ ps)
      else Bad "pair"
    else Ok (ps, l)
  | _ => Ok (ps, l) end.

Definition read_private (rest : seq text) : outcome private_table :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (e, l) := take_parameter l in
  let! (delta, l) := take_number "delta" l in
  let! (n, l) := take_int "inputs" l in
  let! (m, l) := take_int "outputs" l in
  let! _ := require [&& Z.ltb 0 n, Z.leb n 1073741824, Z.ltb 0 m & Z.leb m 1073741824] "inputs" in
  if Z.ltb 200000 n || Z.ltb 200000 m then Open "so large a table" else
  let! (rows, l) := inputs (Z.to_nat n) m l [::] in
  let! (ps, l) := neighborhoods n (Zneg xH, Zneg xH) [::] l [::] in
  let! _ := require (~~ nilp ps) "pair" in
  let! _ := finished rest l in
  Ok (PrivateTable e delta (Z.to_nat m) rows ps).

Definition check_private (rest : seq text) : outcome private_table :=
  let! t := read_private rest in
  let! _ := require (not_negative t) "pmf" in
  let! es := enclosures 1200 (keeps t) (pairs t) [::] in
  let! _ := all_kept t es (pairs t) in Ok t.

Theorem check_private_sound (R : realFieldType) rest t : check_private rest = Ok t -> kept R t.
Proof.
rewrite /check_private => H; have [t' _ {}H] := bindE H; have [u nn {}H] := bindE H;
  have [es E {}H] := bindE H.
have [v ok [<-]] := bindE H; exact: all_kept_sound (requireE nn) E ok.
Qed.
