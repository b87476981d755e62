(** The published forms of permute-and-flip's probabilities (McKenna & Sheldon 2020) are the
    integral: the algorithm with its random order and coins, the mean over orders (Lemma 1), the
    sum over subsets (Lemma 2), and the recurrence for elementary symmetric polynomials (Appendix
    E). All hold for any weights, not only for probabilities. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum poly ring.
From Optratio Require Import PermuteAndFlip Integral.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Forms.
Variables (R : realFieldType) (n : nat) (w : 'I_n -> R).
Implicit Types (r s : 'I_n) (t l : seq 'I_n) (p : {poly R}).

(** The algorithm visits the candidates in the order t and takes each with its weight as the
    probability, until one is taken: the probability that this is r. *)
Fixpoint visit t r : R :=
  if t is s :: t' then (if s == r then w s else 0) + (1 - w s) * visit t' r else 0.

Lemma visitE t r : uniq t ->
  visit t r = if r \in t then w r * \prod_(s <- take (index r t) t) (1 - w s) else 0.
Proof.
elim: t => //= s t IH /andP[st ut]; rewrite in_cons IH // [r == s]eq_sym.
case: eqP => [<-|_] /=; first by rewrite (negbTE st) mulr0 addr0 big_nil mulr1.
by rewrite add0r big_cons mulrCA; case: ifP; rewrite ?mulr0.
Qed.

Notation factor s := (1 - w s *: 'X : {poly R}).

(** Integration by parts: one visit. *)
Lemma visit_one l : uniq l ->
  1 + \sum_(s <- l) (1 - w s) * integral (\prod_(i <- l | i != s) factor i) = (size l).+1%:R *
    integral (\prod_(i <- l) factor i).
Proof.
move=> ul; pose f := \prod_(i <- l) factor i; pose g s := \prod_(i <- l | i != s) factor i.
have E s : s \in l -> (1 - w s) *: g s = f + (1 - 'X) * ((factor s)^`() * g s).
  move=> sl;
    rewrite /f (bigD1_seq s) //= -/(g s) derivB derivZ derivX -polyC1 derivC -!mul_polyC polyCB
    mulr1; ring.
have S : \sum_(s <- l) (1 - w s) *: g s = (size l).+1%:R *: f + ((1 - 'X) * f)^`().
  rewrite big_seq (eq_bigr _ E) -big_seq big_split -mulr_sumr /= -deriv_bigprod // -/f.
  rewrite derivM derivB derivX -polyC1 derivC.
  by rewrite big_const_seq count_predT iter_addr addr0 scaler_nat mulrS sub0r mulN1r addrA
    [f + _]addrC addrK.
transitivity (1 + integral (\sum_(s <- l) (1 - w s) *: g s)).
  by rewrite integral_sum; congr (_ + _); apply: eq_bigr => s _; rewrite integralZ.
have f0 : f.[0] = 1.
  by rewrite horner_prod big1 // => s _;
    rewrite hornerD hornerN hornerZ hornerX -polyC1 hornerC mulr0 subr0.
rewrite S integralD integralZ integral_deriv !hornerM f0 !hornerD !hornerN !hornerX -polyC1
  !hornerC polyC1 subrr mul0r sub0r subr0.
by rewrite mul1r addrCA subrr addr0.
Qed.

(** All orders of l. *)
Lemma visit_all l r : uniq l -> r \in l ->
  \sum_(t <- permutations l) visit t r = (size l)`!%:R *
    (w r * integral (\prod_(i <- l | i != r) factor i)).
Proof.
elim: {l}(size l) {-2}l (erefl (size l)) => [|m IH] l sl ul rl;
  first by rewrite (size0nil sl) in rl.
rewrite (perm_big _ (permutationsE _)) ?sl // big_allpairs_dep undup_id //=.
pose G := [seq i <- l | i != r].
have E x : x \in l ->
  \sum_(t <- permutations (rem x l)) ((if x == r then w x else 0) + (1 - w x) * visit t r) =
    m`!%:R * w r * (if x == r then 1 else (1 - w x) * integral (\prod_(i <- G | i != x) factor i)).
  move=> xl; have sr : size (rem x l) = m by rewrite size_rem // sl.
  have ur y := rem_uniq y ul.
  rewrite big_split -mulr_sumr big_const_seq count_predT size_permutations // sr iter_addr addr0
    /=.
  case: (eqVneq x r) => [->|xr].
    rewrite big1_seq ?mulr0 ?addr0 ?mulr1 ?mulr_natl // => t; rewrite /= mem_permutations => pt.
    by rewrite visitE ?(perm_uniq pt) // (perm_mem pt) mem_rem_uniq // inE eqxx.
  rewrite mul0rn add0r IH // ?mem_rem_uniq ?inE 1?eq_sym ?xr //.
  rewrite sr (rem_filter x ul) /G !big_filter_cond mulrCA [_ * (w r * _)]mulrCA -!mulrA.
  by congr (_ * (_ * (_ * integral _))); apply: eq_bigl => i; rewrite andbC.
rewrite big_seq (eq_bigr _ E) -big_seq -mulr_sumr (bigD1_seq r) //= eqxx -big_filter.
rewrite (eq_big_seq (fun x => (1 - w x) * integral (\prod_(i <- G | i != x) factor i))) => [|x];
  last first.
  by rewrite mem_filter => /andP[/negbTE ->].
rewrite visit_one ?filter_uniq // /G -(rem_filter r ul) size_rem // sl /= (rem_filter r ul)
  big_filter factS natrM.
by rewrite mulrCA !mulrA.
Qed.

(** The algorithm, with the order drawn uniformly. *)
Theorem pf_algorithm r : pf w r = (\sum_(t <- permutations (enum 'I_n)) visit t r) / n`!%:R.
Proof.
rewrite visit_all ?enum_uniq ?mem_enum // size_enum_ord mulrC mulKf ?pnatr_eq0 -?lt0n ?fact_gt0 //.
by rewrite /pf big_enum_cond.
Qed.

(** Lemma 1. *)
Theorem pf_orders r :
  pf w r = w r * (\sum_(t <- permutations (enum 'I_n)) \prod_(s <- take (index r t) t) (1 - w s)) /
    n`!%:R.
Proof.
rewrite pf_algorithm mulr_sumr; congr (_ / _); apply: eq_big_seq => t;
  rewrite mem_permutations => pt.
by rewrite visitE ?(perm_uniq pt) ?enum_uniq // (perm_mem pt) mem_enum.
Qed.

(** Lemma 2. *)
Theorem pf_subsets r :
  pf w r = w r * \sum_(A : {set 'I_n} | r \notin A) (-1) ^+ #|A| / #|A|.+1%:R * \prod_(s in A) w s.
Proof.
rewrite /pf; congr (_ * _); pose F s (b : bool) : {poly R} :=
  if b then (if s == r then 0 else - w s *: 'X) else 1.
have -> : \prod_(s < n | s != r) factor s = \prod_s \sum_b F s b.
  rewrite big_mkcond; apply: eq_bigr => s _; rewrite big_bool /F /=.
  by case: eqP => _; rewrite ?add0r // scaleNr addrC.
rewrite bigA_distr_bigA (reindex (fun A : {set 'I_n} => [ffun s => s \in A])) /=; last first.
  exists (fun f : {ffun 'I_n -> bool} => [set s | f s]) => [A|f] _; first by apply/setP => s;
    rewrite inE ffunE.
  by apply/ffunP => s; rewrite ffunE inE.
rewrite integral_sum [RHS]big_mkcond; apply: eq_bigr => A _.
under eq_bigr do rewrite ffunE.
case: (boolP (r \in A)) => rA /=; first by rewrite (bigD1 r) //= /F rA eqxx mul0r integral_of0.
transitivity (integral (\prod_(s in A) (- w s *: 'X))).
  rewrite [in RHS]big_mkcond; congr integral; apply: eq_bigr => s _; rewrite /F;
    case: ifP => // sA.
  by case: eqP => // e; rewrite -e sA in rA.
by rewrite scaler_prod prodr_const integralZ int_Xn prodrN mulrAC.
Qed.

(** Appendix E: the elementary symmetric polynomials of a list of weights, and what they are
    without the weight a. *)
Fixpoint elementary (v : seq R) i : R := match i, v with
  | 0, _ => 1
  | i'.+1, a :: v' => elementary v' i + a * elementary v' i'
  | _, [::] => 0 end.
Fixpoint elementary_without (v : seq R) a i : R :=
  if i is i'.+1 then elementary v i - a * elementary_without v a i'
  else 1.

Lemma elementary0 v : elementary v 0 = 1. Proof. by case: v. Qed.
Lemma elementaryE v i : (\prod_(a <- v) (1 - a *: 'X))`_i = (-1) ^+ i * elementary v i.
Proof.
elim: v i => [|a v IH] i.
  by case: i => [|i]; rewrite big_nil coef1 /= ?mulr0 ?mulr1 ?expr0.
rewrite big_cons mulrBl mul1r coefB -scalerAl coefZ coefXM !IH; case: i => [|i] /=;
  first by rewrite elementary0 mulr0 subr0.
by rewrite exprS; ring.
Qed.

Theorem pf_esym r :
  pf w r = w r * \sum_(i < n) (-1) ^+ i / i.+1%:R *
    elementary_without [seq w s | s <- enum 'I_n] (w r) i.
Proof.
set v := map _ _; set p := \prod_(s < n | s != r) factor s; rewrite /pf -/p; congr (_ * _).
have E i : p`_i = (-1) ^+ i * elementary_without v (w r) i.
  have P j : (-1) ^+ j * elementary v j = p`_j - w r * (if j is j'.+1 then p`_j' else 0).
    rewrite -elementaryE /v big_map big_enum (bigD1 r) //= -/p mulrBl mul1r coefB -scalerAl coefZ
      coefXM.
    by case: j.
  elim: i => [|i IH] /=; first by have := P 0%N; rewrite mulr0 subr0 => <-; rewrite elementary0.
  by rewrite mulrBr P /= IH exprS; ring.
have n0 : (0 < n)%N := leq_ltn_trans (leq0n r) (ltn_ord r).
rewrite (@integralE _ p n); first by apply: eq_bigr => i _; rewrite E mulrAC.
apply: leq_trans (size_prod_leq _ _) _; rewrite leq_subLR -[X in (_ + X)%N](prednK n0) addnS ltnS.
have := cardC1 r; rewrite card_ord => <-; rewrite addnn -muln2 -sum_nat_const;
  apply: leq_sum => s _.
by rewrite (leq_trans (size_add _ _)) // geq_max size_opp size_poly1
  (leq_trans (size_scale_leq _ _)) // size_polyX.
Qed.
End Forms.
