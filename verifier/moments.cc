// Walks each site by itself, loop by loop, then sorts the moments of a rank into the order of the program. Tested by
// tests/prove/skeleton_test.cc.
#include "verifier/moments.h"

#include <algorithm>
#include <tuple>

#include "schedule/binding.h"
#include "verifier/call.h"
#include "verifier/prove/contract.h"
#include "verifier/prove/refute.h"

namespace quadrille::verifier {
namespace {

constexpr size_t kMostMoments = 20'000;
constexpr int64_t kMostIterations = 200'000;  // of the loops around a statement

// Evaluates expressions, and compiles each once: it stands in one place, so its number of variables is fixed.
class Values {
 public:
  std::optional<int64_t> of(const Expression& expression, const Binding& binding,
                            const std::vector<int64_t>& variables) {
    auto found = compiled_.find(&expression);
    if (found == compiled_.end())
      found =
          compiled_.emplace(&expression, Formula(expression, static_cast<int>(variables.size())))
              .first;
    Undefined why = Undefined::kNone;
    return found->second.value(binding, variables, &why);
  }

 private:
  std::map<const Expression*, Formula> compiled_;
};

// Walks one site at one rank.
class SiteWalk {
 public:
  SiteWalk(const Program& program, const Anatomy& anatomy, const Site& site, const Binding& binding,
           const Call& call, Values& values, std::vector<Moment>& all)
      : program_(program),
        anatomy_(anatomy),
        site_(site),
        binding_(binding),
        call_(call),
        values_(values),
        all_(all) {}

  // Returns false if an expression has no value, or there are too many moments or iterations.
  bool run() { return walk(0); }

 private:
  bool walk(size_t element) {
    if (element == site_.path.size()) return add();
    const PathElement& here = site_.path[element];
    if (here.kind != PathElement::Kind::kLoop) {
      const auto holds = value(here.condition);
      if (!holds) return false;
      return (*holds != 0) != (here.kind == PathElement::Kind::kCondition) || walk(element + 1);
    }
    const auto low = value(here.low), high = value(here.high);
    if (!low || !high) return false;
    for (int64_t value = *low; value < *high; ++value) {
      if (++iterations_ > kMostIterations) return false;
      variables_.push_back(value);
      const bool goes_on = walk(element + 1);
      variables_.pop_back();
      if (!goes_on) return false;
    }
    return true;
  }

  bool add() {
    Moment moment;
    moment.site = &site_;
    moment.group = binding_.place.group;
    moment.rank = binding_.place.rank;
    moment.variables = variables_;
    if (site_.is_message()) {
      const auto peer = value(site_.peer), key = key_of(anatomy_.steps[site_.step]);
      if (!peer || !key) return false;
      moment.peer = *peer;
      moment.key = *key;
    }
    for (const auto& [access, bytes] :
         {std::pair(&site_.from, &moment.from), {&site_.to, &moment.to}})
      if (*access && !read(**access, bytes->emplace())) return false;
    // A whole temporary block is as long as what is copied to it.
    if (moment.from && moment.to && !site_.to->range && moment.to->high == INT64_MAX &&
        moment.from->high != INT64_MAX)
      moment.to->high = moment.from->high - moment.from->low;
    all_.push_back(std::move(moment));
    return all_.size() < kMostMoments;
  }

  std::optional<int64_t> value(const Expression& expression) {
    return values_.of(expression, binding_, variables_);
  }

  // Loops inside the step do not change its key.
  std::optional<int64_t> key_of(const StepSite& step) {
    const auto loops = static_cast<int64_t>(step.variables.size());
    return values_.of(step.key, binding_, {variables_.begin(), variables_.begin() + loops});
  }

  bool read(const Access& access, Bytes& bytes) {
    const auto block = value(access.block);
    if (!block) return false;
    bytes.buffer = access.buffer;
    bytes.block = *block;
    if (!access.range) {
      bytes.high = length_of(bytes);
      return true;
    }
    const auto low = value(access.range->low), high = value(access.range->high);
    if (!low || !high) return false;
    bytes.low = *low;
    bytes.high = *high;
    return true;
  }

  // Returns how long a whole block is. Without counts, it has any length, such as this.
  int64_t length_of(const Bytes& whole) const {
    constexpr int64_t kAnyLength = 3;
    const Contract contract(program_);
    if (call_.counts.empty() && contract.has_lengths() && !contract.is_barrier()) return kAnyLength;
    const int64_t own = binding_.place.group, other = contract.other(static_cast<int>(own));
    if (call_.counts.empty() || whole.buffer == Buffer::kTemporary) return INT64_MAX;
    const bool sends = whole.buffer == Buffer::kSend;
    const bool by_block = sends ? contract.has_targets() : contract.has_sources();
    const std::vector<int64_t>& counts = call_.counts[by_block || !sends ? other : own];
    const int64_t index = by_block                          ? whole.block
                          : sends || contract.has_targets() ? binding_.place.rank
                                                            : 0;
    return index >= 0 && index < static_cast<int64_t>(counts.size()) ? counts[index] : INT64_MAX;
  }

  const Program& program_;
  const Anatomy& anatomy_;
  const Site& site_;
  const Binding& binding_;
  const Call& call_;
  Values& values_;
  std::vector<Moment>& all_;
  std::vector<int64_t> variables_;
  int64_t iterations_ = 0;
};

// Returns the order within a step: sends read first, then copies and reductions run, then receives write.
int phase(const Site& site) {
  if (site.kind == Site::Kind::kSend) return 0;
  return site.kind == Site::Kind::kReceive ? 2 : 1;
}

// Returns whether `a` comes before `b` in the order of the program. Both are at one rank.
bool comes_before(const Moment& a, const Moment& b) {
  const Site &one = *a.site, &two = *b.site;
  for (size_t i = 0; i < one.loops.size() && i < two.loops.size(); ++i) {
    if (one.loops[i] != two.loops[i]) break;
    if (a.variables[i] != b.variables[i]) return a.variables[i] < b.variables[i];
  }
  if (one.position != two.position) return one.position < two.position;
  if (phase(one) != phase(two)) return phase(one) < phase(two);
  if (one.message != two.message || one.message < 0)
    return std::tie(one.index, a.variables) < std::tie(two.index, b.variables);
  // Both are pieces of one message. The iterations of its body order them.
  const size_t outer = one.outer_variables;
  const auto outer_of = [&](const Moment& m) {
    return std::vector(m.variables.begin(), m.variables.begin() + static_cast<int64_t>(outer));
  };
  if (outer_of(a) != outer_of(b)) return outer_of(a) < outer_of(b);
  for (size_t i = 0; i < one.inner_loops.size() && i < two.inner_loops.size(); ++i) {
    if (one.inner_loops[i] != two.inner_loops[i]) break;
    if (a.variables[outer + i] != b.variables[outer + i])
      return a.variables[outer + i] < b.variables[outer + i];
  }
  return std::tie(one.index, a.variables) < std::tie(two.index, b.variables);
}

// ---- Jobs and calls to try

constexpr int64_t kMostRanksOfNodesTried = 7, kMostRanksOfGroupsTried = 6;

// Returns the lists of counts that calls are tried with. Blocks of one size and of several, cut into several parts.
std::vector<Counts> counts_of(const Program& program, const Groups& groups) {
  if (!uses_counts(program) && !names_parts_of_blocks(program)) return {{}};
  std::vector<Counts> all;
  for (const int64_t count : {5, 4, 1, 0}) all.push_back(equal_counts(groups, count));
  if (has_one_count(program.collective)) return all;
  for (const int64_t step : {2, 3}) {
    Counts uneven = equal_counts(groups, 0);
    for (size_t group = 0; group < uneven.size(); ++group)
      for (size_t rank = 0; rank < uneven[group].size(); ++rank)
        uneven[group][rank] = (static_cast<int64_t>(rank) * step + 1 + group) % 5;
    all.push_back(std::move(uneven));
  }
  return all;
}

// Returns all nodes of few ranks, or only numbers of ranks if the program knows no nodes.
std::vector<Groups> jobs_of(const Program& program) {
  const bool knows_nodes = uses_nodes(program);
  const int64_t most = program.groups == 2 ? kMostRanksOfGroupsTried
                       : knows_nodes       ? kMostRanksOfNodesTried
                                           : kMostRanksTried;
  std::vector<Groups> all;
  each_topology(program.groups, 1, most, most, [&](const Groups& groups) {
    const bool flat =
        std::ranges::all_of(groups, [](const Topology& group) { return group.nodes() == 1; });
    if (knows_nodes || flat) all.push_back(groups);
    return false;
  });
  if (program.groups == 1 && !knows_nodes)
    for (const int64_t ranks : {12, 16, 17})
      all.push_back({Topology::from_runs({{1, ranks}}).value()});
  return all;
}

// Makes case `at` of all combinations of counts, roots and values of parameters up to kGreatestParameter.
constexpr int64_t kGreatestParameter = 4;
std::pair<Job, Call> case_of(const Program& program, const Groups& groups,
                             const std::vector<Counts>& counts, int64_t at) {
  const auto next = [&](int64_t choices) {
    const int64_t choice = at % choices;
    at /= choices;
    return choice;
  };
  Call call{counts[next(static_cast<int64_t>(counts.size()))], {}, 0};
  if (rooted(program.collective)) call.root = next(groups[0].ranks());
  Job job{groups, {}, std::vector<LinearModel>(program.parameters.size())};
  for (const Parameter& parameter : program.parameters) {
    const int64_t value = 1 + next(kGreatestParameter);
    job.parameters.push_back(parameter.at_call ? int64_t{kRuleNone} : value);
    if (parameter.at_call) call.parameters.push_back(value);
  }
  return {std::move(job), std::move(call)};
}

}  // namespace

std::optional<Moments> Moments::make(const Program& program, const Anatomy& anatomy, const Job& job,
                                     const Call& call) {
  Moments moments;
  Values values;
  moments.program_ = &program;
  for (int64_t group = 0; group < program.groups; ++group) {
    Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) return std::nullopt;
    moments.bindings_.push_back(std::move(binding).value());
    Binding here = moments.bindings_.back();
    for (here.place.rank = 0; here.place.rank < here.place.ranks; ++here.place.rank) {
      const size_t first = moments.all_.size();
      for (const Site& site : anatomy.sites)
        if (!SiteWalk(program, anatomy, site, here, call, values, moments.all_).run())
          return std::nullopt;
      std::stable_sort(moments.all_.begin() + static_cast<int64_t>(first), moments.all_.end(),
                       comes_before);
      moments.of_rank_[{group, here.place.rank}] = {first, moments.all_.size()};
    }
  }
  moments.match();
  return moments;
}

// Matches the t-th piece of a send with the t-th piece of its receive.
void Moments::match() {
  using Message = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;  // both ends, key
  std::map<Message, std::vector<size_t>> sends, receives;
  for (size_t i = 0; i < all_.size(); ++i) {
    const Moment& m = all_[i];
    if (!m.site->is_message()) continue;
    const int64_t other = m.site->remote ? 1 - m.group : m.group;
    if (m.site->kind == Site::Kind::kSend)
      sends[{m.group, m.rank, other, m.peer, m.key}].push_back(i);
    else
      receives[{other, m.peer, m.group, m.rank, m.key}].push_back(i);
  }
  matched_.assign(all_.size(), -1);
  for (const auto& [message, pieces] : sends) {
    const auto other = receives.find(message);
    if (other == receives.end() || other->second.size() != pieces.size()) continue;
    for (size_t t = 0; t < pieces.size(); ++t) {
      matched_[pieces[t]] = static_cast<int64_t>(other->second[t]);
      matched_[other->second[t]] = static_cast<int64_t>(pieces[t]);
    }
  }
}

const Moment* Moments::matched(const Moment& moment) const {
  const int64_t other = matched_[&moment - all_.data()];
  return other < 0 ? nullptr : &all_[other];
}

const Moment* Moments::last_write_before(size_t end, size_t first, const Bytes& byte) const {
  for (size_t i = end; i-- > first;)
    if (all_[i].to && all_[i].to->has(byte)) return &all_[i];
  return nullptr;
}

const Moment* Moments::writer(const Moment& moment, const Bytes& byte) const {
  return last_write_before(&moment - all_.data(), of_rank_.at({moment.group, moment.rank}).first,
                           byte);
}

const Moment* Moments::last_writer(int64_t group, int64_t rank, const Bytes& byte) const {
  const auto [first, end] = of_rank_.at({group, rank});
  return last_write_before(end, first, byte);
}

const Moment* Moments::reader(const Moment& moment, const Bytes& byte) const {
  const size_t end = of_rank_.at({moment.group, moment.rank}).second;
  for (size_t i = &moment - all_.data() + 1; i < end; ++i)
    if ((all_[i].from && all_[i].from->has(byte)) ||
        (all_[i].site->combine && all_[i].to->has(byte)))
      return &all_[i];
  return nullptr;
}

std::optional<Data> Moments::read(const Moment& moment, const Bytes& bytes, int depth) const {
  const Contract contract(*program_);
  const Moment* const writer =
      bytes.buffer == Buffer::kSend ? nullptr : this->writer(moment, bytes.byte(bytes.low));
  if (writer) return data(*writer, depth + 1);
  const bool own = contract.has_own() && !contract.has_targets() &&
                   bytes.buffer == Buffer::kReceive && bytes.block == moment.rank;
  if (bytes.buffer != Buffer::kSend && !own) return std::nullopt;
  Data result{moment.group, contract.has_targets() ? bytes.block : 0, {}};
  result.contributors.resize(bindings_[moment.group].place.ranks);
  result.contributors[moment.rank] = true;
  result.first = moment.rank;
  result.number = 1;
  return result;
}

std::optional<Data> Moments::data(const Moment& moment, int depth) const {
  constexpr int kDeepest = 200;  // a wrong program may send in circles
  if (depth > kDeepest) return std::nullopt;
  std::optional<Data> result;
  if (moment.from) {
    result = read(moment, *moment.from, depth);
  } else if (moment.to) {
    const Moment* const sent = matched(moment);
    if (sent && sent->from) result = data(*sent, depth + 1);
  }
  if (!result || !moment.site->combine) return result;
  const std::optional<Data> base = read(moment, *moment.to, depth);
  if (!base || base->contributors.size() != result->contributors.size()) return std::nullopt;
  for (size_t i = 0; i < base->contributors.size(); ++i)
    if (base->contributors[i]) result->contributors[i] = true;
  const auto ranks = static_cast<int64_t>(base->contributors.size());
  const auto follows = [&](const Data& a, const Data& b) {
    return a.number && b.number && (a.first + *a.number - b.first) % ranks == 0;
  };
  const Data arrived = *result;
  const bool left = *moment.site->combine == Side::kLeft;
  // An operator that commutes may take them in the other order.
  for (const bool first : {left, !left}) {
    const Data &a = first ? arrived : *base, &b = first ? *base : arrived;
    if (!follows(a, b) || (first != left && !program_->commutative)) continue;
    result->first = a.first;
    result->number = *a.number + *b.number;
    return result;
  }
  result->number.reset();
  return result;
}

std::vector<Moments> runs_of(const Program& program, const Anatomy& anatomy) {
  constexpr size_t kMostRuns = 400, kMostMoments = 400'000;
  const std::vector<Groups> jobs = jobs_of(program);
  const size_t most_of_job = std::max<size_t>(4, kMostRuns / jobs.size());
  std::vector<Moments> runs;
  size_t moments = 0;
  for (const Groups& groups : jobs) {
    const std::vector<Counts> counts = counts_of(program, groups);
    auto cases = static_cast<int64_t>(counts.size());
    if (rooted(program.collective)) cases *= groups[0].ranks();
    for (size_t i = 0; i < program.parameters.size(); ++i) cases *= kGreatestParameter;
    // The stride is odd, so counts, root and parameters all vary.
    const int64_t stride = cases <= static_cast<int64_t>(most_of_job) ? 1 : cases / 17 * 2 + 1;
    size_t of_job = 0;
    for (int64_t n = 0; n < cases && of_job < most_of_job; ++n) {
      const auto [job, call] = case_of(program, groups, counts, n * stride % cases);
      if (!takes(program, job, call)) continue;
      std::optional<Moments> run = Moments::make(program, anatomy, job, call);
      if (!run) continue;
      ++of_job;
      moments += run->all().size();
      runs.push_back(std::move(*run));
      if (runs.size() == kMostRuns || moments > kMostMoments) return runs;
    }
  }
  return runs;
}

}  // namespace quadrille::verifier
