// The verdicts of `check` as JSON: cli/schemas/check.schema.json describes it.
#ifndef QUADRILLE_VERIFIER_REPORT_JSON_H_
#define QUADRILLE_VERIFIER_REPORT_JSON_H_

#include <string>
#include <vector>

#include "verifier/all_topologies.h"
#include "verifier/report.h"

namespace quadrille::verifier {

// A violation, or null.
std::string violation_json(const std::optional<Violation>& violation);
// The nodes of each group: ["1,2,3"]. Empty if there are none.
std::string nodes_json(const std::vector<Topology>& groups);
// A job on which a program fails.
std::string failing_json(const Program& program, const FailingJob& failing);

// A file that is bad input.
std::string error_json(const std::string& file, const std::string& why);
// A file, after check_report().
std::string check_json(const std::string& file, const Schedule& schedule, int64_t bytes,
                       const std::vector<CheckedCall>& checked, const PlansVerdict& plans,
                       double seconds);
// A file for any nodes, after proof_report().
std::string proof_json(const std::string& file, const Schedule& schedule, int64_t bytes);
// A program on all topologies.
std::string all_topologies_json(const std::string& file, const Program& program, int64_t up_to,
                                const AllTopologies& all, double seconds);

// The document.
std::string results_json(const std::vector<std::string>& results);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_REPORT_JSON_H_
