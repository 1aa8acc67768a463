// Turns a proof's lines into expressions. Tested by tests/prove/proof_test.cc.
#include "verifier/prove/reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace quadrille::verifier {
namespace {

// Whether the expression is a condition (else a number). Returns nullopt if it mixes conditions and numbers.
std::optional<bool> is_condition(const Expression& e) {
  std::vector<bool> conditions;
  for (const Expression& operand : e.operands) {
    const auto known = is_condition(operand);
    if (!known) return std::nullopt;
    conditions.push_back(*known);
  }
  if (e.op == Operator::kChoose) {
    if (!conditions[0] || conditions[1] != conditions[2]) return std::nullopt;
    return conditions[1];
  }
  const bool wanted = e.op == Operator::kAnd;
  for (const bool condition : conditions)
    if (condition != wanted) return std::nullopt;
  return wanted || is_comparison(e.op);
}

std::optional<Site::Kind> site_kind(const std::string& word) {
  if (word == "send") return Site::Kind::kSend;
  if (word == "receive") return Site::Kind::kReceive;
  if (word == "copy") return Site::Kind::kCopy;
  if (word == "reduce") return Site::Kind::kReduce;
  return std::nullopt;
}

}  // namespace

View view_of(const std::vector<std::string>& variables, const Names& names) {
  return {variables, names, true};
}

Expression implication(const std::vector<Expression>& given, const Expression& show) {
  Expression result = show;
  for (auto condition = given.rbegin(); condition != given.rend(); ++condition)
    result = apply(Operator::kChoose, {*condition, std::move(result),
                                       apply(Operator::kEqual, {constant(0), constant(0)})});
  return result;
}

Scope ProofLines::scope(const View& view) const {
  Scope scope;
  scope.name = [this, &view](const std::string& name) -> std::optional<Expression> {
    for (size_t i = 0; i < view.unknowns.size(); ++i)
      if (view.unknowns[i] == name) return variable(i);
    const auto found = view.names.find(name);
    if (found != view.names.end()) return found->second;
    for (size_t i = 0; i < proof_.program.parameters.size(); ++i)
      if (proof_.program.parameters[i].name.text == name) return leaf(Operator::kParameter, i);
    return std::nullopt;
  };
  scope.table = [this](const std::string& name) -> std::optional<int64_t> {
    for (size_t i = 0; i < proof_.program.tables.size(); ++i)
      if (proof_.program.tables[i].name.text == name) return i;
    return std::nullopt;
  };
  scope.call = [this](const std::string& name,
                      std::vector<Expression> arguments) -> std::optional<Expression> {
    const auto own = defined_.find(name);
    if (own != defined_.end() && static_cast<int>(arguments.size()) == own->second.variables)
      return put_in(own->second.value, arguments, leaf(Operator::kRank));
    const auto found = anatomy_.definitions.find(name);
    if (found == anatomy_.definitions.end() ||
        static_cast<int>(arguments.size()) != found->second.variables + 1)
      return std::nullopt;
    const Expression rank = arguments[0];
    arguments.erase(arguments.begin());
    return put_in(found->second.value, arguments, rank);
  };
  return scope;
}

// Substitutes the arguments. Sets too_large_, and returns 0, if the result would be too large.
Expression ProofLines::put_in(const Expression& expression,
                              const std::vector<Expression>& arguments,
                              const Expression& rank) const {
  too_large_ |= parts_after(expression, arguments, rank) > kMostParts;
  return too_large_ ? constant(0) : substitute(expression, arguments, rank);
}

// Reads an expression of the wanted type, and refuses any other.
Expression ProofLines::read(LineReader& reader, const View& view, Wanted wanted) const {
  too_large_ = false;
  const Scope scope = this->scope(view);
  const Expression result =
      wanted == Wanted::kBound ? read_sum(reader, scope) : read_expression(reader, scope);
  if (reader.failed()) return constant(0);
  const bool condition = wanted == Wanted::kCondition;
  if (too_large_ || parts(result) > kMostParts)
    reader.fail(fmt::format("an expression of more than {} parts", kMostParts));
  else if (is_condition(result) != std::optional(condition))
    reader.fail(condition ? "a condition is wanted" : "a number is wanted");
  else if (!view.has_rank && mentions_rank(result))
    reader.fail("'rank' means nothing here");
  return reader.failed() ? constant(0) : result;
}

Result<Expression> ProofLines::expression(const Line& line, const View& view, Wanted wanted) const {
  LineReader reader(line, proof_.source);
  reader.take();
  Expression result = read(reader, view, wanted);
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return reader.error();
  take_up(line);
  return result;
}

Result<Witness> ProofLines::witness(const Line& line, const View& view) const {
  LineReader reader(line, proof_.source);
  reader.expect("with");
  const std::string kind = reader.word("send, receive, copy or reduce");
  if (!site_kind(kind)) reader.fail(fmt::format("'{}' is not send, receive, copy or reduce", kind));
  Witness witness{
      site_kind(kind).value_or(Site::Kind::kSend), reader.peek().number, {}, std::nullopt};
  if (reader.take().kind != Token::Kind::kNumber) reader.fail("the number of the site is wanted");
  if (reader.accept("where")) {
    do {
      const std::string name = reader.word("a loop variable");
      if (std::any_of(witness.values.begin(), witness.values.end(),
                      [&](const auto& value) { return value.first == name; }))
        reader.fail(fmt::format("a second value for '{}'", name));
      reader.expect("=");
      witness.values.emplace_back(name, read(reader, view, Wanted::kNumber));
    } while (!reader.failed() && reader.accept(","));
  }
  if (reader.accept("if")) witness.condition = read(reader, view, Wanted::kCondition);
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return reader.error();
  take_up(line);
  return witness;
}

Result<Lemma::Induction> ProofLines::induction(const Line& line, const View& view) const {
  LineReader reader(line, proof_.source);
  reader.expect("induction");
  const std::string name = reader.word("a variable");
  Lemma::Induction result{-1, {}, {}};
  for (size_t i = 0; i < view.unknowns.size(); ++i)
    if (view.unknowns[i] == name) result.variable = i;
  if (result.variable < 0) reader.fail(fmt::format("'{}' is not a variable of the lemma", name));
  reader.expect("from");
  result.low = read(reader, view, Wanted::kBound);
  reader.expect("to");
  result.high = read(reader, view, Wanted::kBound);
  if (mentions_variable(result.low, result.variable) ||
      mentions_variable(result.high, result.variable))
    reader.fail("an end of the induction names its variable");
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return reader.error();
  take_up(line);
  return result;
}

// Reads "use NAME(arguments)" or "rewrite NAME(arguments)". Returns nullopt if it fails, such as on an unknown name.
std::optional<ProofLines::Call> ProofLines::call(const Line& line, const View& view) const {
  LineReader reader(line, proof_.source);
  too_large_ = false;
  const Scope scope = this->scope(view);
  reader.take();
  Call call{reader.word("an axiom or lemma"), {}};
  reader.expect("(");
  while (!reader.failed() && !reader.accept(")")) {
    if (!call.arguments.empty()) reader.expect(",");
    const std::string& next = reader.peek(1).text;
    const auto table = next == "," || next == ")" ? scope.table(reader.peek().text) : std::nullopt;
    if (table) {
      reader.take();
      call.arguments.push_back({table, {}});
    } else {
      call.arguments.push_back({std::nullopt, read(reader, view, Wanted::kNumber)});
    }
  }
  if (!reader.failed()) reader.finish();
  if (!reader.failed()) return call;
  leave_out(line, reader.error_column(), reader.error().message);
  return std::nullopt;
}

const Lemma* ProofLines::find_lemma(const Call& call) const {
  if (std::any_of(call.arguments.begin(), call.arguments.end(),
                  [](const AxiomArgument& argument) { return argument.table.has_value(); }))
    return nullptr;
  for (const Lemma& lemma : lemmas_)
    if (lemma.name == call.name && lemma.variables == call.arguments.size()) return &lemma;
  return nullptr;
}

std::optional<Expression> ProofLines::fact(const Line& line, const View& view) const {
  const std::optional<Call> call = this->call(line, view);
  const auto too_large = [&] {
    if (!too_large_use_) too_large_use_ = &line;
    return std::nullopt;
  };
  if (!call) return too_large_ ? too_large() : std::nullopt;
  if (auto axiom = named_axiom(proof_.program, call->name, call->arguments)) return axiom;
  const Lemma* lemma = find_lemma(*call);
  if (!lemma) {
    leave_out(
        line, line.end,
        fmt::format("{}:{}: there is no axiom and no lemma '{}' above that takes these arguments",
                    proof_.source, line.number, call->name));
    return std::nullopt;
  }
  const std::vector<Expression> values = values_of(*call);
  if (!fits(*lemma, values)) return too_large();
  return instance(*lemma, values);
}

void ProofLines::use(const Line& line, const View& view, std::vector<Expression>& facts) const {
  std::optional<Expression> fact = this->fact(line, view);
  if (!fact) return;
  if (std::find(facts.begin(), facts.end(), *fact) != facts.end())
    return leave_out(line, line.end + 1,
                     fmt::format("{}:{}: the lines above bring this fact already; remove the line",
                                 proof_.source, line.number));
  take_up(line);
  facts.push_back(*std::move(fact));
}

void ProofLines::leave_out(const Line& line, int column, const std::string& why) const {
  LeftOut& most = left_out_[&line];
  if (column > most.column) most = {column, why};
}

std::optional<std::string> ProofLines::why_left_out(const Line& line) const {
  const auto found = left_out_.find(&line);
  return found == left_out_.end() ? std::nullopt : std::optional(found->second.why);
}

std::optional<std::string> ProofLines::why_unused(const Line& line) const {
  if (taken_up_.count(&line) > 0) return std::nullopt;
  if (std::optional<std::string> why = why_left_out(line)) return why;
  return fmt::format("{}:{}: no obligation asks for this line; remove it", proof_.source,
                     line.number);
}

// Whether the lemma with these arguments has at most kMostParts parts in each condition.
bool ProofLines::fits(const Lemma& lemma, const std::vector<Expression>& arguments) {
  const auto small = [&](const Expression& e) {
    return parts_after(e, arguments, leaf(Operator::kRank)) <= kMostParts;
  };
  return small(lemma.show) && std::all_of(lemma.given.begin(), lemma.given.end(), small);
}

std::vector<Expression> ProofLines::values_of(const Call& call) {
  std::vector<Expression> values;
  for (const AxiomArgument& argument : call.arguments) values.push_back(argument.value);
  return values;
}

std::optional<ProofLines::Rewrite> ProofLines::rewrite(const Line& line, const View& view) const {
  const std::optional<Call> call = this->call(line, view);
  const Lemma* lemma = call ? find_lemma(*call) : nullptr;
  if (!lemma || lemma->induction || lemma->show.op != Operator::kEqual) return std::nullopt;
  const std::vector<Expression> values = values_of(*call);
  if (!fits(*lemma, values)) return std::nullopt;
  const auto put_in = [&](const Expression& e) {
    return substitute(e, values, leaf(Operator::kRank));
  };
  Rewrite result{{}, put_in(lemma->show.operands[0]), put_in(lemma->show.operands[1])};
  if (result.left.op != Operator::kElement && result.left.op != Operator::kLocate)
    return std::nullopt;
  for (const Expression& condition : lemma->given) result.given.push_back(put_in(condition));
  take_up(line);
  return result;
}

Expression ProofLines::instance(const Lemma& lemma, const std::vector<Expression>& arguments) {
  std::vector<Expression> given;
  const auto put_in = [&](const Expression& e) {
    return substitute(e, arguments, leaf(Operator::kRank));
  };
  for (const Expression& condition : lemma.given) given.push_back(put_in(condition));
  if (lemma.induction) {
    const Expression& x = arguments[lemma.induction->variable];
    given.push_back(apply(Operator::kLessEqual, {put_in(lemma.induction->low), x}));
    given.push_back(apply(Operator::kLessEqual, {x, put_in(lemma.induction->high)}));
  }
  return implication(given, put_in(lemma.show));
}

}  // namespace quadrille::verifier
