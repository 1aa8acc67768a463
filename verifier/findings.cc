// The tests of the checkers compare these texts for wrong schedules: tests/reject/, and key_order_test and
// allgather_test of tests/verifier/.
#include "verifier/findings.h"

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

Violation port_overused(const Processes& all, Key key, int64_t source, int64_t target, bool of_node,
                        int64_t number) {
  return violation_in_words(
      all, Property::kPort, key, {source, target},
      fmt::format("the message from {} to {} is one too many for the port of {} {}",
                  all.name(source), all.name(target), of_node ? "node" : "rank", number));
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
