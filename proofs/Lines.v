(** Reading the lines that all sections have, and the numbers that e^-epsilon lies between. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Numbers Epsilon Reader.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

Lemma bindE A B (a : outcome A) (f : A -> outcome B) b : bind a f = Ok b ->
  exists2 v, a = Ok v & f v = Ok b.
Proof. by case: a => // v E; exists v. Qed.
Lemma requireE b s u : require b s = Ok u -> b. Proof. by case: b. Qed.

(** Reading the lines. A reader takes what it knows from the front of the remaining lines. *)
Definition lines_left := seq (seq text).
Definition take_line (name : string) (l : lines_left) : outcome (seq text * lines_left) :=
  if l is (a :: f) :: l' then if same a (word name) then Ok (f, l') else Bad name else Bad name.
Definition take_one (name : string) l : outcome (text * lines_left) :=
  let! (f, l') := take_line name l in if f is [:: a] then Ok (a, l') else Bad name.
Definition take_int name l : outcome (Z * lines_left) :=
  let! (a, l') := take_one name l in let! i := found (whole a) name in Ok (i, l').
Definition claimed_interval name (a b : text) : outcome (Q * Q) :=
  match claimed a, claimed b with
  | Some lo, Some hi => if qle lo hi then Ok (lo, hi) else Bad name | _, _ => Bad name end.
Definition take_claim (what : string) (l : lines_left) : outcome (option (Q * Q) * lines_left) :=
  if l is (c :: f) :: l' then
    let w := fields (word what) in let s := size w in
    if same c (word "claim") && all2 same (take s f) w then
      if drop s f is [:: a; b] then let! i := claimed_interval "claim" a b in
        Ok (Some i, l') else Bad "claim"
    else Ok (None, l)
  else Ok (None, l).

Definition values (f : seq text) : option (seq Q) :=
  let o := [seq short_fraction a | a <- f] in
  if all isSome o then Some [seq odflt q0 a | a <- o] else None.

(** Lines that give some of many things a weight. *)
Fixpoint weights (most last : Z) (left : lines_left) : outcome (seq (Z * Q) * lines_left) :=
  match left with
  | (a :: f) :: rest => if same a (word "weight") then
      if f is [:: i; v] then
        let! i := found (whole i) "weight" in
        let! v := found (short_fraction v) "weight" in
        let! _ := require [&& Z.ltb last i, Z.ltb i most & ~~ qle v q0] "weight" in
        let! (ws, rest) := weights most i rest in Ok ((i, v) :: ws, rest)
      else Bad "weight"
    else Ok ([::], left)
  | _ => Ok ([::], left) end.
Fixpoint all_weights (i : Z) (ms : seq (seq nat)) (ws : seq (Z * Q)) : seq Q :=
  if ms is _ :: ms' then
    match ws with
    | (j, v) :: ws' => if Z.eqb i j then v :: all_weights (Z.succ i) ms' ws'
      else q0 :: all_weights (Z.succ i) ms' ws
    | [::] => q0 :: all_weights (Z.succ i) ms' ws end
  else [::].

(** epsilon or exp-epsilon, as every section has them. *)
Definition take_parameter (l : lines_left) : outcome (parameter * lines_left) :=
  let short (a : text) := at_most 4096 a in
  let bits e := Z.ltb (Z.abs (Qnum e)) (Z.pow 2 4096) && Z.ltb (Zpos (Qden e)) (Z.pow 2 4096) in
  if take_one "epsilon" l is Ok (a, l) then
    let! _ := require (short a) "epsilon" in
    let! e := found (rational a) "epsilon" in
    let! _ := require (qle q0 e && bits e) "epsilon" in Ok (Epsilon e, l)
  else
    let! (a, l) := take_one "exp-epsilon" l in
    let! _ := require (short a) "exp-epsilon" in
    let! e := found (rational a) "exp-epsilon" in
    let! _ := require (qle (qn 1) e && bits e) "exp-epsilon" in Ok (ExpMinus (qdiv (qn 1) e), l).
(** epsilon, the precision and the claim of the optimum of a finite problem. *)
Definition take_optimum (l : lines_left) : outcome (parameter * Z * (Q * Q) * lines_left) :=
  let! (e, l) := take_parameter l in
  let! (bits, l) := take_int "precision" l in
  let! _ := require (Z.leb bits 16384) "precision" in
  let! (o, l) := take_claim "optimum" l in
  let! o := found o "claim optimum" in Ok (e, bits, o, l).
(** The last line, which counts those before it, of which the first two were taken off. *)
Definition finished (rest : seq text) (l : lines_left) : outcome unit :=
  let! (count, l) := take_int "end" l in
  require (Z.eqb count (Z.of_nat (size rest)) && nilp l) "end".
(** The numbers that z lies between, to so many bits. What takes powers of more than some 2^21 bits
    is left open. *)
Definition work (bits : Z) (p : parameter) : Z := if p is Epsilon e then
    let m := Z.succ (Z.div (Qnum e) (Zpos (Qden e))) in
    Z.mul (Z.mul m (Z.add bits 64)) (Z.add (Z.log2 (Zpos (Qden e))) (Z.add (Z.log2 m) 8))
  else Z0.
Definition ends_for (bits : Z) (p : parameter) : outcome (Q * Q) :=
  if Z.ltb 8388608 (work bits p) then Open "an epsilon so large or so long" else
  if Z.leb bits 4160 then if ends (Z.to_nat bits) p is Some e then Ok e else Open "epsilon"
  else if p is ExpMinus q then Ok (q, q) else Open "so high a precision".

Lemma ends_forE (R : realFieldType) bits p a b (z : R) :
  ends_for bits p = Ok (a, b) -> stands_for p z -> (qR R a <= z <= qR R b)%R.
Proof.
rewrite /ends_for; case: ifP => // _; case: ifP => _.
  by case E: (ends _ p) => [[a' b']|] // [<- <-]; exact: endsE E.
by case: p => // q [-> ->] ->; rewrite lexx.
Qed.
