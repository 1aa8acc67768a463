// All-to-all round the ring of ranks (Kang et al. 2020; Fan et al. 2024, section II (d)). With one round after another
// it is that of Thakur, Rabenseifner and Gropp 2005, section 4.3.
//
// Idea: in round i, rank u sends to u + i and receives from u - i. In lock-step, no two ranks send to one rank at a
// time. Three baselines differ in how many rounds are in flight. spread-out has all of them. scattered has batches of
// block_count rounds, and each batch starts when the previous one is complete, as in MPICH's MPI_Alltoallv. pairwise has
// one. In factor and xor, both messages of a rank in a round are with one partner; here they are with two.
//
// Cost: p - 1 messages for each rank. Precondition: none.
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

std::string spread_out_program(const Choices&) { return program("spread-out", "", " after -1"); }

std::string scattered_program(const Choices&) {
  return program("scattered", "parameter block_count\nrequire 1 <= block_count\n",
                 " after (i - 1) div block_count*block_count");
}

std::string pairwise_program(const Choices&) { return program("pairwise", "", ""); }

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
  return {"spread-out",
          Collective::kAlltoall,
          "in round i, rank u sends to u + i and receives from u - i; all rounds at once",
          "Kang et al. 2020; Fan et al. 2024, section II (d)",
          "p - 1 messages a rank, all in flight at once",
          "none",
          {},
          spread_out_program,
          proof};
}

Algorithm scattered() {
  return {"scattered",
          Collective::kAlltoall,
          "spread-out in batches of rounds, one batch after another",
          "Fan et al. 2024, section II (d), scattered",
          "p - 1 messages a rank, one batch in flight at a time",
          "none",
          {},
          scattered_program,
          proof,
          {{"block_count", 32, NumberKind::kBatch, "the number of rounds in a batch"}}};
}

Algorithm pairwise() {
  return {"pairwise",
          Collective::kAlltoall,
          "spread-out with one round after another",
          "Thakur, Rabenseifner and Gropp 2005, section 4.3; Fan et al. 2024, section II (d)",
          "p - 1 rounds of one message each way",
          "none",
          {},
          pairwise_program,
          proof};
}

}  // namespace quadrille
