// Walks every rank, collects its sends and copies by key, and lays them out. Headings come from the loops that the
// program calls `phase` and `round`. Tested by tests/view/figure_test.cc.
#include "view/figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "schedule/traverse.h"
#include "schedule/walk.h"

namespace quadrille {
namespace {

constexpr int64_t kMostRanks = 1024;

// The loops that give headings, by their index among the lets and fors.
struct HeadingLoops {
  int phase = -1, round = -1;
};

HeadingLoops find_loops(const Program& program) {
  HeadingLoops loops;
  int declaration = 0;
  for_each_statement(program.body, [&](const Statement& statement) {
    const auto* loop = std::get_if<For>(&statement.kind);
    if (loop && loop->name.text == "phase") loops.phase = declaration;
    if (loop && loop->name.text == "round") loops.round = declaration;
    declaration += loop || std::holds_alternative<Let>(statement.kind);
  });
  return loops;
}

// A row, with the facts that only receivers know.
struct GatheredRow : FigureRow {
  std::set<std::pair<int64_t, int64_t>> combining;  // source and target
};
using Rows = std::map<int64_t, GatheredRow>;

// The sink of one rank's walk. Rank 0 of its own group has the number `first`, rank 0 of the other group `other`.
class Gatherer : public SinkOf<Gatherer> {
 public:
  Gatherer(Rows& rows, const Place& place)
      : rows_(rows),
        place_(place),
        first_(place.group == 0 ? 0 : place.remote_ranks),
        other_(place.group == 0 ? place.ranks : 0) {}

  // Returns a peer that is not there, or nothing.
  std::optional<int64_t> stranger() const { return stranger_; }

  void enter(int64_t rank, std::optional<int64_t> key) {
    rank_ = first_ + rank;
    row_ = key ? &rows_[*key] : nullptr;
  }
  FigureRow* row() { return row_; }

  void block_message(const MessageHead& head, Buffer, int64_t) { add(head, false); }
  void message(const MessageHead& head) {
    head_ = head;
    empty_ = true;
  }
  void piece(const PieceValue&) { empty_ = false; }
  void message_end() { add(head_, empty_); }
  void copy(const PieceValue&, const PieceValue&) {
    if (row_) row_->arcs.push_back({rank_, rank_});
  }

 private:
  void add(const MessageHead& head, bool token) {
    if (!row_) return;
    if (head.peer < 0 || head.peer >= (head.remote ? place_.remote_ranks : place_.ranks)) {
      stranger_ = head.peer;
      return;
    }
    const int64_t peer = (head.remote ? other_ : first_) + head.peer;
    if (head.direction == Direction::kSend)
      row_->arcs.push_back({rank_, peer, false, token ? ArcKind::kToken : ArcKind::kMoves});
    else if (head.combine)
      row_->combining.insert({peer, rank_});
  }

  Rows& rows_;
  const Place& place_;
  const int64_t first_, other_;
  std::optional<int64_t> stranger_;
  GatheredRow* row_ = nullptr;
  int64_t rank_ = 0;
  MessageHead head_{};
  bool empty_ = false;
};

void mark_combining(GatheredRow& row) {
  for (Arc& arc : row.arcs)
    if (row.combining.contains({arc.source, arc.target})) arc.kind = ArcKind::kCombines;
}

// Joins two messages of one kind in opposite directions into one arc, and sorts the arcs from the left.
void join_directions(std::vector<Arc>& arcs) {
  const auto place = [](const Arc& arc) {
    const auto [left, right] = std::minmax(arc.source, arc.target);
    return std::tuple(left, right, arc.kind);
  };
  std::ranges::stable_sort(arcs, [&](const Arc& a, const Arc& b) { return place(a) < place(b); });
  std::vector<Arc> joined;
  for (const Arc& arc : arcs) {
    Arc* const last = joined.empty() ? nullptr : &joined.back();
    if (last && place(*last) == place(arc) && last->source == arc.target &&
        arc.source != arc.target && !last->both_ways)
      last->both_ways = true;
    else
      joined.push_back(arc);
  }
  arcs = std::move(joined);
}

std::string arc_text(const Figure& figure, const Arc& arc) {
  if (arc.source == arc.target) return figure.rank_name(arc.source);
  const char line = std::string_view("-=~")[static_cast<size_t>(arc.kind)];
  return fmt::format("{}{}{}>{}", figure.rank_name(arc.source), arc.both_ways ? "<" : "", line,
                     figure.rank_name(arc.target));
}

std::vector<int64_t> node_of_rank(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> nodes;
  for (size_t node = 0; node < sizes.size(); ++node) nodes.insert(nodes.end(), sizes[node], node);
  return nodes;
}

class Walk {
 public:
  Walk(const Program& program, const Binding& binding, size_t most_rows)
      : binding_(binding),
        code_(*Code::compile(program)),
        loops_(find_loops(program)),
        most_rows_(most_rows) {}

  // Walks all ranks of the group.
  Result<bool> run(std::optional<int64_t> low, std::optional<int64_t> high, Rows& rows) {
    const Place& place = binding_.place;
    for (int64_t rank = 0; rank < place.ranks; ++rank) {
      Gatherer gatherer(rows, place);
      std::vector<int64_t> registers(code_.registers());
      Walker walker;
      code_.start(binding_, rank, walker, registers.data());
      Pause pause;
      gatherer.enter(rank, std::nullopt);
      while ((pause = code_.run<PauseAtOutside>(binding_, walker, registers.data(), gatherer)) ==
                 Pause::kStep ||
             pause == Pause::kOutside) {
        if (pause == Pause::kOutside) {  // copies outside steps are in no row
          gatherer.enter(rank, std::nullopt);
          continue;
        }
        const bool wanted = (!low || *low <= walker.key) && (!high || walker.key < *high);
        gatherer.enter(rank, wanted ? std::optional(walker.key) : std::nullopt);
        if (wanted) head(*gatherer.row(), walker, registers);
        if (rows.size() > most_rows_)
          return Error{
              fmt::format("more than {} steps are too many to draw; choose some with "
                          "--format svg --steps LOW..HIGH",
                          most_rows_)};
      }
      const char* const group = place.group == 0 ? "" : " of group 1";
      if (const std::optional<int64_t> stranger = gatherer.stranger())
        return Error{
            fmt::format("rank {}{} sends to, or receives from, rank {}, which is not there", rank,
                        group, *stranger)};
      if (pause == Pause::kUndefined)
        return Error{fmt::format("rank {}{} meets {}", rank, group, describe(walker.why))};
    }
    return true;
  }

 private:
  void head(FigureRow& row, const Walker& walker, const std::vector<int64_t>& registers) const {
    row.key = walker.key;
    const int statement = code_.step_statement(walker);
    if (std::ranges::find(row.statements, statement) == row.statements.end())
      row.statements.push_back(statement);
    if (loops_.phase < 0 || loops_.round < 0 || !row.heading.empty()) return;
    row.heading = fmt::format("phase {}, round {}", code_.variable(registers.data(), loops_.phase),
                              code_.variable(registers.data(), loops_.round));
  }

  const Binding& binding_;
  const Code code_;
  const HeadingLoops loops_;
  const size_t most_rows_;
};

}  // namespace

int64_t Figure::first_ranks() const {
  return std::accumulate(node_sizes.begin(), node_sizes.begin() + first_nodes, int64_t{0});
}

std::string Figure::rank_name(int64_t rank) const {
  const int64_t first = first_ranks();
  return rank < first ? fmt::format("{}", rank) : fmt::format("{}'", rank - first);
}

std::string Figure::node_name(size_t node) const {
  return node < first_nodes ? fmt::format("node {}", node)
                            : fmt::format("node {}'", node - first_nodes);
}

Result<bool> refuse_many_ranks(const Job& job) {
  int64_t ranks = 0;
  for (const Topology& topology : job.groups) ranks += topology.ranks();
  if (ranks <= kMostRanks) return true;
  return Error{fmt::format("{} ranks are too many to draw; at most {} are", ranks, kMostRanks)};
}

Result<Figure> draw(const Program& program, const Job& job, const Call& call,
                    std::optional<int64_t> low, std::optional<int64_t> high, size_t most_rows) {
  Figure figure;
  figure.title = program.algorithm.text + " on nodes ";
  figure.first_nodes = job.groups[0].sizes().size();
  for (const Topology& topology : job.groups) {
    const std::vector<int64_t> sizes = topology.sizes();
    figure.title += figure.node_sizes.empty() ? topology.text()
                                              : fmt::format(" and {}, primed", topology.text());
    figure.node_sizes.insert(figure.node_sizes.end(), sizes.begin(), sizes.end());
  }
  if (const Result<bool> few = refuse_many_ranks(job); !few.ok()) return few.error();
  Rows rows;
  for (int group = 0; group < program.groups; ++group) {
    const Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) return binding.error();
    const Result<bool> walked = Walk(program, *binding, most_rows).run(low, high, rows);
    if (!walked.ok()) return walked.error();
  }
  std::string heading;
  for (auto& [key, row] : rows) {
    if (row.arcs.empty()) continue;
    mark_combining(row);
    join_directions(row.arcs);
    if (row.heading == heading)
      row.heading.clear();
    else
      heading = row.heading;
    figure.rows.push_back(std::move(row));
  }
  return figure;
}

std::string as_text(const Figure& figure) {
  const std::vector<int64_t> node_of = node_of_rank(figure.node_sizes);
  const size_t nodes = figure.node_sizes.size();
  // The first line of every column names the node and its ranks.
  std::vector<std::vector<std::string>> lines(1);
  int64_t first = 0;
  for (size_t node = 0; node < nodes; ++node) {
    const int64_t last = first + figure.node_sizes[node] - 1;
    lines[0].push_back(figure.node_name(node) + ": " + figure.rank_name(first) +
                       (first == last ? "" : "-" + figure.rank_name(last)));
    first = last + 1;
  }
  for (const FigureRow& row : figure.rows) {
    std::vector<std::string> cells(nodes);
    for (const Arc& arc : row.arcs) {
      const auto add = [&](int64_t node) {
        cells[node] += (cells[node].empty() ? "" : " ") + arc_text(figure, arc);
      };
      add(node_of[arc.source]);
      if (node_of[arc.target] != node_of[arc.source]) add(node_of[arc.target]);
    }
    lines.push_back(std::move(cells));
  }
  std::vector<size_t> widths(nodes);
  for (const auto& line : lines)
    for (size_t node = 0; node < nodes; ++node)
      widths[node] = std::max(widths[node], line[node].size());

  std::string text = figure.title + "\n\n";
  const auto print_line = [&](const std::string& label, const std::vector<std::string>& cells) {
    std::string line = fmt::format("{:>6}", label);
    for (size_t node = 0; node < nodes; ++node)
      line += fmt::format(" {} {:{}}", node == figure.first_nodes ? "||" : "|", cells[node],
                          widths[node]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  print_line("step", lines[0]);
  for (size_t i = 0; i < figure.rows.size(); ++i) {
    if (!figure.rows[i].heading.empty())
      text += fmt::format("    -- {} --\n", figure.rows[i].heading);
    print_line(std::to_string(figure.rows[i].key), lines[i + 1]);
  }
  return text;
}

}  // namespace quadrille
