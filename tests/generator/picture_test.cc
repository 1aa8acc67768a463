// The pictures show every message of the walk, and nothing else.
#include "generator/picture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille {
namespace {

using testing::HasSubstr;

// A message or a copy: key, source, target, whether it is a token.
using Happening = std::tuple<int64_t, int64_t, int64_t, bool>;
using Happenings = std::multiset<Happening>;

Happenings of_walk(const Program& program, const Job& job, const Call& call) {
  Happenings result;
  const Binding binding = bind(program, job, call, 0).value();
  for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
    std::optional<int64_t> key;
    std::optional<Happening> open;
    for (const std::string& event : oracle_events(program, binding, rank)) {
      if (event == "step end")
        key.reset();
      else if (event.starts_with("step "))
        key = std::stoll(event.substr(5));
      else if (event.starts_with("send "))
        open = {key.value(), rank, std::stoll(event.substr(event.rfind(' '))), true};
      else if ((event.starts_with("send[") || event.starts_with("recv[") ||
                event.starts_with("temp[")) &&
               open)
        std::get<3>(*open) = false;
      else if (event.starts_with("copy ") && key)
        result.insert({*key, rank, rank, false});
      if (event == "message end" && open) {
        result.insert(*open);
        open.reset();
      }
    }
  }
  return result;
}

Happenings of_figure(const Figure& figure) {
  Happenings result;
  for (const FigureRow& row : figure.rows)
    for (const Arc& arc : row.arcs) {
      result.insert({row.key, arc.source, arc.target, arc.token});
      if (arc.both_ways) result.insert({row.key, arc.target, arc.source, arc.token});
    }
  return result;
}

// From the table: "0<->1 3~>4" in the cells of a row; an arc between two nodes stands in both.
Happenings of_text(const std::string& text) {
  std::set<Happening> result;  // at most one of each in a step of these schedules
  std::istringstream lines(text);
  const std::regex row(R"(^ *(-?\d+) \|(.*))"), arc(R"((\d+)(?:(<?)([-~])>(\d+))?)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const int64_t key = std::stoll(match[1]);
    const std::string cells = match[2];
    for (std::sregex_iterator at(cells.begin(), cells.end(), arc), end; at != end; ++at) {
      const int64_t source = std::stoll((*at)[1]);
      const int64_t target = (*at)[4].matched ? std::stoll((*at)[4]) : source;
      const bool token = (*at)[3] == "~";
      result.insert({key, source, target, token});
      if ((*at)[2] == "<") result.insert({key, target, source, token});
    }
  }
  return {result.begin(), result.end()};
}

struct Drawn {
  int64_t source, target;
  std::string style;
  friend auto operator<=>(const Drawn&, const Drawn&) = default;
};

// Lines and dots of the SVG, by the ranks whose columns they touch.
std::multiset<Drawn> of_svg(const std::string& svg) {
  std::map<int64_t, int64_t> rank_at;
  const std::regex rank(R"re(<text x="(\d+)" y="\d+" class="rank">(\d+)</text>)re");
  for (std::sregex_iterator at(svg.begin(), svg.end(), rank), end; at != end; ++at)
    for (int64_t slack = -4; slack <= 4; ++slack)
      rank_at[std::stoll((*at)[1]) + slack] = std::stoll((*at)[2]);
  std::multiset<Drawn> result;
  const std::regex line(
      R"re(<line x1="(\d+)" y1="\d+" x2="(\d+)" y2="\d+" class="(one|both|token)"( marker-start="url\(#from\)")?)re");
  for (std::sregex_iterator at(svg.begin(), svg.end(), line), end; at != end; ++at)
    result.insert({rank_at.at(std::stoll((*at)[1])), rank_at.at(std::stoll((*at)[2])),
                   (*at)[3].str() + ((*at)[4].matched ? "<" : "")});
  const std::regex dot(R"re(<circle cx="(\d+)" cy="\d+" r="4" class="copy"/>)re");
  for (std::sregex_iterator at(svg.begin(), svg.end(), dot), end; at != end; ++at)
    result.insert({rank_at.at(std::stoll((*at)[1])), rank_at.at(std::stoll((*at)[1])), "copy"});
  return result;
}

std::multiset<Drawn> as_drawn(const Figure& figure) {
  std::multiset<Drawn> result;
  for (const FigureRow& row : figure.rows)
    for (const Arc& arc : row.arcs)
      result.insert({arc.source, arc.target,
                     arc.source == arc.target ? "copy"
                                              : std::string(arc.token       ? "token"
                                                            : arc.both_ways ? "both"
                                                                            : "one") +
                                                    (arc.both_ways ? "<" : "")});
  return result;
}

// Every tag closed in order; attributes quoted.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  const std::regex tag(R"re(<(/?)([a-zA-Z]+)((?: [a-zA-Z0-9-]+="[^"<]*")*)(/?)>)re");
  std::string rest;
  size_t last = 0;
  for (std::sregex_iterator at(xml.begin(), xml.end(), tag), end; at != end; ++at) {
    rest += xml.substr(last, at->position() - last);
    last = at->position() + at->length();
    if ((*at)[1] == "/") {
      if (open.empty() || open.back() != (*at)[2] || (*at)[3].length() || (*at)[4].length())
        return false;
      open.pop_back();
    } else if ((*at)[4] != "/") {
      open.push_back((*at)[2]);
    }
  }
  rest += xml.substr(last);
  return open.empty() && rest.find_first_of("<>&") == std::string::npos;
}

TEST(Picture, ShowsTheFifteenStepsOfThePapersFigure3) {
  const Program program =
      make_program(*find_algorithm(Collective::kAlltoall, "hierarchical-factor"),
                   {{"self-loops", "drop"}, {"intra", "one-way"}, {"pacing", "free"}});
  const Figure figure = draw(program, job_of({1, 2, 3}), {}, {}, {}).value();
  EXPECT_EQ(figure.rows.size(), 15u);
  std::ifstream file("tests/generator/steps_1_2_3.txt");
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(as_text(figure), golden.str());
}

TEST(Picture, ShowsEveryMessageOfTheWalkInEveryForm) {
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 2, 3}, {2, 2, 2, 2}, {4}})
      for (const Case& c : cases_on(variant, sizes)) {
        if (variant.program.groups == 2) {
          EXPECT_THAT(draw(variant.program, c.job, c.call, {}, {}).error().message,
                      HasSubstr("between two groups are not drawn"));
          continue;
        }
        const Figure figure = draw(variant.program, c.job, c.call, {}, {}).value();
        const Happenings walk = of_walk(variant.program, c.job, c.call);
        ASSERT_FALSE(walk.empty()) << figure.title;
        EXPECT_EQ(of_figure(figure), walk) << figure.title;
        EXPECT_EQ(of_text(as_text(figure)), walk) << figure.title << "\n" << as_text(figure);
        EXPECT_EQ(of_svg(as_svg(figure)), as_drawn(figure)) << figure.title;
        EXPECT_TRUE(is_well_formed(as_svg(figure))) << figure.title;
      }
}

TEST(Picture, TellsTokensFromBlocksInBothDirections) {
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
  EXPECT_EQ(of_text(as_text(figure)), of_walk(program, job_of({1, 1}), {}));
  EXPECT_THAT(as_text(figure), HasSubstr("0<~>1"));
  EXPECT_EQ(of_svg(as_svg(figure)), as_drawn(figure));
}

TEST(Picture, ShowsChosenStepsOnly) {
  const Program program =
      make_program(*find_algorithm(Collective::kAlltoall, "factor"), {{"self-loops", "keep"}});
  const Figure figure = draw(program, job_of({6}), {}, 2, 4).value();
  ASSERT_EQ(figure.rows.size(), 2u);
  EXPECT_EQ(figure.rows[0].key, 2);
  EXPECT_EQ(figure.rows[1].key, 3);
  EXPECT_TRUE(draw(program, job_of({6}), {}, 100, {})->rows.empty());
}

TEST(Picture, RefusesWhatNobodyCouldRead) {
  const auto refusal = [](const Program& program, const std::vector<int64_t>& sizes) {
    const Result<Figure> figure = draw(program, job_of(sizes), {}, {}, {});
    return figure.ok() ? "drawn" : figure.error().message;
  };
  const Program factor =
      make_program(*find_algorithm(Collective::kAlltoall, "factor"), {{"self-loops", "keep"}});
  EXPECT_EQ(refusal(factor, {1025}), "1025 ranks are too many to draw; at most 1024 are");
  const Program broken =
      parse_program("algorithm a for alltoall\nlet x = 1 div rank\n", "broken").value();
  EXPECT_EQ(refusal(broken, {2}), "rank 0 meets a divisor that is not positive");
}

TEST(WellFormed, RefusesUnbalancedTags) {
  EXPECT_TRUE(is_well_formed("<svg><g a=\"1\"><line/></g>text</svg>"));
  for (const char* broken : {"<svg><g></svg>", "<svg>", "</svg>", "<svg></g>", "<svg>a < b</svg>",
                             "<svg>a & b</svg>", "<svg a=1></svg>"})
    EXPECT_FALSE(is_well_formed(broken)) << broken;
}

}  // namespace
}  // namespace quadrille
