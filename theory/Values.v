(* Every piece carries what the proof claims, and in the end every place holds what is required. *)
From Coq Require Import List ZArith Lia.
From Quadrille Require Import Model Spans Obligations Progress.
Import ListNotations. Open Scope Z_scope.

Section Values.
Context {P : program} {part V : Type}.
Variable may_post : policy.
Variables (op : V -> V -> V) (meaning : span part -> V).
Variables holds required : rank -> place -> span part -> Prop.
Variables carries finds leaves : piece -> span part.
Variables source base : piece -> option piece.
Variable init : rank -> place -> V.

Local Notation execution := (execution may_post).
Local Notation store := (store op init).
Local Notation moved := (moved op init).

(* The buffers hold at the beginning what the collective says. *)
Definition begins := forall r p s, holds r p s -> init r p = meaning s.

Hypothesis W : well_formed.
Hypothesis B : begins.
Hypothesis H : held holds carries finds leaves source base.
Hypothesis A : apart carries leaves source base.
(* Follows from `combine`, and from `canonical` (Theorem.v). *)
Definition adds_up := forall w, In w pieces ->
  meaning (leaves w) = combined op (combines w) (meaning (carries w)) (meaning (finds w)).
Hypothesis C : adds_up.
Hypothesis E : posted_early.

Local Notation of_piece I := (proj1 (proj2 W) _ I).

(* -- Reads and writes of a place happen in the order of the program -------------------------------- *)

Lemma reads_first h w c : execution h -> In (Write w) h -> In c pieces -> reads c (dst (of w)) (to w) ->
  skey (of c) <= rkey (of w) -> In (Read c) h.
Proof.
  intros X I Ic R le. destruct (still _ h _ X I) as [Iw [_ [O N]]].
  destruct (straight (of w)) as [a |] eqn:d; [| apply N; auto].
  destruct (E w a Iw d) as [_ [F _]]. destruct (F c Ic R le) as [l1 l2].
  destruct (still _ h _ X O) as [_ [_ U]]. destruct R as [D _].
  apply (complete_read may_post); auto. rewrite D. apply (U a d); auto.
  rewrite <- D. apply W, (of_piece Ic).
Qed.

Lemma writes_first h w w' : execution h -> In (Write w) h -> In w' pieces -> writes w' (dst (of w)) (to w) ->
  w' <> w -> before w' w -> In (Write w') h.
Proof.
  intros X I Iw' Ww' n' b. destruct (still _ h _ X I) as [Iw [_ [O N]]].
  destruct (straight (of w)) as [a |] eqn:d; [| apply N; auto].
  destruct (E w a Iw d) as [_ [_ F]]. destruct (F w' Iw' Ww' n') as [l1 l2]; [unfold before in *; lia |].
  destruct (still _ h _ X O) as [_ [_ U]]. destruct Ww' as [D _].
  apply (arrived_written may_post); auto. rewrite D. apply (U a d); auto.
  rewrite <- D. apply W, (of_piece Iw').
Qed.

(* -- The claims hold ------------------------------------------------------------------------------- *)

(* When a piece is read, its place holds what the piece is claimed to carry. After a write it holds what the piece is
   claimed to leave. *)
Definition as_said (e : event) (h : history) :=
  match e with
  | Read c => store h (src (of c)) (from c) = meaning (carries c)
  | Write w => store (Write w :: h) (dst (of w)) (to w) = meaning (leaves w)
  | _ => True
  end.

Inductive right : history -> Prop :=
| right_start : right []
| right_next e h : right h -> as_said e h -> right (e :: h).

Lemma moved_right h c : right h -> In (Read c) h -> moved h c = meaning (carries c).
Proof.
  induction 1 as [| e h R IH S]; intros I; [destruct I |].
  destruct e as [| | c' | | |]; try (destruct I as [I | I]; [discriminate | exact (IH I)]).
  cbn. destruct (piece_dec c' c) as [-> | m]; [exact S |]. destruct I as [I | I]; [congruence | exact (IH I)].
Qed.

(* An event changes a place only if it writes there. *)
Lemma store_next e h r p :
  (exists w, e = Write w /\ writes w r p) \/
  ((forall w, e = Write w -> ~ writes w r p) /\ store (e :: h) r p = store h r p).
Proof.
  unfold writes. destruct e as [| | | w | |]; try (right; split; [discriminate | reflexivity]). cbn.
  destruct (rank_dec (dst (of w)) r) as [a | a]; [destruct (place_dec (to w) p) as [b | b] |];
    [left; eauto | right | right]; (split; [intros ? [= <-]; tauto | reflexivity]).
Qed.

(* A place holds what a write left, if every other write leaves the same, or precedes it, or is still to come. *)
Lemma store_last h w r p s :
  execution h -> right h -> writes w r p -> leaves w = s -> In (Write w) h ->
  (forall w', In w' pieces -> writes w' r p -> w' <> w ->
     leaves w' = s \/ before w' w \/ ~ In (Write w') h) ->
  store h r p = meaning s.
Proof.
  intros X R Ww L I O. induction X as [| e h X IH N F]; [destruct I |]. inversion R as [| e' h' R' S]; subst e' h'.
  destruct (store_next e h r p) as [[w' [-> Ww']] | [other ->]].
  - assert (G : leaves w' = s -> store (Write w' :: h) r p = meaning s).
    { intros <-. destruct Ww' as [<- <-]. exact S. }
    destruct (piece_dec w' w) as [-> | n']; [auto |].
    destruct (O w') as [same | [b | never]]; auto; [apply F | |].
    + exfalso. apply N. destruct I as [[= ->] | I]; [contradiction |].
      apply (writes_first h w); auto; [apply F |]. destruct Ww as [-> ->]. exact Ww'.
    + destruct never. left. reflexivity.
  - apply IH; auto.
    + destruct I as [-> | I]; [exfalso; eapply other; eauto | assumption].
    + intros w' I' Ww' n'. destruct (O w' I' Ww' n') as [? | [? | no]]; auto.
      right. right. intros J. apply no. right. assumption.
Qed.

(* A place holds its first contents, if every write leaves the same or is still to come. *)
Lemma store_first h r p s :
  execution h -> right h -> holds r p s ->
  (forall w, In w pieces -> writes w r p -> leaves w = s \/ ~ In (Write w) h) ->
  store h r p = meaning s.
Proof.
  intros X R V0 O. induction X as [| e h X IH N F]; [apply B, V0 |]. inversion R as [| e' h' R' S]; subst e' h'.
  destruct (store_next e h r p) as [[w [-> Ww]] | [other ->]].
  - destruct (O w) as [<- | never]; [apply F | assumption | |].
    + destruct Ww as [<- <-]. exact S.
    + destruct never. left. reflexivity.
  - apply IH; auto. intros w I Ww. destruct (O w I Ww) as [? | no]; auto.
    right. intros J. apply no. right. assumption.
Qed.

Lemma read_is_right h c : execution h -> right h -> enabled may_post h (Read c) -> ~ In (Read c) h ->
  store h (src (of c)) (from c) = meaning (carries c).
Proof.
  intros X R [I T] unread. destruct A as [A' _]. pose proof (proj1 H c I) as Hc. pose proof (A' c) as Ac.
  assert (later : forall w, In w pieces -> writes w (src (of c)) (from c) ->
                  skey (of c) <= rkey (of w) -> ~ In (Write w) h).
  { intros w Iw [D Q] T' J. apply unread. apply (reads_first h w); auto. split; congruence. }
  destruct (source c) as [w |].
  - destruct Hc as [Iw [Ww [L [lt le]]]]. apply store_last with w; auto.
    + apply (arrived_written may_post); auto. destruct Ww as [D _]. rewrite D.
      apply (still _ h _ X T); auto. rewrite <- D. apply W, (of_piece Iw).
    + intros w' I' Ww' n'.
      destruct (Ac w' I I' Ww') as [? | [? | [v [[= <-] b]]]]; auto 6; congruence.
  - apply store_first; auto. intros w Iw Ww.
    destruct (Ac w I Iw Ww) as [? | [? | [v [[=] _]]]]; auto; discriminate.
Qed.

Lemma found_is_right h w : execution h -> right h -> enabled may_post h (Write w) -> ~ In (Write w) h ->
  combines w <> None -> store h (dst (of w)) (to w) = meaning (finds w).
Proof.
  intros X R F unwritten k. assert (X' : execution (Write w :: h)) by (constructor; assumption).
  destruct A as [_ A']. pose proof (proj1 F) as I. pose proof (proj2 H w I k) as Hw. pose proof (A' w) as Aw.
  assert (later : forall w', In w' pieces -> writes w' (dst (of w)) (to w) -> before w w' -> ~ In (Write w') h).
  { intros w' I' [D Q] b J. apply unwritten. apply (writes_first h w'); auto; [split; congruence |].
    intros <-. unfold before in b. lia. }
  assert (other : forall b, before b w -> b <> w) by (intros b b' ->; unfold before in b'; lia).
  destruct (base w) as [b |].
  - destruct Hw as [Ib [Wb [L bw]]]. apply store_last with b; auto.
    + destruct (writes_first _ w b X') as [[=] | ?]; auto; [left; reflexivity | subst; destruct (other b bw); reflexivity].
    + intros w' I' Ww' n'. destruct (piece_dec w' w) as [-> | m]; [auto |].
      destruct (Aw w' I I' Ww' k m) as [? | [v [[= <-] ?]]]; auto. congruence.
  - apply store_first; auto. intros w' I' Ww'. destruct (piece_dec w' w) as [-> | m]; [auto |].
    destruct (Aw w' I I' Ww' k m) as [? | [v [[=] _]]]; auto. discriminate.
Qed.

(* In every execution every piece carries, and leaves, what the proof claims. *)
Theorem values_are_right h : execution h -> right h.
Proof.
  intros X. induction X as [| e h X R N F]; [constructor |]. constructor; [assumption |].
  destruct e as [| | c | w | |]; try exact I; [apply read_is_right; assumption |]. cbn.
  destruct (rank_dec (dst (of w)) (dst (of w))); [| contradiction].
  destruct (place_dec (to w) (to w)); [| contradiction].
  rewrite moved_right; [| assumption | apply (proj1 (proj2 F))]. rewrite (C w (proj1 F)).
  pose proof (found_is_right h w X R F N) as G. destruct (combines w); [| reflexivity].
  rewrite G by discriminate. reflexivity.
Qed.

(* When all steps are complete, every required place holds what is required of it. *)
Theorem result_is_right h : final_as holds required leaves (fun s s' => meaning s = meaning s') -> execution h -> final_state h ->
  forall r p s, required r p s -> store h r p = meaning s.
Proof.
  intros F X D r p s Q. pose proof (values_are_right h X) as R. destruct (F r p s Q) as [s' [M G]].
  rewrite <- M.
  destruct G as [[w [I [Ww [L O]]]] | [V0 O]].
  - apply store_last with w; auto.
    + apply (arrived_written may_post); auto. apply D; apply W, (of_piece I).
    + intros w' I' Ww' n'. destruct (O w' I' Ww' n'); auto.
  - apply store_first; auto.
Qed.

(* -- MPI's rule: a place that is received into is not sent from, or received into again, at that time ---- *)

(* Staged copies belong to the runtime, not to a send in flight. *)
Definition being_sent (h : history) (c : piece) :=
  In c pieces /\ In (Post (src (of c)) (skey (of c))) h /\ ~ In (Sent (of c)) h.
Definition being_received (h : history) (w : piece) :=
  In w pieces /\ straight (of w) <> None /\ In (Open (of w)) h /\ ~ In (Received (of w)) h.

Definition no_race (h : history) := forall r p w, being_received h w -> writes w r p ->
  (forall c, being_sent h c -> reads c r p -> False) /\
  (forall w', being_received h w' -> writes w' r p -> w' = w).

(* A step that reads a place waits for earlier zero-copy receives there. This follows from `once`. *)
Definition awaited := forall c w, In c pieces -> In w pieces -> straight (of w) <> None ->
  writes w (src (of c)) (from c) -> rkey (of w) < skey (of c) -> rkey (of w) <= after (src (of c)) (skey (of c)).

Lemma once_awaited : once holds leaves -> awaited.
Proof.
  intros U c w Ic Iw Sw Ww lt. pose proof (proj1 H c Ic) as Hc. pose proof (proj1 A c w Ic Iw Ww) as Ac.
  destruct (U w _ _ Iw Ww Sw) as [U1 U2]. destruct (source c) as [v |].
  - destruct Hc as [Iv [Wv [L [_ le]]]]. destruct (piece_dec v w) as [-> | n]; [exact le |].
    destruct Ac as [e | [e | [v' [[= <-] b]]]]; [congruence | | lia | unfold before in b; lia].
    destruct (U2 v Iv Wv n). congruence.
  - destruct Ac as [e | [e | [v [[=] _]]]]; [discriminate | | lia]. destruct U1. rewrite e. exact Hc.
Qed.

Theorem buffers_are_respected h : awaited -> execution h -> no_race h.
Proof.
  intros U X r p w [Iw [Sw [Ow Rw]]] [Dw Tw]. destruct (straight (of w)) as [a |] eqn:d; [clear Sw | contradiction].
  destruct (E w a Iw d) as [_ [Er Ew]]. destruct (still _ h _ X Ow) as [_ [_ K]]. specialize (K a d).
  split.
  - intros c [Ic [Pc Sc]] [Sr Fr]. destruct (Z_le_gt_dec (skey (of c)) (rkey (of w))) as [le | gt].
    + destruct (Er c Ic) as [l1 l2]; auto; [split; congruence |]. apply Sc.
      apply (K (skey (of c))); auto; try congruence; [| apply (of_piece Ic)].
      replace (dst (of w)) with (src (of c)) by congruence. apply W, (of_piece Ic).
    + assert (le : rkey (of w) <= after (src (of c)) (skey (of c)))
        by (apply U; auto; [congruence | split; congruence | lia]).
      apply Rw, (still _ h _ X Pc) with (k' := rkey (of w)); try congruence; try lia; [| apply (of_piece Iw)].
      replace (src (of c)) with (dst (of w)) by congruence. apply W, (of_piece Iw).
  - intros w' [Iw' [Sw' [Ow' Rw']]] Ww'. destruct (piece_dec w' w) as [| m]; [assumption | exfalso].
    destruct (straight (of w')) as [a' |] eqn:d'; [| contradiction].
    destruct (Ew w' Iw') as [l1 l2]; auto; [destruct Ww'; split; congruence | |].
    + intros b. destruct (E w' a' Iw' d') as [_ [_ F]]. destruct (F w Iw) as [l1 l2]; auto;
        [destruct Ww'; split; congruence | unfold before in *; lia |]. destruct (still _ h _ X Ow') as [_ [_ K']].
      apply Rw, (K' a' d' (rkey (of w))); auto; try (destruct Ww'; congruence); [| apply (of_piece Iw)].
      replace (dst (of w')) with (dst (of w)) by (destruct Ww'; congruence). apply W, (of_piece Iw).
    + apply Rw'. apply (K (rkey (of w'))); auto; try (destruct Ww'; congruence); [| apply (of_piece Iw')].
      replace (dst (of w)) with (dst (of w')) by (destruct Ww'; congruence). apply W, (of_piece Iw').
Qed.
End Values.

(* -- Sums: what combining leaves has the meaning that the operator gives ------------------------------- *)

Section Sums.
Context {P : program} {part V : Type}.
Variables (contribution : part -> Z -> V) (op : V -> V -> V) (nothing : V).
Variables carries finds leaves : piece -> span part.

Lemma combined_adds_up : (forall a b c, op a (op b c) = op (op a b) c) -> combine op carries finds leaves ->
  adds_up op (meaning contribution op nothing) carries finds leaves.
Proof.
  intros Op C w I. generalize (C w I). destruct (combines w) as [s |]; intros K; [| cbn; congruence].
  destruct K as [[S J] | [[S J] | [S J]]].
  1, 2: apply (meaning_adjacent contribution op nothing Op) in J; rewrite J;
    destruct s; cbn; try reflexivity; destruct S as [[=] | K]; apply K.
  apply (meaning_joined contribution op nothing Op _ _ _ S) in J. rewrite J. destruct s; cbn; [reflexivity | apply S].
Qed.

Lemma canonical_adds_up : canonical carries finds leaves ->
  adds_up op (canonical_meaning contribution op nothing) carries finds leaves.
Proof.
  intros C w I. generalize (C w I). destruct (combines w) as [[] |]; intros K; [| | cbn; congruence];
    apply (meaning_sides contribution op nothing), K.
Qed.
End Sums.
