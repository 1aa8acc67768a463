/* The rules where nobody gives any: what was measured to win by a tenth and more with Open MPI and MPICH, on four
 * nodes of four ranks (docs/measurements.md). All else is left to the MPI library. */
#include "preload/rules.h"

static const struct {
  int collective, groups;
  struct preload_range nodes, bytes;
  const char* algorithm;
} measured[] = {
    {PRELOAD_Allgather,
     1,
     {2, INT64_MAX},
     {262144, INT64_MAX},
     "blocked-ring-nodes:block-size=16384"},
    {PRELOAD_Allgatherv,
     1,
     {2, INT64_MAX},
     {262144, INT64_MAX},
     "blocked-ring-nodes:block-size=16384"},
    {PRELOAD_Reduce_scatter_block, 1, {2, INT64_MAX}, {65536, INT64_MAX}, "halving"},
    {PRELOAD_Reduce_scatter, 1, {2, INT64_MAX}, {65536, INT64_MAX}, "halving"},
    {PRELOAD_Allgather, 2, {0, INT64_MAX}, {65536, INT64_MAX}, "segment-map-v"},
};

int preload_add_built_in(struct preload_settings* settings) {
  char error[PRELOAD_TEXT];
  for (unsigned i = 0; i < sizeof measured / sizeof *measured; i++) {
    struct preload_rule rule = preload_any_rule(measured[i].collective, measured[i].groups);
    rule.nodes = measured[i].nodes;
    rule.bytes = measured[i].bytes;
    if (!preload_parse_algorithm(measured[i].algorithm, &rule, error) ||
        !preload_add_rule(settings, &rule))
      return 0;
  }
  return 1;
}
