// One self-contained HTML file that shows a call of a schedule: timelines, traffic, the blocks after each step, the
// program with its running lines, the verdict, and times over sizes.
#ifndef QUADRILLE_VIEW_PAGE_H_
#define QUADRILLE_VIEW_PAGE_H_

#include <string>
#include <vector>

#include "schedule/result.h"
#include "simulate/engine.h"
#include "view/curves.h"
#include "view/figure.h"

namespace quadrille {

// A simulated or measured call. All runs of a page have the same scripts. A measured one has no `busy` and no
// `queued`.
struct PageRun {
  std::string name;  // "simulated", "measured"
  const Scripts* scripts = nullptr;
  const Trace* trace = nullptr;
  const Outcome* outcome = nullptr;
  const Machine* machine = nullptr;
};

struct Page {
  std::string title;               // "hierarchical-factor: alltoall on nodes 1,2,3"
  std::vector<std::string> facts;  // sentences below the title
  std::string verdict;             // "proven", "verified", "not checked"
  std::vector<std::string> scope;  // sentences: what the verdict covers
  const Program* program = nullptr;
  const Job* job = nullptr;
  const Call* call = nullptr;
  std::vector<PageRun> runs;
  Curves curves;  // may be empty
};

// Errors: the call does not fit the program, or the schedule has too many ranks or steps for a page.
Result<std::string> page_html(const Page& page);

}  // namespace quadrille

#endif  // QUADRILLE_VIEW_PAGE_H_
