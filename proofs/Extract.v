(** The checker as an OCaml program. Coq's whole numbers become those of zarith (GMP), characters
    and strings OCaml's. What is replaced below is trusted to mean the same. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlString.
From Optratio Require Import Sections.
Extraction Blacklist String List.
Extract Inductive positive => "Bigint.t"
  [ "(fun p -> Bigint.succ (Bigint.shift_left p 1))" "(fun p -> Bigint.shift_left p 1)"
    "Bigint.one" ]
  "(fun xi xo xh p -> if Bigint.equal p Bigint.one then xh ()
    else if Bigint.is_odd p then xi (Bigint.shift_right p 1) else xo (Bigint.shift_right p 1))".
Extract Inductive Z => "Bigint.t" [ "Bigint.zero" "(fun p -> p)" "Bigint.neg" ]
  "(fun z0 pos neg i ->
    match Bigint.sign i with 0 -> z0 () | 1 -> pos i | _ -> neg (Bigint.neg i))".
Extract Constant Pos.mul => "Bigint.mul".
Extract Constant Pos.add => "Bigint.add".
Extract Constant Pos.eqb => "Bigint.equal".
Extract Constant Pos.pow => "(fun a b -> Bigint.pow a (Bigint.to_int b))".
Extract Constant Z.add => "Bigint.add".
Extract Constant Z.sub => "Bigint.sub".
Extract Constant Z.mul => "Bigint.mul".
Extract Constant Z.opp => "Bigint.neg".
Extract Constant Z.abs => "Bigint.abs".
Extract Constant Z.succ => "Bigint.succ".
Extract Constant Z.eqb => "Bigint.equal".
Extract Constant Z.leb => "Bigint.leq".
Extract Constant Z.ltb => "Bigint.lt".
Extract Constant Z.gcd => "Bigint.gcd".
Extract Constant Z.ggcd => "(fun a b -> let g = Bigint.gcd a b in
  if Bigint.sign g = 0 then (g, (Bigint.zero, Bigint.zero))
  else (g, (Bigint.divexact a g, Bigint.divexact b g)))".
Extract Constant Z.div =>
  "(fun a b -> if Bigint.sign b = 0 then Bigint.zero else Bigint.fdiv a b)".
Extract Constant Z.pow =>
  "(fun a b -> if Bigint.sign b < 0 then Bigint.zero else Bigint.pow a (Bigint.to_int b))".
Extraction "checker.ml" check.
