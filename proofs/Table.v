(** Section table: the least loss of all (epsilon, delta)-private tables of finitely many inputs and
    outputs. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Numbers Checker Cuts Epsilon Reader Lines Certificate Witness Kept
  Finite.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** A table with its pairs of neighbors, what each outcome costs at each input, weights of the
    inputs (none: the largest
   loss counts), which outcomes an input must not have, and what the least loss is said to lie
    between. *)
Record finite_problem := FiniteProblem {
  own : private_table; charges : seq (seq Q); weighing : option (seq Q); barred : seq (seq nat);
    least_loss : Q * Q }.
(** At the inputs of a direction, outcomes and their multiplier. *)
Record event := Event { more_likely : nat; less_likely : nat; outcomes : seq nat;
  event_multiplier : Q }.

Section Problem.
Variable p : finite_problem.
Local Notation n := (size (charges p)).
Local Notation m := (outputs (own p)).
Definition charge i o : Q := nth q0 (nth [::] (charges p) i) o.
Definition allowed i o := [&& i < n, o < m & o \notin nth [::] (barred p) i].

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
Implicit Types (x : nat -> nat -> R) (zs : Q -> R).
(** x i o is the probability of outcome o at input i. *)
Definition is_table x := forall i, (i < n)%N -> \sum_(o <- iota 0 m) x i o = 1 /\
  forall o, (o < m)%N -> 0 <= x i o /\ (~~ allowed i o -> x i o = 0).
(** zs d is e^(-d epsilon) for every distance d of a pair, and no set of outcomes is too likely at
    either input. *)
Definition powers zs := each (fun a => exists2 q, at_distance (keeps (own p)) (distance a) = Some q
  &
  stands_for q (zs (distance a))) (pairs (own p)).
Definition private_on zs x := each (fun a => forall S, zs (distance a) * total_of (own p)
  (x (likelier a)) S
  <= total_of (own p) (x (against a)) S + zs (distance a) * qR (spare (own p))) (pairs (own p)).
Definition expected x i : R := \sum_(o <- iota 0 m) qR (charge i o) * x i o.
Definition mean_of (ws : seq Q) x : R :=
  (\sum_(i <- iota 0 n) qR (nth q0 ws i) * expected x i) / \sum_(i <- iota 0 n) qR (nth q0 ws i).
Definition loses_at_least (lo : R) x : Prop := if weighing p is Some ws then lo <= mean_of ws x
  else exists2 i, (i < n)%N & lo <= expected x i.
Definition loses_at_most (hi : R) x : Prop := if weighing p is Some ws then mean_of ws x <= hi
  else forall i, (i < n)%N -> expected x i <= hi.
Definition optimum_within := forall zs, powers zs ->
  (forall x, is_table x -> private_on zs x -> loses_at_least (qR (least_loss p).1) x) /\
  exists x, [/\ is_table x, private_on zs x & loses_at_most (qR (least_loss p).2) x].
End Meaning.

(** Deciding it, given weights for the bound on the largest loss, events with multipliers, and
    enclosures. *)
Section Decide.
Variables (dual : seq Q) (events : seq event) (es : seq (Q * (Q * Q))).
Definition entry_of i o : Q := (entry (own p) i o).1.
Definition directions : trie direction := foldr (fun a t => insert t [:: likelier a; against a] a)
  (Node [::]) (pairs (own p)).
Definition row_of (t : trie direction) (e : event) : option (form * Q) :=
  let: Event i j os nu := e in
  if obind (fun a => recall es (distance a)) (lookup t [:: i; j]) is Some (zl, _) then
    if [&& uniq os, all (fun o => o < m) os, i < n, j < n & qle q0 nu] then
      let znu := qmul zl nu in
      Some (flatten [seq [:: ([:: j; o], qsub q0 nu); ([:: i; o], znu)] | o <- os],
        qmul znu (spare (own p)))
    else None
  else None.
Definition weights_used : seq Q := odflt dual (weighing p).
Definition cells_at (w : Q) i : seq cell :=
  [seq Cell [:: i; o] (qn 1) (qmul w (charge i o)) | o <- iota 0 m & allowed i o].
Definition all_cells : seq (seq cell) := [seq cells_at (nth q0 weights_used i) i | i <- iota 0 n].
Definition row_fine i : bool := Qeq_bool (qsum [seq entry_of i o | o <- iota 0 m]) (qn 1) &&
  all (fun o => qle q0 (entry_of i o) && (allowed i o || Qeq_bool (entry_of i o) q0)) (iota 0 m).
Definition own_loss i : Q := qsum [seq qmul (charge i o) (entry_of i o) | o <- iota 0 m].
Definition exact := all (all (fun e => qle e.1 e.2)) (stated (own p)).

Definition decide_table : outcome unit :=
  let sum := qsum [seq nth q0 weights_used i | i <- iota 0 n] in
  let! _ := require (all (fun i => qle q0 (nth q0 weights_used i)) (iota 0 n) && ~~ qle sum q0)
    "weight" in
  let! _ := require [&& all row_fine (iota 0 n), not_negative (own p) & exact] "input" in
  let rows := let t := directions in [seq row_of t e | e <- events] in
  let! _ := require (all isSome rows) "multiplier" in
  let of_all A (f : form * Q -> A) := [seq f (odflt ([::], q0) r) | r <- rows] in
  let cs := all_cells in
  let lo := qmax (dual_bound cs (flatten (of_all _ fst)) (qsum (of_all _ snd)))
    (dual_bound cs [::] q0) in
  let! _ := require (qle (least_loss p).1 (qdiv lo sum)) "claim optimum: the lower end" in
  let! _ := all_kept (own p) es (pairs (own p)) in
  let high h := qle h (least_loss p).2 in
  require (if weighing p is Some ws then high
    (qdiv (qsum [seq qmul (nth q0 ws i) (own_loss i) | i <- iota 0 n]) sum)
    else all (fun i => high (own_loss i)) (iota 0 n)) "claim optimum: the upper end".

Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).

Lemma each_lookup (P : direction -> Prop) i j a : each P (pairs (own p)) ->
  lookup directions [:: i; j] = Some a ->
  [/\ P a, likelier a = i & against a = j].
Proof.
rewrite /directions; elim: (pairs (own p)) => [_|b ps IH [Pb Ps]]; first by rewrite lookup_empty.
rewrite -[foldr _ _ _]/(insert (foldr (fun a t => insert t [:: likelier a; against a] a) (Node [::])
  ps) [:: likelier b; against b] b).
by rewrite lookup_insert //; case: eqP => [[<- <-] [<-]|_ /(IH Ps)].
Qed.

Section Bound.
Variables (zs : Q -> R) (x : nat -> nat -> R).
Hypotheses (zsE : powers zs) (tx : is_table x) (px : private_on zs x).
Hypothesis known : sure R (keeps (own p)) es.
Definition variable (k : seq nat) : R := if k is [:: i; o] then if allowed i o then x i o else
  0 else 0.

Lemma variableE i o : (i < n)%N -> (o < m)%N -> variable [:: i; o] = x i o.
Proof. by move=> /tx[_ H] /H[_ off]; rewrite /=; case: ifP => // /negbT/off ->. Qed.

Lemma row_ofE e f price : row_of directions e = Some (f, price) ->
  value_at variable f <= qR price /\ all (fun q => size q.1 == 2)%N f.
Proof.
case: e => i j os nu; rewrite /row_of; case L: (lookup directions [:: i; j]) => [a|] //=;
  case E: (recall es (distance a)) => [[zl zu]|] //.
case: ifP => // /and5P[un /allP small i_n j_n nu0] [<- <-]; split; last by elim: (os) => //= ? ? ->.
have [[q Eq zq] _ _] := each_lookup zsE L; have [row Ei Ej] := each_lookup px L; rewrite Ei Ej in
  row.
have [zl0 /andP[low _]] := known E Eq zq; move: (zs _) row low {Eq zq} => z row low.
have T i' : (i' < n)%N -> total_of (own p) (x i') (mem os) = \sum_(o <- os) variable [:: i'; o].
  move=> lt; rewrite /total_of -big_filter (eq_big_seq (fun o => variable [:: i'; o])) => [|o].
    apply: perm_big; apply: uniq_perm => //; first by rewrite filter_uniq ?iota_uniq.
    by move=> o; rewrite mem_filter mem_iota /= add0n; case: (boolP (o \in os)) => // /small ->.
  by rewrite mem_filter mem_iota add0n => /andP[_ /andP[_ om]]; rewrite variableE.
rewrite [value_at _ _](_ : _ = qR nu * (qR zl * total_of (own p) (x i) (mem os) - total_of (own p)
  (x j) (mem os))); last first.
  rewrite !T // /value_at big_flatten big_map mulr_sumr -sumrB mulr_sumr; apply: eq_bigr => o _.
  by rewrite big_cons big_seq1 /= qR_sub qR0 sub0r qR_mul mulrBr addrC mulNr [qR zl * _]mulrC mulrA.
have {}row := row (mem os); rewrite [qR (qmul _ _)](_ : _ = qR nu * (qR zl * qR (spare (own p))));
  last first.
  by rewrite 2!qR_mul [qR zl * _]mulrC mulrA.
have nu_ge0 : 0 <= qR nu by rewrite -(qR0 R) -qR_le.
rewrite ler_wpmul2l // ler_subl_addl -ler_subl_addr -mulrBr.
have [D0|/ltW D0] := lerP 0 (total_of (own p) (x i) (mem os) - qR (spare (own p))).
  by apply: le_trans (ler_wpmul2r D0 low) _; rewrite mulrBr ler_subl_addr.
apply: le_trans (mulr_ge0_le0 zl0 D0) _; rewrite T // big_seq; apply: sumr_ge0 => o /small om.
by rewrite variableE //; have [_ /(_ o om)[]] := tx j_n.
Qed.

Lemma rows_le : all isSome [seq row_of directions e | e <- events] ->
  let of_all A (f : form * Q -> A) := [seq f (odflt ([::], q0) r) | r <-
    [seq row_of directions e | e <- events]] in
  value_at variable (flatten (of_all _ fst)) <= qR (qsum (of_all _ snd)) /\
  all (fun q => size q.1 == 2)%N (flatten (of_all _ fst)).
Proof.
rewrite /= -!map_comp qR_sum; elim: events => [|e evs IH]; first by rewrite /value_at !big_nil.
rewrite [map _ _]/= [all isSome _]/=; case/andP; case E: (row_of directions e) =>
  [[f price]|] // _ /IH[le ok].
have [le1 ok1] := row_ofE E; rewrite big_cons /= E /= all_cat ok1 ok; split=> //.
by rewrite /value_at big_cat ler_add.
Qed.

Lemma cells_sum (F : nat -> R) i : (i < n)%N ->
  \sum_(o <- iota 0 m | allowed i o) F o * variable [:: i; o] = \sum_(o <- iota 0 m) F o * x i o.
Proof.
move=> /tx[_ H]; rewrite [RHS](bigID (allowed i)) /= [X in _ = _ + X]big1_seq ?addr0 =>
  [|o /andP[no]].
  by apply: eq_bigr => o ok; rewrite ok.
by rewrite mem_iota add0n => /andP[_ /H[_ ->]]; rewrite ?mulr0.
Qed.

Lemma names_cells : names all_cells = [seq [:: i; o] | i <- iota 0 n, o <-
  [seq o <- iota 0 m | allowed i o]].
Proof. by rewrite /names map_flatten -map_comp; congr flatten; apply: eq_map => i;
  rewrite /= -map_comp. Qed.

Lemma bound_le f price : value_at variable f <= qR price -> all (fun q => size q.1 == 2)%N f ->
  qR (dual_bound all_cells f price) <= \sum_(i <- iota 0 n) qR (nth q0 weights_used i) * expected x
    i.
Proof.
move=> le sf; apply: le_trans (dual_bound_le (x := variable) (len := 2) _ _ _ sf _ le) _.
- rewrite all_map; apply/allP => i; rewrite mem_iota add0n => /andP[_ lt] /=; have [s1 H] := tx lt.
  rewrite /distribution all_map; apply/andP; split.
    apply/allP => o; rewrite mem_filter mem_iota add0n => /andP[ok /andP[_ om]] /=.
    by rewrite (qRn _ 1) ltr01 ok; have [] := H o om.
  apply/eqP; rewrite -[RHS]s1 big_map big_filter; transitivity (\sum_(o <- iota 0 m) 1 * x i o).
    rewrite -(cells_sum (fun=> 1) lt); by apply: eq_bigr => o _; rewrite (qRn _ 1).
  by apply: eq_bigr => o _; rewrite mul1r.
- rewrite names_cells; apply: allpairs_uniq_dep => [|i _|]; rewrite ?filter_uniq ?iota_uniq //.
  by case=> i o [i' o'] _ _ /= [-> ->].
- by rewrite names_cells; apply/allP => a /allpairsPdep[i [o [_ _ ->]]].
- move=> [|i [|o [|? ?]]] //; rewrite names_cells /=; case: ifP => // ok /negP[];
  apply/allpairsPdep.
  by exists i, o; case/and3P: (ok) => *; rewrite mem_filter !mem_iota ok.
rewrite big_map le_eqVlt big_seq [X in _ == X]big_seq; apply/orP; left; apply/eqP/eq_bigr => i.
rewrite mem_iota add0n => /andP[_ lt]; rewrite big_map big_filter mulr_sumr.
rewrite (eq_bigr (fun o => (qR (nth q0 weights_used i) * qR (charge i o)) * variable [:: i; o])) =>
  [|o _]; last by rewrite qR_mul.
by rewrite cells_sum //; apply: eq_bigr => o _; rewrite mulrA.
Qed.

Lemma least_le lo : (forall i, (i < n)%N -> 0 <= qR (nth q0 weights_used i)) ->
  0 < \sum_(i <- iota 0 n) qR (nth q0 weights_used i) -> lo <= mean_of weights_used x ->
    loses_at_least lo x.
Proof.
rewrite /loses_at_least /weights_used => w0 pos; case: (weighing p) w0 pos => //= w0 pos le.
have n0 : (0 < n)%N by case: n pos => //; rewrite big_nil ltxx.
have [i _ most] := @arg_maxP _ _ _ (Ordinal n0) xpredT (fun i : 'I_n => expected x i) isT.
exists (val i); first exact: ltn_ord.
apply: le_trans le _; rewrite ler_pdivr_mulr // mulr_sumr big_seq [X in _ <= X]big_seq.
apply: ler_sum => j; rewrite mem_iota add0n => /andP[_ lt]; rewrite mulrC ler_wpmul2r ?w0 //.
exact: (most (Ordinal lt)).
Qed.
End Bound.

Lemma own_is_table : all row_fine (iota 0 n) -> is_table (fun i o => qR (entry_of i o)).
Proof.
move=> /allP ok i lt; have /andP[/Qeq_bool_iff/(qR_eq R) + /allP H] :=
  ok i ltac:(by rewrite mem_iota lt).
rewrite qR_sum (qRn _ 1) => s1; split=> // o om; have /andP[+ off] :=
  H o ltac:(by rewrite mem_iota om).
rewrite (qR_le R) qR0 => x0; split=> // no; move: off; rewrite (negbTE no) =>
  /Qeq_bool_iff/(qR_eq R) ->.
exact: qR0.
Qed.

Lemma entry_within : exact -> forall i o, within (entry (own p) i o) (qR (entry_of i o)).
Proof.
move=> ok i o; rewrite /within /entry_of /entry lexx /=; case: (ltnP i (size (stated (own p)))) =>
  [lt|ge]; last first.
  by rewrite [nth [::] _ i]nth_default // nth_nil.
have := (all_nthP [::] ok) i lt; move: (nth [::] (stated (own p)) i) => s s1.
case: (ltnP o (size s)) => [lt'|ge]; last by rewrite nth_default.
by rewrite -qR_le; have := (all_nthP (q0, q0) s1) o lt'.
Qed.

Theorem decide_table_sound bits u : enclosures bits (keeps (own p)) (pairs (own p)) [::] = Ok es ->
  decide_table = Ok u -> optimum_within R.
Proof.
rewrite /decide_table => E H zs zsE; have known := @enclosuresE R _ _ _ _ E.
have [u1 h1 {}H] := bindE H; have [u2 h2 {}H] := bindE H; have [u3 h3 {}H] := bindE H;
  have [u4 h4 {}H] := bindE H.
have [u5 h5 {}H] := bindE H.
have /andP[/allP w0 ] := requireE h1; rewrite (qR_le R) qR0 qR_sum -ltNge => pos.
have {}w0 i : (i < n)%N -> 0 <= qR (nth q0 weights_used i).
  by move=> lt; rewrite -(qR0 R) -qR_le w0 // mem_iota.
have /and3P[ok nn exact_own] := requireE h2; have own_table := own_is_table ok.
split=> [x tx px|].
  apply: (least_le w0 pos); have := requireE h4; rewrite (qR_le R) qR_div qR_sum => le.
  apply: le_trans le _; rewrite /mean_of ler_wpmul2r ?invr_ge0 ?(ltW pos) // /qmax.
  have [value sized] := rows_le zsE tx px known (requireE h3).
  by case: ifP => _; [apply: (bound_le tx) => //; rewrite /value_at big_nil qR0 | exact:
    (bound_le tx value sized)].
exists (fun i o => qR (entry_of i o)); split=> //.
  have K := all_kept_sound nn E h5 (entry_within exact_own).
  by apply: each_mix zsE K => a [q Eq zq] H' S; exact: H' Eq zq S.
have lossE i : qR (own_loss i) = expected (fun i o => qR (entry_of i o)) i.
  by rewrite qR_sum; apply: eq_bigr => o _; rewrite qR_mul.
move: (requireE H); rewrite /loses_at_most /mean_of; case W: (weighing p) => [ws|].
  rewrite (qR_le R) qR_div !qR_sum /weights_used W /=; apply: le_trans; rewrite le_eqVlt; apply/orP;
    left; apply/eqP.
  by congr (_ / _); apply: eq_bigr => i _; rewrite qR_mul lossE.
by move=> /allP high i lt; rewrite -lossE -qR_le high // mem_iota.
Qed.
End Decide.
End Problem.

(** Reading the lines after "problem table". *)
Fixpoint rows_of_values (name : string) (left wide : nat) (l : lines_left) (rows : seq (seq Q)) :
  outcome (seq (seq Q) * lines_left) :=
  if left is left'.+1 then
    let! (f, l) := take_line name l in
    let! v := found (values f) name in
    let! _ := require (size v == wide) name in
    rows_of_values name left' wide l (v :: rows)
  else Ok (rev rows, l).
Fixpoint forbidden (n m last : Z) (l : lines_left) (bs : seq (seq nat)) : outcome
  (seq (seq nat) * lines_left) := match l with
  | (a :: f) :: l' => if same a (word "forbidden") then
      if f is [:: i; o] then
        let! i := found (whole i) "forbidden" in let! o := found (whole o) "forbidden" in
        let at_ := Z.add (Z.mul i m) o in
        let! _ := require [&& Z.ltb i n, Z.ltb o m & Z.ltb last at_] "forbidden" in
        let i := Z.to_nat i in
        forbidden n m at_ l' (set_nth [::] bs i (Z.to_nat o :: nth [::] bs i))
      else Bad "forbidden"
    else Ok (bs, l)
  | _ => Ok (bs, l) end.
(** Lists of numbers in lexicographic order. *)
Fixpoint ascends (a b : seq Z) : bool := match a, b with
  | [::], _ :: _ => true | i :: a', j :: b' => Z.ltb i j || Z.eqb i j && ascends a' b' | _, _ =>
    false end.
Fixpoint parts_of (last : seq Z) (f : seq text) : outcome (seq (Z * Z * Z) * Q) := match f with
  | [:: v] => let! x := found (short_fraction v) "multiplier" in Ok ([::], x)
  | a :: b :: c :: f' =>
    let! a := found (whole a) "multiplier" in let! b := found (whole b) "multiplier" in
    let! c := found (whole c) "multiplier" in
    let! _ := require [&& ascends last [:: a; b], Z.ltb 0 c & Z.leb c 1073741824] "multiplier" in
    let! (s, x) := parts_of [:: a; b] f' in Ok ((a, b, c) :: s, x)
  | _ => Bad "multiplier" end.
Fixpoint multiplier_lines (last : seq Z) (l : lines_left) (events : seq (seq (Z * Z * Z) * Q)) :
    outcome (seq (seq (Z * Z * Z) * Q) * lines_left) := match l with
  | (a :: f) :: l' => if same a (word "multiplier") then
      let! (s, nu) := parts_of [::] f in
      let key := flatten [seq [:: p.1.1; p.1.2; p.2] | p <- s] in
      let! _ := require [&& ~~ nilp s, ascends last key & ~~ qle nu q0] "multiplier" in
      multiplier_lines key l' ((s, nu) :: events)
    else Ok (events, l)
  | _ => Ok (events, l) end.
(** Where cells are outcomes, m at each input. *)
Definition event_of (m : Z) (e : seq (Z * Z * Z) * Q) : option event :=
  let (s, nu) := e in let first := head (Zneg xH, Zneg xH, Z0) s in
  let j := Z.div first.1.1 m in let i := Z.div first.1.2 m in
  let of_pair p := [&& Z.eqb (Z.div p.1.1 m) j, Z.eqb (Z.div p.1.2 m) i, Z.eqb p.2 1 &
    Z.eqb (Z.sub p.1.1 (Z.mul j m)) (Z.sub p.1.2 (Z.mul i m))] in
  if all of_pair s then
    Some (Event (Z.to_nat i) (Z.to_nat j) [seq Z.to_nat (Z.sub p.1.1 (Z.mul j m)) | p <- s] nu) else
      None.
Definition events_of (m : Z) (l : lines_left) : outcome (seq event * lines_left) :=
  let! (es, l) := multiplier_lines [::] l [::] in
  let os := [seq event_of m e | e <- es] in
  let! _ := require (all isSome os) "multiplier" in Ok (pmap id os, l).

(** What a file says, the weights and multipliers of its bound, and how many bits to work with. *)
Definition table_file := (finite_problem * seq Q * seq event * Z)%type.
Definition size_limit : Z := 200000.
Definition read_table (rest : seq text) : outcome table_file :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (zn, l) := take_int "inputs" l in
  let! (zm, l) := take_int "outputs" l in
  let! _ := require [&& Z.ltb 0 zn, Z.leb zn 1073741824, Z.ltb 0 zm & Z.leb zm 1073741824] "inputs"
    in
  if Z.ltb size_limit (Z.mul zn zm) then Open "so large a table" else
  let n := Z.to_nat zn in let m := Z.to_nat zm in
  let! (delta, l) := take_number "delta" l in
  let! (e, bits, o, l) := take_optimum l in
  let! (prior, l) := take_line "prior" l in
  let worst := if prior is [:: a] then same a (word "worst") else false in
  let! ws := if worst then Ok [::] else found (values prior) "prior" in
  let! _ := require (worst || (size ws == n) && all (qle q0) ws) "prior" in
  let! (costs, l) := rows_of_values "loss" n m l [::] in
  let! (bs, l) := forbidden zn zm (Zneg xH) l [::] in
  let! (ps, l) := neighborhoods zn (Zneg xH, Zneg xH) [::] l [::] in
  let! (x, l) := rows_of_values "input" n m l [::] in
  let! (dual, l) := if worst then weights zn (Zneg xH) l else Ok ([::], l) in
  let! (events, l) := events_of zm l in
  let! _ := finished rest l in
  let t := PrivateTable e delta m [seq [seq (v, v) | v <- r] | r <- x] ps in
  Ok (FiniteProblem t costs (if worst then None else Some ws) bs o,
    all_weights 0 (nseq n [::]) dual, events, Z.add bits 120).

(** A claim that would follow at the other ends of the enclosures is not decided: then more bits may
    tell. *)
Definition check_finite (f : table_file) : outcome unit :=
  let: (p, dual, events, bits) := f in
  let! es := enclosures bits (keeps (own p)) (pairs (own p)) [::] in
  match decide_table p dual events es with
  | Ok _ => Ok tt
  | Open s => Open s
  | Bad s => if decide_table p dual events [seq (e.1, (e.2.2, e.2.1)) | e <- es] is Ok _
      then Open "a bound as close as this at an irrational e^epsilon" else Bad s end.
(** Whatever a file describes, by the problem that this is. *)
Definition check_described A (problem : A -> finite_problem)
    (read : outcome (A * seq Q * seq event * Z)) : outcome A :=
  let! (a, dual, events, bits) := read in
  let! _ := check_finite (problem a, dual, events, bits) in Ok a.
Definition check_table (rest : seq text) : outcome finite_problem :=
  check_described id (read_table rest).

Lemma check_finite_sound (R : realFieldType) f u : check_finite f = Ok u ->
  optimum_within f.1.1.1 R.
Proof.
case: f => [[[p dual] events] bits] /= H; have [es E {}H] := bindE H; move: H.
case D: (decide_table p dual events es) => [v|s|s] //; last by case: (decide_table _ _ _ _).
by move=> _; exact: decide_table_sound E D.
Qed.
Lemma check_described_sound (R : realFieldType) A (problem : A -> finite_problem) read a :
  check_described problem read = Ok a -> optimum_within (problem a) R.
Proof.
move=> H; have [[[[b dual] events] bits] _ {}H] := bindE H; have [u C [<-]] := bindE H.
exact: (check_finite_sound (f := (problem b, dual, events, bits)) C).
Qed.
Theorem check_table_sound (R : realFieldType) rest p : check_table rest = Ok p ->
  optimum_within p R.
Proof. exact: check_described_sound. Qed.
