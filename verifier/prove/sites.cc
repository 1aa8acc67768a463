// One pass over the program replaces the names of lets by their values. For each name in scope, `scope_` holds the
// value as an expression over the variables of the enclosing loops.
#include "verifier/prove/sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedule/binding.h"
#include "schedule/traverse.h"

namespace quadrille::verifier {
namespace {

class Anatomist {
 public:
  Anatomy run(const Program& program) {
    collective_ = program.collective;
    if (program.groups == 2) two_groups(program);
    same_everywhere(program.temporary_blocks);
    if (program.temporary_blocks != constant(0))
      anatomy_.evaluations.push_back({{}, program.temporary_blocks});
    tables(program);
    anatomy_.bodies.emplace_back();
    body(program.body);
    if (program.in_place) in_place();
    return std::move(anatomy_);
  }

 private:
  void unsupported(const std::string& what) {
    if (anatomy_.unsupported.empty()) anatomy_.unsupported = what;
  }

  void two_groups(const Program& program) {
    if (program.port.kind != PortKind::kNone && program.port.per == PortScope::kNode)
      unsupported("a port of nodes between groups");
    if (program.in_place) unsupported("a call in place between groups");
  }

  void tables(const Program& program) {
    requirements_after(program, 0);
    for (const Table& table : program.tables) {
      anatomy_.checked.push_back(anatomy_.requirements.size());
      same_everywhere(table.first);
      same_everywhere(table.second);
      if (table.kind == TableKind::kDistinct && !is_nodes(program.tables[table.source].kind))
        unsupported("distinct values of what may not ascend");
      if (table.kind == TableKind::kPowers)
        for (const Expression* e : {&table.first, &table.second})
          anatomy_.evaluations.push_back({{}, *e, anatomy_.checked.back()});
      if (table.kind == TableKind::kMap) {
        anatomy_.evaluations.push_back({{}, table.first, anatomy_.checked.back()});
        anatomy_.evaluations.push_back({{in_loop(table.index.text, constant(0), table.first, 0)},
                                        table.second,
                                        anatomy_.checked.back()});
      }
      requirements_after(program, static_cast<int64_t>(anatomy_.checked.size()));
    }
    for_each_expression_of_program(program, [&](const Expression& e) { searches(e, program); });
  }

  void requirements_after(const Program& program, int64_t tables) {
    for (const Expression& requirement : program.requirements) {
      if (tables_before(requirement) != tables) continue;
      same_everywhere(requirement);
      anatomy_.evaluations.push_back({{}, requirement, anatomy_.requirements.size()});
      anatomy_.requirements.push_back(requirement);
    }
  }

  // Checks that tables which `locate` searches ascend. Obligations show it of tables of expressions (searched).
  void searches(const Expression& e, const Program& program) {
    if (e.op == Operator::kLocate) {
      const TableKind kind = program.tables[e.value].kind;
      if (is_counts(kind)) unsupported("a search of a table that may not ascend");
      if (kind == TableKind::kMap) anatomy_.searched.insert(e.value);
      if (kind == TableKind::kLiteral && !std::ranges::is_sorted(program.tables[e.value].entries))
        unsupported("a search of a table that does not ascend");
    }
    for (const Expression& operand : e.operands) searches(operand, program);
  }

  // Refuses an expression that depends on the rank: requirements are checked, and tables filled, once for all ranks.
  void same_everywhere(const Expression& expression) {
    if (mentions_rank(expression)) unsupported("a requirement or a table that names 'rank'");
  }

  // Returns the expression with the values of lets put in, and notes it with its path. If that makes the expression,
  // or the whole program, too large, the pass gives up.
  Expression put_in(const Expression& expression) {
    if (parts_after(expression, scope_, leaf(Operator::kRank)) > kMostParts)
      unsupported(
          fmt::format("an expression of more than {} parts once its lets are put in", kMostParts));
    for (const PathElement& element : path_)
      for (const Expression* e : {&element.condition, &element.low, &element.high})
        all_parts_ += parts(*e);
    if (all_parts_ > kMostPartsInAll)
      unsupported(
          fmt::format("a program of more than {} parts once its lets are put in", kMostPartsInAll));
    if (!anatomy_.unsupported.empty()) return constant(0);
    Expression result = substitute(expression, scope_, leaf(Operator::kRank));
    all_parts_ += parts(result);
    anatomy_.evaluations.push_back({path_, result, kAllChecked, statement_});
    return result;
  }

  void body(const Body& statements) {
    const size_t scope = scope_.size();
    const Names names = names_;
    for (const Statement& statement : statements) {
      statement_ = statements_++;
      std::visit([&](const auto& kind) { this->statement(kind); }, statement.kind);
    }
    scope_.resize(scope);
    names_ = names;
  }

  // Goes through a body with one more element on the path.
  void body_in(PathElement element, const Body& statements) {
    path_.push_back(std::move(element));
    body(statements);
    path_.pop_back();
  }

  void declare(const std::string& name, const Expression& value) {
    scope_.push_back(value);
    names_[name] = value;
  }

  void statement(const Let& let) {
    const Expression value = put_in(let.value);
    declare(let.name.text, value);
    anatomy_.definitions.emplace(let.name.text,
                                 Definition{value, static_cast<int>(variables_.size())});
  }

  void statement(const For& loop) {
    const std::string& name = loop.name.text;
    const Expression low = put_in(loop.low), high = put_in(loop.high);
    const int number = static_cast<int>(variables_.size());
    const Names names = names_;
    declare(name, variable(number));
    variables_.push_back(name);
    const PathElement iterations = in_loop(name, low, high, number);
    if (message_) {
      message_->inner_loops.push_back(inner_loops_++);
      body_in(iterations, loop.body);
      message_->inner_loops.pop_back();
    } else if (step_ >= 0) {
      body_in(iterations, loop.body);  // a loop of messages: all iterations are in the step
    } else {
      const int index = static_cast<int>(anatomy_.loops.size());
      anatomy_.loops.push_back({statement_, name, path_, low, high, number, names_, variables_});
      anatomy_.bodies.emplace_back();
      anatomy_.bodies[body_].push_back({true, index, path_});
      loops_.push_back(index);
      const int outer = std::exchange(body_, index + 1);
      body_in(iterations, loop.body);
      body_ = outer;
      loops_.pop_back();
    }
    variables_.pop_back();
    scope_.pop_back();
    names_ = names;
  }

  void statement(const If& choice) {
    const Expression condition = put_in(choice.condition);
    const int place = places_;
    body_in(where(condition), choice.then);
    if (message_ && is_one_piece(choice.then) && is_one_piece(choice.otherwise)) places_ = place;
    body_in(where(condition, false), choice.otherwise);
  }

  // Whether exactly one piece of the body travels, whichever conditions hold.
  static bool is_one_piece(const Body& body) {
    int pieces = 0;
    for (const Statement& statement : body) {
      if (std::holds_alternative<Let>(statement.kind)) continue;
      const If* choice = std::get_if<If>(&statement.kind);
      const bool one = choice ? is_one_piece(choice->then) && is_one_piece(choice->otherwise)
                              : std::holds_alternative<Transfer>(statement.kind);
      if (!one) return false;
      ++pieces;
    }
    return pieces == 1;
  }

  void statement(const Step& step) {
    StepSite site{path_, loops_, variables_, names_, put_in(step.key), std::nullopt, {}};
    if (step.after) site.after = put_in(*step.after);
    site.position = positions_++;
    step_ = static_cast<int>(anatomy_.steps.size());
    anatomy_.steps.push_back(std::move(site));
    anatomy_.bodies[body_].push_back({false, step_, path_});
    body(step.body);
    step_ = -1;
  }

  // A message without pieces is one site. Otherwise each piece is a site, made from that of the message.
  void statement(const Message& message) {
    Site site =
        new_site(message.direction == Direction::kSend ? Site::Kind::kSend : Site::Kind::kReceive);
    site.peer = put_in(message.peer);
    site.message = messages_++;
    site.sized = message.sized;
    site.remote = message.remote;
    site.combine = message.combine;
    site.outer_path = path_.size();
    site.outer_variables = variables_.size();
    // A message of a barrier brings tokens. The proof says which.
    if (collective_ == Collective::kBarrier)
      (site.kind == Site::Kind::kSend ? site.from : site.to) =
          Access{Buffer::kReceive, constant(0)};
    if (message.pieces.empty()) return add(std::move(site));
    pieces_ = places_ = inner_loops_ = 0;
    message_ = std::move(site);
    body(message.pieces);
    message_.reset();
    if (pieces_ == 0) unsupported("a message whose body has no piece");
  }

  void statement(const Transfer& transfer) {
    Site site = *message_;
    site.statement = statement_;
    site.number = next_number(site.kind);
    site.path = path_;
    site.variables = variables_;
    site.names = names_;
    site.piece = pieces_++;
    site.place = places_++;
    (site.kind == Site::Kind::kSend ? site.from : site.to) = access(transfer.piece);
    // The receiver cannot know how long a block of another pair of ranks is, unless the message is sized.
    if (only_ends_know_lengths(collective_) && transfer.piece.buffer == Buffer::kTemporary &&
        site.kind == Site::Kind::kReceive && !site.sized)
      unsupported("a temporary block in a message that is not sized");
    add(std::move(site));
  }

  Access access(const Piece& piece) {
    Access result{piece.buffer, put_in(piece.block)};
    if (piece.range) result.range = Range{put_in(piece.range->low), put_in(piece.range->high)};
    return result;
  }

  void statement(const Copy& copy) { local(Site::Kind::kCopy, copy.from, copy.to, std::nullopt); }

  void statement(const Reduce& reduce) {
    local(Site::Kind::kReduce, reduce.from, reduce.into, reduce.side);
  }

  void local(Site::Kind kind, const Piece& from, const Piece& to, std::optional<Side> combine) {
    Site site = new_site(kind);
    site.from = access(from);
    site.to = access(to);
    site.combine = combine;
    add(std::move(site));
  }

  // Refuses a program in place that reads the send buffer otherwise than to send a block of an all-to-all, or to copy
  // to the receive buffer.
  void in_place() {
    if (reduces(collective_)) unsupported("a reduction in place");
    for (const Site& site : anatomy_.sites)
      if (site.from && site.from->buffer == Buffer::kSend &&
          !(site.kind == Site::Kind::kSend && collective_ == Collective::kAlltoall) &&
          !(site.kind == Site::Kind::kCopy && site.to->buffer == Buffer::kReceive))
        unsupported("what is read of the send buffer of a call in place, but to send or keep it");
  }

  int next_number(Site::Kind kind) const {
    return 1 + static_cast<int>(std::count_if(anatomy_.sites.begin(), anatomy_.sites.end(),
                                              [=](const Site& s) { return s.kind == kind; }));
  }

  Site new_site(Site::Kind kind) {
    Site site;
    site.kind = kind;
    site.statement = statement_;
    site.number = next_number(kind);
    site.path = path_;
    site.variables = variables_;
    site.names = names_;
    site.step = step_;
    site.loops = loops_;
    site.position = step_ < 0 ? positions_++ : anatomy_.steps[step_].position;
    return site;
  }

  void add(Site site) {
    if (anatomy_.sites.size() == kMostSites)
      return unsupported(fmt::format(
          "a program of more than {} pieces that are sent, received, copied or combined",
          kMostSites));
    site.index = static_cast<int>(anatomy_.sites.size());
    if (site.step >= 0) anatomy_.steps[site.step].sites.push_back(anatomy_.sites.size());
    anatomy_.sites.push_back(std::move(site));
  }

  // Bounds the number of obligations, which compare all pairs of sites.
  static constexpr size_t kMostSites = 250;
  // Bounds the memory: each place of the program keeps a copy of its path.
  static constexpr int64_t kMostPartsInAll = 300000;

  Anatomy anatomy_;
  Collective collective_ = Collective::kAlltoall;
  int64_t all_parts_ = 0;
  int messages_ = 0, positions_ = 0, statements_ = 0;
  int statement_ = -1;  // the current one
  // The current body of steps, the step in it, and the message in the step.
  Path path_;
  int body_ = 0, step_ = -1;
  std::optional<Site> message_;
  int pieces_ = 0, places_ = 0, inner_loops_ = 0;  // counted so far in message_
  std::vector<Expression> scope_;
  std::vector<std::string> variables_;  // of the enclosing loops
  std::vector<int> loops_;              // the enclosing loops around steps: indices
  Names names_;
};

// Stops counting above kMostParts, which bounds the time of this function.
int64_t parts_after(const Expression& expression, const std::vector<int64_t>& variables,
                    int64_t rank) {
  if (expression.op == Operator::kRank) return rank;
  if (expression.op == Operator::kVariable)
    return expression.value < static_cast<int64_t>(variables.size()) ? variables[expression.value]
                                                                     : 1;
  int64_t sum = 1;
  for (const Expression& operand : expression.operands) {
    sum += parts_after(operand, variables, rank);
    if (sum > kMostParts) return kMostParts + 1;
  }
  return sum;
}

bool same_element(const PathElement& a, const PathElement& b) {
  return a.kind == b.kind && a.condition == b.condition && a.low == b.low && a.high == b.high &&
         a.variable == b.variable;
}

}  // namespace

std::string unknown_feature(const std::string& feature) {
  return fmt::format(
      "the prover does not know {}; write the program without that, or check it on small "
      "topologies "
      "with `check --program FILE --up-to 8`",
      feature);
}

Expression substitute(const Expression& expression, const std::vector<Expression>& variables,
                      const Expression& rank) {
  if (expression.op == Operator::kVariable) return variables[expression.value];
  if (expression.op == Operator::kRank) return rank;
  Expression result = expression;
  for (Expression& operand : result.operands) operand = substitute(operand, variables, rank);
  return result;
}

bool mentions_rank(const Expression& expression) {
  return any_part(expression, [](const Expression& e) { return e.op == Operator::kRank; });
}

bool mentions_variable(const Expression& expression, int64_t number) {
  return any_part(expression, [=](const Expression& e) { return e == variable(number); });
}

int64_t parts(const Expression& expression) {
  return parts_after(expression, std::vector<int64_t>{}, 1);
}

int64_t parts_after(const Expression& expression, const std::vector<Expression>& variables,
                    const Expression& rank) {
  std::vector<int64_t> sizes;
  for (const Expression& value : variables) sizes.push_back(parts(value));
  return parts_after(expression, sizes, parts(rank));
}

Anatomy take_apart(const Program& program) { return Anatomist().run(program); }

bool is_part_of(const Path& part, const Path& path) {
  auto next = part.begin();
  for (const PathElement& element : path)
    if (next != part.end() && same_element(*next, element)) ++next;
  return next == part.end();
}

void partial_conditions(const Expression& e, Path& path, std::vector<Evaluation>& out) {
  if (e.op == Operator::kChoose || e.op == Operator::kAnd) {
    partial_conditions(e.operands[0], path, out);
    path.push_back(where(e.operands[0]));
    partial_conditions(e.operands[1], path, out);
    path.back() = where(e.operands[0], false);
    if (e.op == Operator::kChoose) partial_conditions(e.operands[2], path, out);
    path.pop_back();
    return;
  }
  for (const Expression& operand : e.operands) partial_conditions(operand, path, out);
  const auto need = [&](const Expression& condition) { out.push_back({path, condition}); };
  if (e.op == Operator::kDivide || e.op == Operator::kModulo) {
    const Expression& divisor = e.operands[1];
    if (divisor.op != Operator::kConstant || divisor.value <= 0) need(less(constant(0), divisor));
  } else if (e.op == Operator::kElement) {
    const Expression& index = e.operands[0];
    need(both(less_equal(constant(0), index), less(index, leaf(Operator::kLength, e.value))));
  } else if (e.op == Operator::kWrap) {
    const Expression &x = e.operands[0], &m = e.operands[1];
    need(both(less_equal(constant(0), kOf<Operator::kAdd>(x, m)), less(x, times(constant(2), m))));
  }
}

}  // namespace quadrille::verifier
