(** The verified checker: check reads a certificate's bytes and says what they prove, and
    check_sound says that it is true.
   Section program, about permute-and-flip's optimality and closed forms, and section lattice are
    decided alike. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program CountVectors Numbers Checker Cuts Rows Errors
  Epsilon Reader Lines Certificate Witness Divergence Kept Finite Table Grid Choice.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Section Body.
Variables (n k : nat) (z : Q).
Definition small_to (most : nat) (f : text) : option nat := if whole f is Some i then
  if Z.leb i (Z.of_nat most) then Some (Z.to_nat i) else None else None.
Definition small := small_to n.
Definition same_counts (m : seq nat) (f : seq text) : bool :=
  [seq small a | a <- f] == [seq Some i | i <- m].
Fixpoint duals (ms : seq (seq nat)) (l : lines_left) (t : trie Q) : outcome (trie Q * lines_left) :=
  if ms is m :: ms' then
    let! (f, l') := take_line "dual" l in
    if (size f == k.+2) && same_counts m (take k.+1 f) then
      let! v := found (short_fraction (last [::] f)) "dual" in duals ms' l' (insert t m v)
    else Bad "dual: not the next count vector"
  else Ok (t, l).
Fixpoint before (a b : seq nat) : bool := match a, b with
  | i :: a', j :: b' => (j < i) || (i == j) && before a' b' | _, _ => false end.
Definition counts_of (f : seq text) : option (seq nat) :=
  let o := [seq small a | a <- f] in
  let m := [seq odflt 0 a | a <- o] in
  if [&& all isSome o, size m == k.+1, sumn m == n & 0 < nth 0 m 0] then Some m else None.
(** What "inject" lines say: for each count vector the depths and the amounts. *)
Definition injection := (seq nat * nat * Q)%type.
Definition injection_of (f : seq text) : option injection :=
  if f is fv :: fm then
    match small_to k fv, counts_of (take k.+1 fm), short_fraction (last [::] fm) with
    | Some v, Some m, Some s =>
      if [&& size fm == k.+2, 0 < v, 0 < nth 0 m v, qle q0 s & ~~ Qeq_bool s q0] then
        Some (m, v, s) else None
    | _, _, _ => None end
  else None.
Fixpoint injections (last : option injection) (l : lines_left) (t : trie (seq (nat * Q))) :
    outcome (trie (seq (nat * Q)) * lines_left) :=
  match l with
  | (a :: f) :: l' => if same a (word "inject") then
      match injection_of f with
      | Some ((m, v, s) as i) =>
        if (if last is Some (m', v', _) then before m' m || (m' == m) && (v' < v) else true) then
          injections (Some i) l' (insert t m ((v, s) :: odflt [::] (lookup t m)))
        else Bad "inject: not after the variable of the line before"
      | None => Bad "inject" end
    else Ok (t, l)
  | _ => Ok (t, l) end.

(** What "cut" lines say. *)
Definition variable_of (f : seq text) : option (seq nat * nat) := if f is fv :: fm then
    match small_to k fv, counts_of fm with
    | Some v, Some m => if 0 < nth 0 m v then Some (m, v) else None | _, _ => None end
  else None.
Definition cut_of (f : seq text) : option cut := if f is kind :: g then
    match variable_of (take k.+2 g), variable_of (take k.+2 (drop k.+2 g)),
      short_fraction (last [::] g) with
    | Some a, Some b, Some mu =>
      if [&& size g == k.*2 + 5, same kind (word "p") || same kind (word "m"), a != b,
        qle q0 mu & ~~ Qeq_bool mu q0]
      then Some (Cut (same kind (word "p")) a b mu) else None
    | _, _, _ => None end
  else None.
Definition before_cut (a b : cut) : bool :=
  let then_by (first tie next : bool) := first || tie && next in
  let variable (p q : seq nat * nat) := then_by (before p.1 q.1) (p.1 == q.1) (p.2 < q.2) in
  then_by (~~ of_privacy a && of_privacy b) (of_privacy a == of_privacy b)
    (then_by (variable (left_side a) (left_side b)) (left_side a == left_side b)
      (variable (right_side a) (right_side b))).
Fixpoint cuts (last : seq cut) (l : lines_left) : outcome (seq cut * lines_left) := match l with
  | (a :: f) :: l' => if same a (word "cut") then
      if cut_of f is Some c then
        if (if last is c' :: _ then before_cut c' c else true) then cuts (c :: last) l'
        else Bad "cut: not after the row of the line before"
      else Bad "cut"
    else Ok (last, l)
  | _ => Ok (last, l) end.

(** The point that injections define: x at depth v is z times that before the candidate sank from
    v-1, and what is
   injected; depth 0 has the rest. *)
Definition raised (m : seq nat) v := mkseq (fun w => nth 0 m w - (w == v) + (w.+1 == v)) (size m).
Definition point_row (inj : trie (seq (nat * Q))) (xs : trie (seq Q)) (m : seq nat) : seq Q :=
  let s := odflt [::] (lookup inj m) in
  let at_depth v := if nth 0 m v == 0 then q0 else
    let old := qmul z (nth q0 (odflt [::] (lookup xs (raised m v))) v.-1) in
    if [seq p.2 | p <- s & p.1 == v] is a :: _ then
      qadd old (qdiv a (qmul (weight n m) (qn (nth 0 m v)))) else old in
  let rest := [seq at_depth v | v <- iota 1 k] in
  let taken := qsum [seq qmul (qn p.1) p.2 | p <- zip (behead m) rest] in
  qdiv (qsub (qn 1) taken) (qn (nth 0 m 0)) :: rest.
Definition point_table inj : trie (seq Q) :=
  foldl (fun xs m => insert xs m (point_row inj xs m)) (Node [::]) (rev (orbits n k)).
Definition looked_up A (a : A) (t : trie A) (m : seq nat) : A := odflt a (lookup t m).

End Body.

(** The points of research/docs/universal.md, the better of the two. For the box multipliers are
    summed over the lattices
   that a vector belongs to. *)
Definition closed_form n (z : Q) k : seq nat -> Q :=
  let a := qA k z in let b := qB k z in let y := qdiv a (qadd (qn 1) b) in
  if qle (qn 1) b && qle (qn k) (qmul (qn n) b) then fun m =>
    qmul y (qsub (qn 1) (qdiv (qn (k - bottom k m)) b))
  else fun m => if 1 < nth 0 m 0 then y else q0.
Definition summed (o : objective) k (f : nat -> seq nat -> Q) : seq nat -> Q :=
  if o is Box then let fs := [seq f j | j <- iota 0 k.+1] in
    fun m => qsum [seq g m | g <- drop (bottom k m) fs] else f k.

(** How many count vectors there are. *)
Definition binomial_z (n k : nat) : Z :=
  foldl (fun c i => Z.div (Z.mul c (Z.of_nat (n + i).-1)) (Z.of_nat i)) (Zpos xH) (iota 1 k).
Definition largest : Z := 200000.

Definition objective_of (a : text) : option objective :=
  if same a (word "paper") then Some Vectors else if same a (word "box") then Some Box else None.
Definition level_of (a : text) : option level :=
  if same a (word "paper") then Some Paper else if same a (word "dp") then Some Dp else
  if same a (word "monotone") then Some Monotone else if same a (word "full") then Some Full else
    None.

(** Why a file is refused. Nearly is whether it would not be if each bound were worked out at the
    other end of the
   enclosure of z: then more bits may tell. *)
Definition refuse A (why : outcome unit) (nearly : bool) : outcome A := match why with
  | Ok _ => Bad "" | Open s => Open s | Bad s => if nearly then
    Open "a bound as close as this at an irrational e^epsilon" else Bad s end.

(** Numbered things, the first being number 1. *)
Section Numbered.
Variable A : Type.
Inductive numbered := Nothing | Branch of numbered & option A & numbered.
Fixpoint put (t : numbered) (i : positive) (a : A) : numbered :=
  let: (l, b, r) := if t is Branch l b r then (l, b, r) else (Nothing, None, Nothing) in
    match i with
  | xH => Branch l (Some a) r | xO i' => Branch (put l i' a) b r | xI i' =>
    Branch l b (put r i' a) end.
Fixpoint numbered_at (t : numbered) (i : positive) : option A := if t is Branch l b r then
  match i with xH => b | xO i' => numbered_at l i' | xI i' => numbered_at r i' end else None.
Definition all_numbered (s : seq A) : numbered :=
  (foldl (fun p a => (put p.1 p.2 a, Pos.succ p.2)) (Nothing, xH) s).1.
Definition get_from_0 (t : numbered) (i : Z) : option A :=
  if Z.succ i is Zpos p then numbered_at t p else None.
End Numbered.

(** Reading the lines after "problem lattice". *)
Section Body.
Variables (n k L : nat) (l : level).
Fixpoint rising (a : Q) (s : seq Q) : bool := if s is b :: s' then qle a b && rising b s' else true.

(** A line for each count vector, with the probabilities at those depths that it has candidates at.
    *)
Fixpoint spread (m : seq nat) (s : seq Q) : seq Q := match m with
  | 0 :: m' => q0 :: spread m' s
  | _ :: m' => head q0 s :: spread m' (behead s)
  | [::] => [::] end.
Fixpoint input_lines (ms : seq (seq nat)) (left : lines_left) (t : trie (seq Q)) : outcome
  (trie (seq Q) * lines_left) :=
  if ms is m :: ms' then
    let! (f, rest) := take_line "input" left in
    let! s := found (values f) "input" in
    let! _ := require ((size s == count (ltn 0) m) && all (qle q0) s) "input" in
    input_lines ms' rest (insert t m (spread m s))
  else Ok (t, left).

(** Of the rows of monotonicity a file may name those in which the given candidate rises by one
    step, or another one sinks
   by one. *)
Definition one_step (s s' : seq nat) :=
  let gaps := [seq nth 0 s' i + head 0 s - (nth 0 s i + head 0 s') | i <- iota 1 n.-1] in
  all (leq^~ 1) gaps && ((sumn gaps == 1) || (sumn gaps == n.-1)).
(** A row of two cells, of monotonicity if it is one. Its multiplier is that of the probabilities;
    those of Cuts.v are of
   the totals of both classes, divided by the size of the left one. *)
Definition row_of_cells (a b : seq nat * nat) (nu : Q) : cut :=
  let mu := qdiv nu (class_weight n a) in
  let rises := one_step (candidates_of k b) (candidates_of k a) in
  if rises && is_row_by n k L l (Cut false a b mu) then Cut false a b mu else Cut true a b mu.
Fixpoint multipliers (cells : numbered (seq nat * nat)) (last : Z * Z) (left : lines_left) :
    outcome (seq cut * lines_left) := match left with
  | (a :: f) :: rest => if same a (word "multiplier") then match f with
      | [:: i; j; times; v] =>
        let! i := found (whole i) "multiplier" in
        let! j := found (whole j) "multiplier" in
        let! a := found (get_from_0 cells i) "multiplier" in
        let! b := found (get_from_0 cells j) "multiplier" in
        let! nu := found (short_fraction v) "multiplier" in
        let! _ := require (~~ qle nu q0) "multiplier" in
        let! _ := require (Z.ltb last.1 i || Z.eqb last.1 i && Z.ltb last.2 j)
          "multiplier: not after the line before" in
        if same times (word "1") then
          let! (cs, rest) := multipliers cells (i, j) rest in Ok (row_of_cells a b nu :: cs, rest)
        else Open "an event of several outcomes"
      | [:: _, _, _, _, _ & _] => Open "an event of several outcomes"
      | _ => Bad "multiplier" end
    else Ok ([::], left)
  | _ => Ok ([::], left) end.
End Body.


(** The cells of count vectors: the depths that they have candidates at. *)
Definition cells_of k (ms : seq (seq nat)) : seq (seq nat * nat) :=
  flatten [seq [seq (m, v) | v <- iota 0 k.+1 & 0 < nth 0 m v] | m <- ms].
(** The rows along chains that fit the multipliers y of the sums, beside other rows. *)
Definition chain_rows (c : claims) (z : Q) (y : seq nat -> Q) (cs : seq cut) : seq cut :=
  let n := candidates c in let k := deepest c in
  let cost := changed n z (costs c (vector_weight c [::])) cs in
  pmap (fun p => if count_next k p is Some q then
      if reach k z cost y (fuel k) q is Some e then
        let mu := excess y q e in if qle mu q0 then None else Some (Cut true q p mu)
      else None
    else None) (cells_of k (orbits n k)).

(** What a file claims, and what it holds to prove that: how many bits to work with; weights; as
    functions of z multipliers of
   rows, and tables, any of which may do, no table standing for permute-and-flip's own. *)
Record evidence := Evidence {
  claimed_by : claims; bits_of : Z; weights_of : seq Q; rows_of : Q -> seq cut; tables_of : Q ->
    seq (unit -> option (seq nat -> seq Q)) }.

(** What proves the bounds: multipliers of rows, y as a function of z, and injections if there is a
    point. *)
Definition read_proof n k (aim : objective) (rows : level) (proof : text) (l : lines_left) :
    outcome (seq cut * (Q -> seq nat -> Q) * option (trie (seq (nat * Q))) * lines_left) :=
  if same proof (word "lp") then
    let! (y, l) := duals n k (rev (orbits n k)) l (Node [::]) in
    let! (inj, l) := injections n k None l (Node [::]) in
    let! (cs, l) := cuts n k [::] l in
    let! _ := require (all (fun c => if of_privacy c then asks_neighbors rows else
      asks_monotone rows) cs) "cut" in
    Ok (cs, fun=> looked_up q0 y, Some inj, l)
  else if same proof (word "dual-recurrence") then
    Ok ([::], fun z => summed aim k (fun j m => (recurrence n j z z id id m).1), None, l)
  else if same proof (word "dual-closed-form") then Ok
    ([::], fun z => summed aim k (closed_form n z), None, l)
  else Bad "proof".

(** As much of permute-and-flip mixed in as the claims allow: a point that misses a row by a little
    may then satisfy it.
   The claims on ratios say that the optimum is no more than an error over its ratio. Rounded more
    than in what decides,
   it is a little less. *)
Definition most_claimed (c : claims) (round : Q -> Q) (z : Q) : Q :=
  let n := candidates c in let k := deepest c in
  let up x := qsub q0 (round (qsub q0 x)) in
  let with_ratio ratio error h := match ratio, aim c with
    | Some (r, _), Some a => if qle r (qn 1) then h else qmin h (qdiv (error a).1 r) | _, _ =>
      h end in
  with_ratio (pf_ratio c) (pf_error n k z z round up)
    (with_ratio (em_ratio c) (em_error n k z z round up) (optimum c).2).
Definition mixed_with_pf (c : claims) (round : Q -> Q) (z : Q) (x : seq nat -> seq Q) :
    seq nat -> seq Q :=
  let n := candidates c in let k := deepest c in
  let y := looked_up [::] (point_table n k z (Node [::])) in
  let W := vector_weight c [::] in let value t := table_value c t W (over_orbits n k W) in
  let a := value x in let gap := qsub (value y) a in
  let part := if qle gap q0 then q0 else qmin (qn 1)
    (round (qdiv (qsub (most_claimed c round z) a) gap)) in
  if qle part q0 then x else
  fun m => [seq qadd (qmul (qsub (qn 1) part) p.1) (qmul part p.2) | p <- zip (x m) (y m)].

Definition read_program (rest : seq text) : outcome evidence :=
  let l := [seq fields a | a <- rest] in
  let! (a, l) := take_one "problem" l in
  if ~~ same a (word "program") then Open "another section" else
  let! (zn, l) := take_int "n" l in
  let! (zk, l) := take_int "k" l in
  if ~~ (Z.leb 2 zn && Z.leb zn 1000 && Z.leb zk 1000) then Open "n or k" else
  let n := Z.to_nat zn in let k := Z.to_nat zk in
  let! (p, l) := take_parameter l in
  let! (objective, l) := take_one "objective" l in
  let! (level, l) := take_one "constraints" l in
  let! (proof, l) := take_one "proof" l in
  let! aim := found (objective_of objective) "objective" in
  let! rows := found (level_of level) "constraints" in
  if same proof (word "lumped") then Open "proof" else
  let! (bits, l) := take_int "precision" l in
  let! _ := require (Z.leb bits 1073741824) "precision" in
  let! (o, l) := take_claim "optimum" l in
  let! o := found o "claim optimum" in
  let! (pf, l) := take_claim "error pf" l in
  let! (em, l) := take_claim "error em" l in
  let! (rpf, l) := take_claim "ratio pf" l in
  let! (rem, l) := take_claim "ratio em" l in
  if Z.ltb largest (binomial_z n k) then Open "the lattice is too large" else
  let c := Claims n k 1 p rows [seq qn v | v <- iota 0 k.+1]
    (if aim is Box then Shifts else Uniform) o pf em rpf rem in
  let! (cs, y, inj, l) := read_proof n k aim rows proof l in
  let! _ := finished rest l in
  (* With k = 0 a candidate's first row is its last, and a negative y would be no better than 0. *)
  let y z := if k is 0 then fun=> q0 else y z in
  let bits := Z.add (Z.mul 2 bits) 64 in
  Ok (Evidence c bits (nseq (size (orbits n k)) q0) (fun z => chain_rows c z (y z) cs ++ cs)
    (fun z => if inj is Some inj then let x := looked_up [::] (point_table n k z inj) in
      [:: fun=> Some x; fun=> Some (mixed_with_pf c (if p is Epsilon _ then
        floor_at (Z.to_nat (Z.sub bits 64)) else id) z x); fun=> None]
      else [:: fun=> None])).

Definition read_lattice (rest : seq text) : outcome evidence :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (zn, l) := take_int "n" l in
  let! (zk, l) := take_int "k" l in
  let! (zs, l) := take_int "step" l in
  let! (top, l) := take_one "top" l in
  let zd := Z.mul zk zs in
  if ~~ (Z.leb 2 zn && Z.leb zn 1000 && Z.leb 1 zd && Z.leb zd 1000) then Open "n, k or step" else
  let! _ := require (same top (word "1")) "top" in
  let n := Z.to_nat zn in let steps := Z.to_nat zs in let k := Z.to_nat zd in
  let! (rows, l) := take_one "constraints" l in
  let! rows := found (level_of rows) "constraints" in
  let! (f, l) := take_line "loss" l in
  let! losses := found (values f) "loss" in
  let! _ := require [&& size losses == k.+1, Qeq_bool (head q0 losses) q0 & rising q0 losses] "loss"
    in
  let! (p, l) := take_one "prior" l in
  let own := same p (word "weights") in
  let worst := same p (word "worst") in
  let! _ := require [|| own, worst, same p (word "uniform") | same p (word "box")] "prior" in
  let! (e, bits, o, l) := take_optimum l in
  if Z.ltb largest (binomial_z n k) then Open "the lattice is too large" else
  let ms := rev (orbits n k) in
  let! (x, l) := input_lines ms l (Node [::]) in
  let! (ws, l) := if own || worst then weights (Z.of_nat (size ms)) (Zneg xH) l else Ok ([::], l) in
  let ws := all_weights 0 ms ws in
  let cells := all_numbered (cells_of k ms) in
  let! (cs, l) := multipliers n k steps rows cells (Zneg xH, Zneg xH) l in
  let! _ := finished rest l in
  let p := if own then Weights ws else if worst then Worst else if same p (word "box") then
    Shifts else Uniform in
  let c := Claims n k steps e rows losses p o None None None None in
  Ok (Evidence c (Z.add bits 120) ws (fun=> cs) (fun=> [:: fun=> Some (looked_up [::] x)])).

(** What the sections about programs prove. With more bits than its writer had nearly all is
    decided. *)
Definition check_claims (program : bool) (rest : seq text) : outcome claims :=
  let! f := if program then read_program rest else read_lattice rest in
  let c := claimed_by f in
  let! (zl, zu) := ends_for (bits_of f) (privacy c) in
  let round := if Qeq_bool zl zu then id else floor_at (Z.to_nat (bits_of f)) in
  let down x := let y := round x in if qle y x then y else x in
  let up x := qsub q0 (down (qsub q0 x)) in
  let decided zl zu down up given := decide c zl zu down up (weights_of f) (rows_of f zl) (given tt)
    in
  let ok o := if o is Ok _ then true else false in
  let some zl zu down up := seq.has (fun g => ok (decided zl zu down up g)) (tables_of f zu) in
  if some zl zu down up then Ok c else
  if tables_of f zu is g :: others then
    (* How much to mix in is worked out in rounded numbers where z is not rational. *)
    let unmixed := [&& ~~ nilp others, ~~ Qeq_bool zl zu & if g tt is Some x then
      ~~ table_ok c zu x else false] in
    refuse claims (decided zl zu down up g) (unmixed || some zu zl up down)
  else Bad "".

Inductive proved := Bounds of claims | Violation of witness | Divergent of divergence
  | Privacy of private_table | Least of finite_problem | OnGrid of grid | Choices of lattice_choice.
Definition check (file : text) : outcome proved :=
  let! all := lines file in
  if ~~ seq.all (fun a => seq.all (at_most longest) (fields a)) all then
    Open "a field of more than 262144 bytes" else
  let! _ := require (same (head [::] all) (word "optratio-certificate 3")) "the first line" in
  let rest := behead all in
  let about (s : string) := same (head [::] rest) (word s) in
  let bounds program := let! c := check_claims program rest in Ok (Bounds c) in
  if about "problem program"%string then bounds true else if about "problem lattice"%string then
    if of_choices rest then let! c := check_choice rest in Ok (Choices c) else bounds false else
  if about "problem witness"%string then
    if same (nth [::] rest 1) (word "property rdp") then
      let! d := check_divergence rest in Ok (Divergent d)
    else let! w := check_witness rest in Ok (Violation w) else
  if about "problem private"%string then let! t := check_private rest in Ok (Privacy t) else
  if about "problem table"%string then let! p := check_table rest in Ok (Least p) else
  if about "problem heterogeneous"%string then let! g := check_grid rest in Ok (OnGrid g) else
    Open "another section".

Lemma refuseE A why nearly (c : A) : refuse A why nearly = Ok c -> False.
Proof. by case: why => //= s; case: nearly. Qed.

Theorem check_claims_sound (R : realFieldType) program rest c : check_claims program rest = Ok c ->
  claims_hold R c.
Proof.
rewrite /check_claims => H; have [f _ {}H] := bindE H; have [[zl zu] E {}H] := bindE H.
have between (z : R) := @ends_forE R _ _ _ _ z E.
set round := if Qeq_bool zl zu then _ else _ in H; set down := fun x : Q => _ in H; set up :=
  fun x : Q => _ in H.
have downP x : (qR R (down x) <= qR R x)%R.
  by rewrite /down (qR_le R); case: ifP.
have upP x : (qR R x <= qR R (up x))%R.
  by rewrite /up qR_sub qR0 sub0r ler_oppr; apply: le_trans (downP _) _; rewrite qR_sub qR0 sub0r.
case: ifP H => [some [<-]|_]; last by case: (tables_of f zu) => // g gs r; case: (refuseE r).
elim: (tables_of f zu) some => //= g gs IH /orP[|//].
case D: (decide _ zl zu _ _ _ _ (g tt)) => [v|s|s] // _; exact: decide_sound between downP upP D.
Qed.

(** Whatever is accepted is true. *)
Definition true_of (R : realFieldType) (p : proved) : Prop := match p with
  | Bounds c => claims_hold R c | Violation w => refuted R w | Divergent d => diverges R d
  | Privacy t => kept R t | Least p => optimum_within p R
  | OnGrid g => optimum_within (problem_of g) R
  | Choices c => optimum_within (choice_problem c) R end.
Theorem check_sound (R : realFieldType) file p : check file = Ok p -> true_of R p.
Proof.
rewrite /check => H; have [all _ {}H] := bindE H; case: ifP H => // _ H; have [u _ {}H] := bindE H.
by move: H; do 8?[case: ifP => _] => // H; have [c ok [<-]] := bindE H;
  [exact: check_claims_sound ok | exact: check_choice_sound ok | exact: check_claims_sound ok |
    exact: check_divergence_sound ok | exact: check_witness_sound ok |
   exact: check_private_sound ok | exact: check_table_sound ok | exact: check_grid_sound ok].
Qed.

(** So every mechanism of the level, on scores in any ring in which a step h is 2/L, loses no less
    than claimed. *)
Corollary check_bounds (S : realDomainType) (R : realFieldType) file c (h : S) (z : R)
    (M : mechanism S R (candidates c)) : check file = Ok (Bounds c) -> (h *+ steps c = 2%:R)%R ->
      stands_for (privacy c) z ->
  proper_mechanism M -> private z M -> shift_invariant M ->
  (rows c = Monotone \/ rows c = Full -> monotone M) ->
  (qR R (optimum c).1 <= value_of (weighted c) (losses c)
    (table_by h M : table R (candidates c) (deepest c)))%R.
Proof.
by move=> /(@check_sound R) ok hL zp Mp Md Ms Mm; have [lo _ _ _] := ok z zp; apply: lo;
  apply: table_by_feasible.
Qed.
