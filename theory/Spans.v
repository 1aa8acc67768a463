(* The meaning of a piece of a message: the operator over some contributors to a part. *)
From Coq Require Import List ZArith Lia Permutation.
Import ListNotations. Open Scope Z_scope.

(* The contributors, in the order in which they are combined, to a part: a block, or one byte or element of it. Data that
   only moves has one contributor. *)
Record span (part : Type) := { contributors : list Z; of_part : part }.
Arguments contributors {part}. Arguments of_part {part}.

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

Definition meaning (s : span part) : V := total (map (contribution (of_part s)) (contributors s)).

(* A proof names a number of consecutive contributors, from the first on, modulo the number of ranks. *)
Definition nth_after (f : Z) (i : nat) : Z := (f + Z.of_nat i) mod Z.of_nat n.
Definition consecutive (f : Z) (count : nat) (p : part) : span part :=
  {| contributors := map (nth_after f) (seq 0 count); of_part := p |}.
(* Or it says by a condition which ranks have contributed. *)
Definition those (has : Z -> bool) (p : part) : span part :=
  {| contributors := filter has (map Z.of_nat (seq 0 n)); of_part := p |}.

(* One span follows another, and the third is both together. *)
Definition adjacent (a b both : span part) :=
  of_part a = of_part both /\ of_part b = of_part both /\ contributors a <> [] /\ contributors b <> [] /\
  contributors both = contributors a ++ contributors b.
(* The same, but for the order of the contributors. *)
Definition joined (a b both : span part) :=
  of_part a = of_part both /\ of_part b = of_part both /\ contributors a <> [] /\ contributors b <> [] /\
  Permutation (contributors both) (contributors a ++ contributors b).

(* The same; or, if the operator is commutative, the same but for the order of the contributors. *)
Definition amount_to (s s' : span part) :=
  s = s' \/ (commutative /\ of_part s = of_part s' /\ Permutation (contributors s) (contributors s')).

(* The canonical tree of values: that of the first h of them, and that of the others; h is the greatest power of two below their
   number. `depth` is at least that number. *)
Definition half (count : nat) : nat := (2 ^ Nat.log2 (count - 1))%nat.
Fixpoint tree (depth : nat) (l : list V) : V :=
  match depth, l with
  | _, [] => nothing
  | _, [v] => v
  | O, _ => nothing
  | S d, _ => op (tree d (firstn (half (length l)) l)) (tree d (skipn (half (length l)) l))
  end.
Definition canonical_total (l : list V) : V := tree (length l) l.
Definition canonical_meaning (s : span part) : V := canonical_total (map (contribution (of_part s)) (contributors s)).

(* Two spans are the sides of such a tree. *)
Definition sides (a b both : span part) :=
  adjacent a b both /\ (exists j, length (contributors a) = 2 ^ j)%nat /\
  (length (contributors b) <= length (contributors a))%nat.

Lemma half_below count : (1 < count -> 0 < half count < count)%nat.
Proof.
  intros L. unfold half. destruct (Nat.log2_spec (count - 1)) as [A _]; [lia |].
  pose proof (Nat.pow_nonzero 2 (Nat.log2 (count - 1))). lia.
Qed.

Lemma deep_enough d d' l : (length l <= d)%nat -> (length l <= d')%nat -> tree d l = tree d' l.
Proof.
  revert d' l. induction d as [| d IH]; intros d' l A B.
  - destruct l; [destruct d'; reflexivity | simpl in A; lia].
  - destruct l as [| v [| u l]]; [destruct d'; reflexivity | destruct d'; reflexivity |].
    destruct d' as [| d']; [simpl in B; lia |].
    pose proof (half_below (length (v :: u :: l)) ltac:(simpl; lia)) as H.
    change (op (tree d (firstn (half (length (v :: u :: l))) (v :: u :: l)))
               (tree d (skipn (half (length (v :: u :: l))) (v :: u :: l))) =
            op (tree d' (firstn (half (length (v :: u :: l))) (v :: u :: l)))
               (tree d' (skipn (half (length (v :: u :: l))) (v :: u :: l)))).
    remember (v :: u :: l) as m. f_equal; apply IH; rewrite ?firstn_length, ?skipn_length; lia.
Qed.

Lemma canonical_splits l : (1 < length l)%nat ->
  canonical_total l = op (canonical_total (firstn (half (length l)) l)) (canonical_total (skipn (half (length l)) l)).
Proof.
  intros L. pose proof (half_below (length l) L) as H. unfold canonical_total at 1.
  assert (E : forall d, tree (S d) l = op (tree d (firstn (half (length l)) l)) (tree d (skipn (half (length l)) l))).
  { destruct l as [| v [| u l]]; [simpl in L; lia | simpl in L; lia | reflexivity]. }
  rewrite (deep_enough _ (S (length l))), E by lia.
  f_equal; apply deep_enough; rewrite ?firstn_length, ?skipn_length; lia.
Qed.

Lemma canonical_app j a b : (length a = 2 ^ j)%nat -> (0 < length b <= length a)%nat ->
  canonical_total (a ++ b) = op (canonical_total a) (canonical_total b).
Proof.
  intros A B.
  assert (L : half (length (a ++ b)) = length a).
  { rewrite app_length, A. unfold half. f_equal. apply Nat.log2_unique; [lia |]. rewrite Nat.pow_succ_r'. lia. }
  rewrite canonical_splits, L by (rewrite app_length; lia).
  rewrite firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all, app_nil_r. reflexivity.
Qed.

Theorem meaning_sides a b both : sides a b both ->
  canonical_meaning both = op (canonical_meaning a) (canonical_meaning b).
Proof.
  intros [[A [B [Na [Nb E]]]] [[j J] L]]. unfold canonical_meaning. rewrite E, A, B, map_app.
  apply (canonical_app j); rewrite !map_length; [exact J |].
  destruct (contributors b); [contradiction | simpl in *; lia].
Qed.

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

Theorem meaning_adjacent a b both : adjacent a b both -> meaning both = op (meaning a) (meaning b).
Proof.
  intros [A [B [Na [Nb E]]]]. unfold meaning. rewrite E, A, B, map_app.
  apply total_app; intros M; apply map_eq_nil in M; contradiction.
Qed.

Theorem meaning_joined a b both : commutative -> joined a b both -> meaning both = op (meaning a) (meaning b).
Proof.
  intros C [A [B [Na [Nb E]]]].
  transitivity (meaning {| contributors := contributors a ++ contributors b; of_part := of_part both |}).
  - apply total_permutation; [exact C | apply Permutation_map, E].
  - apply meaning_adjacent. repeat split; assumption.
Qed.

Theorem meaning_amount s s' : amount_to s s' -> meaning s = meaning s'.
Proof.
  intros [-> | [C [E A]]]; [reflexivity |]. unfold meaning. rewrite E.
  apply total_permutation; [exact C | apply Permutation_map, A].
Qed.

(* -- Consecutive contributors ------------------------------------------------------------------------ *)

Lemma consecutive_adjacent p f1 f2 (c1 c2 : nat) :
  f2 mod Z.of_nat n = (f1 + Z.of_nat c1) mod Z.of_nat n -> (0 < c1)%nat -> (0 < c2)%nat ->
  adjacent (consecutive f1 c1 p) (consecutive f2 c2 p) (consecutive f1 (c1 + c2) p).
Proof.
  intros E A B. do 2 (split; [reflexivity |]).
  split; [destruct c1; [lia | discriminate] |]. split; [destruct c2; [lia | discriminate] |].
  unfold consecutive. cbn [contributors]. rewrite seq_app, map_app. f_equal.
  rewrite Nat.add_0_l, <- (Nat.add_0_r c1) at 1. clear B. generalize 0%nat as i, c2.
  intros i m. revert i. induction m as [| m IH]; intros i; [reflexivity |]. cbn [seq map]. f_equal.
  - unfold nth_after. rewrite <- (Zplus_mod_idemp_l f2), E, Zplus_mod_idemp_l. f_equal. lia.
  - rewrite <- Nat.add_succ_r. apply IH.
Qed.

Lemma injective_NoDup {A B} (f : A -> B) l :
  NoDup l -> (forall a b, In a l -> In b l -> f a = f b -> a = b) -> NoDup (map f l).
Proof.
  induction 1 as [| x l N _ IH]; intros J; simpl; constructor.
  - intros I. apply in_map_iff in I as [y [E I]]. destruct N. rewrite <- (J y x); simpl; auto.
  - apply IH. intros a b Ia Ib. apply J; simpl; auto.
Qed.

(* All contributors, from any one on, are all contributors. *)
Lemma all_contributors f p : Permutation (contributors (consecutive f n p)) (map Z.of_nat (seq 0 n)).
Proof.
  cbn. apply NoDup_Permutation_bis.
  - apply injective_NoDup; [apply seq_NoDup |]. intros i j I J E.
    apply in_seq in I, J. unfold nth_after in E. apply Nat2Z.inj.
    apply (f_equal (fun x => (x - f) mod Z.of_nat n)) in E.
    rewrite !Zminus_mod_idemp_l in E. replace (f + Z.of_nat i - f) with (Z.of_nat i) in E by lia.
    replace (f + Z.of_nat j - f) with (Z.of_nat j) in E by lia.
    rewrite !Z.mod_small in E by lia. exact E.
  - rewrite !map_length. lia.
  - intros x I. apply in_map_iff in I as [i [<- I]]. apply in_seq in I.
    pose proof (Z.mod_pos_bound (f + Z.of_nat i) (Z.of_nat n)). unfold nth_after.
    apply in_map_iff. exists (Z.to_nat ((f + Z.of_nat i) mod Z.of_nat n)).
    split; [lia | apply in_seq; lia].
Qed.

Theorem all_amount_to_all f f' p : commutative -> amount_to (consecutive f n p) (consecutive f' n p).
Proof.
  intros C. right. split; [exact C |]. split; [reflexivity |].
  rewrite all_contributors. symmetry. apply all_contributors.
Qed.

(* From contributor 0 on, these are all contributors in the order of ranks. *)
Lemma in_order : map (nth_after 0) (seq 0 n) = map Z.of_nat (seq 0 n).
Proof.
  apply map_ext_in. intros i I. apply in_seq in I. unfold nth_after. apply Z.mod_small. lia.
Qed.
Theorem meaning_of_all b :
  meaning (consecutive 0 n b) = total (map (fun i => contribution b (Z.of_nat i)) (seq 0 n)).
Proof. unfold meaning. cbn. rewrite in_order, map_map. reflexivity. Qed.

(* The span of one contributor is its contribution. *)
Theorem meaning_of_one i b : 0 <= i < Z.of_nat n -> meaning (consecutive i 1 b) = contribution b i.
Proof.
  intros I. unfold meaning, nth_after. cbn. f_equal. unfold nth_after. rewrite Z.add_0_r. apply Z.mod_small, I.
Qed.

(* -- Contributors that a condition names ------------------------------------------------------------- *)

Lemma in_those has p c : In c (contributors (those has p)) <-> 0 <= c < Z.of_nat n /\ has c = true.
Proof.
  cbn. rewrite filter_In, in_map_iff. split.
  - intros [[i [<- I]] H]. apply in_seq in I. split; [lia | exact H].
  - intros [B H]. split; [| exact H]. exists (Z.to_nat c). split; [lia | apply in_seq; lia].
Qed.

Lemma NoDup_those has p : NoDup (contributors (those has p)).
Proof.
  apply NoDup_filter, injective_NoDup; [apply seq_NoDup |]. intros i j _ _ E. lia.
Qed.

(* Spans are the same if each rank has contributed to both or to none. *)
Lemma those_same has has' p : (forall c, 0 <= c < Z.of_nat n -> has c = has' c) -> those has p = those has' p.
Proof.
  intros E. unfold those. f_equal. apply filter_ext_in. intros c I. apply E.
  apply in_map_iff in I as [i [<- I]]. apply in_seq in I. lia.
Qed.

(* No rank has contributed to both operands, and the result has the contributions to both. *)
Lemma those_joined a b both p :
  (exists c, 0 <= c < Z.of_nat n /\ a c = true) -> (exists c, 0 <= c < Z.of_nat n /\ b c = true) ->
  (forall c, 0 <= c < Z.of_nat n -> (a c && b c)%bool = false /\ both c = (a c || b c)%bool) ->
  joined (those a p) (those b p) (those both p).
Proof.
  intros A B U. do 2 (split; [reflexivity |]).
  split; [destruct A as [c A]; apply (in_those a p) in A; intros E; rewrite E in A; destruct A |].
  split; [destruct B as [c B]; apply (in_those b p) in B; intros E; rewrite E in B; destruct B |].
  apply NoDup_Permutation; [apply NoDup_those | |].
  - assert (D : forall l l' : list Z, NoDup l -> NoDup l' -> (forall c, In c l -> In c l' -> False) -> NoDup (l ++ l')).
    { induction l as [| x l IH]; intros l' L L' F; [exact L' |]. inversion L as [| x' l0 N L0]. subst. cbn. constructor.
      - rewrite in_app_iff. intros [I | I]; [contradiction | apply (F x); [left; reflexivity | exact I]].
      - apply IH; auto. intros c I. apply F. right. exact I. }
    apply D; try apply NoDup_those. intros c I J. apply in_those in I as [R I], J as [_ J].
    destruct (U c R) as [E _]. rewrite I, J in E. discriminate.
  - intros c. rewrite in_app_iff, !in_those. split.
    + intros [R H]. destruct (U c R) as [_ E]. rewrite E in H. apply Bool.orb_true_iff in H. tauto.
    + intros [[R H] | [R H]]; destruct (U c R) as [_ E]; rewrite E, H; split; auto. apply Bool.orb_true_r.
Qed.

(* The condition of one rank, and the condition of all. *)
Lemma those_of_all has p : (forall c, 0 <= c < Z.of_nat n -> has c = true) -> those has p = consecutive 0 n p.
Proof.
  intros A. rewrite (those_same has (fun _ => true)) by exact A. unfold those, consecutive. f_equal.
  rewrite in_order. induction (map Z.of_nat (seq 0 n)) as [| c l IH]; [reflexivity |]. cbn. f_equal. exact IH.
Qed.

Lemma those_of_one i p : 0 <= i < Z.of_nat n -> those (Z.eqb i) p = consecutive i 1 p.
Proof.
  intros I. unfold those, consecutive. f_equal. apply Permutation_length_1_inv.
  apply NoDup_Permutation; [repeat constructor; intros [] | apply (NoDup_those (Z.eqb i) p) |].
  intros c. change (filter (Z.eqb i) (map Z.of_nat (seq 0 n))) with (contributors (those (Z.eqb i) p)).
  rewrite in_those, Z.eqb_eq. unfold nth_after. cbn. rewrite Z.add_0_r, Z.mod_small by exact I.
  split; [intros [-> | []]; auto | intros [_ ->]; auto].
Qed.
End Spans.
