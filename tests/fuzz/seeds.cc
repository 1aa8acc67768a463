// seeds FOLDER: writes the fuzzer's initial inputs: a schedule file for each program that the generator makes, and
// files of random programs, whose numbers are often near a limit.
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "generator/encode.h"
#include "generator/proof_file.h"
#include "schedule/text.h"
#include "tests/support/random_programs.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille {
namespace {

constexpr uint64_t kRandomPrograms = 64;

void write(const std::filesystem::path& file, const Bytes& bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) {
    std::fprintf(stderr, "seeds: %s could not be written\n", file.c_str());
    std::exit(2);
  }
}

void write_all(const std::filesystem::path& folder) {
  for (const Variant& variant : variants()) {
    const bool uneven = variant.algorithm->name == "hierarchical-factor" ||
                        variant.algorithm->name == "blocked-ring-nodes";
    const std::vector<int64_t> sizes =
        uneven ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 2, 2, 2};
    const std::string purpose = proof_name(*variant.algorithm, variant.choices);
    write(folder / purpose, encode(variant.program, jobs_on(variant, sizes)[0]));
    if (!variant.algorithm->proof) continue;
    write(folder / (purpose + "-any"),
          encode(variant.program, job_for_any_nodes(variant, "ranks div 2")));
  }
  // A file at its limits: names of each kind, all allowed constants, and nearly all table entries and temporary
  // blocks.
  std::string full =
      "algorithm a-b for allgather\nparameter p\ntable t[i in 0 .. 1048576] = i\n"
      "temporary 1048576 blocks\nlet x = rank\n";
  for (int i = 3; i < kMaxConstants; ++i) full += fmt::format("if x = {}\n  let y = x\n", i);
  write(folder / "full", encode(parse_program(full, "full").value(), {{topology_of({1})}, {0}}));
  for (uint64_t seed = 1; seed <= kRandomPrograms; ++seed)
    if (const std::optional<RandomCase> drawn = random_case(seed))
      write(folder / ("random-" + std::to_string(seed)), encode(drawn->program, drawn->job));
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: seeds FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  quadrille::write_all(argv[1]);
  return 0;
}
