(* The obligations of a program. Each definition has the name of the obligation in verifier/prove that checks it.
   `keys` and `match`, which pair sends with receives, are in Order.v. *)
From Coq Require Import List ZArith.
From Quadrille Require Import Model Spans.
Import ListNotations. Open Scope Z_scope.

Section Obligations.
Context {P : program} {part V : Type}.
Variable op : V -> V -> V.

(* The collective: the spans that the places hold at the beginning, and the spans that are required. *)
Variable holds required : rank -> place -> span part -> Prop.

(* The claims of the proof for a piece: what it carries, what it is combined with, what it leaves in its place. *)
Variable carries finds leaves : piece -> span part.
(* The write that left what the piece reads, or what it is combined with. None: it was there from the beginning. *)
Variable source base : piece -> option piece.

(* The place holds that span, left by that write, with the claims for it. *)
Definition held_by (o : option piece) (r : rank) (p : place) (s : span part) (more : piece -> Prop) :=
  match o with
  | None => holds r p s
  | Some w => In w pieces /\ writes w r p /\ leaves w = s /\ more w
  end.

(* A step for which the reading step waits, or an earlier write, left what is read or combined with. *)
Definition held :=
  (forall c, In c pieces -> held_by (source c) (src (of c)) (from c) (carries c) (fun w =>
     rkey (of w) < skey (of c) /\ rkey (of w) <= after (src (of c)) (skey (of c)))) /\
  (forall w, In w pieces -> combines w <> None ->
     held_by (base w) (dst (of w)) (to w) (finds w) (fun b => before b w)).

(* Every other write of that place leaves the same, or comes no earlier than the read, or precedes the named write. For a
   place that is combined with, only the last two are allowed. *)
Definition apart :=
  (forall c w, In c pieces -> In w pieces -> writes w (src (of c)) (from c) -> source c <> Some w ->
     leaves w = carries c \/ skey (of c) <= rkey (of w) \/
     exists v, source c = Some v /\ before w v) /\
  (forall c w, In c pieces -> In w pieces -> writes w (dst (of c)) (to c) -> combines c <> None ->
     w <> c -> base c <> Some w -> before c w \/ exists v, base c = Some v /\ before w v).

(* Combining leaves the span of both operands. They are adjacent on the stated side. If the operator is commutative, they
   are adjacent on either side, or have no contributor in common. Otherwise the arriving data is left. *)
Definition combine :=
  forall w, In w pieces ->
  match combines w with
  | None => leaves w = carries w
  | Some s =>
      ((s = Left \/ commutative op) /\ adjacent (carries w) (finds w) (leaves w)) \/
      ((s = Right \/ commutative op) /\ adjacent (finds w) (carries w) (leaves w)) \/
      (commutative op /\ joined (carries w) (finds w) (leaves w))
  end.

(* In a program that claims canonical sums, the operands are the sides of a canonical tree. *)
Definition canonical :=
  forall w, In w pieces ->
  match combines w with
  | None => leaves w = carries w
  | Some Left => sides (carries w) (finds w) (leaves w)
  | Some Right => sides (finds w) (carries w) (leaves w)
  end.

(* The last write of a required place leaves what is required; or it is there from the beginning. *)
Definition final_as (same : span part -> span part -> Prop) :=
  forall r p s, required r p s ->
  exists s', same s' s /\
  ((exists w, In w pieces /\ writes w r p /\ leaves w = s' /\
      forall w', In w' pieces -> writes w' r p -> w' <> w -> leaves w' = s' \/ before w' w) \/
   (holds r p s' /\ forall w, In w pieces -> writes w r p -> leaves w = s')).

Definition final := final_as (amount_to op).

(* Nothing is received straight where it already is. *)
Definition once :=
  forall w r p, In w pieces -> writes w r p -> straight (of w) <> None ->
  ~ holds r p (leaves w) /\ forall w', In w' pieces -> writes w' r p -> w' <> w -> leaves w' <> leaves w.

(* If a receive is posted before its step, when only steps up to some key are complete: no later step up to its own
   reads or writes its place, and it does not combine. *)
Definition posted_early :=
  forall w a, In w pieces -> straight (of w) = Some a ->
  combines w = None /\
  (forall c, In c pieces -> reads c (dst (of w)) (to w) -> skey (of c) <= rkey (of w) ->
     skey (of c) < rkey (of w) /\ skey (of c) <= a) /\
  (forall w', In w' pieces -> writes w' (dst (of w)) (to w) -> w' <> w -> ~ before w w' ->
     rkey (of w') < rkey (of w) /\ rkey (of w') <= a).

End Obligations.
