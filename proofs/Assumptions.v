(* What the main theorems assume: nothing, for each. proofs/build counts the answers. *)
From Optratio Require Import Mechanisms Program Levels PermuteAndFlip Private Checker Certificate.
Print Assumptions table_of_feasible.
Print Assumptions lower_bound.
Print Assumptions full_is_monotone.
Print Assumptions pf_optimal.
Print Assumptions pf_proper.
Print Assumptions pf_private.
Print Assumptions pf_monotone.
Print Assumptions pf_shift_invariant.
Print Assumptions pf_best.
Print Assumptions check_sound.
Print Assumptions check_bounds.
