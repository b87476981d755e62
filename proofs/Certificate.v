(* The verified checker: check reads a certificate's bytes and says what they prove, and check_sound says that it is true.
   It knows section program at every level with either objective, on lattices that can be enumerated; where e^epsilon is
   irrational, what is claimed of the optimum. *)
From Coq Require Import ZArith QArith Ascii String.
From mathcomp Require Import all_ssreflect all_algebra.
From Optratio Require Import Mechanisms Program CountVectors Threshold PermuteAndFlip Objectives Exponential Numbers Checker Cuts Neighbors Errors Epsilon Reader.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope nat_scope.

(* What a certificate claims: intervals for the optimum (the least mean error), for the mechanisms' mean errors, and for
   these divided by the optimum. *)
Record claims := Claims {
  candidates : nat; deepest : nat; privacy : parameter; aim : objective; rows : level;
  optimum : Q * Q; on_pf : option (Q * Q); on_em : option (Q * Q); pf_ratio : option (Q * Q); em_ratio : option (Q * Q) }.

Section Meaning.
Local Open Scope ring_scope.
Variable R : realFieldType.
Definition within (i : Q * Q) (x : R) := qR R i.1 <= x <= qR R i.2.
Definition within_if (i : option (Q * Q)) (x : R) : Prop := if i is Some i then within i x else True.
(* x is between the ends times the unit; where that is 0, as for k = 0, the ratio is 1 *)
Definition ratio_within (i : option (Q * Q)) (x unit : R) : Prop :=
  if i is Some i then qR R i.1 * unit <= x <= qR R i.2 * unit /\ (unit = 0 -> within i 1) else True.
Definition is_optimum n k (z : R) a l (o : R) :=
  (exists t : table R n k, feasible z l t /\ objective_mean a t = o) /\
  forall t : table R n k, feasible z l t -> o <= objective_mean a t.

Definition claims_hold (c : claims) := forall z : R, stands_for (privacy c) z ->
  let n := candidates c in let k := deepest c in let mean := @objective_mean R n k (aim c) in
  let pf := mean (pf_table z) in let em := mean (em_table z) in
  [/\ forall t : table R n k, feasible z (rows c) t -> qR R (optimum c).1 <= mean t,
      exists t : table R n k, feasible z (rows c) t /\ mean t <= qR R (optimum c).2,
      within_if (on_pf c) pf /\ within_if (on_em c) em &
      forall o, is_optimum n k z (aim c) (rows c) o -> ratio_within (pf_ratio c) pf o /\ ratio_within (em_ratio c) em o].
End Meaning.

(* Less privacy is asked with a smaller z. *)
Lemma feasible_less (R : realFieldType) n k (z z' : R) l (t : table R n k) :
  (z' <= z)%R -> feasible z l t -> feasible z' l t.
Proof.
move=> le [tp rows]; have less d r x : in_lattice d -> (z * t d r <= x)%R -> (z' * t d r <= x)%R.
  by move=> Qd; apply: le_trans; rewrite ler_wpmul2r // (tp d Qd).1.
have W : worst_rows z t -> worst_rows z' t by move=> H r d e Qd E; apply: less (H r d e Qd E).
have N : neighbor_rows z t -> neighbor_rows z' t by move=> H r d e Qd Qe E; apply: less (H r d e Qd Qe E).
by split=> //; case: l rows => [/W|[/W ? /N]|[/W]|[/W ? [/N]]].
Qed.

(* Deciding the claims, given two numbers that e^-epsilon lies between, multipliers y and those of cuts, and a point x. *)
Section Decide.
Variables (c : claims) (zl zu : Q) (cs : seq cut) (y : seq nat -> Q) (x : seq nat -> seq Q).
Local Notation n := (candidates c).
Local Notation k := (deepest c).
Definition depth_cost (p : seq nat * nat) : Q := qmul (qn (shifts_of k (aim c) p.1)) (qn p.2).
Definition bounds (i : option (Q * Q)) (e : Q) : bool := if i is Some i then qle i.1 e && qle e i.2 else true.
Definition ratio_bounds (i : option (Q * Q)) (e lo hi : Q) : bool := if i is Some i then
  [&& qle (qmul i.1 lo) e, qle (qmul i.1 hi) e, qle e (qmul i.2 lo), qle e (qmul i.2 hi) &
    ~~ qle lo q0 || qle i.1 (qn 1) && qle (qn 1) i.2] else true.

Definition decide : outcome unit :=
  let! _ := require (0 < n) "n" in
  let! _ := require (all (is_row n k (rows c)) cs && all (fun c => qle q0 (multiplier c)) cs) "cut" in
  let! low := found (lower n k zl (changed n zl depth_cost cs) y) "the chains" in
  let! high := if upper n k zu x (aim c) is Some b then if level_ok n k zu x (rows c) then Ok b else
    Open "a point that is not feasible as it stands" else Open "a point that is not feasible as it stands" in
  let all := vectors n k (aim c) in
  let lo := qdiv low all in let hi := qdiv high all in
  let! _ := require (qle (optimum c).1 lo && qle hi (optimum c).2) "claim optimum" in
  let! z := match privacy c with ExpMinus q => Ok q | Epsilon _ =>
    if [|| on_pf c : bool, pf_ratio c : bool, on_em c : bool | em_ratio c] then
      Open "an error or a ratio at an irrational e^epsilon" else Ok q0 end in
  let flip := if on_pf c || pf_ratio c then pf_error n k z (aim c) else q0 in
  let! _ := require (bounds (on_pf c) flip) "claim error pf" in
  let! _ := require (ratio_bounds (pf_ratio c) flip lo hi) "claim ratio pf" in
  let expo := if on_em c || em_ratio c then em_error n k z (aim c) else q0 in
  let! _ := require (bounds (on_em c) expo) "claim error em" in
  require (ratio_bounds (em_ratio c) expo lo hi) "claim ratio em".

Local Open Scope ring_scope.
Variable R : realFieldType.

Lemma bindE A B (a : outcome A) (f : A -> outcome B) b : bind a f = Ok b -> exists2 v, a = Ok v & f v = Ok b.
Proof. by case: a => // v E; exists v. Qed.
Lemma requireE b s u : require b s = Ok u -> b. Proof. by case: b. Qed.
Lemma foundE A (o : option A) s v : found o s = Ok v -> o = Some v. Proof. by case: o => //= a [->]. Qed.
Lemma boundsE i e (x' : R) : bounds i e -> (i -> qR R e = x') -> within_if i x'.
Proof. by case: i => //= i /andP[]; rewrite !(qR_le R) /within => a b <- //; rewrite a b. Qed.
Lemma ratio_boundsE i e lo hi (x' o : R) : ratio_bounds i e lo hi -> (i -> qR R e = x') ->
  qR R lo <= o -> o <= qR R hi -> ratio_within i x' o.
Proof.
case: i => //= i /and5P[]; rewrite !(qR_le R) !qR_mul qR0 qRn => a b c' d u H lo_o o_hi; rewrite -H //.
split; last by move=> o0; move: u; rewrite -[X in qR R lo <= X]o0 lo_o.
apply/andP; split; [case: (lerP 0 (qR R i.1)) => s | case: (lerP 0 (qR R i.2)) => s].
- exact: le_trans (ler_wpmul2l s o_hi) b.
- exact: le_trans (ler_wnmul2l (ltW s) lo_o) a.
- exact: le_trans c' (ler_wpmul2l s lo_o).
- exact: le_trans d (ler_wnmul2l (ltW s) o_hi).
Qed.

Lemma decide_sound u : (forall z : R, stands_for (privacy c) z -> qR R zl <= z <= qR R zu) -> decide = Ok u -> claims_hold R c.
Proof.
rewrite /decide => between H z zp; have [u1 h3 H1] := bindE H; have [u2 hc H2] := bindE H1.
have [low h1 H3] := bindE H2; have [high h2 H4'] := bindE H3.
have [u4 h4 H4] := bindE H4'; have [q hq H4q] := bindE H4; have [u5 h5 H5] := bindE H4q.
have [u6 h6 H6] := bindE H5; have [u7 h7 h8] := bindE H6.
have /andP[zl_z z_zu] := between z zp.
have L := foundE h1; have n0 := requireE h3; have /andP[rows_ok mus_ok] := requireE hc.
have [U V] : upper n k zu x (aim c) = Some high /\ level_ok n k zu x (rows c).
  by move: h2; case: (upper n k zu x (aim c)) => // b; case: (level_ok n k zu x (rows c)) => //= -[->].
have /andP[oL oU] := requireE h4.
have p1 := requireE h5; have p2 := requireE h6; have e1 := requireE h7; have e2 := requireE h8.
have all0 : 0 < qR R (vectors n k (aim c)).
  rewrite vectorsE ltr0n (bigD1 [ffun=> ord0]) /=; last by apply/existsP; exists (Ordinal n0); rewrite ffunE.
  rewrite ltn_addr // /shifts; case: (aim c) => //; rewrite subn_gt0 ltnS.
  by apply/bigmax_leqP => s _; rewrite ffunE.
have lo_all (t : table R n k) : feasible z (rows c) t -> qR R (qdiv low (vectors n k (aim c))) <= objective_mean (aim c) t.
  move=> /(feasible_less zl_z) ft; have [tp tw] : feasible (qR R zl) Paper t by case: (rows c) ft => -[? w]; split=> //; case: w.
  rewrite qR_div /objective_mean -vectorsE ler_wpmul2r ?invr_ge0 ?(ltW all0) //.
  apply: le_trans (lower_sound L tp tw) _; apply: le_trans (changed_le n0 depth_cost ft rows_ok mus_ok) _.
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  apply: eq_bigr => d _; rewrite mulr_sumr; apply: eq_bigr => r _.
  by rewrite /depth_cost qR_mul !qRn shifts_ofE mulrA.
have [pp pw pe] := upper_sound R U; have feas := feasible_less z_zu (level_ok_sound V pp pw).
have pm : objective_mean (aim c) (point R x : table R n k) = qR R (qdiv high (vectors n k (aim c))).
  by rewrite /objective_mean pe -vectorsE qR_div.
have known : [|| on_pf c : bool, pf_ratio c : bool, on_em c : bool | em_ratio c] -> z = qR R q.
  by move: hq zp; case: (privacy c) => [q' [->]|e /=] //; case: ifP.
have pfE : on_pf c || pf_ratio c -> qR R (if on_pf c || pf_ratio c then pf_error n k q (aim c) else q0) = objective_mean (aim c) (pf_table z : table R n k).
  by move=> h; rewrite h known ?pf_errorE //; case/orP: h => ->; rewrite ?orbT.
have emE : on_em c || em_ratio c -> qR R (if on_em c || em_ratio c then em_error n k q (aim c) else q0) = objective_mean (aim c) (em_table z : table R n k).
  by move=> h; rewrite h known ?em_errorE //; case/orP: h => ->; rewrite ?orbT.
split.
- by move=> t /lo_all; apply: le_trans; rewrite -qR_le.
- by exists (point R x); split; [| rewrite pm -qR_le].
- split; [apply: (boundsE p1) => h; apply: pfE | apply: (boundsE e1) => h; apply: emE]; by rewrite h.
move=> o [[t [tf <-]] best]; have lo := lo_all t tf.
have hi : objective_mean (aim c) t <= qR R (qdiv high (vectors n k (aim c))) by rewrite -pm; apply: best.
split; [apply: (ratio_boundsE p2) => // h; apply: pfE | apply: (ratio_boundsE e2) => // h; apply: emE]; by rewrite h orbT.
Qed.
End Decide.

(* Reading the lines. A reader takes what it knows from the front of the remaining lines. *)
Definition lines_left := seq (seq text).
Definition take_line (name : string) (l : lines_left) : outcome (seq text * lines_left) :=
  if l is (a :: f) :: l' then if same a (word name) then Ok (f, l') else Bad name else Bad name.
Definition take_one (name : string) l : outcome (text * lines_left) :=
  let! (f, l') := take_line name l in if f is [:: a] then Ok (a, l') else Bad name.
Definition take_int name l : outcome (Z * lines_left) :=
  let! (a, l') := take_one name l in let! i := found (whole a) name in Ok (i, l').
Definition interval name (a b : text) : outcome (Q * Q) :=
  match claimed a, claimed b with
  | Some lo, Some hi => if qle lo hi then Ok (lo, hi) else Bad name | _, _ => Bad name end.
Definition take_claim (what : string) (l : lines_left) : outcome (option (Q * Q) * lines_left) :=
  if l is (c :: f) :: l' then
    let w := fields (word what) in let s := size w in
    if same c (word "claim") && all2 same (take s f) w then
      if drop s f is [:: a; b] then let! i := interval "claim" a b in Ok (Some i, l') else Bad "claim"
    else Ok (None, l)
  else Ok (None, l).

Section Body.
Variables (n k : nat) (z : Q).
Definition small_to (most : nat) (f : text) : option nat := if whole f is Some i then
  if Z.leb i (Z.of_nat most) then Some (Z.to_nat i) else None else None.
Definition small := small_to n.
Definition same_counts (m : seq nat) (f : seq text) : bool :=
  [seq small a | a <- f] == [seq Some i | i <- m].
Fixpoint duals (ms : seq (seq nat)) (l : lines_left) (t : trie Q) : outcome (trie Q * lines_left) :=
  if ms is m :: ms' then
    let! (f, l') := take_line "dual" l in
    if (size f == k.+2) && same_counts m (take k.+1 f) then
      let! v := found (value (last [::] f)) "dual" in duals ms' l' (insert t m v)
    else Bad "dual: not the next count vector"
  else Ok (t, l).
Fixpoint before (a b : seq nat) : bool := match a, b with
  | i :: a', j :: b' => (j < i) || (i == j) && before a' b' | _, _ => false end.
Definition counts_of (f : seq text) : option (seq nat) :=
  let o := [seq small a | a <- f] in
  let m := [seq odflt 0 a | a <- o] in
  if [&& all isSome o, size m == k.+1, sumn m == n & 0 < nth 0 m 0] then Some m else None.
(* What "inject" lines say: for each count vector the depths and the amounts. *)
Definition injection := (seq nat * nat * Q)%type.
Definition injection_of (f : seq text) : option injection :=
  if f is fv :: fm then
    match small_to k fv, counts_of (take k.+1 fm), value (last [::] fm) with
    | Some v, Some m, Some s =>
      if [&& size fm == k.+2, 0 < v, 0 < nth 0 m v, qle q0 s & ~~ Qeq_bool s q0] then Some (m, v, s) else None
    | _, _, _ => None end
  else None.
Fixpoint injections (last : option injection) (l : lines_left) (t : trie (seq (nat * Q))) :
    outcome (trie (seq (nat * Q)) * lines_left) :=
  match l with
  | (a :: f) :: l' => if same a (word "inject") then
      match injection_of f with
      | Some ((m, v, s) as i) =>
        if (if last is Some (m', v', _) then before m' m || (m' == m) && (v' < v) else true) then
          injections (Some i) l' (insert t m ((v, s) :: odflt [::] (lookup t m)))
        else Bad "inject: not after the variable of the line before"
      | None => Bad "inject" end
    else Ok (t, l)
  | _ => Ok (t, l) end.

(* What "cut" lines say. *)
Definition variable_of (f : seq text) : option (seq nat * nat) := if f is fv :: fm then
    match small_to k fv, counts_of fm with
    | Some v, Some m => if 0 < nth 0 m v then Some (m, v) else None | _, _ => None end
  else None.
Definition cut_of (f : seq text) : option cut := if f is kind :: g then
    match variable_of (take k.+2 g), variable_of (take k.+2 (drop k.+2 g)), value (last [::] g) with
    | Some a, Some b, Some mu =>
      if [&& size g == k.*2 + 5, same kind (word "p") || same kind (word "m"), a != b, qle q0 mu & ~~ Qeq_bool mu q0]
      then Some (Cut (same kind (word "p")) a b mu) else None
    | _, _, _ => None end
  else None.
Definition before_cut (a b : cut) : bool :=
  let then_by (first tie next : bool) := first || tie && next in
  let variable (p q : seq nat * nat) := then_by (before p.1 q.1) (p.1 == q.1) (p.2 < q.2) in
  then_by (~~ of_privacy a && of_privacy b) (of_privacy a == of_privacy b)
    (then_by (variable (left a) (left b)) (left a == left b) (variable (right a) (right b))).
Fixpoint cuts (last : seq cut) (l : lines_left) : outcome (seq cut * lines_left) := match l with
  | (a :: f) :: l' => if same a (word "cut") then
      if cut_of f is Some c then
        if (if last is c' :: _ then before_cut c' c else true) then cuts (c :: last) l'
        else Bad "cut: not after the row of the line before"
      else Bad "cut"
    else Ok (last, l)
  | _ => Ok (last, l) end.

(* The point that injections define: x at depth v is z times that before the candidate sank from v-1, and what is
   injected; depth 0 has the rest. *)
Definition raised (m : seq nat) v := mkseq (fun w => nth 0 m w - (w == v) + (w.+1 == v)) (size m).
Definition point_row (inj : trie (seq (nat * Q))) (xs : trie (seq Q)) (m : seq nat) : seq Q :=
  let s := odflt [::] (lookup inj m) in
  let at_depth v := if nth 0 m v == 0 then q0 else
    let old := qmul z (nth q0 (odflt [::] (lookup xs (raised m v))) v.-1) in
    if [seq p.2 | p <- s & p.1 == v] is a :: _ then
      qadd old (qdiv a (qmul (weight n m) (qn (nth 0 m v)))) else old in
  let rest := [seq at_depth v | v <- iota 1 k] in
  let taken := qsum [seq qmul (qn p.1) p.2 | p <- zip (behead m) rest] in
  qdiv (qsub (qn 1) taken) (qn (nth 0 m 0)) :: rest.
Definition point_table inj : trie (seq Q) :=
  foldl (fun xs m => insert xs m (point_row inj xs m)) (Node [::]) (rev (orbits n k)).
Definition read_table A (a : A) (t : trie A) (m : seq nat) : A := odflt a (lookup t m).

End Body.

(* The points of research/docs/universal.md, the better of the two. For the box multipliers are summed over the lattices
   that a vector belongs to. *)
Definition closed_form n (z : Q) k : seq nat -> Q :=
  let a := qA k z in let b := qB k z in let y := qdiv a (qadd (qn 1) b) in
  if qle (qn 1) b && qle (qn k) (qmul (qn n) b) then fun m => qmul y (qsub (qn 1) (qdiv (qn (k - bottom k m)) b))
  else fun m => if 1 < nth 0 m 0 then y else q0.
Definition summed (o : objective) k (f : nat -> seq nat -> Q) : seq nat -> Q :=
  if o is Box then let fs := [seq f j | j <- iota 0 k.+1] in
    fun m => qsum [seq g m | g <- drop (bottom k m) fs] else f k.

(* How many count vectors there are. *)
Definition binomial_z (n k : nat) : Z :=
  foldl (fun c i => Z.div (Z.mul c (Z.of_nat (n + i).-1)) (Z.of_nat i)) (Zpos xH) (iota 1 k).
Definition largest : Z := 200000.

Definition objective_of (a : text) : option objective :=
  if same a (word "paper") then Some Vectors else if same a (word "box") then Some Box else None.
Definition level_of (a : text) : option level :=
  if same a (word "paper") then Some Paper else if same a (word "dp") then Some Dp else
  if same a (word "monotone") then Some Monotone else if same a (word "full") then Some Full else None.

(* epsilon or exp-epsilon, as every section has them. *)
Definition take_parameter (l : lines_left) : outcome (parameter * lines_left) :=
  let short (a : text) := at_most 4096 a in
  let bits e := Z.ltb (Z.abs (Qnum e)) (Z.pow 2 4096) && Z.ltb (Zpos (Qden e)) (Z.pow 2 4096) in
  if take_one "epsilon" l is Ok (a, l) then
    let! _ := require (short a) "epsilon" in
    let! e := found (rational a) "epsilon" in
    let! _ := require (qle q0 e && bits e) "epsilon" in Ok (Epsilon e, l)
  else
    let! (a, l) := take_one "exp-epsilon" l in
    let! _ := require (short a) "exp-epsilon" in
    let! e := found (rational a) "exp-epsilon" in
    let! _ := require (qle (qn 1) e && bits e) "exp-epsilon" in Ok (ExpMinus (qdiv (qn 1) e), l).
(* The numbers that z lies between, to so many bits. What takes powers of more than some 2^21 bits is left open. *)
Definition work (bits : Z) (p : parameter) : Z := if p is Epsilon e then
    let m := Z.succ (Z.div (Qnum e) (Zpos (Qden e))) in
    Z.mul (Z.mul m (Z.add bits 64)) (Z.add (Z.log2 (Zpos (Qden e))) (Z.add (Z.log2 m) 8))
  else Z0.
Definition ends_for (bits : Z) (p : parameter) : outcome (Q * Q) :=
  if Z.ltb 8388608 (work bits p) then Open "an epsilon so large or so long" else
  if Z.leb bits 4160 then if ends (Z.to_nat bits) p is Some e then Ok e else Open "epsilon"
  else if p is ExpMinus q then Ok (q, q) else Open "so high a precision".
(* Why a file is refused. Nearly is whether it would not be if each bound were worked out at the other end of the
   enclosure of z: then more bits may tell. *)
Definition refuse A (why : outcome unit) (nearly : bool) : outcome A := match why with
  | Ok _ => Bad "" | Open s => Open s | Bad s => if nearly then Open "a bound as close as this at an irrational e^epsilon" else Bad s end.

(* What the file claims, and what it holds to prove that: how many bits to work with, cuts, y as a function of
   z, and the injections. *)
Definition read (file : text) : outcome (claims * Z * seq cut * (Q -> seq nat -> Q) * trie (seq (nat * Q))) :=
  let! all := lines file in
  if all is first :: rest then
    let! _ := require (same first (word "optratio-certificate 3")) "the first line" in
    let l := [seq fields a | a <- rest] in
    let! (a, l) := take_one "problem" l in
    if ~~ same a (word "program") then Open "another section" else
    let! (zn, l) := take_int "n" l in
    let! (zk, l) := take_int "k" l in
    if ~~ (Z.leb 2 zn && Z.leb zn 1000 && Z.leb zk 1000) then Open "n or k" else
    let n := Z.to_nat zn in let k := Z.to_nat zk in
    let! (p, l) := take_parameter l in
    let! (objective, l) := take_one "objective" l in
    let! (level, l) := take_one "constraints" l in
    let! (proof, l) := take_one "proof" l in
    let! aim := found (objective_of objective) "objective" in
    let! rows := found (level_of level) "constraints" in
    if same proof (word "lumped") then Open "proof" else
    let! (bits, l) := take_int "precision" l in
    let! _ := require (Z.leb bits 1073741824) "precision" in
    let! (o, l) := take_claim "optimum" l in
    let! o := found o "claim optimum" in
    let! (pf, l) := take_claim "error pf" l in
    let! (em, l) := take_claim "error em" l in
    let! (rpf, l) := take_claim "ratio pf" l in
    let! (rem, l) := take_claim "ratio em" l in
    if Z.ltb largest (binomial_z n k) then Open "the lattice is too large" else
    let c := Claims n k p aim rows o pf em rpf rem in
    let! (cs, y, x, l) :=
      if same proof (word "lp") then
        let! (y, l) := duals n k (rev (orbits n k)) l (Node [::]) in
        let! (inj, l) := injections n k None l (Node [::]) in
        let! (cs, l) := cuts n k [::] l in
        Ok (cs, fun _ => read_table q0 y, inj, l)
      else if same proof (word "dual-recurrence") then Ok ([::], fun z => summed aim k (fun j => recurrence n j z), Node [::], l)
      else if same proof (word "dual-closed-form") then Ok ([::], fun z => summed aim k (closed_form n z), Node [::], l)
      else Bad "proof" in
    let! (count, l) := take_int "end" l in
    let! _ := require (Z.eqb count (Z.of_nat (size rest)) && nilp l) "end" in
    Ok (c, bits, cs, y, x)
  else Bad "no line".

(* The file's point proves the upper bound, or permute-and-flip does. There are more bits than the writer had. *)
Definition check (file : text) : outcome claims :=
  let! (c, bits, cs, y, inj) := read file in
  let! (zl, zu) := ends_for (Z.add (Z.mul 2 bits) 64) (privacy c) in
  (* With k = 0 a candidate's first row is its last, and a negative y would be no better than 0. *)
  let decided zl zu i := decide c zl zu cs (if deepest c is 0 then fun=> q0 else y zl)
    (read_table [::] (point_table (candidates c) (deepest c) zu i)) in
  match decided zl zu inj, decided zl zu (Node [::]) with
  | Ok _, _ | _, Ok _ => Ok c
  | why, _ => refuse claims why
    (if decided zu zl inj is Ok _ then true else if decided zu zl (Node [::]) is Ok _ then true else false) end.

Lemma ends_forE (R : realFieldType) bits p a b (z : R) :
  ends_for bits p = Ok (a, b) -> stands_for p z -> (qR R a <= z <= qR R b)%R.
Proof.
rewrite /ends_for; case: ifP => // _; case: ifP => _.
  by case E: (ends _ p) => [[a' b']|] // [<- <-]; exact: endsE E.
by case: p => // q [-> ->] ->; rewrite lexx.
Qed.

Lemma refuseE A why nearly (c : A) : refuse A why nearly = Ok c -> False.
Proof. by case: why => //= s; case: nearly. Qed.

(* Whatever is accepted is true. *)
Theorem check_sound (R : realFieldType) file c : check file = Ok c -> claims_hold R c.
Proof.
rewrite /check => H; have [[[[[c' bits] cs] y] i] _ {}H] := bindE H; have [[zl zu] E {}H] := bindE H.
have between (z : R) := @ends_forE R _ _ _ _ z E.
move: H; case D: (decide _ zl zu _ _ _) => [u||]; first by case=> <-; exact: decide_sound between D.
all: case D': (decide _ zl zu _ _ _) => [u'||]; first by case=> <-; exact: decide_sound between D'.
all: by move=> r; case: (refuseE r).
Qed.

Corollary check_bounds (R : realFieldType) file c (z : R) (M : mechanism integers R (candidates c)) :
  check file = Ok c -> stands_for (privacy c) z -> proper M -> private z M -> shift_invariant M ->
  (rows c = Monotone \/ rows c = Full -> monotone M) ->
  (qR R (optimum c).1 <= objective_mean (aim c) (table_of M : table R (candidates c) (deepest c)))%R.
Proof.
move=> ok zp Mp Md Ms Mm; have [lo _ _ _] := @check_sound R _ _ ok z zp; apply: lo.
exact: table_of_feasible.
Qed.
