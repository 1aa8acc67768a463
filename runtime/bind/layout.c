/* Ranks in the order of the schedule: node by node, nodes by (size, lowest rank). Every rank
 * computes it from the same data, so every rank comes to the same end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

struct node {
  int lowest, size; /* its lowest rank tells the node */
  int first;        /* rank in the schedule of its first rank */
};

static int by_size(const void* left, const void* right) {
  const struct node *a = left, *b = right;
  if (a->size != b->size) return a->size < b->size ? -1 : 1;
  return a->lowest < b->lowest ? -1 : a->lowest > b->lowest;
}

int quadrille_gather_nodes(MPI_Comm comm, int rank, int* node_of) {
  MPI_Comm node;
  int code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return code;
  int lowest = rank;
  code = MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  if (code != MPI_SUCCESS) return code;
  return MPI_Allgather(&lowest, 1, MPI_INT, node_of, 1, MPI_INT, comm);
}

/* "1,2,3x4" as far as it fits. */
static void describe(const struct quadrille_topology* topology, char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int64_t i = 0; i < topology->run_count && used < size; i++) {
    const struct quadrille_node_run* run = &topology->runs[i];
    used +=
        (size_t)(run->nodes == 1 ? snprintf(text + used, size - used, "%s%lld", i ? "," : "",
                                            (long long)run->size)
                                 : snprintf(text + used, size - used, "%s%lldx%lld", i ? "," : "",
                                            (long long)run->nodes, (long long)run->size));
  }
  if (used >= size) memcpy(text + size - 4, "...", 4);
}

/* Whether the sorted nodes are those of the topology. */
static int same_nodes(const struct node* nodes, int count,
                      const struct quadrille_topology* topology) {
  if (count != topology->nodes) return 0;
  int next = 0;
  for (int64_t i = 0; i < topology->run_count; i++)
    for (int64_t n = 0; n < topology->runs[i].nodes; n++)
      if (nodes[next++].size != topology->runs[i].size) return 0;
  return 1;
}

/* The topology of sorted nodes; 0 where memory ran out. */
static int topology_of(const struct node* nodes, int count, struct quadrille_topology* topology) {
  struct quadrille_node_run* runs = calloc((size_t)count, sizeof *runs);
  *topology = (struct quadrille_topology){runs, 0, count, 0};
  for (int i = 0; i < count && runs; i++) {
    if (i == 0 || nodes[i].size != nodes[i - 1].size)
      runs[topology->run_count++] = (struct quadrille_node_run){0, nodes[i].size};
    runs[topology->run_count - 1].nodes++;
    topology->ranks += nodes[i].size;
  }
  return runs != NULL;
}

/* Says what the schedule is for and what is there; `nodes` are sorted. */
static void describe_mismatch(const struct node* nodes, int count,
                              const struct quadrille_topology* topology,
                              char failure[QUADRILLE_TEXT]) {
  char wanted[48], found[48];
  struct quadrille_topology actual;
  topology_of(nodes, count, &actual);
  describe(topology, wanted, sizeof wanted);
  describe(&actual, found, sizeof found);
  free(actual.runs);
  snprintf(failure, QUADRILLE_TEXT,
           "the schedule is for nodes %s, the communicator has %s; generate one for these or for "
           "any, or "
           "bind with QUADRILLE_LAYOUT_TRUSTED",
           wanted, found);
}

/* Takes the sorted nodes where the schedule serves any, and compares them with its own otherwise. */
static const char* take_nodes(struct quadrille_binding* binding, const struct node* nodes,
                              int count, char failure[QUADRILLE_TEXT]) {
  const struct quadrille_program* program = &binding->loaded->program;
  if (program->serves_any_nodes)
    return topology_of(nodes, count, &binding->topology) ? NULL : quadrille_no_memory;
  if (same_nodes(nodes, count, &program->topologies[0])) return NULL;
  describe_mismatch(nodes, count, &program->topologies[0], failure);
  return failure;
}

/* Numbers the ranks: node_of[r] becomes r's node, `nodes` has room for one a rank. */
static const char* number_ranks(struct quadrille_binding* binding, const int* node_of,
                                struct node* nodes, int* index_of, char failure[QUADRILLE_TEXT]) {
  const int ranks = (int)binding->place.ranks;
  int count = 0;
  /* A node's lowest rank comes first of its ranks, and stands for the node. */
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
  const char* error = take_nodes(binding, nodes, count, failure);
  if (error) return error;
  int next = 0;
  for (int i = 0; i < count; i++) {
    nodes[i].first = next;
    next += nodes[i].size;
    index_of[nodes[i].lowest] = i;
  }
  int own = 0;
  MPI_Comm_rank(binding->comm, &own);
  for (int r = 0; r < ranks; r++) {
    const int place = nodes[index_of[node_of[r]]].first++;
    binding->real[place] = r;
    if (r == own) binding->place.rank = place;
  }
  return NULL;
}

/* What can be told without asking who shares memory. */
static const char* refuse_ranks(const struct quadrille_program* program, int ranks, int layout,
                                char failure[QUADRILLE_TEXT]) {
  if (!program->serves_any_nodes) {
    if (ranks == program->topologies[0].ranks) return NULL;
    snprintf(failure, QUADRILLE_TEXT,
             "the schedule is for %lld ranks, the communicator has %d; generate one for %d or for "
             "any nodes",
             (long long)program->topologies[0].ranks, ranks, ranks);
    return failure;
  }
  if (ranks > program->most_ranks) {
    snprintf(
        failure, QUADRILLE_TEXT,
        "%s is proven for up to %lld ranks, the communicator has %d; generate one for its nodes",
        program->algorithm, (long long)program->most_ranks, ranks);
    return failure;
  }
  if (program->uses_nodes && layout == QUADRILLE_LAYOUT_TRUSTED)
    return "a schedule for any nodes does not say how many ranks a node has; bind with "
           "QUADRILLE_LAYOUT_SHARED, or generate one for your nodes";
  return NULL;
}

/* Asks MPI who shares memory; collective. */
static const char* find_nodes(struct quadrille_binding* binding, int own,
                              char failure[QUADRILLE_TEXT]) {
  const int ranks = (int)binding->place.ranks;
  int* node_of = calloc((size_t)ranks, sizeof *node_of);
  int* index_of = malloc((size_t)ranks * sizeof *index_of);
  struct node* nodes = malloc((size_t)ranks * sizeof *nodes);
  const char* error = NULL;
  const int whole = node_of && index_of && nodes;
  int own_part = whole, everybody = 0;
  MPI_Allreduce(&own_part, &everybody, 1, MPI_INT, MPI_MIN, binding->comm);
  if (!whole || !everybody)
    error = quadrille_no_memory;
  else if (quadrille_gather_nodes(binding->comm, own, node_of) != MPI_SUCCESS)
    error = "MPI cannot tell which ranks share memory; bind with QUADRILLE_LAYOUT_TRUSTED";
  else
    error = number_ranks(binding, node_of, nodes, index_of, failure);
  free(node_of);
  free(index_of);
  free(nodes);
  return error;
}

/* What a schedule for any nodes leaves open. */
static const char* fill_in(struct quadrille_binding* binding) {
  const struct node one = {0, (int)binding->place.ranks, 0};
  if (!binding->loaded->program.uses_nodes && !topology_of(&one, 1, &binding->topology))
    return quadrille_no_memory;
  char text[QUADRILLE_TEXT];
  describe(&binding->topology, text, sizeof text);
  quadrille_log("%s takes nodes %s", binding->loaded->program.algorithm, text);
  binding->place.topologies = &binding->topology;
  binding->place.parameters = binding->parameters;
  return quadrille_formulas_evaluate(&binding->loaded->program, &binding->place,
                                     binding->parameters);
}

const char* quadrille_lay_out(struct quadrille_binding* binding, int layout,
                              char failure[QUADRILLE_TEXT]) {
  const int ranks = (int)binding->place.ranks;
  const struct quadrille_program* program = &binding->loaded->program;
  int own = 0;
  MPI_Comm_rank(binding->comm, &own);
  const char* error = refuse_ranks(program, ranks, layout, failure);
  if (error) return error;
  for (int r = 0; r < ranks; r++) binding->real[r] = r;
  binding->place.rank = own;
  memcpy(binding->parameters, program->parameters, sizeof binding->parameters);
  if (program->uses_nodes && layout != QUADRILLE_LAYOUT_TRUSTED)
    error = find_nodes(binding, own, failure);
  if (!error && program->serves_any_nodes) error = fill_in(binding);
  return error;
}
