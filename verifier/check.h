// The exact checker walks every rank of a decoded schedule, and says whether the schedule is right on this topology.
//
// There are three executors; tests compare them with each other. All stop at the first violation.
// - execute() runs everything in the language. Messages match by rendezvous. It keeps the contents of every block.
// - check_key_order() takes all ranks together in the order of their keys, and keeps a few bytes per block. It serves
//   all-to-alls that move whole blocks, directly or through temporary buffers.
// - check_rank_by_rank() takes one rank after another, and keeps the contents of that rank. It serves allgathers that
//   move bytes to the same offset of the same block.
#pragma once

#include <functional>
#include <optional>

#include "schedule/binding.h"
#include "schedule/program.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

// Reports progress: how many "ranks" or "messages" of `all` are done. `all` is 0 if their number is unknown.
using Tell = std::function<void(const char* unit, int64_t done, int64_t all)>;

class Observer;  // verifier/memory.h

struct CheckOptions {
  // How many partners a port may have at a time. If set, every node is checked, even if the program claims no port.
  std::optional<int64_t> ports;
  Tell tell = nullptr;           // may be empty
  Observer* observer = nullptr;  // of execute() alone; may be empty
};

// Checks one call with the executor that serves it. Errors are bad input: a failing requirement, or missing counts.
Result<Report> check_schedule(const Program& program, const Job& job, const Call& call,
                              const CheckOptions& options);

// Checks like check_schedule(). If the call has no counts, it covers blocks of all sizes. If it refutes one of these
// calls, `call` becomes that call. The program then has the same steps for all counts. The checker only compares
// lengths, so one list of counts, of which no two are equal, stands for all lists.
Result<Report> check_all_sizes(const Program& program, const Job& job, Call& call,
                               const CheckOptions& options);

// Returns whether check_key_order() can serve the program: an all-to-all of one group that moves whole blocks from
// send and temporary buffers to temporary and receive buffers.
bool fits_key_order(const Program& program);

// Returns nothing if the schedule needs execute().
std::optional<Report> check_key_order(const Program& program, const Job& job,
                                      const Binding& binding, const CheckOptions& options);

// Returns whether check_rank_by_rank() may be able to serve the program: an allgather of one group. `options` must
// not ask for another port than the one that the program claims.
bool fits_rank_by_rank(const Program& program, const CheckOptions& options);

// Returns nothing if the schedule needs execute().
std::optional<Report> check_rank_by_rank(const Program& program, const Job& job, const Call& call,
                                         const Binding& binding, const CheckOptions& options = {});

Report execute(const Program& program, const Job& job, const Call& call,
               const std::vector<Binding>& bindings, const CheckOptions& options);

}  // namespace quadrille::verifier
