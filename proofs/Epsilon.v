(** Which number e^-epsilon is: given, or enclosed by the series of the exponential function. *)
From Coq Require Import ZArith QArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From Optratio Require Import Numbers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A certificate has e^-epsilon, or epsilon, as a fraction; or it asks for a root of the one. *)
Inductive parameter := ExpMinus of Q | Epsilon of Q | Root of positive & Q.

Section Meaning.
Variable R : realFieldType.
(** The first j terms of the series of e^-x. *)
Definition partial (x : R) j : R := \sum_(i < j) (- x) ^+ i / i`!%:R.
(** z is e^-x: whenever x/m <= 1, its m-th root lies between any even and the next odd number of
    terms of the series at x/m, as they fall in size and alternate in sign. No two numbers of an
    archimedean field are so. *)
Definition is_exp_minus (x z : R) := forall m, (0 < m)%N -> x <= m%:R ->
  exists2 y, z = y ^+ m & forall j, partial (x / m%:R) j.*2 <= y <= partial (x / m%:R) j.*2.+1.
Definition stands_for (p : parameter) (z : R) : Prop := match p with
  | ExpMinus q => z = qR R q | Epsilon e => is_exp_minus (qR R e) z
  | Root i q => 0 <= z /\ z ^+ Pos.to_nat i = qR R q end.
End Meaning.

(** The terms of the series from number i on, the next one being t. *)
Fixpoint qterms (x t : Q) (i j : nat) : seq Q :=
  if j is j'.+1 then t :: qterms x (qdiv (qmul (qsub q0 x) t) (qn i)) i.+1 j' else [::].
Definition qpartial x j := qsum [seq t | t <- qterms x (qn 1) 1 j].
Fixpoint qto (x : Q) i : Q := if i is i'.+1 then qmul x (qto x i') else qn 1.
(** Multiples of 2^-bits, which are short. *)
Definition power2 (bits : nat) : positive := Pos.iter xO xH (Pos.of_succ_nat bits).
Definition floor_at (bits : nat) (x : Q) : Q :=
  let d := power2 bits in Qred (Qmake (Z.div (Z.mul (Qnum x) (Zpos d)) (Zpos (Qden x))) d).
Definition ceil_at bits x := qsub q0 (floor_at bits (qsub q0 x)).
(** The whole part of a root, by halving a step of 2^height. *)
Fixpoint root_from (height : nat) (i : positive) (x m : Z) : Z :=
  let above := Z.add m (Z.pow 2 (Z.of_nat height)) in
  let m' := if Z.leb (Z.pow above (Zpos i)) x then above else m in
  if height is h.+1 then root_from h i x m' else m'.
Definition root_ends (bits : nat) (i : positive) (q : Q) : Q * Q :=
  let whole_root x := root_from (Z.to_nat (Z.log2 x)) i x Z0 in
  let r := Qred (Qmake (whole_root (Qnum q)) (Z.to_pos (whole_root (Zpos (Qden q))))) in
  if Qeq_bool (qto r (Pos.to_nat i)) q then (r, r) else
  let d := power2 bits in let power := Z.pow (Zpos d) (Zpos i) in
  let high := Z.to_nat (Z.log2 (Z.succ (Z.div (Qnum q) (Zpos (Qden q))))) in
  let m := root_from (bits + high) i (Z.div (Z.mul (Qnum q) power) (Zpos (Qden q))) Z0 in
  (Qred (Qmake m d), Qred (Qmake (Z.succ m) d)).
(** Two numbers of which z lies between. That rounding goes the right way is looked at. *)
Definition ends (bits : nat) (p : parameter) : option (Q * Q) := match p with
  | ExpMinus q => Some (q, q)
  | Epsilon e =>
    let m := (Z.to_nat (Z.div (Qnum e) (Zpos (Qden e)))).+1 in let x := qdiv e (qn m) in let j :=
      (bits %/ 8 + 8)%N in
    let a := qpartial x j.*2 in let b := qpartial x j.*2.+1 in
    let a' := floor_at bits (qto a m) in let b' := ceil_at bits (qto b m) in
    if [&& qle e (qn m), qle q0 a, qle a' (qto a m) & qle (qto b m) b'] then Some (a', b')
      else None
  | Root i q => let (a, b) := root_ends bits i q in let to x := qto x (Pos.to_nat i) in
    if [&& qle q0 a, qle q0 b, qle (to a) q & qle q (to b)] then Some (a, b) else None end.

(** e^(-d epsilon). Long powers and high roots are left open. *)
Definition same_q (a b : Q) : bool := Z.eqb (Qnum a) (Qnum b) && Pos.eqb (Qden a) (Qden b).
Definition at_distance (p : parameter) (d : Q) : option parameter := if same_q d (qn 1) then Some p
  else match p with
  | Epsilon e => Some (Epsilon (qmul d e))
  | ExpMinus q => if [&& Z.leb (Zpos (Qden d)) 64, Z.leb 0 (Qnum d) &
    Z.leb (Z.mul (Qnum d) (Z.succ (Z.log2 (Zpos (Qden q))))) 8192]
      then let power := qto q (Z.to_nat (Qnum d)) in
        Some (if Pos.eqb (Qden d) xH then ExpMinus power else Root (Qden d) power) else None
  | Root _ _ => None end.

Section Soundness.
Variable R : realFieldType.
Local Notation qR := (qR R).

Lemma qtermsE x t i j : [seq qR u | u <- qterms x t i.+1 j] =
  [seq qR t * (- qR x) ^+ v * i`!%:R / (i + v)`!%:R | v <- iota 0 j].
Proof.
elim: j t i => //= j IH t i; rewrite expr0 mulr1 addn0 mulfK ?pnatr_eq0 -?lt0n ?fact_gt0 //;
  congr cons.
rewrite IH -[1%N]add1n iotaDl -map_comp; apply: eq_map => v /=.
rewrite qR_div qR_mul qR_sub qR0 sub0r qRn add1n addnS addSn exprS (factS i) natrM.
have nz : (i.+1)%:R != 0 :> R by rewrite pnatr_eq0.
have := fact_gt0 (i + v).+1; set f := _`!; rewrite -(ltr0n R) => /lt0r_neq0 fz.
by field; rewrite fz -mulrS nz.
Qed.

Lemma qpartialE x j : qR (qpartial x j) = partial (qR x) j.
Proof.
rewrite /qpartial qR_sum -(big_map qR xpredT id) qtermsE big_map /partial.
have -> : iota 0 j = index_iota 0 j by rewrite /index_iota subn0.
rewrite big_mkord.
by apply: eq_bigr => v _; rewrite qRn mul1r fact0 mulr1 add0n.
Qed.
Lemma qtoE x i : qR (qto x i) = qR x ^+ i.
Proof. by elim: i => [|i IH]; rewrite ?qRn // exprS -IH -qR_mul. Qed.

Theorem endsE bits p z a b : ends bits p = Some (a, b) -> stands_for p z -> qR a <= z <= qR b.
Proof.
case: p => [q|e|i q]; rewrite /ends /stands_for; first by case=> -> -> ->; rewrite lexx.
  2: { case: (root_ends _ _ _) => lo hi; case: ifP => // /and4P[]; rewrite !(qR_le R) qR0 !qtoE.
    move=> lo0 hi0 low high [<- <-] [z0 E]; have i0 : (0 < Pos.to_nat i)%N
      by apply/ssrnat.ltP; exact: Pos2Nat.is_pos.
    by rewrite -(ler_pexpn2r i0) ?nnegrE // -[z <= _](ler_pexpn2r i0) ?nnegrE // E low. }
have : (0 < (Z.to_nat (Z.div (Qnum e) (Zpos (Qden e)))).+1)%N by [].
move: (Z.to_nat _).+1 (_ + 8)%N => m j m0; case: ifP => // /and4P[em a0 la lb] [<- <-] /(_ m m0).
rewrite -(qRn R) -qR_le => /(_ em) [y -> /(_ j)].
rewrite qRn -(qRn R) -qR_div -!qpartialE => /andP[ay yb].
move: la lb a0; rewrite !(qR_le R) !qtoE qR0 => la lb a0; have y0 := le_trans a0 ay.
by rewrite (le_trans la) ?(le_trans _ lb) // ler_expn2r // nnegrE // (le_trans y0).
Qed.
End Soundness.
