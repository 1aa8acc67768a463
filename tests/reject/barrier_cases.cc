// What is wrong about barriers and scans.
#include "tests/reject/cases.h"

namespace quadrille::verifier {

std::vector<Refusal> barrier_refusals() {
  return {
      {"leaves_too_early",
       {{1, 1, 1, 1, 1}},
       Property::kBarrier,
       kNoKey,
       {0, 1},
       "rank 0 leaves without having heard of rank 1",
       "0 .. 2",
       "0 .. 3"},
      {"told_before_it_knows",
       kFour,
       Property::kBarrier,
       kNoKey,
       {0, 1},
       "rank 0 leaves without having heard of rank 1",
       " after -1",
       ""},
      {"other_group_not_awaited",
       {{2}, {2}},
       Property::kBarrier,
       kNoKey,
       {0, 1},
       "rank 0 of group 0 leaves without having heard of rank 1 of group 1",
       "",
       ""},
      {"scan_without_its_own",
       kTwo,
       Property::kCoverage,
       kNoKey,
       {1},
       "lacks contributions",
       "copy send[0] to recv[0]\n",
       "copy send[0] to recv[0]\nelse\n  reduce right send[0] into recv[0]\n"},
      {"scans_in_the_wrong_order",
       kTwo,
       Property::kPlace,
       kNoKey,
       {1},
       "in another order",
       "receive right",
       "receive left"},
      {"exscan_at_rank_0",
       kTwo,
       Property::kBlock,
       kNoKey,
       {0},
       "names block 0 of its receive buffer, which has 0",
       "if rank = 0\n  copy send[0] to recv[0]\n",
       ""},
  };
}

}  // namespace quadrille::verifier
