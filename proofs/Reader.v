(** A reader of certificates (docs/reference/certificate.md, section program): from the bytes of
    the file to numbers. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect.
From Optratio Require Import Program Numbers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope nat_scope.

(** A text that is not of the form is Bad, with the reason. What this checker does not know is
    Open. *)
Inductive outcome A := Ok of A | Bad of string | Open of string.
Arguments Bad {A}. Arguments Open {A}.
Definition bind A B (x : outcome A) (f : A -> outcome B) : outcome B :=
  match x with Ok a => f a | Bad s => Bad s | Open s => Open s end.
Notation "'let!' x := a 'in' b" := (bind a (fun x => b)) (at level 200, x pattern, b at level 200).
Definition require (b : bool) (s : string) : outcome unit := if b then Ok tt else Bad s.
Definition found A (o : option A) (s : string) : outcome A := if o is Some a then Ok a else Bad s.

Notation text := (seq ascii).
Definition word (s : string) : text := list_ascii_of_string s.
Fixpoint same (a b : text) : bool := match a, b with
  | [::], [::] => true | x :: a', y :: b' => if Ascii.eqb x y then same a' b' else false
    | _, _ => false end.
(** The parts of a text between separators. *)
Fixpoint split_at (c : ascii) (parts : seq text) (part s : text) : seq text :=
  if s is a :: s' then
    if Ascii.eqb a c then split_at c (rev part :: parts) [::] s'
      else split_at c parts (a :: part) s'
  else rev (rev part :: parts).
Definition newline := ascii_of_nat 10.
Definition fields (s : text) : seq text := split_at " "%char [::] [::] s.
(** The lines of a file, each of which must end. *)
Definition lines (s : text) : outcome (seq text) :=
  if rev (split_at newline [::] [::] s) is [::] :: l then Ok (rev l)
    else Bad "the file ends within a line".

(** Numbers: whole, rational, dyadic and, in claims, decimal. *)
Fixpoint position (a : ascii) (l : text) (i : Z) : option Z :=
  if l is b :: l' then if Ascii.eqb a b then Some i else position a l' (Z.succ i) else None.
Fixpoint digits (alphabet : text) (base acc : Z) (s : text) : option Z :=
  if s is a :: s' then
    if position a alphabet 0 is Some i then digits alphabet base (Z.add (Z.mul base acc) i) s'
      else None
  else Some acc.
Definition dec := word "0123456789".
Definition hex := word "0123456789abcdef".
Definition decimal_digits (s : text) := digits dec 10%Z 0%Z s.
Definition whole (s : text) : option Z := match s with
  | [::] => None
  | a :: s' => if Ascii.eqb a "0" then (if s' is [::] then Some 0%Z else None)
    else decimal_digits s end.
Definition signed A (parse : text -> option A) (neg : A -> A) (s : text) : option A :=
  if s is a :: s' then if Ascii.eqb a "-" then omap neg (parse s') else parse s else None.
Definition integer (s : text) : option Z := if same s (word "0") then Some 0%Z else
  signed (fun s => if whole s is Some (Zpos p) then Some (Zpos p) else None) Z.opp s.
Definition rational (s : text) : option Q := match split_at "/"%char [::] [::] s with
  | [:: p] => omap qz (integer p)
  | [:: p; q] => match integer p, whole q with
    | Some a, Some (Zpos b) =>
      if Z.eqb (Z.gcd a (Zpos b)) 1 && ~~ Pos.eqb b 1 then Some (Qmake a b) else None
    | _, _ => None end
  | _ => None end.
(** 2^e times a whole number *)
Definition scale (m e : Z) : Q := match e with
  | Zneg p => Qred (Qmake m (Pos.pow 2 p)) | _ => qz (Z.mul m (Z.pow 2 e)) end.
Definition exponent (two : bool) (s : text) : option Z := if s is sign :: s' then
    let e := if two && (size s' <= 2) then (if size s' == 2 then decimal_digits s' else None)
      else whole s' in
    if e is Some e then if Z.leb e 16384 then
      if Ascii.eqb sign "+" then Some e else
      if Ascii.eqb sign "-" && ~~ Z.eqb e 0 then Some (Z.opp e) else None
    else None else None
  else None.
Definition tidy (s : text) := if rev s is a :: _ then ~~ Ascii.eqb a "0" else false.
Definition hexadecimal (s : text) (start : Z) (e : option Z) : option Q := if tidy s then
    match digits hex 16%Z start s, e with
    | Some a, Some e => Some (scale a (Z.sub e (Z.of_nat (4 * size s)))) | _, _ => None end
  else None.
Definition dyadic (s : text) : option Q := match split_at "p"%char [::] [::] s with
  | [:: "0"%char :: "x"%char :: m; e] => match m with
    | "0"%char :: [::] => if same e (word "+00") then Some q0 else None
    | "1"%char :: [::] => omap (scale 1%Z) (exponent true e)
    | "1"%char :: "."%char :: m => hexadecimal m 1%Z (exponent true e)
    | "."%char :: m => let large := if m is a :: _ then
          if position a hex 0%Z is Some i then Z.leb 8 i else false else false in
        if large then hexadecimal m 0%Z (exponent false e) else None
    | _ => None end
  | _ => None end.
(** At most so many bytes. *)
Fixpoint at_most (left : Z) (s : text) : bool := if s is _ :: s' then Z.ltb 0 left &&
  at_most (Z.pred left) s' else true.
(** Zero has no sign. *)
Definition negated (q : Q) : option Q := if Qeq_bool q q0 then None else Some (Qopp q).
Definition fraction (s : text) : option Q := if has (fun a => Ascii.eqb a "x") s then
    if s is a :: s' then if Ascii.eqb a "-" then obind negated (dyadic s') else dyadic s else None
  else rational s.
Definition short_fraction (s : text) : option Q := if at_most 65536 s then fraction s else None.
(** an optional sign, digits with an optional point, and optionally e with an exponent *)
Definition loose A (parse : text -> option A) (neg : A -> A) (s : text) : option A :=
  if s is a :: s' then if Ascii.eqb a "+" then parse s' else signed parse neg s else None.
Definition some_digits (s : text) : option Z := if s is [::] then None else decimal_digits s.
Definition decimal (s : text) : option Q :=
  let mantissa (m : text) : option (Z * Z) := match split_at "."%char [::] [::] m with
    | [:: a] => omap (fun x => (x, 0%Z)) (some_digits a)
    | [:: a; b] => omap (fun x => (x, Z.opp (Z.of_nat (size b)))) (some_digits (a ++ b))
    | _ => None end in
  let power m e := match e with
    | Zneg p => Qred (Qmake m (Pos.pow 10 p)) | _ => qz (Z.mul m (Z.pow 10 e)) end in
  let number m e := if Z.leb (Z.abs e) 10000 then
      loose (fun m => omap (fun x => power x.1 (Z.add x.2 e)) (mantissa m)) Qopp m else None in
  match split_at "e"%char [::] [::] [seq (if Ascii.eqb a "E" then "e"%char else a) | a <- s] with
  | [:: m] => number m 0%Z
  | [:: m; e] => obind (number m) (loose some_digits Z.opp e)
  | _ => None end.
Definition longest : Z := 262144.
Definition claimed (s : text) : option Q := if ~~ at_most longest s then None
  else if fraction s is Some x then Some x else
  if [&& has (fun a => [|| Ascii.eqb a ".", Ascii.eqb a "e" | Ascii.eqb a "E"]) s,
    ~~ has (fun a => Ascii.eqb a "x") s & at_most 131072 s] then decimal s else None.
