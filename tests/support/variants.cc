// Radices of the file take all values up to the number of ranks. Other numbers take their least value and the initial
// one. Parameters of a call take few values, since the tests of calls choose their own.
#include "tests/support/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/formulas.h"
#include "tests/support/topologies.h"

namespace quadrille {

const std::vector<Variant>& variants() {
  static const std::vector<Variant> kAll = [] {
    std::vector<Variant> all;
    for (const Algorithm& algorithm : algorithms())
      for (const Choices& choices : all_choices(algorithm))
        all.push_back(
            {&algorithm, choices, full_name(algorithm, choices), make_program(algorithm, choices)});
    return all;
  }();
  return kAll;
}

std::vector<Variant> variants_of(Collective collective, int groups) {
  std::vector<Variant> some;
  for (const Variant& variant : variants())
    if (variant.program.collective == collective && variant.program.groups == groups)
      some.push_back(variant);
  return some;
}

const Variant& variant_named(Collective collective, const std::string& name, int groups) {
  for (const Variant& variant : variants())
    if (variant.program.collective == collective && variant.program.groups == groups &&
        variant.name == name)
      return variant;
  check(false, ("there is no algorithm " + name).c_str());
  std::abort();
}

namespace {

std::vector<Job> jobs_beside(const Topology& first) {
  std::vector<Job> jobs;
  for (const std::vector<int64_t>& others : {std::vector<int64_t>{1}, {1, 2}, {4}})
    jobs.push_back({{first, topology_of(others)}, {}});
  return jobs;
}

bool binds(const Program& program, const Job& job, const Call& call) {
  for (int64_t group = 0; group < program.groups; ++group)
    if (!bind(program, job, call, group).ok()) return false;
  return true;
}

}  // namespace

std::vector<Job> jobs_on(const Variant& variant, const std::vector<int64_t>& sizes) {
  std::vector<Job> jobs = {job_of(sizes)};
  if (variant.program.groups == 2) jobs = jobs_beside(jobs[0].groups[0]);
  const int64_t ranks = jobs[0].groups[0].ranks();
  for (const Parameter& parameter : variant.program.parameters) {
    const auto number =
        std::ranges::find(variant.algorithm->numbers, parameter.name.text, &Number::name);
    std::vector<int64_t> values = {kRuleNone};
    if (number != variant.algorithm->numbers.end()) {
      values = {number->least()};
      if (number->kind == NumberKind::kRadix)
        while (values.back() < ranks) values.push_back(values.back() + 1);
      else
        values.push_back(std::max(number->initial, number->least() + 1));
    }
    std::vector<Job> longer;
    for (const Job& job : jobs)
      for (const int64_t value : values) {
        longer.push_back(job);
        longer.back().parameters.push_back(value);
        longer.back().models.emplace_back();
      }
    jobs = std::move(longer);
  }
  std::erase_if(jobs, [&](const Job& job) {
    return !binds(variant.program, job, plain_call(variant.program, job));
  });
  return jobs;
}

Job job_for_any_nodes(const Variant& variant, const std::string& text) {
  Job job = job_for_any(*variant.algorithm, variant.program);
  for (const Parameter& parameter : variant.program.parameters) {
    job.parameters.push_back(parameter.at_call ? int64_t{kRuleLeast} : 0);
    job.models.emplace_back();
    job.formulas.emplace_back();
    for (const Number& number : variant.algorithm->numbers) {
      if (number.name != parameter.name.text) continue;
      std::string given = text == "sqrt" && number.kind != NumberKind::kRadix ? "ranks" : text;
      if (variant.program.groups == 2 && given.find_first_not_of("0123456789") != std::string::npos)
        given = "";
      job.formulas.back() = read_formula(number, given, variant.program).value();
    }
  }
  return job;
}

Case case_of(const Variant& variant, const Job& job, const std::vector<int64_t>& counts,
             int64_t block) {
  Case result{job, plain_call(variant.program, job), ""};
  for (int64_t& parameter : result.call.parameters) parameter = block;
  for (size_t group = 0; group < result.call.counts.size(); ++group)
    for (size_t i = 0; i < result.call.counts[group].size(); ++i)
      result.call.counts[group][i] = has_one_count(variant.program.collective)
                                         ? *std::ranges::max_element(counts)
                                         : counts[i % counts.size()];
  result.text = fmt::format("{} on {}", variant.name, job.groups[0].text());
  if (job.groups.size() == 2) result.text += " and " + job.groups[1].text();
  for (size_t i = 0; i < job.parameters.size(); ++i)
    if (!variant.program.parameters[i].at_call)
      result.text += fmt::format(", {}", job.parameters[i]);
  for (const std::vector<int64_t>& of_group : result.call.counts)
    result.text += fmt::format(", counts {}", fmt::join(of_group, " "));
  if (!result.call.parameters.empty()) result.text += fmt::format(", blocks of {}", block);
  return result;
}

std::vector<Case> cases_on(const Variant& variant, const std::vector<int64_t>& sizes) {
  std::vector<Case> cases;
  for (const Job& job : jobs_on(variant, sizes)) {
    const int64_t ranks = job.groups[0].ranks();
    std::vector<int64_t> regular(ranks, 2), gaps(ranks), spike(ranks);
    for (int64_t i = 0; i < ranks; ++i) gaps[i] = i % 2 ? 0 : 1 + i;
    spike[ranks / 2] = 5;
    if (!uses_counts(variant.program)) {
      cases.push_back(case_of(variant, job, {}, 1));
      continue;
    }
    for (const std::vector<int64_t>& counts : {regular, gaps, spike})
      for (const int64_t block : {1, 2}) {
        Case c = case_of(variant, job, counts, block);
        const bool has_blocks = !c.call.parameters.empty();
        if (binds(variant.program, c.job, c.call)) cases.push_back(std::move(c));
        if (!has_blocks) break;
      }
  }
  return cases;
}

}  // namespace quadrille
