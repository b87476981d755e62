(** JSON values, and whether two texts spell the same one: 1 and 1.0 do, and so do objects whose
    keys are in another order. Of a key that comes twice the last value counts. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect.
From Optratio Require Import Numbers Reader.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope nat_scope.

(** Words and strings are atoms; strings begin with a quotation mark. Objects are named groups,
    sorted by their keys, and the parts of lists have empty names. *)
Inductive json := Atom of text | Amount of Q | Group of bool & seq (text * json).
Fixpoint alike (a b : json) : bool := match a, b with
  | Atom x, Atom y => same x y
  | Amount x, Amount y => Qeq_bool x y
  | Group named s, Group named' s' => (named == named') &&
    (fix all_alike s s' := match s, s' with
      | [::], [::] => true
      | (k, x) :: t, (k', x') :: t' => [&& same k k', alike x x' & all_alike t t']
      | _, _ => false end) s s'
  | _, _ => false end.

Definition code (a : ascii) : Z := Z.of_N (N_of_ascii a).
Definition character (i : Z) : ascii := ascii_of_N (Z.to_N i).
Definition in_range (a b i : Z) : bool := Z.leb a i && Z.leb i b.
Definition one_char_of (s : string) (a : ascii) : bool := has (Ascii.eqb a) (word s).
Definition surrogate := in_range 55296 57343.

(** UTF-8: so many bytes are still to come, of a character whose number must be that or more. *)
Fixpoint utf8 (left : nat) (least point : Z) (s : text) : bool := match s, left with
  | [::], _ => left == 0
  | a :: s', 0 => let c := code a in
    if Z.ltb c 128 then utf8 0 0 0 s' else
    if in_range 192 223 c then utf8 1 128 (Z.sub c 192) s' else
    if in_range 224 239 c then utf8 2 2048 (Z.sub c 224) s' else
    in_range 240 247 c && utf8 3 65536 (Z.sub c 240) s'
  | a :: s', left'.+1 => let p := Z.add (Z.mul 64 point) (Z.sub (code a) 128) in
    [&& in_range 128 191 (code a), (0 < left') || in_range least 1114111 p && ~~ surrogate p &
      utf8 left' least p s'] end.
Definition bytes_of (point : Z) : text :=
  let later shift := Z.add 128 (Z.modulo (Z.div point shift) 64) in
  [seq character i | i <- if Z.ltb point 128 then [:: point] else
    if Z.ltb point 2048 then [:: Z.add 192 (Z.div point 64); later 1%Z] else
    [:: Z.add 224 (Z.div point 4096); later 64%Z; later 1%Z]].

(** The rest of a string, after what is read of it, backwards. *)
Definition hex_digit (a : ascii) : ascii :=
  if in_range 65 70 (code a) then character (Z.add 32 (code a)) else a.
Definition escaped (a : ascii) : option ascii :=
  omap (fun i => nth a [seq character j | j <- [:: 34; 92; 47; 8; 12; 10; 13; 9]%Z] (Z.to_nat i))
    (position a (character 34 :: word "\/bfnrt") 0%Z).
Fixpoint string_end (read s : text) : option (text * text) := match s with
  | [::] => None
  | a :: s' =>
    if Z.eqb (code a) 34 then Some (rev read, s') else
    if Z.ltb (code a) 32 then None else
    if ~~ Ascii.eqb a "\" then string_end (a :: read) s' else
    match s' with
    | [:: "u"%char, a, b, c, d & s''] =>
      if digits hex 16%Z 0%Z [seq hex_digit x | x <- [:: a; b; c; d]] is Some p then
        if surrogate p then None else string_end (catrev (bytes_of p) read) s''
      else None
    | e :: s'' => if escaped e is Some x then string_end (x :: read) s'' else None
    | [::] => None end end.

(** A number has a digit first, no zero before other digits, and a digit after its point. *)
Definition digit (a : ascii) : bool := one_char_of "0123456789" a.
Fixpoint points (s : text) : bool := if s is a :: s' then
    (~~ Ascii.eqb a "." || if s' is b :: _ then digit b else false) && points s' else true.
Definition amount (s : text) : option Q :=
  let t := if s is a :: s' then if Ascii.eqb a "-" then s' else s else s in
  let first := if t is a :: t' then digit a &&
    ~~ (Ascii.eqb a "0" && if t' is b :: _ then digit b else false) else false in
  if [&& first, points t & at_most 131072 s] then decimal s else None.
Definition simple (s : text) : option json :=
  if has (same s) [:: word "true"; word "false"; word "null"] then Some (Atom s)
  else omap Amount (amount s).

Fixpoint without_blanks (s : text) : text := if s is a :: s' then
    if [|| Z.eqb (code a) 32, Z.eqb (code a) 9 | Z.eqb (code a) 13] then without_blanks s' else s
  else [::].
Fixpoint plain (read s : text) : text * text := if s is a :: s' then
    if [|| digit a, one_char_of "+-.E" a | in_range 97 122 (code a)] then plain (a :: read) s'
    else (rev read, s)
  else (rev read, s).
Fixpoint text_before (a b : text) : bool := match a, b with
  | x :: a', y :: b' => Z.ltb (code x) (code y) || Ascii.eqb x y && text_before a' b'
  | [::], _ :: _ => true | _, _ => false end.
Fixpoint with_key (k : text) (v : json) (s : seq (text * json)) : seq (text * json) :=
  if s is (k', v') :: s' then if same k k' then (k, v) :: s' else
    if text_before k k' then (k, v) :: s else (k', v') :: with_key k v s'
  else [:: (k, v)].

(** A value at the front of a text, and the rest. So many groups may lie in each other. *)
Fixpoint json_at (fuel : nat) (room : Z) (s : text) : option (json * text) :=
  if fuel is f.+1 then match without_blanks s with
    | [::] => None
    | a :: s' =>
      if Z.eqb (code a) 34 then
        omap (fun p => (Atom (a :: p.1), p.2)) (string_end [::] s') else
      if ~~ one_char_of "[{" a then
        let (t, rest) := plain [::] (a :: s') in omap (fun v => (v, rest)) (simple t) else
      let named := Ascii.eqb a "{" in
      if Z.ltb room 1 then None else if without_blanks s' is b :: rest then
        if Ascii.eqb b (if named then "}"%char else "]"%char) then Some (Group named [::], rest)
        else parts f (Z.pred room) named [::] s'
      else None end
  else None
with parts (fuel : nat) (room : Z) (named : bool) (read : seq (text * json)) (s : text) :=
  if fuel is f.+1 then
    let key := if ~~ named then Some ([::], s) else if without_blanks s is a :: s' then
        if Z.eqb (code a) 34 then if string_end [::] s' is Some (k, rest) then
            if without_blanks rest is c :: rest' then
              if Ascii.eqb c ":" then Some (k, rest') else None else None
          else None else None
      else None in
    if key is Some (k, s) then if json_at f room s is Some (v, rest) then
        let now := if named then with_key k v read else (k, v) :: read in
        if without_blanks rest is c :: rest' then
          if Ascii.eqb c "," then parts f room named now rest' else
          if Ascii.eqb c (if named then "}"%char else "]"%char) then
            Some (Group named (if named then now else rev now), rest')
          else None
        else None
      else None
    else None
  else None.
Definition json_of (s : text) : option json := if utf8 0 0 0 s then
    if json_at (size s).*2.+2 10000 s is Some (v, [::]) then Some v else None
  else None.
