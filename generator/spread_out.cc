// All-to-all round the ring of ranks. Three baselines differ in how many rounds are in flight: all, a batch, as in
// MPICH's MPI_Alltoallv, or one. In factor and xor, both messages of a rank in a round are with one partner; here
// they are with two.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const std::string& name, const std::string& declarations,
                    const std::string& after) {
  return "algorithm " + name + R"( for alltoall
port one+one per rank
)" + declarations +
         R"(
copy send[rank] to recv[rank]
for i in 1 .. ranks
  let source = wrap(rank - i, ranks)
  let target = wrap(rank + i, ranks)
  step i)" +
         after + R"(
    receive recv[source] from source
    send send[target] to target
)";
}

std::string spread_out_program(const Choices&) {
  return R"(
-- In round i, rank u sends to rank u + i and receives from rank u - i. As long as rounds keep step, no two ranks send to the
-- same rank. No round waits for another.
-- Use: for blocks of middle size: it is linear with less competition at the receivers
-- Source: Kang et al. 2020; Fan et al. 2024, section II (d)
-- Cost: p - 1 messages a rank, all in flight at once
)" + program("spread-out", "", " after -1");
}

std::string scattered_program(const Choices&) {
  return R"(
-- The rounds of spread-out in batches of --block-count. A batch starts when the one before is complete.
-- Use: if the messages of spread-out exhaust buffers or the network
-- Source: Fan et al. 2024, section II (d), scattered
-- Cost: p - 1 messages a rank, one batch in flight at a time
)" + program("scattered", "parameter block_count\nrequire 1 <= block_count\n",
             " after (i - 1) div block_count*block_count");
}

std::string pairwise_program(const Choices&) {
  return R"(
-- The rounds of spread-out, one after another.
-- Use: for long blocks on many ranks, where one message each way already fills the wire
-- Source: Thakur, Rabenseifner and Gropp 2005, section 4.3; Fan et al. 2024, section II (d)
-- Cost: p - 1 rounds of one message each way
)" + program("pairwise", "", "");
}

std::string proof(const Choices&) {
  return R"(match receive 1
  with send 1 where i = i
match send 1
  with receive 1 where i = i
cover
  with receive 1 where i = wrap(target - source, ranks)
keys i
  from i
  to i + 1
)";
}

}  // namespace

Algorithm spread_out() {
  return {"spread-out", Collective::kAlltoall, {}, spread_out_program, proof};
}

Algorithm scattered() {
  return {
      "scattered", Collective::kAlltoall,
      {},          scattered_program,
      proof,       {{"block_count", 32, NumberKind::kBatch, "the number of rounds in a batch"}}};
}

Algorithm pairwise() { return {"pairwise", Collective::kAlltoall, {}, pairwise_program, proof}; }

}  // namespace quadrille
