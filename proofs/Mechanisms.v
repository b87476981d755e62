(** The definitions that every theorem of this folder speaks of.

    A selection mechanism gives each of n candidates a probability, which depends on the
    candidates' scores. Scores are numbers in units of the sensitivity Delta, so one person's data
    change each of them by at most 1. The number z stands for e^(-epsilon). Probabilities are in
    any ordered field R, scores in any ordered ring S: the reals, or the integers. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint perm.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mechanisms.
Variables (S : realDomainType) (R : realFieldType) (n : nat).

Definition score := {ffun 'I_n -> S}.
Definition mechanism := score -> 'I_n -> R.
Implicit Types (M : mechanism) (q : score) (r s : 'I_n).

(** At all scores the probabilities are nonnegative and sum to 1. *)
Definition proper_mechanism M :=
  (forall q r, 0 <= M q r) /\ (forall q, \sum_r M q r = 1).

(** Score vectors that one person's data may lead to: every score changes by at most Delta. *)
Definition neighbors q q' := forall s, `|q s - q' s| <= 1.

(** epsilon-differential privacy: e^(-epsilon) M(q)_r <= M(q')_r for neighbors q, q'. The events of
    a choice among n candidates are sums of such probabilities, so that it is enough to speak of
    single candidates. *)
Definition private (z : R) M :=
  forall q q', neighbors q q' -> forall r, z * M q r <= M q' r.

(** Adding the same number to all scores changes nothing. *)
Definition shift_invariant M :=
  forall q (c : S) r, M [ffun s => q s + c] r = M q r.

(** Candidates are treated alike: permuting their scores permutes their probabilities. *)
Definition symmetric_mechanism M :=
  forall q (p : {perm 'I_n}) r, M [ffun s => q (p s)] r = M q (p r).

(** Raising a candidate's score and lowering others' does not make it less likely. *)
Definition monotone M :=
  forall q q' r, q r <= q' r -> (forall s, s != r -> q' s <= q s) -> M q r <= M q' r.

End Mechanisms.

(** Scores that are whole multiples of the sensitivity. *)
Notation integers := int_realDomainType.

Section Lattice.
Variables (R : realFieldType) (n k : nat).

(** The lattice Q(n,k) of docs: depths 0, ..., k below the best score, at least one candidate at
    depth 0. *)
Definition depths := {ffun 'I_n -> 'I_k.+1}.
Definition in_lattice : pred depths := fun d => [exists s, d s == 0%N :> nat].

(** A table has a mechanism's probabilities on the lattice. A step of the depths is h, in units of
    the sensitivity, for example h = 2/L; Q(n,k) of docs has h = 2. *)
Definition table := depths -> 'I_n -> R.
Definition score_by (S : realDomainType) (h : S) (d : depths) : score S n :=
  [ffun s => - (h *+ d s)].
Definition table_by (S : realDomainType) (h : S) (M : mechanism S R n) : table :=
  fun d => M (score_by h d).

Implicit Type M : mechanism integers R n.
Definition score_of : depths -> score integers n := score_by (2%:R : integers).
Definition table_of M : table := fun d => M (score_of d).

(** A table's error is the expected depth of the chosen candidate: summed over the lattice, and in
    the mean. *)
Definition table_error (t : table) := \sum_(d | in_lattice d) \sum_r (d r)%:R * t d r.
Definition table_mean (t : table) := table_error t / (#|in_lattice|)%:R.
Definition total_error M := table_error (table_of M).
Definition mean_error M := table_mean (table_of M).

(** Other objectives (research/docs/threshold.md): c v is the loss where the choice is at depth v,
    and d weighs W d. *)
Definition loss (c : nat -> R) := c 0%N = 0 /\ forall u v, (u <= v)%N -> c u <= c v.
Definition product_prior (g : nat -> R) : depths -> R := fun d => \prod_s g (d s).
Definition table_loss (W : depths -> R) c (t : table) :=
  \sum_(d | in_lattice d) W d * \sum_r c (d r : nat) * t d r.

(** The objectives of certificates: the mean error over Q(n,k), or over the box of all vectors of
    depths from 0 to k, in which a vector of Q(n,k) stands for its shifts. *)
Inductive objective := Vectors | Box.
Definition shifts o (d : depths) : nat := if o is Box then (k.+1 - \max_s d s)%N else 1%N.
Definition objective_mean o (t : table) :=
  table_loss (fun d => (shifts o d)%:R) (fun v => v%:R) t / (\sum_(d
    | in_lattice d) shifts o d)%:R.

(** Other weights W d and losses c v of a choice at depth v: the mean loss, and the largest
    expected loss of any vector. *)
Definition mean_loss (W : depths -> R) c (t : table) :=
  table_loss W c t / \sum_(d | in_lattice d) W d.
Definition worst_loss (c : nat -> R) (t : table) :=
  \big[Num.max/0]_(d | in_lattice d) \sum_r c (d r : nat) * t d r.
End Lattice.
