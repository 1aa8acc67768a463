// Fills the tables in the order of their definition, then checks the requirements. Every error is bad input. Tested by
// tests/schedule/binding_test.cc.
#include "schedule/binding.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "schedule/any_nodes.h"
#include "schedule/text.h"
#include "schedule/traverse.h"
#include "schedule/walk.h"

namespace quadrille {

namespace {

struct Named {
  int64_t rule;
  std::string_view name;
};
constexpr std::array<Named, 3> kNamed = {
    {{kRuleLeast, "min"}, {kRuleModel, "model"}, {kRuleAuto, "auto"}}};

}  // namespace

std::string rule_text(int64_t rule) {
  for (const Named& named : kNamed)
    if (rule == named.rule) return std::string(named.name);
  if (rule < kRuleAuto) return fmt::format("min:{}", kRuleAuto - rule);
  return rule == kRuleNone ? "none" : std::to_string(rule);
}

std::optional<int64_t> rule_named(const std::string& text) {
  for (const Named& named : kNamed)
    if (text == named.name) return named.rule;
  return std::nullopt;
}

namespace {

bool mentions_parameter(const Expression& expression, int64_t parameter) {
  return any_part(expression, [=](const Expression& e) {
    return e.op == Operator::kParameter && e.value == parameter;
  });
}

// Returns, by table, whether it must ascend: because the program searches it or takes its distinct entries.
std::vector<bool> located_tables(const Program& program) {
  std::vector<bool> located(program.tables.size());
  for (const Table& table : program.tables)
    if (table.kind == TableKind::kDistinct) located[table.source] = true;
  for_each_expression_of_program(program, [&](const Expression& whole) {
    any_part(whole, [&](const Expression& e) {
      if (e.op == Operator::kLocate) located[e.value] = true;
      return false;
    });
  });
  return located;
}

class Binder {
 public:
  Binder(const Program& program, const Job& job, const Call& call, int64_t group)
      : program_(program), job_(job), call_(call), group_(group) {}

  Result<Binding> run() {
    start();
    if (rooted(program_.collective) && (call_.root < 0 || call_.root >= job_.groups[0].ranks()))
      fail(fmt::format("there is no rank {} to be the root; give one of 0 to {} with --root",
                       call_.root, job_.groups[0].ranks() - 1));
    if (!call_.counts.empty())
      for (int64_t each = 0; each < program_.groups; ++each) counts(each);
    require_after(0);
    for (size_t i = 0; i < program_.tables.size() && error_.empty(); ++i) {
      bind_table(program_.tables[i], i);
      require_after(static_cast<int64_t>(i) + 1);
    }
    bind_temporary();
    bind_iterations();
    if (!error_.empty()) return Error{error_};
    return std::move(binding_);
  }

  // Returns, by table, the entries of those that do not depend on the call. Stops at the first error.
  std::vector<std::optional<Entries>> fixed_tables(const std::vector<bool>& of_call) {
    start();
    std::vector<std::optional<Entries>> fixed(program_.tables.size());
    for (size_t i = 0; i < fixed.size() && error_.empty(); ++i) {
      if (of_call[i]) {
        binding_.tables.emplace_back(std::vector<int64_t>());
        continue;
      }
      bind_table(program_.tables[i], i);
      if (error_.empty()) fixed[i] = binding_.tables[i];
    }
    return fixed;
  }

  // True if run() failed because a requirement does not hold.
  bool is_refused() const { return is_refused_; }

 private:
  void start() {
    check(static_cast<int>(job_.groups.size()) == program_.groups,
          "a job has one topology a group");
    binding_.place.ranks = job_.groups[group_].ranks();
    if (program_.groups == 2) binding_.place.remote_ranks = job_.groups[1 - group_].ranks();
    binding_.place.group = group_;
    binding_.place.root = call_.root;
    located_ = located_tables(program_);
    bind_parameters();
  }

  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  void bind_parameters() {
    size_t at_call = 0;
    for (size_t i = 0; i < program_.parameters.size(); ++i) {
      const Parameter& parameter = program_.parameters[i];
      const std::vector<int64_t>& source = parameter.at_call ? call_.parameters : job_.parameters;
      const size_t index = parameter.at_call ? at_call++ : i;
      if (index >= source.size())
        return fail(fmt::format("parameter '{}' has no value; give it with --parameter {}=N",
                                parameter.name.text, parameter.name.text));
      const int64_t value = source[index];
      if (value < -kMaxParameter || value > kMaxParameter)
        return fail(fmt::format("{} = {}; a parameter is between {} and {}", parameter.name.text,
                                value, -kMaxParameter, kMaxParameter));
      binding_.parameters.push_back(value);
    }
  }

  int64_t value(const Formula& formula, const std::string& what,
                std::span<const int64_t> variables = {}) {
    Undefined why = Undefined::kNone;
    const auto result = formula.value(binding_, variables, &why);
    if (!result) fail(fmt::format("{} is undefined: {}", what, describe(why)));
    return result.value_or(0);
  }

  void bind_table(const Table& table, size_t index) {
    if (!job_.fixed_tables.empty() && job_.fixed_tables[group_][index])
      return binding_.tables.push_back(*job_.fixed_tables[group_][index]);
    std::vector<int64_t> entries = fill(table);
    if (located_[index] && !std::is_sorted(entries.begin(), entries.end()))
      fail(fmt::format("table '{}' is searched but not ascending", table.name.text));
    binding_.tables.emplace_back(std::move(entries));
  }

  std::vector<int64_t> fill(const Table& table) {
    if (has_source(table.kind) &&
        refuse_long(table, static_cast<int64_t>(binding_.tables[table.source].size()) + 1))
      return {};
    switch (table.kind) {
      case TableKind::kNodes: return job_.groups[group_].sizes();
      case TableKind::kRemoteNodes: return job_.groups[1 - group_].sizes();
      case TableKind::kCounts: return counts(group_);
      case TableKind::kRemoteCounts: return counts(1 - group_);
      case TableKind::kPrefix: return prefix(binding_.tables[table.source], table);
      case TableKind::kDistinct: return distinct(binding_.tables[table.source], table);
      case TableKind::kGreatest: return greatest(binding_.tables[table.source]);
      case TableKind::kLiteral: return table.entries;
      case TableKind::kPowers: return powers(table);
      case TableKind::kMap: return map(table);
    }
    return {};
  }

  std::vector<int64_t> counts(int64_t group) {
    const int64_t ranks = job_.groups[group].ranks();
    const bool is_given = group < static_cast<int64_t>(call_.counts.size());
    const size_t given = is_given ? call_.counts[group].size() : 0;
    if (static_cast<int64_t>(given) != ranks) {
      fail(given == 0
               ? fmt::format("the program needs {} counts for group {}; give them with --counts",
                             ranks, group)
               : fmt::format("{} given for group {}, whose ranks are {}; give one a rank with "
                             "--counts, as in {}x1024",
                             given == 1 ? "1 count is" : fmt::format("{} counts are", given), group,
                             ranks, ranks));
      return {};
    }
    for (const int64_t count : call_.counts[group])
      if (count < 0 || count > kMaxCount)
        fail(fmt::format("a count of {}; counts are {}", count,
                         count < 0 ? "0 or more" : fmt::format("{} at the most", kMaxCount)));
      else if (has_one_count(program_.collective) && count != call_.counts[0][0])
        fail(fmt::format("counts of {} and {}; of {} all ranks have one count: give each the same",
                         call_.counts[0][0], count, name_of(program_.collective)));
    return call_.counts[group];
  }

  std::vector<int64_t> prefix(const std::vector<int64_t>& source, const Table& table) {
    std::vector<int64_t> sums = {0};
    sums.reserve(source.size() + 1);
    int64_t sum = 0;
    for (const int64_t entry : source) {
      if (__builtin_add_overflow(sum, entry, &sum))
        fail(fmt::format("table '{}' overflows", table.name.text));
      sums.push_back(sum);
    }
    return sums;
  }

  // Fails if a table or the temporary blocks have too many entries, or fewer than 0. Returns whether anything failed.
  bool refuse_many(int64_t declared, const std::string& what) {
    const int64_t ranks = binding_.place.ranks + binding_.place.remote_ranks;
    if (declared < 0 || declared > most_entries(ranks))
      fail(fmt::format("{} {}; between 0 and {} are allowed on {}", declared, what,
                       most_entries(ranks), ranks_text(ranks)));
    return !error_.empty();
  }
  bool refuse_long(const Table& table, int64_t length) {
    return refuse_many(length, fmt::format("entries of table '{}'", table.name.text));
  }

  std::vector<int64_t> greatest(const std::vector<int64_t>& source) {
    std::vector<int64_t> values = {0};
    for (const int64_t entry : source) values.push_back(std::max(values.back(), entry));
    return values;
  }

  std::vector<int64_t> distinct(const std::vector<int64_t>& source, const Table& table) {
    if (!source.empty() && source[0] < 1)
      fail(fmt::format("table '{}': distinct() wants entries of at least 1", table.name.text));
    std::vector<int64_t> values = {0};
    for (const int64_t entry : source)
      if (entry != values.back()) values.push_back(entry);
    return values;
  }

  std::vector<int64_t> powers(const Table& table) {
    const int64_t radix = value({table.first, 0}, "a radix");
    const int64_t limit = value({table.second, 0}, "a limit");
    if (radix < 2)
      fail(fmt::format("table '{}': a radix of {}; it is at least 2", table.name.text, radix));
    std::vector<int64_t> entries = {1};
    while (error_.empty() && entries.back() < limit) {
      int64_t next = 0;
      if (__builtin_mul_overflow(entries.back(), radix, &next))
        fail(fmt::format("table '{}' overflows", table.name.text));
      entries.push_back(next);
    }
    return entries;
  }

  std::vector<int64_t> map(const Table& table) {
    const int64_t length = value({table.first, 0}, "a table's length");
    std::vector<int64_t> entries;
    refuse_long(table, length);
    const Formula entry(table.second, 1);
    for (int64_t i = 0; i < length && error_.empty(); ++i)
      entries.push_back(value(entry, fmt::format("{}[{}]", table.name.text, i), {&i, 1}));
    return entries;
  }

  void require_after(int64_t tables) {
    for (const Expression& requirement : program_.requirements)
      if (tables_before(requirement) == tables) require(requirement);
  }

  void require(const Expression& requirement) {
    if (!error_.empty()) return;
    Undefined why = Undefined::kNone;
    const std::optional<int64_t> holds = Formula(requirement, 0).value(binding_, {}, &why);
    if (holds == 1) return;
    const std::vector<std::string> no_variables;
    std::string where = ranks_text(binding_.place.ranks);
    for (size_t i = 0; i < program_.parameters.size(); ++i)
      if (mentions_parameter(requirement, i))
        where +=
            fmt::format(" and {} = {}", program_.parameters[i].name.text, binding_.parameters[i]);
    if (uses_counts(program_) && tables_before(requirement) > 0) where += " and these counts";
    is_refused_ = holds.has_value();
    fail(fmt::format("{} requires {}, which {} for {}{}", program_.algorithm.text,
                     print(requirement, {&program_.parameters, &program_.tables, &no_variables}),
                     holds ? "does not hold" : "is undefined", where,
                     holds ? "" : fmt::format(": {}", describe(why))));
  }

  void bind_temporary() {
    if (!error_.empty()) return;
    binding_.temporary_blocks =
        value({program_.temporary_blocks, 0}, "the number of temporary blocks");
    refuse_many(binding_.temporary_blocks, "temporary blocks");
  }

  // Sets the limit of loop iterations. It is the same on all ranks of both groups.
  void bind_iterations() {
    if (!error_.empty()) return;
    int64_t bytes = 0, ranks = 0, nodes = 0;
    for (int64_t each = 0; each < program_.groups; ++each) {
      ranks += job_.groups[each].ranks();
      nodes += job_.groups[each].nodes();
      if (!uses_counts(program_)) continue;
      for (const int64_t count : counts(each)) bytes += count;
    }
    binding_.most_iterations =
        kMaxIterations + kMaxIterationsARankAndNode * ranks * nodes + kMaxIterationsAByte * bytes;
  }

  const Program& program_;
  const Job& job_;
  const Call& call_;
  const int64_t group_;
  Binding binding_;
  std::vector<bool> located_;
  bool is_refused_ = false;
  std::string error_;
};

// Returns whether an expression depends on the call. `tables` is tables_of_call() of the program.
bool is_of_call(const Program& program, const Expression& expression,
                const std::vector<bool>& tables) {
  return any_part(expression, [&](const Expression& e) {
    return e.op == Operator::kRoot || (reads_table(e.op) && tables[e.value]) ||
           (e.op == Operator::kParameter && program.parameters[e.value].at_call);
  });
}

// Returns, by table, whether its entries depend on the root, the counts or a parameter of the call.
std::vector<bool> tables_of_call(const Program& program) {
  std::vector<bool> all;
  for (const Table& table : program.tables)
    all.push_back(is_counts(table.kind) || (has_source(table.kind) && all[table.source]) ||
                  is_of_call(program, table.first, all) || is_of_call(program, table.second, all));
  return all;
}

bool has_table(const Program& program, TableKind kind, TableKind remote) {
  return std::any_of(program.tables.begin(), program.tables.end(), [&](const Table& table) {
    return table.kind == kind || table.kind == remote;
  });
}

}  // namespace

int64_t tables_before(const Expression& requirement) {
  int64_t tables = 0;
  any_part(requirement, [&](const Expression& e) {
    if (reads_table(e.op)) tables = std::max(tables, e.value + 1);
    return false;
  });
  return tables;
}

Program before_the_call(Program program) {
  const std::vector<bool> of_call = tables_of_call(program);
  std::erase_if(program.requirements, [&](const Expression& requirement) {
    return is_of_call(program, requirement, of_call);
  });
  if (is_of_call(program, program.temporary_blocks, of_call))
    program.temporary_blocks = constant(0);
  for (size_t i = 0; i < of_call.size(); ++i)
    if (of_call[i]) program.tables[i].kind = TableKind::kLiteral;  // without entries
  return program;
}

Job with_fixed_tables(const Program& program, Job job) {
  const std::vector<bool> of_call = tables_of_call(program);
  const Call call = plain_call(program, job);
  job.fixed_tables.clear();
  std::vector<std::vector<std::optional<Entries>>> fixed;
  for (int64_t group = 0; group < program.groups; ++group)
    fixed.push_back(Binder(program, job, call, group).fixed_tables(of_call));
  job.fixed_tables = std::move(fixed);
  return job;
}

Result<Binding> bind(const Program& program, const Job& job, const Call& call, int64_t group) {
  return Binder(program, job, call, group).run();
}

bool takes(const Program& program, const Job& job, const Call& call) {
  for (int64_t group = 0; group < program.groups; ++group) {
    Binder binder(program, job, call, group);
    if (!binder.run().ok() && binder.is_refused()) return false;
  }
  return true;
}

bool takes_some_call(const Program& program, const Job& job) {
  const Program known = before_the_call(program);
  return takes(known, job, plain_call(known, job));
}

std::string parameter_text(const Program& program, const Job& job, size_t index) {
  const Parameter& parameter = program.parameters[index];
  const int64_t value = job.parameters[index];
  if (!parameter.at_call && serves_any_nodes(job))
    return fmt::format("{} = {}", parameter.name.text, formula_text(program, job.formulas[index]));
  if (!parameter.at_call) return fmt::format("{} = {}", parameter.name.text, value);
  if (value == kRuleNone) return fmt::format("{} is given at the call", parameter.name.text);
  std::string text =
      fmt::format("{} is chosen at the call: {}", parameter.name.text, rule_text(value));
  if (!uses_model(value) || index >= job.models.size()) return text;
  const LinearModel& model = job.models[index];
  return text + fmt::format(", alpha {} ns, beta {} ps", model.alpha_ns, model.beta_ps);
}

bool uses_nodes(const Program& program) {
  return has_table(program, TableKind::kNodes, TableKind::kRemoteNodes);
}

bool uses_counts(const Program& program) {
  return has_table(program, TableKind::kCounts, TableKind::kRemoteCounts);
}

bool has_overlapping_steps(const Program& program) {
  bool overlapping = false;
  for_each_statement(program.body, [&](const Statement& statement) {
    const auto* step = std::get_if<Step>(&statement.kind);
    overlapping |= step && step->after;
  });
  return overlapping;
}

bool names_parts_of_blocks(const Program& program) {
  bool found = false;
  for_each_statement(program.body, [&](const Statement& statement) {
    if (const auto* transfer = std::get_if<Transfer>(&statement.kind))
      found |= transfer->piece.range.has_value();
    if (const auto* copy = std::get_if<Copy>(&statement.kind))
      found |= copy->from.range || copy->to.range;
    if (const auto* reduce = std::get_if<Reduce>(&statement.kind))
      found |= reduce->from.range || reduce->into.range;
  });
  return found;
}

std::vector<std::vector<int64_t>> uneven_counts(const std::vector<Topology>& groups) {
  std::vector<std::vector<int64_t>> counts(groups.size());
  int64_t process = 0;
  const int64_t least = std::max<int64_t>(1000, ranks_of(groups));
  for (size_t group = 0; group < groups.size(); ++group)
    for (int64_t rank = 0; rank < groups[group].ranks(); ++rank, ++process) {
      const int64_t times = (5 * process + 3) % 8;
      const int64_t count = (times > 0 ? times : 8) * least + process / 8;
      counts[group].push_back(process == 1 ? 0 : count);
    }
  return counts;
}

Call plain_call(const Program& program, const Job& job) {
  Call call;
  if (uses_counts(program))
    for (const Topology& topology : job.groups) call.counts.emplace_back(topology.ranks(), 1);
  for (const Parameter& parameter : program.parameters)
    if (parameter.at_call) call.parameters.push_back(1);
  return call;
}

}  // namespace quadrille
