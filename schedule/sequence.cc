// Tested by tests/prove/sequence_test.cc.
#include "schedule/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schedule/traverse.h"

namespace quadrille {
namespace {

const Expression kRank = leaf(Operator::kRank);
const Expression kRanks = leaf(Operator::kRanks);

Expression plus(Expression a, Expression b) {
  if (a == constant(0)) return b;
  if (b == constant(0)) return a;
  return apply(Operator::kAdd, {std::move(a), std::move(b)});
}

Expression element(int64_t table, Expression index) {
  return apply(Operator::kElement, {std::move(index)}, table);
}

class Sequence {
 public:
  Result<Program> run(const Program& first, const Program& second) {
    const bool cuts = first.collective == Collective::kReduceScatter;
    if (first.groups != 1 || second.groups != 1 ||
        (!cuts && first.collective != Collective::kReduce) ||
        second.collective != (cuts ? Collective::kAllgather : Collective::kBroadcast))
      return Error{fmt::format(
          "only a reduce-scatter then an allgather, or a reduce then a broadcast, on one group, "
          "make a sequence; not {} then {}",
          purpose_of(first.collective, first.groups),
          purpose_of(second.collective, second.groups))};
    std::string& name = result_.algorithm.text;
    name = (first.algorithm.text + "-then-" + second.algorithm.text).substr(0, kMaxNameLength);
    name.resize(name.find_last_not_of("-+_") + 1);
    result_.collective = Collective::kAllreduce;
    if (first.port == second.port &&
        (first.port.kind != PortKind::kParameter || names(first)[1] == names(second)[1]))
      result_.port = first.port;
    if (first.window == second.window) result_.window = first.window;
    result_.commutative = first.commutative;
    result_.canonical = first.canonical;
    result_.temporary_blocks = constant(0);
    for (const Program& program : {first, second})
      for (const Parameter& parameter : program.parameters) names_.insert(parameter.name.text);
    if (cuts || knows_counts(first) || knows_counts(second))
      vector_ = element(declare("vector", TableKind::kCounts), constant(0));
    if (cuts) cut_vector();
    append(first);
    is_second_ = true;
    append(second);
    if (!error_.empty()) return Error{error_};
    const Result<bool> valid = validate(result_);
    if (!valid.ok()) return Error{fmt::format("the sequence has {}", valid.error().message)};
    return std::move(result_);
  }

 private:
  static bool knows_counts(const Program& program) {
    return std::ranges::any_of(program.tables,
                               [](const Table& table) { return is_counts(table.kind); });
  }

  int64_t declare(const char* name, TableKind kind) {
    Table& table = result_.tables.emplace_back();
    table.name.text = free_name(name, {});
    names_.insert(table.name.text);
    table.kind = kind;
    return static_cast<int64_t>(result_.tables.size() - 1);
  }

  // Declares where the slices begin, and how long they are.
  void cut_vector() {
    const Expression i = variable(0);
    cut_ = declare("cut", TableKind::kMap);
    Table& cut = result_.tables[cut_];
    cut.index.text = "i";
    cut.first = plus(kRanks, constant(1));
    cut.second = plus(apply(Operator::kMultiply, {i, apply(Operator::kDivide, {*vector_, kRanks})}),
                      apply(Operator::kMinimum, {i, apply(Operator::kModulo, {*vector_, kRanks})}));
    slices_ = declare("slice", TableKind::kMap);
    Table& slices = result_.tables[slices_];
    slices.index.text = "i";
    slices.first = kRanks;
    slices.second =
        apply(Operator::kSubtract, {element(cut_, plus(i, constant(1))), element(cut_, i)});
  }

  // Returns the name, or one like it that is neither taken nor the program's own.
  std::string free_name(const std::string& known, const std::set<std::string>& own) const {
    std::string name = known;
    for (int n = 2; names_.contains(name) || (name != known && own.contains(name)); ++n)
      name = fmt::format("{}_{}", known.substr(0, kMaxNameLength - 8), n);
    return name;
  }

  // Gives new names to those that are taken. Parameters keep theirs, and those of one name are one.
  void rename(Program& program) {
    std::vector<std::string> all = names(program);
    const std::set<std::string> own(all.begin(), all.end());
    for (size_t i = 1 + program.parameters.size(); i < all.size(); ++i)
      all[i] = free_name(all[i], own);
    set_names(program, all);
    names_.insert(all.begin() + 1, all.end());
  }

  void append(Program program) {
    rename(program);
    if (is_second_) drop_copies(program.body);
    parameter_.clear();
    table_.clear();
    may_send_nothing_ = vector_ && !knows_counts(program);
    for (const Parameter& parameter : program.parameters) add(parameter);
    for (const Table& table : program.tables) add(table);
    for (const Expression& one : program.requirements) {
      Expression requirement = moved(one, 0);
      if (std::ranges::find(result_.requirements, requirement) == result_.requirements.end())
        result_.requirements.push_back(std::move(requirement));
    }
    own_temporaries_ = result_.temporary_blocks;
    result_.temporary_blocks = plus(own_temporaries_, moved(program.temporary_blocks, 0));
    for_each_expression(program.body, [&](Expression& e) { e = moved(std::move(e), variables_); });
    for_each_statement(program.body, [&](Statement& statement) {
      if (auto* step = std::get_if<Step>(&statement.kind)) {
        if (is_second_) later(*step);
      } else if (auto* message = std::get_if<Message>(&statement.kind)) {
        move_pieces(message->pieces);
      } else if (auto* copy = std::get_if<Copy>(&statement.kind)) {
        move(copy->from);
        move(copy->to);
      } else if (auto* reduce = std::get_if<Reduce>(&statement.kind)) {
        move(reduce->from);
        move(reduce->into);
      }
    });
    for (Statement& statement : program.body) {
      variables_ += std::holds_alternative<Let>(statement.kind);
      result_.body.push_back(std::move(statement));
    }
  }

  void add(const Parameter& parameter) {
    size_t at = 0;
    while (at < result_.parameters.size() &&
           result_.parameters[at].name.text != parameter.name.text)
      ++at;
    if (at == result_.parameters.size())
      result_.parameters.push_back({parameter.name, parameter.at_call});
    else if (result_.parameters[at].at_call != parameter.at_call)
      error_ = fmt::format("parameter {} is given with each call in one of them alone",
                           parameter.name.text);
    parameter_.push_back(static_cast<int64_t>(at));
  }

  // Adds a table, unless there is an equal one.
  void add(Table table) {
    if (is_counts(table.kind) && slices_ >= 0) return table_.push_back(slices_);
    if (has_source(table.kind)) table.source = table_[table.source];
    table.first = moved(std::move(table.first), 0);
    table.second = moved(std::move(table.second), 0);
    const auto found = std::ranges::find(result_.tables, table);
    table_.push_back(found - result_.tables.begin());
    if (found == result_.tables.end()) result_.tables.push_back(std::move(table));
  }

  // Returns an expression as the sequence has it. Its variables have numbers that are `variables` greater.
  Expression moved(Expression e, int64_t variables) const {
    if (e.op == Operator::kVariable) e.value += variables;
    if (e.op == Operator::kParameter) e.value = parameter_[e.value];
    if (reads_table(e.op)) e.value = table_[e.value];
    if (e.op == Operator::kRoot) e = constant(0);
    for (Expression& operand : e.operands) operand = moved(std::move(operand), variables);
    return e;
  }

  // Puts a step after all steps of the first program, for which it waits.
  static void later(Step& step) {
    step.key = plus(constant(kSecond), std::move(step.key));
    if (step.after)
      step.after = plus(constant(kSecond),
                        apply(Operator::kMaximum, {constant(-1), std::move(*step.after)}));
  }

  // Names a piece of the vector, or a temporary block. Expressions of the piece are those of the sequence.
  void move(Piece& piece) const {
    if (piece.buffer == Buffer::kTemporary) {
      if (is_second_) piece.block = plus(own_temporaries_, std::move(piece.block));
      return;
    }
    // A block of the rank's own: what a reduce-scatter leaves, and what an allgather begins with.
    const bool is_own = piece.buffer == (is_second_ ? Buffer::kSend : Buffer::kReceive);
    if (slices_ >= 0) {
      const Expression slice = is_own ? kRank : piece.block;
      const Expression low = element(cut_, slice);
      if (piece.range)
        piece.range = {plus(low, piece.range->low), plus(low, piece.range->high)};
      else
        piece.range = {low, element(cut_, plus(slice, constant(1)))};
    }
    piece.block = constant(0);
    if (is_second_) piece.buffer = Buffer::kReceive;
  }

  // Moves the pieces of a message. A program that does not know the counts may send a whole block that is empty. The
  // sequence knows them, and sends none.
  void move_pieces(Body& body) {
    for (Statement& statement : body) {
      if (auto* choice = std::get_if<If>(&statement.kind)) {
        move_pieces(choice->then);
        move_pieces(choice->otherwise);
      } else if (auto* loop = std::get_if<For>(&statement.kind)) {
        move_pieces(loop->body);
      } else if (auto* transfer = std::get_if<Transfer>(&statement.kind)) {
        move(transfer->piece);
        if (!may_send_nothing_) continue;
        const std::optional<Range>& slice = transfer->piece.range;
        if (!slice && slices_ >= 0)
          error_ = fmt::format(
              "the {} program sends whole temporary blocks, which may be empty; declare 'table m = "
              "counts' there, and send none that is empty",
              is_second_ ? "second" : "first");
        statement = {If{apply(Operator::kLess,
                              {slice ? slice->low : constant(0), slice ? slice->high : *vector_}),
                        {statement},
                        {}}};
      }
    }
  }

  // Drops copies from the send buffer to the receive buffer, where the first program has left the data.
  static void drop_copies(Body& body) {
    for (Statement& statement : body) {
      if (auto* choice = std::get_if<If>(&statement.kind)) {
        drop_copies(choice->then);
        drop_copies(choice->otherwise);
      } else if (auto* loop = std::get_if<For>(&statement.kind)) {
        drop_copies(loop->body);
      }
    }
    std::erase_if(body, [](const Statement& statement) {
      const auto* copy = std::get_if<Copy>(&statement.kind);
      const auto* choice = std::get_if<If>(&statement.kind);
      return copy ? copy->from.buffer == Buffer::kSend && copy->to.buffer == Buffer::kReceive
                  : choice && choice->then.empty() && choice->otherwise.empty();
    });
  }

  Program result_;
  std::set<std::string> names_;     // that are taken
  int64_t cut_ = -1, slices_ = -1;  // tables; -1: the vector stays whole
  std::optional<Expression>
      vector_;  // its length, if a program knows the counts, or the vector is cut
  std::string error_;

  // Of the program that is being appended.
  bool is_second_ = false, may_send_nothing_ = false;
  std::vector<int64_t> parameter_, table_;  // their numbers in the sequence
  int64_t variables_ = 0;                   // of the first program that are in scope
  Expression own_temporaries_;              // the number of blocks of the first program
};

}  // namespace

Result<Program> sequence(const Program& first, const Program& second) {
  return Sequence().run(first, second);
}

}  // namespace quadrille
