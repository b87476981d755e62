(* The verified checker for section lattice: finer lattices, losses, priors, and the worst vector, at every level without
   delta, with one candidate chosen. check_file decides both sections. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect all_algebra.
From Optratio Require Import Mechanisms Program CountVectors Classes Finer Numbers Checker Cuts Rows Epsilon Reader Certificate.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(* The weights of the mean: the same for all vectors, or those of the box, or given for each count vector in descending
   lexicographic order and shared by its vectors. Or no mean: the vector with the largest expected loss. *)
Inductive prior := Uniform | Shifts | Weights of seq Q | Worst.

(* What a certificate claims: the optimum's interval. The depths are 0, ..., deepest in steps of 2/steps sensitivities. *)
Record finer_claims := FinerClaims {
  choices : nat; bottom_depth : nat; steps : nat; asked : parameter; kept : level; losses : seq Q; weighted : prior;
  least_loss : Q * Q }.

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
Definition loss_at (ls : seq Q) v : R := qR (nth q0 ls v).
Definition weight_at n k p (d : depths n k) : R := match p with
  | Uniform | Worst => 1
  | Shifts => (shifts Box d)%:R
  | Weights ws => qR (nth q0 ws (index (counts d) (rev (orbits n k)))) / (words k n (counts d))%:R end.
Definition value_of n k p ls (t : table R n k) : R :=
  if p is Worst then worst_loss (loss_at ls) t else mean_loss (weight_at p) (loss_at ls) t.

Definition finer_hold (c : finer_claims) := forall z : R, stands_for (asked c) z ->
  let n := choices c in let k := bottom_depth c in
  let loss := @value_of n k (weighted c) (losses c) in
  (forall t : table R n k, feasible_by (steps c) z (kept c) t -> qR (least_loss c).1 <= loss t) /\
  (exists t : table R n k, feasible_by (steps c) z (kept c) t /\ loss t <= qR (least_loss c).2).
End Meaning.

Lemma feasible_by_less (R : realFieldType) n k L (z z' : R) l (t : table R n k) :
  (z' <= z)%R -> feasible_by L z l t -> feasible_by L z' l t.
Proof.
move=> le [tp rows]; have less d r x : in_lattice d -> (z * t d r <= x)%R -> (z' * t d r <= x)%R.
  by move=> Qd; apply: le_trans; rewrite ler_wpmul2r // (tp d Qd).1.
have W : worst_rows_by L z t -> worst_rows_by L z' t by move=> H r d e Qd Qe E; apply: less (H r d e Qd Qe E).
have N : neighbor_rows_by L z t -> neighbor_rows_by L z' t by move=> H r d e Qd Qe E; apply: less (H r d e Qd Qe E).
by split=> //; case: l rows => [/W|/N|[/W]|[/N]].
Qed.

(* Deciding the claims, given two numbers that e^-epsilon lies between, weights of count vectors for the bound where the prior has none, multipliers of rows, and a
   point x. *)
Section Decide.
Variables (c : finer_claims) (zl zu : Q) (dual : seq Q) (cs : seq cut) (x : seq nat -> seq Q).
Local Notation n := (choices c).
Local Notation k := (bottom_depth c).
Local Notation L := (steps c).
Local Notation l := (kept c).
Local Notation loss v := (nth q0 (losses c) v).

Definition table_of_weights (ms : seq (seq nat)) (ws : seq Q) : trie Q :=
  foldr (fun p t => insert t p.1 p.2) (Node [::]) (zip ms ws).
Definition w := if weighted c is Weights ws then ws else dual.
Definition vector_weight : seq nat -> Q := let t := table_of_weights (rev (orbits n k)) w in match weighted c with
  | Uniform => fun=> qn 1
  | Shifts => fun m => qn (shifts_of k Box m)
  | Weights _ | Worst => fun m => qdiv (odflt q0 (lookup t m)) (weight n m) end.
Definition proper_orbit m : bool := Qeq_bool (over_depths k m (prob x m)) (qn 1) &&
  all (fun v => (nth 0 m v == 0) || qle q0 (prob x m v)) (iota 0 k.+1).
Definition point_loss m : Q := over_depths k m (fun v => qmul (loss v) (prob x m v)).

Definition costs (W : seq nat -> Q) (a : seq nat * nat) : Q := qmul (W a.1) (loss a.2).

Definition decide_finer : outcome unit :=
  let! _ := require (1 < n) "n" in
  let! _ := require (all (fun v => qle q0 (loss v)) (iota 0 k.+1)) "loss" in
  let W := vector_weight in let sum := total n k W in
  let! _ := require (all (qle q0) w && (size w == size (orbits n k))) "weight" in
  let! _ := require (~~ qle sum q0) "the weights are all 0" in
  let! _ := require (all (is_row_by n k L l) cs && all (fun c => qle q0 (multiplier c)) cs) "multiplier" in
  let low := qdiv (total n k (least k (changed n zl (costs W) cs))) sum in
  let! _ := require (qle (least_loss c).1 q0 || qle (least_loss c).1 low) "claim optimum: the lower end" in
  let! _ := require (all proper_orbit (orbits n k)) "input" in
  let! _ := require (rows_ok n k L zu x l) "the table violates a row" in
  let high := (least_loss c).2 in
  require (if weighted c is Worst then qle q0 high && all (fun m => qle (point_loss m) high) (orbits n k)
    else qle (qdiv (total n k (fun m => qmul (W m) (point_loss m))) sum) high) "claim optimum: the upper end".

Local Open Scope ring_scope.
Variable R : realFieldType.
Local Notation qR := (qR R).
Local Notation depths := (depths n k).
Local Notation table := (table R n k).
Implicit Types (d : depths) (t : table).

Lemma lookup_weights ms ws m : size ms = size ws -> (forall m', m' \in ms -> size m' = size m) -> m \in ms ->
  odflt q0 (lookup (table_of_weights ms ws) m) = nth q0 ws (index m ms).
Proof.
rewrite /table_of_weights; elim: ms ws => [|m' ms IH] [|q ws] //= [sz] alike; rewrite inE.
rewrite lookup_insert ?alike ?mem_head //; case: (eqVneq m' m) => //= _ ms_m.
by apply: IH => // m'' ms''; apply: alike; rewrite inE ms'' orbT.
Qed.

Definition W d : R := qR (vector_weight (counts d)).
Lemma mean_worst t : table_proper t -> (forall v, (v <= k)%N -> 0 <= loss_at R (losses c) v) -> (forall d, in_lattice d -> 0 <= W d) ->
  0 < \sum_(d | in_lattice d) W d -> mean_loss W (loss_at R (losses c)) t <= worst_loss (loss_at R (losses c)) t.
Proof.
move=> tp c0 W0 pos; rewrite /mean_loss ler_pdivr_mulr // mulr_sumr; apply: ler_sum => d Qd.
rewrite mulrC ler_wpmul2r ?W0 // /worst_loss; have: d \in index_enum [finType of depths] by rewrite mem_index_enum.
elim: index_enum => // e s IH; rewrite inE big_cons => /orP[/eqP <-|/IH le]; first by rewrite Qd le_maxr lexx.
by case: ifP => // _; rewrite le_maxr le orbT.
Qed.
Lemma worst_le t (h : R) : 0 <= h -> (forall d, in_lattice d -> \sum_r loss_at R (losses c) (d r) * t d r <= h) ->
  worst_loss (loss_at R (losses c)) t <= h.
Proof.
by move=> h0 le; rewrite /worst_loss; elim/big_rec: _ => // d a Qd ah; rewrite le_maxl ah le.
Qed.
Lemma worst_ge0 t : 0 <= worst_loss (loss_at R (losses c)) t.
Proof.
by rewrite /worst_loss; elim/big_rec: _ => // d a _ a0; rewrite le_maxr a0 orbT.
Qed.

Theorem decide_finer_sound u : (forall z : R, stands_for (asked c) z -> qR zl <= z <= qR zu) ->
  decide_finer = Ok u -> finer_hold R c.
Proof.
rewrite /decide_finer => between H z /between/andP[zl_z z_zu]; have [u1 h1 {}H] := bindE H; have [u2 h2 {}H] := bindE H; have [u3 h3 {}H] := bindE H.
have [u4 h4 {}H] := bindE H; have [u5 h5 {}H] := bindE H; have [u6 h6 {}H] := bindE H; have [u7 h7 {}H] := bindE H.
have [u8 h8 h9] := bindE H.
have n1 := requireE h1; have n0 : (0 < n)%N by exact: ltnW.
have c0 v : (v <= k)%N -> 0 <= loss_at R (losses c) v.
  by move=> vk; have /allP/(_ v) := requireE h2; rewrite mem_iota /= add0n ltnS vk (qR_le R) qR0; apply.
have /andP[w0 /eqP sw] := requireE h3.
have pos : 0 < \sum_(d | in_lattice d) W d by rewrite -totalE ltNge -qR0 -qR_le; exact: requireE h4.
have /andP[rows mus] := requireE h5.
have counts_in d : in_lattice d -> counts d \in rev (orbits n k).
  by move=> Qd; rewrite mem_rev mem_filter counts_count_vectors nth_counts -in_lattice_cnt Qd.
have size_in m d : m \in rev (orbits n k) -> size m = size (counts d).
  by rewrite mem_rev mem_filter size_counts => /andP[_ /count_vectors_size[]].
have given d : in_lattice d -> match weighted c with Weights _ | Worst =>
    W d = qR (nth q0 w (index (counts d) (rev (orbits n k)))) / (words k n (counts d))%:R | _ => True end.
  move=> Qd; rewrite /W /vector_weight; case: (weighted c) => // [ws|]; rewrite qR_div (weightE R (counts_count_vectors d));
    by rewrite lookup_weights ?size_rev ?counts_in // => m' /size_in.
have W0 d : in_lattice d -> 0 <= W d.
  move=> Qd; have := given d Qd; rewrite /W /vector_weight; case: (weighted c) => [_|_|ws ->|->];
    rewrite ?qRn ?ler01 ?ler0n // divr_ge0 ?ler0n //; have := counts_in d Qd; rewrite -index_mem size_rev -sw => lt;
    by rewrite -qR0 -qR_le; exact: (all_nthP q0 w0).
have valueE t : value_of (weighted c) (losses c) t = if weighted c is Worst then worst_loss (loss_at R (losses c)) t
    else mean_loss W (loss_at R (losses c)) t.
  have alike d : in_lattice d -> if weighted c is Worst then True else weight_at R (weighted c) d = W d.
    move=> Qd; have := given d Qd; rewrite /W /vector_weight /w.
    by case: (weighted c) => [_|_|ws ->|_] //; rewrite qRn ?shifts_ofE.
  rewrite /value_of /mean_loss /table_loss; case: (weighted c) alike => // [||ws] alike;
    by congr (_ / _); apply: eq_bigr => d Qd; rewrite alike.
have mean_low t : feasible_by L z l t -> qR (least_loss c).1 <= mean_loss W (loss_at R (losses c)) t.
  move=> /(feasible_by_less zl_z) ft; have := requireE h6; rewrite !(qR_le R) qR0 => /orP[le|]; last first.
    move=> le; apply: le_trans le _; rewrite /mean_loss qR_div [qR (total n k vector_weight)]totalE ler_wpmul2r ?invr_ge0 ?(ltW pos) //.
    apply: le_trans (lower_by_sound n0 (costs vector_weight) ft rows mus) _.
    rewrite /table_loss le_eqVlt; apply/orP; left; apply/eqP.
    apply: eq_bigr => d _; rewrite mulr_sumr; apply: eq_bigr => r _.
    by rewrite /costs qR_mul mulrA.
  apply: le_trans le _; rewrite divr_ge0 ?(ltW pos) // sumr_ge0 // => d Qd; rewrite mulr_ge0 ?W0 // sumr_ge0 // => r _.
  by rewrite mulr_ge0 ?(ft.1 d Qd).1 // c0 // -ltnS.
have pt : table_proper (point R x : table).
  move=> d Qd; have := allP (requireE h7) (counts d); rewrite -mem_rev counts_in // => /(_ isT) /andP[s1 /allP x0]; split=> [r|].
    have := x0 (val (d r)); rewrite mem_iota /= add0n ltn_ord => /(_ isT); rewrite nth_counts.
    by have := cnt_pos d r; case: (cnt d (d r)) => //= i _; rewrite (qR_le R) qR0.
  by move/Qeq_bool_iff/(qR_eq R): s1; rewrite over_depthsE qRn.
have feas := feasible_by_less z_zu (rows_ok_sound n1 (requireE h8) pt).
have lossE d : qR (point_loss (counts d)) = \sum_r loss_at R (losses c) (d r) * point R x d r.
  by rewrite over_depthsE; apply: eq_bigr => r _; rewrite qR_mul.
split=> [t ft|]; last (exists (point R x); split=> //); rewrite valueE.
  by case: (weighted c); rewrite ?mean_low //; apply: le_trans (mean_low t ft) (mean_worst ft.1 c0 W0 pos).
have := requireE h9; have sumE : qR (total n k vector_weight) = \sum_(d | in_lattice d) W d := totalE R n k _.
have meanE : qR (total n k (fun m => qmul (vector_weight m) (point_loss m))) =
    table_loss W (loss_at R (losses c)) (point R x : table).
  by rewrite totalE; apply: eq_bigr => d _; rewrite qR_mul lossE.
case: (weighted c) => [||ws|]; last first.
  move=> /andP[h0 /allP le]; apply: worst_le => [|d Qd]; first by rewrite -qR0 -qR_le.
  by rewrite -lossE -qR_le le // -mem_rev counts_in.
all: by rewrite (qR_le R) qR_div sumE meanE.
Qed.
End Decide.

(* Numbered things, the first being number 1. *)
Section Numbered.
Variable A : Type.
Inductive numbered := Nothing | Branch of numbered & option A & numbered.
Fixpoint put (t : numbered) (i : positive) (a : A) : numbered :=
  let: (l, b, r) := if t is Branch l b r then (l, b, r) else (Nothing, None, Nothing) in match i with
  | xH => Branch l (Some a) r | xO i' => Branch (put l i' a) b r | xI i' => Branch l b (put r i' a) end.
Fixpoint get (t : numbered) (i : positive) : option A := if t is Branch l b r then match i with
  | xH => b | xO i' => get l i' | xI i' => get r i' end else None.
Definition all_numbered (s : seq A) : numbered :=
  (foldl (fun p a => (put p.1 p.2 a, Pos.succ p.2)) (Nothing, xH) s).1.
Definition get_from_0 (t : numbered) (i : Z) : option A :=
  if Z.succ i is Zpos p then get t p else None.
End Numbered.

(* Reading the lines after "problem lattice". *)
Section Body.
Variables (n k L : nat) (l : level).
Definition values (f : seq text) : option (seq Q) :=
  let o := [seq value a | a <- f] in if all isSome o then Some [seq odflt q0 a | a <- o] else None.
Fixpoint rising (a : Q) (s : seq Q) : bool := if s is b :: s' then qle a b && rising b s' else true.

(* A line for each count vector, with the probabilities at those depths that it has candidates at. *)
Fixpoint spread (m : seq nat) (s : seq Q) : seq Q := match m with
  | 0 :: m' => q0 :: spread m' s
  | _ :: m' => head q0 s :: spread m' (behead s)
  | [::] => [::] end.
Fixpoint inputs (ms : seq (seq nat)) (left : lines_left) (t : trie (seq Q)) : outcome (trie (seq Q) * lines_left) :=
  if ms is m :: ms' then
    let! (f, rest) := take_line "input" left in
    let! s := found (values f) "input" in
    let! _ := require ((size s == count (ltn 0) m) && all (qle q0) s) "input" in
    inputs ms' rest (insert t m (spread m s))
  else Ok (t, left).

Fixpoint weights (most last : Z) (left : lines_left) : outcome (seq (Z * Q) * lines_left) := match left with
  | (a :: f) :: rest => if same a (word "weight") then
      if f is [:: i; v] then
        let! i := found (whole i) "weight" in
        let! v := found (value v) "weight" in
        let! _ := require [&& Z.ltb last i, Z.ltb i most & ~~ qle v q0] "weight" in
        let! (ws, rest) := weights most i rest in Ok ((i, v) :: ws, rest)
      else Bad "weight"
    else Ok ([::], left)
  | _ => Ok ([::], left) end.
Fixpoint all_weights (i : Z) (ms : seq (seq nat)) (ws : seq (Z * Q)) : seq Q := if ms is _ :: ms' then
    match ws with
    | (j, v) :: ws' => if Z.eqb i j then v :: all_weights (Z.succ i) ms' ws' else q0 :: all_weights (Z.succ i) ms' ws
    | [::] => q0 :: all_weights (Z.succ i) ms' ws end
  else [::].

(* A row of two cells, of monotonicity if it is one. Its multiplier is that of the probabilities; those of Cuts.v are of
   the totals of both classes, divided by the size of the left one. *)
Definition row_of_cells (a b : seq nat * nat) (nu : Q) : cut :=
  let mu := qdiv nu (class_weight n a) in
  if is_row_by n k L l (Cut false a b mu) then Cut false a b mu else Cut true a b mu.
Fixpoint multipliers (cells : numbered (seq nat * nat)) (last : Z * Z) (left : lines_left) :
    outcome (seq cut * lines_left) := match left with
  | (a :: f) :: rest => if same a (word "multiplier") then match f with
      | [:: i; j; times; v] =>
        let! i := found (whole i) "multiplier" in
        let! j := found (whole j) "multiplier" in
        let! a := found (get_from_0 cells i) "multiplier" in
        let! b := found (get_from_0 cells j) "multiplier" in
        let! nu := found (value v) "multiplier" in
        let! _ := require (~~ qle nu q0) "multiplier" in
        let! _ := require (Z.ltb last.1 i || Z.eqb last.1 i && Z.ltb last.2 j) "multiplier: not after the line before" in
        if same times (word "1") then
          let! (cs, rest) := multipliers cells (i, j) rest in Ok (row_of_cells a b nu :: cs, rest)
        else Open "an event of several outcomes"
      | [:: _, _, _, _, _ & _] => Open "an event of several outcomes"
      | _ => Bad "multiplier" end
    else Ok ([::], left)
  | _ => Ok ([::], left) end.
End Body.

(* What the file claims, and what it holds to prove that: weights, multipliers, and the point. *)
Definition read_lattice (rest : seq text) : outcome (finer_claims * Z * seq Q * seq cut * trie (seq Q)) :=
  let l := [seq fields a | a <- rest] in
  let! (_, l) := take_one "problem" l in
  let! (zn, l) := take_int "n" l in
  let! (zk, l) := take_int "k" l in
  let! (zs, l) := take_int "step" l in
  let! (top, l) := take_one "top" l in
  let zd := Z.mul zk zs in
  if ~~ (Z.leb 2 zn && Z.leb zn 1000 && Z.leb 1 zd && Z.leb zd 1000) then Open "n, k or step" else
  if ~~ same top (word "1") then Open "more than one choice" else
  let n := Z.to_nat zn in let steps := Z.to_nat zs in let k := Z.to_nat zd in
  let! (rows, l) := take_one "constraints" l in
  if same rows (word "approximate") then Open "delta" else
  let! rows := found (level_of rows) "constraints" in
  let! (f, l) := take_line "loss" l in
  let! losses := found (values f) "loss" in
  let! _ := require [&& size losses == k.+1, Qeq_bool (head q0 losses) q0 & rising q0 losses] "loss" in
  let! (p, l) := take_one "prior" l in
  let own := same p (word "weights") in
  let worst := same p (word "worst") in
  let! _ := require [|| own, worst, same p (word "uniform") | same p (word "box")] "prior" in
  let! (e, l) := take_parameter l in
  let! (bits, l) := take_int "precision" l in
  let! _ := require (Z.leb bits 16384) "precision" in
  let! (o, l) := take_claim "optimum" l in
  let! o := found o "claim optimum" in
  if Z.ltb largest (binomial_z n k) then Open "the lattice is too large" else
  let ms := rev (orbits n k) in
  let! (x, l) := inputs ms l (Node [::]) in
  let! (ws, l) := if own || worst then weights (Z.of_nat (size ms)) (Zneg xH) l else Ok ([::], l) in
  let ws := all_weights 0 ms ws in
  let cells := all_numbered (flatten [seq [seq (m, v) | v <- iota 0 k.+1 & 0 < nth 0 m v] | m <- ms]) in
  let! (cs, l) := multipliers n k steps rows cells (Zneg xH, Zneg xH) l in
  let! (count, l) := take_int "end" l in
  let! _ := require (Z.eqb count (Z.of_nat (size rest)) && nilp l) "end" in
  let p := if own then Weights ws else if worst then Worst else if same p (word "box") then Shifts else Uniform in
  Ok (FinerClaims n k steps e rows losses p o, bits, ws, cs, x).

Definition check_lattice (rest : seq text) : outcome finer_claims :=
  let! (c, bits, ws, cs, x) := read_lattice rest in
  let! (zl, zu) := ends_for (Z.add bits 120) (asked c) in
  let decided zl zu := decide_finer c zl zu ws cs (read_table [::] x) in
  match decided zl zu with
  | Ok _ => Ok c | why => refuse finer_claims why (if decided zu zl is Ok _ then true else false) end.

(* Both sections. *)
Inductive proved := InProgram of claims | InLattice of finer_claims.
Definition true_of (R : realFieldType) (p : proved) : Prop :=
  match p with InProgram c => claims_hold R c | InLattice c => finer_hold R c end.

Definition check_file (file : text) : outcome proved :=
  let! all := lines file in
  let program := let! c := check file in Ok (InProgram c) in
  if ~~ seq.all (fun a => seq.all (at_most longest) (fields a)) all then Open "a field of more than 262144 bytes" else
  if all is [:: first, second & _] then
    if same first (word "optratio-certificate 3") && same second (word "problem lattice") then
      let! c := check_lattice (behead all) in Ok (InLattice c)
    else program
  else program.

Theorem check_lattice_sound (R : realFieldType) rest c : check_lattice rest = Ok c -> finer_hold R c.
Proof.
rewrite /check_lattice => H; have [[[[[c' bits] ws] cs] x] _ {}H] := bindE H; have [[zl zu] E {}H] := bindE H.
move: H; case D: (decide_finer _ zl zu _ _ _) => [u||]; try by move=> r; case: (refuseE r).
by case=> <-; apply: decide_finer_sound D => z; exact: ends_forE E.
Qed.

(* Whatever is accepted is true. *)
Theorem check_file_sound (R : realFieldType) file p : check_file file = Ok p -> true_of R p.
Proof.
rewrite /check_file => H; have [all _ {}H] := bindE H.
have program : (let! c := check file in Ok (InProgram c)) = Ok p -> true_of R p.
  by move=> {}H; have [c /(@check_sound R) ok [<-]] := bindE H.
case: ifP H => // _ H; case: all H => [|first [|second rest]] //; case: ifP => // _ H.
by have [c /(@check_lattice_sound R) ok [<-]] := bindE H.
Qed.

(* So every mechanism of the level, on scores in any ring in which a step h is 2/L, loses no less than claimed. *)
Corollary check_lattice_bounds (S : realDomainType) (R : realFieldType) rest c (h : S) (z : R)
    (M : mechanism S R (choices c)) : check_lattice rest = Ok c -> (h *+ steps c = 2%:R)%R -> stands_for (asked c) z ->
  proper M -> private z M -> shift_invariant M -> (kept c = Monotone \/ kept c = Full -> monotone M) ->
  (qR R (least_loss c).1 <= value_of (weighted c) (losses c) (table_by h M : table R (choices c) (bottom_depth c)))%R.
Proof.
by move=> ok hL zp Mp Md Ms Mm; have [lo _] := @check_lattice_sound R _ _ ok z zp; apply: lo; apply: table_by_feasible.
Qed.
