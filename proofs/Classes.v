(** A variable of the symmetric program, a count vector with a depth, stands for a class: the pairs
    of a depth vector and a candidate that permutations take into each other. A table need not be
    symmetric; but a row that holds wherever it is permuted to holds of the total probabilities of
    two classes, each divided by the size of the class. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm ring.
From Optratio Require Import Mechanisms Program CountVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Classes.
Variables (R : realFieldType) (n k : nat).
Local Notation depths := (depths n k).
Implicit Types (d e : depths) (r s : 'I_n) (t : table R n k) (p : 'S_n) (a b : seq nat * nat).

Definition class_of d r : seq nat * nat := (counts d, val (d r)).
Definition mass t a := \sum_(d | in_lattice d) \sum_(r | class_of d r == a) t d r.
Definition class_size a := (\sum_(d : depths | in_lattice d) \sum_(r | class_of d r == a) 1)%N.

Lemma counts_permute p d : counts (permuted p d) = counts d.
Proof.
apply: eq_mkseq => w; rewrite /cnt [RHS](reindex_inj (@perm_inj _ p)).
by apply: eq_bigr => s _; rewrite ffunE.
Qed.
Lemma class_permute p d r : class_of (permuted p d) ((p^-1)%g r) = class_of d r.
Proof. by rewrite /class_of counts_permute ffunE permKV. Qed.
Lemma permuteM p q d : permuted (q * p)%g d = permuted q (permuted p d).
Proof. by apply/ffunP => s; rewrite !ffunE permM. Qed.

Lemma mass_permute t p a :
  \sum_(d | in_lattice d) \sum_(r | class_of d r == a) t (permuted p d) ((p^-1)%g r) = mass t a.
Proof.
rewrite /mass [RHS](reindex_inj (@permuted_inj n k p)); apply: eq_big => [d|d _];
  first by rewrite permuted_in_lattice.
by rewrite [RHS](reindex_inj (@perm_inj _ (p^-1)%g)); apply: eq_bigl => r; rewrite class_permute.
Qed.

(** Pairs of the same class are permutations of each other. *)
Lemma same_class d r e s : class_of d r = class_of e s -> exists2 p, e = permuted p d & p s = r.
Proof.
move=> Ecr; have Ec : counts d = counts e := congr1 fst Ecr; have Er : val (d r) = val (e s) :=
  congr1 snd Ecr.
pose T (f : depths) (i : 'I_n) := [tuple (val (f j), j == i) | j < n].
have C (f : depths) i w c : count_mem (w, c) (T f i) =
    (if c then (f i == w :> nat) : nat else cnt f w - (f i == w :> nat))%N.
  rewrite -sum1_count big_map big_mkcond /= enumT -/(index_enum _).
  transitivity (\sum_(j < n) ((f j == w :> nat) && ((j == i) == c)))%N.
    by apply: eq_bigr => j _; rewrite /= xpair_eqE; case: (_ && _).
  case: c; last first.
    rewrite (cntD1 f i) addKn (bigD1 i) //= eqxx andbF add0n; apply: eq_bigr => j ji.
    by rewrite (negbTE ji) andbT.
  rewrite (bigD1 i) //= eqxx andbT big1 ?addn0 // => j ji; by rewrite (negbTE ji) andbF.
have: perm_eq (T e s) (T d r).
  apply/allP => -[w c] _; rewrite /= !C -!nth_counts Ec.
  by rewrite Er.
case/tuple_permP => p /val_inj E; exists p.
  apply/ffunP => i; rewrite ffunE; apply: val_inj.
  by have := congr1 (fun u => (tnth u i).1) E; rewrite !tnth_mktuple.
by have := congr1 (fun u => (tnth u s).2) E; rewrite !tnth_mktuple eqxx => /esym/eqP.
Qed.

Definition everywhere t d r := \sum_p t (permuted p d) ((p^-1)%g r).

Lemma everywhere_class t d r e s : class_of d r = class_of e s ->
  everywhere t d r = everywhere t e s.
Proof.
case/same_class => p -> <-; rewrite /everywhere (reindex_inj (mulIg p)); apply: eq_bigr => q _.
by rewrite permuteM invMg permM permK.
Qed.

Lemma everywhere_mass t d r : in_lattice d ->
  everywhere t d r * (class_size (class_of d r))%:R = #|'S_n|%:R * mass t (class_of d r).
Proof.
move=> Qd;
  transitivity (\sum_(e | in_lattice e) \sum_(s | class_of e s == class_of d r) everywhere t e s).
  rewrite /class_size natr_sum mulr_sumr; apply: eq_bigr => e _; rewrite natr_sum mulr_sumr.
  by apply: eq_bigr => s /eqP E; rewrite mulr1; apply: everywhere_class.
under eq_bigr do rewrite exchange_big.
rewrite exchange_big /= (eq_bigr (fun _ => mass t (class_of d r))) => [|p _];
  last exact: mass_permute.
by rewrite sumr_const mulr_natl.
Qed.

(** The row t d r >= rho t e s, wherever it is permuted to, for the classes of both sides. *)
Lemma row_of_classes t rho d r e s : in_lattice d -> in_lattice e ->
  (forall p, rho * t (permuted p e) ((p^-1)%g s) <= t (permuted p d) ((p^-1)%g r)) ->
  rho * mass t (class_of e s) * (class_size (class_of d r))%:R
    <= mass t (class_of d r) * (class_size (class_of e s))%:R.
Proof.
move=> Qd Qe row; have N0 : 0 < #|'S_n|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists 1%g.
rewrite -(ler_pmul2l N0); set sa := (class_size (class_of d r))%:R;
  set sb := (class_size (class_of e s))%:R.
have -> : #|'S_n|%:R * (rho * mass t (class_of e s) * sa) = sa * sb * (rho * everywhere t e s).
  transitivity (rho * sa * (#|'S_n|%:R * mass t (class_of e s))); first by ring.
  by rewrite -everywhere_mass // -/sb; ring.
have -> : #|'S_n|%:R * (mass t (class_of d r) * sb) = sa * sb * everywhere t d r.
  by rewrite mulrA -everywhere_mass // -/sa; ring.
by rewrite ler_wpmul2l ?mulr_ge0 ?ler0n // /everywhere mulr_sumr; apply: ler_sum => p _;
  apply: row.
Qed.

Lemma class_sizeE m v : m \in count_vectors k n -> (0 < nth 0 m 0)%N ->
  class_size (m, v) = (words k n m * nth 0 m v)%N.
Proof.
move=> cm m0; rewrite /class_size /words big_distrl /= big_mkcond; apply: eq_bigr => d _.
rewrite in_lattice_cnt -nth_counts; case: eqP => [E|NE]; last first.
  by rewrite mul0n; case: ifP => // _; rewrite big1 // => r; rewrite xpair_eqE => /andP[/eqP].
rewrite E m0 mul1n -E nth_counts big_mkcond; apply: eq_bigr => r _.
by rewrite xpair_eqE eqxx.
Qed.
End Classes.
