(* A sequence of two programs. The first reduces, and the second brings the results to all ranks: a reduce-scatter and
   an allgather make an allreduce. So do a reduction and a broadcast. If the obligations of both hold, it is right. *)
From Coq Require Import List ZArith Lia Bool.
From Quadrille Require Import Model Spans Obligations Progress Values Runtime.
Import ListNotations. Open Scope Z_scope.

Section Sequence.
(* The sequence. The first program is its steps with keys below the border, the second its other steps. *)
Context {P : program} {part name V : Type}.
Variable border : Z.

Definition below (k : Z) := k <? border.
Definition only (mine : Z -> bool) : program := {|
  Model.rank := rank; Model.place := place; Model.message := message; Model.piece := piece;
  Model.rank_dec := rank_dec; Model.place_dec := place_dec; Model.message_dec := message_dec;
  Model.piece_dec := piece_dec;
  Model.ranks := ranks;
  Model.step_keys := fun r => filter mine (step_keys r);
  Model.after := after;
  Model.messages := filter (fun m => mine (skey m)) messages;
  Model.src := src; Model.dst := dst; Model.skey := skey; Model.rkey := rkey; Model.ahead := ahead;
  Model.straight := straight;
  Model.pieces := filter (fun c => mine (skey (of c))) pieces;
  Model.of := of; Model.from := from; Model.to := to; Model.combines := combines; Model.turn := turn |}.
Definition first := only below.
Definition second := only (fun k => negb (below k)).

(* These follow from `keys` and `match` (Order.v), which hold for a sequence if they hold for both programs. *)
Hypothesis W : well_formed.
Hypothesis M : keys_meet.
(* Sequences are written so: each step of the second program waits for all steps of the first. *)
Hypothesis Waits : forall r k k', In r ranks -> In k (step_keys r) -> In k' (step_keys r) ->
  k' < border <= k -> k' <= after r k.
(* The runtime keeps this rule in every program. *)
Hypothesis E : posted_early.

(* The places of the results, in the receive buffer. A place gets its result at its owner, and then at all ranks. *)
Variable places : list place.
Variable owner : place -> rank.
Variable result : place -> span part.
Definition at_owner {kind} (s' : place -> span kind) r p s := In p places /\ r = owner p /\ s = s' p.
Definition everywhere {kind} (s' : place -> span kind) r p s := In r ranks /\ In p places /\ s = s' p.

(* `held`, `apart` and `once` of the first program. The theorems have its `final` and `combine`, or `canonical`. *)
Variable holds : rank -> place -> span part -> Prop.
Variables carries finds leaves : @piece P -> span part.
Variables source base : @piece P -> option (@piece P).
Hypothesis H : @held first part holds carries finds leaves source base.
Hypothesis A : @apart first part carries leaves source base.
Hypothesis O : @once first part holds leaves.

(* `held`, `apart`, `final` and `once` of the second program. In its proof, place p of the owner holds the contribution
   `what p` at the beginning, and each place has another one. A piece brings the contribution of its block. The language
   has no reductions in an allgather or a broadcast. *)
Variable what : place -> span name.
Variable block : @piece P -> place.
Variable finds2 : @piece P -> span name.
Variables source2 base2 : @piece P -> option (@piece P).
Hypothesis Names : forall p q, In p places -> In q places -> what p = what q -> p = q.
Hypothesis Moves : forall c : @piece P, In c (@pieces second) -> In (block c) places /\ combines c = None.
Local Notation brings c := (what (block c)).
Hypothesis H2 : @held second name (at_owner what) (fun c => brings c) finds2 (fun w => brings w) source2 base2.
Hypothesis A2 : @apart second name (fun c => brings c) (fun w => brings w) source2 base2.
Hypothesis F2 : @final_as second name (at_owner what) (everywhere what) (fun w => brings w) eq.
Hypothesis O2 : @once second name (at_owner what) (fun w => brings w).

(* -- The obligations of the sequence ------------------------------------------------------------------- *)

Lemma halves (c : @piece P) : In c pieces -> rkey (of c) = skey (of c) /\
  ((In c (@pieces first) /\ skey (of c) < border /\ below (skey (of c)) = true) \/
   (In c (@pieces second) /\ border <= skey (of c) /\ below (skey (of c)) = false)).
Proof.
  intros I. split; [symmetry; apply M, W, I |]. unfold below. cbn. rewrite !filter_In. unfold below.
  destruct (Z.ltb_spec (skey (of c)) border); [left | right]; auto.
Qed.

Lemma first_in (c : @piece P) : In c (@pieces first) ->
  In c pieces /\ rkey (of c) = skey (of c) /\ skey (of c) < border /\ below (skey (of c)) = true.
Proof.
  intros I. cbn in I. apply filter_In in I as [I B]. destruct (halves c I) as [e _]. unfold below in *.
  apply Z.ltb_lt in B as L. auto.
Qed.

Lemma second_in (c : @piece P) : In c (@pieces second) ->
  In c pieces /\ rkey (of c) = skey (of c) /\ border <= skey (of c) /\ below (skey (of c)) = false.
Proof.
  intros I. cbn in I. apply filter_In in I as [I B]. destruct (halves c I) as [e _]. apply negb_true_iff in B.
  unfold below in *. apply Z.ltb_ge in B as L. auto.
Qed.

Lemma waits_for_first (c w : @piece P) : In c (@pieces second) -> In w (@pieces first) -> dst (of w) = src (of c) ->
  rkey (of w) < skey (of c) /\ rkey (of w) <= after (src (of c)) (skey (of c)).
Proof.
  intros Ic Iw D. apply second_in in Ic as [Ic [_ [ge _]]]. apply first_in in Iw as [Iw [e [lt _]]].
  destruct W as [Wm [Wp _]]. split; [lia |]. apply Waits; [apply Wm, Wp, Ic .. | | lia].
  rewrite <- D. apply Wm, Wp, Iw.
Qed.

(* What the first program leaves in the places of the results, and the last writes there. None: it was there from the
   beginning. *)
Section Left.
Variable left_there : place -> span part.
Variable last : place -> option (@piece P).
Definition leaves_result p := match last p with
  | Some w => In w (@pieces first) /\ writes w (owner p) p /\ leaves w = left_there p /\
      forall w' : @piece P, In w' (@pieces first) -> writes w' (owner p) p -> w' <> w ->
      leaves w' = left_there p \/ before w' w
  | None => holds (owner p) p (left_there p) /\
      forall w : @piece P, In w (@pieces first) -> writes w (owner p) p -> leaves w = left_there p
  end.
Hypothesis L : forall p, In p places -> leaves_result p.

(* The claims for the sequence. In the second program, they name the data that the first has left. *)
Definition in_half {A} (a b : @piece P -> A) (c : @piece P) : A := if below (skey (of c)) then a c else b c.
Definition brought c := left_there (block c).
Definition carries' := in_half carries brought.
Definition leaves' := in_half leaves brought.
Definition source' := in_half source (fun c => match source2 c with Some w => Some w | None => last (from c) end).

Ltac which c := let I := fresh "I" in let e := fresh "e" in let k := fresh "k" in let b := fresh "b" in
  match goal with J : In c pieces |- _ => destruct (halves c J) as [e [[I [k b]] | [I [k b]]]] end;
  unfold carries', leaves', source', in_half in *; try rewrite b in *.

Lemma same_block (c w : @piece P) : In c (@pieces second) -> In w (@pieces second) -> brings w = brings c ->
  brought w = brought c.
Proof. intros Ic Iw e. apply Names in e; [unfold brought; congruence | apply Moves, Iw | apply Moves, Ic]. Qed.

Lemma begins_there (c : @piece P) : In c (@pieces second) -> source2 c = None ->
  In (from c) places /\ src (of c) = owner (from c) /\ brought c = left_there (from c).
Proof.
  intros Ic e. pose proof (proj1 H2 c Ic) as Hc. rewrite e in Hc. destruct Hc as [Ip [D T]].
  apply Names in T; [| apply Moves, Ic | exact Ip]. split; [exact Ip |]. split; [exact D |].
  exact (f_equal left_there T).
Qed.

Lemma sequence_held : held holds carries' finds leaves' source' base.
Proof.
  split.
  - intros c Ic. which c.
    + pose proof (proj1 H c I) as Hc. destruct (source c) as [w |]; [| exact Hc].
      destruct Hc as [Iw [Ww [<- T]]]. destruct (first_in w Iw) as [Iw' [_ [_ bw]]]. cbn. rewrite bw. auto.
    + pose proof (proj1 H2 c I) as Hc. destruct (source2 c) as [w |] eqn:s.
      * destruct Hc as [Iw [Ww [T R]]]. destruct (second_in w Iw) as [Iw' [_ [_ bw]]]. cbn. rewrite bw.
        auto using same_block.
      * destruct (begins_there c I s) as [Ip [D T]]. pose proof (L _ Ip) as G. unfold leaves_result in G. rewrite T.
        destruct (last (from c)) as [w |]; cbn; rewrite D; [| apply G]. destruct G as [Iw [Ww [T' _]]].
        destruct (first_in w Iw) as [Iw' [_ [_ bw]]]. rewrite bw. split; [exact Iw' |]. split; [exact Ww |].
        split; [exact T' |]. rewrite <- D. apply waits_for_first; auto. rewrite D. apply Ww.
  - intros w Iw n. which w; [| destruct (Moves w I); contradiction].
    pose proof (proj2 H w I n) as Hw. destruct (base w) as [v |]; [| exact Hw].
    destruct Hw as [Iv [Wv [<- T]]]. destruct (first_in v Iv) as [Iv' [_ [_ bv]]]. cbn. rewrite bv. auto.
Qed.

Lemma sequence_apart : apart carries' leaves' source' base.
Proof.
  split.
  - intros c w Ic Iw Ww n. which c; which w; [exact (proj1 A c w I I0 Ww n) | lia | |].
    + destruct (source2 c) as [v |] eqn:s.
      * right. right. exists v. split; [reflexivity |]. left. pose proof (proj1 H2 c I) as Hc. rewrite s in Hc.
        destruct (second_in v (proj1 Hc)). lia.
      * destruct (begins_there c I s) as [Ip [D T]]. pose proof (L _ Ip) as G. unfold leaves_result in G.
        rewrite D in Ww. rewrite T. destruct (last (from c)) as [v |]; [| left; apply G; assumption].
        destruct G as [_ [_ [_ G]]]. destruct (G w I0 Ww) as [? | ?]; [congruence | auto | eauto].
    + assert (N : source2 c <> Some w) by (intros s; rewrite s in n; auto).
      destruct (proj1 A2 c w I I0 Ww N) as [? | [? | [v [s ?]]]]; [auto using same_block | auto |].
      rewrite s. eauto.
  - intros c w Ic Iw Ww n m b. which c; [| destruct (Moves c I); contradiction].
    which w; [exact (proj2 A c w I I0 Ww n m b) | left; left; lia].
Qed.

Lemma sequence_adds_up (op : V -> V -> V) mean : @adds_up first part V op mean carries finds leaves ->
  adds_up op mean carries' finds leaves'.
Proof. intros C w Iw. which w; [exact (C w I) |]. destruct (Moves w I) as [_ ->]. reflexivity. Qed.

Lemma sequence_final (same : span part -> span part -> Prop) :
  (forall p, In p places -> same (left_there p) (result p)) ->
  final_as holds (everywhere result) leaves' same.
Proof.
  intros S r p s [Ir [Ip ->]]. exists (left_there p). split; [auto |].
  assert (T : forall w : @piece P, In w (@pieces second) -> brings w = what p -> leaves' w = left_there p).
  { intros w Iw e. destruct (second_in w Iw) as [_ [_ [_ b]]]. apply Names in e; [| apply Moves, Iw | exact Ip].
    unfold leaves', in_half, brought. rewrite b. congruence. }
  destruct (F2 r p (what p) (conj Ir (conj Ip eq_refl))) as [s' [-> [[w [Iw [Ww [e G]]]] | [[_ [-> _]] G]]]].
  - left. exists w. destruct (second_in w Iw) as [Iw' [ew [ge _]]]. do 2 (split; [assumption |]). split; [auto |].
    intros w' Jw Ww' n. destruct (halves w' Jw) as [e' [[I [k _]] | [I _]]]; [right; left; lia |].
    destruct (G w' I Ww' n); auto.
  - pose proof (L p Ip) as G'. unfold leaves_result in G'. destruct (last p) as [w |]; [left | right].
    + destruct G' as [Iw [Ww [e G']]]. destruct (first_in w Iw) as [Iw' [_ [_ b]]]. exists w.
      do 2 (split; [assumption |]). split; [unfold leaves', in_half; rewrite b; exact e |].
      intros w' Jw Ww' n. destruct (halves w' Jw) as [_ [[I [_ b']] | [I _]]]; [| auto].
      unfold leaves', in_half. rewrite b'. auto.
    + split; [apply G' |]. intros w Iw Ww. destruct (halves w Iw) as [_ [[I [_ b]] | [I _]]]; [| auto].
      unfold leaves', in_half. rewrite b. apply G'; assumption.
Qed.
End Left.

Lemma sequence_awaited : awaited.
Proof.
  intros c w Ic Iw S Ww lt.
  destruct (halves c Ic) as [_ [[I [k _]] | [I [k _]]]], (halves w Iw) as [e [[J [k' _]] | [J [k' _]]]]; [| lia | |].
  - exact (@once_awaited first part holds carries finds leaves source base H A O c w I J S Ww lt).
  - apply waits_for_first; auto. apply Ww.
  - exact (@once_awaited second name _ _ _ _ _ _ H2 A2 O2 c w I J S Ww lt).
Qed.

(* `final` of the first program names the data that it leaves in each place, and the last write there. *)
Lemma left_by_first (same : span part -> span part -> Prop) :
  @final_as first part holds (at_owner result) leaves same ->
  exists there last, forall p, In p places -> same (there p) (result p) /\ leaves_result there last p.
Proof.
  intros F. assert (G : forall l, incl l places -> exists there last, forall p, In p l ->
    same (there p) (result p) /\ leaves_result there last p).
  { induction l as [| q l IH]; intros I; [exists result, (fun _ => None); intros p [] |].
    destruct IH as [there [last G]]; [intros p J; apply I; right; exact J |].
    assert (Iq : In q places) by (apply I; left; reflexivity).
    set (new := fun B (f : place -> B) (b : B) (p : place) => if place_dec p q then b else f p).
    destruct (F (owner q) q (result q) (conj Iq (conj eq_refl eq_refl))) as [s [Ss K]].
    assert (one : exists o, leaves_result (fun _ => s) (fun _ => o) q).
    { destruct K as [[w [Iw [Ww [e K]]]] | K]; [exists (Some w) | exists None]; unfold leaves_result; auto. }
    destruct one as [o K']. exists (new _ there s), (new _ last o). intros p J. unfold leaves_result, new in *.
    destruct (place_dec p q) as [-> | n]; [auto |]. apply G. destruct J; [congruence | assumption]. }
  apply G, incl_refl.
Qed.

(* -- The sequence is right ----------------------------------------------------------------------------- *)

Section Runs.
Variables (contribution : part -> Z -> V) (op : V -> V -> V) (nothing : V).
Local Notation meaning := (meaning contribution op nothing).
Local Notation canonical_meaning := (canonical_meaning contribution op nothing).
Local Notation combine := (@combine first part V op carries finds leaves).
Local Notation canonical := (@canonical first part carries finds leaves).
Local Notation final := (@final first part V op holds (at_owner result) leaves).
Local Notation final_as := (@final_as first part holds (at_owner result) leaves).

(* What each place of results holds at the end, by what a span means. *)
Lemma results (mean : span part -> V) : @adds_up first part V op mean carries finds leaves ->
  final_as (fun s s' => mean s = mean s') -> forall init may_post h,
  begins mean holds init -> execution may_post h -> final_state h ->
  forall r p, In r ranks -> In p places -> store op init h r p = mean (result p).
Proof.
  intros C F init may_post h B X D r p Ir Ip. destruct (left_by_first _ F) as [there [last G]].
  assert (L : forall q, In q places -> leaves_result there last q) by (intros; apply G; assumption).
  apply (result_is_right may_post op mean holds (everywhere result) (carries' there) finds (leaves' there)
    (source' last) base init W B (sequence_held _ _ L) (sequence_apart _ _ L) (sequence_adds_up there op mean C) E);
    auto; [| repeat split; assumption].
  apply sequence_final with (last := last); [exact L |]. intros q Iq. apply G, Iq.
Qed.

(* If the first program claims canonical sums, all ranks have them. The operator may be any function. *)
Theorem canonical_sequence_is_right : canonical -> final_as eq -> forall init may_post h,
  begins canonical_meaning holds init -> execution may_post h -> final_state h ->
  forall r p, In r ranks -> In p places -> store op init h r p = canonical_meaning (result p).
Proof.
  intros C F. apply results; [apply canonical_adds_up, C |]. intros r p s Q. destruct (F r p s Q) as [s' [-> G]].
  exists s. auto.
Qed.

Hypothesis associative : forall a b c, op a (op b c) = op (op a b) c.

Theorem sequence_is_right : combine -> final -> forall init may_post h,
  begins meaning holds init -> lawful may_post -> execution may_post h ->
  (* every execution ends, *)
  (length h <= length all_events)%nat /\
  (* where it can go no further without buffering, it is at its end, *)
  ((forall e, unbuffered may_post h e -> In e h) -> final_state h) /\
  (* there every rank has all results, *)
  (final_state h -> forall r p, In r ranks -> In p places -> store op init h r p = meaning (result p)) /\
  (* and a place that is received into is never sent from, or received into again, at the same time. *)
  no_race h.
Proof.
  intros C F init may_post h B Y X. split; [eapply executions_end, X |]. split; [apply no_deadlock; auto |].
  split; [| exact (buffers_are_respected may_post W E h sequence_awaited X)].
  apply (results meaning) with (may_post := may_post); auto; [exact (combined_adds_up _ _ _ _ _ _ associative C) |].
  intros r p s Q. destruct (F r p s Q) as [s' [K G]]. exists s'. split; [| exact G].
  apply (meaning_amount contribution op nothing associative), K.
Qed.

(* So it is if the runtime follows lawful plans of the sequence. *)
Theorem runtime_sequence_is_right (plan : rank -> list event) : combine -> final -> lawful_plan plan ->
  forall init h, begins meaning holds init -> run plan h -> (forall e, must plan h e -> In e h) ->
  forall r p, In r ranks -> In p places -> store op init h r p = meaning (result p).
Proof.
  intros C F K init h B R stuck. assert (X : execution anyhow h) by (apply (run_is_execution plan); assumption).
  apply (sequence_is_right C F init anyhow h B); [intros ? ? ? _; exact I | exact X |].
  apply (run_ends plan); assumption.
Qed.
End Runs.
End Sequence.
