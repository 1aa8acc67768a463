// Makes the algorithms. Those without options are texts: generator/programs/COLLECTIVE.NAME.txt and .proof
// (COLLECTIVE-between-groups for two groups). A program without a proof is not proven for all sizes. Programs and
// proofs share fragments (generator/fragments.h).
//
// A text may be an opening comment and the line `reverse PART`. Its program is the reversal of that one
// (schedule/reverse.h), whose proof proves it. With the line `PART then PART` it is their sequence (schedule/sequence.h),
// which both proofs prove. A part is COLLECTIVE.NAME of an algorithm further up in the registry.
#include "generator/programs.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "generator/algorithms.h"
#include "generator/fragments.h"
#include "schedule/reverse.h"
#include "schedule/sequence.h"
#include "schedule/text.h"

namespace quadrille {
namespace {

// In the order in which `list` prints them.
constexpr auto kFiles =
    std::to_array<std::string_view>({"alltoall.factor",
                                     "alltoall.factor-even",
                                     "alltoall.xor",
                                     "alltoall.linear",
                                     "alltoall.spread-out",
                                     "alltoall.scattered",
                                     "alltoall.pairwise",
                                     "alltoall.bruck",
                                     "alltoall.tuna",
                                     "alltoall.hierarchical-factor",
                                     "alltoall.hierarchical-circle",
                                     "alltoall.hierarchical-permutation",
                                     "alltoall.tuna-coalesced",
                                     "alltoall.tuna-staggered",
                                     "alltoall.tuna-bundled",
                                     "alltoall.hierarchical-overlapped",
                                     "allgather.linear-ring",
                                     "allgather.blocked-ring",
                                     "allgather.blocked-ring-nodes",
                                     "allgather.blocked-ring-blocking",
                                     "allgather.bruck",
                                     "allgather.recursive-doubling",
                                     "allgather.neighbor-exchange",
                                     "allgather-between-groups.segment-map-v",
                                     "allgather-between-groups.segment-map",
                                     "allgather-between-groups.segment-map-nodes",
                                     "allgather-between-groups.segment-map-paper",
                                     "allgather-between-groups.two-stage",
                                     "allgather-between-groups.subgroup-bruck",
                                     "allgather-between-groups.segment-map-bruck",
                                     "allgather-between-groups.leader",
                                     "allgather-between-groups.linear-nodes",
                                     "allgather-between-groups.root-gathering",
                                     "alltoall-between-groups.direct",
                                     "alltoall-between-groups.factor",
                                     "alltoall-between-groups.linear-nodes",
                                     "broadcast.binomial",
                                     "broadcast.tree-nodes",
                                     "broadcast.pipeline",
                                     "allgather.hypercube",
                                     "allgather.bruck-nodes",
                                     "broadcast.hypercube",
                                     "broadcast.pipeline-nodes",
                                     "broadcast.binary-nodes",
                                     "broadcast-between-groups.leader",
                                     "broadcast-between-groups.linear-nodes",
                                     "broadcast-between-groups.scatter-ring",
                                     "broadcast-between-groups.pipeline",
                                     "gather.linear",
                                     "gather.binomial",
                                     "gather.linear-nodes",
                                     "gather-between-groups.linear",
                                     "gather-between-groups.tree",
                                     "gather-between-groups.linear-nodes",
                                     "scatter.linear",
                                     "scatter.binomial",
                                     "scatter.linear-nodes",
                                     "scatter-between-groups.linear",
                                     "scatter-between-groups.tree",
                                     "scatter-between-groups.linear-nodes",
                                     "reduce.binomial",
                                     "reduce.tree-nodes",
                                     "reduce.rabenseifner",
                                     "reduce.ring",
                                     "reduce.pipeline",
                                     "reduce.hypercube",
                                     "reduce.pipeline-nodes",
                                     "reduce.binary-nodes",
                                     "reduce-between-groups.leader",
                                     "reduce-between-groups.linear-nodes",
                                     "reduce-between-groups.segments",
                                     "reduce-scatter.pairwise",
                                     "reduce-scatter.spread-out",
                                     "reduce-scatter.halving",
                                     "reduce-scatter.circulant",
                                     "reduce-scatter.hypercube",
                                     "reduce-scatter.ring",
                                     "reduce-scatter.blocked-ring-nodes",
                                     "reduce-scatter.bruck-nodes",
                                     "allreduce.doubling",
                                     "allreduce.binomial",
                                     "allreduce.halving",
                                     "allreduce.segments",
                                     "allreduce.rabenseifner",
                                     "allreduce.bine",
                                     "allreduce.circulant",
                                     "allreduce.ring",
                                     "allreduce.hierarchical",
                                     "allreduce.tree-nodes",
                                     "allreduce.ring-nodes",
                                     "allreduce.blocked-ring-nodes",
                                     "allreduce.spread-out",
                                     "allreduce-between-groups.leader",
                                     "allreduce-between-groups.linear-nodes",
                                     "allreduce-between-groups.segments",
                                     "reduce-scatter-between-groups.direct",
                                     "reduce-scatter-between-groups.spread-out",
                                     "reduce-scatter-between-groups.leader",
                                     "reduce-scatter-between-groups.linear-nodes",
                                     "scan.doubling",
                                     "scan.binomial",
                                     "scan.linear-nodes",
                                     "scan.pipeline",
                                     "exscan.one-two-three",
                                     "exscan.binomial",
                                     "exscan.linear-nodes",
                                     "exscan.pipeline",
                                     "barrier.dissemination",
                                     "barrier.tree-nodes",
                                     "barrier-between-groups.dissemination",
                                     "barrier-between-groups.linear-nodes",
                                     "allreduce.lanes",
                                     "allreduce.recursive-multiplying"});

// Those of the list whose texts are composed.
constexpr std::pair<std::string_view, Algorithm (*)()> kComposed[] = {
    {"alltoall.factor", factor},
    {"alltoall.factor-even", factor_even},
    {"alltoall.xor", xor_exchange},
    {"alltoall.hierarchical-factor", hierarchical_factor},
    {"alltoall.hierarchical-circle", hierarchical_circle}};

using Numbers = std::map<std::string_view, std::vector<Number>>;

// Returns the numbers of those programs that have some.
const Numbers& numbers_of_programs() {
  static const Number kRadix = {"radix", 2, NumberKind::kRadix,
                                "the base of the digits: 2 sends the fewest messages, the number "
                                "of ranks sends every block straight"};
  static const Number kBatch = {
      "block_count", 32, NumberKind::kBatch,
      "the nodes that a rank sends to at a time (tuna-coalesced), or the blocks (tuna-staggered)"};
  static const Numbers kNumbers = {
      {"alltoall.scattered",
       {{"block_count", 32, NumberKind::kBatch, "the number of rounds in a batch"}}},
      {"alltoall.bruck", {kRadix}},
      {"alltoall.tuna", {kRadix}},
      {"alltoall.tuna-coalesced", {kRadix, kBatch}},
      {"alltoall.tuna-staggered", {kRadix, kBatch}},
      {"alltoall.tuna-bundled", {kRadix}},
      {"alltoall.hierarchical-permutation",
       {{"ports", 1, NumberKind::kLanes,
         "how many nodes a node sends to at a time, and receives from"}}},
      {"alltoall.hierarchical-overlapped",
       {{"early", 1, NumberKind::kNodes,
         "the number of nodes whose blocks travel first and are spread there; blocks for other "
         "nodes are gathered first"}}},
      {"allgather.bruck",
       {{"radix", 2, NumberKind::kRadix,
         "the factor by which each digit multiplies the blocks of a rank: 2 sends the fewest "
         "messages, the number of ranks sends every block straight"}}},
      {"allreduce.lanes",
       {{"lanes", 4, NumberKind::kLanes,
         "the ranks of a node that exchange with other nodes, at most those of the smallest "
         "node"}}},
      {"allreduce.recursive-multiplying",
       {{"radix", 4, NumberKind::kRadix,
         "how many ranks exchange in a round: 2 is recursive doubling"}}}};
  return kNumbers;
}

const std::string& text_of(const TextFiles& files, std::string_view file) {
  const auto found = files.find(file);
  check(found != files.end(), "a program or proof of the list has no text");
  return found->second;
}

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) check(false, result.error().message.c_str());
  return std::move(result).value();
}

Program program_of(const Algorithm& algorithm) {
  return make_program(algorithm, all_choices(algorithm)[0]);
}

// Returns the parts that the last line of a text names. None if it is the last line of a program.
std::vector<Algorithm> parts_of(const std::string& text, const std::vector<Algorithm>& all) {
  constexpr std::string_view kReverse = "reverse ", kThen = " then ";
  std::string line = text.substr(0, text.size() - 1);
  line.erase(0, line.rfind('\n') + 1);
  const size_t then = line.find(kThen);
  std::vector<std::string> names;
  if (line.starts_with(kReverse)) names = {line.substr(kReverse.size())};
  if (then != std::string::npos) names = {line.substr(0, then), line.substr(then + kThen.size())};
  std::vector<Algorithm> parts;
  for (const std::string& name : names) {
    const auto part = std::ranges::find_if(all, [&](const Algorithm& each) {
      return std::string(name_of(each.collective)) + "." + each.name == name;
    });
    check(part != all.end(), "a part of a program is no algorithm further up in the list");
    parts.push_back(*part);
  }
  return parts;
}

// Returns the reversal of one part, or the sequence of two.
Program made_of(const std::vector<Algorithm>& parts) {
  const Program first = program_of(parts[0]);
  return value_of(parts.size() == 1 ? reverse(first) : sequence(first, program_of(parts[1])));
}

// Returns a function that gives the proof in FILE.proof, whatever the choices.
std::function<std::string(const Choices&)> written_proof(const std::string& file) {
  return [file](const Choices&) {
    return put_in_lemmas("generator/programs/" + file + ".proof", text_of(proof_texts(), file));
  };
}

// Returns the text of a program. Its opening comment stays, and fragments replace its includes.
std::string program_text(const std::string& file) {
  const std::string& text = text_of(program_texts(), file);
  if (text.find("include ") == std::string::npos) return text;
  size_t end = 0;
  while (text.compare(end, 2, "--") == 0) end = text.find('\n', end) + 1;
  return text.substr(0, end) +
         value_of(put_in_fragments(
             {{"generator/lemmas/programs.lemmas", text_of(lemma_texts(), "programs")},
              {"generator/programs/" + file + ".txt", text.substr(end)}}));
}

// Reads no program: the file's name says what the algorithm is for.
Algorithm algorithm_of(const std::string& file, const std::vector<Algorithm>& all) {
  constexpr std::string_view kBetweenGroups = "-between-groups";
  const std::string& text = text_of(program_texts(), file);
  std::string purpose = file.substr(0, file.find('.'));
  Algorithm algorithm;
  algorithm.name = file.substr(purpose.size() + 1);
  if (purpose.ends_with(kBetweenGroups)) {
    algorithm.groups = 2;
    purpose.resize(purpose.size() - kBetweenGroups.size());
  }
  const std::optional<Collective> collective = collective_named(purpose);
  check(collective.has_value(), "a program's file is named after no collective");
  algorithm.collective = *collective;
  algorithm.parts = parts_of(text, all);
  if (algorithm.parts.empty()) {
    algorithm.program = [file](const Choices&) { return program_text(file); };
    if (const auto numbers = numbers_of_programs().find(file);
        numbers != numbers_of_programs().end())
      algorithm.numbers = numbers->second;
    if (proof_texts().contains(file)) algorithm.proof = written_proof(file);
    return algorithm;
  }
  const std::string opening = text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  algorithm.program = [parts = algorithm.parts, name = algorithm.name, opening](const Choices&) {
    Program program = made_of(parts);
    program.algorithm.text = name;
    return opening + print(program);
  };
  algorithm.proof = algorithm.parts[0].proof;
  for (const Algorithm& part : algorithm.parts)
    algorithm.numbers.insert(algorithm.numbers.end(), part.numbers.begin(), part.numbers.end());
  return algorithm;
}

}  // namespace

std::vector<Algorithm> all_algorithms() {
  check(kFiles.size() == program_texts().size() + std::size(kComposed),
        "a text is of no program of the list");
  std::vector<Algorithm> all;
  for (const std::string_view file : kFiles) {
    const auto composed =
        std::ranges::find(kComposed, file, &std::pair<std::string_view, Algorithm (*)()>::first);
    all.push_back(composed != std::end(kComposed) ? composed->second()
                                                  : algorithm_of(std::string(file), all));
  }
  return all;
}

std::string put_in_lemmas(const std::string& file, const std::string& text) {
  std::vector<TextFile> files;
  for (const auto& [name, lemmas] : lemma_texts())
    files.push_back({"generator/lemmas/" + name + ".lemmas", lemmas});
  files.push_back({file, text});
  return value_of(put_in_fragments(files));
}

}  // namespace quadrille
