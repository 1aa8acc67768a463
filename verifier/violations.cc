// Tested by what every checker says of wrong schedules: tests/reject/, and key_order_test and
// rank_by_rank_test of tests/verifier/.
#include "verifier/violations.h"

#include <fmt/core.h>

namespace quadrille::verifier {

std::string block_text(Buffer buffer, int64_t block) {
  static constexpr const char* kNames[] = {"send", "receive", "temporary"};
  return fmt::format("block {} of its {} buffer", block, kNames[static_cast<int>(buffer)]);
}

Violation violation_of(Property property, std::optional<int64_t> key,
                       const std::vector<int64_t>& ranks, std::string detail) {
  Violation violation{property, key, {}, std::move(detail)};
  for (const int64_t rank : ranks) violation.processes.push_back({0, rank});
  return violation;
}

Violation undefined_value(std::optional<int64_t> key, int64_t rank, Undefined why) {
  return violation_of(Property::kDefined, key, {rank},
                      fmt::format("rank {} meets {}", rank, describe(why)));
}

Violation key_out_of_order(std::optional<int64_t> key, int64_t rank, int64_t next) {
  return violation_of(Property::kOrder, key, {rank},
                      fmt::format("rank {} goes on to step {}", rank, next));
}

Violation wrong_peer(std::optional<int64_t> key, int64_t rank, int64_t peer, int64_t ranks) {
  if (peer == rank)
    return violation_of(Property::kSelfMessage, key, {rank},
                        fmt::format("rank {} sends to itself", rank));
  return violation_of(Property::kPeer, key, {rank},
                      fmt::format("rank {} names rank {} of {}", rank, peer, ranks));
}

Violation no_such_block(std::optional<int64_t> key, int64_t rank, Buffer buffer, int64_t block,
                        int64_t blocks) {
  return violation_of(
      Property::kBlock, key, {rank},
      fmt::format("rank {} names {}, which has {}", rank, block_text(buffer, block), blocks));
}

Violation port_overused(std::optional<int64_t> key, int64_t source, int64_t target, bool of_node,
                        int64_t number) {
  return violation_of(
      Property::kPort, key, {source, target},
      fmt::format("the message from rank {} to rank {} is one too many for the port of {} {}",
                  source, target, of_node ? "node" : "rank", number));
}

Violation send_without_receive(std::optional<int64_t> key, int64_t source, int64_t target) {
  return violation_of(
      Property::kMatch, key, {source, target},
      fmt::format("rank {} sends to rank {}, which receives nothing from it in this step", source,
                  target));
}

Violation receive_without_send(std::optional<int64_t> key, int64_t source, int64_t target) {
  return violation_of(
      Property::kMatch, key, {target, source},
      fmt::format("rank {} receives from rank {}, which sends it nothing in this step", target,
                  source));
}

}  // namespace quadrille::verifier
