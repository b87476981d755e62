(** Section heterogeneous: the best choice among candidates of which each has its own sensitivity,
    on a grid of scores. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From Optratio Require Import Mechanisms Program Private Depths Numbers Checker Epsilon Reader Lines
  Certificate Witness Kept Table.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** The sensitivities; scores, which are from lowest on in so many rungs; whether mechanisms look at
    differences of scores
   only, the loss is the squared error, and the largest loss counts; a table, and what the optimum
    is said to be. *)
Record grid := Grid {
  sensitivities : seq Q; lowest : Q; pace : Q; rungs : nat; by_differences : bool; squared : bool;
    at_worst : bool;
  budget : parameter; table_found : seq (seq Q); grid_optimum : Q * Q }.

(** All vectors of so many numbers from 0 to the given one, and pairs of those that are near. *)
Fixpoint all_vectors (most i : nat) : seq (seq nat) :=
  if i is i'.+1 then [seq a :: v | a <- iota 0 most.+1, v <- all_vectors most i'] else [:: [::]].
Definition pairs_where (near : seq nat -> seq nat -> bool) (vs : seq (seq nat)) : seq direction :=
  let nvs := zip (iota 0 (size vs)) vs in
  flatten [seq [seq Direction a.1 b.1 (qn 1) | b <- nvs & (a.1 != b.1) && near a.2 b.2] | a <- nvs].

Lemma each_pair (near : seq nat -> seq nat -> bool) vs (P : direction -> Prop) :
  (forall i j, i < size vs -> j < size vs ->
  near (nth [::] vs i) (nth [::] vs j) -> P (Direction i j (qn 1))) -> each P (pairs_where near vs).
Proof.
move=> H; rewrite /pairs_where; set nvs := zip _ _.
have numbered a : a \in nvs -> a.1 < size vs /\ nth [::] vs a.1 = a.2.
  case: a => i v /(nthP (0, [::]))[j]; rewrite size_zip size_iota minnn => lt.
  by rewrite nth_zip ?size_iota // => -[<- <-] /=; rewrite nth_iota.
have row a s rest : a \in nvs -> {subset s <= nvs} -> each P rest ->
    each P ([seq Direction a.1 b.1 (qn 1) | b <- s & (a.1 != b.1) && near a.2 b.2] ++ rest).
  move=> /numbered[la ea]; elim: s => //= b s IH sub ok; have {}IH := IH _ ok.
  have {}IH := IH (fun d ds => sub d (mem_behead (ds : d \in behead (b :: s)))).
  case: ifP => // /andP[_ nb]; split=> //.
  by have [lb eb] := numbered b (sub b (mem_head _ _)); apply: H => //; rewrite ea eb.
suff all_rows s : {subset s <= nvs} -> each P (flatten [seq [seq Direction a.1 b.1 (qn 1) |
    b <- nvs & (a.1 != b.1) && near a.2 b.2] | a <- s]) by exact: all_rows.
elim: s => //= a s IH sub; apply: row => //; first exact: sub (mem_head _ _).
by apply: IH => b bs; apply: sub; rewrite inE bs orbT.
Qed.

Section Problem.
Variable g : grid.
Local Notation n := (size (sensitivities g)).
(** Where differences count the vectors with a score at the lower end stand for their shifts within
    the grid. *)
Definition vectors : seq (seq nat) := [seq v <- all_vectors (rungs g) n | by_differences g ==>
  (0 \in v)].
Definition best v := foldr maxn 0 v.
Definition grid_loss v r : Q := let d := qmul (pace g) (qn (best v - nth 0 v r)) in
  if squared g then qmul d d else d.
Definition grid_weight v : Q := if by_differences g then qn ((rungs g).+1 - best v) else qn 1.
(** The shifts that suit each candidate are from the one number to the other. *)
Definition suits v w : seq (Q * Q) := [seq let c := qmul (pace g)
  (qsub (qn (nth 0 w r)) (qn (nth 0 v r))) in
  let u := nth q0 (sensitivities g) r in (qsub c u, qadd c u) | r <- iota 0 n].
Definition near_vectors v w : bool := let s := suits v w in
  if by_differences g then all (fun a => all (fun b => qle a.1 b.2) s) s else all
    (fun a => qle a.1 q0 && qle q0 a.2) s.
Definition problem_of : finite_problem :=
  FiniteProblem (PrivateTable (budget g) q0 n [seq [seq (x, x) | x <- s] | s <- table_found g]
    (pairs_where near_vectors vectors))
    [seq [seq grid_loss v r | r <- iota 0 n] | v <- vectors]
      (if at_worst g then None else Some [seq grid_weight v | v <- vectors])
    [::] (grid_optimum g).

(** Every mechanism that is private at these sensitivities gives a table of the problem. *)
Section OfMechanism.
Local Open Scope ring_scope.
Variables (R : realFieldType) (M : mechanism R R n) (z : R).
Local Notation qR := (qR R).
Definition scores_at (v : seq nat) : score R n :=
  [ffun r => qR (lowest g) + qR (pace g) * (nth 0%N v (r : 'I_n))%:R].
Definition table_on : nat -> nat -> R := fun i o => oapp (M (scores_at (nth [::] vectors i))) 0
  (insub o).
Hypotheses (Mp : proper_mechanism M)
  (Md : private_at (fun r => qR (nth q0 (sensitivities g) r)) z M).
Hypothesis Ms : by_differences g -> shift_invariant M.

Lemma near_vectors_private v w r : near_vectors v w -> z * M (scores_at v) r <= M (scores_at w) r.
Proof.
pose c s := scores_at w s - scores_at v s; pose u (s : 'I_n) := qR (nth q0 (sensitivities g) s).
have cE (s : 'I_n) : c s = qR (qmul (pace g) (qsub (qn (nth 0%N w s)) (qn (nth 0%N v s)))).
  by rewrite /c !ffunE qR_mul qR_sub !qRn; ring.
have M' t : (forall s, c s - u s <= t) -> (forall s, t <= c s + u s) ->
  z * M (scores_at v) r <= M [ffun s => scores_at w s - t] r.
  move=> lo hi; apply: Md => s; rewrite [X in _ - X]ffunE distrC (_ : _ - t - _ = c s - t);
    last by rewrite /c; ring.
  by rewrite ler_norml; apply/andP; split; [apply: (le_by (hi s)) | apply: (le_by (lo s))];
    rewrite /u; ring.
have at_ (s : 'I_n) : (val s) \in iota 0 n by rewrite mem_iota ltn_ord.
rewrite /near_vectors /suits; case: by_differences Ms => [/(_ isT) inv|_]; rewrite all_map =>
  /allP ok; last first.
  have {}M' := M' 0; rewrite (_ : scores_at w = [ffun s => scores_at w s - 0]);
    last by apply/ffunP => s; rewrite [RHS]ffunE subr0.
  by apply: M' => s; have := ok _ (at_ s); rewrite /= !(qR_le R) qR0 qR_sub qR_add -cE => /andP[].
have [r0 _ most] := @arg_maxP _ _ _ r xpredT (fun s => c s - u s) isT.
rewrite -(inv (scores_at w) (- (c r0 - u r0))); apply: M' => [s|s]; first exact: most.
have := ok _ (at_ r0); rewrite /= all_map => /allP/(_ _ (at_ s)) /=.
by rewrite (qR_le R) qR_sub qR_add -!cE.
Qed.

Theorem table_of_mechanism : is_table problem_of table_on /\ private_on problem_of
  (fun=> z) table_on.
Proof.
split=> [i|].
  rewrite size_map => lt; split=> [|o on]; last first.
    rewrite /table_on; case: insubP => [r _ _|]; last by rewrite on.
    by split; [exact: Mp.1 | rewrite /allowed /= size_map lt on nth_nil].
  rewrite [iota 0 _](_ : _ = index_iota 0 n) ?big_mkord; last by rewrite /index_iota subn0.
  rewrite -[RHS](Mp.2 (scores_at (nth [::] vectors i))); apply: eq_bigr => r _.
  by rewrite /table_on; case: insubP => [s _ /val_inj ->|]; rewrite ?ltn_ord.
apply: each_pair => i j _ _ nb S; rewrite /= qR0 mulr0 addr0 /total_of mulr_sumr; apply: ler_sum =>
  o _; rewrite /table_on.
by case: insubP => [r _ _|_] /=; [exact: near_vectors_private | rewrite mulr0].
Qed.
End OfMechanism.
End Problem.

(** So what is accepted bounds all of them. *)
Theorem grid_bounds (R : realFieldType) g (z : R) (M : mechanism R R (size (sensitivities g))) :
  optimum_within (problem_of g) R -> stands_for (budget g) z ->
  proper_mechanism M -> private_at (fun r => qR R (nth q0 (sensitivities g) r)) z M ->
    (by_differences g -> shift_invariant M) ->
  loses_at_least (problem_of g) (qR R (grid_optimum g).1) (table_on M).
Proof.
move=> /(_ (fun=> z)) H zE Mp Md Ms; have [//|low _] := H _; last by have [t p] :=
  table_of_mechanism Mp Md Ms; exact: low.
by apply: each_pair => i j _ _ _; exists (budget g).
Qed.

(** Reading the lines after "problem heterogeneous". *)
Definition one_of (name yes no : string) (l : lines_left) : outcome (bool * lines_left) :=
  let! (a, l) := take_one name l in
  let! _ := require (same a (word yes) || same a (word no)) name in Ok (same a (word yes), l).
Definition vector_limit : Z := 1500.
Definition read_grid (rest : seq text) : outcome (grid * seq Q * seq event * Z) :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (us, l) := take_values "sensitivities" l in
  let! _ := require ((size us <= 64) && all (qle q0) us) "sensitivities" in
  let! (a, l) := take_one "from" l in
  let! low := found (short_fraction a) "from" in
  let! (pace, l) := take_number "step" l in
  let! _ := require (~~ qle pace q0) "step" in
  let! (zs, l) := take_int "steps" l in
  let! _ := require (Z.leb 1 zs && Z.leb zs 1048576) "steps" in
  let! (shifts, l) := one_of "mechanisms" "shift-invariant" "all" l in
  let! (squares, l) := one_of "loss" "mse" "error" l in
  let! (worst, l) := one_of "prior" "worst" "uniform" l in
  let! (e, bits, o, l) := take_optimum l in
  if Z.ltb vector_limit (Z.pow (Z.succ zs) (Z.of_nat (size us))) then Open "so large a grid" else
  let g := Grid us low pace (Z.to_nat zs) shifts squares worst e [::] o in
  let count := size (vectors g) in
  let! (x, l) := rows_of_values "input" count (size us) l [::] in
  let! (dual, l) := if worst then weights (Z.of_nat count) (Zneg xH) l else Ok ([::], l) in
  let! (events, l) := events_of (Z.of_nat (size us)) l in
  let! _ := finished rest l in
  Ok (Grid us low pace (Z.to_nat zs) shifts squares worst e x o,
    all_weights 0 (nseq count [::]) dual, events, Z.add bits 120).

Definition check_grid (rest : seq text) : outcome grid :=
  check_described problem_of (read_grid rest).
Theorem check_grid_sound (R : realFieldType) rest g : check_grid rest = Ok g ->
  optimum_within (problem_of g) R.
Proof. exact: check_described_sound. Qed.
