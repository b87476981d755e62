(** What a certificate's claims say about mechanisms: permute-and-flip's loss is at most the
    claimed ratio times that of any mechanism of the level, and the claimed optimum is attained by
    a mechanism. *)
From Coq Require Import QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program CountVectors PermuteAndFlip Exponential Numbers
  Epsilon.
From Optratio Require Import Certificate Best RealScores.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Any.
Variables (S : realDomainType) (R : realFieldType) (c : claims) (z : R) (h : S).
Notation n := (candidates c).
Notation loss t := (value_of (weighted c) (losses c) (t : table R n (deepest c))).
Hypotheses (ok : claims_hold R c) (zp : stands_for (privacy c) z).
Hypothesis hL : h *+ steps c = 2%:R.
Variable M : mechanism S R n.
Hypotheses (Mp : proper_mechanism M) (Mz : private z M) (Ms : shift_invariant M).
Hypothesis Mm : rows c = Monotone \/ rows c = Full -> monotone M.

(** [claims_hold] is what [check_sound] says of an accepted file. *)
Theorem pf_ratio_any i : pf_ratio c = Some i ->
  loss (pf_table z) <= qR R i.2 * loss (table_by h M).
Proof.
move=> ri; have [_ _ _ []] := ok zp; rewrite /= ri => -[_ all] _.
by have [] := all _ (table_by_feasible _ hL Mp Mz Ms Mm).
Qed.
Theorem em_ratio_any i : em_ratio c = Some i ->
  loss (em_table z) <= qR R i.2 * loss (table_by h M).
Proof.
move=> ri; have [_ _ _ []] := ok zp; rewrite /= ri => _ [_ all].
by have [] := all _ (table_by_feasible _ hL Mp Mz Ms Mm).
Qed.
End Any.

(** At levels dp and full the other ends are attained by private mechanisms on real scores, whose
    tables satisfy the rows of the level: at full they are monotone as far as the lattice goes. *)
Section Attained.
Variables (R : archiFieldType) (c : claims) (z h : R).
Notation n := (candidates c).
Notation table_at M := (table_by h M : table R n (deepest c)).
Notation loss t := (value_of (weighted c) (losses c) (t : table R n (deepest c))).
Notation allowed := (feasible_by (steps c) z (rows c)).
Hypotheses (ok : claims_hold R c) (zp : stands_for (privacy c) z).
Hypotheses (hL : h *+ steps c = 2%:R) (n0 : (0 < n)%N) (dp : rows c = Dp \/ rows c = Full).

Lemma value_same (t t' : table R n (deepest c)) : same_on_lattice t t' -> loss t = loss t'.
Proof.
move=> same; rewrite /value_of /mean_loss /worst_loss.
case: (weighted c) => [||ws|]; rewrite ?(loss_same _ _ same) //.
by apply: eq_bigr => d Qd; apply: eq_bigr => r _; rewrite same.
Qed.

Lemma mechanism_of (t : table R n (deepest c)) : allowed t ->
  exists M : mechanism R R n, [/\ proper_mechanism M, private z M & shift_invariant M] /\
    allowed (table_at M) /\ loss (table_at M) = loss t.
Proof.
move=> ft; have ft' : feasible_by (steps c) z Dp t.
  by case: ft => tp rows_t; split=> //; case: dp rows_t => -> // -[].
have [M [Mok same]] := (real_tables_of_mechanisms z t hL n0).2 ft'.
exists M; split=> //; split; last exact: value_same.
by apply: feasible_same ft => d r Qd; rewrite same.
Qed.

Theorem optimum_attained : exists M : mechanism R R n,
  [/\ proper_mechanism M, private z M & shift_invariant M] /\ allowed (table_at M) /\
  loss (table_at M) <= qR R (optimum c).2.
Proof.
have [_ [t [/mechanism_of[M [Mok [fM E]]] le]] _ _] := ok zp.
by exists M; rewrite E.
Qed.
Theorem pf_ratio_attained i : pf_ratio c = Some i -> exists M : mechanism R R n,
  [/\ proper_mechanism M, private z M & shift_invariant M] /\ allowed (table_at M) /\
  qR R i.1 * loss (table_at M) <= loss (pf_table z).
Proof.
move=> ri; have [_ _ _ []] := ok zp;
  rewrite /= ri => -[[t [/mechanism_of[M [Mok [fM E]]] le]] _] _.
by exists M; rewrite E.
Qed.
End Attained.
