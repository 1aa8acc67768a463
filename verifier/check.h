// The exact checker: walks every rank of a decoded schedule and says whether it is right on this
// topology.
//
// Four executors. check_direct streams all ranks in key order and keeps a bit a pair of ranks; it
// serves schedules in which every block travels once, straight from its source to its destination.
// check_forward does so for all-to-alls whose blocks travel by way of temporary buffers.
// check_gather takes one rank after another, and keeps what that one holds; it serves allgathers in
// which bytes travel between equal places of equal blocks. execute() runs anything in the language,
// by rendezvous, and keeps what every block holds. All stop at the first violation. They are tested
// against each other.
#ifndef QUADRILLE_VERIFIER_CHECK_H_
#define QUADRILLE_VERIFIER_CHECK_H_

#include <optional>

#include "schedule/binding.h"
#include "schedule/program.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

struct CheckOptions {
  // Partners that a port may have at a time; where set, asked of every node even without a claim.
  std::optional<int> ports;
};

// Chooses the executor. Errors are bad input: a requirement that does not hold, counts that are
// missing.
Result<Report> check_schedule(const Program& program, const Job& job, const Call& call,
                              const CheckOptions& options);

// True for programs that check_direct can serve: in them every block travels whole from a send
// buffer to a receive buffer, and steps either wait for all earlier ones or, with `after -1`, for
// none.
bool is_direct(const Program& program);

// Nothing where the schedule turns out to need execute().
std::optional<Report> check_direct(const Program& program, const Job& job, const Binding& binding,
                                   const CheckOptions& options);

// True for programs that check_forward can serve: all-to-alls of one group in which whole blocks
// travel from send and temporary buffers to temporary and receive buffers.
bool is_forwarding(const Program& program);

// Nothing where the schedule turns out to need execute().
std::optional<Report> check_forward(const Program& program, const Job& job, const Binding& binding,
                                    const CheckOptions& options);

// True for programs that check_gather may be able to serve: allgathers of one group, asked about
// the port that they claim.
bool is_gather(const Program& program, const CheckOptions& options);

// Nothing where the schedule turns out to need execute().
std::optional<Report> check_gather(const Program& program, const Job& job, const Call& call,
                                   const Binding& binding);

Report execute(const Program& program, const Job& job, const Call& call,
               const std::vector<Binding>& bindings, const CheckOptions& options);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CHECK_H_
