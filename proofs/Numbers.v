(** Fractions that compute, and what they denote in an ordered field R. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Arithmetic in lowest terms. *)
Definition q0 : Q := Qmake Z0 xH.
Definition qz (a : Z) : Q := Qmake a xH.
Definition qn (i : nat) : Q := qz (Z.of_nat i).
Definition qadd a b := Qred (Qplus a b).
Definition qsub a b := Qred (Qminus a b).
Definition qmul a b := Qred (Qmult a b).
Definition qdiv a b := Qred (Qdiv a b).
Definition qle (a b : Q) : bool := Qle_bool a b.
Definition qmin a b := if qle a b then a else b.
Definition qmax a b := if qle a b then b else a.
(** A sum as a tree, which keeps the numbers short. *)
Fixpoint qpairs (s : seq Q) : seq Q := match s with a :: b :: t => qadd a b :: qpairs t
  | _ => s end.
Definition qsum (s : seq Q) : Q := foldr qadd q0 (iter 20 qpairs s).

Section Den.
Variable R : realFieldType.
Definition pR (p : positive) : R := (Pos.to_nat p)%:R.
Definition zR (a : Z) : R := match a with Z0 => 0 | Zpos p => pR p | Zneg p => - pR p end.
Definition qR (q : Q) : R := zR (Qnum q) / pR (Qden q).

Lemma pR_gt0 p : 0 < pR p.
Proof. by rewrite /pR ltr0n; apply/ssrnat.ltP; exact: Pos2Nat.is_pos. Qed.
Lemma pR_neq0 p : pR p != 0. Proof. by rewrite gt_eqF ?pR_gt0. Qed.
Lemma pRD p q : pR (Pos.add p q) = pR p + pR q.
Proof. by rewrite /pR Pos2Nat.inj_add -natrD. Qed.
Lemma pRM p q : pR (Pos.mul p q) = pR p * pR q.
Proof. by rewrite /pR Pos2Nat.inj_mul -natrM. Qed.
Lemma zR_pos_sub p q : zR (Z.pos_sub p q) = pR p - pR q.
Proof.
rewrite Z.pos_sub_spec; case: Pos.compare_spec => [->|lt|lt] /=; first by rewrite subrr.
  by rewrite -[in RHS](Pos.sub_add q p) // pRD opprD addrCA subrr addr0.
by rewrite -[in RHS](Pos.sub_add p q) // pRD addrK.
Qed.
Lemma zRD a b : zR (Z.add a b) = zR a + zR b.
Proof.
case: a b => [|p|p] [|q|q] //=; rewrite ?add0r ?addr0 ?pRD ?opprD ?zR_pos_sub //; exact: addrC.
Qed.
Lemma zRN a : zR (Z.opp a) = - zR a. Proof. by case: a => //= *; rewrite ?oppr0 ?opprK. Qed.
Lemma zRM a b : zR (Z.mul a b) = zR a * zR b.
Proof.
by case: a b => [|p|p] [|q|q] //=; rewrite ?mul0r ?mulr0 ?pRM ?mulrN ?mulNr ?opprK.
Qed.
Lemma zR_ge0 a : Z.le Z0 a -> 0 <= zR a.
Proof. by case: a => [|p|p] //= _; rewrite ltW ?pR_gt0. Qed.
Lemma zR_nat i : zR (Z.of_nat i) = i%:R.
Proof. by case: i => //= i; rewrite /pR SuccNat2Pos.id_succ. Qed.

Lemma qR_eq a b : Qeq a b -> qR a = qR b.
Proof.
rewrite /Qeq /qR => E; apply/eqP; rewrite eqr_div ?pR_neq0 //; apply/eqP.
by have := congr1 zR E; rewrite !zRM.
Qed.
Lemma qRD a b : qR (Qplus a b) = qR a + qR b.
Proof. by rewrite /qR /= zRD !zRM pRM addf_div ?pR_neq0. Qed.
Lemma qRN a : qR (Qopp a) = - qR a. Proof. by rewrite /qR /= zRN mulNr. Qed.
Lemma qRM a b : qR (Qmult a b) = qR a * qR b.
Proof. by rewrite /qR /= zRM pRM mulf_div. Qed.
Lemma qRV a : qR (Qinv a) = (qR a)^-1.
Proof.
rewrite /qR; case: a => [[|p|p] d] /=; first by rewrite mul0r mul0r invr0.
  by rewrite invf_div.
by rewrite !mulNr invrN invf_div.
Qed.

Lemma zRB a b : zR (Z.sub a b) = zR a - zR b. Proof. by rewrite /Z.sub zRD zRN. Qed.

Lemma qR0 : qR q0 = 0. Proof. by rewrite /qR /= mul0r. Qed.
Lemma qRz a : qR (qz a) = zR a. Proof. by rewrite /qR /= /pR divr1. Qed.
Lemma qRn i : qR (qn i) = i%:R. Proof. by rewrite /qn qRz zR_nat. Qed.
Lemma qR_add a b : qR (qadd a b) = qR a + qR b.
Proof. exact: etrans (qR_eq (Qred_correct _)) (qRD a b). Qed.
Lemma qR_sub a b : qR (qsub a b) = qR a - qR b.
Proof. by apply: etrans (qR_eq (Qred_correct _)) _; rewrite qRD qRN. Qed.
Lemma qR_mul a b : qR (qmul a b) = qR a * qR b.
Proof. exact: etrans (qR_eq (Qred_correct _)) (qRM a b). Qed.
Lemma qR_div a b : qR (qdiv a b) = qR a / qR b.
Proof. by apply: etrans (qR_eq (Qred_correct _)) _; rewrite qRM qRV. Qed.
Lemma qR_pairs s : \sum_(a <- qpairs s) qR a = \sum_(a <- s) qR a.
Proof.
elim: {s}(size s) {-2}s (leqnn (size s)) => [|i IH] [|a [|b s]] // le.
by rewrite !big_cons /= IH ?qR_add ?addrA // (leq_trans _ (le : (size s).+1 <= i)%N).
Qed.
Lemma qR_sum I (s : seq I) (F : I -> Q) : qR (qsum [seq F i | i <- s]) = \sum_(i <- s) qR (F i).
Proof.
have H t : qR (foldr qadd q0 t) = \sum_(a <- t) qR a.
  by elim: t => [|a t IH]; rewrite ?big_nil ?qR0 // big_cons /= qR_add IH.
rewrite /qsum H -(big_map F xpredT qR); elim: 20%N => // i IH.
by rewrite iterS qR_pairs.
Qed.
Lemma qR_le a b : qle a b = (qR a <= qR b).
Proof.
rewrite -subr_ge0 /qR /qle /Qle_bool.
have -> : zR (Qnum b) / pR (Qden b) - zR (Qnum a) / pR (Qden a) =
    zR (Z.sub (Z.mul (Qnum b) (Zpos (Qden a))) (Z.mul (Qnum a) (Zpos (Qden b)))) / (pR (Qden b) *
      pR (Qden a)).
  by rewrite zRB !zRM -mulNr addf_div ?pR_neq0 // mulNr.
rewrite pmulr_lge0 ?invr_gt0 ?mulr_gt0 ?pR_gt0 //.
case: (Z.leb_spec (Z.mul (Qnum a) (Zpos (Qden b))) (Z.mul (Qnum b) (Zpos (Qden a)))) => h.
  by symmetry; apply: zR_ge0; apply/Zle_minus_le_0.
symmetry; apply/negbTE; rewrite -ltNge -oppr_gt0 -zRN.
move/Z.lt_0_sub: h; rewrite Z.opp_sub_distr Z.add_comm Z.add_opp_r.
by case: (Z.sub _ _) => //= p _; exact: pR_gt0.
Qed.
Lemma qR_min a b : qR (qmin a b) = Num.min (qR a) (qR b).
Proof. by rewrite /qmin qR_le /Order.min; case: ltgtP. Qed.
End Den.
