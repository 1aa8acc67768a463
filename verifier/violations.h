// Violations of one group's ranks, in the words that its checkers share. Keys are of the step that
// the rank is in, where it is in one.
#ifndef QUADRILLE_VERIFIER_VIOLATIONS_H_
#define QUADRILLE_VERIFIER_VIOLATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/walk.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

// "block 3 of its temporary buffer"
std::string block_text(Buffer buffer, int64_t block);

// The first of the ranks is to blame.
Violation violation_of(Property property, std::optional<int64_t> key,
                       const std::vector<int64_t>& ranks, std::string detail);

// Only the first violation of a run counts.
struct FirstViolation {
  std::optional<int64_t>
      key;  // of the step that is looked at; none before the first and at the end
  std::optional<Violation> violation;

  void add(Violation another) {
    if (!violation) violation = std::move(another);
  }
  void add(Property property, const std::vector<int64_t>& ranks, std::string detail) {
    add(violation_of(property, key, ranks, std::move(detail)));
  }
};

Violation undefined_value(std::optional<int64_t> key, int64_t rank, Undefined why);
// The rank goes on to a step whose key is not above its last.
Violation key_out_of_order(std::optional<int64_t> key, int64_t rank, int64_t next);
// The rank names as its peer none of so many ranks, or itself.
Violation wrong_peer(std::optional<int64_t> key, int64_t rank, int64_t peer, int64_t ranks);
// The buffer has so many blocks, and not this one.
Violation no_such_block(std::optional<int64_t> key, int64_t rank, Buffer buffer, int64_t block,
                        int64_t blocks);
// The port of that rank, or of that node.
Violation port_overused(std::optional<int64_t> key, int64_t source, int64_t target, bool of_node,
                        int64_t number);
Violation send_without_receive(std::optional<int64_t> key, int64_t source, int64_t target);
Violation receive_without_send(std::optional<int64_t> key, int64_t source, int64_t target);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_VIOLATIONS_H_
