(** What a certificate claims, and how that is decided: decide works it out from multipliers of
    rows and a table, and decide_sound says that it is true. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip Objectives
  Exponential Classes.
From Optratio Require Import Numbers Checker Cuts Rows Errors Epsilon Reader Lines.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(** The weights of the mean: the same for all vectors, or those of the box, or given for each count
    vector in descending lexicographic order and shared by its vectors. Or no mean: the vector with
    the largest expected loss. *)
Inductive prior := Uniform | Shifts | Weights of seq Q | Worst.

(** What a certificate claims: intervals for the optimum, for the mechanisms' own losses, and for
    these divided by the optimum. The depths are 0, ..., deepest in steps of 2/steps
    sensitivities. *)
Record claims := Claims {
  candidates : nat; deepest : nat; steps : nat; privacy : parameter; rows : level; losses : seq Q;
    weighted : prior;
  optimum : Q * Q; on_pf : option (Q * Q); on_em : option (Q * Q); pf_ratio : option (Q * Q);
    em_ratio : option (Q * Q) }.

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
Definition loss_at (ls : seq Q) v : R := qR (nth q0 ls v).
Definition weight_at n k p (d : depths n k) : R := match p with
  | Uniform | Worst => 1
  | Shifts => (shifts Box d)%:R
  | Weights ws => qR (nth q0 ws (index (counts d) (rev (orbits n k)))) / (words k n (counts d))%:R
    end.
Definition value_of n k p ls (t : table R n k) : R :=
  if p is Worst then worst_loss (loss_at ls) t else mean_loss (weight_at p) (loss_at ls) t.

Definition within (i : Q * Q) (x : R) := qR i.1 <= x <= qR i.2.
Definition within_if (i : option (Q * Q)) (x : R) : Prop := if i is Some i then within i x
  else True.
(** The interval holds x divided by the least loss of any feasible table, and 1 where that is 0. *)
Definition ratio_within T (feasible : T -> Prop) (loss : T ->
  R) (i : option (Q * Q)) (x : R) : Prop := if i is Some i then
  (exists t, feasible t /\ qR i.1 * loss t <= x) /\
  forall t, feasible t -> x <= qR i.2 * loss t /\ (loss t = 0 -> within i 1) else True.

Definition claims_hold (c : claims) := forall z : R, stands_for (privacy c) z ->
  let feasible := @feasible_by R (candidates c) (deepest c) (steps c) z (rows c) in
  let loss := @value_of (candidates c) (deepest c) (weighted c) (losses c) in
  let pf := loss (pf_table z) in let em := loss (em_table z) in
  [/\ forall t, feasible t -> qR (optimum c).1 <= loss t,
      exists t, feasible t /\ loss t <= qR (optimum c).2,
      within_if (on_pf c) pf /\ within_if (on_em c) em &
      ratio_within feasible loss (pf_ratio c) pf /\ ratio_within feasible loss (em_ratio c) em].
End Meaning.

(** Less privacy is asked with a smaller z. *)
Lemma feasible_by_less (R : realFieldType) n k L (z z' : R) l (t : table R n k) :
  (z' <= z)%R -> feasible_by L z l t -> feasible_by L z' l t.
Proof.
move=> le [tp rows]; have less d r x : in_lattice d -> (z * t d r <= x)%R -> (z' * t d r <= x)%R.
  by move=> Qd; apply: le_trans; rewrite ler_wpmul2r // (tp d Qd).1.
have W : worst_rows_by L z t -> worst_rows_by L z' t by move=> H r d e Qd Qe E;
  apply: less (H r d e Qd Qe E).
have N : neighbor_rows_by L z t -> neighbor_rows_by L z' t by move=> H r d e Qd Qe E;
  apply: less (H r d e Qd Qe E).
by split=> //; case: l rows => [/W|/N|[/W]|[/N]].
Qed.

(** Deciding the claims, given two numbers that e^-epsilon lies between, functions that round down
    and up, weights of count vectors for the bound where the prior has none, multipliers of rows,
    and a table or none. *)
Section Decide.
Variables (c : claims) (zl zu : Q) (down up : Q ->
  Q) (dual : seq Q) (cs : seq cut) (given : option (seq nat -> seq Q)).
Local Notation n := (candidates c).
Local Notation k := (deepest c).
Local Notation L := (steps c).
Local Notation l := (rows c).
Local Notation loss v := (nth q0 (losses c) v).

Definition table_of_weights (ms : seq (seq nat)) (ws : seq Q) : trie Q :=
  foldr (fun p t => insert t p.1 p.2) (Node [::]) (zip ms ws).
Definition w := if weighted c is Weights ws then ws else dual.
Definition vector_weight : seq nat -> Q := let t := table_of_weights (rev (orbits n k)) w in
  match weighted c with
  | Uniform => fun=> qn 1
  | Shifts => fun m => qn (shifts_of k Box m)
  | Weights _ | Worst => fun m => qdiv (odflt q0 (lookup t m)) (weight n m) end.
Definition costs (W : seq nat -> Q) (a : seq nat * nat) : Q := qmul (W a.1) (loss a.2).

Section Table.
Variable x : seq nat -> seq Q.
Definition proper_orbit m : bool := Qeq_bool (over_depths k m (prob x m)) (qn 1) &&
  all (fun v => (nth 0 m v == 0) || qle q0 (prob x m v)) (iota 0 k.+1).
Definition table_ok : bool := all proper_orbit (orbits n k) && rows_ok n k L zu x l.
Definition point_loss m : Q := over_depths k m (fun v => qmul (loss v) (prob x m v)).
Definition table_value (W : seq nat -> Q) (sum : Q) : Q :=
  if weighted c is Worst then foldr (fun m a => qmax (point_loss m) a) q0 (orbits n k)
  else qdiv (over_orbits n k (fun m => qmul (W m) (point_loss m))) sum.
End Table.

(** The question of which permute-and-flip's and the exponential mechanism's errors are known: the
    mean error. *)
Definition aim : option objective :=
  if (L == 1) && all (fun v => Qeq_bool (loss v) (qn v)) (iota 0 k.+1) then
    match weighted c with Uniform => Some Vectors | Shifts => Some Box | _ => None end else None.
Definition rated := [|| on_pf c : bool, on_em c : bool, pf_ratio c : bool, em_ratio c : bool
  | ~~ given].
Definition least_high (W : seq nat -> Q) (sum : Q) (pf : Q * Q) : Q :=
  if given is Some x then let v := table_value x W sum in if rated then qmin v pf.2 else v
    else pf.2.
Definition bounds (i : option (Q * Q)) (e : Q * Q) : bool := if i is Some i then qle i.1 e.1 &&
  qle e.2 i.2 else true.
(** best: the mechanism is known to be optimal. *)
Definition ratio_bounds (best : bool) (i : option (Q * Q)) (e : Q * Q) (lo hi : Q) : bool :=
  if i is Some i then
  [&& qle i.1 (qn 1) || qle q0 i.1 && qle (qmul i.1 hi) e.1,
      (best && qle (qn 1) i.2) || qle q0 i.2 && qle e.2 (qmul i.2 lo) &
      ~~ qle lo q0 || qle i.1 (qn 1) && qle (qn 1) i.2] else true.
Definition pf_is_best := (n <= 2) || qle (qB k zu) (qn 1).

Definition own_errors : outcome ((Q * Q) * (Q * Q)) :=
  if ~~ rated then Ok ((q0, q0), (q0, q0)) else if aim is Some a then
    if ~~ qle zl q0 && qle zu (qn 1) then Ok (pf_error n k zl zu down up a,
      if on_em c || em_ratio c then em_error n k zl zu down up a else (q0, q0))
    else Open "so large an epsilon"
  else Bad "a claim on another question's errors".

Definition decide : outcome unit :=
  let! _ := require (1 < n) "n" in
  let! _ := require (all (fun v => qle q0 (loss v)) (iota 0 k.+1)) "loss" in
  let W := vector_weight in let sum := over_orbits n k W in
  let! _ := require (all (qle q0) w && (size w == size (orbits n k))) "weight" in
  let! _ := require (~~ qle sum q0) "the weights are all 0" in
  let! _ := require (all (is_row_by n k L l) cs && all (fun c => qle q0 (multiplier c)) cs)
    "multiplier" in
  let lo := qmax q0 (qdiv (over_orbits n k (least k (changed n zl (costs W) cs))) sum) in
  let! _ := require (qle (optimum c).1 lo) "claim optimum: the lower end" in
  let! _ := require (if given is Some x then table_ok x else true) "the table violates a row" in
  let! (pf, em) := own_errors in
  let hi := least_high W sum pf in
  let! _ := require (qle hi (optimum c).2) "claim optimum: the upper end" in
  let! _ := require (bounds (on_pf c) pf) "claim error pf" in
  let! _ := require (ratio_bounds pf_is_best (pf_ratio c) pf lo hi) "claim ratio pf" in
  let! _ := require (bounds (on_em c) em) "claim error em" in
  require (ratio_bounds false (em_ratio c) em lo hi) "claim ratio em".

Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Local Notation table := (table R n k).
Implicit Types (d : depths) (t : table).

Lemma lookup_weights ms ws m : size ms = size ws -> (forall m', m' \in ms -> size m' = size m) ->
  m \in ms ->
  odflt q0 (lookup (table_of_weights ms ws) m) = nth q0 ws (index m ms).
Proof.
rewrite /table_of_weights; elim: ms ws => [|m' ms IH] [|q ws] //= [sz] alike; rewrite inE.
rewrite lookup_insert ?alike ?mem_head //; case: (eqVneq m' m) => //= _ ms_m.
by apply: IH => // m'' ms''; apply: alike; rewrite inE ms'' orbT.
Qed.

(** The loss of a table, with the weights that are worked out. *)
Definition W d : R := qR (vector_weight (counts d)).
Local Notation value := (value_of (weighted c) (losses c)).
Hypothesis loss_ge0 : forall v, (v <= k)%N -> 0 <= loss_at R (losses c) v.
Hypotheses (w0 : all (qle q0) w) (sw : size w = size (orbits n k)).
Hypothesis pos : 0 < \sum_(d | in_lattice d) W d.

Lemma counts_in d : in_lattice d -> counts d \in orbits n k.
Proof. by move=> Qd; rewrite mem_filter counts_count_vectors nth_counts -in_lattice_cnt Qd. Qed.
Lemma size_in m d : m \in rev (orbits n k) -> size m = size (counts d).
Proof. by rewrite mem_rev mem_filter size_counts => /andP[_ /count_vectors_size[]]. Qed.
Lemma W_given d : in_lattice d -> match weighted c with Weights _ | Worst =>
  W d = qR (nth q0 w (index (counts d) (rev (orbits n k)))) / (words k n (counts d))%:R
    | _ => True end.
Proof.
move=> Qd; rewrite /W /vector_weight; case: (weighted c) => // [ws|];
  rewrite qR_div (weightE R (counts_count_vectors d));
  by rewrite lookup_weights ?size_rev ?mem_rev ?counts_in // => m' /size_in.
Qed.
Lemma W_ge0 d : in_lattice d -> 0 <= W d.
Proof.
move=> Qd; have := W_given Qd; rewrite /W /vector_weight; case: (weighted c) => [_|_|ws ->|->];
  rewrite ?qRn ?ler01 ?ler0n // divr_ge0 ?ler0n //; have := counts_in Qd;
    rewrite -mem_rev -index_mem size_rev -sw => lt;
  by rewrite -qR0 -qR_le; exact: (all_nthP q0 w0).
Qed.
Lemma valueE t : value t = if weighted c is Worst then worst_loss (loss_at R (losses c)) t
  else mean_loss W (loss_at R (losses c)) t.
Proof.
have alike d : in_lattice d -> if weighted c is Worst then True
  else weight_at R (weighted c) d = W d.
  move=> Qd; have := W_given Qd; rewrite /W /vector_weight /w.
  by case: (weighted c) => [_|_|ws ->|_] //; rewrite qRn ?shifts_ofE.
rewrite /value_of /mean_loss /table_loss; case: (weighted c) alike => // [||ws] alike;
  by congr (_ / _); apply: eq_bigr => d Qd; rewrite alike.
Qed.

Lemma expected_ge0 t d : proper_table t -> in_lattice d ->
  0 <= \sum_r loss_at R (losses c) (d r) * t d r.
Proof.
by move=> tp Qd; apply: sumr_ge0 => r _; rewrite mulr_ge0 ?(tp d Qd).1 // loss_ge0 // -ltnS.
Qed.
Lemma value_ge0 t : proper_table t -> 0 <= value t.
Proof.
move=> tp; rewrite valueE; have M : 0 <= mean_loss W (loss_at R (losses c)) t.
  by rewrite divr_ge0 ?(ltW pos) // sumr_ge0 // => d Qd; rewrite mulr_ge0 ?W_ge0 ?expected_ge0.
case: (weighted c) => //; rewrite /worst_loss; elim/big_rec: _ => // d a _ a0;
  by rewrite le_maxr a0 orbT.
Qed.
Lemma mean_worst t : mean_loss W (loss_at R (losses c)) t <= worst_loss (loss_at R (losses c)) t.
Proof.
rewrite /mean_loss ler_pdivr_mulr // mulr_sumr; apply: ler_sum => d Qd.
rewrite mulrC ler_wpmul2r ?W_ge0 // /worst_loss;
  have: d \in index_enum [finType of depths] by rewrite mem_index_enum.
elim: index_enum => // e s IH; rewrite inE big_cons => /orP[/eqP <-|/IH le];
  first by rewrite Qd le_maxr lexx.
by case: ifP => // _; rewrite le_maxr le orbT.
Qed.

Section Bounds.
Variable z : R.
Hypotheses (n1 : (1 < n)%N) (low_z : qR zl <= z) (z_high : z <= qR zu).
Local Notation feasible := (@feasible_by R n k L z l).

Lemma lower_le t : all (is_row_by n k L l) cs -> all (fun c => qle q0 (multiplier c)) cs ->
  feasible t ->
  qR (qmax q0 (qdiv (over_orbits n k (least k (changed n zl (costs vector_weight) cs)))
    (over_orbits n k vector_weight))) <= value t.
Proof.
move=> ok mus ft; have n0 : (0 < n)%N := ltnW n1.
have := value_ge0 ft.1; rewrite /qmax -{1}qR0; case: ifP => // _ _.
have {ft} low : qR (over_orbits n k (least k (changed n zl (costs vector_weight) cs))) <=
  table_loss W (loss_at R (losses c)) t.
  apply: le_trans (lower_by_sound n0 (costs vector_weight) (feasible_by_less low_z ft) ok mus) _.
  rewrite /table_loss le_eqVlt; apply/orP; left; apply/eqP.
  apply: eq_bigr => d _; rewrite mulr_sumr; apply: eq_bigr => r _.
  by rewrite /costs qR_mul mulrA.
have {low} low :
  qR (qdiv (over_orbits n k (least k (changed n zl (costs vector_weight) cs)))
    (over_orbits n k vector_weight))
  <=
    mean_loss W (loss_at R (losses c)) t.
  by rewrite /mean_loss qR_div [qR (over_orbits n k vector_weight)]over_orbitsE ler_wpmul2r
    ?invr_ge0 ?(ltW pos).
by rewrite valueE; case: (weighted c) => // ; apply: le_trans low (mean_worst t).
Qed.

Lemma qmax_ge f (ms : seq (seq nat)) : let most := qR (foldr (fun m a => qmax (f m) a) q0 ms) in
  0 <= most /\ forall m, m \in ms -> qR (f m) <= most.
Proof.
elim: ms => [|b ms [IH0 IH]] /=; first by rewrite qR0.
rewrite /qmax (qR_le R); set rest := foldr _ _ _ in IH0 IH *;
  case: (lerP (qR (f b))) => [le|/ltW ge].
  by split=> // m; rewrite inE => /orP[/eqP ->|/IH].
split=> [|m]; first exact: le_trans IH0 ge.
by rewrite inE => /orP[/eqP ->|/IH h]; [exact: lexx | exact: le_trans h ge].
Qed.

Lemma table_okE x : table_ok x -> feasible (point R x) /\ value (point R x : table) <=
  qR (table_value x vector_weight (over_orbits n k vector_weight)).
Proof.
case/andP => /allP ok rows_ok.
have pt : proper_table (point R x : table).
  move=> d Qd; have /andP[s1 /allP x0] := ok _ (counts_in Qd); split=> [r|].
    have := x0 (val (d r)); rewrite mem_iota /= add0n ltn_ord => /(_ isT); rewrite nth_counts.
    by have := cnt_pos d r; case: (cnt d (d r)) => //= i _; rewrite (qR_le R) qR0.
  by move/Qeq_bool_iff/(qR_eq R): s1; rewrite over_depthsE qRn.
split; first exact: feasible_by_less z_high (rows_ok_sound n1 rows_ok pt).
have lossE d : qR (point_loss x (counts d)) = \sum_r loss_at R (losses c) (d r) * point R x d r.
  by rewrite over_depthsE; apply: eq_bigr => r _; rewrite qR_mul.
rewrite valueE /table_value;
  have sumE : qR (over_orbits n k vector_weight) = \sum_(d | in_lattice d) W d.
    exact: over_orbitsE.
have meanE : qR (over_orbits n k (fun m => qmul (vector_weight m) (point_loss x m))) =
    table_loss W (loss_at R (losses c)) (point R x : table).
  by rewrite over_orbitsE; apply: eq_bigr => d _; rewrite qR_mul lossE.
case: (weighted c) => [||ws|]; last first.
  have [s0 le] := qmax_ge (point_loss x) (orbits n k); rewrite /worst_loss;
    elim/big_rec: _ => // d a Qd ah.
  by rewrite le_maxl ah andbT -lossE le // counts_in.
all: by rewrite qR_div sumE meanE.
Qed.

(** The mechanisms' own tables. *)
Lemma valueE_of a t : aim = Some a -> value t = objective_mean a t.
Proof.
rewrite /aim; case: ifP => // /andP[_ /allP depth];
  rewrite /value_of /mean_loss /objective_mean natr_sum.
have lossE (W' : depths -> R) : table_loss W' (loss_at R (losses c)) t =
  table_loss W' (fun v => v%:R) t.
  apply: eq_bigr => d _; congr (_ * _); apply: eq_bigr => r _; congr (_ * _); rewrite /loss_at.
  by have /Qeq_bool_iff/(qR_eq R) -> := depth (val (d r)) ltac:(by rewrite mem_iota ltn_ord);
    rewrite qRn.
by case: (weighted c) => //= -[<-]; rewrite lossE.
Qed.
Lemma L1 a : aim = Some a -> L = 1%N. Proof. by rewrite /aim; case: ifP => // /andP[/eqP]. Qed.

Lemma boundsE i e (x : R) : bounds i e -> (i -> encloses e x) -> within_if i x.
Proof.
case: i => //= i /andP[]; rewrite !(qR_le R) /within => a b /(_ isT)/andP[e1 e2].
by rewrite (le_trans a e1) (le_trans e2 b).
Qed.
Lemma ratio_boundsE best i e lo hi x : ratio_bounds best i e lo hi ->
  (i -> encloses e (value x)) -> (i -> feasible x) ->
  (i -> best -> forall t, feasible t -> value x <= value t) ->
  0 <= qR lo -> (forall t, feasible t -> qR lo <= value t) ->
    (exists t, feasible t /\ value t <= qR hi) ->
  ratio_within feasible value i (value x).
Proof.
case: i => //= i /and3P[b1 b2 b3] /(_ isT)/andP[e1 e2] /(_ isT) fx /(_ isT) opt lo0 low
  [th [fh high]].
have x0 := value_ge0 fx.1; split; last first.
  move=> t ft; have t0 := value_ge0 ft.1; split; last first.
    move=> v0; move: b3; have := low t ft; rewrite v0 -{1}(qR0 R) -qR_le => -> /=.
    by rewrite /within !(qR_le R) (qRn R 1).
  move: b2; rewrite !(qR_le R) qR_mul qRn qR0 => /orP[/andP[b i1]|/andP[i0 le]].
    by apply: le_trans (opt b t ft) _; rewrite -{1}[value t]mul1r ler_wpmul2r.
  by apply: le_trans e2 (le_trans le _); rewrite ler_wpmul2l // low.
move: b1; rewrite !(qR_le R) qR_mul qRn qR0 => /orP[i1|/andP[i0 le]].
  by exists x; split=> //; rewrite -[X in _ <= X]mul1r ler_wpmul2r.
by exists th; split=> //; apply: le_trans (ler_wpmul2l i0 high) (le_trans le e1).
Qed.

Lemma pf_bestE a t : aim = Some a -> 0 < z -> pf_is_best -> feasible t ->
  value (pf_table z : table) <= value t.
Proof.
move=> A z0 best ft; rewrite !(valueE_of _ A); move: ft; rewrite (L1 A) => /feasible_paper ft.
have small : (n <= 2)%N || (\sum_(1 <= v < k.+1) z ^+ v <= 1).
  case/orP: best => [->//|]; rewrite (qR_le R) /qB qR_sum qRn => le; apply/orP; right;
    apply: le_trans le.
  by apply: ler_sum => v _; rewrite qpowE ler_expn2r // nnegrE ?(ltW z0) // (le_trans (ltW z0)).
case: a A => A; last exact: pf_optimal_box.
rewrite ler_wpmul2r ?invr_ge0 ?ler0n //.
have E (t' : table) : table_loss (fun d => (shifts Vectors d)%:R) (fun v => v%:R) t' =
  table_loss (product_prior (@same_weight R)) (@depth_loss R) t'.
  by apply: eq_bigr => d _; rewrite product_same.
rewrite !E; apply: pf_optimal_for_losses => //; first exact: depth_is_loss.
- exact: ltr01.
- by move=> v; exact: ler01.
case/orP: small => [->//|le]; apply/orP; right; rewrite (eq_bigr (fun v => z ^+ v)) // => v _;
  by rewrite mul1r.
Qed.

Hypotheses (downP : forall x, qR (down x) <= qR x) (upP : forall x, qR x <= qR (up x)).
Lemma own_errorsE pf em : own_errors = Ok (pf, em) -> rated ->
  [/\ encloses pf (value (pf_table z : table)),
      on_em c || em_ratio c -> encloses em (value (em_table z : table)),
      feasible (pf_table z), feasible (em_table z) &
      pf_is_best -> forall t, feasible t -> value (pf_table z : table) <= value t].
Proof.
move=> + r; rewrite /own_errors r /=; case A: aim => [a|//]; case: ifP => // /andP[] + zu1.
rewrite !(qR_le R) qR0 -ltNge qRn in zu1 * => zl0 [<- <-].
have [z0 z1] := (lt_le_trans zl0 low_z, le_trans z_high zu1).
split; last by move=> best t; exact: pf_bestE A z0 best.
- by rewrite (valueE_of _ A); exact: pf_errorE.
- by rewrite (valueE_of _ A) => ->; exact: em_errorE.
- by rewrite (L1 A); exact: pf_feasible.
by rewrite (L1 A); exact: em_feasible.
Qed.

Lemma least_highE pf em : own_errors = Ok (pf, em) ->
  (if given is Some x then table_ok x else true) -> exists t, feasible t /\
    value t <= qR (least_high vector_weight (over_orbits n k vector_weight) pf).
Proof.
move=> own ok; have own_high : rated -> exists t, feasible t /\ value t <= qR pf.2.
  by move=> r; have [/andP[_ p] _ ft _ _] := own_errorsE own r; exists (pf_table z).
move: ok; rewrite /least_high; case E: given => [x|].
  move=> /table_okE[fx vx]; case: ifP => [r|_]; last by exists (point R x).
  by rewrite /qmin; case: ifP => _; [exists (point R x) | exact: own_high].
by move=> _; apply: own_high; rewrite /rated E !orbT.
Qed.
End Bounds.
End Decide.

Theorem decide_sound (R : realFieldType) c zl zu down up dual cs given u :
  (forall z : R, stands_for (privacy c) z -> (qR R zl <= z <= qR R zu)%R) ->
  (forall x, qR R (down x) <= qR R x)%R -> (forall x, qR R x <= qR R (up x))%R ->
  decide c zl zu down up dual cs given = Ok u -> claims_hold R c.
Proof.
rewrite /decide => between downP upP H z /between/andP[zl_z z_zu].
have [u1 h1 {}H] := bindE H; have [u2 h2 {}H] := bindE H; have [u3 h3 {}H] := bindE H.
have [u4 h4 {}H] := bindE H; have [u5 h5 {}H] := bindE H; have [u6 h6 {}H] := bindE H;
  have [u7 h7 {}H] := bindE H.
have [[pf em] own {}H] := bindE H; have [u8 h8 {}H] := bindE H; have [u9 pf1 {}H] := bindE H.
have [u10 pf2 {}H] := bindE H; have [u11 em1 em2] := bindE H.
have n1 := requireE h1; have /andP[ok mus] := requireE h5.
have c0 v : (v <= deepest c)%N -> (0 <= loss_at R (losses c) v)%R.
  move=> vk; have /allP/(_ v) := requireE h2.
  by rewrite mem_iota /= add0n ltnS vk (qR_le R) qR0; apply.
have /andP[w0 /eqP sw] := requireE h3.
have pos : (0 < \sum_(d : depths (candidates c) (deepest c) | in_lattice d) @W c dual R d)%R.
  by rewrite -over_orbitsE ltNge -qR0 -qR_le; exact: requireE h4.
set lo := qmax _ _ in h6 pf2 em2; set hi := least_high _ _ _ _ _ in h8 pf2 em2.
have low t := lower_le c0 w0 sw pos n1 zl_z ok mus (t := t).
have lo0 : (0 <= qR R lo)%R by rewrite /lo /qmax (qR_le R) qR0; case: ifP; rewrite ?qR0.
have known := own_errorsE zl_z z_zu downP upP own.
have high := least_highE sw n1 zl_z z_zu downP upP own (requireE h7).
split=> //.
- by move=> t /low; apply: le_trans; rewrite -qR_le; exact: requireE h6.
- have [t [ft le]] := high; exists t; split=> //; apply: (le_trans le).
  by rewrite -qR_le; exact: requireE h8.
- split; [apply: (boundsE (requireE pf1)) | apply: (boundsE (requireE em1))] => i.
    by have [] := known ltac:(by rewrite /rated i).
  by have [_ e _ _ _] := known ltac:(by rewrite /rated i !orbT); apply: e; rewrite i.
split; [apply: (ratio_boundsE c0 w0 sw pos (requireE pf2)) => // i |
  apply: (ratio_boundsE c0 w0 sw pos (requireE em2)) => // i];
  have [p e fp fe best] := known ltac:(by rewrite /rated i !orbT) => //.
by apply: e; rewrite i orbT.
Qed.
