(** What is computed for the symmetric program: count vectors, sums over them, the multipliers of
    chains, points. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip Numbers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** Finite maps from count vectors. *)
Section Tries.
Variable A : Type.
Inductive trie := Leaf of A | Node of seq trie.
Fixpoint lookup t m : option A := match m, t with
  | [::], Leaf a => Some a | i :: m', Node ts => lookup (nth (Node [::]) ts i) m'
    | _, _ => None end.
Fixpoint insert t m a := match m with
  | [::] => Leaf a
  | i :: m' => let ts := if t is Node ts then ts else [::] in
               Node (set_nth (Node [::]) ts i (insert (nth (Node [::]) ts i) m' a)) end.
End Tries.

Section Checker.
Variables (n k : nat) (z : Q).
Implicit Types (m : seq nat) (p : seq nat * nat).

Definition orbits := [seq m <- count_vectors k n | 0 < nth 0 m 0].

(** The greatest depth, and how much a vector with the counts m weighs. *)
Definition bottom m := foldr (fun v w => if 0 < nth 0 m v then maxn v w else w) 0 (iota 0 k.+1).
Definition shifts_of (o : objective) m : nat := if o is Box then k.+1 - bottom m else 1.

(** How many score vectors have the counts m. *)
Fixpoint zfact i : Z := if i is i'.+1 then Z.mul (Z.of_nat i) (zfact i') else Zpos xH.
Fixpoint zfacts (m : seq nat) : Z := if m is i :: m' then Z.mul (zfact i) (zfacts m') else Zpos xH.
Definition weight m : Q := qz (Z.div (zfact n) (zfacts m)).
Definition over_orbits (f : seq nat -> Q) : Q := qsum [seq qmul (weight m) (f m) | m <- orbits].
Definition vector_count o : Q := over_orbits (fun m => qn (shifts_of o m)).
Definition over_depths m (f : nat -> Q) : Q :=
  qsum [seq qmul (qn (nth 0 m v)) (f v) | v <- iota 0 k.+1].

(** From below: any y. Along a chain, reach is the cost and z times the multiplier of the next row,
    which is as small as it may be. *)
Variables (cost : seq nat * nat -> Q) (y : seq nat -> Q).
Definition excess p e := qsub e (qmin (y p.1) e).
Fixpoint reach f p : option Q := if f is f'.+1 then
    match count_next k p with
    | None => Some (cost p)
    | Some q => if reach f' q is Some e then Some (qadd (cost p) (qmul z (excess q e))) else None
    end else None.
Definition fuel := k.*2.+2.

(** From above: the probabilities x of a candidate at each depth. *)
Variable x : seq nat -> seq Q.
Definition prob m v := nth q0 (x m) v.

End Checker.

(** Z.of_nat of words, so that division is exact. *)
Lemma zfact_nat i : zfact i = Z.of_nat i`!.
Proof.
by elim: i => // i IH; rewrite factS -[zfact _]/(Z.mul (Z.of_nat i.+1) (zfact i)) IH Nat2Z.inj_mul.
Qed.
Lemma zfacts_nat k m : size m = k.+1 -> zfacts m = Z.of_nat (facts k m).
Proof.
move=> sm; have -> : zfacts m = Z.of_nat (\prod_(i <- m) i`!).
  by elim: m {sm} => [|i m IH]; rewrite ?big_nil // big_cons /= IH zfact_nat Nat2Z.inj_mul.
by rewrite (big_nth 0) sm big_mkord.
Qed.
Lemma facts_gt0 k m : 0 < facts k m. Proof. by rewrite /facts prodn_gt0 // => w; exact: fact_gt0.
Qed.

Section Soundness.
Local Open Scope ring_scope.
Variables (R : realFieldType) (n k : nat).
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Implicit Types (d : depths) (r : 'I_n) (t : table R n k) (m : seq nat).

Lemma weightE m : m \in count_vectors k n -> qR (weight n m) = (words k n m)%:R.
Proof.
move=> /count_vectors_size[sm su];
  rewrite /weight qRz zfact_nat (zfacts_nat sm) -(words_facts sm su).
rewrite Nat2Z.inj_mul Z.div_mul ?zR_nat //; have := facts_gt0 k m.
by case: (facts k m) => // f _; rewrite Nat2Z.inj_succ; move: (Nat2Z.is_nonneg f);
  case: (Z.of_nat f).
Qed.

Lemma over_orbitsE f : qR (over_orbits n k f) = \sum_(d : depths | in_lattice d) qR (f (counts d)).
Proof.
rewrite (eq_bigl (fun d : depths => (0 < nth 0%N (counts d) 0)%N)) => [|d];
  last by rewrite in_lattice_cnt nth_counts.
rewrite (sum_by_counts n k (fun m => qR (f m)) (fun m => 0 < nth 0%N m 0)%N) /over_orbits qR_sum.
rewrite big_filter big_seq_cond [RHS]big_seq_cond; apply: eq_bigr => m /andP[cm _].
by rewrite qR_mul weightE // mulr_natl.
Qed.
Lemma bottomE d : bottom k (counts d) = \max_s d s.
Proof.
have -> : bottom k (counts d) = \max_(v <- iota 0 k.+1 | (0 < nth 0 (counts d) v)%N) v
  by rewrite unlock.
apply/anti_leq/andP; split.
  apply/bigmax_leqP_seq => v _; rewrite nth_counts lt0n sum_nat_eq0 negb_forall => /existsP[s].
  by rewrite /= eqb0 negbK => /eqP <-; exact: leq_bigmax.
apply/bigmax_leqP => s _; apply: (@leq_bigmax_seq _ _ _ id); first by rewrite mem_iota ltn_ord.
by rewrite nth_counts cnt_pos.
Qed.
Lemma shifts_ofE o d : shifts_of k o (counts d) = shifts o d.
Proof. by case: o; rewrite //= bottomE. Qed.
Lemma vector_countE o : qR (vector_count n k o) = (\sum_(d : depths | in_lattice d) shifts o d)%:R.
Proof. by rewrite over_orbitsE natr_sum; apply: eq_bigr => d _; rewrite qRn shifts_ofE. Qed.
Lemma over_depthsE d f : qR (over_depths k (counts d) f) = \sum_r qR (f (d r)).
Proof.
rewrite /over_depths qR_sum -[iota 0 k.+1]/(index_iota 0 k.+1) big_mkord.
rewrite (eq_bigr (fun v : 'I_k.+1 => \sum_(r < n | d r == v) qR (f v))) => [|v _].
  rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => r _.
  by rewrite (big_pred1 (d r)) // => v; rewrite eq_sym.
rewrite qR_mul qRn nth_counts sumr_const mulr_natl; congr (_ *+ _).
rewrite -sum1_card /cnt [RHS]big_mkcond; apply: eq_bigr => r _.
by [].
Qed.

Variable x : seq nat -> seq Q.
Definition point : table R n k := fun d r => qR (prob x (counts d) (d r)).
End Soundness.
