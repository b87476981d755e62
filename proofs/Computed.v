(** Certificates that Coq itself evaluates. For what follows, neither extraction nor OCaml nor
    zarith is trusted. *)
From Coq Require Import ZArith QArith String.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From Optratio Require Import Mechanisms Program PermuteAndFlip Objectives Numbers Epsilon Reader.
From Optratio Require Import Certificate Sections.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** A file that claims the least mean error, and nothing else. *)
Definition least_mean n k (q : Q) (l : level) (v : Q) : claims :=
  Claims n k 1 (ExpMinus q) l [seq qn u | u <- iota 0 k.+1] Uniform (v, v) None None None None.

Lemma least_meanP (R : realFieldType) n k q l v file :
  check (word file) = Ok (Bounds (least_mean n k q l v)) ->
  (forall M : mechanism integers R n, proper_mechanism M -> private (qR R q) M ->
    shift_invariant M ->
    (l = Monotone \/ l = Full -> monotone M) -> qR R v <= mean_error k M) /\
  (exists t : table R n k, feasible (qR R q) l t /\ table_mean t = qR R v).
Proof.
move=> /(@check_sound R)/(_ (qR R q) erefl)[lower [t [ft upper]] _ _].
have L u : (u < k.+1)%N -> nth q0 [seq qn u | u <- iota 0 k.+1] u = qn u.
  by move=> uk; rewrite (nth_map 0%N) ?size_iota // nth_iota.
have aims : aim (least_mean n k q l v) = Some Vectors.
  rewrite /aim ifT //; apply/allP => u; rewrite mem_iota => uk; rewrite [nth _ _ _]L //.
  exact/Qeq_bool_iff.
have E (t' : table R n k) : value_of Uniform [seq qn u | u <- iota 0 k.+1] t' = table_mean t'.
  by rewrite -objective_vectors; exact: (@valueE_of (least_mean n k q l v) R Vectors t' aims).
split=> [M Mp Mz Ms Mm|]; first by rewrite /mean_error -E; apply/lower/table_of_feasible.
by exists t; split=> //; apply/eqP; rewrite eq_le -E lower ?upper.
Qed.

(** optratio ratio -n 4 -k 3 --exp-eps 3/2 --method lp --cert, and its claim of the optimum. *)
Definition certificate_4_3 : string := "optratio-certificate 3
problem program
n 4
k 3
exp-epsilon 3/2
objective paper
constraints paper
proof lp
precision 0
claim optimum 210338171/298525500 210338171/298525500
dual 4 0 0 0 132337/26244
dual 3 1 0 0 -31573/17496
dual 3 0 1 0 -113/36
dual 3 0 0 1 0
dual 2 2 0 0 46349/47385
dual 2 1 1 0 1
dual 2 1 0 1 1
dual 2 0 2 0 1412/585
dual 2 0 1 1 464/195
dual 2 0 0 2 158/65
dual 1 3 0 0 0
dual 1 2 1 0 13367/7020
dual 1 2 0 1 113/54
dual 1 1 2 0 0
dual 1 1 1 1 19/195
dual 1 1 0 2 4/195
dual 1 0 3 0 0
dual 1 0 2 1 0
dual 1 0 1 2 0
dual 1 0 0 3 0
inject 1 2 1 1 0 1/6
inject 1 2 1 0 1 2/9
inject 2 2 0 2 0 106/1755
inject 2 2 0 1 1 3829/42120
end 34
".

(** The least mean error on Q(4,3) at e^epsilon = 3/2 is 0.7045902 *)
Theorem optimum_4_3 (R : realFieldType) : let v := qR R (210338171 # 298525500) in
  (forall M : mechanism integers R 4, proper_mechanism M -> private (2%:R / 3%:R) M ->
    shift_invariant M ->
    v <= mean_error 3 M) /\
  exists t : table R 4 3, feasible (2%:R / 3%:R) Paper t /\ table_mean t = v.
Proof.
have [low high] := @least_meanP R 4 3 (2 # 3) Paper (210338171 # 298525500) certificate_4_3
  ltac:(by vm_compute).
by split=> // M Mp Mz Ms; apply: low => // -[].
Qed.

(** With --constraints dp, for tables that are private between all vectors of Q(4,3), it is
    0.7046010. *)
Definition certificate_dp_4_3 : string := "optratio-certificate 3
problem program
n 4
k 3
exp-epsilon 3/2
objective paper
constraints dp
proof lp
precision 0
claim optimum 131058857/186004350 131058857/186004350
dual 4 0 0 0 5603333/1062882
dual 3 1 0 0 -1497767/708588
dual 3 0 1 0 -9305/2916
dual 3 0 0 1 0
dual 2 2 0 0 50260/59049
dual 2 1 1 0 1
dual 2 1 0 1 1
dual 2 0 2 0 64/27
dual 2 0 1 1 22/9
dual 2 0 0 2 586/243
dual 1 3 0 0 0
dual 1 2 1 0 13/6
dual 1 2 0 1 9305/4374
dual 1 1 2 0 0
dual 1 1 1 1 0
dual 1 1 0 2 4/81
dual 1 0 3 0 0
dual 1 0 2 1 0
dual 1 0 1 2 0
dual 1 0 0 3 0
inject 1 2 1 1 0 1/6
inject 1 2 1 0 1 2/9
inject 2 2 0 2 0 1399/19683
inject 2 2 0 1 1 40/729
cut p 3 1 1 0 2 2 2 0 1 1 19/486
end 35
".

Theorem optimum_dp_4_3 (R : realFieldType) : let v := qR R (131058857 # 186004350) in
  (forall M : mechanism integers R 4, proper_mechanism M -> private (2%:R / 3%:R) M ->
    shift_invariant M ->
    v <= mean_error 3 M) /\
  exists t : table R 4 3, feasible (2%:R / 3%:R) Dp t /\ table_mean t = v.
Proof.
have [low high] := @least_meanP R 4 3 (2 # 3) Dp (131058857 # 186004350) certificate_dp_4_3
  ltac:(by vm_compute).
by split=> // M Mp Mz Ms; apply: low => // -[].
Qed.
