(* Programs as lists of steps, whose messages match in order: the t-th send of one rank to another and the t-th receive
   there. By `keys` and `match` both ends of a message have one key and the same number of pieces. *)
From Coq Require Import List ZArith Lia Bool Sorted.
From Quadrille Require Import Model Progress.
Import ListNotations. Open Scope Z_scope.

Section Lists.
Variables rank place : Type.
Variable rank_dec : forall a b : rank, {a = b} + {a <> b}.
Variable place_dec : forall a b : place, {a = b} + {a <> b}.
Variable nowhere : place.
Variable ranks : list rank.

(* A message is a peer and a list of places, which are read or written in that order. *)
Record step := { key : Z; waits : Z; sends : list (rank * list place); receives : list (rank * list place) }.

Variable steps : rank -> list step.

(* Obligation `keys`: keys strictly increase at a rank. *)
Definition keys := forall r, In r ranks -> StronglySorted (fun s s' => key s < key s') (steps r).

(* The peer has such a message in a step with the same key, with the same number of places. *)
Definition meets (one other : step -> list (rank * list place)) :=
  forall r s q l, In r ranks -> In s (steps r) -> In (q, l) (one s) ->
  In q ranks /\ exists s' l', In s' (steps q) /\ key s' = key s /\ In (r, l') (other s') /\ length l' = length l.

(* Obligation `match`: a step has at most one message in each direction between two ranks. Each send has its receive, and
   each receive its send. *)
Definition match_ :=
  (forall r s, In r ranks -> In s (steps r) -> NoDup (map fst (sends s)) /\ NoDup (map fst (receives s))) /\
  meets sends receives /\ meets receives sends.

(* The messages from r to q in order: their keys and places. *)
Definition to_peer (q : rank) (m : rank * list place) := if rank_dec (fst m) q then true else false.
Definition traffic (way : step -> list (rank * list place)) (q : rank) (l : list step) :=
  flat_map (fun s => map (fun m => (key s, snd m)) (filter (to_peer q) (way s))) l.
Definition sent r q := traffic sends q (steps r).
Definition received r q := traffic receives q (steps r).

Lemma traffic_in way q l k p :
  In (k, p) (traffic way q l) <-> exists s, In s l /\ key s = k /\ In (q, p) (way s).
Proof.
  unfold traffic. rewrite in_flat_map. split.
  - intros [s [I J]]. apply in_map_iff in J as [[q' p'] [[= <- <-] F]].
    apply filter_In in F as [F E]. unfold to_peer in E. simpl in E.
    destruct (rank_dec q' q) as [-> | n]; [| discriminate]. exists s. auto.
  - intros [s [I [<- J]]]. exists s. split; [assumption |]. apply in_map_iff. exists (q, p).
    split; [reflexivity |]. apply filter_In. split; [assumption |]. unfold to_peer. simpl.
    destruct (rank_dec q q); [reflexivity | contradiction].
Qed.

Lemma one_to_peer q (l : list (rank * list place)) : NoDup (map fst l) ->
  filter (to_peer q) l = [] \/ exists m, filter (to_peer q) l = [m].
Proof.
  induction l as [| [x p] l IH]; intros N; [auto |]. simpl in N. inversion N as [| ? ? A B]; subst.
  change (filter (to_peer q) ((x, p) :: l)) with
    (if (if rank_dec x q then true else false) then (x, p) :: filter (to_peer q) l else filter (to_peer q) l).
  destruct (rank_dec x q) as [-> | n]; [| auto].
  right. exists (q, p). f_equal. destruct (filter (to_peer q) l) as [| [y p'] l'] eqn:F; [reflexivity |].
  assert (J : In (y, p') (filter (to_peer q) l)) by (rewrite F; left; reflexivity).
  apply filter_In in J as [J E]. unfold to_peer in E. simpl in E.
  destruct (rank_dec y q) as [-> | n]; [| discriminate]. destruct A. apply (in_map fst) in J. exact J.
Qed.

(* The keys of the messages between two ranks strictly increase. *)
Lemma traffic_increases way q l :
  StronglySorted (fun s s' => key s < key s') l -> (forall s, In s l -> NoDup (map fst (way s))) ->
  StronglySorted (fun a b => fst a < fst b) (traffic way q l).
Proof.
  induction l as [| s l IH]; intros S N; [constructor |]. inversion S as [| ? ? S' F]; subst.
  assert (T : StronglySorted (fun a b => fst a < fst b) (traffic way q l))
    by (apply IH; [assumption | intros; apply N; right; assumption]).
  change (traffic way q (s :: l)) with
    (map (fun m => (key s, snd m)) (filter (to_peer q) (way s)) ++ traffic way q l).
  destruct (one_to_peer q (way s) (N s (or_introl eq_refl))) as [-> | [m ->]]; [exact T |].
  simpl. constructor; [exact T |]. apply Forall_forall. intros [k p] I.
  apply traffic_in in I as [s' [I [<- _]]]. simpl. rewrite Forall_forall in F. auto.
Qed.

(* Two such lists are equal if each contains the elements of the other. *)
Lemma same_sorted (a b : list (Z * nat)) :
  StronglySorted (fun x y => fst x < fst y) a -> StronglySorted (fun x y => fst x < fst y) b ->
  (forall x, In x a -> In x b) -> (forall x, In x b -> In x a) -> a = b.
Proof.
  revert b. induction a as [| x a IH]; intros [| y b] Sa Sb AB BA.
  - reflexivity.
  - destruct (BA y (or_introl eq_refl)).
  - destruct (AB x (or_introl eq_refl)).
  - inversion Sa as [| ? ? Sa' Fa]; inversion Sb as [| ? ? Sb' Fb]; subst.
    rewrite Forall_forall in Fa, Fb. assert (x = y).
    { destruct (AB x (or_introl eq_refl)) as [E | I]; [auto |].
      destruct (BA y (or_introl eq_refl)) as [E | J]; [auto |].
      specialize (Fa y J). specialize (Fb x I). lia. }
    subst y. f_equal. apply IH; auto.
    + intros z I. destruct (AB z (or_intror I)) as [<- | J]; [specialize (Fa x I); lia | assumption].
    + intros z I. destruct (BA z (or_intror I)) as [<- | J]; [specialize (Fb x I); lia | assumption].
Qed.

Definition shape (m : Z * list place) : Z * nat := (fst m, length (snd m)).

Lemma shape_increases l : StronglySorted (fun a b : Z * list place => fst a < fst b) l ->
  StronglySorted (fun a b => fst a < fst b) (map shape l).
Proof.
  induction 1 as [| m l S IH F]; [constructor |]. simpl. constructor; [exact IH |].
  rewrite Forall_forall in *. intros x I. apply in_map_iff in I as [y [<- I]]. simpl. auto.
Qed.

Lemma met one other r q : meets one other -> In r ranks -> forall x,
  In x (map shape (traffic one q (steps r))) -> In x (map shape (traffic other r (steps q))).
Proof.
  intros M R x I. apply in_map_iff in I as [[k p] [<- I]]. apply traffic_in in I as [s [I [<- J]]].
  destruct (M r s q p R I J) as [_ [s' [l' [I' [E [J' L]]]]]].
  apply in_map_iff. exists (key s', l'). unfold shape. simpl. split; [congruence |].
  apply traffic_in. exists s'. auto.
Qed.

(* The t-th send of r to q and the t-th receive of q from r have one key and the same number of places. *)
Theorem in_order r q : keys -> match_ -> In r ranks -> In q ranks -> map shape (sent r q) = map shape (received q r).
Proof.
  intros K [O [M M']] R Q. apply same_sorted.
  - apply shape_increases, traffic_increases; [apply K; assumption |]. intros s I. apply (O r s R I).
  - apply shape_increases, traffic_increases; [apply K; assumption |]. intros s I. apply (O q s Q I).
  - apply met; assumption.
  - apply met; assumption.
Qed.

(* -- As a program --------------------------------------------------------------------------------- *)

(* The t-th message of a rank to another, and the i-th place of that message. *)
Definition message_id := (rank * rank * nat)%type.
Definition piece_id := (message_id * nat)%type.
Definition send_of (m : message_id) := let '(r, q, t) := m in nth t (sent r q) (0, []).
Definition receive_of (m : message_id) := let '(r, q, t) := m in nth t (received q r) (0, []).
Definition waits_of r k :=
  match find (fun s => key s =? k) (steps r) with Some s => waits s | None => 0 end.
Definition all_messages : list message_id :=
  flat_map (fun r => flat_map (fun q => map (pair (r, q)) (seq 0 (length (sent r q)))) ranks) ranks.
Definition all_pieces : list piece_id :=
  flat_map (fun m => map (pair m) (seq 0 (length (snd (send_of m))))) all_messages.

(* What does not affect the matching of messages. *)
Variable straight : message_id -> option Z.
Variable combines : piece_id -> option side.
Variable turn : piece_id -> Z.

Definition pair_dec {A B} (a : forall x y : A, {x = y} + {x <> y}) (b : forall x y : B, {x = y} + {x <> y}) :
  forall x y : A * B, {x = y} + {x <> y}.
Proof. decide equality. Defined.
Definition message_id_dec := pair_dec (pair_dec rank_dec rank_dec) Nat.eq_dec.

Definition by_order : program := {|
  Model.rank := rank; Model.place := place; Model.message := message_id; Model.piece := piece_id;
  Model.rank_dec := rank_dec; Model.place_dec := place_dec; Model.message_dec := message_id_dec;
  Model.piece_dec := pair_dec message_id_dec Nat.eq_dec;
  Model.ranks := ranks;
  Model.step_keys := fun r => map key (steps r);
  Model.after := waits_of;
  Model.messages := all_messages;
  Model.src := fun m => fst (fst m); Model.dst := fun m => snd (fst m);
  Model.skey := fun m => fst (send_of m); Model.rkey := fun m => fst (receive_of m);
  Model.ahead := fun _ => None;  Model.straight := straight;
  Model.pieces := all_pieces; Model.of := fst;
  Model.from := fun c => nth (snd c) (snd (send_of (fst c))) nowhere;
  Model.to := fun c => nth (snd c) (snd (receive_of (fst c))) nowhere;
  Model.combines := combines;  Model.turn := turn |}.

Lemma message_in r q t :
  In (r, q, t) all_messages <-> In r ranks /\ In q ranks /\ (t < length (sent r q))%nat.
Proof.
  unfold all_messages. rewrite in_flat_map. split.
  - intros [r' [R I]]. apply in_flat_map in I as [q' [Q I]].
    apply in_map_iff in I as [t' [[= -> -> ->] I]]. apply in_seq in I. repeat split; auto; lia.
  - intros [R [Q L]]. exists r. split; [assumption |]. apply in_flat_map. exists q.
    split; [assumption |]. apply in_map. apply in_seq. lia.
Qed.

Lemma piece_in m i : In (m, i) all_pieces <-> In m all_messages /\ (i < length (snd (send_of m)))%nat.
Proof.
  unfold all_pieces. rewrite in_flat_map. split.
  - intros [m' [M I]]. apply in_map_iff in I as [i' [[= -> ->] I]]. apply in_seq in I.
    split; [assumption | lia].
  - intros [M L]. exists m. split; [assumption |]. apply in_map, in_seq. lia.
Qed.

Section Matched.
Hypothesis K : keys.
Hypothesis M : match_.

Lemma both_ends m : In m all_messages -> shape (send_of m) = shape (receive_of m).
Proof.
  destruct m as [[r q] t]. intros I. apply message_in in I as [R [Q _]].
  unfold send_of, receive_of. rewrite <- !(map_nth shape), (in_order r q K M R Q). reflexivity.
Qed.

(* The send and the receive of a message are in steps of its ranks. *)
Lemma stands_in m : In m all_messages ->
  (exists s, In s (steps (fst (fst m))) /\ key s = fst (send_of m) /\
             In (snd (fst m), snd (send_of m)) (sends s)) /\
  (exists s, In s (steps (snd (fst m))) /\ key s = fst (receive_of m) /\
             In (fst (fst m), snd (receive_of m)) (receives s)).
Proof.
  destruct m as [[r q] t]. intros I. apply message_in in I as [R [Q L]]. simpl. split; apply traffic_in;
    rewrite <- surjective_pairing; apply nth_In; [exact L |].
  rewrite <- (map_length shape). change (traffic receives r (steps q)) with (received q r).
  rewrite <- (in_order r q K M R Q), map_length. exact L.
Qed.

Lemma by_order_well_formed : @well_formed by_order.
Proof.
  split; [| split; [| discriminate]].
  - intros m I. destruct (stands_in m I) as [[s [S [E _]]] [s' [S' [E' _]]]]. simpl.
    destruct m as [[r q] t]. apply message_in in I as [R [Q _]]. simpl in *. rewrite <- E, <- E'.
    repeat split; auto using in_map.
  - intros [m i] I. apply piece_in in I. apply I.
Qed.

Lemma keys_of_both_ends : @keys_meet by_order.
Proof. intros m I. exact (f_equal fst (both_ends m I)). Qed.
End Matched.

End Lists.
