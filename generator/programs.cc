// Algorithms without options, whose programs and proofs are texts: generator/programs/COLLECTIVE.NAME.txt and .proof
// (COLLECTIVE-between-groups where they are for two). Each text opens with the idea and its source; a program without
// a proof is not proven for all sizes.
#include "generator/programs.h"

#include <array>
#include <string_view>

#include "schedule/text.h"

namespace quadrille {
namespace {

struct Row {
  std::string_view file, summary, source, precondition = "none";
};

constexpr auto kRows = std::to_array<Row>({
    {"allgather-between-groups.segment-map-v",
     "the other group's bytes cut into one segment a rank, which go round a ring; any counts",
     "Kang et al. 2019, Algorithm 2"},
    {"allgather-between-groups.segment-map", "the same for equal counts, in closed form",
     "Kang et al. 2019, Algorithm 1", "equal counts in each group"},
    {"allgather-between-groups.segment-map-ordered",
     "segment-map-v with one send and one receive a rank at a time, in the fewest steps",
     "Kang et al. 2019, Algorithm 2, on one port"},
    {"allgather-between-groups.segment-map-paper",
     "segments as the paper has them: of one block each, not of equal length",
     "Kang et al. 2019, Algorithm 1"},
    {"allgather-between-groups.two-stage",
     "blocks gathered in subgroups of the larger group, then between these", "Kang et al. 2018"},
    {"allgather-between-groups.subgroup-bruck",
     "whole blocks to subgroups, then rounds that double; for small contributions",
     "Bruck et al. 1997, in subgroups"},
    {"allgather-between-groups.leader", "all to rank 0 of the other group, then down a tree",
     "Silva and Silva 1999"},
    {"allgather-between-groups.root-gathering",
     "gathered at a root of each group, scattered and gathered there; one direction after the "
     "other",
     "Kang et al. 2019, section 2"},
    {"alltoall-between-groups.direct",
     "every rank exchanges with every rank of the other group, all at once",
     "Silva and Silva 1999"},
    {"alltoall-between-groups.factor", "one partner at a time", "theory of 1-factorizations"},
    {"broadcast.binomial", "down a binomial tree", "folklore"},
    {"broadcast.scatter-ring", "one segment a rank, which go round a ring; for long messages",
     "van de Geijn 1994"},
    {"broadcast.pipeline", "blocks of B bytes down a chain of ranks", "folklore"},
    {"broadcast-between-groups.leader", "to rank 0 of the leaves, then down a binomial tree",
     "Silva and Silva 1999"},
    {"broadcast-between-groups.scatter-ring",
     "one segment a leaf, which go round a ring; for long messages", "van de Geijn 1994"},
    {"broadcast-between-groups.pipeline", "blocks of B bytes down a chain of the leaves",
     "folklore"},
    {"gather.linear", "all at once to the root", "folklore"},
    {"gather.binomial", "up a binomial tree", "folklore"},
    {"gather-between-groups.linear", "all at once to the root", "Silva and Silva 1999"},
    {"gather-between-groups.tree", "up a binomial tree of the leaves, then to the root",
     "Silva and Silva 1999"},
    {"scatter.linear", "all at once from the root", "folklore"},
    {"scatter.binomial", "down a binomial tree", "folklore"},
    {"scatter-between-groups.linear", "all at once from the root", "Silva and Silva 1999"},
    {"scatter-between-groups.tree", "to rank 0 of the leaves, then down a binomial tree",
     "Silva and Silva 1999"},
    {"reduce.binomial", "up a binomial tree, in the order of ranks", "folklore"},
    {"reduce-between-groups.leader", "up a binomial tree of the leaves, then to the root",
     "Silva and Silva 1999"},
    {"reduce-between-groups.segments",
     "each leaf combines one segment and sends it to the root; for long messages",
     "Rabenseifner 2004, between groups"},
    {"allreduce.doubling", "groups of 1, 2, 4, .. ranks exchange their sums; for short messages",
     "Thakur, Rabenseifner and Gropp 2005, section 4.5"},
    {"allreduce.rabenseifner", "halving combines segments, doubling gathers them",
     "Rabenseifner 2004"},
    {"allreduce.ring", "segments combined round a ring, then gathered round it",
     "Patarasuk and Yuan 2009"},
    {"allreduce.hierarchical",
     "up a tree in each node, doubling between their first ranks, down a tree; for short messages",
     "Kielmann et al. 1999, with doubling"},
    {"allreduce.ring-nodes",
     "the ring on nodes of any sizes: no node is sent what one of its ranks has; for long messages",
     "Patarasuk and Yuan 2009, with Traeff et al. 2008's order of ranks"},
    {"allreduce-between-groups.leader", "up a tree in each group, across, and down a tree",
     "Silva and Silva 1999"},
    {"allreduce-between-groups.segments",
     "each rank combines one segment; these cross by the segment map and go round a ring",
     "Kang et al. 2019, for reductions"},
    {"reduce-scatter.pairwise", "blocks straight to their ranks, combined as they come",
     "Thakur, Rabenseifner and Gropp 2005, section 4.3"},
    {"reduce-scatter.spread-out", "the same all at once, combined at the end; for short messages",
     "folklore"},
    {"reduce-scatter.halving", "half of what is left to the partner, in the order of ranks",
     "Thakur, Rabenseifner and Gropp 2005, section 4.3"},
    {"reduce-scatter.ring", "blocks collect contributions round a ring", "Patarasuk and Yuan 2009"},
    {"reduce-scatter.blocked-ring",
     "the same with blocks of B elements, the blocked ring reversed; for uneven counts",
     "Traeff et al. 2008, reversed"},
    {"reduce-scatter.blocked-ring-nodes",
     "blocked-ring on nodes of any sizes: what a node has itself is combined inside it",
     "Traeff et al. 2008, virtual ranking, reversed"},
    {"reduce-scatter-between-groups.direct",
     "blocks straight to their ranks, one partner at a time", "Silva and Silva 1999"},
    {"reduce-scatter-between-groups.spread-out",
     "the same all at once, combined at the end; for short messages", "folklore"},
    {"reduce-scatter-between-groups.leader",
     "up a tree in each group; its root scatters to the other group", "Silva and Silva 1999"},
    {"scan.doubling", "sums of 1, 2, 4, .. ranks", "Hillis and Steele 1986"},
    {"exscan.one-two-three", "distances 1, 2, 3, 6, 12, ..: the fewest rounds", "Traeff 2020"},
    {"barrier.dissemination", "tokens at distances 1, 2, 4, ..", "Hensgen, Finkel and Manber 1988"},
    {"barrier-between-groups.dissemination", "the same with the ranks of both groups in a row",
     "Hensgen, Finkel and Manber 1988"},
});

const ProgramText& text_of(std::string_view file) {
  for (const ProgramText& text : program_texts())
    if (text.file == file) return text;
  check(false, "a program of the list has no text");
  return program_texts()[0];
}

Algorithm algorithm_of(const Row& row) {
  const ProgramText& text = text_of(row.file);
  const Result<Program> program = parse_program(text.program, std::string(row.file));
  if (!program.ok()) check(false, program.error().message.c_str());
  Algorithm algorithm = {program->algorithm.text,
                         program->collective,
                         std::string(row.summary),
                         std::string(row.source),
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
