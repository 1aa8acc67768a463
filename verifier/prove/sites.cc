// One pass over the program. Lets are put in as they are met: `scope_` holds, for each variable in
// scope, its value as an expression over the enclosing loops.
#include "verifier/prove/sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "schedule/binding.h"
#include "schedule/traverse.h"

namespace quadrille::verifier {

namespace {

// `path`, continued.
Path extended(const Path& path, PathElement element) {
  Path result = path;
  result.push_back(std::move(element));
  return result;
}

class Anatomist {
 public:
  Anatomy run(const Program& program) {
    collective_ = program.collective;

    if (program.groups == 2) two_groups(program);
    same_everywhere(program.temporary_blocks);
    if (program.temporary_blocks != constant(0))
      anatomy_.places.push_back({{}, program.temporary_blocks});
    tables(program);
    anatomy_.bodies.emplace_back();
    body(program.body, Path{}, 0, -1);
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
    for (const Expression& requirement : program.requirements) same_everywhere(requirement);
    for (const Table& table : program.tables) {
      same_everywhere(table.first);
      same_everywhere(table.second);
      if (table.kind == TableKind::kDistinct && !is_nodes(program.tables[table.source].kind))
        unsupported("distinct values of what may not ascend");
      if (table.kind == TableKind::kPowers)
        for (const Expression* e : {&table.first, &table.second})
          anatomy_.places.push_back({{}, *e});
      if (table.kind != TableKind::kMap) continue;
      anatomy_.places.push_back({{}, table.first});
      anatomy_.places.push_back(
          {{in_loop(table.index.text, constant(0), table.first, 0)}, table.second});
    }
    for_each_expression_of_program(program, [&](const Expression& e) { searches(e, program); });
  }

  // Of what a call brings only sums are sure to ascend; of a table of expressions it is shown.
  void searches(const Expression& e, const Program& program) {
    if (e.op == Operator::kLocate) {
      const TableKind kind = program.tables[e.value].kind;
      if (is_counts(kind)) unsupported("a search of a table that may not ascend");
      if (kind == TableKind::kMap) anatomy_.searched.insert(e.value);
    }
    for (const Expression& operand : e.operands) searches(operand, program);
  }

  // Requirements are asked, and tables filled, once for all ranks.
  void same_everywhere(const Expression& expression) {
    if (mentions_rank(expression)) unsupported("a requirement or a table that names 'rank'");
  }

  // The expression over loop variables; what it needs to be defined is noted. Where lets make it,
  // or all there is, too large, the program is given up.
  Expression put_in(const Expression& expression, const Path& path) {
    if (parts_after(expression, scope_, leaf(Operator::kRank)) > kMostParts)
      unsupported(
          fmt::format("an expression of more than {} parts once its lets are put in", kMostParts));
    for (const PathElement& element : path)
      for (const Expression* e : {&element.condition, &element.low, &element.high})
        all_parts_ += parts(*e);
    if (all_parts_ > kMostPartsInAll)
      unsupported(
          fmt::format("a program of more than {} parts once its lets are put in", kMostPartsInAll));
    if (!anatomy_.unsupported.empty()) return constant(0);
    Expression result = substitute(expression, scope_, leaf(Operator::kRank));
    all_parts_ += parts(result);
    anatomy_.places.push_back({path, result});
    return result;
  }

  void body(const Body& statements, const Path& path, int into, int step) {
    const size_t scope = scope_.size();
    const Names names = names_;
    for (const Statement& statement : statements)
      std::visit([&](const auto& kind) { this->statement(kind, path, into, step); },
                 statement.kind);
    scope_.resize(scope);
    names_ = names;
  }

  void declare(const std::string& name, const Expression& value) {
    scope_.push_back(value);
    names_[name] = value;
  }

  void statement(const Let& let, const Path& path, int, int) {
    const Expression value = put_in(let.value, path);
    declare(let.name.text, value);
    anatomy_.definitions.emplace(let.name.text,
                                 Definition{value, static_cast<int>(variables_.size())});
  }

  void statement(const For& loop, const Path& path, int into, int step) {
    with_loop(loop, path, [&](const Path& inside) {
      // What stands in a step has the step's key in every iteration.
      if (step >= 0) return body(loop.body, inside, into, step);
      const PathElement& bounds = inside.back();
      const int index = static_cast<int>(anatomy_.loops.size());
      anatomy_.loops.push_back(
          {loop.name.text, path, bounds.low, bounds.high, bounds.variable, names_, variables_});
      anatomy_.bodies.emplace_back();
      anatomy_.bodies[into].push_back({true, index, path});
      loops_.push_back(index);
      body(loop.body, inside, index + 1, step);
      loops_.pop_back();
    });
  }

  void statement(const If& choice, const Path& path, int into, int step) {
    const Expression condition = put_in(choice.condition, path);
    body(choice.then, extended(path, where(condition)), into, step);
    body(choice.otherwise, extended(path, where(condition, false)), into, step);
  }

  void statement(const Step& step, const Path& path, int into, int) {
    StepSite site{path, loops_, variables_, names_, put_in(step.key, path), std::nullopt, {}};
    if (step.after) site.after = put_in(*step.after, path);
    site.position = positions_++;
    const int index = static_cast<int>(anatomy_.steps.size());
    anatomy_.steps.push_back(std::move(site));
    anatomy_.bodies[into].push_back({false, index, path});
    body(step.body, path, into, index);
  }

  void statement(const Message& message, const Path& path, int, int step) {
    Site site =
        new_site(message.direction == Direction::kSend ? Site::Kind::kSend : Site::Kind::kReceive,
                 path, step);
    site.peer = put_in(message.peer, path);
    site.message = messages_++;
    site.sized = message.sized;
    site.remote = message.remote;
    site.combine = message.combine;
    site.outer_path = path.size();
    site.outer_variables = variables_.size();
    // Which tokens of a barrier it brings, the proof says.
    if (collective_ == Collective::kBarrier)
      (site.kind == Site::Kind::kSend ? site.from : site.to) =
          Access{Buffer::kReceive, constant(0)};
    if (message.pieces.empty()) return add(std::move(site));
    pieces_ = places_ = inner_loops_ = 0;
    pieces(message.pieces, path, site);
    if (pieces_ == 0) unsupported("a message whose body has no piece");
  }

  // The body of a message, whose pieces are sites like `site`.
  void pieces(const Body& statements, const Path& path, const Site& site) {
    const size_t scope = scope_.size();
    const Names names = names_;
    for (const Statement& statement : statements)
      if (const Let* let = std::get_if<Let>(&statement.kind))
        this->statement(*let, path, 0, 0);
      else if (const For* loop = std::get_if<For>(&statement.kind))
        pieces_in_loop(*loop, path, site);
      else if (const If* choice = std::get_if<If>(&statement.kind))
        pieces_in_choice(*choice, path, site);
      else if (const Transfer* transfer = std::get_if<Transfer>(&statement.kind))
        add_piece(transfer->piece, path, site);
    scope_.resize(scope);
    names_ = names;
  }

  void pieces_in_loop(const For& loop, const Path& path, Site site) {
    site.inner_loops.push_back(inner_loops_++);
    with_loop(loop, path, [&](const Path& inside) { pieces(loop.body, inside, site); });
  }

  // Does with the body of a loop, at the end of its path, what is wanted.
  void with_loop(const For& loop, const Path& path, const std::function<void(const Path&)>& body) {
    const Expression low = put_in(loop.low, path), high = put_in(loop.high, path);
    const int number = static_cast<int>(variables_.size());
    const Names names = names_;
    declare(loop.name.text, variable(number));
    variables_.push_back(loop.name.text);
    body(extended(path, in_loop(loop.name.text, low, high, number)));
    variables_.pop_back();
    scope_.pop_back();
    names_ = names;
  }

  // Whether the body is one piece, whatever is chosen in it.
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

  void pieces_in_choice(const If& choice, const Path& path, const Site& site) {
    const Expression condition = put_in(choice.condition, path);
    const int place = places_;
    pieces(choice.then, extended(path, where(condition)), site);
    if (is_one_piece(choice.then) && is_one_piece(choice.otherwise)) places_ = place;
    pieces(choice.otherwise, extended(path, where(condition, false)), site);
  }

  void add_piece(const Piece& transferred, const Path& path, Site site) {
    site.number = next_number(site.kind);
    site.path = path;
    site.variables = variables_;
    site.names = names_;
    site.piece = pieces_++;
    site.place = places_++;
    (site.kind == Site::Kind::kSend ? site.from : site.to) = access(transferred, path);
    // The receiver cannot know its length.
    if (only_ends_know_lengths(collective_) && transferred.buffer == Buffer::kTemporary &&
        site.kind == Site::Kind::kReceive && !site.sized)
      unsupported("a temporary block in a message that is not sized");
    add(std::move(site));
  }

  Access access(const Piece& piece, const Path& path) {
    Access result{piece.buffer, put_in(piece.block, path)};
    if (piece.range)
      result.range = Range{put_in(piece.range->low, path), put_in(piece.range->high, path)};
    return result;
  }

  void statement(const Copy& copy, const Path& path, int, int step) {
    local(Site::Kind::kCopy, copy.from, copy.to, std::nullopt, path, step);
  }

  void statement(const Reduce& reduce, const Path& path, int, int step) {
    local(Site::Kind::kReduce, reduce.from, reduce.into, reduce.side, path, step);
  }

  // Only what stands where a block of the receive buffer will, and where it stays, is told apart there.
  void in_place() {
    if (reduces(collective_)) unsupported("a reduction in place");
    for (const Site& site : anatomy_.sites)
      if (site.from && site.from->buffer == Buffer::kSend &&
          !(site.kind == Site::Kind::kSend && collective_ == Collective::kAlltoall) &&
          !(site.kind == Site::Kind::kCopy && site.to->buffer == Buffer::kReceive))
        unsupported("what is read of the send buffer of a call in place, but to send or keep it");
  }

  void local(Site::Kind kind, const Piece& from, const Piece& to, std::optional<Side> combine,
             const Path& path, int step) {
    Site site = new_site(kind, path, step);
    site.from = access(from, path);
    site.to = access(to, path);
    site.combine = combine;
    add(std::move(site));
  }

  void statement(const Transfer&, const Path&, int, int) {}

  int next_number(Site::Kind kind) const {
    return 1 + static_cast<int>(std::count_if(anatomy_.sites.begin(), anatomy_.sites.end(),
                                              [=](const Site& s) { return s.kind == kind; }));
  }

  Site new_site(Site::Kind kind, const Path& path, int step) {
    Site site;
    site.kind = kind;
    site.number = next_number(kind);
    site.path = path;
    site.variables = variables_;
    site.names = names_;
    site.step = step;
    site.loops = loops_;
    site.position = step < 0 ? positions_++ : anatomy_.steps[step].position;
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

  // Each two of them are compared.
  static constexpr size_t kMostSites = 250;
  // Paths are counted wherever they are kept.
  static constexpr int64_t kMostPartsInAll = 300000;

  Anatomy anatomy_;
  Collective collective_ = Collective::kAlltoall;
  int64_t all_parts_ = 0;
  int messages_ = 0, positions_ = 0;
  int pieces_ = 0, places_ = 0, inner_loops_ = 0;  // of the message whose body is being read
  std::vector<Expression> scope_;
  std::vector<std::string> variables_;  // of the enclosing loops
  std::vector<int> loops_;              // those of them around steps: indices
  Names names_;
};

}  // namespace

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

namespace {

// Stops counting above kMostParts, so it takes no longer than that.
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

}  // namespace

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

namespace {

bool same_element(const PathElement& a, const PathElement& b) {
  return a.kind == b.kind && a.condition == b.condition && a.low == b.low && a.high == b.high &&
         a.variable == b.variable;
}

}  // namespace

bool is_part_of(const Path& part, const Path& path) {
  auto next = part.begin();
  for (const PathElement& element : path)
    if (next != part.end() && same_element(*next, element)) ++next;
  return next == part.end();
}

void partial_conditions(const Expression& e, const Path& path, std::vector<Place>& out) {
  const auto need = [&](Expression condition) { out.push_back({path, std::move(condition)}); };
  const auto less_equal = [](Expression a, Expression b) {
    return apply(Operator::kLessEqual, {std::move(a), std::move(b)});
  };
  const auto less = [](Expression a, Expression b) {
    return apply(Operator::kLess, {std::move(a), std::move(b)});
  };
  if (e.operands.empty()) return;
  if (e.op == Operator::kChoose || e.op == Operator::kAnd) {
    partial_conditions(e.operands[0], path, out);
    partial_conditions(e.operands[1], extended(path, where(e.operands[0])), out);
    if (e.op == Operator::kChoose)
      partial_conditions(e.operands[2], extended(path, where(e.operands[0], false)), out);
    return;
  }
  for (const Expression& operand : e.operands) partial_conditions(operand, path, out);
  if (e.op == Operator::kDivide || e.op == Operator::kModulo) {
    if (e.operands[1].op != Operator::kConstant || e.operands[1].value <= 0)
      need(less(constant(0), e.operands[1]));
  } else if (e.op == Operator::kElement) {
    need(apply(Operator::kAnd, {less_equal(constant(0), e.operands[0]),
                                less(e.operands[0], leaf(Operator::kLength, e.value))}));
  } else if (e.op == Operator::kWrap) {
    const Expression &x = e.operands[0], &m = e.operands[1];
    need(apply(Operator::kAnd, {less_equal(constant(0), apply(Operator::kAdd, {x, m})),
                                less(x, apply(Operator::kMultiply, {constant(2), m}))}));
  }
}

}  // namespace quadrille::verifier
