(* Zarith's whole numbers under a name that extracted code does not use itself. *)
include Z
