(** Score vectors that agree up to the order of the candidates have the same count vector: how many
    candidates there are at each depth. The chains of Program.v commute with counting, and n!/(m_0!
    ... m_k!) vectors have the counts m. Count vectors are plain lists, so that they compute. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From Optratio Require Import Mechanisms Program.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope nat_scope.

Definition one_deeper (m : seq nat) v : seq nat :=        (* one candidate from depth v to v+1 *)
  mkseq (fun w => nth 0 m w - (w == v) + (w == v.+1)) (size m).
Definition lift_others (m : seq nat) : seq nat :=   (* lone top; the others rise by one *)
  mkseq (fun w => if w is 0 then (nth 0 m 1).+1 else nth 0 m w.+1) (size m).
Definition count_next k (p : seq nat * nat) : option (seq nat * nat) :=
  let: (m, v) := p in
  if (v == 0) && (nth 0 m 0 == 1) then Some (lift_others m, 0)
  else if v < k then Some (one_deeper m v, v.+1) else None.

Fixpoint count_vectors k n : seq (seq nat) :=               (* all count vectors *)
  if k is k'.+1 then flatten [seq [seq i :: l | l <- count_vectors k' (n - i)] | i <- iota 0 n.+1]
  else [:: [:: n]].

Lemma count_vectorsS k n : count_vectors k.+1 n =
  flatten [seq [seq i :: l | l <- count_vectors k (n - i)] | i <- iota 0 n.+1].
Proof. by []. Qed.

Lemma mem_count_vectors k n m : size m = k.+1 -> sumn m = n -> m \in count_vectors k n.
Proof.
elim: k n m => [|k IH] n [|a m] // [sm] <-.
  by case: m sm => //= _; rewrite addn0 inE.
rewrite count_vectorsS; apply/flatten_mapP; exists a; first by rewrite mem_iota /= ltnS leq_addr.
apply/mapP; exists m => //; apply: IH => //; by rewrite addKn.
Qed.

Lemma count_vectors_size k n m : m \in count_vectors k n -> size m = k.+1 /\ sumn m = n.
Proof.
elim: k n m => [|k IH] n m; first by rewrite inE => /eqP -> /=; rewrite addn0.
rewrite count_vectorsS => /flatten_mapP [a];
  rewrite mem_iota add0n ltnS => /= le /mapP[l /IH[s1 s2] ->] /=.
by rewrite s1 s2 subnKC.
Qed.

Lemma count_vectors_uniq k n : uniq (count_vectors k n).
Proof.
elim: k n => // k IH n; rewrite count_vectorsS.
have: uniq (iota 0 n.+1) by exact: iota_uniq.
elim: (iota 0 n.+1) => //= a s IHs /andP[na us]; rewrite cat_uniq IHs // andbT map_inj_uniq ?IH.
  apply/hasPn => l /flatten_mapP[b bs /mapP[l' _ ->]]; apply/mapP => -[l'' _ [E _]].
  by rewrite -E bs in na.
by move=> x y [].
Qed.

Section Counts.
Variables (n k : nat).
Notation depths := (depths n k).
Implicit Types (d : depths) (r : 'I_n).
Definition cnt (d : depths) w := \sum_(s < n) (d s == w :> nat).
Definition counts (d : depths) : seq nat := mkseq (cnt d) k.+1.

Lemma cnt_out d w : k < w -> cnt d w = 0.
Proof.
move=> lt; apply: big1 => s _; case: eqP => // E; move: (ltn_ord (d s)).
by rewrite ltnS E leqNgt lt.
Qed.
Lemma nth_counts d w : nth 0 (counts d) w = cnt d w.
Proof.
case: (ltnP w k.+1) => h; first by rewrite nth_mkseq.
by rewrite nth_default ?size_mkseq // cnt_out.
Qed.
Lemma size_counts d : size (counts d) = k.+1. Proof. exact: size_mkseq. Qed.
Lemma sum_counts d : sumn (counts d) = n.
Proof.
rewrite /counts /mkseq sumnE big_map -[iota 0 k.+1]/(index_iota 0 k.+1) big_mkord /cnt exchange_big
  /=.
rewrite -[RHS]card_ord -sum1_card; apply: eq_bigr => s _.
rewrite (bigD1 (d s)) //= eqxx big1 // => i; by rewrite -val_eqE /= eq_sym => /negbTE ->.
Qed.
Lemma counts_count_vectors d : counts d \in count_vectors k n.
Proof. exact: mem_count_vectors (size_counts d) (sum_counts d). Qed.
Lemma cntD1 d r w : cnt d w = (d r == w :> nat) + \sum_(s < n | s != r) (d s == w :> nat).
Proof. by rewrite /cnt (bigD1 r). Qed.
Lemma cnt_pos d r : 0 < cnt d (d r). Proof. by rewrite (cntD1 d r) eqxx. Qed.
Lemma in_lattice_cnt (d : depths) : in_lattice d = (0 < cnt d 0).
Proof.
apply/existsP/idP => [[s /eqP E]|]; first by rewrite -[X in cnt d X]E cnt_pos.
rewrite lt0n sum_nat_eq0 negb_forall => /existsP[s]; rewrite /= eqb0 negbK => h; by exists s.
Qed.

Lemma counts_sink d r : d r < k -> counts (sink d r) = one_deeper (counts d) (d r).
Proof.
move=> lt; rewrite /one_deeper size_counts; apply: eq_mkseq => w; rewrite nth_counts.
rewrite (cntD1 _ r) (cntD1 d r) ffunE eqxx inordK //.
rewrite (eq_bigr (fun s => (d s == w :> nat) : nat)) => [|s sr]; last by rewrite ffunE (negbTE sr).
rewrite [w == d r]eq_sym addKn addnC; congr (_ + _); by rewrite eq_sym.
Qed.

Lemma lone_cnt d r : in_lattice d -> lone d r = (d r == 0 :> nat) && (cnt d 0 == 1).
Proof.
move=> Q; apply/idP/andP => [L|[/eqP r0 /eqP]].
  have r0 := lone_top Q L; rewrite r0; split=> //; rewrite (cntD1 _ r) r0 big1 // => s sr.
  by move/forallP/(_ s): L; rewrite sr /= lt0n => /negbTE ->.
rewrite (cntD1 _ r) r0 eqxx => -[] /eqP; rewrite sum_nat_eq0 => /forallP h.
by apply/forallP => s; move/(_ s): h; rewrite lt0n eqb0.
Qed.

Lemma counts_rise d r : in_lattice d -> lone d r -> counts (rise d r) = lift_others (counts d).
Proof.
move=> Q L; have r0 := lone_top Q L.
rewrite /lift_others size_counts; apply: eq_mkseq => w; rewrite !nth_counts.
rewrite (cntD1 _ r) ffunE eqxx r0.
have E : \sum_(s < n | s != r) (rise d r s == w :> nat) = cnt d w.+1.
  rewrite (cntD1 _ r) r0 add0n; apply: eq_bigr => s sr; rewrite ffunE (negbTE sr) val_pred.
  by move/forallP/(_ s): L; rewrite sr /=; case: (val (d s)).
by rewrite E; case: w {E}.
Qed.

(** the chain on score vectors is the chain on orbits *)
Lemma count_next_counts r d : in_lattice d ->
  count_next k (counts d, val (d r)) = omap (fun d' : depths => (counts d', val (d' r)))
    (next_depths r d).
Proof.
move=> Q; rewrite /count_next /next_depths nth_counts -(lone_cnt r Q); case L: (lone d r).
  by rewrite /= counts_rise // ffunE eqxx (lone_top Q L).
by case: ltnP => //= lt; rewrite counts_sink // ffunE eqxx inordK.
Qed.
End Counts.
Section Words.
Variable k : nat.
Notation depths n := (depths n k).

Definition fcons n (a : 'I_k.+1) (d : depths n) : depths n.+1 :=
  [ffun s => if unlift ord0 s is Some j then d j else a].
Lemma sum_fcons n (F : depths n.+1 -> nat) : \sum_d F d = \sum_a \sum_(d : depths n) F (fcons a d).
Proof.
rewrite pair_big /= (reindex (fun p : 'I_k.+1 * depths n => fcons p.1 p.2)) //=.
exists (fun d => (d ord0, [ffun s => d (lift ord0 s)])) => [[a d]|d] _ /=.
  by rewrite ffunE unlift_none; congr (_, _); apply/ffunP => s; rewrite !ffunE liftK.
by apply/ffunP => s; rewrite !ffunE; case: unliftP => [j|] ->; rewrite ?ffunE.
Qed.
Lemma cnt_fcons n a (d : depths n) w : cnt (fcons a d) w = (a == w :> nat) + cnt d w.
Proof.
rewrite /cnt big_ord_recl ffunE unlift_none; congr (_ + _).
by apply: eq_bigr => s _; rewrite ffunE liftK.
Qed.

Definition decr (m : seq nat) a := mkseq (fun w => nth 0 m w - (w == a)) (size m).
Definition facts (m : seq nat) := \prod_(w < k.+1) (nth 0 m w)`!.

Lemma facts_decr m (a : 'I_k.+1) : size m = k.+1 -> 0 < nth 0 m a ->
  facts m = nth 0 m a * facts (decr m a).
Proof.
move=> sm pos; rewrite /facts (bigD1 a) //= [in RHS](bigD1 a) //= mulnA; congr (_ * _).
  by rewrite /decr nth_mkseq ?sm // eqxx subn1; case: (nth 0 m a) pos.
by apply: eq_bigr => w wa;
  rewrite /decr nth_mkseq ?sm // -[_ == _ :> nat]/(w == a) (negbTE wa) subn0.
Qed.

Lemma decr_counts n (d : depths n) m (a : 'I_k.+1) : size m = k.+1 -> 0 < nth 0 m a ->
  (counts (fcons a d) == m) = (counts d == decr m a).
Proof.
move=> sm pos; apply/eqP/eqP => E.
  apply: (@eq_from_nth _ 0); rewrite ?size_counts ?size_mkseq // => w lt.
  rewrite nth_counts nth_mkseq ?sm // -E nth_counts cnt_fcons.
  by rewrite [_ == w :> nat]eq_sym addKn.
apply: (@eq_from_nth _ 0); rewrite ?size_counts // => w lt.
rewrite nth_counts cnt_fcons -nth_counts E nth_mkseq ?sm // [_ == w :> nat]eq_sym subnKC //.
by case: eqP => [->|].
Qed.

Definition words n m := \sum_(d : depths n) (counts d == m).

Lemma words_facts n m : size m = k.+1 -> sumn m = n -> words n m * facts m = n`!.
Proof.
elim: n m => [|n IH] m sm sum.
  have m0 w : nth 0 m w = 0.
    elim: m {sm} sum w => [|b m IHm] /=; first by move=> _ w; rewrite nth_nil.
    by move/eqP; rewrite addn_eq0 => /andP[/eqP-> /eqP h] [|w] //=; apply: IHm.
  rewrite /facts big1 ?muln1 => [|w _]; last by rewrite m0.
  rewrite /words (eq_bigr (fun _ => 1)) => [|d _].
    by rewrite sum1_card card_ffun !card_ord.
  apply/eqP; rewrite eqb1; apply/eqP/(@eq_from_nth _ 0); rewrite ?size_counts // => w _.
  by rewrite m0 nth_counts /cnt big_ord0.
rewrite /words sum_fcons big_distrl /= factS -[in RHS]sum sumnE (big_nth 0) sm big_mkord big_distrl
  /=.
apply: eq_bigr => a _; case E: (nth 0 m a) => [|c].
  rewrite mul0n big1 ?mul0n // => d _; case: eqP => // /(congr1 (nth 0 ^~ a)).
  by rewrite /= nth_counts cnt_fcons eqxx E.
have pos : 0 < nth 0 m a by rewrite E.
rewrite (eq_bigr (fun d : depths n => (counts d == decr m a) : nat)) => [|d _];
  last by rewrite decr_counts.
rewrite (facts_decr sm pos) mulnCA E IH //; first by rewrite /decr size_mkseq.
rewrite /decr /mkseq sumnE big_map sm -[iota 0 _]/(index_iota 0 k.+1) big_mkord.
apply/eqP; rewrite -(eqn_add2r 1) [n + 1]addn1 -sum sumnE (big_nth 0) sm big_mkord.
rewrite [X in _ == X](bigD1 a) //= [X in X + 1 == _](bigD1 a) //= eqxx addnAC subnK //.
rewrite eqn_add2l; apply/eqP/eq_bigr => w wa;
  by rewrite -[_ == _ :> nat]/(w == a) (negbTE wa) subn0.
Qed.
End Words.

Import GRing.Theory.
Local Open Scope ring_scope.
Lemma sum_by_counts (V : zmodType) n k (F : seq nat -> V) (p : pred (seq nat)) :
  \sum_(d : depths n k | p (counts d)) F (counts d) =
  \sum_(m <- count_vectors k n | p m) F m *+ words k n m.
Proof.
rewrite (eq_bigr (fun d : depths n k => \sum_(m <- count_vectors k n
  | p m) F m *+ (counts d == m))) => [|d pd].
  rewrite exchange_big /=; apply: eq_bigr => m pm; rewrite /words -sumrMnr [LHS]big_mkcond.
  by apply: eq_bigr => d _; case: ifP => //; case: eqP => // ->; rewrite pm.
rewrite -big_filter (bigD1_seq (counts d)) ?filter_uniq ?count_vectors_uniq //=; last first.
  by rewrite mem_filter pd counts_count_vectors.
by rewrite eqxx mulr1n big1 ?addr0 // => m; rewrite eq_sym => /negbTE ->.
Qed.
