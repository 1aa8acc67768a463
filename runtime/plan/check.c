/* Whether a plan is lawful.
 *
 * The walk of the program becomes three lists: sends, receives and local statements (copies and reductions), each in the
 * order of the text. The plan must hold the same messages with the same parts. Its operations, taken in their order, give
 * each message and statement the positions at which it is posted, complete, read and written. A law is then a comparison
 * of positions. "Before" among writes is the order of the program: by step; in a step local statements first, then
 * receives, each kind in the order of the text.
 *
 * Where the two ends of a message alone know its lengths, a temporary block is a name for a message buffer: a write gives
 * it another buffer, so it disturbs no read. That no buffer is used again too early is a law of its own, `buffers`.
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
  c->input = *input;
  c->in_place = in_place;
  c->unit = unit;
  c->has_global_counts = qd_has_global_counts(input->program);
  c->gathers = input->program->collective == QD_ALLGATHER && input->program->groups == 1;
  c->send_blocks = blocks[QD_PIECE_SEND];
  c->receive_blocks = blocks[QD_PIECE_RECEIVE];
  const size_t regions = (size_t)c->send_blocks + (size_t)c->receive_blocks + temporaries;
  c->lengths = calloc(temporaries, sizeof *c->lengths);
  c->holders = calloc(regions, sizeof *c->holders);
  c->saved = calloc(regions, sizeof *c->saved);
  c->saved_in = calloc(regions, sizeof *c->saved_in);
  if (!c->lengths || !c->holders || !c->saved || !c->saved_in) {
    qd_check_close(c);
    return NULL;
  }
  memset(c->holders, -1, regions * sizeof *c->holders);
  memset(c->saved, -1, regions * sizeof *c->saved);
  qd_check_read_program(c);
  return c;
}

void qd_check_close(struct qd_plan_check* c) {
  if (!c) return;
  for (int i = 0; i < 3; i++) free(c->lists[i].all);
  free(c->spans);
  free(c->steps);
  free(c->uses);
  free(c->lengths);
  free(c->holders);
  free(c->saved);
  free(c->saved_in);
  free(c);
}

/* ---- The plan */

static int32_t take_buffer(struct qd_plan_check* c, int32_t buffer) {
  struct use* use =
      qd_check_grow(c, (void**)&c->uses, &c->use_count, &c->use_capacity, sizeof *use);
  *use = (struct use){buffer, c->position, c->position};
  return c->use_count - 1;
}

static void keep_until_now(struct qd_plan_check* c, int32_t use) {
  if (use >= 0 && c->uses[use].to < c->position) c->uses[use].to = c->position;
}

static int is_same_span(const struct qd_plan_check* c, const struct span* span,
                        const struct qd_part* part) {
  if (!c->has_global_counts) return span->region == part->region && part->form != QD_RANGE;
  return span->region == part->region && span->low == part->low && span->high == part->high &&
         part->form == QD_RANGE;
}

/* The message of the plan is the program's. */
static void compare(struct qd_plan_check* c, const struct qd_plan* plan, const struct act* act,
                    const struct qd_message* m, const char* what) {
  const struct qd_part* parts = qd_parts_of(plan, m);
  int is_same = act->peer == m->peer && act->count == m->count && act->combines == m->combines;
  for (int32_t i = 0; is_same && i < m->count; i++)
    is_same = is_same_span(c, &c->spans[act->first + i], &parts[i]);
  if (c->has_global_counts && act->bytes != m->bytes) is_same = 0;
  if (!is_same)
    BREAKS(c, "own", "%s of step %" PRId64 " with rank %d is another than the program's", what,
           act->key, (int)act->peer);
}

static struct act* act_at(struct qd_plan_check* c, enum kind kind, int32_t number,
                          const char* law) {
  struct list* l = &c->lists[kind];
  if (number < l->count) return &l->all[number];
  BREAKS(c, law, "the plan has more of them than the program's %d", (int)l->count);
  return NULL;
}

static void open_receive(struct qd_plan_check* c, const struct qd_plan* plan, int32_t number) {
  const struct qd_message* m = &plan->receives.all[number];
  struct act* act = act_at(c, RECEIVES, c->lists[RECEIVES].fed + number, "all_opened");
  if (!act) return;
  compare(c, plan, act, m, "a receive");
  act->posted = ++c->position;
  act->zero_copy = m->count > 0 && (c->has_global_counts ? !m->needs_staging : m->zero_copy);
  if (m->buffer != QD_NO_BUFFER) act->use = take_buffer(c, m->buffer);
}

/* A message that has come is put away: a temporary block without a length of its own is where it came. */
static void finish_receive(struct qd_plan_check* c, int32_t number) {
  struct act* act = act_at(c, RECEIVES, number, "all_received");
  if (!act) return;
  act->done = ++c->position;
  keep_until_now(c, act->use);
  for (int32_t i = 0; !c->has_global_counts && i < act->count; i++)
    if (is_temporary(c, c->spans[act->first + i].region))
      c->holders[c->spans[act->first + i].region] = act->use;
}

/* The buffers that hold what a message or a copy reads are still needed. */
static void need_sources(struct qd_plan_check* c, const struct act* act, int32_t spans) {
  for (int32_t i = 0; !c->has_global_counts && i < spans; i++) {
    const int32_t region = c->spans[act->first + i].region;
    if (is_temporary(c, region) && c->holders[region] < 0)
      BREAKS(c, "buffers", "step %" PRId64 " reads a temporary block that nothing holds", act->key);
    if (is_temporary(c, region)) keep_until_now(c, c->holders[region]);
  }
}

/* It reads a block of the send buffer from where that was saved. */
static void read_saved(struct qd_plan_check* c, const struct act* act, int part, int32_t region) {
  if (part < act->count) c->spans[act->first + part].saved = c->saved[region];
  if (c->saved[region] < 0)
    BREAKS(c, "saves", "step %" PRId64 " reads a block that was never saved", act->key);
  else
    keep_until_now(c, c->saved_in[region]);
}

static void post_send(struct qd_plan_check* c, const struct qd_plan* plan, int32_t number) {
  const struct qd_message* m = &plan->sends.all[number];
  const struct qd_part* parts = qd_parts_of(plan, m);
  struct act* act = act_at(c, SENDS, c->lists[SENDS].fed + number, "all_posted");
  if (!act) return;
  compare(c, plan, act, m, "a send");
  act->posted = ++c->position;
  act->is_staged =
      m->buffer != QD_NO_BUFFER && !(c->has_global_counts ? qd_is_described(m) : m->zero_copy);
  if (m->buffer != QD_NO_BUFFER) act->use = take_buffer(c, m->buffer);
  need_sources(c, act, act->count);
  if (!c->has_global_counts && act->count == 1 && is_temporary(c, c->spans[act->first].region))
    act->source = c->holders[c->spans[act->first].region];
  for (int32_t i = 0; i < m->count; i++)
    if (parts[i].form == QD_SAVED) read_saved(c, act, i, parts[i].region);
}

static void finish_send(struct qd_plan_check* c, int32_t number) {
  struct act* act = act_at(c, SENDS, number, "all_sent");
  if (!act) return;
  act->done = ++c->position;
  keep_until_now(c, act->use);
  if (act->is_staged || c->has_global_counts) return;
  /* It was posted from where the block lay then. */
  for (int32_t i = 0; i < act->count; i++) {
    const struct span* span = &c->spans[act->first + i];
    if (span->saved >= 0) keep_until_now(c, c->saved_in[span->region]);
  }
  keep_until_now(c, act->source);
}

static void copy(struct qd_plan_check* c, const struct qd_plan* plan, int32_t number) {
  const struct qd_copy* copy = &plan->copies[number];
  struct act* act = act_at(c, LOCALS, c->lists[LOCALS].fed + number, "own");
  if (!act) return;
  const struct span *from = &c->spans[act->first], *to = from + 1;
  struct qd_part source = copy->from;
  if (source.form == QD_SAVED) read_saved(c, act, 0, source.region);
  if (source.form == QD_SAVED) source.form = QD_WHOLE;
  if (!is_same_span(c, from, &source) || !is_same_span(c, to, &copy->to) ||
      act->combines != copy->combines)
    BREAKS(c, "own", "a copy of step %" PRId64 " is another than the program's", act->key);
  act->posted = act->done = ++c->position;
  need_sources(c, act, 1);
  if (c->has_global_counts || !is_temporary(c, to->region)) return;
  if (copy->buffer != QD_NO_BUFFER) act->use = take_buffer(c, copy->buffer);
  c->holders[to->region] = is_temporary(c, from->region) ? c->holders[from->region] : act->use;
}

static void save(struct qd_plan_check* c, const struct qd_operation* o) {
  c->position++;
  if (o->what < 0 || o->what >= c->send_blocks) {
    BREAKS(c, "own", "a block is saved that is not there");
    return;
  }
  c->saved[o->what] = c->position;
  c->saved_in[o->what] = take_buffer(c, o->buffer);
}

void qd_check_feed(struct qd_plan_check* c, const struct qd_plan* plan) {
  struct qd_progress at = {0, 0, 0, 0};
  int32_t copies = 0;
  c->lacks_memory |= plan->lacks_memory;
  if (c->lacks_memory || c->is_undefined) return;
  for (int32_t i = 0; i < plan->operation_count && !c->law; i++) {
    const struct qd_operation* o = &plan->operations[i];
    if (o->kind == QD_PLAN_END) break;
    if (o->kind == QD_PLAN_COPY && o->what != copies++)
      BREAKS(c, "in_steps", "copies are in another order than the program's");
    if (o->kind == QD_PLAN_COPY && o->what < plan->copy_count) copy(c, plan, o->what);
    if (o->kind == QD_PLAN_COPY_OWN) c->own_copies++;
    if (o->kind == QD_PLAN_SAVE) save(c, o);
    if (o->kind != QD_PLAN_MESSAGES) continue;
    for (int n = o->more.receives_done; n > 0; n--)
      finish_receive(c, c->lists[RECEIVES].fed + at.receives_done++);
    for (int n = o->more.sends_done; n > 0; n--)
      finish_send(c, c->lists[SENDS].fed + at.sends_done++);
    for (int n = o->more.receives_posted; n > 0 && at.receives_posted < plan->receives.count; n--)
      open_receive(c, plan, at.receives_posted++);
    for (int n = o->more.sends_posted; n > 0 && at.sends_posted < plan->sends.count; n--)
      post_send(c, plan, at.sends_posted++);
  }
  c->lists[RECEIVES].fed += plan->receives.count;
  c->lists[SENDS].fed += plan->sends.count;
  c->lists[LOCALS].fed += plan->copy_count;
}

/* ---- The laws */

/* The greatest positions over steps up to each: where sends and copies are posted, where receives are, and where
 * receives are complete. */
struct until {
  int64_t acted, opened, received;
};

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

static struct until* sum_up(struct qd_plan_check* c) {
  struct until* until = calloc((size_t)c->step_count + 1, sizeof *until);
  if (!until) return NULL;
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->lists[kind].count; i++) {
      const struct act* act = &c->lists[kind].all[i];
      struct until* u = &until[act->step + 1];
      if (kind == RECEIVES) {
        u->opened = greater(u->opened, act->posted);
        u->received = greater(u->received, act->done);
      } else {
        u->acted = greater(u->acted, act->posted);
      }
    }
  for (int32_t i = 1; i <= c->step_count; i++) {
    until[i].acted = greater(until[i].acted, until[i - 1].acted);
    until[i].opened = greater(until[i].opened, until[i - 1].opened);
    until[i].received = greater(until[i].received, until[i - 1].received);
  }
  return until;
}

static void ask_complete(struct qd_plan_check* c) {
  static const char* const posted[] = {"all_posted", "own", "all_opened"};
  static const char* const done[] = {"all_sent", "own", "all_received"};
  static const char* const names[] = {"send", "copy", "receive"};
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->lists[kind].count; i++) {
      const struct act* act = &c->lists[kind].all[i];
      if (act->posted < 0)
        BREAKS(c, posted[kind], "a %s of step %" PRId64 " is missing", names[kind], act->key);
      if (act->done < act->posted)
        BREAKS(c, done[kind], "a %s of step %" PRId64 " is never waited for", names[kind],
               act->key);
    }
  const int own = c->has_own_copy && !c->has_global_counts;
  if (c->own_copies != own)
    BREAKS(c, "own", "the own block is copied %d times, not %d", c->own_copies, own);
}

static void ask_order(struct qd_plan_check* c, const struct until* until) {
  for (int kind = 0; kind < RECEIVES; kind++)
    for (int32_t i = 0; i < c->lists[kind].count; i++) {
      const struct act* act = &c->lists[kind].all[i];
      if (act->posted < until[act->step].acted)
        BREAKS(c, "in_steps", "step %" PRId64 " begins before the one above it", act->key);
      if (act->posted < until[c->steps[act->step].ready].received)
        BREAKS(c, kind == SENDS ? "after_steps" : "read_in_step",
               "step %" PRId64 " begins before a receive that it waits for is complete", act->key);
    }
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->lists[kind].count && kind != LOCALS; i++) {
      const struct act* act = &c->lists[kind].all[i];
      const struct until* u = &until[act->step + 1];
      if (act->done < u->acted || act->done < u->opened)
        BREAKS(c, "posted_by_key",
               "a message of step %" PRId64 " is waited for before all up to that step is posted",
               act->key);
    }
}

/* The region in memory: in place, a block of the send buffer is that of the receive buffer. */
static int32_t memory_of(const struct qd_plan_check* c, int32_t region) {
  const int is_received = !c->has_global_counts && c->in_place &&
                          c->send_blocks == c->receive_blocks && region >= c->send_blocks &&
                          !is_temporary(c, region);
  return is_received ? region - c->send_blocks : region;
}

static int overlap(const struct qd_plan_check* c, const struct span* a, const struct span* b) {
  return memory_of(c, a->region) == memory_of(c, b->region) && a->low < b->high && b->low < a->high;
}

/* A span that is read or written. */
struct access {
  const struct act* act;
  enum kind kind;
  int32_t number; /* of the act in its list */
  int writes;
  int is_input; /* in place: it reads the send buffer, as that was before the call */
  const struct span* span;
};

static int precedes(const struct access* a, const struct access* b) {
  if (a->act->step != b->act->step) return a->act->step < b->act->step;
  return a->kind != b->kind ? a->kind < b->kind : a->number < b->number;
}

/* When a write stands in its region, and from when a read needs it no more. */
static int64_t written_at(const struct access* w) { return w->act->done; }
static int64_t is_read_at(const struct qd_plan_check* c, const struct access* r) {
  const struct act* act = r->act;
  if (r->span->saved >= 0) return r->span->saved;
  const int is_renamed = !c->has_global_counts && is_temporary(c, r->span->region);
  return r->kind == LOCALS || act->is_staged || is_renamed ? act->posted : act->done;
}

/* A receive that is posted where it belongs, early: nothing up to its step has read or written there. */
static void ask_early(struct qd_plan_check* c, const struct access* w, const struct access* other) {
  if (w->act->combines)
    BREAKS(c, "early", "a receive of step %" PRId64 " combines and is posted where it belongs",
           w->act->key);
  if (!other->writes && (other->span->saved >= 0 || (c->in_place && !c->has_global_counts))) {
    if (other->act->posted >= 0 && is_read_at(c, other) > w->act->posted)
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

static void ask_put_away(struct qd_plan_check* c, const struct access* w,
                         const struct access* other) {
  const int64_t done = other->writes ? written_at(other) : is_read_at(c, other);
  if (done > written_at(w))
    BREAKS(c, !other->writes && other->span->saved >= 0 ? "saves" : "puts_away",
           "step %" PRId64 " writes where step %" PRId64 " %s", w->act->key, other->act->key,
           other->writes ? "writes first" : "still reads");
}

/* Of two accesses of the same bytes, of which `w` writes and `other` comes before it in the program. */
static void ask_pair(struct qd_plan_check* c, const struct access* w, const struct access* other) {
  if (!c->has_global_counts && is_temporary(c, w->span->region) && !other->writes) return;
  if (w->kind == RECEIVES && w->act->zero_copy)
    ask_early(c, w, other);
  else
    ask_put_away(c, w, other);
}

/* In place, nothing is written over what is still to be read of the send buffer, whatever comes first in the program. */
static void ask_saved(struct qd_plan_check* c, const struct access* w, const struct access* read) {
  const int zero_copy = w->kind == RECEIVES && w->act->zero_copy;
  if (is_read_at(c, read) > (zero_copy ? w->act->posted : written_at(w)))
    BREAKS(c, "saves", "step %" PRId64 " writes over a block that step %" PRId64 " still reads",
           w->act->key, read->act->key);
}

static int by_region(const void* left, const void* right) {
  const struct access *a = left, *b = right;
  if (a->span->region != b->span->region) return a->span->region < b->span->region ? -1 : 1;
  return a->span->low < b->span->low ? -1 : a->span->low > b->span->low;
}

static int writes(enum kind kind, int32_t span) {
  return kind == RECEIVES || (kind == LOCALS && span == 1);
}

static int32_t accesses_of(struct qd_plan_check* c, struct access* accesses) {
  int32_t count = 0;
  for (int kind = 0; kind < 3; kind++)
    for (int32_t i = 0; i < c->lists[kind].count; i++) {
      const struct act* act = &c->lists[kind].all[i];
      for (int32_t k = 0; k < act->count; k++)
        accesses[count++] =
            (struct access){.act = act,
                            .kind = kind,
                            .number = i,
                            .writes = writes(kind, k),
                            .is_input = !writes(kind, k) && c->in_place && !c->has_global_counts &&
                                        c->spans[act->first + k].region < c->send_blocks,
                            .span = &c->spans[act->first + k]};
    }
  return count;
}

/* Of spans in order, one that begins behind the end of this one overlaps it no more. */
static void ask_touches(struct qd_plan_check* c) {
  struct access* accesses = calloc((size_t)c->span_count + 1, sizeof *accesses);
  struct span* moved = calloc((size_t)c->span_count + 1, sizeof *moved);
  c->lacks_memory |= !accesses || !moved;
  if (c->lacks_memory) {
    free(moved);
    free(accesses);
    return;
  }
  const int32_t count = accesses_of(c, accesses);
  for (int32_t i = 0; i < count; i++) { /* as they lie in memory */
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
      const struct access *first = precedes(a, b) ? a : b, *second = first == a ? b : a;
      if (second->writes)
        ask_pair(c, second, first);
      else if (second->is_input)
        ask_saved(c, first, second);
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

static void ask_buffers(struct qd_plan_check* c) {
  if (c->use_count > 0) qsort(c->uses, (size_t)c->use_count, sizeof *c->uses, by_buffer);
  for (int32_t i = 1; i < c->use_count; i++)
    if (c->uses[i].buffer == c->uses[i - 1].buffer && c->uses[i].from <= c->uses[i - 1].to)
      BREAKS(c, "buffers", "buffer %d is used again while it is needed", (int)c->uses[i].buffer);
}

const char* qd_check_end(struct qd_plan_check* c, char text[QD_LAW_TEXT]) {
  if (c->is_undefined) return NULL;
  struct until* until = c->law || c->lacks_memory ? NULL : sum_up(c);
  if (until) {
    ask_complete(c);
    ask_order(c, until);
    ask_touches(c);
    ask_buffers(c);
  } else if (!c->law) {
    c->lacks_memory = 1;
  }
  free(until);
  if (c->lacks_memory) BREAKS(c, qd_no_memory, "%s", qd_no_memory);
  snprintf(text, QD_LAW_TEXT, "%s", c->text);
  return c->law;
}

/* ---- All ranks */

/* The t-th message of a list with that peer; NULL where there is none. `from` goes on from call to call. */
static const struct act* next_with(const struct list* l, int32_t peer, int32_t* from) {
  while (*from < l->count && l->all[*from].peer != peer) ++*from;
  return *from < l->count ? &l->all[(*from)++] : NULL;
}

static const char* match_pair(const struct qd_plan_check* from, int source,
                              const struct qd_plan_check* to, int target, char text[QD_LAW_TEXT]) {
  int32_t sent = 0, received = 0;
  for (;;) {
    const struct act* s = next_with(&from->lists[SENDS], target, &sent);
    const struct act* r = next_with(&to->lists[RECEIVES], source, &received);
    if (!s && !r) return NULL;
    if (s && r && s->key == r->key && s->bytes == r->bytes && (s->count > 0) == (r->count > 0))
      continue;
    snprintf(text, QD_LAW_TEXT,
             "rank %d sends to rank %d in step %" PRId64 " what rank %d does not receive so",
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
