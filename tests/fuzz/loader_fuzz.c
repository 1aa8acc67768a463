/* A libFuzzer target for the runtime's loader. The loader must load any input or refuse it with a sentence. A program
 * that loads is walked for a few ranks. Address and undefined behavior sanitizers watch.
 *
 * The target corrects the input's checksum first: the loader refuses a wrong one at once, and a fuzzer never guesses
 * it. A hostile program can make a walk arbitrarily long, so a timer ends the walk. This leaks nothing, since a walk
 * is pure computation. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "runtime/program/program.h"
#include "tests/support/reseal.h"

enum { MOST_RANKS = 4096, MOST_EVENTS = 20000, WALK_MICROSECONDS = 20000 };

static sigjmp_buf too_long;
static sigset_t timer_signal; /* blocked outside walks, and in libFuzzer's own thread */

static void stop_walk(int signal) {
  (void)signal;
  siglongjmp(too_long, 1);
}

static void set_timer(long microseconds) {
  const struct itimerval timer = {{0, 0}, {0, microseconds}};
  setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void walk(const struct qd_program* program, const struct qd_tables* tables,
                 const struct qd_context* place) {
  static struct qd_walker walker;
  static struct qd_event event;
  if (sigsetjmp(too_long, 1)) return;
  sigprocmask(SIG_UNBLOCK, &timer_signal, NULL);
  set_timer(WALK_MICROSECONDS);
  qd_walk_start(&walker, program, tables, place);
  for (int events = 0; events < MOST_EVENTS; events++) {
    qd_walk_next(&walker, &event);
    if (event.kind == QD_EVENT_END) break;
    if (event.kind != QD_EVENT_UNDEFINED) continue;
    if (!event.why || !*event.why) abort();
    break;
  }
  set_timer(0);
  sigprocmask(SIG_BLOCK, &timer_signal, NULL);
}

static void walk_rank(const struct qd_program* program, int64_t* counts, int64_t group,
                      int64_t rank) {
  struct qd_context place = {.rank = rank,
                             .ranks = program->topologies[group].ranks,
                             .group = group,
                             .counts = counts,
                             .remote_counts = counts};
  /* A schedule for any nodes is walked on these nodes. */
  static struct qd_node_run runs[] = {{1, 1}, {2, 3}};
  static const struct qd_topology found[2] = {{runs, 2, 3, 7}, {runs, 1, 1, 1}};
  int64_t parameters[QD_MAX_PARAMETERS] = {0};
  if (program->serves_any_nodes) {
    place.ranks = found[group].ranks;
    if (program->groups == 2) place.remote_ranks = found[1 - group].ranks;
    place.topologies = found;
    const char* undefined = qd_formulas_evaluate(program, &place, parameters);
    if (undefined && !*undefined) abort();
    place.parameters = parameters;
  }
  if (program->groups == 2 && !program->serves_any_nodes)
    place.remote_ranks = program->topologies[1 - group].ranks;
  struct qd_tables tables;
  const char* error = qd_tables_fill(&tables, program, &place);
  if (!error) walk(program, &tables, &place);
  if (error && !*error) abort();
  qd_tables_destroy(&tables);
}

int LLVMFuzzerInitialize(int* count, char*** words) {
  (void)count;
  (void)words;
  signal(SIGVTALRM, stop_walk);
  sigemptyset(&timer_signal);
  sigaddset(&timer_signal, SIGVTALRM);
  sigprocmask(SIG_BLOCK, &timer_signal, NULL);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static int64_t counts[MOST_RANKS];
  static struct qd_program program;
  for (int i = 0; i < MOST_RANKS; i++) counts[i] = i % 5;
  /* The copy is exactly as long as the input, so that the sanitizer notices a read past its end. */
  unsigned char* file = malloc(size ? size : 1);
  if (!file) abort();
  memcpy(file, data, size);
  quadrille_reseal(file, size);
  const char* error = qd_program_load(&program, file, size);
  if (error && !*error) abort();
  for (int64_t group = 0; !error && group < program.groups; group++) {
    const int64_t ranks =
        program.serves_any_nodes ? (group ? 1 : 7) : program.topologies[group].ranks;
    if (ranks > MOST_RANKS ||
        (program.groups == 2 && program.topologies[1 - group].ranks > MOST_RANKS))
      continue;
    walk_rank(&program, counts, group, 0);
    if (ranks > 2) walk_rank(&program, counts, group, ranks / 2);
    if (ranks > 1) walk_rank(&program, counts, group, ranks - 1);
  }
  if (!error) qd_program_destroy(&program);
  free(file);
  return 0;
}
