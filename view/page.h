// Makes one self-contained HTML file that shows a call of a schedule. It has what ranks do over time, traffic, blocks
// after each step, the program with its running lines, what is proven, and times over sizes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/result.h"
#include "simulate/engine.h"
#include "view/curves.h"

namespace quadrille {

// A simulated or measured call. The trace of a measured call has no `queued`.
struct PageRun {
  std::string name;  // "Simulated", "Measured"
  const Scripts* scripts = nullptr;
  const Trace* trace = nullptr;
  const Outcome* outcome = nullptr;
  const Machine* machine = nullptr;
};

struct Page {
  const Program* program = nullptr;
  const Job* job = nullptr;
  const Call* call = nullptr;
  std::string time;                // ends the headline: "takes 6.1 us, 1.2 times the lower bound"
  std::vector<std::string> facts;  // sentences below the headline: the call, the machine
  std::vector<std::string> proof;  // sentences: whether the program is proven for all sizes
  std::vector<PageRun> runs;       // of this call; at least one
  Curves curves;                   // may be empty
  // Reports the checker's progress; may be empty.
  std::function<void(const char* unit, int64_t done, int64_t all)> tell;
};

// Lets the exact checker walk the call, and returns a page with its verdict. Errors: the call does not fit the
// program, or the schedule has too many ranks or steps to be drawn.
Result<std::string> page_html(const Page& page);

}  // namespace quadrille
