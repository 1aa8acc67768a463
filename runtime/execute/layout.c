/* Orders the ranks as the schedule does: node by node, nodes by ascending size and then by lowest rank. All ranks
 * compute this from the same data, so all get the same order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/layout.h"

struct node {
  int lowest, size; /* lowest: the node's lowest rank in the group; size: its ranks */
  int first;        /* the schedule's number of its first rank */
};

static int by_size(const void* left, const void* right) {
  const struct node *a = left, *b = right;
  if (a->size != b->size) return a->size < b->size ? -1 : 1;
  return a->lowest < b->lowest ? -1 : a->lowest > b->lowest;
}

/* Writes the node sizes, such as "1,2,3x4" for nodes of 1, 2, 4, 4 and 4 ranks, as far as they fit. */
static void describe_topology(const struct qd_topology* topology, char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int64_t i = 0; i < topology->run_count && used < size; i++) {
    const struct qd_node_run* run = &topology->runs[i];
    used +=
        (size_t)(run->nodes == 1 ? snprintf(text + used, size - used, "%s%lld", i ? "," : "",
                                            (long long)run->size)
                                 : snprintf(text + used, size - used, "%s%lldx%lld", i ? "," : "",
                                            (long long)run->nodes, (long long)run->size));
  }
  if (used >= size) memcpy(text + size - 4, "...", 4);
}

static int same_nodes(const struct qd_topology* one, const struct qd_topology* other) {
  if (one->run_count != other->run_count) return 0;
  for (int64_t i = 0; i < one->run_count; i++)
    if (one->runs[i].nodes != other->runs[i].nodes || one->runs[i].size != other->runs[i].size)
      return 0;
  return 1;
}

/* Makes the topology of nodes that ascend by size. Returns 0 if memory ran out. */
static int topology_of(const struct node* nodes, int count, struct qd_topology* topology) {
  struct qd_node_run* runs = calloc((size_t)count, sizeof *runs);
  *topology = (struct qd_topology){runs, 0, count, 0};
  for (int i = 0; i < count && runs; i++) {
    if (i == 0 || nodes[i].size != nodes[i - 1].size)
      runs[topology->run_count++] = (struct qd_node_run){0, nodes[i].size};
    runs[topology->run_count - 1].nodes++;
    topology->ranks += nodes[i].size;
  }
  return runs != NULL;
}

/* Numbers the ranks of a group. node_of[r] is the lowest rank on the node of r. order[i] becomes the rank that is
 * rank i of the schedule. `nodes` and `index_of` have one entry for each rank. Returns NULL, or an error text. */
static const char* number_ranks(int ranks, const int* node_of, struct node* nodes, int* index_of,
                                int* order, struct qd_topology* topology) {
  int count = 0;
  /* The loop meets the lowest rank of a node before its other ranks. */
  for (int r = 0; r < ranks; r++) {
    if (node_of[r] < 0 || node_of[r] > r || node_of[node_of[r]] != node_of[r])
      return "ranks disagree on their nodes";
    if (node_of[r] == r) {
      index_of[r] = count;
      nodes[count++] = (struct node){r, 0, 0};
    }
    nodes[index_of[node_of[r]]].size++;
  }
  qsort(nodes, (size_t)count, sizeof *nodes, by_size);
  if (!topology_of(nodes, count, topology)) return qd_no_memory;
  int next = 0;
  for (int i = 0; i < count; i++) {
    nodes[i].first = next;
    next += nodes[i].size;
    index_of[nodes[i].lowest] = i;
  }
  for (int r = 0; r < ranks; r++) order[nodes[index_of[node_of[r]]].first++] = r;
  return NULL;
}

/* Numbers the ranks of a group, which has `ranks` ranks of the private communicator from `first` on. `node_of`,
 * `local_of`, `nodes` and `index_of` have one entry for each rank of that communicator. */
static const char* number_group(int first, int ranks, const int* node_of, int* local_of,
                                struct node* nodes, int* index_of, int* real,
                                struct qd_topology* topology) {
  /* A node may have ranks of both groups. Its lowest rank in this group names it. */
  for (int r = ranks - 1; r >= 0; r--) index_of[node_of[first + r]] = r;
  for (int r = 0; r < ranks; r++) local_of[r] = index_of[node_of[first + r]];
  const char* error = number_ranks(ranks, local_of, nodes, index_of, real, topology);
  for (int i = 0; i < ranks && !error; i++) real[i] += first;
  return error;
}

/* Returns whether a group of the schedule may have this many ranks, whatever the nodes. */
static int fits_ranks(const struct qd_program* program, int group, int64_t ranks) {
  return program->serves_any_nodes ? ranks <= program->most_ranks
                                   : ranks == program->topologies[group].ranks;
}

/* Returns whether this rank's group can be the schedule's group `group`. */
static int fits_group(const struct qd_layout* l, const struct qd_program* program, int group) {
  const struct qd_context* context = &l->context;
  if (!fits_ranks(program, group, context->ranks)) return 0;
  if (program->groups == 2 && !fits_ranks(program, 1 - group, context->remote_ranks)) return 0;
  if (program->serves_any_nodes || l->topologies[0].run_count == 0) return 1;
  return same_nodes(&l->topologies[0], &program->topologies[group]) &&
         (program->groups == 1 || same_nodes(&l->topologies[1], &program->topologies[1 - group]));
}

static int fits_somehow(const struct qd_layout* l, const struct qd_program* program) {
  return fits_group(l, program, 0) || (program->groups == 2 && fits_group(l, program, 1));
}

static const char* refuse_ranks(const struct qd_layout* l, const struct qd_program* program,
                                int option, char failure[QD_TEXT]) {
  const long long ranks = l->context.ranks, remote = l->context.remote_ranks;
  if (program->uses.nodes && option == QUADRILLE_LAYOUT_TRUSTED && program->serves_any_nodes)
    return "a schedule for any nodes does not say how many ranks a node has; bind with "
           "QUADRILLE_LAYOUT_SHARED, or generate one for your nodes";
  if (fits_somehow(l, program)) return NULL;
  if (program->serves_any_nodes)
    snprintf(
        failure, QD_TEXT,
        "%s is proven for up to %lld ranks, the communicator has %lld; generate one for its nodes",
        program->algorithm, (long long)program->most_ranks, ranks > remote ? ranks : remote);
  else if (program->groups == 2)
    snprintf(failure, QD_TEXT,
             "the schedule is for groups of %lld and %lld ranks, the communicator has groups of "
             "%lld and %lld; generate one for these or for any nodes",
             (long long)program->topologies[0].ranks, (long long)program->topologies[1].ranks,
             ranks, remote);
  else
    snprintf(failure, QD_TEXT,
             "the schedule is for %lld rank%s, the communicator has %lld; generate one for %lld or "
             "for any nodes",
             (long long)program->topologies[0].ranks, program->topologies[0].ranks == 1 ? "" : "s",
             ranks, ranks);
  return failure;
}

/* Returns NULL, or an error text with the nodes that the schedule is for and those that were found. */
static const char* refuse_nodes(const struct qd_layout* l, const struct qd_program* program,
                                char failure[QD_TEXT]) {
  char wanted[48], found[48];
  if (fits_somehow(l, program)) return NULL;
  const int differs =
      program->groups == 2 && same_nodes(&l->topologies[0], &program->topologies[0]);
  describe_topology(&program->topologies[differs], wanted, sizeof wanted);
  describe_topology(&l->topologies[differs], found, sizeof found);
  snprintf(failure, QD_TEXT,
           "the schedule is for nodes %s, the communicator has %s; generate one for these or for "
           "any, or bind with QUADRILLE_LAYOUT_TRUSTED",
           wanted, found);
  return failure;
}

/* Numbers the ranks by their nodes. */
static const char* take_nodes(struct qd_layout* l, const int* node_of) {
  const struct qd_context* context = &l->context;
  const size_t all = (size_t)(context->ranks + context->remote_ranks);
  int* local_of = malloc(2 * all * sizeof *local_of);
  struct node* nodes = calloc(all, sizeof *nodes);
  const char* error = local_of && nodes ? NULL : qd_no_memory;
  if (!error)
    error = number_group(l->first, (int)context->ranks, node_of, local_of, nodes, local_of + all,
                         l->real, &l->topologies[0]);
  if (!error && context->remote_ranks > 0)
    error = number_group(l->first_remote, (int)context->remote_ranks, node_of, local_of, nodes,
                         local_of + all, l->remote_real, &l->topologies[1]);
  free(local_of);
  free(nodes);
  return error;
}

/* Sets the topologies and parameters of a schedule for any nodes. Returns NULL, or an error text. */
static const char* fill_in(struct qd_layout* l, const struct qd_program* program) {
  struct qd_context* context = &l->context;
  const int64_t ranks[] = {context->ranks, context->remote_ranks};
  char text[QD_TEXT];
  const int groups = program->groups == 2 ? 2 : 1;
  for (int i = 0; i < groups; i++) {
    const struct node one = {0, (int)ranks[i], 0};
    if (!program->uses.nodes && !topology_of(&one, 1, &l->topologies[i])) return qd_no_memory;
    describe_topology(&l->topologies[i], text, sizeof text);
    qd_log("%s takes nodes %s", program->algorithm, text);
  }
  return qd_formulas_evaluate(program, context, l->parameters);
}

/* Makes this rank's group the schedule's group `group`. */
static void take_group(struct qd_layout* l, int group) {
  l->context.group = group;
  l->ordered[group] = l->topologies[0];
  if (l->context.remote_ranks > 0) l->ordered[1 - group] = l->topologies[1];
}

/* Sets the pointers into the layout itself and into its array `real`. */
static void take_parts(struct qd_layout* l, const struct qd_program* program) {
  struct qd_context* context = &l->context;
  l->remote_real = l->real + context->ranks;
  l->user = l->remote_real + context->remote_ranks;
  context->parameters = l->parameters;
  if (program->serves_any_nodes) context->topologies = l->ordered;
}

const char qd_other_order[] =
    "the schedule combines contributions in the order of its nodes' ranks, which is not that of "
    "the communicator: number ranks node by node, smaller nodes first, or load a schedule that "
    "does not depend on nodes";

static int are_in_order(const int* real, int64_t ranks, int first) {
  for (int64_t i = 0; i < ranks; i++)
    if (real[i] != first + i) return 0;
  return 1;
}

/* Refuses a scan in another order of ranks. Its result depends on the order, whatever the operator. */
static const char* refuse_order(const struct qd_layout* l, const struct qd_program* program) {
  const int is_scan = program->collective == QD_SCAN || program->collective == QD_EXSCAN;
  return !is_scan || l->is_in_order ? NULL : qd_other_order;
}

const char* qd_lay_out(struct qd_layout* l, const struct qd_program* program, const int* node_of,
                       int option, char failure[QD_TEXT]) {
  struct qd_context* context = &l->context;
  const char* error = refuse_ranks(l, program, option, failure);
  if (error) return error;
  take_parts(l, program);
  for (int r = 0; r < context->ranks; r++) l->real[r] = l->first + r;
  for (int r = 0; r < context->remote_ranks; r++) l->remote_real[r] = l->first_remote + r;
  memcpy(l->parameters, program->parameters, sizeof l->parameters);
  if (program->uses.nodes && option != QUADRILLE_LAYOUT_TRUSTED) {
    error = take_nodes(l, node_of);
    if (!error) error = refuse_nodes(l, program, failure);
  }
  if (error) return error;
  while (l->real[context->rank] != l->own) context->rank++;
  if (context->rank != l->own - l->first)
    qd_log("rank %d is rank %lld of the schedule, which numbers smaller nodes first",
           l->own - l->first, (long long)context->rank);
  const int* blocks = program->groups == 2 ? l->remote_real : l->real;
  const int first = program->groups == 2 ? l->first_remote : l->first;
  const int64_t count = program->groups == 2 ? context->remote_ranks : context->ranks;
  for (int64_t i = 0; i < count; i++) l->user[i] = blocks[i] - first;
  /* If both orders fit, the group with the lowest rank comes first. */
  const int group = program->groups == 2 && l->first > 0;
  take_group(l, fits_group(l, program, group) ? group : 1 - group);
  if (program->serves_any_nodes) error = fill_in(l, program);
  take_group(l, (int)context->group);
  l->is_in_order = are_in_order(l->real, context->ranks, l->first) &&
                   are_in_order(l->remote_real, context->remote_ranks, l->first_remote);
  return error ? error : refuse_order(l, program);
}

static void* duplicate(const void* from, int64_t count, size_t size) {
  void* copy = calloc((size_t)count + 1, size); /* never a null pointer */
  if (copy && count > 0) memcpy(copy, from, (size_t)count * size);
  return copy;
}

int qd_copy_layout(struct qd_layout* l, const struct qd_program* program) {
  const struct qd_context* context = &l->context;
  const int64_t all = context->ranks + context->remote_ranks;
  struct qd_topology* topologies = l->topologies;
  l->real = duplicate(l->real, 2 * all, sizeof *l->real);
  for (int i = 0; i < 2; i++)
    topologies[i].runs =
        duplicate(topologies[i].runs, topologies[i].run_count, sizeof *topologies[i].runs);
  if (!l->real || !topologies[0].runs || !topologies[1].runs) return 0;
  take_parts(l, program);
  take_group(l, (int)context->group);
  return 1;
}

void qd_layout_free(struct qd_layout* l) {
  free(l->real);
  for (int i = 0; i < 2; i++) free(l->topologies[i].runs);
}

int qd_take_root(struct qd_layout* l, const struct qd_program* program, int root) {
  struct qd_context* context = &l->context;
  if (!qd_is_rooted(program)) return 0;
  /* Between groups, the root's group is the schedule's first. Ranks that pass the root's rank are in the second. */
  const int group = program->groups == 2 && root != MPI_ROOT;
  const int* real = group == 1 ? l->remote_real : l->real;
  const int rank = group == 1 ? l->first_remote + root : program->groups == 2 ? l->own : root;
  if (context->group == group && real[context->root] == rank) return 0;
  take_group(l, group);
  context->root = 0;
  while (real[context->root] != rank) context->root++;
  return 1;
}

int qd_root_fits(const struct qd_layout* l, const struct qd_program* program, int root) {
  return program->groups == 1 || !qd_is_rooted(program) ||
         fits_group(l, program, root == MPI_ROOT ? 0 : 1);
}
