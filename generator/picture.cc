// Walks every rank, gathers its sends and copies by key, and lays them out. Headings come from the
// loops that the program calls `phase` and `round`. Tested by tests/generator/picture_test.cc.
#include "generator/picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "schedule/traverse.h"
#include "schedule/walk.h"

namespace quadrille {
namespace {

constexpr int64_t kMostRanks = 1024;
constexpr size_t kMostRows = 2000;

// The loops that give headings, by their place among the lets and fors.
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

// The sink of one rank's walk.
class Gatherer {
 public:
  explicit Gatherer(std::map<int64_t, FigureRow>& rows) : rows_(rows) {}

  void enter(int64_t rank, std::optional<int64_t> key) {
    rank_ = rank;
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
  void reduce(Side, const PieceValue&, const PieceValue&) {}

 private:
  void add(const MessageHead& head, bool token) {
    if (row_ && head.direction == Direction::kSend)
      row_->arcs.push_back({rank_, head.peer, false, token});
  }

  std::map<int64_t, FigureRow>& rows_;
  FigureRow* row_ = nullptr;
  int64_t rank_ = 0;
  MessageHead head_{};
  bool empty_ = false;
};

// Two blocks, or two tokens, in opposite directions become one arc; arcs are sorted from the left.
void join_directions(std::vector<Arc>& arcs) {
  std::vector<Arc> joined;
  for (const Arc& arc : arcs) {
    const auto back = std::find_if(joined.begin(), joined.end(), [&](const Arc& other) {
      return other.source == arc.target && other.target == arc.source &&
             other.source != other.target && !other.both_ways && other.token == arc.token;
    });
    if (back == joined.end())
      joined.push_back(arc);
    else
      back->both_ways = true;
  }
  std::sort(joined.begin(), joined.end(), [](const Arc& a, const Arc& b) {
    return std::minmax(a.source, a.target) < std::minmax(b.source, b.target);
  });
  arcs = std::move(joined);
}

std::string arc_text(const Arc& arc) {
  if (arc.source == arc.target) return fmt::format("{}", arc.source);
  return fmt::format("{}{}{}>{}", arc.source, arc.both_ways ? "<" : "", arc.token ? "~" : "-",
                     arc.target);
}

std::vector<int64_t> node_of_rank(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> nodes;
  for (size_t node = 0; node < sizes.size(); ++node) nodes.insert(nodes.end(), sizes[node], node);
  return nodes;
}

class Walk {
 public:
  Walk(const Program& program, const Binding& binding)
      : binding_(binding), code_(*Code::compile(program)), loops_(find_loops(program)) {}

  Result<std::map<int64_t, FigureRow>> run(std::optional<int64_t> low,
                                           std::optional<int64_t> high) {
    std::map<int64_t, FigureRow> rows;
    for (int64_t rank = 0; rank < binding_.place.ranks; ++rank) {
      Gatherer gatherer(rows);
      std::vector<int64_t> registers(code_.registers());
      Walker walker;
      code_.start(binding_, rank, walker, registers.data());
      Pause pause;
      gatherer.enter(rank, std::nullopt);
      while ((pause = code_.run<PauseAtOutside>(binding_, walker, registers.data(), gatherer)) ==
                 Pause::kStep ||
             pause == Pause::kOutside) {
        if (pause == Pause::kOutside) {  // copies there stand in no row
          gatherer.enter(rank, std::nullopt);
          continue;
        }
        const bool wanted = (!low || *low <= walker.key) && (!high || walker.key < *high);
        gatherer.enter(rank, wanted ? std::optional(walker.key) : std::nullopt);
        if (wanted) head(*gatherer.row(), walker.key, registers);
        if (rows.size() > kMostRows)
          return Error{
              fmt::format("more than {} steps; choose some with --steps LOW..HIGH", kMostRows)};
      }
      if (pause == Pause::kUndefined)
        return Error{fmt::format("rank {} meets {}", rank, describe(walker.why))};
    }
    return rows;
  }

 private:
  void head(FigureRow& row, int64_t key, const std::vector<int64_t>& registers) const {
    row.key = key;
    if (loops_.phase < 0 || loops_.round < 0 || !row.heading.empty()) return;
    row.heading = fmt::format("phase {}, round {}", code_.variable(registers.data(), loops_.phase),
                              code_.variable(registers.data(), loops_.round));
  }

  const Binding& binding_;
  const Code code_;
  const HeadingLoops loops_;
};

}  // namespace

Result<Figure> draw(const Program& program, const Job& job, const Call& call,
                    std::optional<int64_t> low, std::optional<int64_t> high) {
  if (program.groups != 1)
    return Error{
        "schedules between two groups are not drawn; `verifier replay` prints what ranks do"};
  if (job.groups[0].ranks() > kMostRanks)
    return Error{fmt::format("{} ranks are too many to draw; at most {} are", job.groups[0].ranks(),
                             kMostRanks)};
  const Result<Binding> binding = bind(program, job, call, 0);
  if (!binding.ok()) return binding.error();
  Result<std::map<int64_t, FigureRow>> rows = Walk(program, *binding).run(low, high);
  if (!rows.ok()) return rows.error();
  Figure figure;
  figure.title = fmt::format("{} on nodes {}", program.algorithm.text, job.groups[0].text());
  figure.node_sizes = job.groups[0].sizes();
  std::string heading;
  for (auto& [key, row] : *rows) {
    if (row.arcs.empty()) continue;
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
    lines[0].push_back(first == last ? fmt::format("node {}: {}", node, first)
                                     : fmt::format("node {}: {}-{}", node, first, last));
    first = last + 1;
  }
  for (const FigureRow& row : figure.rows) {
    std::vector<std::string> cells(nodes);
    for (const Arc& arc : row.arcs) {
      const auto add = [&](int64_t node) {
        cells[node] += (cells[node].empty() ? "" : " ") + arc_text(arc);
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
      line += fmt::format(" | {:{}}", cells[node], widths[node]);
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
