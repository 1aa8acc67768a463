// Reads a proof's statements about sites: witnesses, and the spans that the collective does not tell (`carries`).
// Tested with the obligations (planner.cc).
#include <algorithm>
#include <set>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

std::vector<Expression> values_for(const Planner& p, const Site& site, const Witness& witness,
                                   const Line& line) {
  std::vector<Expression> values;
  for (const std::string& name : site.variables) {
    const auto value = std::find_if(witness.values.begin(), witness.values.end(),
                                    [&](const auto& v) { return v.first == name; });
    if (value == witness.values.end()) p.fail_line(line, fmt::format("no value for '{}'", name));
    values.push_back(value->second);
  }
  for (const auto& [name, value] : witness.values)
    if (std::find(site.variables.begin(), site.variables.end(), name) == site.variables.end())
      p.fail_line(line, fmt::format("{} has no loop variable '{}'", site_name(site), name));
  return values;
}

// Returns the program's only copy, in the form that `copies` has. Returns nothing if there are several copies, or the copy
// is in a loop.
WitnessChoices only_copy(const Planner& p) {
  const auto first = p.find_site(Site::Kind::kCopy, 1);
  if (!first || p.find_site(Site::Kind::kCopy, 2) || !p.sites[*first].variables.empty()) return {};
  return {{*first, {}, {}}};
}

// Reads a `contributors` line. Its ranks need not be consecutive, so the operator must commute.
Expression read_contributors(const Planner& p, const Site& site, const Line& line) {
  if (!p.program.commutative || !p.contract.reduces() || p.contract.scans() ||
      p.program.groups == 2)
    p.fail_line(line,
                "'contributors' is of reductions for operators that commute, other than scans, on "
                "one group");
  if (site.names.count(kContributor) > 0)
    p.fail_line(line, fmt::format("'{}' is a name that proofs keep for themselves", kContributor));
  View view = view_of(site);
  view.unknowns.emplace_back(kContributor);
  return p.condition(line, view);
}

// Checks that either all `carries` of a proof have `contributors`, or none.
void agree_on_contributors(Planner& p) {
  const auto is = [](bool by_condition) {
    return [=](const std::optional<Carried>& carried) {
      return carried && carried->contributors.has_value() == by_condition;
    };
  };
  p.by_conditions = std::any_of(p.carries.begin(), p.carries.end(), is(true));
  if (p.by_conditions && std::any_of(p.carries.begin(), p.carries.end(), is(false)))
    p.fail_proof("either every 'carries' has 'contributors', or none");
}

std::string wanted_lines(const Planner& p, const Carried& carried) {
  const bool may_be_many =
      !carried.contributors && (p.contract.reduces() || p.contract.is_barrier());
  return fmt::format("it wants '{}'{}{}",
                     carried.contributors ? "contributors CONDITION" : "source NUMBER",
                     p.contract.has_targets() ? " and 'target NUMBER'" : "",
                     may_be_many ? ", and may have 'number NUMBER'" : "");
}

Carried read_carries(const Planner& p, const Site& site) {
  Carried carried;
  const ProofStatement* statement = p.find("carries", site_name(site));
  if (!statement) p.fail_proof(fmt::format("the proof has no 'carries {}'", site_name(site)));
  std::set<std::string> seen;
  for (const Line& line : statement->lines) {
    const std::string& word = line.tokens[0].text;
    if (!seen.insert(word).second) p.fail_line(line, fmt::format("a second '{}'", word));
    if (word == "contributors") {
      carried.contributors = read_contributors(p, site, line);
      continue;
    }
    if (word == "remote") {
      carried.remote = p.program.groups == 2 && !p.contract.is_barrier() && line.tokens.size() == 1;
      if (!carried.remote)
        p.fail_line(line, "'remote' says of a program of two groups that the other contributes");
      p.lines.take_up(line);
      continue;
    }
    (word == "source"   ? carried.source
     : word == "number" ? carried.number
                        : carried.target) = p.number(line, view_of(site));
  }
  if (carried.contributors && seen.count("source") + seen.count("number") > 0)
    p.fail_at(*statement, "'contributors' is in place of 'source' and 'number'");
  if ((seen.count("source") == 0 && !carried.contributors) ||
      seen.count("target") != p.contract.has_targets() ||
      (seen.count("number") > 0 && !p.contract.reduces() && !p.contract.is_barrier()))
    p.fail_at(*statement, wanted_lines(p, carried));
  return carried;
}

}  // namespace

WitnessChoices Planner::choices(const ProofStatement* statement, const View& view) const {
  WitnessChoices result;
  if (!statement) return result;
  for (const Line& line : statement->lines) {
    if (!starts_with(line, "with")) continue;
    // After a witness without a condition, no other would ever apply.
    if (!result.empty() && !result.back().condition)
      fail_line(line, "only the last 'with' goes without an 'if'");
    const Witness witness = take(lines.witness(line, view));
    if (std::any_of(result.begin(), result.end(),
                    [&](const Choice& above) { return above.condition == witness.condition; }))
      fail_line(line, "a 'with' above has this condition, so this one never applies");
    const auto site = find_site(witness.kind, witness.number);
    if (!site) fail_line(line, "the program has no such site");
    result.push_back(
        {*site, values_for(*this, sites[*site], witness, line), witness.condition, &line});
  }
  return result;
}

void read_witnesses(Planner& p) {
  for (const Site& site : p.sites) {
    const std::string name = site_name(site);
    const auto read = [&](bool there, const char* kind, const View& view) {
      return there ? p.choices(p.find(kind, name), view) : WitnessChoices{};
    };
    p.matches.push_back(read(site.is_message(), "match", view_of(site)));
    if (site.is_message() && p.matches.back().empty())
      p.fail_proof(fmt::format("the proof has no 'match {}'", name));
    if (p.contract.has_lengths() && site.names.count(kByte) > 0)
      p.fail_proof(fmt::format("'{}' is a name that proofs keep for themselves", kByte));
    const View view = p.view_with_byte(site);
    p.held.push_back(read(site.from && site.from->buffer != Buffer::kSend, "held", view));
    p.base.push_back(read(site.combine.has_value(), "base", view));
    p.used.push_back(read(p.is_to_be_used(site), "used", view));
    if (p.is_to_be_used(site) && site.to->buffer == Buffer::kTemporary && p.used.back().empty())
      p.fail_proof(fmt::format("the proof has no 'used {}'", name));
    p.carries.emplace_back();
    if (p.is_carried(site)) p.carries.back() = read_carries(p, site);
  }
  agree_on_contributors(p);
  p.cover = p.choices(p.find("cover"), p.ends_view());
  if (p.cover.empty()) p.fail_proof("the proof has no 'cover'");
  if (!p.contract.has_own()) return;
  p.copies = p.choices(p.find("copies"), View{{}, {}, true});
  if (!p.find("copies")) p.copies = only_copy(p);
  if (p.copies.empty())
    p.fail_proof(p.find_site(Site::Kind::kCopy, 1)
                     ? "the proof has no 'copies'"
                     : "no copy of the program brings a rank its own block");
}

}  // namespace quadrille::verifier
