(* Every execution ends. Where it can go no further without buffering, all steps are complete: there is no deadlock,
   under any lawful window. *)
From Coq Require Import List ZArith Lia Bool.
From Quadrille Require Import Model.
Import ListNotations. Open Scope Z_scope.

Lemma lower_bound (l : list Z) : exists b, forall x, In x l -> b <= x.
Proof.
  induction l as [| y l [b B]]; [exists 0; intros x [] | exists (Z.min y b)].
  intros x [<- | I]; [lia | specialize (B x I); lia].
Qed.

(* Induction over a number, of which only finitely many values matter. *)
Lemma ascending (l : list Z) (Q : Z -> Prop) :
  (forall k, (forall k', k' < k -> In k' l -> Q k') -> In k l -> Q k) -> forall k, In k l -> Q k.
Proof.
  intros S k I. destruct (lower_bound l) as [b B]. pose proof (B k I) as le. revert k le I.
  apply (Zlt_lower_bound_ind (fun k => In k l -> Q k) b).
  intros k IH le I. apply S; [| exact I]. intros k' lt I'. apply IH; auto.
Qed.

Section Progress.
Context {P : program}.
Variable may_post : policy.
Local Notation execution := (execution may_post).

(* -- Events stay, and had their reasons ------------------------------------------------------------ *)

Lemma arrived_stays e h r k : arrived h r k -> arrived (e :: h) r k.
Proof. unfold arrived. simpl. intros [a b]. auto. Qed.

Lemma complete_stays e h r k : complete h r k -> complete (e :: h) r k.
Proof. unfold complete. intros [a b]. split; [apply arrived_stays, a | simpl; auto]. Qed.

(* The conditions of all events so far still hold. *)
Definition anyhow : policy := fun _ _ _ => True.

Lemma still h e : execution h -> In e h -> enabled anyhow h e.
Proof.
  induction 1 as [| e' h X IH N E]; intros I; [destruct I |]. assert (G : enabled anyhow h e).
  { destruct I as [-> | I]; [| auto]. destruct e; simpl in *; unfold anyhow; tauto. }
  clear - G. destruct e; simpl in *; unfold up_to, anyhow in *.
  - intuition auto using arrived_stays.
  - destruct G as [I [A C]]. split; [assumption |]. split; [auto |].
    intros a E k' Ik l1 l2. apply complete_stays. eauto.
  - intuition.
  - destruct G as [I [R [O N]]]. do 3 (split; auto). intros E. destruct (N E) as [N1 [N2 N3]]. auto.
  - intuition.
  - intuition.
Qed.

Lemma complete_read h c : well_formed -> execution h -> In c pieces ->
  complete h (src (of c)) (skey (of c)) -> In (Read c) h.
Proof.
  intros W X I [_ C]. assert (S : In (Sent (of c)) h) by (apply C; auto; apply W, I).
  apply (still h _ X S); auto.
Qed.

Lemma arrived_written h w : well_formed -> execution h -> In w pieces ->
  arrived h (dst (of w)) (rkey (of w)) -> In (Write w) h.
Proof.
  intros W X I [_ C]. assert (R : In (Received (of w)) h) by (apply C; auto; apply W, I).
  apply (still h _ X R); auto.
Qed.

(* -- Executions end ------------------------------------------------------------------------------- *)

Definition all_events : list event :=
  flat_map (fun r => map (Post r) (step_keys r)) ranks ++ map Open messages ++ map Read pieces ++
  map Write pieces ++ map Sent messages ++ map Received messages.

Lemma all_events_in e : In e all_events <->
  match e with
  | Post r k => In r ranks /\ In k (step_keys r)
  | Open m | Sent m | Received m => In m messages
  | Read c | Write c => In c pieces
  end.
Proof.
  unfold all_events. rewrite !in_app_iff, in_flat_map, !in_map_iff. split.
  - intros [[r [R I]] | I]; [apply in_map_iff in I as [k [<- I]]; auto |].
    repeat destruct I as [I | I]; destruct I as [x [<- I]]; exact I.
  - destruct e as [r k | | | | |]; intros I; [| eauto 10 ..].
    left. exists r. split; [apply I | apply in_map, I].
Qed.

Lemma enabled_event h e : enabled may_post h e -> In e all_events.
Proof. rewrite all_events_in. destruct e; simpl; tauto. Qed.

(* No execution is longer than the number of events. *)
Theorem executions_end h : execution h -> (length h <= length all_events)%nat.
Proof.
  intros X. apply NoDup_incl_length.
  - induction X; constructor; assumption.
  - induction X as [| e h X IH N E]; [intros ? [] |].
    intros a [<- | A]; [eapply enabled_event; eassumption | auto].
Qed.

(* -- No deadlock ---------------------------------------------------------------------------------- *)

(* The lowest step that is not complete: all its events can happen, one after the other. *)
Theorem no_deadlock h :
  well_formed -> keys_meet -> lawful may_post -> execution h ->
  (forall e, unbuffered may_post h e -> In e h) -> final_state h.
Proof.
  intros W M L X stuck r k Ir Ik. pose proof W as [Wm [Wp Wl]].
  revert r Ir Ik. cut (forall k, In k (flat_map step_keys ranks) ->
    forall r, In r ranks -> In k (step_keys r) -> complete h r k).
  { intros G r Ir Ik. apply G; auto. apply in_flat_map. eauto. }
  clear k. apply (ascending _ (fun k => forall r, In r ranks -> In k (step_keys r) -> complete h r k)).
  intros k IH _. assert (below : forall r k', In r ranks -> In k' (step_keys r) -> k' < k -> complete h r k').
  { intros r k' Ir Ik lt. apply IH; auto. apply in_flat_map. eauto. }
  assert (posted : forall r, In r ranks -> In k (step_keys r) -> In (Post r k) h).
  { intros r Ir Ik. apply stuck. split; [| exact I]. simpl. repeat split; auto.
    - intros k' Ik' lt. apply below; auto.
    - apply below; auto.
    - intros m Im D K. apply (below r k'); auto. }
  assert (ends : forall m, In m messages -> rkey m = k ->
            In (Post (src m) (skey m)) h /\ In (Post (dst m) (rkey m)) h /\ skey m = k).
  { intros m Im E. destruct (Wm m Im) as [a [b [c d]]]. pose proof (M m Im) as E'.
    rewrite E', E in *. auto. }
  assert (opened' : forall m, In m messages -> rkey m = k ->
            (forall l, ahead m = Some l -> In (Received l) h) -> In (Open m) h).
  { intros m Im E A. apply stuck. split; [| apply ends; auto]. simpl. repeat split; auto.
    - apply below; [apply Wm, Im | assumption | lia].
    - intros m' Im' D K. apply (below (dst m) k'); auto; [apply Wm, Im | lia].
    - intros m' Im' D K. apply (below (dst m) k'); auto; [apply Wm, Im | lia]. }
  assert (opened : forall m, In m messages -> rkey m = k -> In (Open m) h).
  { intros m Im E. apply opened'; auto. intros l A.
    destruct (Wl m l Im A) as [Il [Al [_ [_ [_ [El none]]]]]]. rewrite E in El.
    apply stuck. split; [| exact I]. simpl. split; [assumption |]. split; [apply ends; auto |].
    split; [apply opened'; auto; congruence |]. intros c Ic O. destruct (none c Ic O). }
  assert (read : forall c, In c pieces -> skey (of c) = k -> In (Read c) h).
  { intros c Ic E. apply stuck. assert (K : rkey (of c) = k) by (rewrite <- M; auto).
    split; simpl; [split; [assumption |] |]; [apply ends | apply opened]; auto. }
  assert (written : forall w, In w pieces -> rkey (of w) = k -> In (Write w) h).
  { cut (forall t, In t (map turn pieces) ->
      forall w, In w pieces -> rkey (of w) = k -> turn w = t -> In (Write w) h).
    { intros G w Iw E. apply (G (turn w)); auto. apply in_map, Iw. }
    apply (ascending _ (fun t => forall w, In w pieces -> rkey (of w) = k -> turn w = t -> In (Write w) h)).
    intros t IHt _ w Iw E T. apply stuck. split; [| exact I]. simpl.
    split; [assumption |]. split; [apply read; auto; apply ends; auto |].
    split; [apply opened; auto |]. intros _.
    split; [apply ends; auto |]. split.
    - intros c Ic [R _] le. destruct (Z.eq_dec (skey (of c)) k) as [e | n]; [apply read; auto |].
      apply complete_read; auto. apply below; [apply Wm; auto | apply Wm; auto | lia].
    - intros w' Iw' _ [lt | [e lt]].
      + apply arrived_written; auto. apply below; [apply Wm; auto | apply Wm; auto | lia].
      + apply (IHt (turn w')); auto; [lia | apply in_map, Iw' | congruence]. }
  intros r Ir Ik. split; [split |].
  - apply posted; assumption.
  - intros m Im _ E. apply stuck. split; [| exact I]. simpl. split; [assumption |].
    split; [apply ends; auto |]. split; [apply opened; auto |]. intros c Ic <-. apply written; auto.
  - intros m Im _ E. assert (K : rkey m = k) by (rewrite <- M; auto).
    apply stuck. split; simpl; [| apply opened; auto]. split; [assumption |].
    split; [apply ends; auto |]. intros c Ic <-. apply read; auto.
Qed.

(* A ring of W steps, of which the oldest is waited for: every step before the last W is complete. *)
Definition ring (W : nat) : policy := fun h r k =>
  forall k', In k' (step_keys r) -> k' < k ->
  (W <= length (filter (fun x => (k' <=? x)%Z && (x <? k)%Z) (step_keys r)))%nat -> complete h r k'.

Lemma rings_are_lawful W : lawful (ring W).
Proof. intros h r k all k' I lt _. apply all; assumption. Qed.
End Progress.
