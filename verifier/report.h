// Writes verdicts as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verifier/decode.h"
#include "verifier/proven.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

struct CheckedCall {
  Call call;
  Report report;
  std::optional<int64_t> depth;  // if the call is right, and small enough to count it
};

// The verdict on the runtime's plans for these calls.
struct PlansVerdict {
  bool lawful = true;     // no plan was found to break a law
  bool checked = false;   // false for the plans of large jobs
  std::string text = {};  // of the line "plans"; empty if there is none
};

// Returns whether a rooted collective was walked with only some of its roots.
bool has_more_roots(const Schedule& schedule, const std::vector<CheckedCall>& checked);

// Returns the output of `check` for a file after one or more calls, up to the first that is refuted. `lawful`: no
// plan of the runtime for these calls was found to break a law.
std::string check_report(const std::string& file, const Schedule& schedule, int64_t bytes,
                         const std::vector<CheckedCall>& checked, bool lawful);

// Returns the two lines about a violation: the property that it breaks, and how.
std::string violation_text(const Violation& violation);
// Returns one line of the report: what was checked, and what was found.
std::string report_line(const char* what, const std::string& found);

// Returns the output of `check` for a schedule for any nodes if the user gives no nodes.
std::string proof_report(const std::string& file, const Schedule& schedule, int64_t bytes);
// Returns the proof of exactly this code, or null. The proof covers all ranks that the file serves.
const ProvenProgram* find_proof(const Schedule& schedule);
inline bool is_proven(const Schedule& schedule) {
  return find_proof(schedule) != nullptr || !schedule.certificate.empty();
}

// Returns the command that shows the steps around a violation.
std::string replay_command(const std::string& file, const Program& program, const Call& call,
                           const Violation& violation);

}  // namespace quadrille::verifier
