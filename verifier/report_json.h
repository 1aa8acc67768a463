// Writes the verdicts of `check` as JSON. cli/schemas/check.json describes the document and its parts.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "verifier/all_topologies.h"
#include "verifier/report.h"

namespace quadrille::verifier {

// Returns a job on which a program fails, or null.
cli::Json failing_json(const Program& program, const std::optional<FailingJob>& failing);

// Returns the result for a file that is bad input.
cli::Json error_json(const std::string& file, const std::string& why);
// Returns the result for a file, with the content of check_report().
cli::Json check_json(const std::string& file, const Schedule& schedule, int64_t bytes,
                     const std::vector<CheckedCall>& checked, const PlansVerdict& plans,
                     double seconds);
// Returns the result for a file for any nodes, with the content of proof_report().
cli::Json proof_json(const std::string& file, const Schedule& schedule, int64_t bytes);
// Returns the result for a program on all topologies.
cli::Json all_topologies_json(const std::string& file, const Program& program, int64_t up_to,
                              const AllTopologies& all, double seconds);

}  // namespace quadrille::verifier
