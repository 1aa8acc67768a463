// Reads what a proof says about sites: witnesses, and the spans that the collective does not define. Tested with the
// obligations (planner.cc).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

std::vector<Choice> Planner::choices(const ProofStatement* statement, const View& view) {
  std::vector<Choice> result;
  if (!statement) return result;
  for (const Line& line : statement->lines) {
    if (!starts_with(line, "with")) continue;
    // A witness behind one that always applies would never apply.
    if (!result.empty() && !result.back().condition)
      fail_line(line, "only the last 'with' goes without an 'if'");
    const Witness witness = take(lines_.witness(line, view));
    const auto site = find_site(witness.kind, witness.number);
    if (!site) fail_line(line, "the program has no such site");
    if (!error_.empty()) return {};
    result.push_back({*site, values_for(anatomy_.sites[*site], witness, line), witness.condition});
  }
  return result;
}

std::vector<Expression> Planner::values_for(const Site& site, const Witness& witness,
                                            const Line& line) {
  std::vector<Expression> values;
  for (const std::string& name : site.variables) {
    const auto value = std::find_if(witness.values.begin(), witness.values.end(),
                                    [&](const auto& v) { return v.first == name; });
    if (value == witness.values.end())
      fail_line(line, fmt::format("no value for '{}'", name));
    else
      values.push_back(value->second);
  }
  for (const auto& [name, value] : witness.values)
    if (std::find(site.variables.begin(), site.variables.end(), name) == site.variables.end())
      fail_line(line, fmt::format("{} has no loop variable '{}'", site_name(site), name));
  return values;
}

void Planner::read_witnesses() {
  for (const Site& site : anatomy_.sites) {
    const std::string name = site_name(site);
    const auto read = [&](bool there, const char* kind, const View& view) {
      return there ? choices(find(kind, name), view) : std::vector<Choice>{};
    };
    matches_.push_back(read(site.is_message(), "match", view_of_site(site)));
    if (site.is_message() && matches_.back().empty())
      fail_proof(fmt::format("the proof has no 'match {}'", name));
    if (contract_.has_lengths() && site.names.count(kByte) > 0)
      fail_proof(fmt::format("'{}' is a name that proofs keep for themselves", kByte));
    const View view = view_with_byte(site);
    held_.push_back(read(site.from && site.from->buffer != Buffer::kSend, "held", view));
    base_.push_back(read(site.combine.has_value(), "base", view));
    used_.push_back(read(is_to_be_used(site), "used", view));
    if (is_to_be_used(site) && site.to->buffer == Buffer::kTemporary && used_.back().empty())
      fail_proof(fmt::format("the proof has no 'used {}'", name));
    carries_.emplace_back();
    if (is_carried(site)) carries_.back() = read_carries(site);
  }
  cover_ = choices(find("cover", ""), ends_view());
  if (cover_.empty()) fail_proof("the proof has no 'cover'");
  if (!contract_.has_own()) return;
  copies_ = choices(find("copies", ""), View{{}, {}, true});
  if (!find("copies", "")) copies_ = only_copy();
  if (copies_.empty())
    fail_proof(find_site(Site::Kind::kCopy, 1)
                   ? "the proof has no 'copies'"
                   : "no copy of the program brings a rank its own block");
}

// The only copy of the program, which needs no statement of the proof.
std::vector<Choice> Planner::only_copy() const {
  const auto first = find_site(Site::Kind::kCopy, 1);
  if (!first || find_site(Site::Kind::kCopy, 2) || !anatomy_.sites[*first].variables.empty())
    return {};
  return {{*first, {}, {}}};
}

bool Planner::is_carried(const Site& site) const {
  return (site.from || site.to) && (!constant_access(site) || contract_.is_barrier());
}

// If only messages access temporary blocks, and none is sent from the receive buffer, the pieces of an all-to-all are
// counted instead (obligations.h).
bool Planner::is_counted() const {
  return !contract_.has_lengths() &&
         std::all_of(anatomy_.sites.begin(), anatomy_.sites.end(), [](const Site& site) {
           const bool temporary = (site.from && site.from->buffer == Buffer::kTemporary) ||
                                  (site.to && site.to->buffer == Buffer::kTemporary);
           const bool sent_on = site.from && site.from->buffer == Buffer::kReceive;
           return site.is_message() ? !sent_on : !temporary && !sent_on;
         });
}

bool Planner::is_to_be_used(const Site& site) const {
  return site.to && !contract_.is_constant(site.to->buffer) && !is_counted();
}

Planner::Carried Planner::read_carries(const Site& site) {
  Carried carried;
  const ProofStatement* statement = find("carries", site_name(site));
  if (!statement) fail_proof(fmt::format("the proof has no 'carries {}'", site_name(site)));
  if (!error_.empty()) return carried;
  std::set<std::string> seen;
  for (const Line& line : statement->lines) {
    const std::string& word = line.tokens[0].text;
    if (!seen.insert(word).second) fail_line(line, fmt::format("a second '{}'", word));
    if (word == "remote") {
      carried.remote = program_.groups == 2 && !contract_.is_barrier() && line.tokens.size() == 1;
      if (!carried.remote)
        fail_line(line, "'remote' says of a program of two groups that the other contributes");
      continue;
    }
    (word == "source"   ? carried.source
     : word == "number" ? carried.number
                        : carried.target) =
        take(lines_.expression(line, view_of_site(site), ProofLines::Wanted::kNumber));
  }
  if (seen.count("source") == 0 || seen.count("target") != contract_.has_targets() ||
      (seen.count("number") > 0 && !contract_.reduces() && !contract_.is_barrier()))
    fail_at(
        *statement,
        fmt::format(
            "it wants 'source NUMBER'{}{}", contract_.has_targets() ? " and 'target NUMBER'" : "",
            contract_.reduces() || contract_.is_barrier() ? ", and may have 'number NUMBER'" : ""));
  return carried;
}

}  // namespace quadrille::verifier
