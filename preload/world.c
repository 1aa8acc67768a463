/* What each rank of MPI_COMM_WORLD brings: its settings, and the node that it is on. All ranks tell all others in MPI_Init. So the
 * ranks of a later communicator agree without a message. Tested by tests/preload/choice_test.sh and corners_test.sh. */
#include <stdlib.h>

#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/datatypes.h"
#include "runtime/execute/nodes.h"

/* What a rank tells. */
struct told {
  uint64_t hash; /* of its settings */
  int has_report, has_error;
  int has_unfollowed_file; /* rank 0 alone: a schedule of a file must not be followed */
  int driver;              /* enum qd_driver */
};

static struct told* world; /* by rank; NULL: MPI_Init was not called */
static int* node_of;       /* by rank: the lowest rank on the node */
static int ranks, own;
static const char* error; /* of this rank */

/* A rank may run without this library, and the others wait for it. So this collective blocks in the library that says so. */
static void tell(void) {
  const struct preload_settings* const settings = preload_settings();
  MPI_Request request;
  const char* const file = own == 0 ? preload_unfollowed_file() : "";
  error = settings->error[0] ? settings->error : file;
  const struct told mine = {settings->hash, settings->report != NULL, error[0] != 0, file[0] != 0,
                            (int)preload_loaded_driver()};
  PMPI_Iallgather(&mine, sizeof mine, MPI_BYTE, world, sizeof mine, MPI_BYTE, MPI_COMM_WORLD,
                  &request);
  qd_wait_for_library(&request);
}

void preload_know_world(void) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  world = calloc((size_t)ranks, sizeof *world);
  node_of = calloc((size_t)ranks, sizeof *node_of);
  if (!world || !node_of) preload_end_without_memory(MPI_COMM_WORLD);
  tell();
  qd_gather_nodes(MPI_COMM_WORLD, own, node_of);
  preload_report_begin();
  if (own == 0) preload_save_begin();
}

/* Writes the ranks of MPI_COMM_WORLD that the members of a group are. Returns 0 if one is from elsewhere. */
static int find_members(MPI_Group group, int count, int* members) {
  int* const all = malloc((size_t)count * sizeof *all);
  int are_known = 1;
  MPI_Group whole;
  if (!all) preload_end_without_memory(MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) all[i] = i;
  PMPI_Comm_group(MPI_COMM_WORLD, &whole);
  PMPI_Group_translate_ranks(group, count, all, whole, members);
  PMPI_Group_free(&whole);
  PMPI_Group_free(&group);
  for (int i = 0; i < count; i++) are_known &= members[i] != MPI_UNDEFINED;
  free(all);
  return are_known;
}

static int find_all_members(const struct preload_communicator* of, int* members) {
  MPI_Group group;
  PMPI_Comm_group(of->comm, &group);
  if (!find_members(group, of->shape.ranks, members)) return 0;
  if (of->shape.groups == 1) return 1;
  PMPI_Comm_remote_group(of->comm, &group);
  return find_members(group, of->shape.remote_ranks, members + of->shape.ranks);
}

/* Finds the nodes of a communicator of one group. */
static void count_nodes(struct preload_communicator* of, const int* members) {
  struct preload_shape* const shape = &of->shape;
  int* const lowest = calloc((size_t)ranks, sizeof *lowest); /* by node, plus 1 */
  of->node_of = calloc(2 * (size_t)shape->ranks, sizeof *of->node_of);
  if (!lowest || !of->node_of) preload_end_without_memory(MPI_COMM_WORLD);
  for (int i = 0; i < shape->ranks; i++) {
    int* const one = &lowest[node_of[members[i]]];
    if (*one == 0) *one = i + 1;
    of->node_of[i] = *one - 1;
  }
  free(lowest);
  qd_measure_nodes(of->node_of, shape->ranks, of->node_of + shape->ranks, &shape->nodes,
                   &shape->least, &shape->most);
}

/* What the members bring together. */
struct sum {
  int first_error; /* the first rank with an error, or that many ranks */
  int are_different, has_report, driver;
};

static void add(struct sum* sum, int rank) {
  const struct told* one = &world[rank];
  if (one->has_error && rank < sum->first_error) sum->first_error = rank;
  sum->are_different |= one->hash != world[own].hash;
  sum->has_report |= one->has_report;
  if (one->driver > sum->driver) sum->driver = one->driver;
}

const char* preload_agree(struct preload_communicator* of) {
  static int said_error, said_different;
  const int count = of->shape.ranks + of->shape.remote_ranks;
  struct sum sum = {.first_error = ranks};
  if (!world) return "MPI_Init was not called";
  int* const members = malloc((size_t)count * sizeof *members);
  if (!members) preload_end_without_memory(MPI_COMM_WORLD);
  const int are_known = find_all_members(of, members);
  for (int i = 0; i < count && are_known; i++) add(&sum, members[i]);
  if (are_known && of->shape.groups == 1) count_nodes(of, members);
  free(members);
  if (!are_known) return "it has processes from outside MPI_COMM_WORLD";
  if (world[0].has_unfollowed_file) sum.first_error = 0;
  of->is_watched = sum.has_report;
  if (sum.first_error < ranks) {
    if (sum.first_error == own) preload_say_once(&said_error, error);
    return "settings are wrong";
  }
  if (sum.are_different) {
    if (of->rank == 0)
      preload_say_once(&said_different,
                       "ranks have different QUADRILLE variables or rules; MPI's own collectives "
                       "are used where they meet");
    return "ranks have different settings";
  }
  return sum.driver == PRELOAD_NO_DRIVER ? NULL : preload_driver_reason(sum.driver);
}
