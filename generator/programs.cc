// Makes the algorithms whose programs and proofs are texts: generator/programs/COLLECTIVE.NAME.txt and .proof
// (COLLECTIVE-between-groups for two groups). They have no options. A program without a proof is not proven for all
// sizes. Proofs share fragments (generator/fragments.h).
//
// A text may be an opening comment and the line `reverse COLLECTIVE.NAME`. Its program is the reversal of that one
// (schedule/reverse.h), whose proof proves it.
#include "generator/programs.h"

#include <array>
#include <string_view>

#include "generator/fragments.h"
#include "schedule/reverse.h"
#include "schedule/text.h"

namespace quadrille {
namespace {

// In the order in which `list` prints them.
constexpr auto kFiles =
    std::to_array<std::string_view>({"allgather-between-groups.segment-map-v",
                                     "allgather-between-groups.segment-map",
                                     "allgather-between-groups.segment-map-blocks",
                                     "allgather-between-groups.segment-map-nodes",
                                     "allgather-between-groups.segment-map-paper",
                                     "allgather-between-groups.two-stage",
                                     "allgather-between-groups.subgroup-bruck",
                                     "allgather-between-groups.segment-map-bruck",
                                     "allgather-between-groups.leader",
                                     "allgather-between-groups.root-gathering",
                                     "alltoall-between-groups.direct",
                                     "alltoall-between-groups.factor",
                                     "broadcast.binomial",
                                     "broadcast.tree-nodes",
                                     "broadcast.scatter-ring",
                                     "broadcast.pipeline",
                                     "allgather.hypercube",
                                     "allgather.bruck-nodes",
                                     "broadcast.hypercube",
                                     "broadcast.pipeline-nodes",
                                     "broadcast-between-groups.leader",
                                     "broadcast-between-groups.scatter-ring",
                                     "broadcast-between-groups.pipeline",
                                     "gather.linear",
                                     "gather.binomial",
                                     "gather-between-groups.linear",
                                     "gather-between-groups.tree",
                                     "scatter.linear",
                                     "scatter.binomial",
                                     "scatter-between-groups.linear",
                                     "scatter-between-groups.tree",
                                     "reduce.binomial",
                                     "reduce.tree-nodes",
                                     "reduce.rabenseifner",
                                     "reduce.ring",
                                     "reduce.pipeline",
                                     "reduce.hypercube",
                                     "reduce.pipeline-nodes",
                                     "reduce-between-groups.leader",
                                     "reduce-between-groups.segments",
                                     "allreduce.doubling",
                                     "allreduce.binomial",
                                     "allreduce.halving",
                                     "allreduce.segments",
                                     "allreduce.rabenseifner",
                                     "allreduce.bine",
                                     "allreduce.circulant",
                                     "allreduce.ring",
                                     "allreduce.hierarchical",
                                     "allreduce.ring-nodes",
                                     "allreduce-between-groups.leader",
                                     "allreduce-between-groups.segments",
                                     "reduce-scatter.pairwise",
                                     "reduce-scatter.spread-out",
                                     "reduce-scatter.halving",
                                     "reduce-scatter.circulant",
                                     "reduce-scatter.hypercube",
                                     "reduce-scatter.ring",
                                     "reduce-scatter.blocked-ring-nodes",
                                     "reduce-scatter.bruck-nodes",
                                     "reduce-scatter-between-groups.direct",
                                     "reduce-scatter-between-groups.spread-out",
                                     "reduce-scatter-between-groups.leader",
                                     "scan.doubling",
                                     "scan.binomial",
                                     "exscan.one-two-three",
                                     "exscan.binomial",
                                     "barrier.dissemination",
                                     "barrier.tree-nodes",
                                     "barrier-between-groups.dissemination"});

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

Algorithm reversal_of(const std::string& original, const std::string& opening,
                      const std::string& file) {
  const std::string& text = text_of(program_texts(), original);
  Program program = value_of(reverse(value_of(parse_program(text, original))));
  program.algorithm.text = file.substr(file.find('.') + 1);
  return {program.algorithm.text,
          program.collective,
          {},
          [text = opening + print(program)](const Choices&) { return text; },
          written_proof(original),
          {},
          program.groups,
          [&text](const Choices&) { return text; }};
}

Algorithm algorithm_of(const std::string& file) {
  const std::string& text = text_of(program_texts(), file);
  constexpr std::string_view kReverse = "\nreverse ";
  if (const size_t at = text.find(kReverse); at != std::string::npos) {
    const size_t name = at + kReverse.size();
    return reversal_of(text.substr(name, text.find('\n', name) - name), text.substr(0, at + 1),
                       file);
  }
  const Program program = value_of(parse_program(text, file));
  Algorithm algorithm = {program.algorithm.text,
                         program.collective,
                         {},
                         [&text](const Choices&) { return text; },
                         nullptr,
                         {},
                         program.groups};
  if (proof_texts().contains(file)) algorithm.proof = written_proof(file);
  return algorithm;
}

}  // namespace

std::vector<Algorithm> written_algorithms() {
  check(kFiles.size() == program_texts().size(), "a text is of no program of the list");
  std::vector<Algorithm> all;
  for (const std::string_view file : kFiles) all.push_back(algorithm_of(std::string(file)));
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
