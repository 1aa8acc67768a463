// Binds a schedule, and chooses the executor by the program's statements.
#include "verifier/check.h"

#include <algorithm>

#include "schedule/traverse.h"
#include "schedule/walk.h"

namespace quadrille::verifier {
namespace {

bool is_whole(const Piece& piece, Buffer buffer) { return piece.buffer == buffer && !piece.range; }

// The most ranks for a second check by execute(), which needs memory for every block.
constexpr int64_t kFewRanks = 256;

// Returns whether a message lacks its other end. Only execute() then finds the ranks that wait for each other.
bool wants_a_cycle(const Report& report) {
  return report.violation && report.violation->property == Property::kMatch;
}

// Checks with the executor that serves the program. A fast executor may find a later violation than the first. On few
// ranks, execute() then checks again.
Report check_bound(const Program& program, const Job& job, const Call& call,
                   const std::vector<Binding>& bindings, const CheckOptions& options) {
  std::optional<Report> report;
  bool first = true;  // the violation is in the earliest step
  if (fits_key_order(program)) {
    report = check_key_order(program, job, bindings[0], options);
    first = bindings[0].temporary_blocks == 0;  // else some violations are found too early
  } else if (fits_rank_by_rank(program, options)) {
    report = check_rank_by_rank(program, job, call, bindings[0], options);
    first = false;
  }
  const bool few = job.groups[0].ranks() <= kFewRanks;
  if (report && !(few && report->violation && (!first || wants_a_cycle(*report))))
    return *std::move(report);
  return execute(program, job, call, bindings, options);
}

}  // namespace

bool fits_key_order(const Program& program) {
  if (program.collective != Collective::kAlltoall || program.groups != 1 || uses_counts(program))
    return false;
  bool served = true;
  Direction direction = Direction::kSend;  // of the message that contains the piece
  for_each_statement(program.body, [&](const Statement& statement) {
    if (const auto* message = std::get_if<Message>(&statement.kind)) direction = message->direction;
    if (const auto* transfer = std::get_if<Transfer>(&statement.kind))
      served &= is_whole(transfer->piece, Buffer::kTemporary) ||
                is_whole(transfer->piece,
                         direction == Direction::kSend ? Buffer::kSend : Buffer::kReceive);
    if (const auto* copy = std::get_if<Copy>(&statement.kind))
      served &= (is_whole(copy->from, Buffer::kSend) || is_whole(copy->from, Buffer::kTemporary)) &&
                (is_whole(copy->to, Buffer::kReceive) || is_whole(copy->to, Buffer::kTemporary));
  });
  return served;
}

Result<Report> check_schedule(const Program& program, const Job& job, const Call& call,
                              const CheckOptions& options) {
  std::vector<Binding> bindings;
  for (int group = 0; group < program.groups; ++group) {
    Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) return binding.error();
    bindings.push_back(std::move(binding).value());
  }
  const Result<Code> code = Code::compile(program);
  if (!code.ok()) return code.error();
  Report report = check_bound(program, job, call, bindings, options);
  for (const Binding& binding : bindings)
    report.temporary_blocks = std::max(report.temporary_blocks, binding.temporary_blocks);
  return report;
}

Result<Report> check_all_sizes(const Program& program, const Job& job, Call& call,
                               const CheckOptions& options) {
  Result<Report> report = check_schedule(program, job, call, options);
  if (!report.ok() || report->violation || !call.counts.empty() ||
      !blocks_may_differ(program.collective))
    return report;
  Report all = std::move(report).value();
  if (only_ends_know_lengths(program.collective)) {
    all.violation = all.uneven;
    return all;
  }
  // Here, only check_rank_by_rank() counts no volumes. It accepts a whole block only if both ends name the same one.
  if (!all.volumes && !names_parts_of_blocks(program)) return all;
  Call uneven = call;
  uneven.counts = uneven_counts(job.groups);
  Result<Report> again = check_schedule(program, job, uneven, options);
  if (!again.ok()) return again;
  if (!again->violation) return all;
  call = uneven;
  return again;
}

}  // namespace quadrille::verifier
