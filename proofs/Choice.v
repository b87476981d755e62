(** Section lattice where several candidates are chosen, or with delta: stated for all score vectors
    of the lattice, and
   all sets of candidates, it is a finite problem. The file has one line for all vectors and sets
    that are alike. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum zify ring.
From Optratio Require Import Mechanisms Program CountVectors Numbers Checker Cuts Epsilon Reader
  Lines Certificate Witness Kept Table Grid.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** So many of the candidates are chosen; depths are 0, ..., lowest_depth in steps of 2/finer
    sensitivities, and each has a
   loss; weights are as in Certificate.v; a table and the claim. *)
Record lattice_choice := LatticeChoice {
  of_candidates : nat; lowest_depth : nat; finer : nat; chosen_count : nat;
    choice_privacy : parameter; choice_delta : Q;
  depth_losses : seq Q; choice_prior : prior; table_given : seq (seq Q); choice_optimum : Q * Q }.

(** The sets of so many of the candidates i, ..., i + n - 1, as ascending lists. *)
Fixpoint subsets (i n size : nat) : seq (seq nat) := match size, n with
  | 0, _ => [:: [::]] | _, 0 => [::]
  | size'.+1, n'.+1 => [seq i :: s | s <- subsets i.+1 n' size'] ++ subsets i.+1 n' size end.
Definition tallied k (s : seq nat) : seq nat := [seq count_mem w s | w <- iota 0 k.+1].
(** The weight of each vector among those with its counts. *)
Definition weight_of_vector n k (p : prior) : seq nat -> Q := match p with
  | Uniform | Worst => fun=> qn 1
  | Shifts => fun v => qn (k.+1 - best v)
  | Weights ws => let t := table_of_weights (rev (orbits n k)) ws in
    fun v => let m := tallied k v in qdiv (odflt q0 (lookup t m)) (weight n m) end.

Section Problem.
Variable c : lattice_choice.
Local Notation n := (of_candidates c).
Local Notation k := (lowest_depth c).
Local Notation L := (finer c).
Definition lattice_vectors : seq (seq nat) := [seq v <- all_vectors k n | 0 \in v].
Definition sets : seq (seq nat) := subsets 0 n (chosen_count c).
Definition loss_of_depths (s : seq nat) : Q := qsum [seq nth q0 (depth_losses c) d | d <- s].
(** What the set loses more than the best set. *)
Definition regret (v s : seq nat) : Q :=
  qsub (loss_of_depths [seq nth 0 v r | r <- s])
    (loss_of_depths (take (chosen_count c) (sort leq v))).
Definition choice_problem : finite_problem :=
  let vs := lattice_vectors in let w := weight_of_vector n k (choice_prior c) in
  FiniteProblem (PrivateTable (choice_privacy c) (choice_delta c) (size sets)
    [seq [seq (x, x) | x <- s] | s <- table_given c]
    (pairs_where (near_lists L) vs))
    [seq [seq regret v s | s <- sets] | v <- vs]
      (if choice_prior c is Worst then None else Some [seq w v | v <- vs])
    [::] (choice_optimum c).

(** Mechanisms that choose a set: M q o is the probability of set number o. *)
Section OfMechanism.
Local Open Scope ring_scope.
Variables (S : realDomainType) (R : realFieldType) (h : S) (z : R).
Definition choice := score S n -> nat -> R.
Variable M : choice.
Definition proper_choice := (forall q o, 0 <= M q o) /\ forall q,
  \sum_(o <- iota 0 (size sets)) M q o = 1.
Definition private_choice (delta : R) := forall q q', neighbors q q' -> forall P : pred nat,
  z * (\sum_(o <- iota 0 (size sets) | P o) M q o) <= \sum_(o <- iota 0 (size sets) | P o) M q' o +
    z * delta.
Definition scores_by (v : seq nat) : score S n := [ffun r => - (h *+ nth 0%N v (r : 'I_n))].
Definition choice_table : nat -> nat -> R := fun i => M (scores_by (nth [::] lattice_vectors i)).
Hypotheses (n0 : (0 < n)%N) (hL : h *+ L = 2%:R) (Mp : proper_choice)
  (Md : private_choice (qR R (choice_delta c))).
Hypothesis Ms : forall (q : score S n) a o, M [ffun s => q s + a] o = M q o.

Lemma size_vectors v : v \in lattice_vectors -> size v = n.
Proof.
rewrite mem_filter => /andP[_]; elim: n v => [|i IH] v; first by rewrite inE => /eqP ->.
by case/allpairsP => -[a w] /= [_ /IH <- ->].
Qed.

Lemma near_neighbors v w : size v = n -> size w = n -> near_lists L v w ->
  exists a, neighbors [ffun s => scores_by v s + a] (scores_by w).
Proof.
move=> sv sw /allP nb.
have near (s s' : 'I_n) : (nth 0 v s + nth 0 w s' <= nth 0 w s + nth 0 v s' + L)%N.
  have at_ (r : 'I_n) : (nth 0 v r, nth 0 w r)%N \in zip v w by rewrite -nth_zip ?sv ?sw // mem_nth
    // size_zip sv sw minnn.
  by have /allP/(_ _ (at_ s')) := nb _ (at_ s).
have [s0 /= min0] := least_gap (fun s => nth 0%N v s) (fun s => nth 0%N w s) (Ordinal n0).
exists (h *+ nth 0%N v s0 - h *+ nth 0%N w s0 + 1) => s; rewrite !ffunE ler_norml.
have := steps_le hL (min0 s); have := steps_le hL (near s s0); rewrite !mulrnDr hL => hi lo.
by apply/andP; split; [apply: le_by hi _ | apply: le_by lo _]; ring.
Qed.

Theorem table_of_choice : is_table choice_problem choice_table /\ private_on choice_problem
  (fun=> z) choice_table.
Proof.
split=> [i|].
  rewrite size_map => lt; split; first exact: Mp.2.
  by move=> o on; split; [exact: Mp.1 | rewrite /allowed /= size_map lt on nth_nil].
apply: each_pair => i j li lj nb P.
have [a near] := near_neighbors (size_vectors (mem_nth _ li)) (size_vectors (mem_nth _ lj)) nb.
have := Md near P; rewrite /total_of /choice_table /=; congr (_ <= _).
by congr (_ * _); apply: eq_bigr => o _; exact: Ms.
Qed.
End OfMechanism.
End Problem.

(** So what is accepted bounds all shift-invariant (epsilon, delta)-private choices, on scores with
    steps of 2/L. *)
Theorem choice_bounds (S : realDomainType) (R : realFieldType) c (h : S) (z : R) (M : choice c S R)
  :
  optimum_within (choice_problem c) R -> stands_for (choice_privacy c) z ->
    (0 < of_candidates c)%N ->
  (h *+ finer c = 2%:R)%R -> proper_choice M -> private_choice z M (qR R (choice_delta c)) ->
  (forall (q : score S (of_candidates c)) a o, M [ffun s => (q s + a)%R] o = M q o) ->
  loses_at_least (choice_problem c) (qR R (choice_optimum c).1) (choice_table h M).
Proof.
move=> /(_ (fun=> z)) H zE n0 hL Mp Md Ms; have [|low _] := H _.
  by apply: each_pair => i j _ _ _; exists (choice_privacy c).
by have [t p] := table_of_choice n0 hL Mp Md Ms; exact: low.
Qed.

(** Reading the lines after "problem lattice". Cells are how many candidates are chosen at each
    depth. *)
Fixpoint ways (m : seq nat) (left : nat) : seq (seq nat) :=
  if m is a :: m' then flatten [seq [seq x :: t | t <- ways m' (left - x)] | x <- rev
    (iota 0 (minn a left).+1)]
  else if left is 0 then [:: [::]] else [::].
Fixpoint cell_lines (ms : seq (seq nat)) (top : nat) (l : lines_left) (t : trie Q) : outcome
  (trie Q * lines_left) :=
  if ms is m :: ms' then
    let! (f, l) := take_line "input" l in
    let! s := found (values f) "input" in
    let! _ := require ((size s == size (ways m top)) && all (qle q0) s) "input" in
    cell_lines ms' top l (foldl (fun t p => insert t (m ++ p.1) p.2) t (zip (ways m top) s))
  else Ok (t, l).
Definition numbers_of (ss : seq (seq nat)) : trie nat :=
  foldl (fun t p => insert t p.2 p.1) (Node [::]) (zip (iota 0 (size ss)) ss).

(** An event of the file stands for those of all vectors that are alike: the candidates of its parts
    come first, the others follow in the order of their depths, and then they are named in every
    order. Of a candidate counts at which depths it is, and whether it is in a part; orders that
    differ in nothing else are one. *)
Section Expand.
Variables (c : lattice_choice) (cells : seq (seq nat * seq nat)) (vs ss : trie nat).
Local Notation n := (of_candidates c).
Local Notation T := (chosen_count c).
Definition depths_of (m : seq nat) : seq nat := flatten
  [seq nseq p.2 p.1 | p <- zip (iota 0 (size m)) m].
Definition others (m p : seq nat) : seq nat := depths_of
  [seq q.2 - count_mem q.1 p | q <- zip (iota 0 (size m)) m].
Definition expanded (e : seq (Z * Z * Z) * Q) : outcome (seq event) :=
  let (parts, nu) := e in
  let count := sumn [seq Z.to_nat (Z.min p.2 (Z.of_nat n.+1)) | p <- parts] in
  if ~~ ((T == 1) || (count == 1)) then Open "an event of several sets" else
  let! _ := require (all (fun p => Z.ltb p.1.1 (Z.of_nat (size cells)) &&
    Z.ltb p.1.2 (Z.of_nat (size cells))) parts && (count <= n)) "multiplier" in
  let cell i := nth ([::], [::]) cells (Z.to_nat i) in
  let first := head (Z0, Z0, Z0) parts in
  let a := (cell first.1.1).1 in let b := (cell first.1.2).1 in
  let! _ := require (all (fun p => ((cell p.1.1).1 == a) && ((cell p.1.2).1 == b)) parts)
    "multiplier" in
  let deep (of_part : Z * Z * Z -> Z) := flatten
    [seq flatten (nseq (Z.to_nat p.2) (depths_of (cell (of_part p)).2)) | p <- parts] in
  let v := let p := deep (fun p => p.1.2) in p ++ others b p in
  let w := let p := deep (fun p => p.1.1) in p ++ others a p in
  let! _ := require ((size v == n) && (size w == n)) "multiplier" in
  let orders := permutations [seq (nth 0 v i, nth 0 w i, i < count * T) | i <- iota 0 n] in
  let share := qdiv nu (qn (size orders)) in
  let one (p : seq (nat * nat * bool)) :=
    let named := [seq r <- iota 0 n | (nth (0, 0, false) p r).2] in
    let os := [seq lookup ss s | s <- if T == 1 then [seq [:: r] | r <- named] else [:: named]] in
    match lookup vs [seq r.1.1 | r <- p], lookup vs [seq r.1.2 | r <- p] with
    | Some i, Some j => if all isSome os then Some (Event i j (pmap id os) share) else None
    | _, _ => None end in
  let es := [seq one p | p <- orders] in
  let! _ := require (all isSome es) "multiplier" in Ok (pmap id es).
Fixpoint all_expanded (es : seq (seq (Z * Z * Z) * Q)) (done : seq event) : outcome (seq event) :=
  if es is e :: es' then let! evs := expanded e in all_expanded es' (catrev evs done) else Ok done.
End Expand.

Definition read_choice (rest : seq text) : outcome (lattice_choice * seq Q * seq event * Z) :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (zn, l) := take_int "n" l in
  let! (zk, l) := take_int "k" l in
  let! (zs, l) := take_int "step" l in
  let! (zt, l) := take_int "top" l in
  let! (rows, l) := take_one "constraints" l in
  let slack := same rows (word "approximate") in
  let! _ := require ((if Z.eqb zt 1 then slack else same rows (word "dp")) && Z.leb 1 zt &&
    Z.leb zt zn) "top" in
  let! (delta, l) := if slack then take_number "delta" l else Ok (q0, l) in
  let! _ := require (Z.leb 1 zk && Z.leb zk 65536 && Z.leb 1 zs && Z.leb (Z.mul zk zs) 65536) "step"
    in
  if Z.ltb 12 zn || Z.ltb 7000 (Z.pow (Z.succ (Z.mul zk zs)) zn) then
    Open "so large a lattice" else
  let n := Z.to_nat zn in let k := Z.to_nat (Z.mul zk zs) in let top := Z.to_nat zt in
  let! (losses, l) := take_values "loss" l in
  let! _ := require [&& size losses == k.+1, Qeq_bool (head q0 losses) q0 & sorted qle losses]
    "loss" in
  let! (p, l) := take_one "prior" l in
  let own := same p (word "weights") in let worst := same p (word "worst") in
  let! _ := require [|| own, worst, same p (word "uniform") | same p (word "box")] "prior" in
  let! (e, bits, o, l) := take_optimum l in
  let ms := rev (orbits n k) in
  let! (x, l) := cell_lines ms top l (Node [::]) in
  let! (ws, l) := if own || worst then weights (Z.of_nat (size ms)) (Zneg xH) l else Ok ([::], l) in
  let ws := all_weights 0 ms ws in
  let! (es, l) := multiplier_lines [::] l [::] in
  let! _ := finished rest l in
  let p := if own then Weights ws else if worst then Worst else if same p (word "box") then
    Shifts else Uniform in
  let c := LatticeChoice n k (Z.to_nat zs) top e delta losses p [::] o in
  let vs := lattice_vectors c in let ss := sets c in
  let table := [seq let m := tallied k v in
    [seq odflt q0 (lookup x (m ++ tallied k [seq nth 0 v r | r <- s])) | s <- ss] | v <- vs] in
  let cells := flatten [seq [seq (m, t) | t <- ways m top] | m <- ms] in
  let! events := all_expanded c cells (numbers_of vs) (numbers_of ss) es [::] in
  Ok (LatticeChoice n k (Z.to_nat zs) top e delta losses p table o,
    if worst then [seq weight_of_vector n k (Weights ws) v | v <- vs] else [::], events,
      Z.add bits 120).
(** Whether a file is of this kind. *)
Definition of_choices (rest : seq text) : bool :=
  ~~ same (nth [::] rest 4) (word "top 1") || same (nth [::] rest 5)
    (word "constraints approximate").

Definition check_choice (rest : seq text) : outcome lattice_choice :=
  check_described choice_problem (read_choice rest).
Theorem check_choice_sound (R : realFieldType) rest c : check_choice rest = Ok c ->
  optimum_within (choice_problem c) R.
Proof. exact: check_described_sound. Qed.
