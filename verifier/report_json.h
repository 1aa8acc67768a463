// Writes the verdicts of `check` as JSON. cli/schemas/check.schema.json describes the document and its parts.
#ifndef QUADRILLE_VERIFIER_REPORT_JSON_H_
#define QUADRILLE_VERIFIER_REPORT_JSON_H_

#include <string>
#include <vector>

#include "verifier/all_topologies.h"
#include "verifier/report.h"

namespace quadrille::verifier {

// Returns a violation, or null.
std::string violation_json(const std::optional<Violation>& violation);
// Returns the nodes of each group: ["1,2,3"]. The list is empty if there are no groups.
std::string nodes_json(const std::vector<Topology>& groups);
// Returns a job on which a program fails.
std::string failing_json(const Program& program, const FailingJob& failing);

// Returns the result for a file that is bad input.
std::string error_json(const std::string& file, const std::string& why);
// Returns the result for a file, with the content of check_report().
std::string check_json(const std::string& file, const Schedule& schedule, int64_t bytes,
                       const std::vector<CheckedCall>& checked, const PlansVerdict& plans,
                       double seconds);
// Returns the result for a file for any nodes, with the content of proof_report().
std::string proof_json(const std::string& file, const Schedule& schedule, int64_t bytes);
// Returns the result for a program on all topologies.
std::string all_topologies_json(const std::string& file, const Program& program, int64_t up_to,
                                const AllTopologies& all, double seconds);

// Returns the whole document.
std::string results_json(const std::vector<std::string>& results);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_REPORT_JSON_H_
