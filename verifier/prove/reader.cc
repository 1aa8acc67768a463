// Proof lines into expressions.
#include "verifier/prove/reader.h"

#include <fmt/format.h>

#include "verifier/prove/axioms.h"

namespace quadrille::verifier {
namespace {

bool mentions_rank(const Expression& expression) {
  if (expression.op == Operator::kRank) return true;
  for (const Expression& operand : expression.operands)
    if (mentions_rank(operand)) return true;
  return false;
}

std::optional<Site::Kind> site_kind(const std::string& word) {
  if (word == "send") return Site::Kind::kSend;
  if (word == "receive") return Site::Kind::kReceive;
  if (word == "copy") return Site::Kind::kCopy;
  return std::nullopt;
}

}  // namespace

View view_of(const std::vector<std::string>& variables, const Names& names) { return {variables, names, true}; }

Expression implication(const std::vector<Expression>& given, const Expression& show) {
  Expression result = show;
  for (auto condition = given.rbegin(); condition != given.rend(); ++condition)
    result = apply(Operator::kChoose, {*condition, std::move(result), apply(Operator::kEqual, {constant(0), constant(0)})});
  return result;
}

Scope ProofLines::scope(const View& view) const {
  Scope scope;
  scope.name = [&view](const std::string& name) -> std::optional<Expression> {
    for (size_t i = 0; i < view.unknowns.size(); ++i)
      if (view.unknowns[i] == name) return variable(i);
    const auto found = view.names.find(name);
    return found == view.names.end() ? std::nullopt : std::optional(found->second);
  };
  scope.table = [this](const std::string& name) -> std::optional<int64_t> {
    for (size_t i = 0; i < proof_.program.tables.size(); ++i)
      if (proof_.program.tables[i].name.text == name) return i;
    return std::nullopt;
  };
  scope.call = [this](const std::string& name, std::vector<Expression> arguments) -> std::optional<Expression> {
    const auto own = defined_.find(name);
    if (own != defined_.end() && static_cast<int>(arguments.size()) == own->second.variables)
      return substitute(own->second.value, arguments, leaf(Operator::kRank));
    const auto found = anatomy_.definitions.find(name);
    if (found == anatomy_.definitions.end() || static_cast<int>(arguments.size()) != found->second.variables + 1)
      return std::nullopt;
    const Expression rank = arguments[0];
    arguments.erase(arguments.begin());
    return substitute(found->second.value, arguments, rank);
  };
  return scope;
}

Result<Expression> ProofLines::expression(const Line& line, const View& view, size_t skip_words) const {
  LineReader reader(line, proof_.source);
  for (size_t i = 0; i < skip_words; ++i) reader.take();
  Expression result = read_expression(reader, scope(view));
  if (!reader.failed()) reader.finish();
  if (!reader.failed() && !view.has_rank && mentions_rank(result)) reader.fail("'rank' means nothing here");
  if (reader.failed()) return reader.error();
  return result;
}

Result<Witness> ProofLines::witness(const Line& line, const View& view) const {
  LineReader reader(line, proof_.source);
  const Scope scope = this->scope(view);
  reader.expect("with");
  const std::string kind = reader.word("send, receive or copy");
  if (!site_kind(kind)) reader.fail(fmt::format("'{}' is not send, receive or copy", kind));
  Witness witness{site_kind(kind).value_or(Site::Kind::kSend), static_cast<int>(reader.take().number), {}, std::nullopt};
  if (reader.accept("where")) {
    do {
      const std::string name = reader.word("a loop variable");
      reader.expect("=");
      witness.values.emplace_back(name, read_expression(reader, scope));
    } while (!reader.failed() && reader.accept(","));
  }
  if (reader.accept("if")) witness.condition = read_expression(reader, scope);
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return reader.error();
  return witness;
}

Result<Lemma::Induction> ProofLines::induction(const Line& line, const View& view) const {
  LineReader reader(line, proof_.source);
  const Scope scope = this->scope(view);
  reader.expect("induction");
  const std::string name = reader.word("a variable");
  Lemma::Induction result{-1, {}, {}};
  for (size_t i = 0; i < view.unknowns.size(); ++i)
    if (view.unknowns[i] == name) result.variable = i;
  if (result.variable < 0) reader.fail(fmt::format("'{}' is not a variable of the lemma", name));
  reader.expect("from");
  result.low = read_sum(reader, scope);
  reader.expect("to");
  result.high = read_sum(reader, scope);
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return reader.error();
  return result;
}

std::optional<Expression> ProofLines::use(const Line& line, const View& view) const {
  LineReader reader(line, proof_.source);
  const Scope scope = this->scope(view);
  reader.expect("use");
  const std::string name = reader.word("an axiom or lemma");
  std::vector<AxiomArgument> arguments;
  reader.expect("(");
  while (!reader.failed() && !reader.accept(")")) {
    if (!arguments.empty()) reader.expect(",");
    const std::string& next = reader.peek(1).text;
    const auto table = next == "," || next == ")" ? scope.table(reader.peek().text) : std::nullopt;
    if (table) {
      reader.take();
      arguments.push_back({table, {}});
    } else {
      arguments.push_back({std::nullopt, read_expression(reader, scope)});
      if (!view.has_rank && mentions_rank(arguments.back().value)) reader.fail("'rank' means nothing here");
    }
  }
  if (!reader.failed()) reader.finish();
  if (reader.failed()) return std::nullopt;
  if (auto axiom = named_axiom(proof_.program, name, arguments)) return axiom;
  for (const Lemma& lemma : lemmas_) {
    if (lemma.name != name || lemma.variables != arguments.size()) continue;
    std::vector<Expression> values;
    for (const AxiomArgument& argument : arguments) values.push_back(argument.value);
    return instance(lemma, values);
  }
  return std::nullopt;
}

Expression ProofLines::instance(const Lemma& lemma, const std::vector<Expression>& arguments) {
  std::vector<Expression> given;
  const auto put_in = [&](const Expression& e) { return substitute(e, arguments, leaf(Operator::kRank)); };
  for (const Expression& condition : lemma.given) given.push_back(put_in(condition));
  if (lemma.induction) {
    const Expression& x = arguments[lemma.induction->variable];
    given.push_back(apply(Operator::kLessEqual, {put_in(lemma.induction->low), x}));
    given.push_back(apply(Operator::kLessEqual, {x, put_in(lemma.induction->high)}));
  }
  return implication(given, put_in(lemma.show));
}

}  // namespace quadrille::verifier
