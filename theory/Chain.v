(* Two programs that meet all obligations, for every number of ranks. Each rank receives from the next rank and then
   sends to the previous one. In the broadcast it sends what it received. In the reduction, by any associative
   operator, it sends what it received combined with its own contribution. *)
From Coq Require Import List ZArith Lia Bool Sorted.
From Quadrille Require Import Model Spans Obligations Order Progress Values Runtime.
Require Import Quadrille.Theorem.
Import ListNotations. Open Scope Z_scope.

Definition unit_dec (a b : unit) : {a = b} + {a <> b}.
Proof. decide equality. Defined.

Lemma one_place (a b : unit) : a = b.
Proof. destruct a, b. reflexivity. Qed.

(* The ranks 0, 1, ... p - 1. *)
Definition all (p : nat) := map Z.of_nat (seq 0 p). Lemma all_in p r : In r (all p) <-> 0 <= r < Z.of_nat p.
Proof.
  unfold all. rewrite in_map_iff. split.
  - intros [i [<- I]]. apply in_seq in I. lia.
  - intros B. exists (Z.to_nat r). split; [lia | apply in_seq; lia].
Qed.

Section Chain.
Variable p : nat.
Variables (early : option Z) (with_own : option side).   (* the form of the receive *)
Local Notation n := (Z.of_nat p).
Local Notation all := (all p).

(* A rank has one place. It receives from r + 1, if that rank exists, and then sends to r - 1. *)
Definition take (r : Z) : step Z unit :=
  {| key := n - r - 2; waits := -1; sends := []; receives := [(r + 1, [tt])] |}.
Definition give (r : Z) : step Z unit :=
  {| key := n - r - 1; waits := n - r - 2; sends := [(r - 1, [tt])]; receives := [] |}.
Definition chain (r : Z) := (if r + 1 <? n then [take r] else []) ++ (if 0 <? r then [give r] else []).

(* The last of the ranks r, r + 1, ... *)
Definition from_on (r : Z) : span unit := consecutive p r (Z.to_nat (n - r)) tt.
Definition alone (r : Z) : span unit := consecutive p r 1 tt.

Lemma chain_in r s : In s (chain r) <-> (r + 1 < n /\ s = take r) \/ (0 < r /\ s = give r).
Proof.
  unfold chain. rewrite in_app_iff.
  destruct (Z.ltb_spec (r + 1) n), (Z.ltb_spec 0 r); simpl; intuition (subst; auto; lia).
Qed.

Lemma chain_keys : keys Z unit all chain.
Proof.
  intros r _. unfold chain. destruct (r + 1 <? n), (0 <? r); simpl; repeat constructor. simpl. lia.
Qed.

Lemma chain_match : match_ Z unit all chain.
Proof.
  split; [| split].
  - intros r s _ I. apply chain_in in I as [[_ ->] | [_ ->]]; simpl; split; repeat constructor; intros [].
  - intros r s q l R I J. apply all_in in R. apply chain_in in I as [[_ ->] | [lt ->]]; [destruct J |].
    destruct J as [[= <- <-] | []]. split; [apply all_in; lia |]. exists (take (r - 1)), [tt]. simpl.
    split; [apply chain_in; left; split; [lia | reflexivity] |]. split; [lia |]. split; [left; f_equal; lia | reflexivity].
  - intros r s q l R I J. apply all_in in R. apply chain_in in I as [[lt ->] | [_ ->]]; [| destruct J].
    destruct J as [[= <- <-] | []]. split; [apply all_in; lia |]. exists (give (r + 1)), [tt]. simpl.
    split; [apply chain_in; right; split; [lia | reflexivity] |]. split; [lia |]. split; [left; f_equal; lia | reflexivity].
Qed.

Local Notation the_piece := (piece_id Z).
Local Notation program := (written Z unit Z.eq_dec unit_dec tt all chain (fun _ => early) (fun _ => with_own)
                             (fun _ => 0)).
Local Notation travels := (job Z unit Z.eq_dec unit_dec tt all chain (fun _ => early) (fun _ => with_own)
                             (fun _ => 0) (fun _ => false) (fun _ => false)).

(* The piece that rank r sends. *)
Definition from_rank (r : Z) : the_piece := (r, r - 1, 0%nat, 0%nat).

Lemma sent_is r q : sent Z unit Z.eq_dec chain r q =
  if 0 <? r then if Z.eq_dec (r - 1) q then [(n - r - 1, [tt])] else [] else [].
Proof.
  unfold sent, chain. destruct (r + 1 <? n), (0 <? r); cbn; unfold to_peer; cbn; destruct (Z.eq_dec (r - 1) q); reflexivity.
Qed.

Lemma received_is r q : received Z unit Z.eq_dec chain r q =
  if r + 1 <? n then if Z.eq_dec (r + 1) q then [(n - r - 2, [tt])] else [] else [].
Proof.
  unfold received, chain. destruct (r + 1 <? n), (0 <? r); cbn; unfold to_peer; cbn; destruct (Z.eq_dec (r + 1) q); reflexivity.
Qed.

Lemma piece_is c : In c (@pieces program) <-> exists r, 0 < r < n /\ c = from_rank r.
Proof.
  destruct c as [[[r q] t] i]. split.
  - intros I. destruct (proj1 (piece_in Z unit Z.eq_dec all chain (r, q, t) i) I) as [M L].
    apply message_in in M as [R [Q T]]. unfold send_of in L. rewrite sent_is in T, L. apply all_in in R, Q.
    destruct (Z.ltb_spec 0 r), (Z.eq_dec (r - 1) q); simpl in T; try lia.
    destruct t; [| lia]. destruct i; [| simpl in L; lia]. exists r. subst q. split; [lia | reflexivity].
  - intros [r' [B [= -> -> -> ->]]]. apply piece_in.
    split; [apply message_in; rewrite !all_in; do 2 (split; [lia |]) | unfold send_of]; rewrite sent_is;
      (destruct (Z.ltb_spec 0 r'); [| lia]); (destruct (Z.eq_dec (r' - 1) (r' - 1)); [simpl; lia | contradiction]).
Qed.

Lemma send_key r : 0 < r < n -> @skey program (r, r - 1, 0%nat) = n - r - 1.
Proof.
  intros B. change (fst (nth 0 (sent Z unit Z.eq_dec chain r (r - 1)) (0, [])) = n - r - 1). rewrite sent_is.
  destruct (Z.ltb_spec 0 r); [| lia]. destruct (Z.eq_dec (r - 1) (r - 1)); [reflexivity | contradiction].
Qed.

Lemma receive_key r : 0 < r < n -> @rkey program (r, r - 1, 0%nat) = n - r - 1.
Proof.
  intros B. change (fst (nth 0 (received Z unit Z.eq_dec chain (r - 1) r) (0, [])) = n - r - 1). rewrite received_is.
  destruct (Z.ltb_spec (r - 1 + 1) n); [| lia]. destruct (Z.eq_dec (r - 1 + 1) r); [simpl; lia | lia].
Qed.

Lemma give_waits r : 0 < r < n -> @after program r (n - r - 1) = n - r - 2.
Proof.
  intros B. change (waits_of Z unit chain r (n - r - 1) = n - r - 2). unfold waits_of, chain.
  destruct (Z.ltb_spec (r + 1) n), (Z.ltb_spec 0 r); try lia; cbn [app find key take give];
    [destruct (Z.eqb_spec (n - r - 2) (n - r - 1)); [lia |] |]; rewrite Z.eqb_refl; reflexivity.
Qed.

Lemma one_write c w r b : In c (@pieces program) -> In w (@pieces program) ->
  @writes program c r b -> @writes program w r b -> w = c.
Proof.
  intros I I' [D _] [D' _]. apply piece_is in I as [q [_ ->]], I' as [q' [_ ->]].
  change (q - 1 = r) in D. change (q' - 1 = r) in D'. f_equal. lia.
Qed.

(* A rank sends what it received, if there is a next rank. *)
Definition source (c : the_piece) := let r := fst (fst (fst c)) in if r + 1 <? n then Some (from_rank (r + 1)) else None.

Lemma source_is_held (holds : Z -> unit -> span unit -> Prop) (carries leaves : the_piece -> span unit) :
  (forall r, 0 < r -> r + 1 < n -> leaves (from_rank (r + 1)) = carries (from_rank r)) ->
  (0 < n - 1 -> holds (n - 1) tt (carries (from_rank (n - 1)))) ->
  forall c, In c (@pieces program) -> @held_by program unit holds leaves (source c) (@src program (@of program c))
    (@from program c) (carries c) (fun w =>
      @rkey program (@of program w) < @skey program (@of program c) /\
      @rkey program (@of program w) <= @after program (@src program (@of program c)) (@skey program (@of program c))).
Proof.
  intros L F c I. apply piece_is in I as [r [R ->]]. change (@src program (@of program (from_rank r))) with r.
  change (@of program (from_rank r)) with (r, r - 1, 0%nat).
  rewrite send_key, give_waits by exact R. unfold source. cbn [fst snd from_rank].
  destruct (Z.ltb_spec (r + 1) n) as [lt | ge].
  - split; [apply piece_is; exists (r + 1); split; [lia | reflexivity] |].
    split; [split; [change (r + 1 - 1 = r); lia | apply one_place] |]. split; [apply L; lia |].
    change (@of program (from_rank (r + 1))) with (r + 1, r + 1 - 1, 0%nat). rewrite receive_key by lia. lia.
  - replace r with (n - 1) by lia. rewrite (one_place (@from program _) tt). apply F. lia.
Qed.

Lemma source_is_alone c w : In c (@pieces program) -> In w (@pieces program) ->
  @writes program w (@src program (@of program c)) (@from program c) -> source c = Some w.
Proof.
  intros I I' [D _]. apply piece_is in I as [r [R ->]], I' as [r' [R' ->]]. change (r' - 1 = r) in D.
  unfold source. cbn [fst snd from_rank]. destruct (Z.ltb_spec (r + 1) n); [| lia]. do 2 f_equal. lia.
Qed.

Lemma later_read c w : In c (@pieces program) -> In w (@pieces program) ->
  @reads program c (@dst program (@of program w)) (@to program w) ->
  @rkey program (@of program w) < @skey program (@of program c).
Proof.
  intros I I' [D _]. apply piece_is in I as [r [R ->]], I' as [r' [R' ->]]. change (r = r' - 1) in D.
  change (@of program (from_rank r)) with (r, r - 1, 0%nat). change (@of program (from_rank r')) with (r', r' - 1, 0%nat).
  rewrite send_key, receive_key by assumption. lia.
Qed.

Section Runs.
Context {V : Type}.
Variables (value : Z -> V) (op : V -> V -> V) (nothing : V) (init : Z -> unit -> V) (may_post : @policy travels).
Hypothesis Op : associative V op.
Hypothesis L : @lawful travels may_post.
Variable h : @history travels.
Hypothesis X : @execution travels may_post h.

(* Every rank gets the value of the last rank, whenever the receives are posted. *)
Theorem broadcast_is_right : with_own = None -> init (n - 1) tt = value (n - 1) ->
  ((forall e, @unbuffered travels may_post h e -> In e h) -> @final_state travels h) /\
  (@final_state travels h -> forall r, In r all -> @store travels V op init h r tt = value (n - 1)).
Proof.
  intros S B. set (last := fun _ : the_piece => alone (n - 1)).
  destruct (collective_is_right Z unit unit V Z.eq_dec unit_dec tt all chain (fun _ => early) (fun _ => with_own)
    (fun _ => 0) (fun _ => false) (fun _ => false) (fun _ => value) op nothing
    (fun r _ s => 0 < n /\ r = n - 1 /\ s = alone r) (fun r _ s => In r all /\ s = alone (n - 1)) last last last source
    (fun _ => None) Op chain_keys chain_match) with (init := init) (may_post := may_post) (h := h) as [_ [D [F _]]];
    auto.
  - split; [apply source_is_held; auto; intros; repeat split; lia | intros w _ N; destruct (N S)].
  - split; [| intros c w _ _ _ N; destruct (N S)]. intros c w I I' Ww N. destruct (N (source_is_alone c w I I' Ww)).
  - intros w _. assert (K : @combines program w = None) by exact S. rewrite K. reflexivity.
  - intros r b s [R ->]. apply all_in in R. eexists. split; [left; reflexivity |].
    destruct (Z_lt_ge_dec (r + 1) n) as [lt | ge]; [left | right].
    + assert (I : In (from_rank (r + 1)) (@pieces program)) by (apply piece_is; exists (r + 1); split; [lia | reflexivity]).
      assert (Ww : @writes program (from_rank (r + 1)) r b) by (split; [change (r + 1 - 1 = r); lia | apply one_place]).
      exists (from_rank (r + 1)). split; [exact I |]. split; [exact Ww |]. split; [reflexivity |].
      intros w' I' Ww' N. destruct N. apply (one_write _ _ r b); assumption.
    + split; [repeat split; [lia | lia | f_equal; lia] |]. intros w I [D' _]. reflexivity.
  - intros w r b I Ww. split; [| intros w' I' Ww' N; destruct N; apply (one_write _ _ r b); assumption].
    intros [_ [E _]]. apply piece_is in I as [q [R ->]]. destruct Ww as [Dw _]. change (q - 1 = r) in Dw. lia.
  - intros w a I _. split; [exact S |]. split.
    + intros c Ic Rc le. pose proof (later_read c w Ic I Rc). lia.
    + intros w' I' Ww' N. destruct N. exact (one_write w w' _ _ I I' (conj eq_refl eq_refl) Ww').
  - intros r [] s [pos [-> ->]]. rewrite B. symmetry. apply (meaning_of_one p (fun _ => value)). lia.
  - split; [exact D |]. intros G r R. rewrite (F G r tt (alone (n - 1))) by auto.
    apply all_in in R. apply (meaning_of_one p (fun _ => value)). lia.
Qed.

(* Rank 0 gets the contributions of all ranks, combined in the order of ranks. *)
Theorem reduction_is_right : early = None -> with_own = Some Right -> (0 < p)%nat -> (forall r, init r tt = value r) ->
  ((forall e, @unbuffered travels may_post h e -> In e h) -> @final_state travels h) /\
  (@final_state travels h -> @store travels V op init h 0 tt = total op nothing (map value all)).
Proof.
  intros Late S Pos B. set (carries := fun c : the_piece => from_on (fst (fst (fst c)))).
  set (finds := fun c : the_piece => alone (snd (fst (fst c)))).
  set (leaves := fun c : the_piece => from_on (snd (fst (fst c)))).
  assert (one : forall r, r + 1 = n -> from_on r = alone r) by (intros r E; unfold from_on, alone; f_equal; lia).
  destruct (collective_is_right Z unit unit V Z.eq_dec unit_dec tt all chain (fun _ => early) (fun _ => with_own)
    (fun _ => 0) (fun _ => false) (fun _ => false) (fun _ => value) op nothing
    (fun r _ s => In r all /\ s = alone r) (fun r _ s => r = 0 /\ s = from_on 0) carries finds leaves source
    (fun _ => None) Op chain_keys chain_match) with (init := init) (may_post := may_post) (h := h) as [_ [D [F _]]];
    auto.
  - split.
    + apply source_is_held; [intros; unfold leaves, carries; cbn; f_equal; lia |].
      intros pos. split; [apply all_in; lia | apply one; lia].
    + intros w I _. apply piece_is in I as [r [R ->]]. split; [apply all_in; cbn; lia | reflexivity].
  - split; intros c w I I' Ww.
    + intros N. destruct (N (source_is_alone c w I I' Ww)).
    + intros _ N. destruct N. exact (one_write c w _ _ I I' (conj eq_refl eq_refl) Ww).
  - intros w I. apply piece_is in I as [r [R ->]].
    assert (K : @combines program (from_rank r) = Some Right) by exact S. rewrite K. right. left. split; [left; reflexivity |].
    unfold carries, finds, leaves, from_on, alone. cbn [fst snd from_rank].
    replace (Z.to_nat (n - (r - 1))) with (1 + Z.to_nat (n - r))%nat by lia.
    apply consecutive_adjacent; [f_equal; lia | lia | lia].
  - intros r b s [-> ->]. exists (from_on 0). split; [left; reflexivity |].
    destruct (Z_lt_ge_dec 1 n) as [lt | ge]; [left | right].
    + assert (I : In (from_rank 1) (@pieces program)) by (apply piece_is; exists 1; split; [lia | reflexivity]).
      assert (Ww : @writes program (from_rank 1) 0 b) by (split; [reflexivity | apply one_place]).
      exists (from_rank 1). split; [exact I |]. split; [exact Ww |]. split; [reflexivity |].
      intros w' I' Ww' N. destruct N. apply (one_write _ _ 0 b); assumption.
    + split; [split; [apply all_in; lia | apply one; lia] |]. intros w I. apply piece_is in I as [r [R _]]. lia.
  - intros w r b I Ww. split; [| intros w' I' Ww' N; destruct N; apply (one_write _ _ r b); assumption].
    intros [_ E]. apply piece_is in I as [q [R ->]]. destruct Ww as [<- _].
    apply (f_equal (fun s => length (contributors s))) in E.
    unfold leaves, from_on, alone, consecutive in E. cbn [contributors fst snd from_rank] in E.
    change (@dst program (@of program (from_rank q))) with (q - 1) in E.
    rewrite !map_length, !seq_length in E. lia.
  - intros w a _ E. change (early = Some a) in E. congruence.
  - intros r [] s [R ->]. rewrite B. symmetry. apply (meaning_of_one p (fun _ => value)). apply all_in, R.
  - split; [exact D |]. intros G. rewrite (F G 0 tt (from_on 0)) by auto.
    unfold from_on, Chain.all. rewrite Z.sub_0_r, Nat2Z.id, map_map. apply (meaning_of_all p (fun _ => value)).
Qed.
End Runs.
End Chain.
