(** Candidates of unequal sensitivities (research/docs/unequal.md, Theorems 2, 6, 7;
    heterogeneous.md, Theorem 1): every mechanism for one sensitivity that is epsilon-DP, monotone
    and shift-invariant stays epsilon-DP when it is run on depths no two of which part by more than
    1 between neighbors. Partner, pair, runner and mixed ones are such. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From Optratio Require Import Mechanisms Program PermuteAndFlip Private.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section AtDepths.
Variables (S : realDomainType) (R : realFieldType) (n : nat).
Implicit Types (M : mechanism S R n) (q : score S n) (D : score S n -> 'I_n -> S) (r s : 'I_n).

(** One person's data change the score of candidate s by at most Delta_s. *)
Definition neighbors_at (Delta : 'I_n -> S) q q' := forall s, `|q s - q' s| <= Delta s.
Definition private_at Delta (z : R) M :=
  forall q q', neighbors_at Delta q q' -> forall r, z * M q r <= M q' r.

(** M at depths that count in steps of twice its sensitivity. *)
Definition at_depths M D : mechanism S R n := fun q => M [ffun s => - (D q s + D q s)].

(** Compare M at the new depths with M at the old ones where r alone has sunk by a step: up to a
    shift all others are no better, and that is a neighbor. *)
Lemma at_depths_compare z M D q q' r : private z M -> monotone M -> shift_invariant M ->
  (forall s, s != r -> D q' r - D q r <= D q' s - D q s + 1) ->
    z * at_depths M D q r <= at_depths M D q' r.
Proof.
move=> Mp Mm Ms h; rewrite /at_depths; set a := [ffun s => _]; set a' := [ffun s => _].
pose x : score S n := [ffun s => if s == r then a s - 1 else a s + 1].
apply: (@le_trans _ _ (M x r)).
  apply: Mp => s; rewrite !ffunE; case: ifP => _;
    last by rewrite [X in `|X|](_ : _ = - 1) ?normrN1 //; ring.
  by rewrite [X in `|X|](_ : _ = 1) ?normr1 //; ring.
rewrite -(Ms x (1 - (D q' r + D q' r) + (D q r + D q r))); apply: Mm => [|s sr]; rewrite !ffunE.
  by rewrite eqxx le_eqVlt; apply/orP; left; apply/eqP; ring.
by rewrite (negbTE sr); apply: (le_by (ler_add (h s sr) (h s sr))); ring.
Qed.

(** No two depths part by more than 1 between neighbors. *)
Definition steady Delta D := forall q q', neighbors_at Delta q q' ->
  forall r s, r != s -> D q' r - D q r <= D q' s - D q s + 1.

Lemma at_depths_proper M D : proper_mechanism M -> proper_mechanism (at_depths M D).
Proof. by case=> M0 M1; split=> *; [exact: M0 | exact: M1]. Qed.

Theorem at_depths_private Delta z M D : steady Delta D -> private z M -> monotone M ->
  shift_invariant M ->
  private_at Delta z (at_depths M D).
Proof.
by move=> h Mp Mm Ms q q' nb r; apply: at_depths_compare => // s sr; apply: (h q q') => //;
  rewrite eq_sym.
Qed.

(** Public handicaps, and weighted means of depths at a public weight. *)
Lemma handicap_private Delta z M (h : 'I_n -> S) :
  private_at Delta z M -> private_at Delta z (fun q => M [ffun s => q s - h s]).
Proof. by move=> Mp q q' nb r; apply: Mp => s; rewrite !ffunE opprB addrA subrK. Qed.
Lemma steady_mean Delta D D' (c : S) : 0 <= c <= 1 -> steady Delta D -> steady Delta D' ->
  steady Delta (fun q r => c * D q r + (1 - c) * D' q r).
Proof.
move=> /andP[c0]; rewrite -subr_ge0 => c1 h h' q q' nb r s rs.
by apply: (le_by (ler_add (ler_wpmul2l c0 (h q q' nb r s rs))
  (ler_wpmul2l c1 (h' q q' nb r s rs)))); ring.
Qed.
End AtDepths.

Section Scores.
Variables (S : realFieldType) (n : nat) (Delta : 'I_n -> S).
Hypothesis Delta_ge0 : forall s, 0 <= Delta s.
Implicit Types (q : score S n) (r s t b : 'I_n) (w : 'I_n -> S).

Lemma div_le1 (x w : S) : 0 <= w -> x <= w -> x / w <= 1.
Proof.
rewrite le_eqVlt => /orP[/eqP <- _|w0 xw]; first by rewrite invr0 mulr0 ler01.
by rewrite ler_pdivr_mulr // mul1r.
Qed.
Lemma score_moves q q' s : neighbors_at Delta q q' ->
  q' s - q s <= Delta s /\ - (q' s - q s) <= Delta s.
Proof. by move=> /(_ s); rewrite distrC ler_norml => /andP[h1 h2]; rewrite h2 ler_oppl. Qed.

(** Each candidate's distance from the best score at a scale of its own. *)
Definition scaled w q r : S := (top q r - q r) / w r.

Section Scaled.
Variable w : 'I_n -> S.
Hypotheses (w_ge0 : forall r, 0 <= w r) (w_pair : forall r s, r != s -> Delta r + Delta s <= w r).

Lemma part r s : s != r -> (Delta s + Delta r) / w r <= 1.
Proof. by move=> sr; apply: div_le1 => //; rewrite addrC w_pair // eq_sym. Qed.

(** The scores move by x; b is best at one of the two ends. *)
Lemma part_best (x : 'I_n -> S) b r t : (forall s, x s <= Delta s /\ - x s <= Delta s) -> t != r ->
  (w t)^-1 <= (w r)^-1 -> x b * ((w r)^-1 - (w t)^-1) - x r / w r + x t / w t <= 1.
Proof.
move=> hx tr; have pt : (Delta r + Delta t) / w t <= 1 by rewrite part // eq_sym.
have pr s : s != r -> (Delta s + Delta r) / w r <= 1 := @part r s.
have: 0 <= (w t)^-1 by rewrite invr_ge0.
have: 0 <= (w r)^-1 by rewrite invr_ge0.
move: (w r)^-1 (w t)^-1 pr pt => u v pr pt u0 v0; rewrite -subr_ge0 => uv.
have [[_ xr] [xt _]] := (hx r, hx t).
case: (eqVneq b r) => [->|br].
  by apply: (le_by (ler_add (ler_wpmul2r v0 (ler_add xr xt)) pt)); ring.
case: (eqVneq b t) => [->|bt].
  by apply: (le_by (ler_add (ler_wpmul2r u0 (ler_add xt xr)) (pr t tr))); ring.
have h := ler_add (ler_wpmul2r uv (hx b).1) (ler_add (ler_wpmul2r u0 xr) (ler_wpmul2r v0 xt)).
case: (leP (Delta t) (Delta b)) => [tb|/ltW tb].
  by apply: (le_by (ler_add h (ler_add (ler_wpmul2r v0 tb) (pr b br)))); ring.
by apply: (le_by (ler_add h (ler_add (ler_wpmul2r uv tb) (pr t tr)))); ring.
Qed.

Lemma scaled_steady : steady Delta (scaled w).
Proof.
move=> q q' nb r t rt; have tr : t != r by rewrite eq_sym.
have hx s := score_moves s nb.
rewrite /scaled !(top_const _ r t).
case: (leP (w t)^-1 (w r)^-1) => [|/ltW] vu; have d := vu; rewrite -subr_ge0 in d.
  have [b e] := topE q' r; have h := ler_wpmul2r d (ler_sub (lexx (q' b)) (top_ge q r b)).
  by apply: (le_by (ler_add (part_best b hx tr vu) h)); rewrite e; ring.
have [b e] := topE q r; have h := ler_wpmul2r d (ler_sub (top_ge q' r b) (lexx (q b))).
have hx' s : - (q' s - q s) <= Delta s /\ - - (q' s - q s) <= Delta s by rewrite opprK;
  case: (hx s).
by apply: (le_by (ler_add (part_best b hx' rt vu) h)); rewrite e; ring.
Qed.
End Scaled.

(** The scales of partner: a candidate's sensitivity plus the largest one of the others. That of
    pair: the largest of these sums, which is the sum of the two largest sensitivities. *)
Definition partner_scale r : S := Delta r + top [ffun s => if s == r then 0 else Delta s] r.
Definition pair_scale r : S := top [ffun s => partner_scale s] r.
Definition partner_depths := scaled partner_scale.
Definition pair_depths := scaled pair_scale.

Lemma partner_scale_pair r s : r != s -> Delta r + Delta s <= partner_scale r.
Proof.
move=> rs; rewrite ler_add2l; have := top_ge [ffun s => if s == r then 0 else Delta s] r s.
by rewrite ffunE eq_sym (negbTE rs).
Qed.
Lemma partner_scale_ge0 r : 0 <= partner_scale r.
Proof.
rewrite addr_ge0 //; have := top_ge [ffun s => if s == r then 0 else Delta s] r r.
by rewrite ffunE eqxx.
Qed.
Lemma pair_scale_ge r : partner_scale r <= pair_scale r.
Proof. by have := top_ge [ffun s => partner_scale s] r r; rewrite ffunE. Qed.

Lemma partner_steady : steady Delta partner_depths.
Proof. by apply: scaled_steady => *; [exact: partner_scale_ge0 | exact: partner_scale_pair]. Qed.
Lemma pair_steady : steady Delta pair_depths.
Proof.
apply: scaled_steady => [r|r s rs]; apply: le_trans (pair_scale_ge r);
  first exact: partner_scale_ge0.
exact: partner_scale_pair.
Qed.

(** How far s leads r, in units of what one person's data may change; gem's depth, the largest of
    these leads, r's own 0 included; the second smallest of n numbers; and the runner-up's
    depths. *)
Definition lead q r s : S := (q s - q r) / (Delta r + Delta s).
Definition depth q r : S := top [ffun s => lead q r s] r.
Definition second (f : 'I_n -> S) : S := nth 0 (sort <=%O (codom f)) 1.
Definition runner_depths q r : S := Num.min (depth q r) ((depth q r + second (depth q)) / 2%:R).

(** Public candidates, those of sensitivity 0, are left out unless theirs is the best public
    score. *)
Definition public_tied q := forall r s, Delta r + Delta s = 0 -> q r = q s.

Lemma second_smallest f r b : (forall s, f b <= f s) -> r != b ->
  (exists2 s, s != b & second f = f s) /\ forall s, s != b -> second f <= f s.
Proof.
move=> fb rb; pose t := [seq f s | s <- enum 'I_n & s != b].
have tE x : reflect (exists2 s, s != b & x = f s) (x \in sort <=%O t).
  rewrite mem_sort; apply: (iffP mapP) => [[s]|[s sb ->]];
    first by rewrite mem_filter => /andP[? _]; exists s.
  by exists s; rewrite // mem_filter sb mem_enum.
have srt : sorted <=%O (f b :: sort <=%O t).
  rewrite /= path_sortedE; last exact: le_trans.
  by rewrite sort_le_sorted andbT; apply/allP => x /tE[s _ ->].
have E : sort <=%O (codom f) = f b :: sort <=%O t.
  rewrite -(sort_le_id srt); apply/perm_sort_leP; have be : b \in enum 'I_n by rewrite mem_enum.
  rewrite /codom (perm_trans (perm_map f (perm_to_rem be))) //= perm_cons.
  by rewrite rem_filter ?enum_uniq // perm_sym perm_sort.
rewrite /second E /=; case: (sort _ t) tE srt => [tE _|x l tE srt].
  by have := tE (f r); rewrite in_nil => /elimF; case=> //; exists r.
split=> [|s sb]; first by apply/tE; rewrite mem_head.
have: f s \in x :: l by apply/tE; exists s.
move: srt => /= /andP[_]; rewrite path_sortedE; last exact: le_trans.
by move=> /andP[/allP h _]; rewrite inE => /orP[/eqP ->|/h].
Qed.

Lemma lead_mul q r s : public_tied q -> lead q r s * (Delta r + Delta s) = q s - q r.
Proof.
move=> tied; case: (eqVneq (Delta r + Delta s) 0) => [z|nz]; last by rewrite divfK.
by rewrite z mulr0 (tied r s z) subrr.
Qed.
Lemma leadC q r s : lead q s r = - lead q r s.
Proof. by rewrite /lead -mulNr opprB addrC [X in _ / X]addrC [- _ + _]addrC. Qed.
Lemma lead_self q r : lead q r r = 0. Proof. by rewrite /lead subrr mul0r. Qed.
Lemma lead_moves q q' r s : neighbors_at Delta q q' -> lead q' r s <= lead q r s + 1.
Proof.
move=> nb; rewrite -ler_subl_addl -mulrBl; apply: div_le1; first exact: addr_ge0.
by rewrite addrC; apply: (le_by (ler_add (score_moves s nb).1 (score_moves r nb).2)); ring.
Qed.
Lemma depth_ge q r s : lead q r s <= depth q r.
Proof. by have := top_ge [ffun s => lead q r s] r s; rewrite ffunE. Qed.
Lemma depth_eq q r s : (forall t, lead q r t <= lead q r s) -> depth q r = lead q r s.
Proof. by move=> h; apply: top_eq => [t|]; [rewrite ffunE | exists s; rewrite ffunE]. Qed.

(** The one that is nearest to the best candidate r has r as its largest lead. *)
Lemma runner_up q r s : public_tied q -> (forall t, q t <= q r) ->
  (forall t, t != r -> lead q r t <= lead q r s) -> depth q s = lead q s r.
Proof.
move=> tied best mx; apply: depth_eq => t.
have behind u : 0 <= lead q u r by rewrite mulr_ge0 ?subr_ge0 ?invr_ge0 ?addr_ge0.
case: (eqVneq t r) => [-> //|tr]; have := addr_ge0 (Delta_ge0 s) (Delta_ge0 t).
rewrite le_eqVlt => /orP[/eqP z|pos]; first by rewrite {1}/lead -z invr0 mulr0.
have up : lead q s r <= lead q t r by rewrite leadC [X in _ <= X]leadC ler_opp2 mx.
rewrite {1}/lead ler_pdivr_mulr //.
have h1 := ler_wpmul2r (addr_ge0 (Delta_ge0 t) (Delta_ge0 r)) up; rewrite lead_mul // in h1.
have h2 := mulr_ge0 (behind s) (Delta_ge0 t); have h3 := lead_mul s r tied.
apply: (le_by (ler_add h1 (ler_add h2 h2))).
transitivity (lead q s r * (Delta s + Delta r) - lead q s r * (Delta r - Delta t) - (q t - q s)).
  by ring.
by rewrite h3; ring.
Qed.

(** The largest lead of another candidate over r is r's depth, and if r is the best one b, the
    runner-up's depth with the opposite sign. It moves by at most 1. *)
Lemma signed_lead q r o b : public_tied q -> o != r -> (forall t, q t <= q b) -> exists2 s, s != r &
  (forall t, t != r -> lead q r t <= lead q r s) /\
  if b == r then [/\ depth q r = 0, 0 <= second (depth q) & second (depth q) = - lead q r s]
  else depth q r = lead q r s /\ second (depth q) <= depth q r.
Proof.
move=> tied or best; case: (@Order.TotalTheory.arg_maxP _ _ _ o (fun s => s != r) (lead q r) or) =>
  s sr mx.
have {}mx t : t != r -> lead q r t <= lead q r s := mx t.
exists s => //; split=> //.
have depth0 t : 0 <= depth q t by rewrite -(lead_self q t) depth_ge.
have behind t : 0 <= lead q t b by rewrite mulr_ge0 ?subr_ge0 ?invr_ge0 ?addr_ge0.
have depth_b : depth q b = 0.
  by rewrite -(lead_self q b); apply: depth_eq => t; rewrite lead_self leadC oppr_le0.
have [] := @second_smallest (depth q) (if b == r then o else r) b.
- by move=> t; rewrite depth_b.
- by case: ifP => [/eqP ->|] //; rewrite eq_sym => ->.
move=> [u ub Eu] least; case: (eqVneq b r) => [br|br].
  subst b; split=> //; first by rewrite Eu.
  rewrite -leadC.
  apply/eqP; rewrite eq_le; apply/andP; split; last first.
    by rewrite Eu; apply: le_trans (depth_ge q u r); rewrite leadC [X in _ <= X]leadC ler_opp2 mx.
  by rewrite (le_trans (least s sr)) // (runner_up tied best mx).
split; last by apply: least; rewrite eq_sym.
apply: depth_eq => t; case: (eqVneq t r) => [->|/mx //].
by rewrite lead_self (le_trans (behind r)) // mx.
Qed.
Lemma signed_moves q q' r a a' : neighbors_at Delta q q' ->
  (forall t, t != r -> lead q r t <= lead q r a) ->
  a' != r -> lead q' r a' - lead q r a <= 1.
Proof. by move=> nb h a'r; apply: (le_by (ler_add (lead_moves r a' nb) (h a' a'r))); ring. Qed.
Lemma public_tied_moves q q' : neighbors_at Delta q q' -> public_tied q -> public_tied q'.
Proof.
move=> nb tied; have same t : Delta t = 0 -> q' t = q t.
  by have := nb t => /[swap] ->; rewrite normr_le0 subr_eq0 => /eqP.
move=> t u z; have := Delta_ge0 t; have := Delta_ge0 u; have /eqP := z.
by rewrite paddr_eq0 // => /andP[/eqP a /eqP b] _ _; rewrite !same // (tied t u z).
Qed.

(** Each runner depth is half the sum of that lead and of second, which is the same for all. *)
Lemma runnerE q r o : public_tied q -> o != r -> exists2 s, s != r &
  (forall t, t != r -> lead q r t <= lead q r s) /\
  runner_depths q r = (lead q r s + second (depth q)) / 2%:R.
Proof.
move=> tied or; have [b e] := topE q r; have best t : q t <= q b by rewrite -e top_ge.
have [s sr [mx h]] := signed_lead tied or best; exists s => //; split=> //; move: h;
  rewrite /runner_depths.
case: ifP => _ [-> h].
  by move=> g; rewrite add0r {2}g addrN mul0r; apply: min_l; rewrite mulr_ge0 ?invr_ge0 ?ler0n.
by apply: min_r; rewrite ler_pdivr_mulr ?ltr0n // mulr_natr mulr2n ler_add2l.
Qed.

Theorem runner_moves q q' : public_tied q -> neighbors_at Delta q q' ->
  forall r s, r != s -> runner_depths q' r - runner_depths q r <=
    runner_depths q' s - runner_depths q s + 1.
Proof.
move=> tied nb r s rs; have sr : s != r by rewrite eq_sym.
have tied' := public_tied_moves nb tied; have nb' : neighbors_at Delta q' q by move=> t;
  rewrite distrC.
have half (x y : S) : x <= y -> x / 2%:R <= y / 2%:R by move=> h;
  rewrite ler_wpmul2r // invr_ge0 ler0n.
have [a ar [mr er]] := runnerE tied sr; have [a' ar' [_ er']] := runnerE tied' sr.
have [c cs [_ es]] := runnerE tied rs; have [c' cs' [ms' es']] := runnerE tied' rs.
have h := half _ _ (ler_add (signed_moves nb mr ar') (signed_moves nb' ms' cs)).
by rewrite er er' es es'; apply: (le_by h); field.
Qed.

(** The mixed depths of Theorem 7, for m between the two largest sensitivities and most the largest
    one: the distance from the best score, and what a candidate's sensitivity falls short of m
    times its depth and the runner-up's. *)
Definition short (m : S) s : S := Num.max 0 (m - Delta s).
Definition best_candidate q r : 'I_n := [arg max_(s > r) q s]%O.
Definition mixed_depths m most q r : S :=
  ((top q r - q r) + short m r * depth q r +
    short m (best_candidate q r) * second (depth q)) / (most + m)
  *+ (r != best_candidate q r).
Definition between_largest m most := m <= most /\ (forall s, Delta s <= most) /\
  forall r s, r != s -> Delta r <= m \/ Delta s <= m.

Lemma bestP q r : top q r = q (best_candidate q r) /\ forall t, q t <= q (best_candidate q r).
Proof. by split=> // t; have := top_ge q r t. Qed.
Lemma best_same q r s : best_candidate q r = best_candidate q s.
Proof.
rewrite /best_candidate /Order.arg_max /extremum; case: pickP => // no.
by have [b e] := topE q r; have /negP[] := negbT (no b); apply/forallP => t; have := top_ge q r t;
  rewrite e.
Qed.
Lemma mixedE m most q r o : public_tied q -> o != r -> exists2 s, s != r &
  (forall t, t != r -> lead q r t <= lead q r s) /\
  mixed_depths m most q r = (top q r - q r + short m r * lead q r s +
    short m (best_candidate q r) * second (depth q)) / (most + m).
Proof.
move=> tied or; have [e b] := bestP q r; have [s sr [mx h]] := signed_lead tied or b;
  exists s => //;
  split=> //.
rewrite /mixed_depths (eq_sym r (best_candidate q r));
  case: (eqVneq (best_candidate q r) r) h => [br [_ _ ->]|_ [<- _] //].
by rewrite mulr0n e br subrr add0r mulrN addrN mul0r.
Qed.
Lemma short_sum m most r s : between_largest m most -> r != s ->
  (Delta s + Delta r) + short m r + short m s <= most + m.
Proof.
move=> [mM [all two]] rs; have [r1 s1] := (all r, all s).
rewrite /short; case: (leP 0 (m - Delta r)) => hr; case: (leP 0 (m - Delta s)) => hs;
  rewrite ?addr0.
- by apply: (le_by mM); ring.
- by apply: (le_by s1); ring.
- by apply: (le_by r1); ring.
by case: (two r s rs) => h; move: hr hs; rewrite ?subr_lt0 !ltNge h.
Qed.

Theorem mixed_moves m most q q' :
  between_largest m most -> public_tied q -> neighbors_at Delta q q' ->
  forall r s, r != s -> mixed_depths m most q' r - mixed_depths m most q r <=
    mixed_depths m most q' s - mixed_depths m most q s + 1.
Proof.
move=> bt tied nb r s rs; have sr : s != r by rewrite eq_sym.
have tied' := public_tied_moves nb tied; have nb' : neighbors_at Delta q' q by move=> t;
  rewrite distrC.
have short0 t : 0 <= short m t by rewrite /short le_maxr lexx.
have [a ar [mr ->]] := mixedE m most tied sr; have [a' ar' [_ ->]] := mixedE m most tied' sr.
have [c cs [_ ->]] := mixedE m most tied rs; have [c' cs' [ms' ->]] := mixedE m most tied' rs.
have same (p : score S n) : top p s = top p r by rewrite (bestP p s).1 (bestP p r).1
  (best_same p s r).
have sum := short_sum bt rs; have nonneg : 0 <= most + m by apply: le_trans sum; rewrite !addr_ge0.
have h := ler_add (ler_wpmul2l (short0 r) (signed_moves nb mr ar'))
  (ler_wpmul2l (short0 s) (signed_moves nb' ms' cs)).
have {}h := ler_add (ler_add h (ler_add (score_moves s nb).1 (score_moves r nb).2)) sum.
pose x := q' s - q s - (q' r - q r) + short m r * (lead q' r a' - lead q r a) + short m s *
  (lead q s c - lead q' s c').
have {}h : x <= most + m by apply: (le_by h); rewrite /x; ring.
rewrite !same (best_same q s r) (best_same q' s r); move: (div_le1 nonneg h).
by move: (most + m)^-1 => k hk; apply: (le_by hk); rewrite /x; ring.
Qed.
Theorem mixed_steady m most : between_largest m most ->
  (forall r s, r != s -> 0 < Delta r + Delta s) ->
  steady Delta (mixed_depths m most).
Proof.
move=> bt pos q q' nb; apply: mixed_moves => // r s z; case: (eqVneq r s) => [-> //|/pos].
by rewrite z ltxx.
Qed.

Theorem runner_steady : (forall r s, r != s -> 0 < Delta r + Delta s) -> steady Delta runner_depths.
Proof.
move=> pos q q' nb; apply: runner_moves => // r s z; case: (eqVneq r s) => [-> //|/pos].
by rewrite z ltxx.
Qed.
End Scores.

(** What is proved of the mechanisms: all real scores, any sensitivities, any number of
    candidates. *)
Section Unequal.
Variables (S R : realFieldType) (n : nat) (Delta : 'I_n -> S).
Hypothesis Delta_ge0 : forall s, 0 <= Delta s.

Section Regular.
Variables (z : R) (M : mechanism S R n).
Hypotheses (Mp : private z M) (Mm : monotone M) (Ms : shift_invariant M).

Theorem partner_private : private_at Delta z (at_depths M (partner_depths Delta)).
Proof. by apply: at_depths_private => //; apply: partner_steady. Qed.
Theorem pair_private : private_at Delta z (at_depths M (pair_depths Delta)).
Proof. by apply: at_depths_private => //; apply: pair_steady. Qed.

(** With public candidates, of which those that are not best have been left out. *)
Theorem runner_private_tied q q' : public_tied Delta q -> neighbors_at Delta q q' ->
  forall r, z * at_depths M (runner_depths Delta) q r <= at_depths M (runner_depths Delta) q' r.
Proof.
by move=> tied nb r; apply: at_depths_compare => // s sr; apply: runner_moves; rewrite // eq_sym.
Qed.
Theorem mixed_private_tied m most q q' : between_largest Delta m most -> public_tied Delta q ->
  neighbors_at Delta q q' ->
  forall r, z * at_depths M (mixed_depths Delta m most) q r <=
    at_depths M (mixed_depths Delta m most) q' r.
Proof.
by move=> bt tied nb r; apply: at_depths_compare => // s sr; apply: mixed_moves; rewrite // eq_sym.
Qed.
Theorem mixed_private m most : between_largest Delta m most ->
  (forall r s, r != s -> 0 < Delta r + Delta s) ->
  private_at Delta z (at_depths M (mixed_depths Delta m most)).
Proof. by move=> bt pos; apply: at_depths_private => //; apply: mixed_steady. Qed.
Theorem runner_private : (forall r s, r != s -> 0 < Delta r + Delta s) ->
  private_at Delta z (at_depths M (runner_depths Delta)).
Proof. by move=> pos; apply: at_depths_private => //; apply: runner_steady. Qed.
End Regular.

Variable E : S -> R.
Hypotheses (ED : forall x y, E (x + y) = E x * E y) (E_gt0 : forall x, 0 < E x).
Hypothesis E_anti : forall x y, x <= y -> E y <= E x.
Notation pf := (@permute_and_flip S R n E).

Lemma pf_regular : [/\ private (E (1 + 1)) pf, monotone pf & shift_invariant pf].
Proof. by split; [exact: pf_private | exact: pf_monotone | exact: pf_shift_invariant]. Qed.

Theorem pf_partner_private : private_at Delta (E (1 + 1)) (at_depths pf (partner_depths Delta)).
Proof. by have [*] := pf_regular; exact: partner_private. Qed.
Theorem pf_pair_private : private_at Delta (E (1 + 1)) (at_depths pf (pair_depths Delta)).
Proof. by have [*] := pf_regular; exact: pair_private. Qed.
Theorem pf_mixed_private most : between_largest Delta most most ->
  (forall r s, r != s -> 0 < Delta r + Delta s) ->
  private_at Delta (E (1 + 1)) (at_depths pf (mixed_depths Delta most most)).
Proof. by have [*] := pf_regular; exact: mixed_private. Qed.
Theorem pf_runner_private : (forall r s, r != s -> 0 < Delta r + Delta s) ->
  private_at Delta (E (1 + 1)) (at_depths pf (runner_depths Delta)).
Proof. by have [*] := pf_regular; exact: runner_private. Qed.
End Unequal.
