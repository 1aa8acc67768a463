// The exact checker: walks every rank of a decoded schedule and says whether it is right on this
// topology.
//
// Three executors. check_key_order streams all ranks in key order and keeps a few bytes a block; it
// serves all-to-alls whose blocks travel whole, straight or by way of temporary buffers.
// check_rank_by_rank takes one rank after another, and keeps what that one holds; it serves
// allgathers in which bytes travel between equal places of equal blocks. execute() runs anything in
// the language, by rendezvous, and keeps what every block holds. All stop at the first violation.
// They are tested against each other.
#ifndef QUADRILLE_VERIFIER_CHECK_H_
#define QUADRILLE_VERIFIER_CHECK_H_

#include <functional>
#include <optional>

#include "schedule/binding.h"
#include "schedule/program.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

// Is told again and again how far the check has come: so many "ranks" or "messages" of `all`, or of nobody knows how many
// where that is 0.
using Tell = std::function<void(const char* unit, int64_t done, int64_t all)>;

struct CheckOptions {
  // Partners that a port may have at a time; where set, asked of every node even without a claim.
  std::optional<int64_t> ports;
  Tell tell = nullptr;  // may be missing
};

// Chooses the executor. Errors are bad input: a requirement that does not hold, counts that are
// missing.
Result<Report> check_schedule(const Program& program, const Job& job, const Call& call,
                              const CheckOptions& options);

// True for programs that check_key_order can serve: all-to-alls of one group in which whole blocks
// travel from send and temporary buffers to temporary and receive buffers.
bool fits_key_order(const Program& program);

// Nothing where the schedule turns out to need execute().
std::optional<Report> check_key_order(const Program& program, const Job& job,
                                      const Binding& binding, const CheckOptions& options);

// True for programs that check_rank_by_rank may be able to serve: allgathers of one group, asked about
// the port that they claim.
bool fits_rank_by_rank(const Program& program, const CheckOptions& options);

// Nothing where the schedule turns out to need execute().
std::optional<Report> check_rank_by_rank(const Program& program, const Job& job, const Call& call,
                                         const Binding& binding, const CheckOptions& options = {});

Report execute(const Program& program, const Job& job, const Call& call,
               const std::vector<Binding>& bindings, const CheckOptions& options);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CHECK_H_
