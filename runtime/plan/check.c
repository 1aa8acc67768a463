/* Whether a plan is lawful.
 *
 * The program becomes three lists (check_program.c): sends, receives and local statements, each in the order of the text. The
 * plan must have the same messages with the same parts. The check takes the operations of the plan in order. It gives each
 * message and statement the positions at which it is posted, complete, read and written. A law is then a comparison of
 * positions.
 *
 * The program orders writes by step. In a step, local statements come before receives, and each kind is in the order of the
 * text.
 *
 * If only the two ends of a message know its lengths, a temporary block is a name for a message buffer. A write gives it
 * another buffer, so it cannot disturb a read. The law `buffers` says that no buffer is used again too early.
 *
 * tests/verifier/plans_test.cc checks the plans of all programs, and mutants of them. */
#include "runtime/plan/check_lists.h"

const char* const qd_laws[] = {
    "own",          "all_posted", "all_opened",    "all_sent",     "all_received",
    "all_put_away", "in_steps",   "after_steps",   "read_in_step", "early",
    "saves",        "puts_away",  "posted_by_key", "posted_early", "buffers",
    "match",        NULL};

#define BREAKS(check, name, ...)                                 \
  do {                                                           \
    if (!(check)->law) {                                         \
      (check)->law = (name);                                     \
      snprintf((check)->text, sizeof(check)->text, __VA_ARGS__); \
    }                                                            \
  } while (0)

struct qd_plan_check* qd_check_open(const struct qd_plan_input* input, int in_place, int64_t unit) {
  struct qd_plan_check* c = calloc(1, sizeof *c);
  int32_t blocks[2];
  if (!c) return NULL;
  const size_t temporaries = (size_t)input->tables->temporary_blocks + 1;
  qd_block_counts(input->program, input->context, blocks);
  c->call.input = *input;
  c->call.in_place = in_place;
  c->call.unit = unit;
  c->call.has_global_counts = qd_has_global_counts(input->program);
  c->call.gathers = input->program->collective == QD_ALLGATHER && input->program->groups == 1;
  c->call.send_blocks = blocks[QD_PIECE_SEND];
  c->call.receive_blocks = blocks[QD_PIECE_RECEIVE];
  const size_t regions = (size_t)c->call.send_blocks + (size_t)c->call.receive_blocks + temporaries;
  c->program.lengths = calloc(temporaries, sizeof *c->program.lengths);
  c->replay.holders = calloc(regions, sizeof *c->replay.holders);
  c->replay.saved = calloc(regions, sizeof *c->replay.saved);
  c->replay.saved_in = calloc(regions, sizeof *c->replay.saved_in);
  if (!c->program.lengths || !c->replay.holders || !c->replay.saved || !c->replay.saved_in) {
    qd_check_close(c);
    return NULL;
  }
  memset(c->replay.holders, -1, regions * sizeof *c->replay.holders);
  memset(c->replay.saved, -1, regions * sizeof *c->replay.saved);
  qd_check_read_program(c);
  return c;
}

void qd_check_close(struct qd_plan_check* c) {
  if (!c) return;
  for (int i = 0; i < 3; i++) free(c->program.lists[i].all);
  free(c->program.spans);
  free(c->program.steps);
  free(c->replay.uses);
  free(c->program.lengths);
  free(c->replay.holders);
  free(c->replay.saved);
  free(c->replay.saved_in);
  free(c);
}

/* ---- The plan */

static int32_t take_buffer(struct qd_plan_check* c, int32_t buffer) {
  struct use* use = qd_check_grow(c, (void**)&c->replay.uses, &c->replay.use_count,
                                  &c->replay.use_capacity, sizeof *use);
  *use = (struct use){buffer, c->replay.position, c->replay.position};
  return c->replay.use_count - 1;
}

static void keep_until_now(struct qd_plan_check* c, int32_t use) {
  if (use >= 0 && c->replay.uses[use].to < c->replay.position)
    c->replay.uses[use].to = c->replay.position;
}

static int is_same_span(const struct qd_plan_check* c, const struct span* span,
                        const struct qd_part* part) {
  if (!c->call.has_global_counts) return span->region == part->region && part->form != QD_RANGE;
  return span->region == part->region && span->low == part->low && span->high == part->high &&
         part->form == QD_RANGE;
}

/* Compares a message of the plan with that of the program. */
static void compare(struct qd_plan_check* c, const struct qd_plan* plan, const struct act* act,
                    const struct qd_message* m, const char* what) {
  const struct qd_part* parts = qd_parts_of(plan, m);
  int is_same = act->peer == m->peer && act->count == m->count && act->combines == m->combines;
  for (int32_t i = 0; is_same && i < m->count; i++)
    is_same = is_same_span(c, &c->program.spans[act->first + i], &parts[i]);
  if (c->call.has_global_counts && act->bytes != m->bytes) is_same = 0;
  if (!is_same)
    BREAKS(c, "own", "%s of step %" PRId64 " with rank %d differs from the program", what, act->key,
           (int)act->peer);
}

static struct act* act_at(struct qd_plan_check* c, enum kind kind, int32_t number,
                          const char* law) {
  struct list* l = &c->program.lists[kind];
  if (number < l->count) return &l->all[number];
  BREAKS(c, law, "the plan has more than the program, which has %d", (int)l->count);
  return NULL;
}

static void open_receive(struct qd_plan_check* c, const struct qd_plan* plan, int32_t number) {
  const struct qd_message* m = &plan->receives.all[number];
  struct act* act = act_at(c, RECEIVES, c->program.lists[RECEIVES].fed + number, "all_opened");
  if (!act) return;
  compare(c, plan, act, m, "a receive");
  act->posted = ++c->replay.position;
  act->zero_copy = m->count > 0 && (c->call.has_global_counts ? !m->needs_staging : m->zero_copy);
  if (m->buffer != QD_NO_BUFFER) act->use = take_buffer(c, m->buffer);
}

/* Delivers a message. If only the two ends know the lengths, its temporary blocks are now in its buffer. */
static void finish_receive(struct qd_plan_check* c, int32_t number) {
  struct act* act = act_at(c, RECEIVES, number, "all_received");
  if (!act) return;
  act->done = ++c->replay.position;
  keep_until_now(c, act->use);
  for (int32_t i = 0; !c->call.has_global_counts && i < act->count; i++)
    if (is_temporary(c, c->program.spans[act->first + i].region))
      c->replay.holders[c->program.spans[act->first + i].region] = act->use;
}

/* Notes that a message or a copy still needs the buffers that it reads. */
static void need_sources(struct qd_plan_check* c, const struct act* act, int32_t spans) {
  for (int32_t i = 0; !c->call.has_global_counts && i < spans; i++) {
    const int32_t region = c->program.spans[act->first + i].region;
    if (is_temporary(c, region) && c->replay.holders[region] < 0)
      BREAKS(c, "buffers", "step %" PRId64 " reads a temporary block that nothing holds", act->key);
    if (is_temporary(c, region)) keep_until_now(c, c->replay.holders[region]);
  }
}

/* Notes that a part is read from the buffer in which its block was saved. */
static void read_saved(struct qd_plan_check* c, const struct act* act, int part, int32_t region) {
  if (part < act->count) c->program.spans[act->first + part].saved = c->replay.saved[region];
  if (c->replay.saved[region] < 0)
    BREAKS(c, "saves", "step %" PRId64 " reads a block that was never saved", act->key);
  else
    keep_until_now(c, c->replay.saved_in[region]);
}

static void post_send(struct qd_plan_check* c, const struct qd_plan* plan, int32_t number) {
  const struct qd_message* m = &plan->sends.all[number];
  const struct qd_part* parts = qd_parts_of(plan, m);
  struct act* act = act_at(c, SENDS, c->program.lists[SENDS].fed + number, "all_posted");
  if (!act) return;
  compare(c, plan, act, m, "a send");
  act->posted = ++c->replay.position;
  act->is_staged =
      m->buffer != QD_NO_BUFFER && !(c->call.has_global_counts ? qd_is_described(m) : m->zero_copy);
  if (m->buffer != QD_NO_BUFFER) act->use = take_buffer(c, m->buffer);
  need_sources(c, act, act->count);
  if (!c->call.has_global_counts && act->count == 1 &&
      is_temporary(c, c->program.spans[act->first].region))
    act->source = c->replay.holders[c->program.spans[act->first].region];
  for (int32_t i = 0; i < m->count; i++)
    if (parts[i].form == QD_SAVED) read_saved(c, act, i, parts[i].region);
}

static void finish_send(struct qd_plan_check* c, int32_t number) {
  struct act* act = act_at(c, SENDS, number, "all_sent");
  if (!act) return;
  act->done = ++c->replay.position;
  keep_until_now(c, act->use);
  if (act->is_staged || c->call.has_global_counts) return;
  /* MPI reads these blocks until the send is complete. */
  for (int32_t i = 0; i < act->count; i++) {
    const struct span* span = &c->program.spans[act->first + i];
    if (span->saved >= 0) keep_until_now(c, c->replay.saved_in[span->region]);
  }
  keep_until_now(c, act->source);
}

static void copy(struct qd_plan_check* c, const struct qd_plan* plan, int32_t number) {
  const struct qd_copy* copy = &plan->copies[number];
  struct act* act = act_at(c, LOCALS, c->program.lists[LOCALS].fed + number, "own");
  if (!act) return;
  const struct span *from = &c->program.spans[act->first], *to = from + 1;
  struct qd_part source = copy->from;
  if (source.form == QD_SAVED) read_saved(c, act, 0, source.region);
  if (source.form == QD_SAVED) source.form = QD_WHOLE;
  if (!is_same_span(c, from, &source) || !is_same_span(c, to, &copy->to) ||
      act->combines != copy->combines)
    BREAKS(c, "own", "a copy of step %" PRId64 " differs from the program", act->key);
  act->posted = act->done = ++c->replay.position;
  need_sources(c, act, 1);
  if (c->call.has_global_counts || !is_temporary(c, to->region)) return;
  if (copy->buffer != QD_NO_BUFFER) act->use = take_buffer(c, copy->buffer);
  c->replay.holders[to->region] =
      is_temporary(c, from->region) ? c->replay.holders[from->region] : act->use;
}

static void save(struct qd_plan_check* c, const struct qd_operation* o) {
  c->replay.position++;
  if (o->what < 0 || o->what >= c->call.send_blocks) {
    BREAKS(c, "own", "the plan saves a block that does not exist");
    return;
  }
  c->replay.saved[o->what] = c->replay.position;
  c->replay.saved_in[o->what] = take_buffer(c, o->buffer);
}

void qd_check_feed(struct qd_plan_check* c, const struct qd_plan* plan) {
  struct qd_progress at = {0, 0, 0, 0};
  int32_t copies = 0;
  c->lacks_memory |= plan->lacks_memory;
  if (c->lacks_memory || c->program.is_undefined) return;
  for (int32_t i = 0; i < plan->operation_count && !c->law; i++) {
    const struct qd_operation* o = &plan->operations[i];
    if (o->kind == QD_PLAN_END) break;
    if (o->kind == QD_PLAN_COPY && o->what != copies++)
      BREAKS(c, "in_steps", "copies are in another order than in the program");
    if (o->kind == QD_PLAN_COPY && o->what < plan->copy_count) copy(c, plan, o->what);
    if (o->kind == QD_PLAN_COPY_OWN) c->replay.own_copies++;
    if (o->kind == QD_PLAN_SAVE) save(c, o);
    if (o->kind != QD_PLAN_MESSAGES) continue;
    for (int n = o->more.receives_done; n > 0; n--)
      finish_receive(c, c->program.lists[RECEIVES].fed + at.receives_done++);
    for (int n = o->more.sends_done; n > 0; n--)
      finish_send(c, c->program.lists[SENDS].fed + at.sends_done++);
    for (int n = o->more.receives_posted; n > 0 && at.receives_posted < plan->receives.count; n--)
      open_receive(c, plan, at.receives_posted++);
    for (int n = o->more.sends_posted; n > 0 && at.sends_posted < plan->sends.count; n--)
      post_send(c, plan, at.sends_posted++);
  }
  c->program.lists[RECEIVES].fed += plan->receives.count;
  c->program.lists[SENDS].fed += plan->sends.count;
  c->program.lists[LOCALS].fed += plan->copy_count;
}

/* ---- The laws */

/* The greatest positions in all steps up to one: at which sends and copies are posted, receives are posted, and receives are
 * complete. */
struct until {
  int64_t acted, opened, received;
};

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

static struct until* sum_up(struct qd_plan_check* c) {
  struct until* until = calloc((size_t)c->program.step_count + 1, sizeof *until);
  if (!until) return NULL;
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->program.lists[kind].count; i++) {
      const struct act* act = &c->program.lists[kind].all[i];
      struct until* u = &until[act->step + 1];
      if (kind == RECEIVES) {
        u->opened = greater(u->opened, act->posted);
        u->received = greater(u->received, act->done);
      } else {
        u->acted = greater(u->acted, act->posted);
      }
    }
  for (int32_t i = 1; i <= c->program.step_count; i++) {
    until[i].acted = greater(until[i].acted, until[i - 1].acted);
    until[i].opened = greater(until[i].opened, until[i - 1].opened);
    until[i].received = greater(until[i].received, until[i - 1].received);
  }
  return until;
}

static void check_complete(struct qd_plan_check* c) {
  static const char* const posted[] = {"all_posted", "own", "all_opened"};
  static const char* const done[] = {"all_sent", "own", "all_received"};
  static const char* const names[] = {"send", "copy", "receive"};
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->program.lists[kind].count; i++) {
      const struct act* act = &c->program.lists[kind].all[i];
      if (act->posted < 0)
        BREAKS(c, posted[kind], "a %s of step %" PRId64 " is missing", names[kind], act->key);
      if (act->done < act->posted)
        BREAKS(c, done[kind], "a %s of step %" PRId64 " is never waited for", names[kind],
               act->key);
    }
  const int own = c->program.has_own_copy && !c->call.has_global_counts;
  if (c->replay.own_copies != own)
    BREAKS(c, "own", "the own block is copied %d times, not %d", c->replay.own_copies, own);
}

static void check_order(struct qd_plan_check* c, const struct until* until) {
  for (int kind = 0; kind < RECEIVES; kind++)
    for (int32_t i = 0; i < c->program.lists[kind].count; i++) {
      const struct act* act = &c->program.lists[kind].all[i];
      if (act->posted < until[act->step].acted)
        BREAKS(c, "in_steps", "step %" PRId64 " begins before the one above it", act->key);
      if (act->posted < until[c->program.steps[act->step].ready].received)
        BREAKS(c, kind == SENDS ? "after_steps" : "read_in_step",
               "step %" PRId64 " begins before a receive that it waits for is complete", act->key);
    }
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->program.lists[kind].count && kind != LOCALS; i++) {
      const struct act* act = &c->program.lists[kind].all[i];
      const struct until* u = &until[act->step + 1];
      if (act->done < u->acted || act->done < u->opened)
        BREAKS(c, "posted_by_key",
               "a message of step %" PRId64 " is waited for before all up to that step is posted",
               act->key);
    }
}

/* The region in memory. In place, a block of the send buffer is one of the receive buffer. */
static int32_t memory_of(const struct qd_plan_check* c, int32_t region) {
  const int is_received = !c->call.has_global_counts && c->call.in_place &&
                          c->call.send_blocks == c->call.receive_blocks &&
                          region >= c->call.send_blocks && !is_temporary(c, region);
  return is_received ? region - c->call.send_blocks : region;
}

static int overlap(const struct qd_plan_check* c, const struct span* a, const struct span* b) {
  return memory_of(c, a->region) == memory_of(c, b->region) && a->low < b->high && b->low < a->high;
}

/* A span that is read or written. */
struct access {
  const struct act* act;
  int writes;
  int is_input; /* in place: it reads the send buffer as it was before the call */
  const struct span* span;
};

static int precedes(const struct act* a, const struct act* b) {
  if (a->step != b->step) return a->step < b->step;
  return a->kind != b->kind ? a->kind < b->kind : a < b; /* a kind has one list */
}

/* The position at which a write is complete, and the one from which a read does not need its bytes. */
static int64_t written_at(const struct access* w) { return w->act->done; }
static int64_t read_until(const struct qd_plan_check* c, const struct access* r) {
  const struct act* act = r->act;
  if (r->span->saved >= 0) return r->span->saved;
  const int is_renamed = !c->call.has_global_counts && is_temporary(c, r->span->region);
  return act->kind == LOCALS || act->is_staged || is_renamed ? act->posted : act->done;
}

/* A receive that is posted straight into its target: nothing earlier in the program reads or writes there. */
static void check_early(struct qd_plan_check* c, const struct access* w,
                        const struct access* other) {
  if (w->act->combines)
    BREAKS(c, "early",
           "a receive of step %" PRId64 " combines, but is posted straight into its target",
           w->act->key);
  if (!other->writes &&
      (other->span->saved >= 0 || (c->call.in_place && !c->call.has_global_counts))) {
    if (other->act->posted >= 0 && read_until(c, other) > w->act->posted)
      BREAKS(c, "saves",
             "a receive of step %" PRId64 " is posted over a block that step %" PRId64
             " still reads",
             w->act->key, other->act->key);
    return;
  }
  BREAKS(c, "posted_early",
         "a receive of step %" PRId64 " is posted early where step %" PRId64 " %s", w->act->key,
         other->act->key, other->writes ? "writes" : "reads");
}

static void check_delivery(struct qd_plan_check* c, const struct access* w,
                           const struct access* other) {
  const int64_t done = other->writes ? written_at(other) : read_until(c, other);
  if (done > written_at(w))
    BREAKS(c, !other->writes && other->span->saved >= 0 ? "saves" : "puts_away",
           "step %" PRId64 " writes where step %" PRId64 " %s", w->act->key, other->act->key,
           other->writes ? "writes first" : "still reads");
}

/* Two accesses of the same bytes: `other` precedes `w` in the program, and `w` writes. */
static void check_pair(struct qd_plan_check* c, const struct access* w,
                       const struct access* other) {
  if (!c->call.has_global_counts && is_temporary(c, w->span->region) && !other->writes) return;
  if (w->act->kind == RECEIVES && w->act->zero_copy)
    check_early(c, w, other);
  else
    check_delivery(c, w, other);
}

/* In place: no write overwrites bytes of the send buffer that are still to be read, even if it precedes the read in the
 * program. */
static void check_saved(struct qd_plan_check* c, const struct access* w,
                        const struct access* read) {
  const int zero_copy = w->act->kind == RECEIVES && w->act->zero_copy;
  if (read_until(c, read) > (zero_copy ? w->act->posted : written_at(w)))
    BREAKS(c, "saves", "step %" PRId64 " writes over a block that step %" PRId64 " still reads",
           w->act->key, read->act->key);
}

static int by_region(const void* left, const void* right) {
  const struct access *a = left, *b = right;
  if (a->span->region != b->span->region) return a->span->region < b->span->region ? -1 : 1;
  return a->span->low < b->span->low ? -1 : a->span->low > b->span->low;
}

static int32_t accesses_of(struct qd_plan_check* c, struct access* accesses) {
  int32_t count = 0;
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->program.lists[kind].count; i++) {
      const struct act* act = &c->program.lists[kind].all[i];
      for (int32_t k = 0; k < act->count; k++) {
        const struct span* span = &c->program.spans[act->first + k];
        const int writes = kind == RECEIVES || (kind == LOCALS && k == 1);
        const int is_input = !writes && c->call.in_place && !c->call.has_global_counts &&
                             span->region < c->call.send_blocks;
        accesses[count++] = (struct access){act, writes, is_input, span};
      }
    }
  return count;
}

/* Checks all pairs of accesses that overlap. In spans sorted by region and beginning, those that overlap one follow it. */
static void check_accesses(struct qd_plan_check* c) {
  struct access* accesses = calloc((size_t)c->program.span_count + 1, sizeof *accesses);
  struct span* moved = calloc((size_t)c->program.span_count + 1, sizeof *moved);
  c->lacks_memory |= !accesses || !moved;
  if (c->lacks_memory) {
    free(moved);
    free(accesses);
    return;
  }
  const int32_t count = accesses_of(c, accesses);
  for (int32_t i = 0; i < count; i++) { /* in memory */
    moved[i] = *accesses[i].span;
    moved[i].region = memory_of(c, moved[i].region);
  }
  for (int32_t i = 0; i < count; i++) accesses[i].span = &moved[i];
  qsort(accesses, (size_t)count, sizeof *accesses, by_region);
  int32_t left = MOST_PAIRS;
  for (int32_t i = 0; i < count && !c->law && left > 0; i++)
    for (int32_t k = i + 1; k < count && accesses[k].span->region == accesses[i].span->region &&
                            accesses[k].span->low < accesses[i].span->high && left > 0;
         k++, left--) {
      const struct access *a = &accesses[i], *b = &accesses[k];
      if (a->act == b->act || !overlap(c, a->span, b->span)) continue;
      const struct access *first = precedes(a->act, b->act) ? a : b, *second = first == a ? b : a;
      if (second->writes)
        check_pair(c, second, first);
      else if (second->is_input)
        check_saved(c, first, second);
    }
  c->lacks_memory |= left == 0;
  free(moved);
  free(accesses);
}

static int by_buffer(const void* left, const void* right) {
  const struct use *a = left, *b = right;
  if (a->buffer != b->buffer) return a->buffer < b->buffer ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

static void check_buffers(struct qd_plan_check* c) {
  if (c->replay.use_count > 0)
    qsort(c->replay.uses, (size_t)c->replay.use_count, sizeof *c->replay.uses, by_buffer);
  for (int32_t i = 1; i < c->replay.use_count; i++)
    if (c->replay.uses[i].buffer == c->replay.uses[i - 1].buffer &&
        c->replay.uses[i].from <= c->replay.uses[i - 1].to)
      BREAKS(c, "buffers", "buffer %d is used again while it is needed",
             (int)c->replay.uses[i].buffer);
}

const char* qd_check_end(struct qd_plan_check* c, char text[QD_LAW_TEXT]) {
  if (c->program.is_undefined) return NULL;
  struct until* until = c->law || c->lacks_memory ? NULL : sum_up(c);
  if (until) {
    check_complete(c);
    check_order(c, until);
    check_accesses(c);
    check_buffers(c);
  } else if (!c->law) {
    c->lacks_memory = 1;
  }
  free(until);
  if (c->lacks_memory) BREAKS(c, qd_no_memory, "%s", qd_no_memory);
  snprintf(text, QD_LAW_TEXT, "%s", c->text);
  return c->law;
}

/* ---- All ranks */

/* The next message of a list with that peer, from number `from` on; NULL if there is none. */
static const struct act* next_with(const struct list* l, int32_t peer, int32_t* from) {
  while (*from < l->count && l->all[*from].peer != peer) ++*from;
  return *from < l->count ? &l->all[(*from)++] : NULL;
}

static const char* match_pair(const struct qd_plan_check* from, int source,
                              const struct qd_plan_check* to, int target, char text[QD_LAW_TEXT]) {
  int32_t sent = 0, received = 0;
  for (;;) {
    const struct act* s = next_with(&from->program.lists[SENDS], target, &sent);
    const struct act* r = next_with(&to->program.lists[RECEIVES], source, &received);
    if (!s && !r) return NULL;
    if (s && r && s->key == r->key && s->bytes == r->bytes && (s->count > 0) == (r->count > 0))
      continue;
    snprintf(text, QD_LAW_TEXT,
             "rank %d sends to rank %d in step %" PRId64 ", and rank %d has no such receive",
             source, target, s ? s->key : r->key, target);
    return "match";
  }
}

const char* qd_plan_match(struct qd_plan_check* const* checks, int ranks, char text[QD_LAW_TEXT]) {
  const char* law = NULL;
  for (int a = 0; a < ranks && !law; a++)
    for (int b = 0; b < ranks && !law; b++)
      if (a != b) law = match_pair(checks[a], a, checks[b], b, text);
  return law;
}
