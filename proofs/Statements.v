(** The main theorems once more, each with all that it assumes, and proved by the theorem of the
    same name elsewhere. What they speak of is defined in Mechanisms.v, and where a comment
    says. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint perm.
From Optratio Require Import Mechanisms Program Levels PermuteAndFlip Objectives Private Sharp
  Numbers.
From Optratio Require Import Exponential Forms Depths Best Epsilon Reader Certificate Witness Kept
  Table Grid Choice Sections.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** * The program of the optimal mechanism

    research/docs/levels.md, Theorems 1 and 2. The levels and [feasible] are those of Program.v. *)
Theorem table_of_feasible (R : realFieldType) (n k : nat) (z : R) (M : mechanism integers R n) (l :
  level) :
  proper_mechanism M -> private z M -> shift_invariant M ->
  (l = Monotone \/ l = Full -> monotone M) ->
  feasible z l (table_of M : table R n k).
Proof. exact: Program.table_of_feasible. Qed.

Theorem full_is_monotone (R : realFieldType) (n k : nat) (z : R) (t : table R n k) :
  0 <= z -> z <= 1 -> feasible z Full t <-> feasible z Monotone t.
Proof. by move=> z0 z1; exact: Levels.full_is_monotone. Qed.

(** research/docs/extension.md. *)
Theorem tables_of_mechanisms (R : realFieldType) (n k : nat) (z : R) (t : table R n k) :
  (0 < n)%N ->
  (exists M : mechanism integers R n, [/\ proper_mechanism M, private z M & shift_invariant M] /\
    forall d r, in_lattice d -> table_of M d r = t d r) <-> feasible z Dp t.
Proof. by move=> n0; exact: Best.tables_of_mechanisms. Qed.

(** * Where permute-and-flip is optimal

    research/docs/threshold.md, Theorems 1 and 2. [pf_table z] is defined in PermuteAndFlip.v. *)
Theorem pf_optimal_for_losses (R : realFieldType) (n k : nat) (z : R) (g c : nat ->
  R) (t : table R n k) :
  0 < z -> loss c -> 0 < g 0%N -> (forall v, 0 <= g v) ->
  (n <= 2)%N || (\sum_(1 <= v < k.+1) g v * z ^+ v <= g 0%N) -> feasible z Paper t ->
  table_loss (product_prior g) c (pf_table z : table R n k) <= table_loss (product_prior g) c t.
Proof. exact: PermuteAndFlip.pf_optimal_for_losses. Qed.

Theorem pf_optimal_iff_for_losses (R : realFieldType) (n k : nat) (z : R) (l : level) (g c : nat ->
  R) :
  (2 < n)%N -> 0 < z -> z < 1 -> loss c -> 0 < g 0%N -> (forall v, 0 <= g v) ->
  (exists2 u, (u <= k)%N & 0 < g u * c u) ->
  (forall t : table R n k, feasible z l t ->
    table_loss (product_prior g) c (pf_table z : table R n k) <= table_loss (product_prior g) c t)
      <->
  \sum_(1 <= v < k.+1) g v * z ^+ v <= g 0%N.
Proof. by move=> n3 z0 z1; exact: Sharp.pf_optimal_iff_for_losses. Qed.

Theorem pf_optimal (R : realFieldType) (n k : nat) (z : R) (t : table R n k) :
  0 < z -> \sum_(1 <= v < k.+1) z ^+ v <= 1 -> feasible z Paper t ->
    table_mean (pf_table z : table R n k) <= table_mean t.
Proof. exact: PermuteAndFlip.pf_optimal. Qed.

Theorem pf_optimal_half (R : realFieldType) (n k : nat) (z : R) (t : table R n k) :
  0 < z -> z + z <= 1 -> feasible z Paper t ->
    table_mean (pf_table z : table R n k) <= table_mean t.
Proof. exact: PermuteAndFlip.pf_optimal_half. Qed.

Theorem pf_optimal_iff (R : realFieldType) (n k : nat) (z : R) (l : level) :
  (2 < n)%N -> 0 < z -> z < 1 ->
  (forall t : table R n k, feasible z l t -> table_mean (pf_table z : table R n k) <= table_mean t)
    <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof. by move=> n3 z0 z1; exact: Sharp.pf_optimal_iff. Qed.

Theorem pf_optimal_box (R : realFieldType) (n k : nat) (z : R) (t : table R n k) :
  0 < z -> (n <= 2)%N || (\sum_(1 <= v < k.+1) z ^+ v <= 1) -> feasible z Paper t ->
  objective_mean Box (pf_table z : table R n k) <= objective_mean Box t.
Proof. exact: Objectives.pf_optimal_box. Qed.

Theorem pf_optimal_box_iff (R : realFieldType) (n k : nat) (z : R) (l : level) :
  (3 < n)%N -> 0 < z -> z < 1 ->
  (forall t : table R n k, feasible z l t ->
    objective_mean Box (pf_table z : table R n k) <= objective_mean Box t) <->
  \sum_(1 <= v < k.+1) z ^+ v <= 1.
Proof. by move=> n4 z0 z1; exact: (Sharp.pf_optimal_box_iff k (ltnW n4) z0 z1 l n4). Qed.

(** Of all mechanisms, permute-and-flip being one itself. [permute_and_flip E] is defined in
    Private.v, for any E such as E(x) = e^(-epsilon x/2), for which E(1 + 1) = e^(-epsilon). *)
Theorem pf_best (R : realFieldType) (n k : nat) (E : integers -> R) (M : mechanism integers R n) :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
  \sum_(1 <= v < k.+1) E (1 + 1) ^+ v <= 1 -> proper_mechanism M -> private (E (1 + 1)) M ->
    shift_invariant M ->
  mean_error k (@permute_and_flip _ R n E) <= mean_error k M.
Proof. by move=> ED E0; exact: Private.pf_best. Qed.

Theorem pf_best_iff (R : realFieldType) (n k : nat) (E : integers -> R) :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
    (forall x y, x <= y -> E y <= E x) ->
  (2 < n)%N -> E (1 + 1) < 1 ->
  (forall M : mechanism integers R n, proper_mechanism M -> private (E (1 + 1)) M ->
    shift_invariant M ->
    mean_error k (@permute_and_flip _ R n E) <= mean_error k M) <->
  \sum_(1 <= v < k.+1) E (1 + 1) ^+ v <= 1.
Proof. by move=> ED E0 E1 n3 z1; exact: Best.pf_best_iff. Qed.

Theorem pf_private (S : realDomainType) (R : realFieldType) (n : nat) (E : S -> R) :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
    (forall x y, x <= y -> E y <= E x) ->
  private (E (1 + 1)) (@permute_and_flip S R n E).
Proof. exact: Private.pf_private. Qed.

(** * Permute-and-flip and the exponential mechanism

    research/docs/claims-proofs.md. [top q r] is the best score. *)
Theorem pf_dominates (S : realDomainType) (R : realFieldType) (n : nat) (E : S ->
  R) (q : score S n) (f : 'I_n -> R) :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
    (forall x y, x <= y -> E y <= E x) ->
  (forall r s, q r <= q s -> f s <= f r) ->
  \sum_r f r * permute_and_flip E q r <= \sum_r f r * exponential E q r.
Proof. by move=> ED E0 E1; exact: Exponential.pf_dominates. Qed.

Theorem pf_tail (S : realDomainType) (R : realFieldType) (n : nat) (E : S ->
  R) (q : score S n) (t : S) :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
    (forall x y, x <= y -> E y <= E x) ->
  \sum_(r | t <= top q r - q r) permute_and_flip E q r <= \sum_(r | t <= top q r - q r) exponential
    E q r.
Proof. by move=> ED E0 E1; exact: Exponential.pf_tail. Qed.

Theorem em_within (S : realDomainType) (R : realFieldType) (n : nat) (E : S ->
  R) (q : score S n) (r : 'I_n) :
  (forall x y, E (x + y) = E x * E y) -> (forall x, 0 < E x) ->
    (forall x y, x <= y -> E y <= E x) ->
  q r < top q r ->
  exponential E q r < (1 + (#|[set s | q s == top q s]|%:R)^-1) * permute_and_flip E q r.
Proof. by move=> ED E0 E1; exact: Exponential.em_within. Qed.

(** Permute-and-flip as an algorithm, and McKenna & Sheldon's forms of it. [pf w r] is the integral
    of PermuteAndFlip.v; [visit] and [elementary_without] are defined in Forms.v. *)
Theorem pf_algorithm (R : realFieldType) (n : nat) (w : 'I_n -> R) (r : 'I_n) :
  pf w r = (\sum_(t <- permutations (enum 'I_n)) visit w t r) / n`!%:R.
Proof. exact: Forms.pf_algorithm. Qed.

Theorem pf_orders (R : realFieldType) (n : nat) (w : 'I_n -> R) (r : 'I_n) :
  pf w r = w r * (\sum_(t <- permutations (enum 'I_n)) \prod_(s <- take (index r t) t) (1 - w s)) /
    n`!%:R.
Proof. exact: Forms.pf_orders. Qed.

Theorem pf_subsets (R : realFieldType) (n : nat) (w : 'I_n -> R) (r : 'I_n) :
  pf w r = w r * \sum_(A : {set 'I_n} | r \notin A) (-1) ^+ #|A| / #|A|.+1%:R * \prod_(s in A) w s.
Proof. exact: Forms.pf_subsets. Qed.

Theorem pf_esym (R : realFieldType) (n : nat) (w : 'I_n -> R) (r : 'I_n) :
  pf w r = w r * \sum_(i < n) (-1) ^+ i / i.+1%:R *
    elementary_without [seq w s | s <- enum 'I_n] (w r) i.
Proof. exact: Forms.pf_esym. Qed.

(** * Unequal sensitivities

    research/docs/unequal.md, Theorems 2, 6 and 7, and heterogeneous.md, Theorem 1. The depths are
    defined in Depths.v. *)
Theorem runner_private (S R : realFieldType) (n : nat) (Delta : 'I_n ->
  S) (z : R) (M : mechanism S R n) :
  (forall s, 0 <= Delta s) -> private z M -> monotone M -> shift_invariant M ->
  (forall r s, r != s -> 0 < Delta r + Delta s) ->
    private_at Delta z (at_depths M (runner_depths Delta)).
Proof. by move=> D0; exact: Depths.runner_private. Qed.

Theorem partner_private (S R : realFieldType) (n : nat) (Delta : 'I_n ->
  S) (z : R) (M : mechanism S R n) :
  (forall s, 0 <= Delta s) -> private z M -> monotone M -> shift_invariant M ->
  private_at Delta z (at_depths M (partner_depths Delta)).
Proof. by move=> D0; exact: Depths.partner_private. Qed.

Theorem pair_private (S R : realFieldType) (n : nat) (Delta : 'I_n ->
  S) (z : R) (M : mechanism S R n) :
  (forall s, 0 <= Delta s) -> private z M -> monotone M -> shift_invariant M ->
  private_at Delta z (at_depths M (pair_depths Delta)).
Proof. by move=> D0; exact: Depths.pair_private. Qed.

Theorem mixed_private (S R : realFieldType) (n : nat) (Delta : 'I_n ->
  S) (z : R) (M : mechanism S R n) (m most : S) :
  (forall s, 0 <= Delta s) -> private z M -> monotone M -> shift_invariant M ->
    between_largest Delta m most ->
  (forall r s, r != s -> 0 < Delta r + Delta s) ->
    private_at Delta z (at_depths M (mixed_depths Delta m most)).
Proof. by move=> D0 Mp Mm Ms; exact: Depths.mixed_private. Qed.

(** * The verified checker

    [check] reads a file byte by byte. What [true_of] says of it is defined in Certificate.v
    ([claims_hold]), Witness.v ([too_likely]) and Kept.v ([kept]); which z a file may mean
    ([stands_for]), in Epsilon.v. *)
Theorem check_sound (R : realFieldType) (file : seq Ascii.ascii) (p : proved) :
  check file = Ok p -> true_of R p.
Proof. exact: Sections.check_sound. Qed.

Theorem check_bounds (S : realDomainType) (R : realFieldType) (file : seq Ascii.ascii) (c : claims)
  (h : S) (z : R)
    (M : mechanism S R (candidates c)) :
  check file = Ok (Bounds c) -> h *+ steps c = 2%:R -> stands_for (privacy c) z ->
  proper_mechanism M -> private z M -> shift_invariant M -> (rows c = Monotone \/ rows c = Full ->
    monotone M) ->
  qR R (optimum c).1 <= value_of (weighted c) (losses c) (table_by h M : table R (candidates c)
    (deepest c)).
Proof. exact: Sections.check_bounds. Qed.

(** What [refuted] says of a witness is defined in Witness.v: of which numbers the scores are, in
    units of the sensitivity, is [in_units], and [within_stake] asks for probabilities within the
    file's intervals. The outcomes of the event are sets of candidates, S o. *)
Theorem witness_refutes (R : realFieldType) (n : nat) (w : witness) (kind : seq Ascii.ascii)
    (u : QArith_base.Q) (q q' : seq QArith_base.Q) (z : R) (M : mechanism R R n)
    (S : nat -> {set 'I_n}) :
  refuted R w -> found_at w = AtScores kind u q q' -> linf kind -> size q = n -> 0 < qR R u ->
  qR R (slack w) = 0 -> away w = qn 1 -> stands_for (lost w) z ->
  let chances s o := \sum_(r in S o) M (in_units R n u s) r in
  each (within_stake (chances q) (chances q')) (stakes w) -> ~ private z M.
Proof. exact: Witness.witness_refutes. Qed.

(** [kept] is defined in Kept.v, and what else is asked here is what the checker looks at. *)
Theorem all_kept_sound (R : realFieldType) (bits : BinNums.Z) (t : private_table) es u :
  not_negative t -> enclosures bits (keeps t) (pairs t) [::] = Ok es ->
  all_kept t es (pairs t) = Ok u -> kept R t.
Proof. exact: Kept.all_kept_sound. Qed.

(** Of the three kinds of finite problems [optimum_within], in Table.v, says what the least loss is:
    of all private tables; of candidates of unequal sensitivities, which are a [grid] of Grid.v; and
    of choices of several candidates, or with delta, which are a [lattice_choice] of Choice.v. *)
Theorem check_table_sound (R : realFieldType) (rest : seq (seq Ascii.ascii)) (p : finite_problem) :
  check_table rest = Ok p -> optimum_within p R.
Proof. exact: Table.check_table_sound. Qed.

Theorem grid_bounds (R : realFieldType) (g : grid) (z : R)
    (M : mechanism R R (size (sensitivities g))) :
  optimum_within (problem_of g) R -> stands_for (budget g) z -> proper_mechanism M ->
  private_at (fun r => qR R (seq.nth q0 (sensitivities g) r)) z M ->
  (by_differences g -> shift_invariant M) ->
  loses_at_least (problem_of g) (qR R (grid_optimum g).1) (table_on M).
Proof. exact: Grid.grid_bounds. Qed.

Theorem choice_bounds (S : realDomainType) (R : realFieldType) (c : lattice_choice) (h : S) (z : R)
    (M : choice c S R) :
  optimum_within (choice_problem c) R -> stands_for (choice_privacy c) z ->
  (0 < of_candidates c)%N -> h *+ finer c = 2%:R ->
  proper_choice M -> private_choice z M (qR R (choice_delta c)) ->
  (forall (q : score S (of_candidates c)) a o, M [ffun s => q s + a] o = M q o) ->
  loses_at_least (choice_problem c) (qR R (choice_optimum c).1) (choice_table h M).
Proof. exact: Choice.choice_bounds. Qed.
