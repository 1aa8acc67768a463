// The text of verdicts.
#ifndef QUADRILLE_VERIFIER_REPORT_H_
#define QUADRILLE_VERIFIER_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "verifier/decode.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

struct CheckedCall {
  Call call;
  Report report;
  std::optional<int64_t> depth;  // if the call is right and its depth was counted
};

// The output of `check` for a file after one or more calls, up to the first that is refuted. `lawful`: no plan of the
// runtime for these calls was found to break a law.
std::string check_report(const std::string& file, const Schedule& schedule, int64_t bytes,
                         const std::vector<CheckedCall>& checked, bool lawful);

// One line of it.
std::string report_line(const char* what, const std::string& found);

// The output for a schedule for any nodes if no nodes are given.
std::string proof_report(const std::string& file, const Schedule& schedule, int64_t bytes);
// Whether a proof of exactly this code covers all ranks that the file serves.
bool is_proven(const Schedule& schedule);

// The command that shows the steps around a violation.
std::string replay_command(const std::string& file, const Program& program, const Call& call,
                           const Violation& violation);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_REPORT_H_
