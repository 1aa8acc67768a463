// Checks a program before anything walks it: indices are in range, expressions have types, statements are where they
// may be, and nothing is nested too deeply. The prover, the checker and the encoder rely on this and do not repeat it.
// Tested by tests/schedule/validate_test.cc.
#include <fmt/core.h>

#include <set>
#include <utility>

#include "schedule/program.h"
#include "schedule/traverse.h"

namespace quadrille {
namespace {

enum class Type { kInteger, kBoolean };

class Validator {
 public:
  explicit Validator(const Program& program) : program_(program) {}

  std::optional<Flaw> run() {
    declarations();
    if (!flaw_) {
      part_ = ProgramPart::kStatement;
      body(program_.body, Context{});
    }
    return flaw_;
  }

 private:
  // What encloses a statement.
  struct Context {
    bool in_step = false;
    const Message* message = nullptr;
    int depth = 0;
  };

  void fail(std::string message) {
    if (!flaw_) flaw_ = Flaw{std::move(message), part_, index_};
  }

  // Fails if there are more declarations than the limit. The flaw is the first one beyond it.
  template <class Declarations>
  void at_most(const Declarations& all, size_t limit, ProgramPart part, const char* message) {
    if (all.size() > limit && !flaw_) flaw_ = Flaw{message, part, limit};
  }

  void declarations() {
    if (program_.groups != 1 && program_.groups != 2) fail("a program is for 1 or 2 groups");
    if (program_.groups == 2 && !exists_between_groups(program_.collective))
      fail(
          fmt::format("{} between groups, which MPI does not have", in_words(program_.collective)));
    if (program_.in_place && program_.collective == Collective::kReduceScatter)
      fail(
          "'in_place' in a reduce-scatter, whose input is always copied before a call in place; "
          "leave it out");
    if (program_.canonical && !reduces(program_.collective))
      fail(fmt::format("'sums canonical' in {}, which has no sums; leave it out",
                       in_words(program_.collective)));
    if (program_.canonical && program_.commutative)
      fail("'sums canonical' keeps the order of ranks, and 'commutative' does not; leave one out");
    at_most(program_.parameters, kMaxParameters, ProgramPart::kParameter, QD_MANY_PARAMETERS);
    if (program_.window < 0 || program_.window > kMaxWindow) return fail(QD_WIDE_WINDOW);
    for (const Parameter& parameter : program_.parameters)
      if (parameter.over_trees && (!parameter.at_call || !may_pass_over_trees(program_.collective)))
        return fail(
            "only a broadcast, a reduce, an allgather or a reduce-scatter has a parameter at call "
            "over trees");
    if (program_.port.kind == PortKind::kParameter &&
        (program_.port.per != PortScope::kNode || program_.parameters.empty() ||
         program_.parameters[0].at_call))
      return fail("a port of k+k messages is one of nodes, and k is in the file");
    at_most(program_.tables, kMaxTables, ProgramPart::kTable, QD_MANY_TABLES);
    at_most(program_.requirements, kMaxRequirements, ProgramPart::kRequirement,
            QD_MANY_REQUIREMENTS);
    if (flaw_) return;
    part_ = ProgramPart::kTable;
    for (const Table& table : program_.tables) {
      index_ = tables_;
      this->table(table);
      ++tables_;
    }
    part_ = ProgramPart::kRequirement;
    for (index_ = 0; index_ < program_.requirements.size(); ++index_)
      expect(program_.requirements[index_], Type::kBoolean);
    part_ = ProgramPart::kTemporary;
    index_ = 0;
    expect(program_.temporary_blocks, Type::kInteger);
  }

  void table(const Table& table) {
    switch (table.kind) {
      case TableKind::kRemoteNodes:
      case TableKind::kRemoteCounts:
        if (program_.groups != 2) fail("a remote table in a program for one group");
        if (table.kind == TableKind::kRemoteCounts) counts();
        break;
      case TableKind::kPrefix:
      case TableKind::kDistinct:
      case TableKind::kGreatest:
        if (table.source < 0 || table.source >= tables_) fail("a table is made from a later table");
        break;
      case TableKind::kPowers:
        expect(table.first, Type::kInteger);
        expect(table.second, Type::kInteger);
        break;
      case TableKind::kMap:
        expect(table.first, Type::kInteger);
        ++variables_;
        expect(table.second, Type::kInteger);
        --variables_;
        break;
      case TableKind::kLiteral:
        if (table.entries.empty()) fail("a table of numbers without numbers");
        if (table.entries.size() > kMaxLiterals) fail(QD_MANY_LITERALS);
        break;
      case TableKind::kCounts: counts(); break;
      case TableKind::kNodes: break;
    }
  }

  void counts() {
    if (program_.collective == Collective::kBarrier)
      fail("a table of counts in a barrier, which moves nothing");
    if (only_ends_know_lengths(program_.collective))
      fail(fmt::format("a table of counts in {}, where no rank knows how long all blocks are",
                       in_words(program_.collective)));
  }

  void expect(const Expression& expression, Type type) {
    if (this->type(expression, 0) != type)
      fail(type == Type::kBoolean ? "a number stands where a condition is wanted"
                                  : "a condition stands where a number is wanted");
  }

  Type type(const Expression& expression, int depth) {
    if (depth > kMaxDepth) fail(QD_DEEP_EXPRESSION);
    if (static_cast<int>(expression.op) >= kOperatorCount) fail("an unknown operator");
    if (static_cast<int>(expression.operands.size()) != arity(expression.op))
      fail("an operator with the wrong number of operands");
    if (flaw_) return Type::kInteger;
    index(expression);
    if (is_fixed(expression.op) && expression != constant(0) && expression != constant(1) &&
        fixed_.emplace(expression.op, expression.value).second && fixed_.size() > kMaxConstants)
      fail(QD_MANY_CONSTANTS);
    std::vector<Type> types;
    for (const Expression& operand : expression.operands) types.push_back(type(operand, depth + 1));
    if (flaw_) return Type::kInteger;
    if (expression.op == Operator::kChoose) {
      if (is_either(expression) && (types[0] != Type::kBoolean || types[2] != Type::kBoolean))
        fail("'or' joins conditions");
      if (types[0] != Type::kBoolean) fail("'c ? a : b' wants a condition c");
      if (types[1] != types[2]) fail("'c ? a : b' wants a and b of one type");
      return types[1];
    }
    const Type wanted = expression.op == Operator::kAnd ? Type::kBoolean : Type::kInteger;
    for (const Type type : types)
      if (type != wanted)
        fail(wanted == Type::kBoolean ? "'and' joins conditions"
                                      : "an operator on numbers is given a condition");
    const bool boolean = expression.op == Operator::kAnd || is_comparison(expression.op);
    return boolean ? Type::kBoolean : Type::kInteger;
  }

  // Checks that an operator may stand here and that its index is in range.
  void index(const Expression& expression) {
    const int64_t value = expression.value;
    switch (expression.op) {
      case Operator::kVariable:
        if (value < 0 || value >= variables_) fail("a variable that is not in scope");
        break;
      case Operator::kParameter:
        if (value < 0 || value >= static_cast<int64_t>(program_.parameters.size()))
          fail("an unknown parameter");
        break;
      case Operator::kElement:
      case Operator::kLocate:
      case Operator::kLength:
        if (value < 0 || value >= tables_) fail("a table that is not defined before its use");
        break;
      case Operator::kRemoteRanks:
        if (program_.groups != 2) fail("'remote_ranks' in a program for one group");
        break;
      case Operator::kRoot:
        if (!rooted(program_.collective)) fail("'root' in a collective without a root");
        break;
      case Operator::kRank:
        if (part_ != ProgramPart::kStatement)
          fail("'rank' in a declaration, which means the same at all ranks");
        break;
      default: break;
    }
  }

  void body(const Body& statements, Context context) {
    if (++context.depth > kMaxDepth) return fail(QD_DEEP_STATEMENTS);
    const int outer = variables_;
    for (const Statement& statement : statements) {
      if (flaw_) return;
      index_ = statements_++;
      std::visit([&](const auto& kind) { this->statement(kind, context); }, statement.kind);
    }
    variables_ = outer;
  }

  void declare() {
    if (++variables_ > kMaxVariables) fail(QD_MANY_VARIABLES);
  }

  void statement(const Let& let, Context) {
    expect(let.value, Type::kInteger);
    declare();
  }

  void statement(const For& loop, Context context) {
    expect(loop.low, Type::kInteger);
    expect(loop.high, Type::kInteger);
    declare();
    body(loop.body, context);
    --variables_;
  }

  void statement(const If& choice, Context context) {
    expect(choice.condition, Type::kBoolean);
    body(choice.then, context);
    body(choice.otherwise, context);
  }

  void statement(const Step& step, Context context) {
    if (context.in_step) fail("a step inside a step");
    expect(step.key, Type::kInteger);
    if (step.after) expect(*step.after, Type::kInteger);
    context.in_step = true;
    body(step.body, context);
  }

  void statement(const Message& message, Context context) {
    if (!context.in_step) fail("a message outside a step");
    if (context.message) fail("a message inside a message");
    if (message.sized && !only_ends_know_lengths(program_.collective))
      fail(
          fmt::format("a sized message in {}, where every rank knows how long all blocks are; "
                      "leave out 'sized'",
                      in_words(program_.collective)));
    if (message.remote && program_.groups != 2) fail("'remote' in a program for one group");
    if (message.combine) combining(message);
    if (message.direction == Direction::kReceive)
      for_each_statement(message.pieces, [this](const Statement& statement) {
        const auto* transfer = std::get_if<Transfer>(&statement.kind);
        if (transfer && transfer->piece.buffer == Buffer::kSend)
          fail("a message received into the send buffer");
      });
    expect(message.peer, Type::kInteger);
    context.message = &message;
    body(message.pieces, context);
  }

  void combining(const Message& message) {
    if (!reduces(program_.collective))
      fail("a receive that combines in a collective without an operator");
    if (message.direction != Direction::kReceive) fail("a send that combines");
    if (message.pieces.empty()) fail("a message that combines nothing");
  }

  void statement(const Transfer& transfer, Context context) {
    if (!context.message)
      fail("a piece outside a message");
    else
      received(*context.message, transfer.piece);
    piece(transfer.piece);
  }

  // Checks that the receiver knows a length. The call gives the lengths of user blocks, and a range gives its own.
  void received(const Message& message, const Piece& piece) {
    if (message.direction == Direction::kReceive && !message.combine &&
        piece.buffer == Buffer::kTemporary && !piece.range &&
        !only_ends_know_lengths(program_.collective))
      fail(
          "a whole temporary block is received, and its receiver does not know how long it is; "
          "name a range, temp[i]@0..n, or combine");
  }

  void statement(const Copy& copy, Context context) {
    if (context.message) fail("a copy inside a message");
    piece(copy.from);
    piece(copy.to);
    if (copy.to.buffer == Buffer::kSend) fail("a copy into the send buffer");
  }

  void statement(const Reduce& reduce, Context context) {
    if (context.message) fail("a reduction inside a message");
    if (!reduces(program_.collective)) fail("'reduce' in a collective without an operator");
    piece(reduce.from);
    piece(reduce.into);
    if (reduce.into.buffer == Buffer::kSend) fail("a reduction into the send buffer");
  }

  void piece(const Piece& piece) {
    if (program_.collective == Collective::kBarrier)
      fail("a block in a barrier, which moves nothing");
    expect(piece.block, Type::kInteger);
    if (!piece.range) return;
    if (only_ends_know_lengths(program_.collective))
      fail(fmt::format("a part of a block in {}, where no rank knows how long all blocks are",
                       in_words(program_.collective)));
    expect(piece.range->low, Type::kInteger);
    expect(piece.range->high, Type::kInteger);
  }

  const Program& program_;
  int variables_ = 0;
  int64_t tables_ = 0;
  size_t statements_ = 0;
  std::set<std::pair<Operator, int64_t>> fixed_;  // the values so far that never change at a rank
  ProgramPart part_ = ProgramPart::kHeading;      // the part under check, and its number
  size_t index_ = 0;
  std::optional<Flaw> flaw_;
};

}  // namespace

std::optional<Flaw> find_flaw(const Program& program) { return Validator(program).run(); }

Result<bool> validate(const Program& program) {
  const std::optional<Flaw> flaw = find_flaw(program);
  if (flaw) return Error{flaw->message};
  return true;
}

namespace {

// Visits every name in the order of declaration.
template <class ProgramType, class Visit>
void for_each_name(ProgramType& program, Visit visit) {
  visit(program.algorithm);
  for (auto& parameter : program.parameters) visit(parameter.name);
  for (auto& table : program.tables) {
    visit(table.name);
    if (table.kind == TableKind::kMap) visit(table.index);
  }
  for_each_statement(program.body, [&](auto& statement) {
    if (auto* let = std::get_if<Let>(&statement.kind)) visit(let->name);
    if (auto* loop = std::get_if<For>(&statement.kind)) visit(loop->name);
  });
}

}  // namespace

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> result;
  for_each_name(program, [&](const Name& name) { result.push_back(name.text); });
  return result;
}

void set_names(Program& program, const std::vector<std::string>& names) {
  size_t next = 0;
  for_each_name(program, [&](Name& name) {
    if (next < names.size()) name.text = names[next++];
  });
}

}  // namespace quadrille
