(* What is asked of a program: each definition has the name of the obligation in verifier/prove that asks it.
   `keys` and `match`, which pair sends with receives, stand in Order.v. *)
From Coq Require Import List ZArith.
From Quadrille Require Import Model Spans.
Import ListNotations. Open Scope Z_scope.

Section Obligations.
Context {P : program} {part V : Type}.
Variable n : nat.                             (* contributors *)
Variable op : V -> V -> V.

(* What the collective says: which spans the places hold at the beginning, and which are asked for. *)
Variable holds required : rank -> place -> span part -> Prop.

(* What the proof says. Of a piece: what it brings, what it finds where it is combined, what it leaves there. *)
Variable carries finds leaves : piece -> span part.
(* And the write that put there what is read, or what it is combined with; None: it was there from the beginning. *)
Variable source base : piece -> option piece.

(* A place holds that span, by that write, of which more is known. *)
Definition held_by (o : option piece) (r : rank) (p : place) (s : span part) (more : piece -> Prop) :=
  match o with
  | None => holds r p s
  | Some w => In w pieces /\ writes w r p /\ leaves w = s /\ more w
  end.

(* What is read, or combined with, was put there: by a step for which the reading step waits, or before. *)
Definition held :=
  (forall c, In c pieces -> held_by (source c) (src (of c)) (from c) (carries c) (fun w =>
     saved c = false /\ rkey (of w) < skey (of c) /\ rkey (of w) <= after (src (of c)) (skey (of c)))) /\
  (forall w, In w pieces -> combines w <> None ->
     held_by (base w) (dst (of w)) (to w) (finds w) (fun b => before b w)).

(* Every other write of that place leaves the same, or comes no earlier than the read, or is before the named
   one; and where something is combined with what is there, one or the other of the last two. *)
Definition apart :=
  (forall c w, In c pieces -> In w pieces -> writes w (src (of c)) (from c) -> source c <> Some w ->
     leaves w = carries c \/ saved c = true \/ skey (of c) <= rkey (of w) \/
     exists v, source c = Some v /\ before w v) /\
  (forall c w, In c pieces -> In w pieces -> writes w (dst (of c)) (to c) -> combines c <> None ->
     w <> c -> base c <> Some w -> before c w \/ exists v, base c = Some v /\ before w v).

(* What is left where something is combined: the span of both, which are adjacent on the stated side, or on
   either if the operator is commutative. Else what arrives is left. *)
Definition combine :=
  forall w, In w pieces ->
  match combines w with
  | None => leaves w = carries w
  | Some s =>
      ((s = Left \/ commutative op) /\ adjacent n (carries w) (finds w) (leaves w)) \/
      ((s = Right \/ commutative op) /\ adjacent n (finds w) (carries w) (leaves w))
  end.

(* What is required of a place is what its last write leaves; or it is there from the beginning. *)
Definition final :=
  forall r p s, required r p s ->
  exists s', amount_to n op s' s /\
  ((exists w, In w pieces /\ writes w r p /\ leaves w = s' /\
      forall w', In w' pieces -> writes w' r p -> w' <> w -> leaves w' = s' \/ before w' w) \/
   (holds r p s' /\ forall w, In w pieces -> writes w r p -> leaves w = s')).

(* Nothing is written where it is already. *)
Definition once :=
  forall w r p, In w pieces -> writes w r p ->
  ~ holds r p (leaves w) /\ forall w', In w' pieces -> writes w' r p -> w' <> w -> leaves w' <> leaves w.

(* Where a receive is posted before its step, at a time when only steps up to some key are complete, later steps
   up to its own neither read nor write what it writes, and it is not combined with it. *)
Definition posted_early :=
  forall w a, In w pieces -> straight (of w) = Some a ->
  combines w = None /\
  (forall c, In c pieces -> reads c (dst (of w)) (to w) -> saved c = false -> skey (of c) <= rkey (of w) ->
     skey (of c) < rkey (of w) /\ skey (of c) <= a) /\
  (forall w', In w' pieces -> writes w' (dst (of w)) (to w) -> w' <> w -> ~ before w w' ->
     rkey (of w') < rkey (of w) /\ rkey (of w') <= a).

End Obligations.
