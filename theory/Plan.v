(* Plans that keep the rules: rank true sends, and rank false combines what arrives on the right side. *)
From Coq Require Import List ZArith Lia.
From Quadrille Require Import Model Order Travel Progress Runtime Decide Counterexamples.
Import ListNotations. Open Scope Z_scope.

Local Notation job := (two reduce None (Some Right)).
Local Notation does d r := (happens reduce None (Some Right) (d, r)).
Definition plan (r : @rank job) : list (@event job) :=
  if r : bool then [does (Posts 0) true; does Sends true]
  else [does Opens true; does (Posts 0) false; does Writes true; does Receives true].

Ltac there := first [left; reflexivity | right; there].
Ltac sooner := intros l l' E;
  repeat (destruct l as [| ? l]; [discriminate E || there | injection E as <- E]); try there; try discriminate E.

Theorem plan_is_lawful : @lawful_plan job plan.
Proof.
  constructor.
  - intros [] e I; repeat (destruct I as [<- | I]); try destruct I; (split; [reflexivity | apply all_events_in; simpl; auto]).
  - intros [] k _ [<- | []]; there.
  - intros m [<- | []]. split; [reflexivity | intros _; there].
  - intros m [<- | []]. there.
  - intros m [<- | []]. right. split; [intros [m' [[<- | []] [=]]] | there].
  - intros w [<- | []]. split; [reflexivity | intros _; there].
  - intros [] k k' [<- | []] [<- | []] lt; lia.
  - intros m k [<- | []] [<- | []] lt; simpl in lt; lia.
  - intros c I. destruct c as [[[[] []] t] i]; repeat (destruct I as [[=] | I]); destruct I.
  - intros m a [<- | []]; discriminate.
  - intros w [<- | []] _. split; [sooner | split; [sooner | split]].
    + intros c [<- | []] [[=] _].
    + intros w' [<- | []] _ [lt | [_ lt]]; simpl in lt; lia.
  - intros [] e k I K; repeat (destruct I as [<- | I]); try discriminate K; try destruct I; injection K as <-;
      intros e' I' le; repeat (destruct I' as [<- | I']); try solve [destruct le | destruct I']; sooner.
Qed.
