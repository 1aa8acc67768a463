// Every picture shows all messages of the walk, and nothing else.
#include "view/figure.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/support/cases.h"
#include "tests/support/events.h"
#include "tests/support/matches.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "view/lanes.h"

namespace quadrille {
namespace {

using testing::HasSubstr;

// A message or a copy: (key, source, target, kind). The ranks of the second group follow those of the first.
using Happening = std::tuple<int64_t, int64_t, int64_t, ArcKind>;
using Happenings = std::multiset<Happening>;

// Adds what one group does. `combined` gets the messages whose receiver combines their data.
void add_walk(const Program& program, const Binding& binding, Happenings& result,
              std::set<std::tuple<int64_t, int64_t, int64_t>>& combined) {
  const Place& place = binding.place;
  const auto numbered = [&](int64_t group, int64_t rank) {
    return rank + (group == 0 ? 0 : place.group == 0 ? place.ranks : place.remote_ranks);
  };
  for (int64_t each = 0; each < place.ranks; ++each) {
    const int64_t rank = numbered(place.group, each);
    std::optional<int64_t> key;
    std::optional<Happening> open;
    for (const std::string& event : oracle_events(program, binding, each)) {
      const bool remote = event.find(" remote") != std::string::npos;
      const auto peer = [&] {
        return numbered(remote ? 1 - place.group : place.group,
                        std::stoll(event.substr(event.rfind(' '))));
      };
      if (event == "step end")
        key.reset();
      else if (event.starts_with("step "))
        key = std::stoll(event.substr(5));
      else if (event.starts_with("send "))
        open = {key.value(), rank, peer(), ArcKind::kToken};
      else if (event.starts_with("receive ") && (event.find(" left") != std::string::npos ||
                                                 event.find(" right") != std::string::npos))
        combined.insert({key.value(), peer(), rank});
      else if ((event.starts_with("send[") || event.starts_with("recv[") ||
                event.starts_with("temp[")) &&
               open)
        std::get<3>(*open) = ArcKind::kMoves;
      else if (event.starts_with("copy ") && key)
        result.insert({*key, rank, rank, ArcKind::kMoves});
      if (event == "message end" && open) {
        result.insert(*open);
        open.reset();
      }
    }
  }
}

Happenings of_walk(const Program& program, const Job& job, const Call& call) {
  Happenings walked, result;
  std::set<std::tuple<int64_t, int64_t, int64_t>> combined;
  for (int group = 0; group < program.groups; ++group)
    add_walk(program, bind(program, job, call, group).value(), walked, combined);
  for (auto [key, source, target, kind] : walked) {
    if (combined.contains({key, source, target})) kind = ArcKind::kCombines;
    result.insert({key, source, target, kind});
  }
  return result;
}

Happenings of_figure(const Figure& figure) {
  Happenings result;
  for (const FigureRow& row : figure.rows)
    for (const Arc& arc : row.arcs) {
      result.insert({row.key, arc.source, arc.target, arc.kind});
      if (arc.both_ways) result.insert({row.key, arc.target, arc.source, arc.kind});
    }
  return result;
}

// Reads messages from the table, as in "0<->1 3~>4'". An arc between two nodes is in the cells of both.
Happenings of_text(const std::string& text, int64_t first_ranks) {
  std::set<Happening> result;  // a step of these schedules has none twice
  std::istringstream lines(text);
  const auto numbered = [&](const std::string& rank) {
    return std::stoll(rank) + (rank.ends_with("'") ? first_ranks : 0);
  };
  for (std::string line; std::getline(lines, line);) {
    const std::vector<Match> row = matches(line, R"(^ *(-?[0-9]+) \|(.*)$)");
    if (row.empty()) continue;
    const int64_t key = std::stoll(row[0].groups[1]);
    for (const Match& arc : matches(row[0].groups[2], "([0-9]+'?)((<?)([-=~])>([0-9]+'?))?")) {
      const int64_t source = numbered(arc.groups[1]);
      const int64_t target = arc.groups[2].empty() ? source : numbered(arc.groups[5]);
      const ArcKind kind = arc.groups[4] == "~"   ? ArcKind::kToken
                           : arc.groups[4] == "=" ? ArcKind::kCombines
                                                  : ArcKind::kMoves;
      result.insert({key, source, target, kind});
      if (arc.groups[3] == "<") result.insert({key, target, source, kind});
    }
  }
  return {result.begin(), result.end()};
}

struct Drawn {
  int64_t source, target;
  std::string style;
  friend auto operator<=>(const Drawn&, const Drawn&) = default;
};

// Reads the lines and dots of the SVG. A line's ends and a dot lie in the columns of their ranks.
std::multiset<Drawn> of_svg(const std::string& svg, int64_t first_ranks) {
  std::map<int64_t, int64_t> rank_at;
  for (const Match& rank :
       matches(svg, R"re(<text x="([0-9]+)" y="[0-9]+" class="rank">([0-9]+)('?)</text>)re"))
    for (int64_t slack = -4; slack <= 4; ++slack)
      rank_at[std::stoll(rank.groups[1]) + slack] =
          std::stoll(rank.groups[2]) + (rank.groups[3].empty() ? 0 : first_ranks);
  std::multiset<Drawn> result;
  const std::string rows = svg.substr(std::min(svg.find("<g data-row"), svg.size()));
  for (
      const Match& line : matches(
          rows,
          R"re(<line x1="([0-9]+)" y1="[0-9]+" x2="([0-9]+)" y2="[0-9]+" class="((between|inside)( token)?)"( marker-start="url\(#(from|sums)\)")? marker-end="url\(#(to|sum)\)")re"))
    result.insert({rank_at.at(std::stoll(line.groups[1])), rank_at.at(std::stoll(line.groups[2])),
                   fmt::format("{} {}{}", line.groups[3], line.groups[8],
                               line.groups[6].empty() ? "" : "<")});
  for (const Match& dot :
       matches(rows, R"re(<circle cx="([0-9]+)" cy="[0-9]+" r="4" class="copy"/>)re"))
    result.insert(
        {rank_at.at(std::stoll(dot.groups[1])), rank_at.at(std::stoll(dot.groups[1])), "copy"});
  return result;
}

// Returns what the SVG must show. The color tells messages between nodes, the arrow head those that combine.
std::multiset<Drawn> as_drawn(const Figure& figure) {
  std::vector<size_t> node_of;
  for (size_t node = 0; node < figure.node_sizes.size(); ++node)
    node_of.insert(node_of.end(), figure.node_sizes[node], node);
  std::multiset<Drawn> result;
  for (const FigureRow& row : figure.rows)
    for (const Arc& arc : row.arcs)
      result.insert(
          {arc.source, arc.target,
           arc.source == arc.target
               ? "copy"
               : fmt::format(
                     "{}{} {}{}", node_of[arc.source] == node_of[arc.target] ? "inside" : "between",
                     arc.kind == ArcKind::kToken ? " token" : "",
                     arc.kind == ArcKind::kCombines ? "sum" : "to", arc.both_ways ? "<" : "")});
  return result;
}

// A cell of a square: (step, sending lane, receiving lane, "between" or "inside" nodes, whether it combines).
using Cell = std::tuple<int64_t, int64_t, int64_t, std::string, bool>;

// Reads the cells of all squares. A cell has `side` x `side` pixels.
std::set<Cell> of_squares(const std::string& svg, int64_t side) {
  std::set<Cell> result;
  for (
      const Match& row : matches(
          svg,
          R"re(<text x="([0-9]+)" y="([0-9]+)" class="heading">(-?[0-9]+)[^<]*</text>[[:space:]]<rect[^>]*/>[[:space:]]<path d="([^"]*)" class="inside cell"/><path d="([^"]*)" class="between cell"/>)re"))
    for (const int colour : {4, 5}) {
      const int64_t x = std::stoll(row.groups[1]), y = std::stoll(row.groups[2]) + 4;
      for (const Match& cell : matches(row.groups[colour], "M([0-9]+),([0-9]+)([hl])"))
        result.insert({std::stoll(row.groups[3]), (std::stoll(cell.groups[2]) - y) / side,
                       (std::stoll(cell.groups[1]) - x) / side, colour == 4 ? "inside" : "between",
                       cell.groups[3] == "l"});
    }
  return result;
}

// Returns whether all tags are closed in order and all attributes are quoted.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  std::string rest;
  size_t last = 0;
  for (const Match& tag :
       matches(xml, R"re(<(/?)([a-zA-Z]+)(( [a-zA-Z0-9-]+="[^"<]*")*)(/?)>)re")) {
    rest += xml.substr(last, tag.at - last);
    last = tag.at + tag.groups[0].size();
    if (tag.groups[1] == "/") {
      if (open.empty() || open.back() != tag.groups[2] || !tag.groups[3].empty() ||
          !tag.groups[5].empty())
        return false;
      open.pop_back();
    } else if (tag.groups[5] != "/") {
      open.push_back(tag.groups[2]);
    }
  }
  rest += xml.substr(last);
  return open.empty() && rest.find_first_of("<>&") == std::string::npos;
}

TEST(Figure, ShowsTheFifteenStepsOfThePapersFigure3) {
  const Program& program = variant_named(Collective::kAlltoall, "hierarchical-factor+drop").program;
  const Figure figure = draw(program, job_of({1, 2, 3}), {}, {}, {}).value();
  EXPECT_EQ(figure.rows.size(), 15u);
  EXPECT_EQ(as_text(figure), read_text("tests/view/steps_1_2_3.txt"));
}

TEST(Figure, ShowsEveryMessageOfTheWalkInEveryForm) {
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 2, 3}, {2, 2, 2, 2}, {4}}) {
      // cases_on() puts these nodes beside several others, so one of them is enough for two groups.
      if (variant.program.groups == 2 && sizes.size() != 3) continue;
      for (const Case& c : cases_on(variant, sizes)) {
        const Figure figure = draw(variant.program, c.job, c.call, {}, {}).value();
        const Happenings walk = of_walk(variant.program, c.job, c.call);
        ASSERT_FALSE(walk.empty()) << figure.title;
        EXPECT_EQ(of_figure(figure), walk) << figure.title;
        const int64_t first = c.job.groups[0].ranks();
        EXPECT_EQ(of_text(as_text(figure), first), walk) << figure.title << "\n" << as_text(figure);
        EXPECT_EQ(of_svg(as_svg(figure), first), as_drawn(figure)) << figure.title;
        EXPECT_TRUE(is_well_formed(as_svg(figure))) << figure.title;
      }
    }
}

// A lane is one of 40 ranks, or a node of 8 ranks.
TEST(Figure, HasASquareOfLanesForEachStepOfALargeJob) {
  for (const auto& [sizes, ranks_of_lane, side] :
       {std::tuple(std::vector<int64_t>{20, 20}, 1, 2), {std::vector<int64_t>(12, 8), 8, 4}})
    for (const char* name : {"hierarchical-factor", "tuna-coalesced"}) {
      const Algorithm& algorithm = *find_algorithm(Collective::kAlltoall, name);
      const Program program = make_program(algorithm, all_choices(algorithm)[0]);
      Job job = job_of(sizes);
      job.parameters.assign(program.parameters.size(), 2);
      const Figure figure = draw(program, job, {}, {}, {}).value();
      std::set<Cell> wanted;
      for (const auto& [key, source, target, kind] : of_walk(program, job, {}))
        if (source != target)
          wanted.insert({key, source / ranks_of_lane, target / ranks_of_lane,
                         source / sizes[0] == target / sizes[0] ? "inside" : "between", false});
      EXPECT_EQ(of_squares(as_svg(figure), side), wanted) << figure.title;
      EXPECT_TRUE(is_well_formed(as_svg(figure))) << figure.title;
    }
}

TEST(Figure, TellsSumsFromOtherDataInSquares) {
  const Program program = make_program(*find_algorithm(Collective::kReduce, "binomial"), {});
  const std::string svg =
      as_svg(draw(program, job_of({40}), {{std::vector<int64_t>(40, 1)}, {}, 0}, {}, {}).value());
  const std::set<Cell> cells = of_squares(svg, 2);
  EXPECT_EQ(cells.size(), 39u);
  for (const Cell& cell : cells) EXPECT_TRUE(std::get<4>(cell));
  EXPECT_THAT(svg, HasSubstr(">reduces<"));
}

TEST(Lanes, AreRanksOrNodesOrPartsOfNodesOrSeveralNodes) {
  const auto lanes = [](const std::vector<int64_t>& sizes, size_t first_nodes) {
    Figure figure;
    figure.node_sizes = sizes;
    figure.first_nodes = first_nodes;
    const Lanes all = lanes_of(figure, 64);
    EXPECT_LE(all.count(), 72);
    return fmt::format("{} of {}: {}, {}", all.count(), all.unit, all.all.front().name,
                       all.all.back().name);
  };
  EXPECT_EQ(lanes({1, 2, 3}, 3), "6 of rank: 0, 5");
  EXPECT_EQ(lanes({1, 2, 3}, 2), "6 of rank: 0, 2'");
  EXPECT_EQ(lanes(std::vector<int64_t>(32, 32), 32), "32 of node: node 0, node 31");
  EXPECT_EQ(lanes({512, 512}, 2), "64 of part of a node: ranks 0-15, ranks 1008-1023");
  EXPECT_EQ(lanes(std::vector<int64_t>(1024, 1), 1024),
            "64 of group of nodes: nodes 0-15, nodes 1008-1023");
  EXPECT_EQ(lanes(std::vector<int64_t>(100, 1), 50),
            "50 of group of nodes: nodes 0-1, nodes 48'-49'");
}

TEST(Figure, TellsTokensFromBlocksInBothDirections) {
  const Program program =
      parse_program(
          "algorithm a for alltoall\n"
          "step 0\n  send nothing to 1 - rank\n  receive nothing from 1 - rank\n"
          "step 1\n  if rank = 0\n    send send[1] to 1\n    receive nothing "
          "from 1\n  else\n    send nothing to 0\n    receive recv[0] from 0\n",
          "tokens")
          .value();
  const Figure figure = draw(program, job_of({1, 1}), {}, {}, {}).value();
  EXPECT_EQ(of_figure(figure), of_walk(program, job_of({1, 1}), {}));
  EXPECT_EQ(of_text(as_text(figure), 2), of_walk(program, job_of({1, 1}), {}));
  EXPECT_THAT(as_text(figure), HasSubstr("0<~>1"));
  EXPECT_EQ(of_svg(as_svg(figure), 2), as_drawn(figure));
}

TEST(Figure, ShowsTwoGroupsBesideEachOtherAndWhatIsCombined) {
  const Program program = make_program(*find_algorithm(Collective::kReduce, "leader", 2), {});
  const Job job{{topology_of({2}), topology_of({1, 2})}, {}};
  const Figure figure = draw(program, job, {}, {}, {}).value();
  EXPECT_EQ(as_text(figure),
            "leader on nodes 2 and 1,2, primed\n\n"
            "  step | node 0: 0-1 || node 0': 0' | node 1': 1'-2'\n"
            "     0 |             || 1'=>0'      | 1'=>0'\n"
            "     1 |             || 2'=>0'      | 2'=>0'\n"
            "     3 | 0'->0       || 0'->0       |\n");
}

TEST(Figure, ShowsChosenStepsOnly) {
  const Program& program = variant_named(Collective::kAlltoall, "factor").program;
  const Figure figure = draw(program, job_of({6}), {}, 2, 4).value();
  ASSERT_EQ(figure.rows.size(), 2u);
  EXPECT_EQ(figure.rows[0].key, 2);
  EXPECT_EQ(figure.rows[1].key, 3);
  EXPECT_TRUE(draw(program, job_of({6}), {}, 100, {})->rows.empty());
}

TEST(Figure, RefusesWhatNobodyCouldRead) {
  const auto refusal = [](const Program& program, const std::vector<int64_t>& sizes) {
    const Result<Figure> figure = draw(program, job_of(sizes), {}, {}, {});
    return figure.ok() ? "drawn" : figure.error().message;
  };
  const Program& factor = variant_named(Collective::kAlltoall, "factor").program;
  EXPECT_EQ(refusal(factor, {1025}), "1025 ranks are too many to draw; at most 1024 are");
  const Program broken =
      parse_program("algorithm a for alltoall\nlet x = 1 div rank\n", "broken").value();
  EXPECT_EQ(refusal(broken, {2}), "rank 0 meets a divisor that is not positive");
  for (const auto& [peer, number] :
       {std::pair{"rank + 1000000000", "1000000001"}, {"rank + 1", "2"}, {"rank - 2", "-1"}}) {
    const std::string text = fmt::format(
        "algorithm a for alltoall\nif rank = 1\n  step 0\n    send send[0] to {}\n", peer);
    EXPECT_EQ(
        refusal(parse_program(text, "stray").value(), {2}),
        fmt::format("rank 1 sends to, or receives from, rank {}, which is not there", number));
  }
  const Program between =
      parse_program("algorithm a for alltoall between groups\nlet x = 1 div (1 - group)\n",
                    "broken")
          .value();
  const Result<Figure> figure =
      draw(between, {{topology_of({1}), topology_of({2})}, {}}, {}, {}, {});
  EXPECT_EQ(figure.error().message, "rank 0 of group 1 meets a divisor that is not positive");
  EXPECT_EQ(
      draw(between, {{topology_of({1000}), topology_of({25})}, {}}, {}, {}, {}).error().message,
      "1025 ranks are too many to draw; at most 1024 are");
}

TEST(WellFormed, RefusesUnbalancedTags) {
  EXPECT_TRUE(is_well_formed("<svg><g a=\"1\"><line/></g>text</svg>"));
  for (const char* broken : {"<svg><g></svg>", "<svg>", "</svg>", "<svg></g>", "<svg>a < b</svg>",
                             "<svg>a & b</svg>", "<svg a=1></svg>"})
    EXPECT_FALSE(is_well_formed(broken)) << broken;
}

}  // namespace
}  // namespace quadrille
