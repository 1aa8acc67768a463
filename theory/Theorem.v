(* The theorem. A program is the steps of each rank, once its expressions have values. The obligation `defined` says that
   they have values, and `port` that a rank has no more partners at a time than the network has ports. Neither says
   anything about what arrives. *)
From Coq Require Import List ZArith.
From Quadrille Require Import Model Spans Obligations Order Travel Progress Values Runtime.
Import ListNotations.

Section Statement.
(* The program and the contributions. *)
Variables rank place part V : Type.
Variable rank_dec : forall a b : rank, {a = b} + {a <> b}.
Variable place_dec : forall a b : place, {a = b} + {a <> b}.
Variable nowhere : place.
Variable ranks : list rank.
Variable steps : rank -> list (step rank place).
Variable straight : message_id rank -> option Z.
Variable combines : piece_id rank -> option side.
Variable turn : piece_id rank -> Z.
Variables vanishes sized : message_id rank -> bool.
Variable contribution : part -> Z -> V.
Variable op : V -> V -> V.
Variable nothing : V.
Variables holds required : rank -> place -> span part -> Prop.
(* The claims of the proof for its pieces. *)
Variables carries finds leaves : piece_id rank -> span part.
Variables source base : piece_id rank -> option (piece_id rank).

Definition written : program :=
  by_order rank place rank_dec place_dec nowhere ranks steps straight combines turn.
Definition job : program := @travelling written vanishes sized.

Local Notation keys := (keys rank place ranks steps).
Local Notation match_ := (match_ rank place ranks steps).
Local Notation held := (@held written part holds carries finds leaves source base).
Local Notation apart := (@apart written part carries leaves source base).
Local Notation combine := (@combine written part V op carries finds leaves).
Local Notation final := (@final written part V op holds required leaves).
Local Notation once := (@once written part holds leaves).
Local Notation posted_early := (@posted_early written).
Local Notation store := (@store job V op).
Local Notation meaning := (meaning contribution op nothing).
Local Notation begins mean := (@begins job part V mean holds).
Local Notation canonical := (@canonical written part carries finds leaves).
Local Notation final_as := (@final_as written part holds required leaves).
Local Notation canonical_meaning := (canonical_meaning contribution op nothing).

Definition associative := forall a b c, op a (op b c) = op (op a b) c.

(* What each place holds at the end, by what a span means. *)
Lemma results (mean : span part -> V) :
  keys -> match_ -> held -> apart -> @adds_up job part V op mean carries finds leaves ->
  final_as (fun s s' => mean s = mean s') -> posted_early ->
  forall init may_post h, begins mean init -> @execution job may_post h ->
  @final_state job h -> forall r p s, required r p s -> store init h r p = mean s.
Proof.
  intros K M H A C F E init may_post h B X D.
  assert (W : @well_formed job) by (apply travelling_well_formed, by_order_well_formed; assumption).
  apply (@result_is_right job part V may_post) with (holds := holds) (required := required)
    (carries := carries) (finds := finds) (leaves := leaves) (source := source) (base := base); assumption.
Qed.

Theorem collective_is_right :
  associative -> keys -> match_ -> held -> apart -> combine -> final -> once -> posted_early ->
  forall init may_post h, begins meaning init -> @lawful job may_post -> @execution job may_post h ->
    (* no execution is longer than this, *)
    (length h <= length (@all_events job))%nat /\
    (* where it can go no further without buffering, it is at its end, *)
    ((forall e, @unbuffered job may_post h e -> In e h) -> @final_state job h) /\
    (* there each place holds what is required of it, *)
    (@final_state job h -> forall r p s, required r p s -> store init h r p = meaning s) /\
    (* and a place that is received into is never sent from, or received into again, at the same time. *)
    @no_race job h.
Proof.
  intros Op K M H A C F O E init may_post h B L X.
  assert (W : @well_formed job) by (apply travelling_well_formed, by_order_well_formed; assumption).
  split; [eapply executions_end, X |]. split; [| split].
  - apply no_deadlock; auto. apply travelling_keys_meet, keys_of_both_ends; assumption.
  - apply (results meaning K M H A (@combined_adds_up job part V _ _ nothing _ _ _ Op C)) with (may_post := may_post); auto.
    intros r p s Q. destruct (F r p s Q) as [s' [same G]]. exists s'. split; [| exact G].
    apply (meaning_amount contribution op nothing Op), same.
  - apply (@buffers_are_respected job may_post); auto.
    apply (@once_awaited job part) with (1 := H) (2 := A), O.
Qed.

(* A program that claims canonical sums: `combine` asks for `canonical`, and `final` for the span itself. The operator may be any
   function. So a result depends on the contributions alone, and two runs of two such programs give the same. *)
Theorem canonical_sums_are_right :
  keys -> match_ -> held -> apart -> canonical -> final_as eq -> posted_early ->
  forall init may_post h, begins canonical_meaning init -> @execution job may_post h ->
  @final_state job h -> forall r p s, required r p s -> store init h r p = canonical_meaning s.
Proof.
  intros K M H A C F E. apply results; auto using (@canonical_adds_up job part V).
  intros r p s Q. destruct (F r p s Q) as [s' [-> G]]. exists s. auto.
Qed.

(* The runtime makes one of these executions: it follows plans that keep the rules of Runtime.v. *)
Theorem runtime_is_right (plan : rank -> list (@event job)) :
  associative -> keys -> match_ -> held -> apart -> combine -> final -> once -> posted_early ->
  @lawful_plan job plan ->
  forall init h, begins meaning init -> @run job plan h ->
    @execution job anyhow h /\
    ((forall e, @must job plan h e -> In e h) ->
       @final_state job h /\ forall r p s, required r p s -> store init h r p = meaning s).
Proof.
  intros Op K M H A C F O E L init h B R.
  assert (W : @well_formed job) by (apply travelling_well_formed, by_order_well_formed; assumption).
  assert (X : @execution job anyhow h) by (apply (@run_is_execution job plan); assumption).
  split; [exact X |]. intros stuck.
  assert (D : @final_state job h).
  { apply (@run_ends job plan); auto. apply travelling_keys_meet, keys_of_both_ends; assumption. }
  split; [exact D |]. apply (collective_is_right Op K M H A C F O E init anyhow h B); auto.
  intros ? ? ? _. exact I.
Qed.

Theorem runtime_sums_are_right (plan : rank -> list (@event job)) :
  keys -> match_ -> held -> apart -> canonical -> final_as eq -> posted_early -> @lawful_plan job plan ->
  forall init h, begins canonical_meaning init -> @run job plan h -> (forall e, @must job plan h e -> In e h) ->
  forall r p s, required r p s -> store init h r p = canonical_meaning s.
Proof.
  intros K M H A C F E L init h B R stuck.
  assert (W : @well_formed job) by (apply travelling_well_formed, by_order_well_formed; assumption).
  apply (canonical_sums_are_right K M H A C F E) with (may_post := anyhow); auto.
  - apply (@run_is_execution job plan); assumption.
  - apply (@run_ends job plan); auto. apply travelling_keys_meet, keys_of_both_ends; assumption.
Qed.
End Statement.

Print Assumptions collective_is_right.
Print Assumptions canonical_sums_are_right.
Print Assumptions runtime_is_right.
Print Assumptions runtime_sums_are_right.
