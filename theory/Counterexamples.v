(* Two ranks and a program that breaks one obligation and meets all others: the result is a wrong value or a deadlock. *)
From Coq Require Import List ZArith Lia Bool Sorted.
From Quadrille Require Import Model Spans Obligations Order Travel Progress Values Sequence Decide.
Require Import Quadrille.Theorem.
Import ListNotations. Open Scope Z_scope.

(* A rank has a block with its contribution, and another block. *)
Inductive block := Own | Other.
Definition block_dec (a b : block) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

(* The ranks are false and true, and the contributors 0 and 1. A contribution is a list; the operator appends lists. *)
Definition alone (r : bool) : span unit := {| contributors := [if r then 1 else 0]; of_part := tt |}.
Definition both : span unit := {| contributors := [0; 1]; of_part := tt |}.
Definition means := meaning (fun _ : unit => fun i : Z => [i]) (@app Z) [].
Definition holds (r : bool) (b : block) (s : span unit) := b = Own /\ s = alone r.
Definition at_first (r : bool) (b : block) : list Z := match b with Own => [if r then 1 else 0] | _ => [9] end.

Inductive obligation := Keys | Match | Held | Apart | Combine | Final | Once | Posted_early.

Inductive doing := Posts (k : Z) | Opens | Reads | Writes | Sends | Receives.

Section Two.
Variable steps : bool -> list (step bool block).
Variables (straight : option Z) (combines : option side).
Variables (carries finds leaves : piece_id bool -> span unit) (source : piece_id bool -> option (piece_id bool)).
Variable required : bool -> block -> span unit -> Prop.

Let written := written bool block bool_dec block_dec Own [false; true] steps (fun _ => straight) (fun _ => combines)
  (fun _ => 0).
Definition two := job bool block bool_dec block_dec Own [false; true] steps (fun _ => straight) (fun _ => combines)
  (fun _ => 0) (fun _ => false) (fun _ => false).

Definition holds_true (o : obligation) : Prop :=
  match o with
  | Keys => keys bool block [false; true] steps
  | Match => match_ bool block [false; true] steps
  | Held => @held written unit holds carries finds leaves source (fun _ => None)
  | Apart => @apart written unit carries leaves source (fun _ => None)
  | Combine => @combine written unit (list Z) (@app Z) carries finds leaves
  | Final => @final written unit (list Z) (@app Z) holds required leaves
  | Once => @once written unit holds leaves
  | Posted_early => @posted_early written
  end.
Definition all_but (o : obligation) := forall o', o' <> o -> holds_true o'.

(* An execution ends with a wrong value. *)
Definition goes_wrong := exists h r b s, @execution two anyhow h /\ @final_state two h /\
  required r b s /\ @store two (list Z) (@app Z) at_first h r b <> means s.
(* An execution stops before the end: steps wait for each other. *)
Definition deadlocks := exists h, @execution two (@ring two 1) h /\
  (forall e, @unbuffered two (@ring two 1) h e -> In e h) /\ ~ @final_state two h.

(* An event at a rank, or of its only message to the other rank and the only piece of that message. *)
Definition happens (x : doing * bool) : @event two :=
  let '(d, r) := x in
  let m := @Data written (r, negb r, 0%nat) in let c := (r, negb r, 0%nat, 0%nat) in
  match d with
  | Posts k => @Post two r k
  | Opens => @Open two m
  | Reads => @Read two c
  | Writes => @Write two c
  | Sends => @Sent two m
  | Receives => @Received two m
  end.

Lemma wrong_in_the_end l r b s :
  let h := rev (map happens l) in
  comes_to_its_end h = true -> required r b s -> @store two (list Z) (@app Z) at_first h r b <> means s -> goes_wrong.
Proof. intros h E Q N. apply ended in E as [X D]. exists h, r, b, s. auto. Qed.
End Two.

(* Proves a claim case by case. *)
Ltac pick := solve [reflexivity | congruence | discriminate | left; pick | right; pick].
Ltac cases :=
  cbv in *; intros;
  repeat (match goal with
          | H : _ /\ _ |- _ => destruct H
          | H : _ \/ _ |- _ => destruct H
          | H : exists _, _ |- _ => destruct H
          | H : False |- _ => destruct H
          | H : (_, _) = (_, _) |- _ => injection H; clear H; intros
          | b : bool |- _ => destruct b
          | |- _ /\ _ => split
          end; subst; try discriminate; cbv in *; intros);
  try pick; auto 20.
Ltac meets := cases; repeat constructor; cases; do 2 eexists; cbn;
  (split; [(left; reflexivity) + (right; left; reflexivity) |
     split; [reflexivity | split; [left; reflexivity | reflexivity]]]).

Ltac wrong := vm_compute; first [reflexivity | discriminate | auto].

Definition sender's (c : piece_id bool) := alone (fst (fst (fst c))).
Definition nobody's (_ : piece_id bool) : option (piece_id bool) := None.

(* Each rank sends a block and receives into its place, in one step. The receive is posted too early. *)
Definition swap (r : bool) : list (step bool block) :=
  [{| key := 0; waits := -1; sends := [(negb r, [Own])]; receives := [(negb r, [Own])] |}].

Theorem posted_early_is_needed :
  let required r b s := b = Own /\ s = alone (negb r) in
  all_but swap (Some (-1)) None sender's sender's sender's nobody's required Posted_early /\
  goes_wrong swap (Some (-1)) None required.
Proof.
  intros required. split.
  - intros [] N; [cases; repeat constructor | meets | cases | cases | cases | | cases | contradiction].
    intros r b s [-> ->]. exists (alone (negb r)). split; [left; reflexivity |]. left.
    exists (negb r, negb (negb r), 0, 0)%nat. cases.
  - apply wrong_in_the_end with (l := [(Posts 0, false); (Posts 0, true); (Opens, false); (Opens, true); (Reads, false);
      (Writes, false); (Reads, true); (Writes, true); (Sends, false); (Sends, true); (Receives, false); (Receives, true)])
      (r := false) (b := Own) (s := alone true); wrong.
Qed.

(* Rank true sends a block that it received in the step before. It does not wait for that step, or it claims to send
   the earlier contents. *)
Definition relay (there : block) (a : Z) (r : bool) : list (step bool block) :=
  if r then [{| key := 0; waits := -1; sends := []; receives := [(false, [there])] |};
             {| key := 1; waits := a; sends := [(false, [there])]; receives := [] |}]
  else [{| key := 0; waits := -1; sends := [(true, [Own])]; receives := [] |};
        {| key := 1; waits := a; sends := []; receives := [(true, [Other])] |}].
Definition first's (c : piece_id bool) := alone false.
Definition by_the_first (c : piece_id bool) : option (piece_id bool) :=
  if fst (fst (fst c)) then Some (false, true, 0, 0)%nat else None.

Theorem held_is_needed :
  let required r b s := r = false /\ b = Other /\ s = alone false in
  all_but (relay Other (-1)) None None first's first's first's by_the_first required Held /\
  goes_wrong (relay Other (-1)) None None required.
Proof.
  intros required. split.
  - intros [] N; [cases; repeat constructor | meets | contradiction | cases | cases | | cases | cases].
    intros r b s [-> [-> ->]]. exists (alone false). split; [left; reflexivity |]. left.
    exists (true, false, 0, 0)%nat. cases.
  - apply wrong_in_the_end with (l := [(Posts 0, false); (Posts 0, true); (Posts 1, false); (Posts 1, true);
      (Opens, false); (Opens, true); (Reads, true); (Writes, true); (Reads, false); (Writes, false);
      (Sends, false); (Sends, true); (Receives, false); (Receives, true)])
      (r := false) (b := Other) (s := alone false); wrong.
Qed.

(* If it waits, its steps are a sequence of two programs: rank true gets a block, and then all ranks have it. *)
Definition waiting := written bool block bool_dec block_dec Own [false; true] (relay Other 0)
  (fun _ => None) (fun _ => None) (fun _ => 0).
Definition name (b : block) := {| contributors := [0]; of_part := b |}.

Theorem sequence_has_an_example may_post h :
  @lawful waiting may_post -> @execution waiting may_post h -> @final_state waiting h ->
  forall r, @store waiting (list Z) (@app Z) at_first h r Other = [0].
Proof.
  intros Y X D r. destruct (@sequence_is_right waiting unit block (list Z) 1) with (places := [Other])
    (owner := fun _ : block => true) (result := fun _ : block => alone false) (holds := holds) (carries := first's)
    (finds := first's) (leaves := first's) (source := nobody's) (base := nobody's) (what := name)
    (block := fun _ : piece_id bool => Other) (finds2 := fun _ : piece_id bool => name Own) (source2 := nobody's)
    (base2 := nobody's) (contribution := fun (_ : unit) (i : Z) => [i]) (nothing := @nil Z) (op := @app Z)
    (init := at_first) (may_post := may_post) (h := h) as [_ [_ [S _]]];
    [.. | exact Y | exact X | apply S; [exact D | destruct r; simpl; auto | left; reflexivity]]; clear.
  1: apply by_order_well_formed; [cases; repeat constructor | meets].
  1: apply keys_of_both_ends; [cases; repeat constructor | meets].
  10: intros r' b s [_ [[<- | []] ->]]; exists (name Other); (split; [reflexivity |]);
    destruct r'; [right | left; exists (true, false, 0, 0)%nat].
  13: exact (@app_assoc Z).
  14: intros r' b s [[<- | []] [-> ->]]; exists (alone false); (split; [left; reflexivity |]); left;
    exists (false, true, 0, 0)%nat.
  all: cases.
Qed.

Theorem apart_is_needed :
  let required r b s := r = false /\ b = Other /\ s = alone true in
  all_but (relay Own 0) None None sender's sender's sender's nobody's required Apart /\
  goes_wrong (relay Own 0) None None required.
Proof.
  intros required. split.
  - intros [] N; [cases; repeat constructor | meets | cases | contradiction | cases | | cases | cases].
    intros r b s [-> [-> ->]]. exists (alone true). split; [left; reflexivity |]. left.
    exists (true, false, 0, 0)%nat. cases.
  - apply wrong_in_the_end with (l := [(Posts 0, false); (Posts 0, true); (Opens, false); (Reads, false);
      (Writes, false); (Sends, false); (Receives, false); (Posts 1, false); (Posts 1, true); (Opens, true);
      (Reads, true); (Writes, true); (Sends, true); (Receives, true)])
      (r := false) (b := Other) (s := alone true); wrong.
Qed.

(* What arrives from rank true is combined on the wrong side. *)
Definition reduce (r : bool) : list (step bool block) :=
  [{| key := 0; waits := -1; sends := if r then [(false, [Own])] else [];
      receives := if r then [] else [(true, [Own])] |}].

Theorem combine_is_needed :
  let required r b s := r = false /\ b = Own /\ s = both in
  all_but reduce None (Some Left) sender's (fun _ => alone false) (fun _ => both) nobody's required Combine /\
  goes_wrong reduce None (Some Left) required.
Proof.
  intros required. split.
  - intros [] N; [cases; repeat constructor | meets | cases | cases | contradiction | | cases | cases].
    intros r b s [-> [-> ->]]. exists both. split; [left; reflexivity |]. left.
    exists (true, false, 0, 0)%nat. cases.
  - apply wrong_in_the_end with (l := [(Posts 0, false); (Posts 0, true); (Opens, true); (Reads, true);
      (Writes, true); (Sends, true); (Receives, true)]) (r := false) (b := Own) (s := both); wrong.
Qed.

(* Each rank sends in one step what the other rank receives in the next step. Each has one step in flight. *)
Definition crossed (r : bool) : list (step bool block) :=
  [{| key := 0; waits := -1; sends := [(negb r, [Own])]; receives := [] |};
   {| key := 1; waits := 0; sends := []; receives := [(negb r, [Other])] |}].

Theorem match_is_needed :
  let required r b s := b = Other /\ s = alone (negb r) in
  all_but crossed None None sender's sender's sender's nobody's required Match /\ deadlocks crossed None None.
Proof.
  intros required. split.
  - intros [] N; [cases; repeat constructor | contradiction | cases | cases | cases | | cases | cases].
    intros r b s [-> ->]. exists (alone (negb r)). split; [left; reflexivity |]. left.
    exists (negb r, negb (negb r), 0, 0)%nat. cases.
  - set (job := two crossed None None). set (h := map (happens crossed None None) [(Posts 0, true); (Posts 0, false)]).
    assert (unsent : forall r, ~ @complete job h r 0).
    { intros r [_ C]. assert (I : In (happens crossed None None (Sends, r)) h).
      { apply C; destruct r; simpl; auto. }
      destruct I as [[=] | [[=] | []]]. }
    assert (late : forall m, In m (@messages job) -> ~ In (@Post job (@dst job m) (@rkey job m)) h).
    { intros m I. assert (K : @rkey job m = 1) by (destruct I as [<- | [<- | []]]; reflexivity). rewrite K.
      intros [[=] | [[=] | []]]. }
    assert (unopened : forall m, ~ In (@Open job m) h) by (intros m [[=] | [[=] | []]]).
    exists h. split; [| split; [| intros D; apply (unsent true), D; simpl; auto]].
    + assert (none : forall k', 0 = k' \/ 1 = k' \/ False -> k' < 0 -> False) by lia.
      refine (next _ (@Post job true 0) [@Post job false 0] (next _ (@Post job false 0) [] (start _) (fun n => n) _) _ _);
        [| intros [[=] | []] |]; simpl; repeat split; auto; intros;
        exfalso; match goal with lt : ?k < 0 |- _ => apply (none k); assumption end.
    + intros [r k | m | c | w | m | m] [E U].
      * destruct E as [_ [K [_ [_ Y]]]]. destruct K as [<- | [<- | []]]; [destruct r; simpl; auto |].
        exfalso. apply (unsent r), Y; simpl; auto. lia.
      * destruct (late m); [apply E | exact U].
      * destruct (unopened _ U).
      * destruct (unopened (@of job w)). apply E.
      * destruct (unopened m U).
      * destruct (unopened m). apply E.
Qed.
