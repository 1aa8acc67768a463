// Each change looks for places that allow it, and does nothing if there is none.
#include "tests/support/rewrites.h"

#include "schedule/traverse.h"

namespace quadrille {
namespace {

// ---- The order of statements

struct Kinds {
  bool sends = false, locals = false, receives = false, names = false;
  bool may_pass(const Kinds& other) const {
    return !names && !other.names && !(sends && other.sends) && !(locals && other.locals) &&
           !(receives && other.receives);
  }
};

Kinds kinds_of(const Statement& statement) {
  Kinds kinds;
  kinds.names = std::holds_alternative<Let>(statement.kind);
  const Body one = {statement};
  for_each_statement(one, [&](const Statement& inner) {
    const auto* message = std::get_if<Message>(&inner.kind);
    kinds.sends |= message && message->direction == Direction::kSend;
    kinds.receives |= message && message->direction == Direction::kReceive;
    kinds.locals |=
        std::holds_alternative<Copy>(inner.kind) || std::holds_alternative<Reduce>(inner.kind);
  });
  return kinds;
}

void mix(Body& body, Random& random) {
  for (size_t turn = 0; turn < 2 * body.size(); ++turn) {
    const size_t at = below(random, body.size());
    if (at + 1 < body.size() && kinds_of(body[at]).may_pass(kinds_of(body[at + 1])))
      std::swap(body[at], body[at + 1]);
  }
  for (Statement& statement : body) {
    if (auto* loop = std::get_if<For>(&statement.kind)) mix(loop->body, random);
    if (auto* choice = std::get_if<If>(&statement.kind)) {
      mix(choice->then, random);
      mix(choice->otherwise, random);
    }
  }
}

template <class Kind>
std::vector<Kind*> all_of(Program& program) {
  std::vector<Kind*> all;
  for_each_statement(program.body, [&](Statement& statement) {
    if (auto* one = std::get_if<Kind>(&statement.kind)) all.push_back(one);
  });
  return all;
}

// ---- Ranges

Expression middle(const Range& range) {
  const Expression length = apply(Operator::kSubtract, {range.high, range.low});
  return apply(Operator::kAdd, {range.low, apply(Operator::kDivide, {length, constant(2)})});
}

Piece half(const Piece& piece, bool upper) {
  Piece result = piece;
  (upper ? result.range->low : result.range->high) = middle(*piece.range);
  return result;
}

Statement where_not_empty(const Piece& piece, Statement statement) {
  return {If{
      apply(Operator::kLess, {piece.range->low, piece.range->high}), {std::move(statement)}, {}}};
}

// Splits every piece of every message in two, so both ends have equally many. Does nothing if a piece has no range.
void split_pieces(Program& program) {
  for (const Message* message : all_of<Message>(program))
    for (const Statement& statement : message->pieces) {
      const auto* transfer = std::get_if<Transfer>(&statement.kind);
      if (!transfer || !transfer->piece.range) return;
    }
  for (Message* message : all_of<Message>(program)) {
    Body pieces;
    for (const Statement& statement : message->pieces)
      for (const bool upper : {false, true}) {
        const Piece piece = half(std::get<Transfer>(statement.kind).piece, upper);
        pieces.push_back(where_not_empty(piece, {Transfer{piece}}));
      }
    message->pieces = std::move(pieces);
  }
}

// The position of a statement.
struct Site {
  Body* body;
  size_t at;
  Statement& statement() const { return (*body)[at]; }
};

void collect(Body& body, std::vector<Site>& sites) {
  for (size_t i = 0; i < body.size(); ++i) {
    sites.push_back({&body, i});
    Statement& statement = body[i];
    if (auto* loop = std::get_if<For>(&statement.kind)) collect(loop->body, sites);
    if (auto* step = std::get_if<Step>(&statement.kind)) collect(step->body, sites);
    if (auto* choice = std::get_if<If>(&statement.kind)) {
      collect(choice->then, sites);
      collect(choice->otherwise, sites);
    }
  }
}

// Returns a random site for which `takes` is true. Its body is null if there is none.
template <class Takes>
Site any_site(Program& program, Random& random, const Takes& takes) {
  std::vector<Site> all, taken;
  collect(program.body, all);
  for (const Site& site : all)
    if (takes(site)) taken.push_back(site);
  return taken.empty() ? Site{nullptr, 0} : any_of(taken, random);
}

void split_local(Program& program, Random& random) {
  const Site site = any_site(program, random, [](const Site& s) {
    const auto* copy = std::get_if<Copy>(&s.statement().kind);
    const auto* reduce = std::get_if<Reduce>(&s.statement().kind);
    return (copy && copy->from.range && copy->to.range) ||
           (reduce && reduce->from.range && reduce->into.range);
  });
  if (!site.body) return;
  Body halves;
  for (const bool upper : {false, true}) {
    Statement statement = site.statement();
    if (auto* copy = std::get_if<Copy>(&statement.kind))
      *copy = {half(copy->from, upper), half(copy->to, upper)};
    if (auto* reduce = std::get_if<Reduce>(&statement.kind))
      *reduce = {reduce->side, half(reduce->from, upper), half(reduce->into, upper)};
    halves.push_back(std::move(statement));
  }
  site.statement() = halves[0];
  site.body->insert(site.body->begin() + static_cast<ptrdiff_t>(site.at) + 1, halves[1]);
}

// ---- Through a temporary block

// Adds a temporary block behind all others. Returns a piece of it that has room for `like`.
Piece new_block(Program& program, const Piece& like) {
  Piece piece{Buffer::kTemporary, program.temporary_blocks, std::nullopt};
  program.temporary_blocks = apply(Operator::kAdd, {program.temporary_blocks, constant(1)});
  if (like.range)
    piece.range = {constant(0), apply(Operator::kSubtract, {like.range->high, like.range->low})};
  return piece;
}

bool is_of_one_piece(const Message& message) {
  return message.pieces.size() == 1 && std::holds_alternative<Transfer>(message.pieces[0].kind);
}

// Returns the statement if it is a message of one piece, with no name of the step above it, or else null.
Message* message_of(Step& step, size_t at) {
  auto* message = std::get_if<Message>(&step.body[at].kind);
  for (size_t i = 0; i <= at; ++i)
    if (std::holds_alternative<Let>(step.body[i].kind)) return nullptr;
  return message && is_of_one_piece(*message) ? message : nullptr;
}

// Copies the sent data to a new block before the step, or copies or combines the received data after it.
void go_by_way(Program& program, Random& random) {
  const Site site = any_site(program, random, [](const Site& s) {
    return std::holds_alternative<Step>(s.statement().kind);
  });
  if (!site.body || program.collective == Collective::kBarrier) return;
  Step& step = std::get<Step>(site.statement().kind);
  if (step.body.empty()) return;
  Message* message = message_of(step, below(random, step.body.size()));
  if (!message) return;
  Piece& piece = std::get<Transfer>(message->pieces[0].kind).piece;
  const Piece before = piece;
  const bool sends = message->direction == Direction::kSend;
  piece = new_block(program, before);
  Statement local = {Copy{sends ? before : piece, sends ? piece : before}};
  if (message->combine) local = {Reduce{*message->combine, piece, before}};
  message->combine.reset();
  if (only_ends_know_lengths(program.collective))
    for (Message* any : all_of<Message>(program)) any->sized = true;
  site.body->insert(site.body->begin() + static_cast<ptrdiff_t>(site.at) + (sends ? 0 : 1), local);
}

// ---- Steps

void merge_steps(Program& program, Random& random) {
  const auto is_step = [](const Statement& s) { return std::holds_alternative<Step>(s.kind); };
  const Site site = any_site(program, random, [&](const Site& s) {
    return s.at + 1 < s.body->size() && is_step(s.statement()) && is_step((*s.body)[s.at + 1]);
  });
  if (!site.body) return;
  Step& first = std::get<Step>(site.statement().kind);
  for (const Statement& statement : first.body)
    if (kinds_of(statement).names) return;
  const Body second = std::get<Step>((*site.body)[site.at + 1].kind).body;
  first.body.insert(first.body.end(), second.begin(), second.end());
  site.body->erase(site.body->begin() + static_cast<ptrdiff_t>(site.at) + 1);
}

void wait_for_more(Program& program, Random& random) {
  const std::vector<Step*> steps = all_of<Step>(program);
  if (!steps.empty()) any_of(steps, random)->after.reset();
}

}  // namespace

void mix_statements(Program& program, Random& random) {
  for (Step* step : all_of<Step>(program)) mix(step->body, random);
}

void rewrite(Program& program, int changes, Random& random) {
  for (int i = 0; i < changes; ++i) switch (below(random, 8)) {
      case 0: split_pieces(program); break;
      case 1: split_local(program, random); break;
      case 2:
      case 3: go_by_way(program, random); break;
      case 4: merge_steps(program, random); break;
      case 5: wait_for_more(program, random); break;
      default: mix_statements(program, random);
    }
}

}  // namespace quadrille
