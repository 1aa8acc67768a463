(* The runtime. Each rank takes the operations of a plan one after the other, and waits if an operation has to wait.
   Every run of plans that keep the rules of runtime/plan/order.c is an execution, and ends. *)
From Coq Require Import List ZArith Lia.
From Quadrille Require Import Model Progress.
Import ListNotations. Open Scope Z_scope.

Section Runtime.
Context {P : program}.

(* The operations of a rank are events: Post and Open. Read: a message is packed when it is posted.
   Sent and Received: the rank waits for a message. Write: the rank delivers from a buffer. MPI does the rest: it reads
   sends from their places and writes zero-copy receives. If lengths travel ahead, Open is the receive of the lengths.
   The rank posts the receive of the data when they have arrived, during whatever wait it is in. *)
Variable plan : rank -> list event.

Definition owner (e : event) : rank :=
  match e with
  | Post r _ => r
  | Read c => src (of c)
  | Sent m => src m
  | Write w => dst (of w)
  | Open m | Received m => dst m
  end.
Definition planned (e : event) := In e (plan (owner e)).

(* e precedes e' in the plan. *)
Definition sooner (e e' : event) := forall l l', plan (owner e') = l ++ e' :: l' -> In e l.

(* -- Runs ----------------------------------------------------------------------------------------- *)

(* A rank has come to the operation. *)
Definition in_turn (h : history) (e : event) :=
  planned e -> exists l l', plan (owner e) = l ++ e :: l' /\ incl l h.

(* The conditions of MPI and of the machine. *)
Definition ready (h : history) (e : event) : Prop :=
  In e all_events /\
  match e with
  | Post _ _ => True
  | Open m => forall l, ahead m = Some l -> In (Received l) h
  | Read c => planned (Read c) \/ In (Post (src (of c)) (skey (of c))) h
  | Write w => In (Read w) h /\ In (Open (of w)) h
  | Sent m => In (Post (src m) (skey m)) h /\ forall c, In c pieces -> of c = m -> In (Read c) h
  | Received m => In (Post (src m) (skey m)) h /\ In (Open m) h /\
                  forall c, In c pieces -> of c = m -> In (Write c) h
  end.

Inductive run : history -> Prop :=
| run_starts : run []
| run_goes_on e h : run h -> ~ In e h -> in_turn h e -> ready h e -> run (e :: h).

(* With no buffering at all, MPI reads nothing and completes no send before the receive is posted. *)
Definition must (h : history) (e : event) :=
  in_turn h e /\ ready h e /\
  match e with
  | Read c => planned (Read c) \/ In (Open (of c)) h
  | Sent m => In (Open m) h
  | _ => True
  end.

(* -- The rules of plans --------------------------------------------------------------------------- *)

(* The beginning of a receive, and the moment at which its data is in its place. *)
Definition opening (m : message) := match ahead m with Some l => Open l | None => Open m end.
Definition landing (w : piece) := match straight (of w) with Some _ => Received (of w) | None => Write w end.
Definition is_lengths (l : message) := exists m, In m messages /\ ahead m = Some l.

(* The key of the message that is waited for. *)
Definition waits_for (e : event) : option Z :=
  match e with
  | Write w => Some (rkey (of w))
  | Sent m => Some (skey m)
  | Received m => Some (rkey m)
  | _ => None
  end.

Record lawful_plan := {
  (* Each rank has its own operations, all of them. The operations of MPI belong to no rank. *)
  own : forall r e, In e (plan r) -> owner e = r /\ In e all_events;
  all_posted : forall r k, In r ranks -> In k (step_keys r) -> planned (Post r k);
  all_opened : forall m, In m messages -> (planned (Open m) <-> ahead m = None);
  all_sent : forall m, In m messages -> planned (Sent m);
  all_received : forall m, In m messages -> (is_lengths m /\ ~ planned (Received m)) \/
    (~ is_lengths m /\ planned (Received m));
  all_put_away : forall w, In w pieces -> (planned (Write w) <-> straight (of w) = None);
  (* Sends are posted in the order of steps, once the receives that their step waits for are complete. *)
  in_steps : forall r k k', In k (step_keys r) -> In k' (step_keys r) -> k' < k -> sooner (Post r k') (Post r k);
  after_steps : forall m k, In m messages -> In k (step_keys (dst m)) -> rkey m < k ->
    rkey m <= after (dst m) k -> is_lengths m \/ sooner (Received m) (Post (dst m) k);
  (* No block is read before its step. *)
  read_in_step : forall c, planned (Read c) -> sooner (Post (src (of c)) (skey (of c))) (Read c);
  (* A zero-copy receive may be posted at any time, even first of all. *)
  early : forall m a, In m messages -> straight m = Some a -> forall k, In k (step_keys (dst m)) -> a < k;
  (* Data is delivered from a buffer once its step is posted and before its message counts as received. By then all reads
     there up to its step are complete or staged. Deliveries are in the order of steps and statements. *)
  puts_away : forall w, In w pieces -> straight (of w) = None ->
    sooner (Post (dst (of w)) (rkey (of w))) (Write w) /\ sooner (Write w) (Received (of w)) /\
    (forall c, In c pieces -> reads c (dst (of w)) (to w) -> skey (of c) <= rkey (of w) ->
       sooner (Read c) (Write w) \/ sooner (Sent (of c)) (Write w)) /\
    (forall w', In w' pieces -> writes w' (dst (of w)) (to w) -> before w' w -> sooner (landing w') (Write w));
  (* A rank that waits has posted all messages up to the key of the one it waits for. *)
  posted_by_key : forall r e k, In e (plan r) -> waits_for e = Some k ->
    forall e', In e' (plan r) ->
    match e' with
    | Post _ k' => k' <= k
    | Open m => rkey m <= k
    | Read c => skey (of c) <= k
    | _ => False
    end -> sooner e' e
}.

Hypothesis W : well_formed.
Hypothesis L : lawful_plan.

(* -- A run is an execution ------------------------------------------------------------------------ *)

Lemma sooner_first h e e' : in_turn h e' -> planned e' -> sooner e e' -> In e h.
Proof. intros T Q S. destruct (T Q) as [l [l' [E I]]]. apply I. eapply S, E. Qed.

Lemma not_both m l : In m messages -> ahead m = Some l -> ~ is_lengths m.
Proof. intros I A [m' [I' A']]. destruct (proj2 (proj2 W) m' m I' A') as [_ [N _]]. congruence. Qed.

(* Whatever may happen to a rank that keeps the rules is enabled. *)
Lemma ready_enabled h e : run h -> execution anyhow h -> in_turn h e -> ready h e -> enabled anyhow h e.
Proof.
  intros R X T [V D]. assert (V' := V). rewrite all_events_in in V'.
  assert (past : forall e', planned e -> sooner e' e -> In e' h) by (intros; eapply sooner_first; eassumption).
  assert (read : forall m c, In c pieces -> of c = m -> In (Sent m) h -> In (Read c) h).
  { intros m c Ic O S. apply (still anyhow h _ X S); assumption. }
  destruct e as [r k | m | c | w | m | m]; simpl in D.
  - destruct V' as [Ir Ik]. pose proof (all_posted L r k Ir Ik) as Q. simpl.
    assert (steps : forall k', In k' (step_keys r) -> k' < k -> In (Post r k') h).
    { intros k' Ik' lt. apply past; [assumption |]. apply (in_steps L); assumption. }
    repeat split; auto. intros m Im Dm Km.
    assert (G : forall m', In m' messages -> dst m' = r -> rkey m' = k' -> ~ is_lengths m' -> In (Received m') h).
    { intros m' Im' Dm' Km' no. apply past; [assumption |].
      destruct (after_steps L m' k Im') as [y | s]; [rewrite Dm'; assumption | lia | rewrite Dm'; lia | contradiction |].
      rewrite Dm' in s. exact s. }
    destruct (all_received L m Im) as [[[m' [Im' A']] _] | [_ Q']].
    + destruct (proj2 (proj2 W) m' m Im' A') as [_ [_ [_ [Ed [_ [Er _]]]]]].
      assert (J : In (Received m') h) by (apply G; try congruence; eauto using not_both).
      destruct (still anyhow h _ X J) as [_ [_ [O _]]]. apply (still anyhow h _ X O). exact A'.
    + apply G; auto. destruct (all_received L m Im) as [[_ no] | [no _]]; [contradiction | exact no].
  - simpl. split; [assumption |]. split; [assumption |]. intros a S k' Ik' _ le.
    pose proof (early L m a V' S k' Ik'). lia.
  - simpl. split; [assumption |]. destruct D as [Q | D]; [| auto].
    apply past; [assumption | apply (read_in_step L c Q)].
  - destruct D as [D O]. simpl. split; [assumption |]. split; [assumption |]. split; [assumption |].
    intros d. pose proof (proj2 (all_put_away L w V') d) as Q.
    destruct (puts_away L w V' d) as [a [_ [b c]]]. split; [apply past; auto |]. split.
    + intros c' Ic' Rc' le. destruct (b c' Ic' Rc' le) as [S | S]; [| eapply read; eauto]; apply past; auto.
    + intros w' Iw' Ww' b'. pose proof (past _ Q (c w' Iw' Ww' b')) as J. unfold landing in J.
        destruct (straight (of w')); [| assumption]. apply (still anyhow h _ X J); auto.
  - simpl. tauto.
  - simpl. tauto.
Qed.

(* Every run is an execution. *)
Theorem run_is_execution h : run h -> execution anyhow h.
Proof.
  intros R. induction R as [| e h R X N T D]; [constructor |].
  constructor; [assumption | assumption | apply ready_enabled; assumption].
Qed.

(* -- A run ends ----------------------------------------------------------------------------------- *)

Definition event_dec (a b : event) : {a = b} + {a <> b}.
Proof. decide equality; auto using rank_dec, piece_dec, message_dec, Z.eq_dec. Defined.

Lemma first_missing (h l : list event) :
  incl l h \/ exists l1 e l2, l = l1 ++ e :: l2 /\ incl l1 h /\ ~ In e h.
Proof.
  induction l as [| e l [I | [l1 [e' [l2 [E [I N]]]]]]]; [left; intros ? [] | |];
    (destruct (in_dec event_dec e h) as [y | no];
     [| right; exists [], e, l; split; [reflexivity | split; [intros ? [] | exact no]]]).
  - left. intros x [<- | J]; auto.
  - right. exists (e :: l1), e', l2. subst. split; [reflexivity |]. split; [intros x [<- | J]; auto | exact N].
Qed.

Section Stuck.
Variable h : history.
Hypothesis M : keys_meet.
Hypothesis stuck : forall e, must h e -> In e h.

(* When a rank comes to an operation that does not wait, the operation is done. *)
Lemma no_wait r l e l' : plan r = l ++ e :: l' -> incl l h -> waits_for e = None -> In e h.
Proof.
  intros S I N. assert (J : In e (plan r)) by (rewrite S; apply in_elt).
  destruct (own L r e J) as [O V]. assert (Q : planned e) by (unfold planned; congruence).
  apply stuck. split; [intros _; exists l, l'; split; [congruence | assumption] |].
  destruct e as [r' k | m | c | w | m | m]; try discriminate; (split; [split; [assumption |] |]); simpl; auto.
  rewrite all_events_in in V. apply (all_opened L m V) in Q. congruence.
Qed.

Lemma lengths_come m l : In m messages -> ahead m = Some l -> In (Post (src m) (skey m)) h -> In (Open l) h ->
  In (Received l) h.
Proof.
  intros I A Q O. destruct (proj2 (proj2 W) m l I A) as [Il [_ [Es [_ [Ek [_ none]]]]]].
  assert (y : is_lengths l) by (exists m; auto).
  apply stuck. split; [| split; [split; [apply all_events_in, Il |] | exact Logic.I]].
  - intros J. destruct (all_received L l Il) as [[_ no] | [no _]]; contradiction.
  - rewrite Es, Ek. split; [assumption |]. split; [assumption |]. intros c Ic E. destruct (none c Ic E).
Qed.

Lemma data_opens m : In m messages -> In (Post (src m) (skey m)) h ->
  (forall l, In l messages -> rkey l = rkey m -> dst l = dst m -> ahead l = None -> In (Open l) h) ->
  In (Open m) h.
Proof.
  intros I Q O. destruct (ahead m) as [l |] eqn:A; [| auto].
  destruct (proj2 (proj2 W) m l I A) as [Il [Al [_ [Ed [_ [Er _]]]]]].
  apply stuck. split; [| split; [split; [apply all_events_in, I |] | exact Logic.I]].
  - intros J. apply (all_opened L m I) in J. congruence.
  - intros l' A'. assert (l' = l) by congruence. subst l'. apply (lengths_come m); auto.
Qed.

Lemma wait_key r e k : In e (plan r) -> waits_for e = Some k -> In k (flat_map step_keys ranks).
Proof.
  intros J E. apply (own L) in J as [_ V]. rewrite all_events_in in V. apply in_flat_map.
  destruct e as [| | | w | m | m]; try discriminate; injection E as <-;
    [exists (dst (of w)); assert (Im : In (of w) messages) by (apply W; exact V); split; apply W, Im
    | exists (src m); split; apply W, V | exists (dst m); split; apply W, V].
Qed.

(* No rank waits for ever. Of all waiting ranks, take one that waits for the lowest key. *)
Lemma nobody_waits : forall k, In k (flat_map step_keys ranks) ->
  forall r l e l', plan r = l ++ e :: l' -> incl l h -> ~ In e h -> waits_for e = Some k -> False.
Proof.
  apply (ascending _ (fun k => forall r l e l', plan r = l ++ e :: l' -> incl l h -> ~ In e h ->
                               waits_for e = Some k -> False)).
  intros k IH _ r l e l' S I N K.
  assert (past : forall e', planned e' -> waits_for e' = None ->
            match e' with Post _ k' => k' <= k | Open m => rkey m <= k | Read c => skey (of c) <= k | _ => False end ->
            In e' h).
  { intros e' J nw le. destruct (first_missing h (plan (owner e'))) as [all | [l1 [e0 [l2 [S0 [I0 N0]]]]]].
    { apply all, J. }
    assert (J0 : In e0 (plan (owner e'))) by (rewrite S0; apply in_elt).
    destruct (waits_for e0) as [k0 |] eqn:E0; [| destruct N0; eapply no_wait; eassumption].
    destruct (Z_lt_ge_dec k0 k) as [lt | ge].
    - exfalso. apply (IH k0 lt) with (r := owner e') (l := l1) (e := e0) (l' := l2); auto.
      eapply wait_key; eassumption.
    - apply I0. apply (posted_by_key L (owner e') e0 k0 J0 E0 e' J) with (l' := l2).
      + destruct e'; try exact le; lia.
      + destruct (own L _ _ J0) as [-> _]. exact S0. }
  assert (posted : forall m, In m messages -> rkey m = k -> In (Post (src m) (skey m)) h).
  { intros m Im E. apply past; [| reflexivity |].
    - apply (all_posted L); apply W, Im.
    - rewrite (M m Im), E. lia. }
  assert (opened : forall m, In m messages -> rkey m = k -> In (Open m) h).
  { intros m Im E. apply data_opens; [assumption | auto |]. intros m' Im' E' _ A'.
    apply past; [apply (all_opened L); assumption | reflexivity | lia]. }
  assert (J : In e (plan r)) by (rewrite S; apply in_elt). destruct (own L r e J) as [O V].
  assert (T : in_turn h e) by (intros _; exists l, l'; split; [congruence | assumption]).
  rewrite all_events_in in V. pose proof V as V'. rewrite <- all_events_in in V'.
  assert (read : forall c, In c pieces -> rkey (of c) = k -> In (Read c) h).
  { intros c Ic E. assert (Im : In (of c) messages) by (apply W; assumption).
    destruct (in_dec event_dec (Read c) (plan (src (of c)))) as [y | no].
    - apply past; [exact y | reflexivity |]. rewrite (M _ Im). lia.
    - apply stuck. split; [intros y; contradiction |]. split; [split; [apply all_events_in, Ic |] |]; right; auto. }
  apply N. apply stuck. split; [assumption |]. split; [split; [assumption |] |].
  - destruct e as [| | | w | m | m]; try discriminate; injection K as K.
    + split; [apply read | apply opened]; auto. apply W, V.
    + rewrite (M m V) in K. split; [auto |]. intros c Ic E. apply read; congruence.
    + split; [auto |]. split; [auto |]. intros c Ic E. destruct (straight (of c)) as [a |] eqn:d.
      * apply stuck. split; [| split; [split; [apply all_events_in, Ic |] | exact Logic.I]].
        -- intros y. apply (all_put_away L c Ic) in y. congruence.
        -- split; [apply read | apply opened]; congruence.
      * destruct (puts_away L c Ic d) as [_ [s _]]. apply I. eapply s. rewrite E, O. exact S.
  - destruct e as [| | | w | m | m]; try discriminate; try exact Logic.I. injection K as K.
    apply opened; [assumption | rewrite <- M; assumption].
Qed.

Theorem plans_are_done r : incl (plan r) h.
Proof.
  destruct (first_missing h (plan r)) as [? | [l [e [l' [S [I N]]]]]]; [assumption | exfalso].
  destruct (waits_for e) as [k |] eqn:K; [| apply N; eapply no_wait; eassumption].
  apply (nobody_waits k) with (r := r) (l := l) (e := e) (l' := l'); auto.
  apply (wait_key r e); [rewrite S; apply in_elt | exact K].
Qed.

Theorem run_ends : final_state h.
Proof.
  intros r k Ir Ik. split; [split |].
  - apply (plans_are_done r). exact (all_posted L r k Ir Ik).
  - intros m Im D K. destruct (all_received L m Im) as [[[m' [Im' A]] _] | [_ Q]].
    + destruct (proj2 (proj2 W) m' m Im' A) as [_ [Am _]]. apply (lengths_come m'); auto.
      * apply (plans_are_done (src m')). apply (all_posted L); apply W, Im'.
      * apply (plans_are_done (dst m)). apply (all_opened L); assumption.
    + exact (plans_are_done _ _ Q).
  - intros m Im S K. exact (plans_are_done _ _ (all_sent L m Im)).
Qed.
End Stuck.
End Runtime.
