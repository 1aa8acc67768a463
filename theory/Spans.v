(* The meaning of a piece of a message: the operator over some contributors to a part. *)
From Coq Require Import List ZArith Lia Permutation.
Import ListNotations. Open Scope Z_scope.

(* A number of consecutive contributors, from the first on, modulo the number of ranks, to a part: a block, or one byte
   or element of it. Data that only moves has one contributor. *)
Record span (part : Type) := { first : Z; count : nat; of_part : part }.
Arguments first {part}. Arguments count {part}. Arguments of_part {part}.

Section Spans.
Context {part V : Type}.
Variable n : nat.                         (* the contributors are 0 .. n - 1 *)
Variable contribution : part -> Z -> V.
Variable op : V -> V -> V.
Variable nothing : V.                     (* a value that no contributor gives; it makes the function total *)
Hypothesis associative : forall a b c, op a (op b c) = op (op a b) c.
Definition commutative := forall a b, op a b = op b a.

Fixpoint total (l : list V) : V :=
  match l with [] => nothing | [v] => v | v :: l' => op v (total l') end.

Definition nth_after (f : Z) (i : nat) : Z := (f + Z.of_nat i) mod Z.of_nat n.
Definition contributors (s : span part) : list Z := map (nth_after (first s)) (seq 0 (count s)).
Definition meaning (s : span part) : V := total (map (contribution (of_part s)) (contributors s)).

(* One span follows another, and the third is both together. *)
Definition adjacent (a b both : span part) :=
  of_part a = of_part both /\ of_part b = of_part both /\ first both = first a /\
  first b mod Z.of_nat n = (first a + Z.of_nat (count a)) mod Z.of_nat n /\
  (0 < count a)%nat /\ (0 < count b)%nat /\ count both = (count a + count b)%nat.

(* The same; or, if the operator is commutative, each is of all contributors, once. *)
Definition amount_to (s s' : span part) :=
  s = s' \/ (commutative /\ of_part s = of_part s' /\ count s = n /\ count s' = n).

Lemma total_cons v l : l <> [] -> total (v :: l) = op v (total l).
Proof. destruct l; [contradiction | reflexivity]. Qed.

Lemma total_app a b : a <> [] -> b <> [] -> total (a ++ b) = op (total a) (total b).
Proof.
  induction a as [| v a IH]; [contradiction |]. intros _ B. destruct a as [| u a].
  - apply total_cons, B.
  - change (op v (total ((u :: a) ++ b)) = op (op v (total (u :: a))) (total b)).
    rewrite IH by (assumption || discriminate). apply associative.
Qed.

Lemma total_permutation a b : commutative -> Permutation a b -> total a = total b.
Proof.
  intros C. induction 1 as [| v a b S IH | u v a | a b c _ IH1 _ IH2]; auto.
  - destruct a as [| x a]; [apply Permutation_nil in S as ->; reflexivity |].
    destruct b as [| y b]; [apply Permutation_sym, Permutation_nil in S; discriminate |].
    rewrite (total_cons v (x :: a)), (total_cons v (y :: b)), IH by discriminate. reflexivity.
  - destruct a as [| w a]; [apply C |].
    change (op v (op u (total (w :: a))) = op u (op v (total (w :: a)))).
    rewrite !associative, (C u v). reflexivity.
  - congruence.
Qed.

Lemma contributors_adjacent a b both : adjacent a b both ->
  contributors both = contributors a ++ contributors b.
Proof.
  intros [_ [_ [F [E [_ [_ N]]]]]]. unfold contributors. rewrite N, F, seq_app, map_app. f_equal.
  rewrite Nat.add_0_l, <- (Nat.add_0_r (count a)) at 1. generalize 0%nat as i, (count b).
  intros i m. revert i. induction m as [| m IH]; intros i; [reflexivity |]. cbn [seq map]. f_equal.
  - unfold nth_after. rewrite <- (Zplus_mod_idemp_l (first b)), E, Zplus_mod_idemp_l. f_equal. lia.
  - rewrite <- Nat.add_succ_r. apply IH.
Qed.

Theorem meaning_adjacent a b both : adjacent a b both -> meaning both = op (meaning a) (meaning b).
Proof.
  intros A. unfold meaning. rewrite (contributors_adjacent a b both A), map_app.
  destruct A as [-> [-> [_ [_ [A [B _]]]]]]. unfold contributors. apply total_app.
  - destruct (count a); [lia | discriminate].
  - destruct (count b); [lia | discriminate].
Qed.

Lemma injective_NoDup {A B} (f : A -> B) l :
  NoDup l -> (forall a b, In a l -> In b l -> f a = f b -> a = b) -> NoDup (map f l).
Proof.
  induction 1 as [| x l N _ IH]; intros J; simpl; constructor.
  - intros I. apply in_map_iff in I as [y [E I]]. destruct N. rewrite <- (J y x); simpl; auto.
  - apply IH. intros a b Ia Ib. apply J; simpl; auto.
Qed.

(* All contributors, from any one on, are all contributors. *)
Lemma all_contributors s : count s = n -> Permutation (contributors s) (map Z.of_nat (seq 0 n)).
Proof.
  intros N. unfold contributors. rewrite N. apply NoDup_Permutation_bis.
  - apply injective_NoDup; [apply seq_NoDup |]. intros i j I J E.
    apply in_seq in I, J. unfold nth_after in E. apply Nat2Z.inj.
    apply (f_equal (fun x => (x - first s) mod Z.of_nat n)) in E.
    rewrite !Zminus_mod_idemp_l in E. replace (first s + Z.of_nat i - first s) with (Z.of_nat i) in E by lia.
    replace (first s + Z.of_nat j - first s) with (Z.of_nat j) in E by lia.
    rewrite !Z.mod_small in E by lia. exact E.
  - rewrite !map_length. lia.
  - intros x I. apply in_map_iff in I as [i [<- I]]. apply in_seq in I.
    pose proof (Z.mod_pos_bound (first s + Z.of_nat i) (Z.of_nat n)). unfold nth_after.
    apply in_map_iff. exists (Z.to_nat ((first s + Z.of_nat i) mod Z.of_nat n)).
    split; [lia | apply in_seq; lia].
Qed.

Theorem meaning_amount s s' : amount_to s s' -> meaning s = meaning s'.
Proof.
  intros [-> | [C [E [N N']]]]; [reflexivity |]. unfold meaning. rewrite E.
  apply total_permutation; [exact C |]. apply Permutation_map.
  rewrite all_contributors by exact N. symmetry. apply all_contributors, N'.
Qed.

(* From contributor 0 on, these are all contributors in the order of ranks. *)
Theorem meaning_of_all b :
  meaning {| first := 0; count := n; of_part := b |} = total (map (fun i => contribution b (Z.of_nat i)) (seq 0 n)).
Proof.
  unfold meaning, contributors. cbn [first count of_part]. rewrite map_map. f_equal. apply map_ext_in.
  intros i I. apply in_seq in I. unfold nth_after. f_equal. apply Z.mod_small. lia.
Qed.

(* The span of one contributor is its contribution. *)
Theorem meaning_of_one i b : 0 <= i < Z.of_nat n ->
  meaning {| first := i; count := 1; of_part := b |} = contribution b i.
Proof.
  intros I. unfold meaning, contributors, nth_after. cbn. f_equal.
  rewrite Z.add_0_r. apply Z.mod_small, I.
Qed.
End Spans.
