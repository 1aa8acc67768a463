// Tested by tests/cli/simulate_test.sh and tests/view/page_test.py.
#include "simulate/planned.h"

#include <fmt/format.h>

#include "cli/files.h"
#include "simulate/flags.h"

namespace quadrille {
namespace {

// The bytes of a block or a contribution, 0 if --counts or --sizes gives them, and the bytes of an element.
struct Lengths {
  int64_t bytes = 0, element = 1;
};

// True if --sizes gives all lengths, so that --bytes gives none.
bool gives_lengths(const LengthArguments& arguments) {
  return !arguments.sizes.empty() && arguments.sizes != "equal";
}

Result<Lengths> read_lengths(const LengthArguments& arguments, const std::string& bytes,
                             Collective collective) {
  Lengths lengths;
  const bool has_bytes = !bytes.empty();
  if (gives_lengths(arguments)) {
    if (!has_bytes) return lengths;
    return Error{"--bytes: --sizes gives all lengths; leave it out"};
  }
  if (has_bytes == !arguments.call.counts.empty() && collective != Collective::kBarrier)
    return Error{"give the bytes of each block with --bytes, or those of each rank with --counts"};
  if (!has_bytes && only_ends_know_lengths(collective))
    return Error{
        fmt::format("--counts: of {} only the two ends of a message know its length; give --bytes",
                    in_words(collective))};
  if (has_bytes) {
    const Result<int64_t> given = read_bytes("--bytes", bytes, 0);
    if (!given.ok()) return given.error();
    lengths.bytes = *given;
  }
  if (arguments.element.empty()) return lengths;
  if (!reduces(collective)) return Error{"--element: only a reduction has elements; leave it out"};
  const Result<int64_t> element = read_bytes("--element", arguments.element, 1);
  if (!element.ok()) return element.error();
  lengths.element = *element;
  if (lengths.bytes % lengths.element != 0)
    return Error{fmt::format("--bytes: {} bytes are not whole elements of {}", lengths.bytes,
                             lengths.element)};
  return lengths;
}

// Reads the file of --sizes: the bytes of the block from each process to each other one.
Result<BlockLengths> read_matrix(const std::string& path, const Job& job) {
  const Result<std::vector<uint8_t>> text = cli::read_file(path);
  if (!text.ok()) return text.error();
  size_t processes = 0;
  for (const Topology& group : job.groups) processes += static_cast<size_t>(group.ranks());
  Result<BlockLengths> read = BlockLengths::read({text->begin(), text->end()}, processes);
  return read.ok() ? std::move(read) : Error{fmt::format("{}: {}", path, read.error().message)};
}

// Reads --sizes. Without lengths there, each block has `bytes` bytes.
Result<BlockLengths> read_sizes(const LengthArguments& arguments,
                                const verifier::Schedule& schedule, int64_t bytes, int64_t seed) {
  const Collective collective = schedule.program.collective;
  BlockLengths lengths(bytes);
  if (arguments.sizes.empty()) {
    if (!arguments.persistent) return lengths;
    return Error{
        "--persistent: all ranks know the lengths of this call before it begins; leave it out, or "
        "give --sizes"};
  }
  if (collective != Collective::kAlltoall && collective != Collective::kGather &&
      collective != Collective::kScatter)
    return Error{fmt::format("--sizes: all ranks know the lengths of {}; leave it out",
                             name_of(collective))};
  if (arguments.sizes != "equal" && collective != Collective::kAlltoall)
    return Error{"--sizes: only the blocks of an all-to-all may differ; give equal"};
  if (gives_lengths(arguments)) {
    const bool is_distribution = arguments.sizes.find(':') != std::string::npos &&
                                 arguments.sizes.find('/') == std::string::npos;
    Result<BlockLengths> given = is_distribution ? BlockLengths::drawn(arguments.sizes, seed)
                                                 : read_matrix(arguments.sizes, schedule.job);
    if (!given.ok()) return Error{"--sizes: " + given.error().message};
    lengths = std::move(given).value();
  }
  lengths.travel = !arguments.persistent;
  return lengths;
}

}  // namespace

Result<Planned> plan(const std::string& path, std::span<const uint8_t> file,
                     const verifier::Schedule& schedule, const LengthArguments& arguments,
                     const std::string& bytes, int64_t seed, const Tell& tell) {
  const std::vector<Topology>& groups = schedule.job.groups;
  const Result<Lengths> lengths = read_lengths(arguments, bytes, schedule.program.collective);
  if (!lengths.ok()) return lengths.error();
  Result<BlockLengths> blocks = read_sizes(arguments, schedule, lengths->bytes, seed);
  if (!blocks.ok()) return blocks.error();
  const Result<int> window = verifier::read_window(arguments.window);
  if (!window.ok()) return window.error();
  verifier::CallArguments given = arguments.call;
  given.element = lengths->element;
  Result<Call> call =
      given.counts.empty()
          ? verifier::call_with(verifier::average_counts(schedule.program.collective, groups,
                                                         lengths->bytes / lengths->element),
                                given, schedule)
          : verifier::read_call(given, schedule);
  if (!call.ok()) return call.error();
  constexpr ScriptLimits kLimits;
  Result<std::optional<Scripts>> scripts =
      scripts_of(file, schedule.program, schedule.job, *call, *blocks,
                 {*window, false, false, lengths->element}, tell, kLimits);
  if (!scripts.ok()) return Error{fmt::format("{}: {}", path, scripts.error().message)};
  if (!*scripts)
    return Error{fmt::format("{}: the call has more than {} messages, too many to simulate", path,
                             kLimits.messages)};
  return Planned{std::move(call).value(), lengths->bytes, lengths->element,
                 std::move(blocks).value(), **std::move(scripts)};
}

}  // namespace quadrille
