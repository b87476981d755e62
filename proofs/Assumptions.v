(* What the main theorems assume: nothing, for each. proofs/build counts the answers. *)
From Optratio Require Import Mechanisms Program Levels PermuteAndFlip Private Exponential Checker Certificate.
Print Assumptions table_of_feasible.
Print Assumptions lower_bound.
Print Assumptions full_is_monotone.
Print Assumptions pf_optimal.
Print Assumptions pf_proper.
Print Assumptions pf_private.
Print Assumptions pf_monotone.
Print Assumptions pf_shift_invariant.
Print Assumptions pf_symmetric.
Print Assumptions pf_best.
Print Assumptions em_proper.
Print Assumptions em_private.
Print Assumptions em_symmetric.
Print Assumptions em_monotone.
Print Assumptions em_shift_invariant.
Print Assumptions pf_dominates.
Print Assumptions pf_tail.
Print Assumptions em_within.
Print Assumptions check_sound.
Print Assumptions check_bounds.
