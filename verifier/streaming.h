// What the checkers that stream all ranks of an all-to-all in key order have in common.
//
// Every rank is a walker that stands before its next step; a timing wheel finds those whose key is
// next. The messages of one key are gathered, then each receive is matched with its send. Since both
// ends of a message must have the same key and keys strictly increase at a rank, induction over keys
// gives progress without any buffering.
#ifndef QUADRILLE_VERIFIER_STREAMING_H_
#define QUADRILLE_VERIFIER_STREAMING_H_

#include <optional>
#include <string>
#include <vector>

#include "schedule/walk.h"
#include "verifier/arrivals.h"
#include "verifier/check.h"
#include "verifier/key_queue.h"
#include "verifier/ledger.h"

namespace quadrille::verifier {

class StreamingChecker {
 protected:
  StreamingChecker(const Program& program, const Job& job, const Binding& binding,
                   const CheckOptions& options);

  bool stopped() const { return report_.violation.has_value() || needs_execution_; }
  // Only the first violation counts, and none where the schedule is left to execute().
  void fail(Violation violation);
  void fail(Property property, const std::vector<int64_t>& ranks, std::string detail);
  // Of the current step; none before the first and at the end.
  std::optional<int64_t> key() const;

  bool is_rank(int64_t number) const {
    return static_cast<uint64_t>(number) < static_cast<uint64_t>(ranks_);
  }
  bool is_peer(int64_t number) const { return is_rank(number) && number != current_; }
  bool is_block(Buffer buffer, int64_t block) const {
    return static_cast<uint64_t>(block) < static_cast<uint64_t>(blocks(buffer));
  }
  int64_t blocks(Buffer buffer) const {
    return buffer == Buffer::kTemporary ? binding_.temporary_blocks : ranks_;
  }
  // Of the current rank.
  void bad_peer(int64_t peer);
  void bad_block(Buffer buffer, int64_t block);

  int64_t* registers(int64_t rank) { return &registers_[rank * code_.registers()]; }

  void arrive(int64_t source, int64_t target) {
    if (!arrivals_.add(source, target)) arrives_again(source, target);
  }
  void arrives_again(int64_t source, int64_t target);

  // Once all messages of the current key are matched.
  void end_key() {
    if (!stopped() && ledger_.conflict()) port_conflict();
    ledger_.end_key();
  }
  void port_conflict();

  // Once all ranks have come to their ends.
  void ask_coverage();
  // Whether messages have one whole block each, and whether blocks may differ in size.
  void conclude(bool single, bool any_counts);

  const Program& program_;
  const Topology& topology_;
  const Binding& binding_;
  const Code code_;
  const int64_t ranks_;
  Ledger ledger_;

  std::vector<int64_t> registers_;
  std::vector<Walker> walkers_;
  KeyQueue queue_;
  int64_t current_ = 0;   // the rank that is walked
  bool in_step_ = false;  // some key has been reached

  Arrivals arrivals_;
  bool sequential_ = false, needs_execution_ = false;
  Report report_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_STREAMING_H_
