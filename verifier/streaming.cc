// What is done once a schedule, or goes wrong; the rest is in the header. Tested through both
// checkers.
#include "verifier/streaming.h"

#include <fmt/format.h>

#include "verifier/bounds.h"
#include "verifier/violations.h"

namespace quadrille::verifier {

StreamingChecker::StreamingChecker(const Program& program, const Job& job, const Binding& binding,
                                   const CheckOptions& options)
    : program_(program),
      topology_(job.groups[0]),
      binding_(binding),
      code_(*Code::compile(program)),
      ranks_(binding.place.ranks),
      ledger_(program, job, options),
      registers_(ranks_ * code_.registers()),
      walkers_(ranks_),
      queue_(ranks_),
      arrivals_(ranks_) {}

void StreamingChecker::fail(Violation violation) {
  if (!stopped()) report_.violation = std::move(violation);
}

void StreamingChecker::fail(Property property, const std::vector<int64_t>& ranks,
                            std::string detail) {
  fail(violation_of(property, key(), ranks, std::move(detail)));
}

std::optional<int64_t> StreamingChecker::key() const {
  if (!in_step_) return std::nullopt;
  return queue_.now();
}

void StreamingChecker::bad_peer(int64_t peer) { fail(wrong_peer(key(), current_, peer, ranks_)); }

void StreamingChecker::bad_block(Buffer buffer, int64_t block) {
  fail(no_such_block(key(), current_, buffer, block, blocks(buffer)));
}

void StreamingChecker::arrives_again(int64_t source, int64_t target) {
  fail(Property::kOnce, {target, source},
       fmt::format("rank {}'s block arrives again at rank {}", source, target));
}

void StreamingChecker::port_conflict() {
  const auto& [source, target, unit] = *ledger_.conflict();
  fail(Property::kPort, {source, target},
       fmt::format("the message from rank {} to rank {} is one too many for the port of {} {}",
                   source, target, ledger_.port_per_node() ? "node" : "rank", unit));
}

void StreamingChecker::ask_coverage() {
  in_step_ = false;
  const auto missing = arrivals_.missing();
  if (!missing) return;
  const auto [source, target] = *missing;
  fail(Property::kCoverage, {target, source},
       fmt::format("rank {}'s block never arrives at rank {}", source, target));
}

void StreamingChecker::conclude(bool single, bool any_counts) {
  ledger_.finish(report_);
  report_.timed = single && ledger_.has_time();
  if (report_.timed) report_.lower_bound = alltoall_lower_bound(topology_);
  if (sequential_) report_.safe_window = 1;
  report_.any_counts = any_counts;
}

}  // namespace quadrille::verifier
