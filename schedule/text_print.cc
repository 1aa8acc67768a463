// Writes the text form. Parentheses stand only where the reader would otherwise build another tree. Names come from
// the program. If two variables in scope share a name, as in a file without names, the inner one gets a suffix. Tested
// by the round trip in tests/schedule/text_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/text.h"

namespace quadrille {
namespace {

// Precedence levels; a higher one binds tighter.
enum Level { kChoice, kDisjunction, kConjunction, kComparison, kSum, kProduct, kPrimary };

struct Spelling {
  const char* text;
  Level level;
};

Spelling spelling(Operator op) {
  switch (op) {
    case Operator::kAdd: return {" + ", kSum};
    case Operator::kSubtract: return {" - ", kSum};
    case Operator::kMultiply: return {"*", kProduct};
    case Operator::kDivide: return {" div ", kProduct};
    case Operator::kModulo: return {" mod ", kProduct};
    case Operator::kXor: return {" xor ", kProduct};
    case Operator::kEqual: return {" = ", kComparison};
    case Operator::kNotEqual: return {" != ", kComparison};
    case Operator::kLess: return {" < ", kComparison};
    case Operator::kLessEqual: return {" <= ", kComparison};
    case Operator::kAnd: return {" and ", kConjunction};
    case Operator::kMinimum: return {"min", kPrimary};
    case Operator::kMaximum: return {"max", kPrimary};
    case Operator::kWrap: return {"wrap", kPrimary};
    case Operator::kRank: return {"rank", kPrimary};
    case Operator::kRanks: return {"ranks", kPrimary};
    case Operator::kRemoteRanks: return {"remote_ranks", kPrimary};
    case Operator::kGroup: return {"group", kPrimary};
    case Operator::kRoot: return {"root", kPrimary};
    case Operator::kChoose: return {"?", kChoice};  // or `or`
    default: return {"", kPrimary};
  }
}

class ExpressionPrinter {
 public:
  explicit ExpressionPrinter(const ExpressionNames& names) : names_(names) {}

  std::string at(const Expression& expression, Level least) const {
    const Spelling spelled =
        is_either(expression) ? Spelling{" or ", kDisjunction} : spelling(expression.op);
    const std::string text = print(expression, spelled);
    return spelled.level < least ? "(" + text + ")" : text;
  }

 private:
  std::string print(const Expression& e, const Spelling& spelled) const {
    switch (e.op) {
      case Operator::kConstant: return fmt::format("{}", e.value);
      case Operator::kParameter: return (*names_.parameters)[e.value].name.text;
      case Operator::kVariable: return (*names_.variables)[e.value];
      case Operator::kElement:
        return fmt::format("{}[{}]", table(e.value), at(e.operands[0], kChoice));
      case Operator::kLocate:
        return fmt::format("locate({}, {})", table(e.value), at(e.operands[0], kChoice));
      case Operator::kLength: return fmt::format("length({})", table(e.value));
      case Operator::kChoose:
        if (is_either(e))
          return at(e.operands[0], kDisjunction) + spelled.text + at(e.operands[2], kConjunction);
        return fmt::format("{} ? {} : {}", at(e.operands[0], kDisjunction),
                           at(e.operands[1], kChoice), at(e.operands[2], kChoice));
      default: break;
    }
    if (e.operands.empty()) return spelled.text;
    if (spelled.level == kPrimary)
      return fmt::format("{}({}, {})", spelled.text, at(e.operands[0], kChoice),
                         at(e.operands[1], kChoice));
    // Chains are read from the left; comparisons do not chain.
    const Level next = static_cast<Level>(spelled.level + 1);
    const Level left = spelled.level == kComparison ? next : spelled.level;
    return at(e.operands[0], left) + spelled.text + at(e.operands[1], next);
  }

  const std::string& table(int64_t index) const { return (*names_.tables)[index].name.text; }

  const ExpressionNames& names_;
};

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program) : program_(program) {}

  std::string run() {
    declarations();
    text_ += '\n';
    body(program_.body, 0);
    return std::move(text_);
  }

 private:
  void line(int indent, const std::string& text) {
    text_ += std::string(2 * indent, ' ') + text + '\n';
  }

  std::string show(const Expression& expression, Level least = kChoice) const {
    const ExpressionNames names{&program_.parameters, &program_.tables, &variables_};
    return ExpressionPrinter(names).at(expression, least);
  }

  void declarations() {
    line(0,
         fmt::format("algorithm {} for {}{}", program_.algorithm.text, name_of(program_.collective),
                     program_.groups == 2 ? " between groups" : ""));
    if (program_.port.kind != PortKind::kNone && program_.port.kind != PortKind::kParameter)
      line(0, fmt::format("port {} per {}",
                          program_.port.kind == PortKind::kExchange ? "exchange" : "one+one",
                          program_.port.per == PortScope::kNode ? "node" : "rank"));
    if (program_.in_place) line(0, "in_place");
    if (program_.commutative) line(0, "commutative");
    if (program_.canonical) line(0, "sums canonical");
    if (program_.window > 0) line(0, fmt::format("window {}", program_.window));
    for (const Parameter& parameter : program_.parameters)
      line(0,
           fmt::format("parameter {}{}{}", parameter.name.text, parameter.at_call ? " at call" : "",
                       parameter.over_trees ? " over trees" : ""));
    if (program_.port.kind == PortKind::kParameter)
      line(0, fmt::format("port {0}+{0} per node", program_.parameters[0].name.text));
    for (const Table& table : program_.tables) line(0, "table " + this->table(table));
    for (const Expression& requirement : program_.requirements)
      line(0, "require " + show(requirement));
    if (program_.temporary_blocks != constant(0))
      line(0, fmt::format("temporary {} blocks", show(program_.temporary_blocks)));
  }

  std::string table(const Table& table) {
    const std::string& name = table.name.text;
    const auto source = [&] { return program_.tables[table.source].name.text; };
    switch (table.kind) {
      case TableKind::kNodes: return name + " = nodes";
      case TableKind::kRemoteNodes: return name + " = remote_nodes";
      case TableKind::kCounts: return name + " = counts";
      case TableKind::kRemoteCounts: return name + " = remote_counts";
      case TableKind::kPrefix: return fmt::format("{} = prefix({})", name, source());
      case TableKind::kDistinct: return fmt::format("{} = distinct({})", name, source());
      case TableKind::kGreatest: return fmt::format("{} = greatest({})", name, source());
      case TableKind::kLiteral: return fmt::format("{} = {}", name, fmt::join(table.entries, ", "));
      case TableKind::kPowers:
        return fmt::format("{} = powers({}, {})", name, show(table.first), show(table.second));
      case TableKind::kMap: break;
    }
    const std::string length = show(table.first, kSum);
    variables_.push_back(table.index.text);
    std::string text =
        fmt::format("{}[{} in 0 .. {}] = {}", name, table.index.text, length, show(table.second));
    variables_.pop_back();
    return text;
  }

  void body(const Body& statements, int indent) {
    const size_t scope = variables_.size();
    for (const Statement& statement : statements)
      std::visit([&](const auto& kind) { this->statement(kind, indent); }, statement.kind);
    variables_.resize(scope);
  }

  // Declares a variable under its own name, or with a suffix if an outer one or a parameter has that name.
  const std::string& declare(const Name& name) {
    std::string text = name.text;
    const auto is_taken = [&](const Parameter& one) { return one.name.text == text; };
    while (std::find(variables_.begin(), variables_.end(), text) != variables_.end() ||
           std::any_of(program_.parameters.begin(), program_.parameters.end(), is_taken))
      text += '_';
    variables_.push_back(text);
    return variables_.back();
  }

  void statement(const Let& let, int indent) {
    const std::string value = show(let.value);
    line(indent, fmt::format("let {} = {}", declare(let.name), value));
  }

  void statement(const For& loop, int indent) {
    const std::string low = show(loop.low, kSum), high = show(loop.high, kSum);
    line(indent, fmt::format("for {} in {} .. {}", declare(loop.name), low, high));
    body(loop.body, indent + 1);
    variables_.pop_back();
  }

  void statement(const If& choice, int indent) {
    line(indent, "if " + show(choice.condition));
    body(choice.then, indent + 1);
    if (choice.otherwise.empty()) return;
    line(indent, "else");
    body(choice.otherwise, indent + 1);
  }

  void statement(const Step& step, int indent) {
    line(indent, "step " + show(step.key) + (step.after ? " after " + show(*step.after) : ""));
    body(step.body, indent + 1);
  }

  void statement(const Message& message, int indent) {
    const bool send = message.direction == Direction::kSend;
    std::string text = send ? "send " : "receive ";
    if (message.sized) text += "sized ";
    if (message.combine) text += side(*message.combine);
    const Transfer* single =
        message.pieces.size() == 1 ? std::get_if<Transfer>(&message.pieces[0].kind) : nullptr;
    if (single) text += piece(single->piece) + " ";
    if (message.pieces.empty()) text += "nothing ";
    text += send ? "to " : "from ";
    if (message.remote) text += "remote ";
    line(indent, text + show(message.peer));
    if (!single) body(message.pieces, indent + 1);
  }

  void statement(const Transfer& transfer, int indent) { line(indent, piece(transfer.piece)); }

  void statement(const Copy& copy, int indent) {
    line(indent, fmt::format("copy {} to {}", piece(copy.from), piece(copy.to)));
  }

  void statement(const Reduce& reduce, int indent) {
    line(indent, fmt::format("reduce {}{} into {}", side(reduce.side), piece(reduce.from),
                             piece(reduce.into)));
  }

  static const char* side(Side side) { return side == Side::kLeft ? "left " : "right "; }

  std::string piece(const Piece& piece) const {
    static constexpr const char* kBuffers[] = {"send", "recv", "temp"};
    std::string text =
        fmt::format("{}[{}]", kBuffers[static_cast<int>(piece.buffer)], show(piece.block));
    if (piece.range)
      text += fmt::format("@{}..{}", show(piece.range->low, kSum), show(piece.range->high, kSum));
    return text;
  }

  const Program& program_;
  std::vector<std::string> variables_;
  std::string text_;
};

}  // namespace

std::string print(const Program& program) { return ProgramPrinter(program).run(); }

std::string print(const Expression& expression, const ExpressionNames& names) {
  return ExpressionPrinter(names).at(expression, kChoice);
}

}  // namespace quadrille
