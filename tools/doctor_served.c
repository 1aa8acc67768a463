/* Prints what would serve calls of a few sizes: the first rule that fits, or else the schedules that would be raced.
 * Only schedules that bind to MPI_COMM_WORLD count. Tested by tests/preload/doctor_test.sh. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/rules.h"
#include "runtime/execute/nodes.h"
#include "runtime/quadrille.h"
#include "tools/all_ranks.h"
#include "tools/doctor.h"

enum { SIZES = 3, CELL = 28 };
static const struct {
  const char* name;
  int64_t bytes;
} sizes[SIZES] = {{"64 bytes", 64}, {"4 KiB", 4096}, {"256 KiB", 262144}};

struct row {
  char name[64];
  char cells[SIZES][CELL];
};

/* Returns whether the rule's schedule serves MPI_COMM_WORLD. Collective. */
static int binds(const struct preload_rule* rule) {
  const struct quadrille_universal* universal = preload_schedule(rule->universal);
  const quadrille_bind_options options = {
      .size = sizeof options, .window = rule->window, .block_size = rule->block_size};
  quadrille_schedule schedule = QUADRILLE_SCHEDULE_NULL;
  quadrille_load_memory(universal->bytes, universal->length, &schedule);
  const int code = quadrille_bind(schedule, MPI_COMM_WORLD, &options);
  quadrille_free(&schedule);
  return code == MPI_SUCCESS;
}

/* Returns the first rule that fits, or NULL. */
static const struct preload_rule* rule_of(int collective, const struct preload_shape* shape,
                                          int64_t bytes) {
  const struct preload_settings* settings = preload_settings();
  for (int i = 0; i < settings->rule_count; i++) {
    const struct preload_rule* rule = &settings->rules[i];
    if (rule->collective == collective && preload_shape_fits(rule, shape) &&
        preload_bytes_fit(rule, bytes))
      return rule;
  }
  return NULL;
}

/* Returns how many characters of the name to print. Leaves out the options if they have no room. */
static int name_length(const char* name) {
  enum { ROOM = CELL - 5 }; /* the rest is for "?+N" */
  const size_t length = strlen(name), plain = strcspn(name, ":");
  return (int)(length <= ROOM ? length : plain < ROOM ? plain : ROOM);
}

/* Prints the schedule of a rule, such as "bruck". */
static void print_rule(const struct preload_rule* rule, char cell[CELL]) {
  const char* name = preload_schedule_name(rule->universal);
  if (strrchr(name, '/')) name = strrchr(name, '/') + 1; /* of a file */
  snprintf(cell, CELL, "%.*s", name_length(name), name);
  if (rule->universal == PRELOAD_NATIVE || binds(rule)) return;
  doctor_finding(
      "a rule for %s names %s, which does not serve this layout, so MPI's own makes these "
      "calls: change the rule, or give it ranks= or nodes=, such as ranks=4",
      preload_collectives[rule->collective].name, name);
  snprintf(cell, CELL, "native");
}

/* Returns how many schedules that serve MPI_COMM_WORLD would be raced with MPI's own. Sets *first to one's name. */
static int find_candidates(int collective, const struct preload_shape* shape, int64_t bytes,
                           const char** first) {
  struct preload_predicted candidates[PRELOAD_PREDICTED];
  const int is_predicted = preload_settings()->mode == PRELOAD_ADAPT;
  int count = 0, all = 0;
  if (is_predicted)
    all = preload_predict(collective, shape, bytes, 0, candidates);
  else if (preload_settings()->mode > PRELOAD_ON)
    all = quadrille_universal_count;
  for (int i = 0; i < all; i++) {
    struct preload_rule one = preload_any_rule(collective, 1);
    one.universal = i;
    if (is_predicted) one = candidates[i].rule;
    if (!preload_is_scheduled(one.universal, collective, 1) || !binds(&one)) continue;
    if (count++ == 0) *first = preload_schedule_name(one.universal);
  }
  return count;
}

/* Prints "bruck?+2" if bruck and two more schedules would be raced, and "native" if none would. */
static void print_candidates(int collective, const struct preload_shape* shape, int64_t bytes,
                             char cell[CELL]) {
  const char* first = "native";
  char more[CELL + 12] = "";
  const int count = find_candidates(collective, shape, bytes, &first);
  if (count == 1) snprintf(more, sizeof more, "?");
  if (count > 1) snprintf(more, sizeof more, "?+%d", count - 1);
  snprintf(cell, CELL, "%.*s%.4s", name_length(first), first, more);
}

/* Returns the bytes that rules compare in a call of this size, or -1 if they are unknown. */
static int64_t bytes_of(int collective, int64_t bytes) {
  if (collective == PRELOAD_Barrier) return 0;
  return preload_collectives[collective].size == PRELOAD_UNKNOWN ? -1 : bytes;
}

static void fill(struct row* row, int collective, const struct preload_shape* shape) {
  snprintf(row->name, sizeof row->name, "%s", preload_collectives[collective].name);
  for (int i = 0; i < SIZES; i++) {
    const int64_t bytes = bytes_of(collective, sizes[i].bytes);
    const struct preload_rule* rule = rule_of(collective, shape, bytes);
    if (rule)
      print_rule(rule, row->cells[i]);
    else
      print_candidates(collective, shape, bytes, row->cells[i]);
  }
}

/* Adds the second row's name to the first row if their cells are equal: "alltoall, -v". Returns whether it has. */
static int joins(struct row* row, const struct row* next, const char* base) {
  const size_t length = strlen(base), used = strlen(row->name);
  if (memcmp(row->cells, next->cells, sizeof row->cells) != 0 ||
      strncmp(base, next->name, length) != 0)
    return 0;
  snprintf(row->name + used, sizeof row->name - used, ", -%s",
           next->name + length + (next->name[length] == '_'));
  return 1;
}

static void print_row(const struct row* row) {
  printf("%-22s %-27s %-27s %s\n", row->name, row->cells[0], row->cells[1], row->cells[2]);
}

static void print_layout(const struct preload_shape* shape) {
  if (shape->least == shape->most)
    doctor_fact("layout", "%d ranks: %d x %d", shape->ranks, shape->nodes, shape->least);
  else
    doctor_fact("layout", "%d ranks on %d nodes, %d to %d on each", shape->ranks, shape->nodes,
                shape->least, shape->most);
}

void doctor_look_at_calls(int is_served) {
  struct preload_shape shape = {.groups = 1};
  int rank = 0;
  const char* base = "";
  struct row row = {.name = ""};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &shape.ranks);
  qd_count_nodes(MPI_COMM_WORLD, &shape.nodes, &shape.least, &shape.most);
  print_layout(&shape);
  if (shape.ranks == 1)
    doctor_finding("the job has one rank, which sends nothing: start it with two or more");
  const int mine =
      !is_served || preload_settings()->error[0] || preload_settings()->mode == PRELOAD_OFF;
  const int is_off = combine((uint64_t)mine, MPI_MAX) != 0;
  if (is_off) doctor_fact("calls", "MPI's own collectives make all of them; see below why");
  if (is_off || shape.ranks == 1) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  doctor_fact("calls",
              "NAME: by a rule; NAME?+N: compared with MPI's own, as are N more; native: MPI's "
              "own");
  if (rank == 0) printf("%-22s %-27s %-27s %s\n", "", sizes[0].name, sizes[1].name, sizes[2].name);
  for (int i = 0; i < PRELOAD_COLLECTIVE_COUNT; i++) {
    struct row next = {.name = ""};
    fill(&next, i, &shape);
    if (i > 0 && joins(&row, &next, base)) continue;
    if (i > 0 && rank == 0) print_row(&row);
    row = next;
    base = preload_collectives[i].name;
  }
  if (rank == 0) print_row(&row);
}
