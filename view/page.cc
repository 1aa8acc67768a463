// Fills view/page.html. The script, the styles and the numbers are in the file, so it needs no other file.
#include "view/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "schedule/text.h"
#include "view/assets.h"
#include "view/figure.h"
#include "view/holdings.h"
#include "view/lanes.h"
#include "view/pack.h"
#include "view/page_data.h"

namespace quadrille {
namespace {

constexpr int64_t kMostLanes = 64;
constexpr size_t kMostRows = 1 << 20;    // steps of a schedule
constexpr size_t kMostFrames = 1000;     // steps, or joined steps, that a reader can choose
constexpr size_t kLongFigure = 400'000;  // bytes; the page leaves a longer one out

// Returns the lines of the program as HTML. Those of the n-th step statement (heading and body) carry the number n.
std::string program_lines(const Program& program) {
  const std::string text = print(program);
  std::string html;
  int step = -1;
  size_t indent = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const size_t here = std::min(line.find_first_not_of(' '), line.size());
    const bool is_step = std::string_view(line).substr(here).starts_with("step ");
    const bool in_step = step >= 0 && here > indent;
    if (is_step) ++step, indent = here;
    html += is_step || in_step ? fmt::format("<span data-step=\"{}\">", step) : "<span>";
    html += escaped(line.empty() ? " " : line) + "</span>";
    if (!is_step && !in_step) indent = std::string::npos;  // the step has ended
    at = end + 1;
  }
  return html;
}

// Returns a sentence as HTML. Text between backticks becomes code.
std::string prose(const std::string& sentence) {
  std::string html;
  bool is_code = false;
  for (const char c : escaped(sentence)) {
    if (c != '`') {
      html += c;
      continue;
    }
    is_code = !is_code;
    html += is_code ? "<code>" : "</code>";
  }
  return html;
}

std::string list_items(const std::vector<std::string>& sentences) {
  std::string html;
  for (const std::string& sentence : sentences) html += "<li>" + prose(sentence) + "</li>";
  return html;
}

std::string verdict(const Page& page, const Holdings& holdings) {
  if (!holdings.violation.empty())
    return "<strong>Refuted.</strong> " + escaped(holdings.violation);
  std::string html =
      "<strong>Verified</strong> on these nodes: the exact checker walked this call. Data ends "
      "where it belongs, and no rank waits for ever.";
  for (const std::string& sentence : page.proof) html += " " + prose(sentence);
  return html;
}

// Returns "factor: an all-to-all on nodes 1,2,3 takes 6.1 us, 1.2 times the lower bound".
std::string title(const Page& page, const Figure& figure) {
  const std::string& name = page.program->algorithm.text;
  return fmt::format("{}: {}{} {}", name, in_words(page.program->collective),
                     figure.title.substr(name.size()), page.time);
}

// Joins consecutive steps if the page would have more than kMostFrames rows.
void join_rows(Figure& figure) {
  const size_t joined = (figure.rows.size() + kMostFrames - 1) / kMostFrames;
  if (joined <= 1) return;
  std::vector<FigureRow> rows;
  for (size_t i = 0; i < figure.rows.size(); ++i) {
    FigureRow& row = figure.rows[i];
    if (i % joined == 0) {
      rows.push_back(std::move(row));
      continue;
    }
    FigureRow& first = rows.back();
    first.last_key = row.key;
    first.arcs.insert(first.arcs.end(), row.arcs.begin(), row.arcs.end());
    for (const int statement : row.statements)
      if (std::ranges::find(first.statements, statement) == first.statements.end())
        first.statements.push_back(statement);
  }
  figure.rows = std::move(rows);
}

// Returns the text with each @name@ replaced by the value of the name. Values are not searched for names.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto named = std::ranges::find_if(values, [&](const auto& value) {
      return text.substr(at).starts_with(fmt::format("@{}@", value.first));
    });
    if (text[at] == '@' && named != values.end()) {
      result += named->second;
      at += named->first.size() + 2;
    } else {
      result += text[at++];
    }
  }
  return result;
}

}  // namespace

Result<std::string> page_html(const Page& page) {
  Result<Figure> figure = draw(*page.program, *page.job, *page.call, {}, {}, kMostRows);
  if (!figure.ok()) return figure.error();
  join_rows(*figure);
  const Lanes lanes = lanes_of(*figure, kMostLanes);
  const Result<Holdings> holdings =
      holdings_of(*page.program, *page.job, *page.call, *figure, lanes, page.tell);
  if (!holdings.ok()) return holdings.error();
  std::string steps = as_svg(*figure);
  if (steps.size() > kLongFigure)
    steps =
        "<p>The picture of all steps is too long. <code>quadrille show FILE --format svg --steps "
        "LOW..HIGH</code> draws some of them.</p>";
  return filled(kPageHtml, {{"title", escaped(title(page, *figure))},
                            {"style", std::string(kPaletteCss) + kPageCss},
                            {"facts", list_items(page.facts)},
                            {"judged", holdings->violation.empty() ? "right" : "refuted"},
                            {"verdict", verdict(page, *holdings)},
                            {"unit", lanes.unit},
                            {"program", program_lines(*page.program)},
                            {"figure", steps},
                            {"curves", curves_svg(page.curves)},
                            {"data", page_data(page, *figure, lanes, *holdings)},
                            {"script", kPageJs}});
}

}  // namespace quadrille
