/* The schedules that are worth a comparison with MPI's own collective. They are the fastest in simulations of 16 to 64 ranks on a
 * slow and a fast network (`compare`, docs/choosing.md), with the block sizes that were best on the emulated cluster. Tested by
 * tests/preload/adapt_test.sh. */
#include <string.h>

#include "preload/rules.h"

/* For calls of that many bytes or more; the last row that fits counts. Nodes are SHARED if there are several, with several
 * ranks on some. Each algorithm has the time that it is expected to take, in per cent of that of Open MPI's own collective, and of
 * MPICH's. */
enum kind { ANY, SHARED };
static const struct prediction {
  const char* collective; /* as schedules name it */
  int groups;
  enum kind nodes;
  int64_t least_bytes;
  struct {
    const char* name;
    int of_openmpi, of_mpich;
  } algorithms[PRELOAD_PREDICTED];
} predictions[] = {
    {"allgather",
     1,
     ANY,
     0,
     {{"bruck", 95, 95}, {"recursive-doubling", 95, 95}, {"hypercube", 100, 100}}},
    {"allgather",
     1,
     ANY,
     16384,
     {{"recursive-doubling", 95, 95}, {"neighbor-exchange", 95, 95}, {"linear-ring", 95, 95}}},
    {"allgather",
     1,
     SHARED,
     0,
     {{"bruck", 80, 85}, {"recursive-doubling", 80, 85}, {"neighbor-exchange", 95, 100}}},
    {"allgather",
     1,
     SHARED,
     2048,
     {{"blocked-ring-nodes:block-size=8192", 50, 80},
      {"neighbor-exchange", 50, 80},
      {"bruck", 90, 100}}},
    {"allgather",
     1,
     SHARED,
     32768,
     {{"blocked-ring-nodes:block-size=16384", 40, 75},
      {"linear-ring", 40, 75},
      {"neighbor-exchange", 60, 80}}},
    {"allreduce",
     1,
     ANY,
     0,
     {{"recursive-multiplying", 95, 95}, {"lanes", 100, 100}, {"doubling", 100, 100}}},
    {"allreduce",
     1,
     ANY,
     8192,
     {{"lanes", 95, 95}, {"hierarchical", 100, 100}, {"rabenseifner", 95, 95}}},
    {"allreduce",
     1,
     ANY,
     131072,
     {{"lanes", 95, 95}, {"rabenseifner", 95, 95}, {"circulant", 100, 100}}},
    {"allreduce",
     1,
     SHARED,
     0,
     {{"recursive-multiplying", 90, 85}, {"lanes", 90, 85}, {"hierarchical", 90, 85}}},
    {"allreduce",
     1,
     SHARED,
     16384,
     {{"lanes", 85, 80}, {"hierarchical", 90, 85}, {"rabenseifner", 100, 100}}},
    {"allreduce", 1, SHARED, 65536, {{"ring-nodes", 80, 80}, {"lanes", 85, 80}, {"ring", 90, 90}}},
    {"alltoall",
     1,
     ANY,
     0,
     {{"tuna:radix=4", 95, 95}, {"tuna:radix=sqrt", 95, 95}, {"spread-out", 100, 100}}},
    {"alltoall",
     1,
     ANY,
     1024,
     {{"spread-out", 95, 95}, {"factor", 95, 95}, {"tuna:radix=16", 100, 100}}},
    {"alltoall",
     1,
     SHARED,
     0,
     {{"hierarchical-overlapped", 80, 80},
      {"tuna-coalesced:radix=4", 60, 70},
      {"tuna:radix=4", 85, 90}}},
    {"alltoall",
     1,
     SHARED,
     512,
     {{"hierarchical-overlapped", 75, 80},
      {"tuna-coalesced:radix=16", 70, 80},
      {"tuna:radix=8", 100, 100}}},
    {"alltoall",
     1,
     SHARED,
     2048,
     {{"hierarchical-overlapped", 90, 90}, {"spread-out", 95, 95}, {"factor", 100, 100}}},
    {"alltoall",
     1,
     SHARED,
     8192,
     {{"factor", 95, 95}, {"spread-out", 95, 95}, {"hierarchical-factor", 95, 95}}},
    {"barrier", 1, ANY, 0, {{"dissemination", 100, 100}}},
    {"broadcast", 1, ANY, 0, {{"binomial", 100, 100}, {"hypercube", 110, 110}}},
    {"broadcast",
     1,
     ANY,
     262144,
     {{"hypercube", 95, 100}, {"pipeline:block-size=16384", 90, 100}, {"scatter-ring", 100, 100}}},
    {"broadcast",
     1,
     SHARED,
     0,
     {{"binomial", 100, 100},
      {"hypercube", 110, 110},
      {"pipeline-nodes:block-size=8192", 100, 110}}},
    {"broadcast",
     1,
     SHARED,
     131072,
     {{"pipeline-nodes:block-size=8192", 65, 90},
      {"pipeline:block-size=8192", 80, 95},
      {"scatter-ring", 100, 100}}},
    {"exscan", 1, ANY, 0, {{"one-two-three", 100, 95}}},
    {"gather", 1, ANY, 0, {{"linear", 100, 95}, {"binomial", 100, 95}}},
    {"reduce", 1, ANY, 0, {{"binomial", 100, 95}, {"hypercube", 110, 110}}},
    {"reduce",
     1,
     ANY,
     65536,
     {{"hypercube", 100, 95}, {"rabenseifner", 100, 100}, {"pipeline:block-size=8192", 100, 95}}},
    {"reduce",
     1,
     SHARED,
     0,
     {{"binomial", 100, 90}, {"hypercube", 110, 100}, {"pipeline-nodes:block-size=8192", 100, 95}}},
    {"reduce",
     1,
     SHARED,
     65536,
     {{"pipeline-nodes:block-size=8192", 80, 75},
      {"ring", 95, 95},
      {"pipeline:block-size=8192", 90, 90}}},
    {"reduce-scatter",
     1,
     ANY,
     0,
     {{"spread-out", 90, 90}, {"circulant", 90, 90}, {"halving", 90, 90}}},
    {"reduce-scatter",
     1,
     ANY,
     1048576,
     {{"spread-out", 90, 90}, {"pairwise", 95, 95}, {"ring", 95, 95}}},
    {"reduce-scatter",
     1,
     SHARED,
     0,
     {{"halving", 60, 60}, {"circulant", 60, 60}, {"spread-out", 70, 70}}},
    {"reduce-scatter",
     1,
     SHARED,
     32768,
     {{"blocked-ring-nodes:block-size=8192", 40, 35}, {"ring", 50, 40}, {"halving", 70, 60}}},
    {"scan", 1, ANY, 0, {{"doubling", 100, 110}}},
    {"scatter", 1, ANY, 0, {{"linear", 95, 95}, {"binomial", 100, 95}}},
    {"allgather",
     2,
     ANY,
     0,
     {{"subgroup-bruck", 80, 80}, {"leader", 90, 90}, {"segment-map-v", 100, 100}}},
    {"allgather",
     2,
     ANY,
     16384,
     {{"segment-map-v", 50, 60}, {"segment-map-nodes", 50, 60}, {"two-stage", 60, 70}}},
    {"allreduce", 2, ANY, 0, {{"leader", 95, 95}, {"segments", 95, 95}}},
    {"alltoall", 2, ANY, 0, {{"direct", 95, 95}, {"factor", 95, 95}}},
    {"barrier", 2, ANY, 0, {{"dissemination", 95, 95}}},
    {"broadcast",
     2,
     ANY,
     0,
     {{"leader", 100, 100}, {"scatter-ring", 100, 100}, {"pipeline", 100, 100}}},
    {"gather", 2, ANY, 0, {{"linear", 100, 100}, {"tree", 100, 100}}},
    {"reduce", 2, ANY, 0, {{"leader", 100, 100}, {"segments", 100, 100}}},
    {"reduce-scatter", 2, ANY, 0, {{"direct", 90, 90}, {"leader", 95, 95}, {"spread-out", 95, 95}}},
    {"scatter", 2, ANY, 0, {{"linear", 100, 100}, {"tree", 100, 100}}},
};

int preload_predict(int collective, const struct preload_shape* shape, int64_t bytes,
                    int is_openmpi, struct preload_predicted predicted[PRELOAD_PREDICTED]) {
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
  for (int i = 0; found && i < PRELOAD_PREDICTED && found->algorithms[i].name; i++) {
    struct preload_predicted* to = &predicted[count];
    to->rule = preload_any_rule(collective, shape->groups);
    to->ratio =
        (is_openmpi ? found->algorithms[i].of_openmpi : found->algorithms[i].of_mpich) / 100.;
    count += preload_parse_algorithm(found->algorithms[i].name, &to->rule, error);
  }
  return count;
}
