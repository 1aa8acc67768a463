// Algorithms without options, whose programs and proofs are texts: generator/programs/COLLECTIVE.NAME.txt and .proof
// (COLLECTIVE-between-groups for two groups). Each text opens with the idea; the line "-- Source: " names the source
// and the line "-- Cost: " the cost. A program without a proof is not proven for all sizes. Proofs share fragments
// (generator/fragments.h).
#include "generator/programs.h"

#include <array>
#include <string_view>

#include "generator/fragments.h"
#include "schedule/text.h"

namespace quadrille {
namespace {

struct Row {
  std::string_view file, summary, precondition = "none";
};

constexpr auto kRows = std::to_array<Row>({
    {"allgather-between-groups.segment-map-v",
     "the other group's bytes are cut into one segment a rank, and the segments go "
     "round a ring; any counts"},
    {"allgather-between-groups.segment-map", "segment-map-v for equal counts, in closed form",
     "equal counts in each group"},
    {"allgather-between-groups.segment-map-blocks",
     "segment-map-v with one send and one receive a rank at a time, in the least time"},
    {"allgather-between-groups.segment-map-nodes",
     "segment-map-v with a ring of nodes: one rank of a node receives from outside, one sends"},
    {"allgather-between-groups.segment-map-paper",
     "segments as the paper has them: parts of one block each, not of equal length"},
    {"allgather-between-groups.two-stage",
     "blocks are gathered in subgroups of the larger group, then between the subgroups"},
    {"allgather-between-groups.subgroup-bruck",
     "whole blocks go to subgroups, then rounds double what a rank holds; for small "
     "contributions"},
    {"allgather-between-groups.segment-map-bruck",
     "segment-map-v whose second stage doubles what a rank holds; for medium contributions"},
    {"allgather-between-groups.leader",
     "all ranks send to rank 0 of the other group, which sends everything down a tree"},
    {"allgather-between-groups.root-gathering",
     "gathered at a root of each group, sent to the other root, scattered and gathered "
     "there; one direction after the other"},
    {"alltoall-between-groups.direct",
     "every rank exchanges with every rank of the other group, all at once"},
    {"alltoall-between-groups.factor",
     "every rank exchanges with one rank of the other group at a time"},
    {"broadcast.binomial", "down a binomial tree"},
    {"broadcast.scatter-ring",
     "the root sends one segment to each rank, and the segments go round a ring; for "
     "long messages"},
    {"broadcast.pipeline", "blocks of B bytes go down a chain of ranks"},
    {"allgather.hypercube",
     "blocks of B bytes, one of each rank's in a round, go down the trees of a hypercube"},
    {"broadcast.hypercube",
     "blocks of B bytes go down d trees of a hypercube of single ranks and pairs, in the fewest "
     "rounds"},
    {"broadcast.pipeline-nodes",
     "blocks of B bytes go down a chain of nodes, and down a chain of ranks in each of them"},
    {"broadcast-between-groups.leader", "to rank 0 of the leaf group, then down a binomial tree"},
    {"broadcast-between-groups.scatter-ring",
     "the root sends one segment to each leaf, and the segments go round a ring; for "
     "long messages"},
    {"broadcast-between-groups.pipeline", "blocks of B bytes go down a chain of the leaves"},
    {"gather.linear", "all ranks send to the root at once"},
    {"gather.binomial", "up a binomial tree"},
    {"gather-between-groups.linear", "all leaves send to the root at once"},
    {"gather-between-groups.tree", "up a binomial tree of the leaves, then to the root"},
    {"scatter.linear", "the root sends to all ranks at once"},
    {"scatter.binomial", "down a binomial tree"},
    {"scatter-between-groups.linear", "the root sends to all leaves at once"},
    {"scatter-between-groups.tree", "to rank 0 of the leaf group, then down a binomial tree"},
    {"reduce.binomial", "up a binomial tree, in the order of ranks"},
    {"reduce.rabenseifner",
     "halving combines segments, a binomial tree gathers them; for long messages"},
    {"reduce.ring", "a ring reduces segments, which go straight to the root"},
    {"reduce.pipeline", "blocks of B elements go along a chain of ranks; for long messages"},
    {"reduce.hypercube",
     "blocks of B elements go up d trees of a hypercube of single ranks and pairs, in the fewest "
     "rounds"},
    {"reduce.pipeline-nodes",
     "blocks of B elements go up a tree in each node and along a chain of the nodes"},
    {"reduce-between-groups.leader", "up a binomial tree of the leaves, then to the root"},
    {"reduce-between-groups.segments",
     "each leaf reduces one segment and sends it to the root; for long messages"},
    {"allreduce.doubling", "groups of 1, 2, 4, .. ranks exchange their sums; for short messages"},
    {"allreduce.binomial",
     "up a binomial tree and down again, or by doubling on a power of two of ranks; the sums are "
     "canonical"},
    {"allreduce.halving", "rabenseifner on a power of two of ranks, where its sums are canonical",
     "a power of two of ranks"},
    {"allreduce.segments",
     "each rank combines one segment in the canonical tree, and a ring gathers them; for long "
     "vectors"},
    {"allreduce.rabenseifner", "halving combines segments, doubling gathers them"},
    {"allreduce.bine", "as rabenseifner, with the nearer partners of a Bine butterfly"},
    {"allreduce.circulant",
     "segments are combined in ceil(log2 p) rounds at distances 1, 2, 4, .. and gathered on the "
     "same ways"},
    {"allreduce.ring", "a ring reduces segments, then gathers them"},
    {"allreduce.hierarchical",
     "up a tree in each node, doubling between the nodes' first ranks, down a tree; for "
     "short messages"},
    {"allreduce.ring-nodes",
     "the ring on nodes of any sizes: no node receives data that one of its ranks has; "
     "for long messages"},
    {"allreduce-between-groups.leader", "up a tree in each group, across, and down a tree"},
    {"allreduce-between-groups.segments",
     "each rank reduces one segment; the segments cross by the segment map and go round "
     "a ring"},
    {"reduce-scatter.pairwise",
     "blocks go straight to their ranks and are combined as they arrive"},
    {"reduce-scatter.spread-out",
     "the messages of pairwise all at once, combined at the end; for short messages"},
    {"reduce-scatter.halving",
     "a rank sends half of its blocks to its partner in each round, in the order of "
     "ranks"},
    {"reduce-scatter.circulant",
     "ceil(log2 p) rounds at distances 1, 2, 4, .. in which p - 1 blocks leave a rank"},
    {"reduce-scatter.hypercube",
     "blocks of B elements, one for each rank in a round, go up the trees of a hypercube"},
    {"reduce-scatter.ring", "blocks collect contributions round a ring"},
    {"reduce-scatter.blocked-ring-nodes",
     "the ring with blocks of B elements, the blocked ring reversed; contributions of the owner's "
     "node are combined inside it"},
    {"reduce-scatter-between-groups.direct",
     "blocks go straight to their ranks, one partner at a time"},
    {"reduce-scatter-between-groups.spread-out",
     "the messages of direct all at once, combined at the end; for short messages"},
    {"reduce-scatter-between-groups.leader",
     "up a tree in each group; its rank 0 scatters to the other group"},
    {"scan.doubling", "sums of 1, 2, 4, .. ranks"},
    {"scan.binomial", "canonical sums of groups of 1, 2, 4, .. ranks"},
    {"exscan.one-two-three", "sums of ranks at distances 1, 2, 3, 6, 12, .."},
    {"exscan.binomial", "canonical sums of groups of 1, 2, 4, .. ranks"},
    {"barrier.dissemination", "tokens at distances 1, 2, 4, .."},
    {"barrier-between-groups.dissemination",
     "tokens at distances 1, 2, 4, .. among the ranks of both groups in a row"},
});

const std::string& text_of(const TextFiles& files, std::string_view file) {
  const auto found = files.find(file);
  check(found != files.end(), "a program or proof of the list has no text");
  return found->second;
}

// The rest of the text's line that begins with `mark`. tests/docs/algorithms_test.py compares it with the documents.
std::string line_of(const std::string& text, std::string_view mark) {
  const size_t begin = text.find(mark);
  check(begin != std::string::npos, "a program names no source, or no cost");
  const size_t after = begin + mark.size();
  return text.substr(after, text.find('\n', after) - after);
}

Algorithm algorithm_of(const Row& row) {
  const std::string& text = text_of(program_texts(), row.file);
  const std::string file(row.file);
  const Result<Program> program = parse_program(text, file);
  if (!program.ok()) check(false, program.error().message.c_str());
  Algorithm algorithm = {program->algorithm.text,
                         program->collective,
                         std::string(row.summary),
                         line_of(text, "-- Source: "),
                         line_of(text, "-- Cost: "),
                         std::string(row.precondition),
                         {},
                         nullptr,
                         nullptr,
                         {},
                         program->groups};
  algorithm.program = [&text](const Choices&) { return text; };
  if (proof_texts().contains(file)) algorithm.proof = written_proof(file);
  return algorithm;
}

}  // namespace

std::vector<Algorithm> written_algorithms() {
  check(kRows.size() == program_texts().size(), "a text is of no program of the list");
  std::vector<Algorithm> all;
  for (const Row& row : kRows) all.push_back(algorithm_of(row));
  return all;
}

std::string put_in_lemmas(const std::string& file, const std::string& text) {
  std::vector<TextFile> files;
  for (const auto& [name, lemmas] : lemma_texts())
    files.push_back({"generator/lemmas/" + name + ".lemmas", lemmas});
  files.push_back({file, text});
  const Result<std::string> proof = put_in_fragments(files);
  if (!proof.ok()) check(false, proof.error().message.c_str());
  return *proof;
}

std::function<std::string(const Choices&)> written_proof(const std::string& file) {
  return [file](const Choices&) {
    return put_in_lemmas("generator/programs/" + file + ".proof", text_of(proof_texts(), file));
  };
}

}  // namespace quadrille
