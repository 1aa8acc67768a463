(* An abstract program, and its executions. Nothing is proven here. *)
From Coq Require Import List ZArith.
Import ListNotations. Open Scope Z_scope.

(* The side on which arriving data stands when it is combined: arrived op local, or local op arrived. *)
Inductive side := Left | Right.

(* A program for a finite number of ranks. A step is a rank and a key. A message joins a send, in step (src, skey), and
   a receive, in step (dst, rkey); Order.v says which. A copy, or a reduction from block to block, is a message of a
   step to itself. A copy outside steps is a step of its own. A place is a byte, or an element if the collective
   reduces. A piece is one byte or element too: it is read at one place of the sender and written to one place of the
   receiver. So an empty piece of the language is no piece here. *)
Class program := {
  rank : Type;  place : Type;  message : Type;  piece : Type;
  rank_dec : forall a b : rank, {a = b} + {a <> b};
  place_dec : forall a b : place, {a = b} + {a <> b};
  message_dec : forall a b : message, {a = b} + {a <> b};
  piece_dec : forall a b : piece, {a = b} + {a <> b};
  ranks : list rank;
  step_keys : rank -> list Z;
  after : rank -> Z -> Z;          (* the step waits for this rank's earlier steps with key <= after *)
  messages : list message;
  src : message -> rank;  dst : message -> rank;
  skey : message -> Z;  rkey : message -> Z;
  ahead : message -> option message;  (* the message with its lengths, if they travel ahead *)
  straight : message -> option Z;  (* Some a: posted straight into its place once the receiver's
                                      earlier steps with key <= a are complete; None: received into a
                                      buffer, from which its pieces are delivered in order *)
  pieces : list piece;
  of : piece -> message;
  from : piece -> place;  to : piece -> place;
  combines : piece -> option side; (* with the contents of the place; None: it replaces them *)
  turn : piece -> Z                (* its position among the pieces that its step receives *)
}.

Section Executions.
Context {P : program}.

(* The places that a piece reads and writes. *)
Definition reads (c : piece) (r : rank) (p : place) := src (of c) = r /\ from c = p.
Definition writes (w : piece) (r : rank) (p : place) := dst (of w) = r /\ to w = p.

(* The order of writes at a rank: of steps, and in a step of statements. *)
Definition before (w' w : piece) :=
  rkey (of w') < rkey (of w) \/ (rkey (of w') = rkey (of w) /\ turn w' < turn w).

(* The events, one at a time. Post: the sends of a step are posted. Open: a receive is posted. Sent and Received: the
   send, or the receive, is complete at its rank. *)
Inductive event :=
| Post (r : rank) (k : Z)
| Open (m : message)
| Read (c : piece)
| Write (c : piece)
| Sent (m : message)
| Received (m : message).

(* The events so far, the latest first. This is the state; all else is computed from it. *)
Definition history := list event.

(* A step has received all. It is complete once its sends are complete too. *)
Definition arrived (h : history) (r : rank) (k : Z) :=
  In (Post r k) h /\ (forall m, In m messages -> dst m = r -> rkey m = k -> In (Received m) h).
Definition complete (h : history) (r : rank) (k : Z) :=
  arrived h r k /\ (forall m, In m messages -> src m = r -> skey m = k -> In (Sent m) h).

(* This rank's steps before k with keys <= a have received all. *)
Definition up_to (so_far : rank -> Z -> Prop) (r : rank) (k a : Z) :=
  forall k', In k' (step_keys r) -> k' < k -> k' <= a -> so_far r k'.

(* A window, or another rule that delays posts. It must let a step go once all earlier steps are complete. *)
Definition policy := history -> rank -> Z -> Prop.
Definition lawful (may_post : policy) :=
  forall h r k, (forall k', In k' (step_keys r) -> k' < k -> complete h r k') -> may_post h r k.

(* What may happen, in any MPI library. A send may complete before its receive is posted. Reads and writes happen piece
   by piece. A receive may be posted long before its step. Data is delivered from a buffer once its step and earlier
   ones have read their pieces there, and all earlier writes are done. *)
Definition enabled (may_post : policy) (h : history) (e : event) : Prop :=
  match e with
  | Post r k => In r ranks /\ In k (step_keys r) /\
                (forall k', In k' (step_keys r) -> k' < k -> In (Post r k') h) /\
                up_to (arrived h) r k (after r k) /\ may_post h r k
  | Open m => In m messages /\
              (forall l, ahead m = Some l -> In (Received l) h) /\
              (forall a, straight m = Some a -> up_to (complete h) (dst m) (rkey m) a)
  | Read c => In c pieces /\ In (Post (src (of c)) (skey (of c))) h
  | Write w => In w pieces /\ In (Read w) h /\ In (Open (of w)) h /\
               (straight (of w) = None ->
                  In (Post (dst (of w)) (rkey (of w))) h /\
                  (forall c, In c pieces -> reads c (dst (of w)) (to w) -> skey (of c) <= rkey (of w) ->
                             In (Read c) h) /\
                  (forall w', In w' pieces -> writes w' (dst (of w)) (to w) -> before w' w ->
                              In (Write w') h))
  | Sent m => In m messages /\ In (Post (src m) (skey m)) h /\
              (forall c, In c pieces -> of c = m -> In (Read c) h)
  | Received m => In m messages /\ In (Post (src m) (skey m)) h /\ In (Open m) h /\
                  (forall c, In c pieces -> of c = m -> In (Write c) h)
  end.

(* What must be able to happen with no buffering at all. Before its receive is posted, MPI reads nothing of a message and
   completes no send. No receive is posted before its step. *)
Definition unbuffered (may_post : policy) (h : history) (e : event) : Prop :=
  enabled may_post h e /\
  match e with
  | Open m => In (Post (dst m) (rkey m)) h
  | Read c => In (Open (of c)) h
  | Sent m => In (Open m) h
  | _ => True
  end.

Inductive execution (may_post : policy) : history -> Prop :=
| start : execution may_post []
| next e h : execution may_post h -> ~ In e h -> enabled may_post h e -> execution may_post (e :: h).

(* Every step of every rank is complete. *)
Definition final_state (h : history) := forall r k, In r ranks -> In k (step_keys r) -> complete h r k.

(* The steps of a message are steps of its ranks. The message of a piece exists. Lengths travel in the same step and
   between the same ranks, and are in no place. *)
Definition well_formed :=
  (forall m, In m messages -> In (src m) ranks /\ In (skey m) (step_keys (src m)) /\
                              In (dst m) ranks /\ In (rkey m) (step_keys (dst m))) /\
  (forall c, In c pieces -> In (of c) messages) /\
  (forall m l, In m messages -> ahead m = Some l ->
     In l messages /\ ahead l = None /\ src l = src m /\ dst l = dst m /\ skey l = skey m /\
     rkey l = rkey m /\ forall c, In c pieces -> of c <> l).

(* Both ends of a message have one key. *)
Definition keys_meet := forall m, In m messages -> skey m = rkey m.

Section Values.
Context {V : Type}.
Variable op : V -> V -> V.
Variable init : rank -> place -> V.

(* The contents of a place after a piece has arrived there. *)
Definition combined (s : option side) (arrived there : V) : V :=
  match s with None => arrived | Some Left => op arrived there | Some Right => op there arrived end.

(* The contents of a place, and what a piece has read and carries. *)
Fixpoint store (h : history) (r : rank) (p : place) : V :=
  match h with
  | [] => init r p
  | Write w :: h' =>
      if rank_dec (dst (of w)) r
      then if place_dec (to w) p then combined (combines w) (moved h' w) (store h' r p) else store h' r p
      else store h' r p
  | _ :: h' => store h' r p
  end
with moved (h : history) (c : piece) : V :=
  match h with
  | [] => init (src (of c)) (from c)
  | Read c' :: h' => if piece_dec c' c then store h' (src (of c)) (from c) else moved h' c
  | _ :: h' => moved h' c
  end.
End Values.
End Executions.
