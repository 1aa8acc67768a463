(* A computation decides whether a history of a given program is an execution, and whether it is at its end. *)
From Coq Require Import List ZArith Bool.
From Quadrille Require Import Model Progress Runtime.
Import ListNotations. Open Scope Z_scope.

Section Decide.
Context {P : program}.

Definition dec (Q : Prop) := {Q} + {~ Q}.
Lemma and_dec A B : dec A -> dec B -> dec (A /\ B).
Proof. unfold dec. tauto. Defined.
Lemma imp_dec A B : dec A -> dec B -> dec (A -> B).
Proof. unfold dec. tauto. Defined.
Lemma or_dec A B : dec A -> dec B -> dec (A \/ B).
Proof. unfold dec. tauto. Defined.
Lemma all_dec {A} (Q : A -> Prop) l : (forall a, dec (Q a)) -> dec (forall a, In a l -> Q a).
Proof.
  intros d. destruct (Forall_dec Q d l) as [F | F]; [left | right]; rewrite <- Forall_forall; exact F.
Defined.
Lemma some_dec {A} (Q : A -> Prop) (o : option A) : (forall a, dec (Q a)) -> dec (forall a, o = Some a -> Q a).
Proof.
  intros d. destruct o as [a |]; [| left; discriminate].
  destruct (d a) as [y | n]; [left; intros b [= <-]; exact y | right; intros H; apply n, H; reflexivity].
Defined.
Lemma none_dec {A} (o : option A) : dec (o = None).
Proof. destruct o; [right; discriminate | left; reflexivity]. Defined.
Definition in_history_dec e (h : history) : dec (In e h) := in_dec event_dec e h.

Ltac decides := intros; unfold complete, arrived, up_to, reads, writes, before;
  repeat (first [exact (left I) | apply in_history_dec | apply Z_lt_dec | apply Z_le_dec | apply and_dec | apply or_dec | apply imp_dec | apply all_dec
    | apply some_dec | apply none_dec | apply in_dec | apply rank_dec | apply place_dec | apply message_dec
    | apply piece_dec | apply Z.eq_dec | apply bool_dec]; intros).

Lemma enabled_dec h e : dec (enabled anyhow h e).
Proof. destruct e; simpl; unfold anyhow; decides. Defined.

Lemma ended_dec h : dec (forall r, In r ranks -> forall k, In k (step_keys r) -> complete h r k).
Proof. decides. Defined.

Fixpoint executes (h : history) : bool :=
  match h with
  | [] => true
  | e :: h' => executes h' && (if in_history_dec e h' then false else true) && (if enabled_dec h' e then true else false)
  end.

(* The execution is possible, and then all steps are complete. *)
Definition comes_to_its_end (h : history) := executes h && if ended_dec h then true else false.

Lemma executed h : executes h = true -> execution anyhow h.
Proof.
  induction h as [| e h IH]; [constructor |]. simpl. rewrite !andb_true_iff. intros [[X N] E].
  constructor; [auto | destruct (in_history_dec e h); congruence | destruct (enabled_dec h e); congruence].
Qed.

Lemma ended h : comes_to_its_end h = true -> execution anyhow h /\ final_state h.
Proof.
  unfold comes_to_its_end. rewrite andb_true_iff. intros [X E]. split; [apply executed, X |].
  destruct (ended_dec h) as [D |]; [| discriminate]. intros r k Ir Ik. apply D; assumption.
Qed.
End Decide.
