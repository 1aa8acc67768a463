// Reads kinds from the program alone. A statement counts even if no rank reaches it.
#include "tests/support/program_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/traverse.h"

namespace quadrille {
namespace {

// The kinds of statements, in the order in which they take effect in a step.
enum { kSends, kLocals, kReceives };

struct Features {
  bool several_locals = false, reduces = false, mixed = false, combines = false, ranges = false;
  bool after = false, no_after = false, outside = false, several_pieces = false, temporary = false;
  bool tokens = false;
};

void look_at(const Step& step, Features& found) {
  int locals = 0, last = kSends;
  for_each_statement(step.body, [&](const Statement& statement) {
    const auto* message = std::get_if<Message>(&statement.kind);
    const bool is_local = std::holds_alternative<Copy>(statement.kind) ||
                          std::holds_alternative<Reduce>(statement.kind);
    if (!message && !is_local) return;
    locals += is_local;
    found.reduces |= std::holds_alternative<Reduce>(statement.kind);
    const int kind = is_local                                 ? kLocals
                     : message->direction == Direction::kSend ? kSends
                                                              : kReceives;
    found.mixed |= kind < last;
    last = std::max(last, kind);
    if (!message) return;
    found.combines |= message->combine.has_value();
    found.tokens |= message->pieces.empty();
    found.several_pieces |= message->pieces.size() > 1;
  });
  found.several_locals |= locals > 1;
  (step.after ? found.after : found.no_after) = true;
}

void look_at(const Piece& piece, Features& found) {
  found.ranges |= piece.range.has_value();
  found.temporary |= piece.buffer == Buffer::kTemporary;
}

void look_at(const Body& body, Features& found) {
  for (const Statement& statement : body) {
    if (const auto* step = std::get_if<Step>(&statement.kind)) look_at(*step, found);
    if (const auto* loop = std::get_if<For>(&statement.kind)) look_at(loop->body, found);
    if (const auto* choice = std::get_if<If>(&statement.kind)) {
      look_at(choice->then, found);
      look_at(choice->otherwise, found);
    }
    found.outside |= std::holds_alternative<Copy>(statement.kind) ||
                     std::holds_alternative<Reduce>(statement.kind);
  }
}

Features features_of(const Program& program) {
  Features found;
  look_at(program.body, found);
  for_each_statement(program.body, [&](const Statement& statement) {
    if (const auto* transfer = std::get_if<Transfer>(&statement.kind))
      look_at(transfer->piece, found);
    if (const auto* copy = std::get_if<Copy>(&statement.kind)) {
      look_at(copy->from, found);
      look_at(copy->to, found);
    }
    if (const auto* reduce = std::get_if<Reduce>(&statement.kind)) {
      look_at(reduce->from, found);
      look_at(reduce->into, found);
    }
  });
  return found;
}

bool is_uneven(const Call& call) {
  for (const std::vector<int64_t>& counts : call.counts)
    for (const int64_t count : counts)
      if (count != counts[0]) return true;
  return false;
}

std::map<std::string, bool> kinds_of(const RandomCase& drawn) {
  const Program& program = drawn.program;
  const Features found = features_of(program);
  std::map<std::string, bool> kinds = {
      {"between groups", program.groups == 2},
      {"several local statements in a step", found.several_locals},
      {"reductions in a step", found.reduces},
      {"statements of a step mixed", found.mixed},
      {"combining receives", found.combines},
      {"ranges", found.ranges},
      {"temporary blocks", found.temporary},
      {"tokens", found.tokens},
      {"messages of several pieces", found.several_pieces},
      {"steps with after", found.after},
      {"steps without after", found.no_after},
      {"local statements outside steps", found.outside},
      {"in place", program.in_place},
      {"commutative", program.commutative},
      {"canonical sums", program.canonical},
      {"reductions in order", reduces(program.collective) && !program.commutative},
      {"roots beside rank 0", rooted(program.collective) && drawn.call.root > 0},
      {"uneven counts", is_uneven(drawn.call)},
  };
  for (int i = 0; i < kCollectiveCount; ++i)
    kinds[std::string(name_of(static_cast<Collective>(i)))] =
        program.collective == static_cast<Collective>(i);
  return kinds;
}

}  // namespace

void KindTally::add(const RandomCase& drawn, bool is_right) {
  ++drawn_;
  for (const auto& [name, is_one] : kinds_of(drawn)) {
    Count& count = counts_[name];
    if (is_one) ++(is_right ? count.right : count.wrong);
  }
}

std::string KindTally::text() const {
  std::string text = fmt::format("{} programs: right, wrong\n", drawn_);
  for (const auto& [name, count] : counts_)
    text += fmt::format("  {:<36}{:>7}{:>7}\n", name, count.right, count.wrong);
  return text;
}

std::vector<std::string> KindTally::rare(int of_all) const {
  std::vector<std::string> rare;
  for (const auto& [name, count] : counts_) {
    const int all = count.right + count.wrong;
    if (all * of_all < drawn_ || count.right * 10 < all) rare.push_back(name);
  }
  return rare;
}

}  // namespace quadrille
