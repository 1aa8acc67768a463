// Tested by what every checker says of wrong schedules: tests/reject/, and key_order_test and rank_by_rank_test of
// tests/verifier/.
#include "verifier/findings.h"

#include <fmt/core.h>

namespace quadrille::verifier {

Processes::Processes(const std::vector<Binding>& bindings) {
  for (const Binding& binding : bindings) groups_.push_back(binding.place);
}

Place Processes::place(int64_t process) const {
  const bool second = process >= groups_[0].ranks;
  Place place = groups_[second];
  place.rank = second ? process - groups_[0].ranks : process;
  return place;
}

std::string Processes::name(int64_t process) const {
  const Place place = this->place(process);
  return place.intercommunicator() ? fmt::format("rank {} of group {}", place.rank, place.group)
                                   : fmt::format("rank {}", place.rank);
}

std::string text(const PieceValue& piece) {
  static constexpr const char* kNames[] = {"send", "receive", "temporary"};
  return fmt::format("block {} of its {} buffer", piece.block,
                     kNames[static_cast<int>(piece.buffer)]);
}

Violation violation_in_words(const Processes& all, Property property, Key key,
                             const std::vector<int64_t>& involved, std::string words) {
  Violation violation{property, key, {}, std::move(words)};
  for (const int64_t process : involved) {
    const Place place = all.place(process);
    violation.processes.push_back({place.group, place.rank});
  }
  return violation;
}

Violation violation_of(const Processes& all, Property property, Key key,
                       const std::vector<int64_t>& involved, const std::string& did) {
  return violation_in_words(all, property, key, involved, all.name(involved[0]) + " " + did);
}

Violation undefined_value(const Processes& all, Key key, int64_t process, Undefined why) {
  return violation_of(all, Property::kDefined, key, {process},
                      fmt::format("meets {}", describe(why)));
}

Violation key_out_of_order(const Processes& all, Key key, int64_t process, int64_t next) {
  return violation_of(all, Property::kOrder, key, {process},
                      fmt::format("goes on to step {}", next));
}

Violation wrong_peer(const Processes& all, Key key, int64_t process, int64_t peer, int64_t ranks,
                     bool itself) {
  if (itself) return violation_of(all, Property::kSelfMessage, key, {process}, "sends to itself");
  return violation_of(all, Property::kPeer, key, {process},
                      fmt::format("names rank {} of {}", peer, ranks));
}

Violation no_such_block(const Processes& all, Key key, int64_t process, const PieceValue& piece,
                        int64_t blocks) {
  return violation_of(all, Property::kBlock, key, {process},
                      fmt::format("names {}, which has {}", text(piece), blocks));
}

Violation not_held(const Processes& all, Key key, int64_t process, const PieceValue& piece) {
  return violation_of(all, Property::kHeld, key, {process},
                      fmt::format("uses {}, which holds nothing there yet", text(piece)));
}

Violation arrives_again(const Processes& all, Key key, int64_t process, const PieceValue& piece) {
  return violation_of(all, Property::kOnce, key, {process},
                      fmt::format("gets into {} what is there already", text(piece)));
}

Violation two_messages(const Processes& all, Key key, int64_t process, int64_t peer) {
  return violation_of(
      all, Property::kOrder, key, {process, peer},
      fmt::format("has two messages in one direction with {} in a step", all.name(peer)));
}

Violation lengths_ahead_at_one_end(const Processes& all, Key key, int64_t source, int64_t target) {
  return violation_of(
      all, Property::kLength, key, {source, target},
      fmt::format("and {} disagree whether lengths travel ahead", all.name(target)));
}

Violation read_after_overwritten(const Processes& all, Key key, int64_t process, int64_t send_block,
                                 int64_t receive_block) {
  return violation_of(
      all, Property::kInPlace, key, {process},
      fmt::format(
          "reads block {} of its send buffer after block {} of its receive buffer was written",
          send_block, receive_block));
}

Violation port_overused(const Processes& all, Key key, int64_t source, int64_t target, bool of_node,
                        int64_t number) {
  return violation_in_words(
      all, Property::kPort, key, {source, target},
      fmt::format("the message from {} to {} is one too many for the port of {} {}",
                  all.name(source), all.name(target), of_node ? "node" : "rank", number));
}

Violation send_without_receive(const Processes& all, Key key, int64_t source, int64_t target) {
  return violation_of(
      all, Property::kMatch, key, {source, target},
      fmt::format("sends to {}, which receives nothing from it in this step", all.name(target)));
}

Violation receive_without_send(const Processes& all, Key key, int64_t source, int64_t target) {
  return violation_of(
      all, Property::kMatch, key, {target, source},
      fmt::format("receives from {}, which sends it nothing in this step", all.name(source)));
}

Violation not_filled(const Processes& all, int64_t process, int64_t block, const std::string& why) {
  return violation_in_words(
      all, Property::kCoverage, {}, {process},
      fmt::format("block {} of {}'s receive buffer {}", block, all.name(process), why));
}

Violation left_over(const Processes& all, int64_t process, int64_t block) {
  return violation_in_words(
      all, Property::kLeftOver, {}, {process},
      fmt::format("block {} of {}'s temporary buffer is filled and never used", block,
                  all.name(process)));
}

void Findings::add(Violation another) {
  if (!violation) violation = std::move(another);
}

void Findings::add(Property property, Key at, const std::vector<int64_t>& involved,
                   const std::string& did) {
  add(violation_of(processes, property, at, involved, did));
}

void Findings::add(Property property, const std::vector<int64_t>& involved,
                   const std::string& did) {
  add(property, key, involved, did);
}

}  // namespace quadrille::verifier
