// Algorithms without options, whose programs and proofs are texts: generator/programs/COLLECTIVE.NAME.txt and .proof
// (COLLECTIVE-between-groups where they are for two). Each text opens with the idea, and the line "-- Source: " names the
// source; a program without a proof is not proven for all sizes.
#include "generator/programs.h"

#include <array>
#include <string_view>

#include "schedule/text.h"

namespace quadrille {
namespace {

struct Row {
  std::string_view file, summary, precondition = "none";
};

constexpr auto kRows = std::to_array<Row>({
    {"allgather-between-groups.segment-map-v",
     "the other group's bytes cut into one segment a rank, which go round a ring; any counts"},
    {"allgather-between-groups.segment-map", "the same for equal counts, in closed form",
     "equal counts in each group"},
    {"allgather-between-groups.segment-map-ordered",
     "segment-map-v with one send and one receive a rank at a time: the fewest steps, up to nearly "
     "twice the bytes of the paper's order"},
    {"allgather-between-groups.segment-map-paper",
     "segments as the paper has them: of one block each, not of equal length"},
    {"allgather-between-groups.two-stage",
     "blocks gathered in subgroups of the larger group, then between these"},
    {"allgather-between-groups.subgroup-bruck",
     "whole blocks to subgroups, then rounds that double; for small contributions"},
    {"allgather-between-groups.leader", "all to rank 0 of the other group, then down a tree"},
    {"allgather-between-groups.root-gathering",
     "gathered at a root of each group, scattered and gathered there; one direction after the "
     "other"},
    {"alltoall-between-groups.direct",
     "every rank exchanges with every rank of the other group, all at once"},
    {"alltoall-between-groups.factor", "one partner at a time"},
    {"broadcast.binomial", "down a binomial tree"},
    {"broadcast.scatter-ring", "one segment a rank, which go round a ring; for long messages"},
    {"broadcast.pipeline", "blocks of B bytes down a chain of ranks"},
    {"broadcast-between-groups.leader", "to rank 0 of the leaves, then down a binomial tree"},
    {"broadcast-between-groups.scatter-ring",
     "one segment a leaf, which go round a ring; for long messages"},
    {"broadcast-between-groups.pipeline", "blocks of B bytes down a chain of the leaves"},
    {"gather.linear", "all at once to the root"},
    {"gather.binomial", "up a binomial tree"},
    {"gather-between-groups.linear", "all at once to the root"},
    {"gather-between-groups.tree", "up a binomial tree of the leaves, then to the root"},
    {"scatter.linear", "all at once from the root"},
    {"scatter.binomial", "down a binomial tree"},
    {"scatter-between-groups.linear", "all at once from the root"},
    {"scatter-between-groups.tree", "to rank 0 of the leaves, then down a binomial tree"},
    {"reduce.binomial", "up a binomial tree, in the order of ranks"},
    {"reduce-between-groups.leader", "up a binomial tree of the leaves, then to the root"},
    {"reduce-between-groups.segments",
     "each leaf combines one segment and sends it to the root; for long messages"},
    {"allreduce.doubling", "groups of 1, 2, 4, .. ranks exchange their sums; for short messages"},
    {"allreduce.rabenseifner", "halving combines segments, doubling gathers them"},
    {"allreduce.ring", "segments combined round a ring, then gathered round it"},
    {"allreduce.hierarchical",
     "up a tree in each node, doubling between their first ranks, down a tree; for short messages"},
    {"allreduce.ring-nodes",
     "the ring on nodes of any sizes: no node is sent what one of its ranks has; for long "
     "messages"},
    {"allreduce-between-groups.leader", "up a tree in each group, across, and down a tree"},
    {"allreduce-between-groups.segments",
     "each rank combines one segment; these cross by the segment map and go round a ring"},
    {"reduce-scatter.pairwise", "blocks straight to their ranks, combined as they come"},
    {"reduce-scatter.spread-out", "the same all at once, combined at the end; for short messages"},
    {"reduce-scatter.halving", "half of what is left to the partner, in the order of ranks"},
    {"reduce-scatter.ring", "blocks collect contributions round a ring"},
    {"reduce-scatter.blocked-ring",
     "the same with blocks of B elements, the blocked ring reversed; for uneven counts"},
    {"reduce-scatter.blocked-ring-nodes",
     "blocked-ring on nodes of any sizes: what a node has itself is combined inside it"},
    {"reduce-scatter-between-groups.direct",
     "blocks straight to their ranks, one partner at a time"},
    {"reduce-scatter-between-groups.spread-out",
     "the same all at once, combined at the end; for short messages"},
    {"reduce-scatter-between-groups.leader",
     "up a tree in each group; its root scatters to the other group"},
    {"scan.doubling", "sums of 1, 2, 4, .. ranks"},
    {"exscan.one-two-three", "distances 1, 2, 3, 6, 12, ..: ceil(log2(4(p - 1)/3)) rounds"},
    {"barrier.dissemination", "tokens at distances 1, 2, 4, .."},
    {"barrier-between-groups.dissemination", "the same with the ranks of both groups in a row"},
});

const ProgramText& text_of(std::string_view file) {
  for (const ProgramText& text : program_texts())
    if (text.file == file) return text;
  check(false, "a program of the list has no text");
  return program_texts()[0];
}

// What the text says of it; tests/docs/sources_test.py looks it up in docs/references.md.
std::string source_of(const ProgramText& text) {
  constexpr std::string_view kMark = "-- Source: ";
  const size_t mark = text.program.find(kMark);
  check(mark != std::string::npos, "a program names no source");
  const size_t begin = mark + kMark.size();
  return text.program.substr(begin, text.program.find('\n', begin) - begin);
}

Algorithm algorithm_of(const Row& row) {
  const ProgramText& text = text_of(row.file);
  const Result<Program> program = parse_program(text.program, std::string(row.file));
  if (!program.ok()) check(false, program.error().message.c_str());
  Algorithm algorithm = {program->algorithm.text,
                         program->collective,
                         std::string(row.summary),
                         source_of(text),
                         std::string(row.precondition),
                         {},
                         nullptr,
                         nullptr,
                         {},
                         program->groups};
  algorithm.program = [&text](const Choices&) { return text.program; };
  if (!text.proof.empty()) algorithm.proof = [&text](const Choices&) { return text.proof; };
  return algorithm;
}

}  // namespace

std::vector<Algorithm> written_algorithms() {
  check(kRows.size() == program_texts().size(), "a text is of no program of the list");
  std::vector<Algorithm> all;
  for (const Row& row : kRows) all.push_back(algorithm_of(row));
  return all;
}

}  // namespace quadrille
