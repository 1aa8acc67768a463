// Observes the checker's memory. A write replaces data: the contributions that were there are subtracted, and the new ones are
// added. In a sum each contribution counts in full.
#include "view/holdings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "verifier/check.h"
#include "verifier/findings.h"
#include "verifier/memory.h"

namespace quadrille {
namespace {

constexpr int64_t kFewRanks = 16;   // if there are more ranks, each contribution has one part
constexpr int64_t kBlockParts = 8;  // of a contribution that is one block

class Noting : public verifier::Observer {
 public:
  Noting(const Program& program, const Job& job, const Call& call, const Figure& figure,
         const Lanes& lanes)
      : figure_(figure), lanes_(lanes), changes_(figure.rows.size() + 1) {
    first_[1] = job.groups[0].ranks();
    for (size_t group = 0; group < job.groups.size(); ++group) {
      Place place{job.groups[group].ranks(), 0, static_cast<int64_t>(group), 0, call.root};
      if (job.groups.size() == 2) place.remote_ranks = job.groups[1 - group].ranks();
      for (; place.rank < place.ranks; ++place.rank)
        blocks_ = std::max(blocks_, block_count(program.collective, Buffer::kSend, place));
    }
    for (const std::vector<int64_t>& counts : call.counts)
      for (const int64_t count : counts) longest_ = std::max(longest_, count);
    const bool few = static_cast<int64_t>(lanes.of_rank.size()) <= kFewRanks;
    if (few && blocks_ > 1)
      parts_ = blocks_;
    else if (few)
      parts_ = std::min(kBlockParts, longest_);
  }

  void write(const verifier::Use& use, const PieceValue& piece,
             const verifier::BlockContents& before, const verifier::Interval& over,
             const verifier::Fragments& fragments, const verifier::Values& values) override {
    const Here here{lanes_.of_rank[use.process], frame(use.key),
                    piece.buffer == Buffer::kReceive ? 0u : 1u};
    for (const verifier::Fragment& old : before.fragments())
      add(here, old, std::max(old.low, over.low), std::min(old.high, over.high), values, -1);
    for (const verifier::Fragment& fresh : fragments)
      add(here, fresh, fresh.low, fresh.high, values, 1);
  }

  Holdings take() {
    Holdings result{static_cast<int32_t>(parts_), blocks_ > 1 && parts_ > 1, {}, {}};
    for (const std::vector<Change>& changes : changes_) {
      std::vector<HoldingChange>& row = result.changes.emplace_back();
      for (size_t i = 0; i < changes.size(); ++i)
        if (changes[i][0] != 0 || changes[i][1] != 0)
          row.push_back({static_cast<int32_t>(i / parts_ / lanes_.count()),
                         static_cast<int32_t>(i / parts_ % lanes_.count()),
                         static_cast<int32_t>(i % parts_), changes[i][0], changes[i][1]});
    }
    return result;
  }

 private:
  struct Here {
    int32_t lane;
    size_t frame;
    size_t buffer;  // 0 received, 1 temporary
  };
  using Change = std::array<int64_t, 2>;  // by buffer

  // Returns the row of the last step up to that key, counted from 1, or 0.
  size_t frame(const std::optional<int64_t>& key) const {
    if (!key) return 0;
    const auto after = std::ranges::upper_bound(figure_.rows, *key, {}, &FigureRow::key);
    return static_cast<size_t>(after - figure_.rows.begin());
  }

  void add(const Here& here, const verifier::Fragment& fragment, int64_t low, int64_t high,
           const verifier::Values& values, int sign) {
    if (low >= high) return;
    low += fragment.shift, high += fragment.shift;  // positions of the contribution
    for (const verifier::ContributionRun& run : values.runs(fragment.value)) {
      int64_t rank = first_[run.group] + std::min(run.first, run.last());
      for (int64_t left = run.count; left > 0;) {  // lane by lane
        const int32_t lane = lanes_.of_rank[rank];
        const int64_t ranks =
            std::min(left, lanes_.all[lane].first + lanes_.all[lane].ranks - rank);
        if (parts_ == 1)
          count(here, lane, 0, sign * ranks * (high - low));
        else if (blocks_ > 1)
          count(here, lane, run.block, sign * ranks * (high - low));
        else
          cut(here, lane, low, high, sign);
        rank += ranks, left -= ranks;
      }
    }
  }

  // Counts positions of a contribution that is one block, by part.
  void cut(const Here& here, int32_t origin, int64_t low, int64_t high, int sign) {
    for (int64_t part = 0; part < parts_; ++part) {
      const int64_t begin = std::max(low, longest_ * part / parts_);
      const int64_t end = std::min(high, longest_ * (part + 1) / parts_);
      if (begin < end) count(here, origin, part, sign * (end - begin));
    }
  }

  void count(const Here& here, int32_t origin, int64_t part, int64_t more) {
    std::vector<Change>& changes = changes_[here.frame];
    const int64_t lanes = lanes_.count();
    if (changes.empty()) changes.resize(lanes * lanes * parts_);
    changes[(here.lane * lanes + origin) * parts_ + part][here.buffer] += more;
  }

  const Figure& figure_;
  const Lanes& lanes_;
  std::array<int64_t, 2> first_{};  // the first rank of each group
  int64_t blocks_ = 0;              // most blocks that a rank contributes
  int64_t longest_ = 1;             // length of the longest block
  int64_t parts_ = 1;
  std::vector<std::vector<Change>> changes_;  // by frame; empty, or by lane, origin and part
};

std::string in_words(const verifier::Violation& violation, const verifier::Processes& processes) {
  std::string text;
  if (violation.key) text = fmt::format("step {}: ", *violation.key);
  if (!violation.processes.empty()) {
    const verifier::Process& first = violation.processes[0];
    text += processes.name(processes.index(first.group, first.rank)) + " ";
  }
  return fmt::format("{}{} ({})", text, violation.detail, property_name(violation.property));
}

}  // namespace

Result<Holdings> holdings_of(const Program& program, const Job& job, const Call& call,
                             const Figure& figure, const Lanes& lanes,
                             const std::function<void(const char*, int64_t, int64_t)>& tell) {
  std::vector<Binding> bindings;
  for (int group = 0; group < program.groups; ++group) {
    Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) return binding.error();
    bindings.push_back(std::move(binding).value());
  }
  Noting noting(program, job, call, figure, lanes);
  verifier::CheckOptions options;
  options.observer = &noting;
  options.tell = tell;
  const verifier::Report report = verifier::execute(program, job, call, bindings, options);
  Holdings holdings = noting.take();
  if (report.violation)
    holdings.violation = in_words(*report.violation, verifier::Processes(bindings));
  return holdings;
}

}  // namespace quadrille
