(* The messages that travel differ a little from those of the program. A message without pieces may vanish at both ends.
   If the receiver does not know the lengths of a message, they travel ahead as a message of their own. The result is
   again a program with the same pieces, so with the same obligations. *)
From Coq Require Import List ZArith Bool.
From Quadrille Require Import Model.
Import ListNotations.

Section Travel.
Context {P : program}.
Variable vanishes sized : message -> bool.   (* a message that vanishes has no pieces: both ends know that *)

Inductive parcel := Lengths (m : message) | Data (m : message).
Definition content (m : parcel) := match m with Lengths m => m | Data m => m end.

Definition parcel_dec (a b : parcel) : {a = b} + {a <> b}.
Proof. decide equality; apply message_dec. Defined.

Definition is_of (m : message) (c : piece) : bool := if message_dec (of c) m then true else false.
Definition travel : list message := filter (fun m => negb (vanishes m) || existsb (is_of m) pieces) messages.

Definition travelling : program := {|
  Model.rank := rank;  Model.place := place;  Model.message := parcel;  Model.piece := piece;
  Model.rank_dec := rank_dec;  Model.place_dec := place_dec;  Model.message_dec := parcel_dec;
  Model.piece_dec := piece_dec;
  Model.ranks := ranks;  Model.step_keys := step_keys;  Model.after := after;
  Model.messages := map Data travel ++ map Lengths (filter sized travel);
  Model.src := fun m => src (content m);  Model.dst := fun m => dst (content m);
  Model.skey := fun m => skey (content m);  Model.rkey := fun m => rkey (content m);
  Model.ahead := fun m => match m with Data m => if sized m then Some (Lengths m) else None | _ => None end;
  Model.straight := fun m => match m with Data m => straight m | _ => None end;
  Model.pieces := pieces;  Model.of := fun c => Data (of c);  Model.from := from;  Model.to := to;
  Model.combines := combines;  Model.turn := turn |}.

Lemma travelling_in (m : parcel) : In m (@messages travelling) ->
  In (content m) travel /\ (m = Data (content m) \/ sized (content m) = true).
Proof.
  intros I. apply in_app_iff in I as [I | I]; apply in_map_iff in I as [x [<- I]]; [auto |].
  apply filter_In in I. tauto.
Qed.

Lemma travelling_well_formed : @well_formed P -> @well_formed travelling.
Proof.
  intros [Wm [Wp _]]. split; [| split].
  - intros m I. apply travelling_in in I as [I _]. apply filter_In in I as [I _]. exact (Wm _ I).
  - intros c I. apply in_app_iff. left. apply (in_map Data). apply filter_In. split; [apply Wp, I |].
    apply orb_true_iff. right. apply existsb_exists. exists c. split; [exact I |]. unfold is_of.
    destruct (message_dec _ _); [reflexivity | contradiction].
  - intros m l I A. destruct m as [m | m]; simpl in A; [discriminate |].
    destruct (sized m) eqn:S; [| discriminate]. injection A as <-.
    apply travelling_in in I as [I _].
    split; [| repeat split; discriminate]. apply in_app_iff. right. apply in_map, filter_In. auto.
Qed.

Lemma travelling_keys_meet : @keys_meet P -> @keys_meet travelling.
Proof. intros M m I. apply travelling_in in I as [I _]. apply filter_In in I as [I _]. exact (M _ I). Qed.
End Travel.
