(* What the main theorems assume: nothing, for each. proofs/build counts the answers. *)
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip.
Print Assumptions table_of_feasible.
Print Assumptions lower_bound.
Print Assumptions pf_optimal.
