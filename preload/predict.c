/* The schedules that are worth a comparison with MPI's own collective. They are the fastest in simulations of 16 to 64 ranks on a
 * slow and a fast network (`compare`, docs/choosing.md), with the block sizes that were best on the emulated cluster. Tested by
 * tests/preload/adapt_test.sh. */
#include <string.h>

#include "preload/rules.h"

/* For calls of that many bytes or more; the last row that fits counts. Nodes are SHARED if there are several, with several
 * ranks on some. */
enum kind { ANY, SHARED };
static const struct prediction {
  const char* collective; /* as schedules name it */
  int groups;
  enum kind nodes;
  int64_t least_bytes;
  const char* algorithms[PRELOAD_PREDICTED];
} predictions[] = {
    {"allgather", 1, ANY, 0, {"bruck", "recursive-doubling", "hypercube"}},
    {"allgather", 1, ANY, 16384, {"recursive-doubling", "neighbor-exchange", "linear-ring"}},
    {"allgather", 1, SHARED, 0, {"bruck", "recursive-doubling", "neighbor-exchange"}},
    {"allgather",
     1,
     SHARED,
     2048,
     {"blocked-ring-nodes:block-size=8192", "neighbor-exchange", "bruck"}},
    {"allgather",
     1,
     SHARED,
     32768,
     {"blocked-ring-nodes:block-size=16384", "linear-ring", "neighbor-exchange"}},
    {"allreduce", 1, ANY, 0, {"recursive-multiplying", "lanes", "doubling"}},
    {"allreduce", 1, ANY, 8192, {"lanes", "hierarchical", "rabenseifner"}},
    {"allreduce", 1, ANY, 131072, {"lanes", "rabenseifner", "circulant"}},
    {"allreduce", 1, SHARED, 0, {"recursive-multiplying", "lanes", "hierarchical"}},
    {"allreduce", 1, SHARED, 16384, {"lanes", "hierarchical", "rabenseifner"}},
    {"allreduce", 1, SHARED, 65536, {"ring-nodes", "lanes", "ring"}},
    {"alltoall", 1, ANY, 0, {"tuna:radix=4", "tuna:radix=sqrt", "spread-out"}},
    {"alltoall", 1, ANY, 1024, {"spread-out", "factor", "tuna:radix=16"}},
    {"alltoall",
     1,
     SHARED,
     0,
     {"hierarchical-overlapped", "tuna-coalesced:radix=4", "tuna:radix=4"}},
    {"alltoall",
     1,
     SHARED,
     512,
     {"hierarchical-overlapped", "tuna-coalesced:radix=16", "tuna:radix=8"}},
    {"alltoall", 1, SHARED, 2048, {"hierarchical-overlapped", "spread-out", "factor"}},
    {"alltoall", 1, SHARED, 8192, {"factor", "spread-out", "hierarchical-factor"}},
    {"barrier", 1, ANY, 0, {"dissemination"}},
    {"broadcast", 1, ANY, 0, {"binomial", "hypercube"}},
    {"broadcast", 1, ANY, 262144, {"hypercube", "pipeline:block-size=16384", "scatter-ring"}},
    {"broadcast", 1, SHARED, 0, {"binomial", "hypercube", "pipeline-nodes:block-size=8192"}},
    {"broadcast",
     1,
     SHARED,
     131072,
     {"pipeline-nodes:block-size=8192", "pipeline:block-size=8192", "scatter-ring"}},
    {"exscan", 1, ANY, 0, {"one-two-three"}},
    {"gather", 1, ANY, 0, {"linear", "binomial"}},
    {"reduce", 1, ANY, 0, {"binomial", "hypercube"}},
    {"reduce", 1, ANY, 65536, {"hypercube", "rabenseifner", "pipeline:block-size=8192"}},
    {"reduce", 1, SHARED, 0, {"binomial", "hypercube", "pipeline-nodes:block-size=8192"}},
    {"reduce",
     1,
     SHARED,
     65536,
     {"pipeline-nodes:block-size=8192", "ring", "pipeline:block-size=8192"}},
    {"reduce-scatter", 1, ANY, 0, {"spread-out", "circulant", "halving"}},
    {"reduce-scatter", 1, ANY, 1048576, {"spread-out", "pairwise", "ring"}},
    {"reduce-scatter", 1, SHARED, 0, {"halving", "circulant", "spread-out"}},
    {"reduce-scatter", 1, SHARED, 32768, {"blocked-ring-nodes:block-size=8192", "ring", "halving"}},
    {"scan", 1, ANY, 0, {"doubling"}},
    {"scatter", 1, ANY, 0, {"linear", "binomial"}},
    {"allgather", 2, ANY, 0, {"subgroup-bruck", "leader", "segment-map-v"}},
    {"allgather", 2, ANY, 16384, {"segment-map-v", "segment-map-nodes", "two-stage"}},
    {"allreduce", 2, ANY, 0, {"leader", "segments"}},
    {"alltoall", 2, ANY, 0, {"direct", "factor"}},
    {"barrier", 2, ANY, 0, {"dissemination"}},
    {"broadcast", 2, ANY, 0, {"leader", "scatter-ring", "pipeline"}},
    {"gather", 2, ANY, 0, {"linear", "tree"}},
    {"reduce", 2, ANY, 0, {"leader", "segments"}},
    {"reduce-scatter", 2, ANY, 0, {"direct", "leader", "spread-out"}},
    {"scatter", 2, ANY, 0, {"linear", "tree"}},
};

int preload_predict(int collective, const struct preload_shape* shape, int64_t bytes,
                    struct preload_rule predicted[PRELOAD_PREDICTED]) {
  enum { UNKNOWN = 4096 }; /* bytes of a call whose ranks do not all know them */
  const struct prediction* found = NULL;
  const int is_shared = shape->nodes > 1 && shape->most > 1;
  char error[PRELOAD_TEXT];
  int count = 0;
  if (bytes < 0) bytes = UNKNOWN;
  for (size_t i = 0; i < sizeof predictions / sizeof *predictions; i++) {
    const struct prediction* one = &predictions[i];
    if (strcmp(one->collective, preload_collectives[collective].scheduled) == 0 &&
        one->groups == shape->groups && one->least_bytes <= bytes &&
        (one->nodes == ANY || is_shared))
      found = one;
  }
  for (int i = 0; found && i < PRELOAD_PREDICTED && found->algorithms[i]; i++) {
    predicted[count] = preload_any_rule(collective, shape->groups);
    count += preload_parse_algorithm(found->algorithms[i], &predicted[count], error);
  }
  return count;
}
