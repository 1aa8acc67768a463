(* The reversal of a program (schedule/reverse.h). A program that brings each contribution to every rank once, reversed in
   time, adds up all contributions, if the operator is commutative. *)
From Coq Require Import List ZArith Lia Permutation.
From Quadrille Require Import Model Spans Obligations Order Progress Values Runtime.
Import ListNotations. Open Scope Z_scope.

Section Reverse.
(* A broadcast or an allgather. Its places are those of the receive buffer. Place p gets the same contribution at all ranks,
   that of its owner. The owner has it when the first step starts. *)
Context {P : program} {part V : Type}.
Variable places : list place.
Variable owner : place -> rank.
Variable what : place -> span part.
Definition has_own r p s := r = owner p /\ s = what p.
Definition wanted r p s := In r ranks /\ In p places /\ s = what p.

(* What `defined`, `match` and `once` say of it, beside the obligations `held` and `final`. A message moves data between equal
   places. No rank receives its own contribution, or receives into a place twice. *)
Definition stays := forall c, In c pieces -> In (from c) places /\ to c = from c.
Definition written_once := forall w, In w pieces -> dst (of w) <> owner (to w) /\
  forall w', In w' pieces -> writes w' (dst (of w)) (to w) -> w' = w.

(* The reversal. Place inr p of a rank holds its contribution, and place inl p its sum. The first step of a rank copies all
   its contributions to the sums: message inr. *)
Variable opening : Z.

Definition either {A B} (a : forall x y : A, {x = y} + {x <> y}) (b : forall x y : B, {x = y} + {x <> y}) :
  forall x y : A + B, {x = y} + {x <> y}.
Proof. decide equality. Qed.
Definition reversed : program := {|
  Model.rank := rank; Model.place := place + place; Model.message := message + rank; Model.piece := piece + rank * place;
  Model.rank_dec := rank_dec; Model.place_dec := either place_dec place_dec; Model.message_dec := either message_dec rank_dec;
  Model.piece_dec := either piece_dec (pair_dec rank_dec place_dec);
  Model.ranks := ranks;
  Model.step_keys := fun r => opening :: map Z.opp (step_keys r);
  Model.after := fun _ k => k;
  Model.messages := map inl messages ++ map inr ranks;
  Model.src := fun m => match m with inl m => dst m | inr r => r end;
  Model.dst := fun m => match m with inl m => src m | inr r => r end;
  Model.skey := fun m => match m with inl m => - rkey m | inr _ => opening end;
  Model.rkey := fun m => match m with inl m => - skey m | inr _ => opening end;
  Model.ahead := fun _ => None;
  Model.straight := fun _ => None;
  Model.pieces := map inl pieces ++ map inr (list_prod ranks places);
  Model.of := fun c => match c with inl c => inl (of c) | inr (r, _) => inr r end;
  Model.from := fun c => match c with inl c => inl (to c) | inr (_, p) => inr p end;
  Model.to := fun c => match c with inl c => inl (from c) | inr (_, p) => inl p end;
  Model.combines := fun c => match c with inl _ => Some Right | inr _ => None end;
  Model.turn := fun _ => 0 |}.

Variable finds : piece -> span part.
Variables source base : piece -> option piece.
Hypothesis W : well_formed.
Hypothesis M : keys_meet.
Hypothesis One : NoDup ranks.
Hypothesis Owner : forall p, In p places -> In (owner p) ranks.
Hypothesis First : forall r k, In r ranks -> In k (step_keys r) -> opening < - k.
Hypothesis S : stays.
Hypothesis H : held has_own (fun c => what (from c)) finds (fun w => what (to w)) source base.
Hypothesis O : written_once.
Hypothesis F : final_as has_own wanted (fun w => what (to w)) eq.

Local Notation pieces' := (@Model.pieces reversed).
Local Notation history := (@history reversed).
Local Notation moves c := (@inl (@piece P) (@rank P * @place P) c : @Model.piece reversed).
Local Notation starts r p := (@inr (@piece P) (@rank P * @place P) (r, p) : @Model.piece reversed).
Local Notation sum p := (@inl (@place P) (@place P) p : @Model.place reversed).
Local Notation given p := (@inr (@place P) (@place P) p : @Model.place reversed).
Local Notation Post := (@Model.Post reversed).
Local Notation Read := (@Model.Read reversed).
Local Notation Write := (@Model.Write reversed).

Lemma moves_in c : In (moves c) pieces' <-> In c pieces.
Proof.
  cbn. rewrite in_app_iff, !in_map_iff. split; [| eauto].
  intros [[x [[= <-] I]] | [x [[=] _]]]. exact I.
Qed.

Lemma starts_in r p : In (starts r p) pieces' <-> In r ranks /\ In p places.
Proof.
  rewrite <- in_prod_iff. cbn. rewrite in_app_iff, !in_map_iff. split; [| eauto].
  intros [[x [[=] _]] | [x [[= <-] I]]]. exact I.
Qed.

Lemma reversed_well_formed : @well_formed reversed.
Proof.
  destruct W as [Wm [Wp _]]. split; [| split; [| discriminate]].
  - intros [m | r] I; cbn in *; rewrite in_app_iff, !in_map_iff in I.
    + destruct I as [[x [[= <-] I]] | [x [[=] _]]]. destruct (Wm x I) as [a [b [c d]]]. auto 10 using in_map.
    + destruct I as [[x [[=] _]] | [x [[= <-] I]]]. auto.
  - intros [c | [r p]] I.
    + apply moves_in, Wp in I. cbn. apply in_app_iff. left. apply in_map, I.
    + apply starts_in in I. cbn. apply in_app_iff. right. apply in_map, I.
Qed.

Lemma reversed_keys_meet : @keys_meet reversed.
Proof.
  intros [m | r] I; cbn in *; [| reflexivity]. rewrite in_app_iff, !in_map_iff in I.
  destruct I as [[x [[= <-] I]] | [x [[=] _]]]. rewrite (M x I). reflexivity.
Qed.

Lemma keys_of (c : @piece P) : In c pieces -> opening < - rkey (of c) /\ opening < - skey (of c).
Proof.
  intros I. destruct W as [Wm [Wp _]]. destruct (Wm _ (Wp c I)) as [a [b [d e]]].
  split; [exact (First _ _ d e) | exact (First _ _ a b)].
Qed.

Section Run.
Variable may_post : @policy reversed.
Local Notation execution := (@execution reversed may_post).

(* A step that is posted has waited for all pieces of earlier steps. *)
Lemma written_before h r k w : execution h -> In (Post r k) h -> In w pieces' -> @dst reversed (@of reversed w) = r ->
  @rkey reversed (@of reversed w) < k -> In (Write w) h.
Proof.
  intros X I Iw D lt. pose proof (still may_post h _ X I) as [_ [_ [_ [U _]]]].
  apply (arrived_written may_post); [apply reversed_well_formed | exact X | exact Iw |]. rewrite D.
  apply U; [| exact lt | exact (Z.lt_le_incl _ _ lt)]. rewrite <- D. apply reversed_well_formed. apply reversed_well_formed, Iw.
Qed.

Lemma begun_to_read h (c : @piece P) : execution h -> In (Post (dst (of c)) (- rkey (of c))) h -> In c pieces ->
  In (Write (starts (dst (of c)) (to c))) h.
Proof.
  intros X I Ic. destruct (S c Ic) as [Ip ->]. destruct W as [Wm [Wp _]].
  apply (written_before h (dst (of c)) (- rkey (of c))); auto; [| apply keys_of, Ic].
  apply starts_in. split; [apply Wm, Wp, Ic | exact Ip].
Qed.

Lemma begun_to_write h (c : @piece P) : execution h -> In (Post (src (of c)) (- skey (of c))) h -> In c pieces ->
  In (Write (starts (src (of c)) (from c))) h.
Proof.
  intros X I Ic. destruct (S c Ic) as [Ip _]. destruct W as [Wm [Wp _]].
  apply (written_before h (src (of c)) (- skey (of c))); auto; [| apply keys_of, Ic].
  apply starts_in. split; [apply Wm, Wp, Ic | exact Ip].
Qed.

(* A sum is read only once nothing is added to it any more. *)
Lemma read_last h (c : @piece P) w : execution h -> In (Read (moves c)) h -> In w pieces' ->
  @writes reversed w (dst (of c)) (sum (to c)) -> In (Write w) h.
Proof.
  intros X I Iw [E T]. pose proof (still may_post h _ X I) as [Ic Po]. apply moves_in in Ic. cbn in Po.
  apply (written_before h (dst (of c)) (- rkey (of c))); auto.
  destruct w as [w | [r p]]; cbn in *; [| apply keys_of, Ic]. apply moves_in in Iw. injection T as T.
  destruct (O c Ic) as [own once]. pose proof (proj1 H w Iw) as Hw. destruct (source w) as [v |].
  - destruct Hw as [Iv [Wv [_ [lt _]]]]. rewrite E, T in Wv. rewrite (once v Iv Wv) in lt. lia.
  - destruct Hw as [e _]. destruct own. congruence.
Qed.

(* An event changes a place only if it writes there. *)
Definition next {U} := @store_next reversed unit U.
Definition any (r : rank) (q : place + place) (s : span unit) := True.

Lemma untouched {U} (op : U -> U -> U) init (h : history) r q :
  (forall w, In (Write w) h -> ~ @writes reversed w r q) -> @store reversed U op init h r q = init r q.
Proof.
  induction h as [| e h IH]; intros N; [reflexivity |].
  destruct (next op any init e h r q) as [[w [-> Ww]] | [_ ->]].
  - destruct (N w (or_introl eq_refl) Ww).
  - apply IH. intros w I. apply N. right. exact I.
Qed.

Lemma store_here {U} (op : U -> U -> U) init (h : history) w (r := @dst reversed (@of reversed w)) (q := @to reversed w) :
  @store reversed U op init (Write w :: h) r q =
  combined op (@combines reversed w) (@moved reversed U op init h w) (@store reversed U op init h r q).
Proof.
  destruct (next op any init (Write w) h r q) as [_ | [N _]].
  - cbn. destruct (rank_dec _ _); [destruct (either _ _ _ _); [reflexivity | contradiction] | contradiction].
  - destruct (N w eq_refl). split; reflexivity.
Qed.

Lemma given_stays {U} (op : U -> U -> U) init (h : history) r p :
  @store reversed U op init h r (given p) = init r (given p).
Proof. apply untouched. intros [c | [r' p']] _ [_ [=]]. Qed.

Lemma start_moves {U} (op : U -> U -> U) init (h : history) r p :
  @moved reversed U op init h (starts r p) = init r (given p).
Proof.
  induction h as [| e h IH]; [reflexivity |]. destruct e as [| | c | | |]; try exact IH. cbn [moved].
  destruct (@Model.piece_dec reversed c (starts r p)); [apply given_stays | exact IH].
Qed.

(* -- The contributors of each sum --------------------------------------------------------------------- *)

Definition own_list (r : rank) (q : place + place) : list rank := match q with inl _ => [] | inr _ => [r] end.
Local Notation list_of := (@store reversed (list rank) (@app rank) own_list).
Local Notation list_moved := (@moved reversed (list rank) (@app rank) own_list).

Lemma empty_before h r p : execution h -> ~ In (Write (starts r p)) h -> list_of h r (sum p) = [].
Proof.
  intros X N. rewrite untouched; [reflexivity |]. intros [w | [r' p']] I [E T]; cbn in E, T; injection T as T; subst.
  - apply N. pose proof (still may_post h _ X I) as [Iw [_ [_ G]]]. apply moves_in in Iw.
    apply (begun_to_write h w X); [apply G; reflexivity | exact Iw].
  - contradiction.
Qed.

(* A piece that is read carries the sum that stays. *)
Lemma moved_is_sum h (c : @piece P) : execution h -> In (Read (moves c)) h ->
  list_moved h (moves c) = list_of h (dst (of c)) (sum (to c)).
Proof.
  intros X. induction X as [| e h X IH N E]; intros I; [destruct I |].
  destruct (next (@app rank) any own_list e h (dst (of c)) (sum (to c))) as [[w [-> Ww]] | [_ ->]].
  - destruct I as [[=] | I]. destruct N. apply (read_last h c w X I); [apply E | exact Ww].
  - destruct I as [-> | I].
    + cbn. destruct (either _ _ _ _); [reflexivity | contradiction].
    + rewrite <- IH by exact I. destruct e as [| | c' | | |]; try reflexivity. cbn.
      destruct (either _ _ _ _) as [-> | _]; [contradiction | reflexivity].
Qed.

Fixpoint total_of {A} (f : A -> nat) (l : list A) : nat := match l with [] => 0%nat | a :: l => (f a + total_of f l)%nat end.

Lemma total_same {A} (f g : A -> nat) l : (forall a, In a l -> f a = g a) -> total_of f l = total_of g l.
Proof.
  induction l as [| a l IH]; intros E; [reflexivity |]. cbn. rewrite (E a) by (left; reflexivity). f_equal.
  apply IH. intros b I. apply E. right. exact I.
Qed.

Lemma total_changed {A} (f g : A -> nat) b l : NoDup l -> In b l -> (forall a, In a l -> a <> b -> f a = g a) ->
  (total_of f l + g b = total_of g l + f b)%nat.
Proof.
  induction 1 as [| a l N _ IH]; intros [] E; cbn.
  - subst. rewrite (total_same f g l); [lia |]. intros x I. apply E; [right; exact I | intros ->; contradiction].
  - assert (a <> b) by (intros ->; contradiction). rewrite (E a) by (cbn; auto).
    enough (total_of f l + g b = total_of g l + f b)%nat by lia. apply IH; auto. intros x I. apply E. right. exact I.
Qed.

Lemma total_permuted {A} (f : A -> nat) l l' : Permutation l l' -> total_of f l = total_of f l'.
Proof. induction 1; cbn; lia. Qed.

Lemma total_map {A B} (f : B -> nat) (g : A -> B) l : total_of f (map g l) = total_of (fun a => f (g a)) l.
Proof. induction l; cbn; congruence. Qed.

Lemma total_zero {A} (l : list A) : total_of (fun _ => 0%nat) l = 0%nat.
Proof. induction l; auto. Qed.

Fixpoint written (h : history) (w : @Model.piece reversed) : bool :=
  match h with
  | [] => false
  | e :: h => match e with Model.Write w' => if @Model.piece_dec reversed w' w then true else written h w | _ => written h w end
  end.

Lemma written_in h w : written h w = true <-> In (Write w) h.
Proof.
  induction h as [| e h IH]; cbn [written In]; [split; [discriminate | intros []] |].
  destruct e as [| | | w' | |]; try (rewrite IH; split; [auto | intros [[=] | I]; exact I]).
  destruct (@Model.piece_dec reversed w' w) as [-> | n]; [split; auto |].
  rewrite IH. split; [auto | intros [[=] | I]; [contradiction | exact I]].
Qed.

Variable p : place.
Hypothesis Ip : In p places.
(* The pieces of this place, each once. *)
Definition column := nodup piece_dec (filter (fun c => if place_dec (from c) p then true else false) pieces).

Lemma column_in c : In c column <-> In c pieces /\ from c = p.
Proof.
  unfold column. rewrite nodup_In, filter_In. destruct (place_dec (from c) p); intuition discriminate.
Qed.

Section Count.
Variable x : rank.
Local Notation count l := (count_occ rank_dec l x).
Definition in_sums h := total_of (fun r : @rank P => count (list_of h r (sum p))) ranks.
Definition begun h := total_of (fun r : @rank P => if written h (starts r p) then count [r] else 0%nat) ranks.
Definition brought h := total_of (fun c => if written h (moves c) then count (list_moved h (moves c)) else 0%nat) column.

(* What is in the sums has begun there, or was brought there by a piece. *)
Lemma counted h : execution h -> in_sums h = (begun h + brought h)%nat.
Proof.
  intros X. induction X as [| e h X IH N E].
  { unfold in_sums, begun, brought. cbn. rewrite !total_zero. reflexivity. }
  destruct e as [| | c | w | |]; try exact IH.
  - unfold in_sums, begun, brought in *. cbn [store written]. rewrite IH. f_equal. apply total_same. intros c' I.
    destruct (written h (moves c')) eqn:D; [| reflexivity]. cbn.
    destruct (either _ _ _ _) as [-> | _]; [| reflexivity].
    apply written_in in D. destruct N. exact (proj1 (proj2 (still may_post h _ X D))).
  - destruct (written h w) eqn:D; [apply written_in in D; contradiction |].
    destruct w as [w | [r q]].
    + pose proof (proj1 (moves_in w) (proj1 E)) as Iw. destruct W as [Wm [Wp _]].
      destruct (place_dec (from w) p) as [e | n].
      * assert (C : (in_sums (Write (moves w) :: h) + count (list_of h (src (of w)) (sum p)) =
                     in_sums h + count (list_of (Write (moves w) :: h) (src (of w)) (sum p)))%nat).
        { apply (total_changed (fun r => count (list_of (Write (moves w) :: h) r (sum p))) (fun r => count (list_of h r (sum p))));
            [exact One | apply Wm, Wp, Iw |]. intros r _ d. f_equal. cbn.
          destruct (rank_dec (src (of w)) r); [congruence | reflexivity]. }
        assert (G : (brought (Write (moves w) :: h) = brought h + count (list_moved h (moves w)))%nat).
        { pose proof (total_changed
            (fun c => if written (Write (moves w) :: h) (moves c) then count (list_moved h (moves c)) else 0%nat)
            (fun c => if written h (moves c) then count (list_moved h (moves c)) else 0%nat) w column) as T.
          cbn [written] in T. rewrite D in T. unfold brought. cbn [written moved].
          destruct (@Model.piece_dec reversed (moves w) (moves w)); [| contradiction].
          rewrite <- plus_n_O in T. apply T; [apply NoDup_nodup | apply column_in; auto |].
          intros c _ d. destruct (@Model.piece_dec reversed (moves w) (moves c)) as [[= ->] | _]; [contradiction | reflexivity]. }
        assert (B : begun (Write (moves w) :: h) = begun h).
        { apply total_same. intros r _. cbn [written].
          destruct (@Model.piece_dec reversed (moves w) (starts r p)) as [[=] | _]. reflexivity. }
        assert (V' : list_of (Write (moves w) :: h) (src (of w)) (sum p) = list_of h (src (of w)) (sum p) ++ list_moved h (moves w)).
        { rewrite <- e. exact (store_here _ own_list h (moves w)). }
        rewrite V', count_occ_app in C. rewrite G, B. lia.
      * transitivity (in_sums h); [| rewrite IH; f_equal]; apply total_same.
        -- intros r _. f_equal. cbn. destruct (rank_dec (src (of w)) r); [| reflexivity].
           destruct (either _ _ _ _) as [[=] | _]; [contradiction | reflexivity].
        -- intros r _. cbn [written]. destruct (@Model.piece_dec reversed (moves w) (starts r p)) as [[=] | _]. reflexivity.
        -- intros c I. cbn [written]. destruct (@Model.piece_dec reversed (moves w) (moves c)) as [[= <-] | _]; [| reflexivity].
           apply column_in in I. tauto.
    + assert (G : brought (Write (starts r q) :: h) = brought h).
      { apply total_same. intros c _. cbn [written].
        destruct (@Model.piece_dec reversed (starts r q) (moves c)) as [[=] | _]. reflexivity. }
      pose proof (proj1 (starts_in r q) (proj1 E)) as [Ir _]. destruct (place_dec q p) as [-> | n].
      * assert (C : (in_sums (Write (starts r p) :: h) + count (list_of h r (sum p)) =
                     in_sums h + count (list_of (Write (starts r p) :: h) r (sum p)))%nat).
        { apply (total_changed (fun r' => count (list_of (Write (starts r p) :: h) r' (sum p))) (fun r' => count (list_of h r' (sum p))));
            [exact One | exact Ir |]. intros r' _ d. f_equal. cbn.
          destruct (rank_dec r r'); [congruence | reflexivity]. }
        assert (B : (begun (Write (starts r p) :: h) = begun h + count [r])%nat).
        { pose proof (total_changed
            (fun r' => if written (Write (starts r p) :: h) (starts r' p) then count [r'] else 0%nat)
            (fun r' => if written h (starts r' p) then count [r'] else 0%nat) r ranks) as T.
          cbn [written] in T. rewrite D in T. unfold begun. cbn [written].
          destruct (@Model.piece_dec reversed (starts r p) (starts r p)); [| contradiction].
          rewrite <- plus_n_O in T. apply T; [exact One | exact Ir |].
          intros r' _ d. destruct (@Model.piece_dec reversed (starts r p) (starts r' p)) as [[= ->] | _]; [contradiction | reflexivity]. }
        rewrite (empty_before h r p X) in C by (intros J; apply written_in in J; congruence).
        assert (V' : list_of (Write (starts r p) :: h) r (sum p) = [r]).
        { transitivity (list_moved h (starts r p)); [exact (store_here _ own_list h (starts r p)) | exact (start_moves _ own_list h r p)]. }
        rewrite V' in C. rewrite G, B. cbn [count_occ] in C |- *. lia.
      * rewrite G. transitivity (in_sums h); [| rewrite IH; f_equal]; apply total_same; intros r' _.
        -- f_equal. cbn. destruct (rank_dec r r'); [| reflexivity].
           destruct (either _ _ _ _) as [[=] | _]; [contradiction | reflexivity].
        -- cbn [written]. destruct (@Model.piece_dec reversed (starts r q) (starts r' p)) as [[=] | _]; [contradiction | reflexivity].
Qed.
End Count.

(* Each rank but the owner sends its sum once. *)
Lemma senders : Permutation ranks (owner p :: map (fun c => dst (of c)) column).
Proof.
  destruct W as [Wm [Wp _]]. apply NoDup_Permutation; [exact One | |].
  - constructor.
    + intros I. apply in_map_iff in I as [c [e I]]. apply column_in in I as [I <-].
      destruct (O c I) as [n _]. destruct (S c I) as [_ E]. rewrite E in n. contradiction.
    + apply injective_NoDup; [apply NoDup_nodup |]. intros a b Ia Ib e.
      apply column_in in Ia as [Ia Ea], Ib as [Ib Eb]. symmetry. apply (O a Ia); [exact Ib |].
      destruct (S a Ia) as [_ Ta], (S b Ib) as [_ Tb]. split; congruence.
  - intros r. split.
    + intros I. destruct (F r p (what p) (conj I (conj Ip eq_refl))) as [s [_ [[w [Iw [[D T] _]]] | [[-> _] _]]]]; [right | left; reflexivity].
      apply in_map_iff. exists w. split; [exact D |]. apply column_in. destruct (S w Iw) as [_ E]. split; congruence.
    + intros [<- | I]; [apply Owner, Ip |]. apply in_map_iff in I as [c [<- I]]. apply column_in in I as [I _]. apply Wm, Wp, I.
Qed.

Lemma all_written h w : execution h -> @final_state reversed h -> In w pieces' -> In (Write w) h.
Proof.
  intros X D I. apply (arrived_written may_post); auto using reversed_well_formed.
  apply D; apply reversed_well_formed, reversed_well_formed, I.
Qed.

Lemma owner_has_all h : execution h -> @final_state reversed h -> Permutation (list_of h (owner p) (sum p)) ranks.
Proof.
  intros X D. apply (Permutation_count_occ rank_dec). intros x. pose proof (counted x h X) as C.
  unfold in_sums, begun, brought in C.
  rewrite (total_same (fun r => if written h (starts r p) then count_occ rank_dec [r] x else 0%nat)
                      (fun r => count_occ rank_dec [r] x)) in C.
  2: { intros r I. rewrite (proj2 (written_in h (starts r p))); [reflexivity |]. apply all_written; [exact X | exact D | apply starts_in; auto]. }
  rewrite (total_same (fun c => if written h (moves c) then count_occ rank_dec (list_moved h (moves c)) x else 0%nat)
                      (fun c => count_occ rank_dec (list_of h (dst (of c)) (sum p)) x)) in C.
  2: { intros c I. apply column_in in I as [I e].
       assert (J : In (Write (moves c)) h) by (apply all_written; [exact X | exact D | apply moves_in, I]).
       rewrite (proj2 (written_in h (moves c)) J), (moved_is_sum h c X (proj1 (proj2 (still may_post h _ X J)))).
       rewrite (proj2 (S c I)), e. reflexivity. }
  pose proof (total_permuted (fun r : @rank P => count_occ rank_dec (list_of h r (sum p)) x) _ _ senders) as U.
  cbn [total_of] in U. rewrite total_map in U.
  assert (T : forall l, total_of (fun r => count_occ rank_dec [r] x) l = count_occ rank_dec l x).
  { induction l as [| r l IH]; [reflexivity |]. cbn in *. rewrite IH. destruct (rank_dec r x); reflexivity. }
  rewrite T in C. lia.
Qed.
End Run.

(* -- The values ---------------------------------------------------------------------------------------- *)

Variable contribution : place -> rank -> V.
Variable op : V -> V -> V.
Variable nothing : V.
Hypothesis associative : forall a b c, op a (op b c) = op (op a b) c.
Local Notation total := (total op nothing).
Local Notation store := (@store reversed V op).
Local Notation list_of := (@Model.store reversed (list rank) (@app rank) own_list).
Local Notation list_moved := (@moved reversed (list rank) (@app rank) own_list).

(* The value is the sum of these contributions. *)
Definition adds (q : place) (v : V) (l : list rank) := l <> [] /\ v = total (map (contribution q) l).

Definition place_of (c : @Model.piece reversed) : place := match c with inl c => from c | inr (_, q) => q end.

Lemma values may_post init h : (forall r q, In r ranks -> In q places -> init r (given q) = contribution q r) ->
  @execution reversed may_post h ->
  (forall r q, In (Write (starts r q)) h -> adds q (store init h r (sum q)) (list_of h r (sum q))) /\
  (forall c, In (Read c) h -> adds (place_of c) (@moved reversed V op init h c) (list_moved h c)).
Proof.
  intros G X. induction X as [| e h X [IHs IHm] N E]; [split; intros; contradiction |].
  assert (Wp := proj1 (proj2 W)). assert (Wm := proj1 W).
  destruct e as [| | c | w | |];
    try (split; [intros r' q [[=] | I]; exact (IHs r' q I) | intros c [[=] | I]; exact (IHm c I)]).
  - split; [intros r q [[=] | I]; exact (IHs r q I) |]. intros c' I. cbn [moved].
    destruct (@Model.piece_dec reversed c c') as [<- | n]; [| apply IHm; destruct I as [[=] | I]; [congruence | exact I]].
    destruct E as [Ic Po]. destruct c as [c | [r q]].
    + apply moves_in in Ic. destruct (S c Ic) as [_ T].
      change (adds (from c) (store init h (dst (of c)) (sum (to c))) (list_of h (dst (of c)) (sum (to c)))).
      rewrite <- T. apply IHs, (begun_to_read may_post h c X Po Ic).
    + apply starts_in in Ic as [Ir Iq]. change (adds q (store init h r (given q)) (list_of h r (given q))).
      rewrite !given_stays, G by assumption. split; [discriminate | reflexivity].
  - split; [| intros c [[=] | I]; exact (IHm c I)]. intros r q I.
    destruct E as [Iw [R _]]. pose proof (IHm w R) as [Nw Ew].
    destruct (next op any init (Write w) h r (sum q)) as [[w' [[= <-] [Dw Tw]]] | [N' ->]].
    + rewrite <- Dw, <- Tw, !store_here. rewrite Dw, Tw. destruct w as [w | [r' q']].
      * destruct I as [[=] | I]. pose proof (IHs r q I) as [Nq Eq]. injection Tw as <-.
        cbn [combined Model.combines reversed]. split; [intros A; apply app_eq_nil in A; tauto |].
        rewrite Ew, Eq, map_app. symmetry.
        apply (total_app op nothing associative); intros A; apply map_eq_nil in A; contradiction.
      * injection Tw as <-. split; assumption.
    + destruct (next (@app rank) any own_list (Write w) h r (sum q))
        as [[w' [[= <-] Ww]] | [_ ->]]; [destruct (N' w eq_refl Ww) |].
      apply IHs. destruct I as [[= ->] | I]; [destruct (N' _ eq_refl); split; reflexivity | exact I].
Qed.

Hypothesis commutative : commutative op.

Lemma sum_is_right may_post init h : (forall r q, In r ranks -> In q places -> init r (given q) = contribution q r) ->
  @execution reversed may_post h -> @final_state reversed h ->
  forall q, In q places -> store init h (owner q) (sum q) = total (map (contribution q) ranks).
Proof.
  intros G X D q Iq.
  destruct (values may_post init h G X) as [E _].
  destruct (E (owner q) q) as [_ ->].
  - apply (all_written may_post); auto. apply starts_in. auto.
  - apply (total_permutation op nothing associative _ _ commutative), Permutation_map, (owner_has_all may_post); assumption.
Qed.

(* The reversal of a program whose obligations hold: *)
Theorem reversal_is_right : forall init may_post h,
  (forall r p, In r ranks -> In p places -> init r (given p) = contribution p r) ->
  @lawful reversed may_post -> @execution reversed may_post h ->
  (* every execution ends, *)
  (length h <= length (@all_events reversed))%nat /\
  (* where it can go no further without buffering, it is at its end, *)
  ((forall e, @unbuffered reversed may_post h e -> In e h) -> @final_state reversed h) /\
  (* and there each owner has the sum of all contributions. *)
  (@final_state reversed h ->
     forall p, In p places -> store init h (owner p) (sum p) = total (map (contribution p) ranks)).
Proof.
  intros init may_post h G L X. split; [eapply executions_end, X |]. split.
  - apply no_deadlock; auto using reversed_well_formed, reversed_keys_meet.
  - intros D. exact (sum_is_right may_post init h G X D).
Qed.

(* So it is if the runtime follows lawful plans of it. *)
Theorem runtime_reversal_is_right (plan : rank -> list (@event reversed)) : @lawful_plan reversed plan ->
  forall init h, (forall r p, In r ranks -> In p places -> init r (given p) = contribution p r) -> @run reversed plan h ->
  (forall e, @must reversed plan h e -> In e h) ->
  forall p, In p places -> store init h (owner p) (sum p) = total (map (contribution p) ranks).
Proof.
  intros L init h G R stuck. assert (X : @execution reversed anyhow h)
    by (apply (@run_is_execution reversed plan); auto using reversed_well_formed).
  apply (sum_is_right anyhow init h G X).
  apply (@run_ends reversed plan); auto using reversed_well_formed, reversed_keys_meet.
Qed.
End Reverse.
