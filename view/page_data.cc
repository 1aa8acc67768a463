// Times are in ticks. A tick is about a millionth of the run, which no picture shows. With few messages, the page has
// each span and each message. Otherwise it has what each lane does in equal parts of the time. page.js reads both.
#include "view/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "cli/json.h"
#include "simulate/path.h"
#include "view/pack.h"

namespace quadrille {
namespace {

constexpr int64_t kTicks = 1'000'000;
constexpr int64_t kMostMessages = 20'000;  // of a run whose messages are drawn one by one
constexpr int64_t kMostLegs = 2'000;
constexpr int64_t kParts = 480;  // of the time, for shares
constexpr int32_t kNoRow = -1;

// What each process does at each time of a run, in picoseconds. Its messages and copies change three counters, one
// for each kind of work. Between two changes, the counters say what the process does.

// A rank is busy with a copy or an overhead, or one of its messages is on its way, between nodes or inside one. Else
// it is idle: it waits for another rank, its messages wait at a port, or its call has returned. If several apply, the
// first here counts.
enum class Doing : uint8_t { kBusy = 0, kBetween = 1, kInside = 2, kIdle = 3 };

// A span of time. It begins at the end of the span before it, or at 0.
struct Span {
  int64_t end = 0;
  Doing doing = Doing::kIdle;
};

// When a message is on its way. Its sender sees it from the time at which it begins to leave the first port, its
// receiver from the time at which it begins to enter the last one.
struct OnWay {
  int64_t leaves = 0, enters = 0, arrives = 0;
};

struct Change {
  int64_t time;
  Doing doing;
  int by;
};

std::vector<Span> spans_of(std::vector<Change> changes, int64_t end) {
  std::ranges::sort(changes, {}, &Change::time);
  std::vector<Span> spans;
  std::array<int, 4> open = {0, 0, 0, 1};
  const auto add = [&](int64_t until) {
    const int64_t since = spans.empty() ? 0 : spans.back().end;
    if (until <= since) return;
    const auto doing =
        static_cast<Doing>(std::ranges::find_if(open, [](int n) { return n > 0; }) - open.begin());
    if (!spans.empty() && spans.back().doing == doing)
      spans.back().end = until;
    else
      spans.push_back({until, doing});
  };
  for (const Change& change : changes) {
    add(std::min(change.time, end));
    open[static_cast<size_t>(change.doing)] += change.by;
  }
  add(end);
  return spans;
}

// Returns these times by sender and send. `eager`: bytes of the longest message that does not wait for its receive.
std::vector<std::vector<OnWay>> on_way(const Scripts& scripts, const Trace& trace, int64_t eager) {
  std::vector<std::vector<OnWay>> all(scripts.all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t n = 0; n < scripts.all[i].sends.size(); ++n) {
      const Times& times = trace.messages[i][n];
      const int64_t begun = scripts.all[i].sends[n].bytes > eager
                                ? std::max(times.send_posted, times.receive_posted)
                                : times.send_posted;
      all[i].push_back({begun, begun, times.arrived});
    }
  for (const Queued& one : trace.queued) {
    OnWay& message = all[one.of.process][one.of.index];
    if (one.at == 0) message.leaves = std::max(message.leaves, one.begun);
    message.enters = std::max(message.enters, one.begun);
  }
  return all;
}

// Returns the spans of each process, up to the end of the run.
std::vector<std::vector<Span>> timeline(const Scripts& scripts, const Trace& trace,
                                        const Outcome& outcome,
                                        const std::vector<std::vector<OnWay>>& on_way) {
  std::vector<std::vector<Change>> changes(scripts.all.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::vector<Busy> none;
    for (const Busy& busy : i < trace.busy.size() ? trace.busy[i] : none) {
      changes[i].push_back({busy.begin, Doing::kBusy, 1});
      changes[i].push_back({busy.end, Doing::kBusy, -1});
    }
    for (size_t n = 0; n < scripts.all[i].sends.size(); ++n) {
      const int32_t peer = scripts.all[i].sends[n].peer;
      const Doing doing = scripts.node[i] == scripts.node[peer] ? Doing::kInside : Doing::kBetween;
      const OnWay& message = on_way[i][n];
      changes[i].push_back({message.leaves, doing, 1});
      changes[i].push_back({message.arrives, doing, -1});
      changes[peer].push_back({message.enters, doing, 1});
      changes[peer].push_back({message.arrives, doing, -1});
    }
  }
  std::vector<std::vector<Span>> all;
  for (size_t i = 0; i < changes.size(); ++i) {
    all.push_back(spans_of(std::move(changes[i]), outcome.ends[i]));
    if (outcome.ends[i] < outcome.time) all.back().push_back({outcome.time, Doing::kIdle});
  }
  return all;
}

// ---- The page

// Returns the row of each message, by sender and send. The t-th message from one rank to another in the figure is
// their t-th in the scripts. Returns nothing if their numbers differ: the scripts may lack messages without bytes.
std::vector<std::vector<int32_t>> rows_of(const Figure& figure, const Scripts& scripts) {
  std::vector<std::tuple<int64_t, int64_t, int32_t>> drawn;
  for (size_t row = 0; row < figure.rows.size(); ++row)
    for (const Arc& arc : figure.rows[row].arcs) {
      if (arc.source == arc.target) continue;
      drawn.emplace_back(arc.source, arc.target, static_cast<int32_t>(row));
      if (arc.both_ways) drawn.emplace_back(arc.target, arc.source, static_cast<int32_t>(row));
    }
  std::ranges::sort(drawn);
  std::vector<std::vector<int32_t>> rows(scripts.all.size());
  auto next = drawn.begin();
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<Post>& sends = scripts.all[i].sends;
    rows[i].resize(sends.size());
    for (const int32_t index : by_peer(sends)) {
      if (next == drawn.end() || std::get<0>(*next) != static_cast<int64_t>(i) ||
          std::get<1>(*next) != sends[index].peer)
        return {};
      rows[i][index] = std::get<2>(*next++);
    }
  }
  return next == drawn.end() ? rows : std::vector<std::vector<int32_t>>{};
}

std::string lanes_json(const Figure& figure, const Lanes& lanes) {
  std::string names, ranks, nodes;
  for (const Lane& lane : lanes.all) {
    const char* const comma = names.empty() ? "" : ",";
    names += comma + cli::Json(lane.name).text();
    ranks += fmt::format("{}{}", comma, lane.ranks);
    nodes += fmt::format("{}{}", comma, lane.node);
  }
  return fmt::format(
      "\"unit\":\"{}\",\"byRank\":{},\"firstRanks\":{},\"lanes\":[{}],\"ranks\":[{}],\"nodes\":[{}"
      "]",
      lanes.unit, lanes.by_rank(), figure.first_ranks(), names, ranks, nodes);
}

// Returns keys, headings, running statements and messages of each row.
std::string rows_json(const Figure& figure, const Lanes& lanes) {
  Pack keys, statements, arcs;
  std::string headings;
  int64_t key = 0;
  for (const FigureRow& row : figure.rows) {
    keys.add_signed(row.key - key);
    key = row.key;
    keys.add(row.last_key ? *row.last_key - row.key : 0);
    headings += (headings.empty() ? "" : ",") + cli::Json(row.heading).text();
    statements.add(static_cast<int64_t>(row.statements.size()));
    for (const int statement : row.statements) statements.add(statement);
    const std::vector<LaneArc> all = lane_arcs(row, lanes);
    arcs.add(static_cast<int64_t>(all.size()));
    int64_t last = 0;
    for (const LaneArc& arc : all) {
      const int64_t cell = int64_t{arc.from} * lanes.count() + arc.to;
      arcs.add(cell - last);
      last = cell;
      arcs.add(arc.between + 2 * arc.combines + 4 * arc.token);
      arcs.add(arc.messages);
    }
  }
  return fmt::format("\"rows\":{},\"keys\":{},\"headings\":[{}],\"statements\":{},\"arcs\":{}",
                     figure.rows.size(), keys.text(), headings, statements.text(), arcs.text());
}

std::string holdings_json(const Page& page, const Holdings& holdings, const Lanes& lanes) {
  Pack changes;
  for (const std::vector<HoldingChange>& row : holdings.changes) {
    changes.add(static_cast<int64_t>(row.size()));
    int64_t last = 0;
    for (const HoldingChange& change : row) {
      const int64_t cell =
          (int64_t{change.lane} * lanes.count() + change.origin) * holdings.parts + change.part;
      changes.add(cell - last);
      last = cell;
      changes.add_signed(change.received);
      changes.add_signed(change.temporary);
    }
  }
  const char* const unit = page.call->counts.empty()           ? "block"
                           : reduces(page.program->collective) ? "element"
                                                               : "byte";
  return fmt::format(
      "\"holdings\":{{\"unit\":\"{}\",\"parts\":{},\"areBlocks\":{},\"changes\":{}}}", unit,
      holdings.parts, holdings.parts_are_blocks, changes.text());
}

// Returns the bytes and messages from each lane to each lane, between nodes and inside nodes.
std::string traffic_json(const Scripts& scripts, const Lanes& lanes) {
  std::map<std::pair<int64_t, bool>, std::array<int64_t, 2>> cells;
  for (size_t i = 0; i < scripts.all.size(); ++i)
    for (const Post& send : scripts.all[i].sends) {
      auto& cell = cells[{int64_t{lanes.of_rank[i]} * lanes.count() + lanes.of_rank[send.peer],
                          scripts.node[i] != scripts.node[send.peer]}];
      cell[0] += send.bytes;
      ++cell[1];
    }
  Pack all;
  all.add(static_cast<int64_t>(cells.size()));
  int64_t last = 0;
  for (const auto& [place, cell] : cells) {
    all.add(place.first - last);
    last = place.first;
    all.add(place.second);
    all.add(cell[0]);
    all.add(cell[1]);
  }
  return "\"traffic\":" + all.text();
}

// Writes one run as JSON.
class RunWriter {
 public:
  RunWriter(const PageRun& run, const Lanes& lanes, size_t rows,
            const std::vector<std::vector<int32_t>>& row_of)
      : run_(run),
        lanes_(lanes),
        rows_(rows),
        row_of_(row_of),
        tick_(std::max<int64_t>(1, run.outcome->time / kTicks)),
        on_way_(on_way(*run.scripts, *run.trace, run.machine ? run.machine->eager : 0)),
        spans_(timeline(*run.scripts, *run.trace, *run.outcome, on_way_)),
        messages_(quadrille::messages(*run.scripts)) {}

  std::string json() const {
    const bool detail = lanes_.by_rank() && messages_ <= kMostMessages;
    const Shares shares = detail ? Shares{} : this->shares();
    return fmt::format(
        "{{\"name\":{},\"time\":{},\"tick\":{},\"detail\":{},\"full\":{:.6f},\"idle\":[{}],"
        "\"spans\":{},\"messages\":{},\"windows\":{},\"path\":{}}}",
        cli::Json(run_.name).text(), run_.outcome->time, tick_, detail, shares.full, idle(),
        detail ? spans() : shares.packed, detail ? messages() : "\"\"", windows(), path());
  }

 private:
  int64_t ticks(int64_t time) const { return time / tick_; }

  // Returns for each lane how much of its ranks' time is idle, in thousandths.
  std::string idle() const {
    std::vector<int64_t> sums(lanes_.all.size());
    for (size_t i = 0; i < spans_.size(); ++i) {
      int64_t since = 0;
      for (const Span& span : spans_[i]) {
        if (span.doing == Doing::kIdle) sums[lanes_.of_rank[i]] += ticks(span.end - since);
        since = span.end;
      }
    }
    std::string text;
    for (size_t lane = 0; lane < sums.size(); ++lane)
      text += fmt::format("{}{}", lane == 0 ? "" : ",",
                          sums[lane] * 1000 / std::max<int64_t>(1, ticks(run_.outcome->time)) /
                              lanes_.all[lane].ranks);
    return text;
  }

  std::string spans() const {
    Pack all;
    for (const std::vector<Span>& spans : spans_) {
      all.add(static_cast<int64_t>(spans.size()));
      int64_t last = 0;
      for (const Span& span : spans) {
        all.add((ticks(span.end) - last) * 4 + static_cast<int64_t>(span.doing));
        last = ticks(span.end);
      }
    }
    return all.text();
  }

  struct Shares {
    double full = 1;  // the most of a lane that has messages on their way at once, of 1
    std::string packed;
  };

  // Packs for each lane and part of the time how much of the lane is busy, between nodes, and inside one. 127 is `full`;
  // copies may be more.
  Shares shares() const {
    const int64_t length = std::max<int64_t>(1, (run_.outcome->time + kParts - 1) / kParts);
    std::vector<std::array<int64_t, 4>> sums(lanes_.all.size() * kParts);
    for (size_t i = 0; i < spans_.size(); ++i) {
      int64_t since = 0;
      for (const Span& span : spans_[i])
        while (since < span.end) {
          const int64_t part = since / length;
          const int64_t until = std::min(span.end, (part + 1) * length);
          sums[lanes_.of_rank[i] * kParts + part][static_cast<size_t>(span.doing)] += until - since;
          since = until;
        }
    }
    const auto part = [&](size_t i, int64_t sum) {
      const auto& lane = lanes_.all[i / kParts];
      return static_cast<double>(sum) / static_cast<double>(length * lane.ranks);
    };
    double full = 0;
    for (size_t i = 0; i < sums.size(); ++i)
      full = std::max(full, part(i, sums[i][1] + sums[i][2]));
    if (full == 0) full = 1;
    Pack all;
    for (size_t i = 0; i < sums.size(); ++i)
      for (size_t doing = 0; doing < 3; ++doing)
        all.add(std::llround(127 * part(i, sums[i][doing]) / full));
    return {full, all.text()};
  }

  int32_t row(size_t process, size_t index) const {
    return row_of_.empty() ? kNoRow : row_of_[process][index];
  }

  // Packs each message, by sender: from, to, bytes, whether between nodes, row, and times.
  std::string messages() const {
    Pack all;
    all.add(messages_);
    for (size_t i = 0; i < on_way_.size(); ++i)
      for (size_t n = 0; n < on_way_[i].size(); ++n) {
        const Post& send = run_.scripts->all[i].sends[n];
        all.add(static_cast<int64_t>(i));
        all.add(send.peer);
        all.add(send.bytes);
        all.add(run_.scripts->node[i] != run_.scripts->node[send.peer]);
        all.add(row(i, n) + 1);
        all.add(ticks(on_way_[i][n].leaves));
        all.add(ticks(on_way_[i][n].arrives) - ticks(on_way_[i][n].leaves));
      }
    return all.text();
  }

  // Packs for each row the time from when its first message leaves until its last one has arrived.
  std::string windows() const {
    if (row_of_.empty()) return "\"\"";
    std::vector<std::pair<int64_t, int64_t>> windows(rows_, {kTicks * 2, 0});
    for (size_t i = 0; i < on_way_.size(); ++i)
      for (size_t n = 0; n < on_way_[i].size(); ++n) {
        auto& [begin, end] = windows[row_of_[i][n]];
        begin = std::min(begin, ticks(on_way_[i][n].leaves));
        end = std::max(end, ticks(on_way_[i][n].arrives));
      }
    Pack all;
    for (const auto& [begin, end] : windows) {
      all.add(std::min(begin, end));
      all.add(end - std::min(begin, end));
    }
    return all.text();
  }

  // If a picture cannot show all legs, keeps those at equal distances of time. Each then lasts until the next.
  static std::vector<Leg> thinned(std::vector<Leg> legs) {
    if (legs.size() <= kMostLegs) return legs;
    std::vector<Leg> kept;
    const int64_t end = legs.back().end;
    int64_t part = 0;
    for (const Leg& leg : legs) {
      const auto at = [&](int64_t of) { return end / kMostLegs * of; };
      if (leg.end <= at(part)) continue;  // another one stands for this time
      while (at(part) < leg.end) ++part;
      kept.push_back(leg);
      kept.back().begin = kept.size() == 1 ? 0 : kept[kept.size() - 2].end;
      kept.back().end = std::min(end, at(part));
    }
    kept.back().end = end;
    return kept;
  }

  // Packs the critical path: from, to, bytes, whether between nodes, and times. In a rank's own work, from is to.
  std::string path() const {
    Pack all;
    if (!run_.machine) return "\"\"";
    const std::vector<Leg> legs =
        thinned(critical_path(*run_.scripts, *run_.machine, *run_.outcome, *run_.trace));
    all.add(static_cast<int64_t>(legs.size()));
    for (const Leg& leg : legs) {
      const Post* const send =
          leg.is_message ? &run_.scripts->all[leg.process].sends[leg.index] : nullptr;
      all.add(leg.process);
      all.add(send ? send->peer : leg.process);
      all.add(send ? send->bytes : 0);
      all.add(send && run_.scripts->node[leg.process] != run_.scripts->node[send->peer]);
      all.add(ticks(leg.begin));
      all.add(ticks(leg.end) - ticks(leg.begin));
    }
    return all.text();
  }

  const PageRun& run_;
  const Lanes& lanes_;
  const size_t rows_;
  const std::vector<std::vector<int32_t>>& row_of_;
  const int64_t tick_;
  const std::vector<std::vector<OnWay>> on_way_;
  const std::vector<std::vector<Span>> spans_;
  const int64_t messages_;
};

}  // namespace

std::string page_data(const Page& page, const Figure& figure, const Lanes& lanes,
                      const Holdings& holdings) {
  std::string runs;
  for (const PageRun& run : page.runs)
    runs += (runs.empty() ? "" : ",\n") +
            RunWriter(run, lanes, figure.rows.size(), rows_of(figure, *run.scripts)).json();
  return fmt::format("{{{},\n{},\n{},\n{},\n\"runs\":[{}]}}", lanes_json(figure, lanes),
                     rows_json(figure, lanes), holdings_json(page, holdings, lanes),
                     traffic_json(*page.runs[0].scripts, lanes), runs);
}

}  // namespace quadrille
