/* Notes the messages of calls in memory of fixed size, and writes that to a file when MPI ends.
 *
 * A section takes its memory by one atomic addition, so several threads and calls in flight need no lock. Once the
 * memory is full, nothing more is noted. The file has a temporary name until it is complete. A program that ends
 * without MPI_Finalize leaves no file. Tested by tests/trace. */
#include "runtime/execute/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "runtime/execute/call.h"
#include "runtime/execute/channel.h"

enum { MEMORY = (1 << 20) * sizeof(struct qd_trace_message) };

/* Returns whether the processor's counter has a constant rate, and goes on while the processor sleeps. */
static int has_constant_ticks(void) {
#if defined(__x86_64__)
  enum { POWER_MANAGEMENT = 0x80000007, INVARIANT = 1 << 8 };
  unsigned a, b, c, d = 0;
  return __get_cpuid(POWER_MANAGEMENT, &a, &b, &c, &d) && (d & INVARIANT);
#else
  return 0;
#endif
}

/* Notes the time by both clocks at one moment. Another process may interrupt it, so it uses the fastest of 16 tries. */
static void read_clocks(struct qd_trace_moment* moment) {
  enum { TRIES = 16 };
  int64_t fastest = INT64_MAX;
  for (int n = 0; n < TRIES; n++) {
    const int64_t before = qd_trace_nanoseconds(), ticks = qd_trace_ticks();
    const int64_t taken = qd_trace_nanoseconds() - before;
    if (taken >= fastest) continue;
    fastest = taken;
    *moment = (struct qd_trace_moment){before, ticks};
  }
}

/* Makes the folder if it does not exist. Returns NULL, or a text that says why no file can be written to it. */
static const char* open_folder(const char* folder) {
  struct stat found;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return strerror(errno);
  if (stat(folder, &found) != 0) return strerror(errno);
  if (!S_ISDIR(found.st_mode)) return strerror(ENOTDIR);
  return access(folder, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

static void open_trace(struct qd_traced_process* t, const char* folder) {
  t->failure = open_folder(folder);
  if (t->failure) return;
  t->memory = calloc(1, MEMORY);
  if (!t->memory) t->failure = qd_no_memory;
  t->end = UINT64_MAX;
  qd_global.trace.counts_ticks = has_constant_ticks();
  read_clocks(&t->opened);
}

uint64_t qd_trace_ask(void) {
  struct qd_traced_process* t = &qd_global.trace;
  const char* folder = qd_settings()->trace;
  int rank = 0;
  if (!folder) return 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_mutex_lock(&qd_global.lock);
  if (!t->is_open && !t->is_written) open_trace(t, folder);
  t->is_open = !t->is_written;
  const int is_ready = t->is_open && t->memory;
  pthread_mutex_unlock(&qd_global.lock);
  return is_ready ? 0 : 2 + (uint64_t)rank;
}

uint64_t qd_trace_speaker(void) {
  int rank = 0;
  if (!qd_settings()->trace) return 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return 1 + (uint64_t)rank;
}

void qd_trace_refuse(uint64_t answer, uint64_t speaker) {
  struct qd_traced_process* t = &qd_global.trace;
  const char* folder = qd_settings()->trace;
  int rank = 0;
  if (!folder || t->has_refused || t->is_written) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (answer == 2 + (uint64_t)rank)
    fprintf(stderr,
            "quadrille: QUADRILLE_TRACE=%s: %s; name a folder that every process can write to; "
            "nothing is traced\n",
            folder, t->failure);
  else if (answer == 1 && speaker == 1 + (uint64_t)rank)
    fprintf(stderr,
            "quadrille: QUADRILLE_TRACE is not set at every rank; set it at all of them; nothing "
            "is traced on this communicator\n");
  t->has_refused = 1;
}

/* Takes zeroed memory for a section of `length` bytes. Returns NULL if the memory is full. */
static void* take(uint64_t kind, uint64_t length) {
  struct qd_traced_process* t = &qd_global.trace;
  const uint64_t place = __atomic_fetch_add(&t->used, length, __ATOMIC_RELAXED);
  if (place + length > MEMORY) {
    if (place <= MEMORY) t->end = place; /* the first section without memory */
    return NULL;
  }
  struct qd_trace_section* section = (struct qd_trace_section*)(t->memory + place);
  section->kind = kind;
  section->length = length;
  return section;
}

static uint64_t place_of(const void* section) {
  return sizeof(struct qd_trace_header) + (uint64_t)((const char*)section - qd_global.trace.memory);
}

/* Sends a number. It may use the tag of data, since no call of the schedule is in flight: bindings are made one at a
 * time, and a rank calls a schedule only after it has received its last number. */
static void tell(const struct qd_binding* b, int64_t number, int peer) {
  MPI_Request request;
  if (PMPI_Isend(&number, 1, MPI_INT64_T, qd_rank_in_comm(b, peer), b->channel->tag + QD_DATA_TAG,
                 b->comm, &request) == MPI_SUCCESS)
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int64_t hear(const struct qd_binding* b, int peer) {
  int64_t number = 0;
  PMPI_Recv(&number, 1, MPI_INT64_T, qd_rank_in_comm(b, peer), b->channel->tag + QD_DATA_TAG,
            b->comm, MPI_STATUS_IGNORE);
  return number;
}

/* Returns a part of the node's boot id, or 0 if there is none. Processes with equal boot ids have one clock. */
static uint64_t name_of_boot(void) {
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  unsigned long long name = 0;
  if (file && fscanf(file, "%8llx", &name) != 1) name = 0;
  if (file) fclose(file);
  return name;
}

/* Rank 0 chooses the id of the binding. A process with another clock asks rank 0 for the time several times. It uses
 * the answer with the shortest round trip; the error is half of that. */
static void compare_clocks(struct qd_binding* b) {
  enum { ASKED = 16 };
  struct qd_traced_binding* t = &b->trace;
  const int all = (int)(b->layout.context.ranks + b->layout.context.remote_ranks);
  const uint64_t boot = name_of_boot();
  t->id = (uint64_t)qd_trace_nanoseconds() << 20 ^ (uint64_t)getpid();
  for (int rank = 1; b->layout.own == 0 && rank < all; rank++) {
    tell(b, (int64_t)t->id, rank);
    tell(b, (int64_t)boot, rank);
  }
  if (b->layout.own > 0) t->id = (uint64_t)hear(b, 0);
  const int has_one_clock = b->layout.own > 0 && boot == (uint64_t)hear(b, 0) && boot != 0;
  t->bound = qd_trace_nanoseconds();
  for (int rank = 1; b->layout.own == 0 && rank < all; rank++)
    while (hear(b, rank)) tell(b, qd_trace_nanoseconds(), rank);
  if (b->layout.own == 0) return;
  t->error = has_one_clock ? 0 : INT64_MAX;
  for (int n = 0; n < ASKED && !has_one_clock; n++) {
    const int64_t asked = qd_trace_nanoseconds();
    tell(b, 1, 0);
    const int64_t answer = hear(b, 0), half = (qd_trace_nanoseconds() - asked + 1) / 2;
    if (half >= t->error) continue;
    t->error = half;
    t->offset = answer - (asked + half);
  }
  tell(b, 0, 0);
}

static int64_t* put_runs(int64_t* to, const struct qd_topology* topology) {
  for (int64_t i = 0; i < topology->run_count; i++) {
    *to++ = topology->runs[i].nodes;
    *to++ = topology->runs[i].size;
  }
  return to;
}

static void put_binding(struct qd_binding* b) {
  const struct qd_layout* l = &b->layout;
  const struct qd_program* program = &b->schedule_data->program;
  const uint64_t runs = (uint64_t)(l->topologies[0].run_count + l->topologies[1].run_count);
  struct qd_trace_binding* s = take(QD_TRACE_BINDING, sizeof *s + 2 * runs * sizeof(int64_t));
  b->trace.place = s ? place_of(s) : 0;
  if (!s) return;
  s->id = b->trace.id;
  s->request = b->trace.request;
  s->bound = b->trace.bound;
  s->offset = b->trace.offset;
  s->error = b->trace.error;
  s->ranks = (int32_t)l->context.ranks;
  s->remote = (int32_t)l->context.remote_ranks;
  s->own = l->own;
  s->rank = (int32_t)l->context.rank;
  s->runs = (int32_t)l->topologies[0].run_count;
  s->remote_runs = (int32_t)l->topologies[1].run_count;
  memcpy(s->hash, program->hash, sizeof s->hash);
  snprintf(s->algorithm, sizeof s->algorithm, "%s", program->algorithm);
  snprintf(s->collective, sizeof s->collective, "%s", qd_collective_name(program->collective));
  put_runs(put_runs((int64_t*)(s + 1), &l->topologies[0]), &l->topologies[1]);
}

void qd_trace_bind(struct qd_binding* b) {
  compare_clocks(b);
  put_binding(b);
}

void qd_trace_bind_copy(struct qd_binding* copy, int64_t n) {
  if (copy->trace.id == 0) return;
  copy->trace.request = n;
  put_binding(copy);
}

/* Returns how many counts are written: only one if all are equal. */
static int32_t counts_of(const int64_t* counts, int64_t ranks) {
  if (!counts || ranks == 0) return 0;
  for (int64_t i = 1; i < ranks; i++)
    if (counts[i] != counts[0]) return (int32_t)ranks;
  return 1;
}

static uint64_t put_setup(const struct qd_call* c) {
  const struct qd_binding* b = c->binding;
  const struct qd_context* context = &b->layout.context;
  const int has_counts = c->builder.traits.has_global_counts;
  const int32_t own = has_counts ? counts_of(context->counts, context->ranks) : 0,
                remote = has_counts ? counts_of(context->remote_counts, context->remote_ranks) : 0,
                parameters = b->schedule_data->program.parameter_count;
  struct qd_trace_setup* s =
      take(QD_TRACE_SETUP, sizeof *s + (uint64_t)(parameters + own + remote) * sizeof(int64_t));
  if (!s) return 0;
  s->binding = b->trace.place;
  s->unit = has_counts ? c->builder.traits.unit : 1;
  s->root = context->root;
  s->group = (int32_t)context->group;
  s->in_place = c->builder.traits.in_place;
  s->whole = c->whole;
  s->window = c->builder.window.size;
  s->has_block_size = c->builder.input.has_block_size;
  s->parameters = parameters;
  s->counts = own;
  s->remote_counts = remote;
  int64_t* to = (int64_t*)(s + 1);
  memcpy(to, b->layout.parameters, (size_t)parameters * sizeof *to);
  if (own > 0) memcpy(to + parameters, context->counts, (size_t)own * sizeof *to);
  if (remote > 0)
    memcpy(to + parameters + own, context->remote_counts, (size_t)remote * sizeof *to);
  return place_of(s);
}

/* Returns the bytes of each block, or -1 if this rank does not know that all blocks have one length. */
static int64_t block_of(const struct qd_call* c) {
  const struct qd_side *send = &c->data.send, *receive = &c->data.receive;
  if (c->builder.traits.has_global_counts || !send->uniform || !receive->uniform) return -1;
  const int64_t bytes = receive->count * receive->type_size;
  return send->count * send->type_size == bytes ? bytes : -1;
}

void qd_trace_begin(struct qd_call* c) {
  struct qd_traced_call* t = &c->trace;
  t->part = NULL;
  t->parts = c->lengths == QD_LENGTHS_ALONE || c->binding->trace.place == 0 ? -1 : 0;
  t->last = qd_trace_ticks();
  if (c->is_planned) qd_trace_plan(c);
}

void qd_trace_plan(struct qd_call* c) {
  struct qd_traced_call* t = &c->trace;
  const int32_t receives = c->plan.receives.count, sends = c->plan.sends.count;
  if (t->parts < 0) return;
  if (t->setup == 0) t->setup = put_setup(c);
  struct qd_trace_part* part =
      take(QD_TRACE_PART,
           sizeof *part + ((uint64_t)receives + (uint64_t)sends) * sizeof(struct qd_trace_message));
  t->part = part;
  if (!part) {
    t->parts = -1;
    return;
  }
  part->setup = t->setup;
  part->call = c->binding->calls;
  part->block = block_of(c);
  part->number = t->parts++;
  part->receives = receives;
  part->sends = sends;
  t->receives = (struct qd_trace_message*)(part + 1);
  t->sends = t->receives + receives;
  if (part->number > 0) t->last = qd_trace_ticks();
  part->begun = t->last;
}

void qd_trace_end(struct qd_call* c) {
  struct qd_trace_part* part = c->trace.part;
  if (!part) return;
  part->has_failed = !qd_call_is_right(c) || c->builder.error;
  part->ended = c->trace.last;
  c->trace.part = NULL;
}

static void convert_time(int64_t* time, const struct qd_trace_moment* from, double rate) {
  if (*time) *time = from->nanoseconds + (int64_t)((double)(*time - from->ticks) * rate);
}

/* Converts all times in the sections from ticks to nanoseconds. */
static void convert_all(struct qd_traced_process* t, uint64_t length) {
  struct qd_trace_moment now;
  read_clocks(&now);
  const double rate =
      (double)(now.nanoseconds - t->opened.nanoseconds) / (double)(now.ticks - t->opened.ticks);
  const struct qd_trace_section* section;
  for (uint64_t place = 0; place < length; place += section->length) {
    section = (const struct qd_trace_section*)(t->memory + place);
    if (section->kind != QD_TRACE_PART) continue;
    struct qd_trace_part* part = (struct qd_trace_part*)section;
    struct qd_trace_message* message = (struct qd_trace_message*)(part + 1);
    convert_time(&part->begun, &t->opened, rate);
    convert_time(&part->ended, &t->opened, rate);
    for (int64_t n = (int64_t)part->receives + part->sends; n > 0; n--, message++) {
      convert_time(&message->started, &t->opened, rate);
      convert_time(&message->posted, &t->opened, rate);
      convert_time(&message->waited, &t->opened, rate);
      convert_time(&message->completed, &t->opened, rate);
    }
  }
}

/* Writes the file. Returns NULL, or an error text; then there is no file. */
static const char* write_file(const struct qd_traced_process* t, int rank, uint64_t length) {
  enum { MOST = 4096 };
  char part[MOST], name[MOST];
  const struct qd_trace_header header = {.magic = QD_TRACE_MAGIC,
                                         .length = sizeof header + length,
                                         .rank = rank,
                                         .is_full = t->used > MEMORY};
  const unsigned of_process = (unsigned)getpid() ^ (unsigned)(t->opened.nanoseconds >> 10);
  if (snprintf(name, sizeof name, "%s/rank-%d-%08x" QD_TRACE_SUFFIX, qd_settings()->trace, rank,
               of_process) >= MOST - 8)
    return strerror(ENAMETOOLONG);
  snprintf(part, sizeof part, "%.*s.part", MOST - 8, name);
  FILE* file = fopen(part, "wb");
  if (!file) return strerror(errno);
  const int is_whole = fwrite(&header, sizeof header, 1, file) == 1 &&
                       (length == 0 || fwrite(t->memory, length, 1, file) == 1);
  if ((fclose(file) == 0) & is_whole && rename(part, name) == 0) return NULL;
  const char* error = strerror(errno);
  unlink(part);
  return error;
}

void qd_trace_write(void) {
  struct qd_traced_process* t = &qd_global.trace;
  int rank = 0;
  if (!t->memory) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const uint64_t length = t->used <= MEMORY ? t->used : t->end;
  convert_all(t, length);
  const char* error = length > 0 ? write_file(t, rank, length) : NULL;
  if (error)
    fprintf(stderr, "quadrille: QUADRILLE_TRACE=%s: %s; the trace of rank %d is lost\n",
            qd_settings()->trace, error, rank);
  else if (t->used > MEMORY && rank == 0)
    fprintf(stderr,
            "quadrille: the trace of rank 0 is full; it lacks the last calls; trace fewer calls\n");
  free(t->memory);
  t->memory = NULL;
  t->is_open = 0;
  t->is_written = 1;
}
