// check_benchmark [--benchmark_...] FILE.qs[:COUNTS]...: times the checker on schedule files, with Google Benchmark.
// Each benchmark has the name of its word. Its counter `transfers` has the messages of a call.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "cli/files.h"
#include "verifier/call.h"
#include "verifier/check.h"
#include "verifier/decode.h"

namespace quadrille::verifier {
namespace {

void check_file(benchmark::State& state, const std::string& word) {
  const size_t colon = std::min(word.find(':'), word.size());
  const std::string path = word.substr(0, colon);
  CallArguments arguments;
  arguments.counts = word.substr(std::min(colon + 1, word.size()));
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return state.SkipWithError(bytes.error().message.c_str());
  int64_t transfers = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const Result<Schedule> schedule = decode(*bytes, path);
    if (!schedule.ok()) return state.SkipWithError(schedule.error().message.c_str());
    const Result<Call> call = read_call(arguments, *schedule);
    if (!call.ok()) return state.SkipWithError(call.error().message.c_str());
    const Result<Report> report = check_schedule(schedule->program, schedule->job, *call, {});
    if (!report.ok()) return state.SkipWithError(report.error().message.c_str());
    if (report->violation) return state.SkipWithError(report->violation->detail.c_str());
    transfers = report->messages;
  }
  state.counters["transfers"] = static_cast<double>(transfers);
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  // The library owns the benchmarks. NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
  for (int i = 1; i < argc; ++i)
    benchmark::RegisterBenchmark(argv[i], quadrille::verifier::check_file, std::string(argv[i]))
        ->Unit(benchmark::kMillisecond);
  // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
