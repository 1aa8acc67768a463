// Binds a schedule, and chooses the executor by what the program is made of.
#include "verifier/check.h"

#include <algorithm>

#include "schedule/traverse.h"
#include "schedule/walk.h"

namespace quadrille::verifier {
namespace {

bool is_whole(const Piece& piece, Buffer buffer) { return piece.buffer == buffer && !piece.range; }

}  // namespace

bool is_direct(const Program& program) {
  if (program.collective != Collective::kAlltoall || program.groups != 1) return false;
  bool direct = true;
  for_each_statement(program.body, [&](const Statement& statement) {
    if (const auto* step = std::get_if<Step>(&statement.kind))
      direct &= !step->after || *step->after == constant(-1);
    if (const auto* copy = std::get_if<Copy>(&statement.kind))
      direct &= is_whole(copy->from, Buffer::kSend) && is_whole(copy->to, Buffer::kReceive);
    const auto* message = std::get_if<Message>(&statement.kind);
    if (!message) return;
    direct &= !message->sized && message->pieces.size() <= 1;
    if (message->pieces.empty()) return;
    const auto* transfer = std::get_if<Transfer>(&message->pieces[0].kind);
    const Buffer buffer = message->direction == Direction::kSend ? Buffer::kSend : Buffer::kReceive;
    direct &= transfer && is_whole(transfer->piece, buffer);
  });
  return direct;
}

bool is_forwarding(const Program& program) {
  if (program.collective != Collective::kAlltoall || program.groups != 1 || uses_counts(program))
    return false;
  bool served = true;
  Direction direction = Direction::kSend;  // of the message that the piece is in
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

namespace {

// Where the streaming checker sees but a message without its other end at that key, the general one
// tells whether ranks wait for each other, and who for whom; it needs memory for every block.
constexpr int64_t kFewRanks = 256;
bool wants_a_cycle(const Report& report, const Job& job) {
  return report.violation && report.violation->property == Property::kMatch &&
         job.groups[0].ranks() <= kFewRanks;
}

// check_gather comes to violations rank by rank, check_forward to some of them early: the general one
// finds that of the earliest step.
bool wants_the_first(const Report& report, const Job& job) {
  return report.violation && job.groups[0].ranks() <= kFewRanks;
}

// By the executor that serves it.
Report check_bound(const Program& program, const Job& job, const Call& call,
                   const std::vector<Binding>& bindings, const CheckOptions& options) {
  if (is_direct(program)) {
    if (auto report = check_direct(program, job, bindings[0], options))
      if (!wants_a_cycle(*report, job)) return *std::move(report);
  }
  if (is_forwarding(program)) {
    if (auto report = check_forward(program, job, bindings[0], options))
      if (!wants_the_first(*report, job)) return *std::move(report);
  }
  if (is_gather(program, options)) {
    if (auto report = check_gather(program, job, call, bindings[0]))
      if (!wants_the_first(*report, job)) return *std::move(report);
  }
  return execute(program, job, call, bindings, options);
}

}  // namespace

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

}  // namespace quadrille::verifier
