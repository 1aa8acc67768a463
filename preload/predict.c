/* Says which schedules are worth a race with MPI's own collective, the same for all sizes of a class: communicators
 * share findings by class. For one group, they are the fastest of simulations on 32 ranks of two networks by SimGrid,
 * beside its versions of both MPI libraries' collectives. Long scans are by our own simulator: SimGrid's scan differs
 * from theirs. Tested by tests/preload/predict_test.cc. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/rules.h"

/* A row has the schedules' name of a collective, the kind of nodes, the least bytes of a call, and algorithms. The
 * last row that fits a call counts. Nodes are `shared` if there are several and some have several ranks, and `apart`
 * otherwise. `groups` stands for two groups. After an algorithm comes its expected time, in per cent of Open MPI's
 * own and of MPICH's own. */
static const char* const rows[] = {
    "allgather apart 0 bruck,80,100 recursive-doubling,80,100 hypercube,95,120",
    "allgather apart 2048 hypercube,100,100 recursive-doubling,115,110",
    "allgather apart 16384 hypercube,75,70 recursive-doubling,80,75 bruck,85,80 "
    "neighbor-exchange,100,90",
    "allgather apart 131072 linear-ring,105,105 recursive-doubling,105,105 "
    "neighbor-exchange,110,110",
    "allgather shared 0 bruck-nodes,75,75 recursive-doubling,75,95 bruck,90,115",
    "allgather shared 32 bruck-nodes,40,40 recursive-doubling,105,95 hypercube,105,100",
    "allgather shared 256 bruck-nodes,30,30 neighbor-exchange,50,50 "
    "blocked-ring-nodes:block-size=8192,55,55 hypercube,85,85",
    "allgather shared 2048 blocked-ring-nodes:block-size=16384,30,30 linear-ring,30,30 "
    "neighbor-exchange,40,30 bruck-nodes,75,30",
    "allgather shared 16384 blocked-ring-nodes:block-size=8192,55,30 linear-ring,95,35 "
    "neighbor-exchange,95,40",
    "allgather shared 131072 linear-ring,40,40 blocked-ring-nodes:block-size=16384,45,45 "
    "neighbor-exchange,45,45",
    "allreduce apart 0 recursive-multiplying,55,95 doubling,60,100 lanes,85,130",
    "allreduce apart 256 recursive-multiplying,60,100 doubling,70,120 lanes,115,130",
    "allreduce apart 2048 lanes,50,60 doubling,75,100 hierarchical,75,100 "
    "recursive-multiplying,95,120",
    "allreduce apart 16384 circulant,115,60 rabenseifner,120,60 lanes,130,75 doubling,130,100",
    "allreduce apart 131072 lanes,75,35 rabenseifner,100,50 circulant,100,50 hierarchical,130,100",
    "allreduce shared 0 recursive-multiplying,50,70 tree-nodes,65,85 doubling,65,85 "
    "hierarchical,80,110",
    "allreduce shared 256 tree-nodes,60,95 hierarchical,70,110 lanes,75,110 "
    "recursive-multiplying,85,125",
    "allreduce shared 2048 hierarchical,65,85 tree-nodes,75,105 lanes,85,115 rabenseifner,95,125",
    "allreduce shared 16384 lanes,70,65 rabenseifner,100,95 hierarchical,115,105",
    "allreduce shared 131072 blocked-ring-nodes:block-size=8192,85,65 rabenseifner,100,75 "
    "ring-nodes,105,80 lanes,110,80",
    "alltoall apart 0 tuna:radix=sqrt,70,45 spread-out,125,75",
    "alltoall apart 256 tuna:radix=sqrt,70,55 factor,100,80 spread-out,105,85",
    "alltoall apart 16384 spread-out,100,80 factor,100,85 tuna:radix=16,115,95",
    "alltoall shared 0 tuna-coalesced:radix=4,45,30 hierarchical-overlapped,65,45 "
    "tuna:radix=sqrt,70,45 spread-out,125,90",
    "alltoall shared 32 tuna-coalesced:radix=4,75,60 hierarchical-overlapped,90,75 "
    "tuna:radix=8,95,75 spread-out,100,80",
    "alltoall shared 256 tuna-coalesced:radix=4,65,60 hierarchical-overlapped,65,60 "
    "tuna:radix=8,100,90 spread-out,105,95",
    "alltoall shared 2048 spread-out,100,95 hierarchical-factor,100,100 "
    "hierarchical-overlapped,110,105 tuna-coalesced:radix=16,110,105",
    "alltoall shared 16384 hierarchical-overlapped,75,70 spread-out,100,95 "
    "hierarchical-factor,105,100",
    "barrier apart 0 dissemination,100,100",
    "barrier shared 0 tree-nodes,80,60 dissemination,100,100",
    "broadcast apart 0 hypercube,130,130",
    "broadcast apart 256 hypercube,105,105",
    "broadcast apart 2048 binomial,80,80 hypercube,100,100",
    "broadcast apart 16384 pipeline:block-size=16384,30,40 hypercube,40,60 "
    "binary-nodes:block-size=8192,40,60 binomial,75,95",
    "broadcast shared 0 tree-nodes,100,100 pipeline-nodes:block-size=8192,130,130",
    "broadcast shared 256 pipeline-nodes:block-size=8192,105,105 tree-nodes,110,110",
    "broadcast shared 2048 pipeline-nodes:block-size=8192,70,95 binomial,75,100 tree-nodes,80,100",
    "broadcast shared 16384 pipeline:block-size=8192,30,40 pipeline-nodes:block-size=8192,35,45 "
    "binary-nodes:block-size=8192,55,75",
    "exscan apart 0 one-two-three,100,100",
    "exscan apart 1048576 pipeline:block-size=32768,30,60 one-two-three,30,100",
    "exscan shared 0 one-two-three,100,100",
    "exscan shared 512 linear-nodes,75,75 one-two-three,100,100",
    "exscan shared 4096 linear-nodes,35,35 one-two-three,100,100",
    "exscan shared 65536 pipeline:block-size=16384,45,30 linear-nodes,70,30",
    "gather apart 0 binomial,30,30 linear,70,70",
    "gather apart 256 binomial,70,70",
    "gather apart 2048 linear,80,80 binomial,90,90",
    "gather shared 0 binomial,50,50",
    "gather shared 256 binomial,85,85 linear-nodes,85,85",
    "gather shared 2048 linear,90,90 binomial,95,95",
    "reduce apart 0 binomial,50,30 hypercube,130,100",
    "reduce apart 2048 binomial,35,50 hypercube,45,70",
    "reduce apart 16384 pipeline:block-size=8192,30,50 rabenseifner,30,110 hypercube,30,125 "
    "binomial,30,130",
    "reduce apart 131072 pipeline:block-size=8192,30,60 hypercube,45,95 rabenseifner,60,115 "
    "binomial,100,130",
    "reduce shared 0 tree-nodes,75,50 binomial,85,50",
    "reduce shared 2048 binomial,40,45",
    "reduce shared 16384 pipeline:block-size=8192,30,50 pipeline-nodes:block-size=8192,30,70 "
    "binary-nodes:block-size=8192,30,100 binomial,30,110",
    "reduce shared 131072 pipeline:block-size=8192,65,70 pipeline-nodes:block-size=8192,65,70 "
    "ring,85,90 binomial,95,100",
    "reduce-scatter apart 0 circulant,115,95 halving,115,95 spread-out,130,110",
    "reduce-scatter apart 32 circulant,90,90 halving,90,90 spread-out,95,90",
    "reduce-scatter apart 256 halving,95,40 circulant,100,45 spread-out,130,65",
    "reduce-scatter apart 2048 spread-out,80,30 halving,95,30 circulant,95,30",
    "reduce-scatter apart 16384 halving,70,30 circulant,70,30 spread-out,90,35",
    "reduce-scatter apart 131072 halving,90,90 circulant,90,90 pairwise,100,100 ring,100,100",
    "reduce-scatter shared 0 bruck-nodes,105,70 halving,105,80 circulant,130,105",
    "reduce-scatter shared 32 halving,70,35 bruck-nodes,75,30 circulant,105,50",
    "reduce-scatter shared 256 bruck-nodes,65,30 halving,75,30 circulant,130,35",
    "reduce-scatter shared 2048 halving,80,30 blocked-ring-nodes:block-size=8192,130,30 "
    "ring,130,30 circulant,130,30",
    "reduce-scatter shared 16384 halving,65,30 blocked-ring-nodes:block-size=8192,75,30 "
    "ring,100,30 circulant,130,30",
    "reduce-scatter shared 131072 halving,80,30 ring,100,30 "
    "blocked-ring-nodes:block-size=8192,110,30 circulant,130,35",
    "scan apart 0 doubling,100,115",
    "scan apart 1048576 pipeline:block-size=32768,30,60 doubling,30,115",
    "scan shared 0 doubling,100,115",
    "scan shared 512 linear-nodes,75,75 doubling,100,115",
    "scan shared 4096 linear-nodes,35,35 doubling,100,115",
    "scan shared 65536 pipeline:block-size=16384,45,30 linear-nodes,70,30",
    "scatter apart 0 binomial,130,130",
    "scatter apart 256 binomial,55,95 linear,95,130",
    "scatter apart 2048 linear,100,80 binomial,115,95",
    "scatter apart 16384 binomial,80,95 linear,100,120",
    "scatter shared 0 binomial,130,130",
    "scatter shared 256 binomial,55,110 linear-nodes,70,100 linear,90,130",
    "scatter shared 2048 linear,100,90 binomial,110,100",
    "scatter shared 16384 binomial,80,95 linear,100,120",
    "scatter shared 131072 linear,100,95 binomial,105,100",
    "allgather groups 0 linear-nodes,70,70 subgroup-bruck,80,80 leader,90,90 segment-map-v,100,100",
    "allgather groups 16384 segment-map-v,50,60 segment-map-nodes,50,60 two-stage,60,70",
    "allreduce groups 0 leader,100,100 linear-nodes,100,100 segments,100,100",
    "alltoall groups 0 direct,100,100 linear-nodes,100,100 factor,100,100",
    "alltoall groups 1024 direct,100,100 factor,100,100",
    "barrier groups 0 dissemination,100,100 linear-nodes,100,100",
    "broadcast groups 0 leader,100,100 linear-nodes,100,100 scatter-ring,100,100 pipeline,100,100",
    "gather groups 0 linear,100,100 linear-nodes,100,100 tree,100,100",
    "reduce groups 0 leader,100,100 linear-nodes,100,100 segments,100,100",
    "reduce-scatter groups 0 direct,100,100 leader,100,100 linear-nodes,100,100 spread-out,100,100",
    "scatter groups 0 linear,100,100 linear-nodes,100,100 tree,100,100",
};

int preload_predict(int collective, const struct preload_shape* shape, int64_t bytes,
                    int is_openmpi, struct preload_predicted predicted[PRELOAD_PREDICTED]) {
  enum { UNKNOWN = 4096 }; /* bytes that are assumed if they are unknown */
  const int is_shared = shape->nodes > 1 && shape->most > 1;
  const char* const nodes = shape->groups == 2 ? "groups" : is_shared ? "shared" : "apart";
  const int64_t middle =
      bytes < 0 ? UNKNOWN : preload_class_range(preload_size_class(bytes)).most / 2 + 1;
  const char* found = "";
  char algorithm[PRELOAD_NAME], error[PRELOAD_TEXT], name[32], kind[32];
  long long least = 0;
  int count = 0, of_openmpi = 0, of_mpich = 0, length = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (sscanf(rows[i], "%31s %31s %lld %n", name, kind, &least, &length) == 3 &&
        strcmp(name, preload_collectives[collective].scheduled) == 0 && strcmp(kind, nodes) == 0 &&
        least <= middle)
      found = rows[i] + length;
  while (count < PRELOAD_PREDICTED &&
         sscanf(found, "%255[^,],%d,%d %n", algorithm, &of_openmpi, &of_mpich, &length) == 3) {
    struct preload_predicted* to = &predicted[count];
    found += length;
    to->rule = preload_any_rule(collective, shape->groups);
    to->ratio = (is_openmpi ? of_openmpi : of_mpich) / 100.;
    if (shape->nodes == 1 && to->ratio < 1) to->ratio = 1; /* the table is for networks */
    if (!preload_parse_algorithm(algorithm, &to->rule, error)) return -1;
    count++;
  }
  return *found ? -1 : count;
}

/* The algorithms for calls that need canonical sums and have least_bytes or more. The last row that fits counts. */
enum serves {
  ALL,    /* any number of ranks */
  POWERS, /* powers of two */
  SMALL   /* numbers of ranks whose vectors together have at most a gigabyte */
};
static const struct canonical {
  int collective, groups;
  enum serves serves;
  int64_t least_bytes;
  const char* algorithm;
} canonicals[] = {
    {PRELOAD_Allreduce, 1, ALL, 0, "binomial"},
    {PRELOAD_Allreduce, 1, SMALL, 65536, "segments"},
    {PRELOAD_Allreduce, 1, POWERS, 16384, "halving"},
    {PRELOAD_Allreduce, 2, ALL, 0, "leader"},
    {PRELOAD_Exscan, 1, ALL, 0, "binomial"},
    {PRELOAD_Reduce, 1, ALL, 0, "binomial"},
    {PRELOAD_Reduce, 2, ALL, 0, "leader"},
    {PRELOAD_Reduce_scatter, 1, ALL, 0, "spread-out"},
    {PRELOAD_Reduce_scatter, 2, ALL, 0, "leader"},
    {PRELOAD_Reduce_scatter_block, 1, ALL, 0, "spread-out"},
    {PRELOAD_Reduce_scatter_block, 2, ALL, 0, "leader"},
    {PRELOAD_Scan, 1, ALL, 0, "binomial"},
};
enum { CANONICALS = sizeof canonicals / sizeof *canonicals };
static struct preload_rule canonical_rules[CANONICALS];

static void make_canonical_rules(void) {
  char error[PRELOAD_TEXT];
  for (int i = 0; i < CANONICALS; i++) {
    canonical_rules[i] = preload_any_rule(canonicals[i].collective, canonicals[i].groups);
    if (!preload_parse_algorithm(canonicals[i].algorithm, &canonical_rules[i], error)) abort();
  }
}

static int serves(const struct canonical* one, int64_t ranks, int64_t bytes) {
  enum { GIGABYTE = 1 << 30 };
  if (one->least_bytes > 0 && bytes < one->least_bytes) return 0;
  return one->serves == ALL || (one->serves == POWERS && (ranks & (ranks - 1)) == 0) ||
         (one->serves == SMALL && bytes <= GIGABYTE / ranks);
}

const struct preload_rule* preload_canonical_rule(int collective, const struct preload_shape* shape,
                                                  int64_t bytes) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const struct preload_rule* found = NULL;
  pthread_once(&once, make_canonical_rules);
  for (int i = 0; i < CANONICALS; i++)
    if (canonicals[i].collective == collective && canonicals[i].groups == shape->groups &&
        serves(&canonicals[i], shape->ranks, bytes))
      found = &canonical_rules[i];
  return found;
}
