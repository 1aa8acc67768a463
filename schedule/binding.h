// A binding holds everything that is fixed before a rank walks a program: topology, parameters and tables. All ranks
// of a group share one binding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/program.h"
#include "schedule/result.h"
#include "schedule/topology.h"

namespace quadrille {

// A rule chooses a block size for a call that does not give this parameter. It uses only counts that all ranks know.
// The numbers of rules are part of the file format (runtime/program/table_format.h). runtime/program/block_size.h has
// the arithmetic.
//
// A value of 1 or more is itself the block size. The other rules are:
enum Rule : int64_t {
  kRuleNone = 0,    // no rule: each call gives the parameter
  kRuleLeast = -1,  // the least count that is not 0
  kRuleModel = -2,  // the optimum of the linear model, as a formula
  kRuleAuto = -3,   // the optimum of the linear model with the exact number of rounds
                    // kRuleAuto - N: the least count that is not 0, but at least N bytes
};

// The linear model of a message's time: alpha + beta * bytes.
struct LinearModel {
  int64_t alpha_ns = 0;  // per message
  int64_t beta_ps = 0;   // per byte
  friend bool operator==(const LinearModel&, const LinearModel&) = default;
};

inline bool uses_model(int64_t rule) { return rule == kRuleModel || rule == kRuleAuto; }

// Returns "min", "model", "auto", "min:1024", "4096", or "none" for kRuleNone.
std::string rule_text(int64_t rule);
// Returns the rule that "min", "model" or "auto" names; empty for any other text.
std::optional<int64_t> rule_named(const std::string& text);

// The entries of a table. Copies share them.
class Entries {
 public:
  using value_type = int64_t;
  using const_iterator = const int64_t*;

  Entries(std::vector<int64_t> entries)  // NOLINT(google-explicit-constructor)
      : all_(std::make_shared<const std::vector<int64_t>>(std::move(entries))),
        first_(all_->data()),
        size_(all_->size()) {}
  operator const std::vector<int64_t>&() const { return *all_; }  // NOLINT(google-explicit-*)

  const int64_t* data() const { return first_; }
  const int64_t* begin() const { return first_; }
  const int64_t* end() const { return first_ + size_; }
  size_t size() const { return size_; }
  int64_t operator[](size_t index) const { return first_[index]; }
  friend bool operator==(const Entries& a, const Entries& b) { return *a.all_ == *b.all_; }

 private:
  std::shared_ptr<const std::vector<int64_t>> all_;
  const int64_t* first_;  // the walk reads it often
  size_t size_;
};

// The contents of a schedule file besides the program. A job for any nodes (schedule/any_nodes.h) has no groups.
// on_nodes() makes a job for given nodes from it, and everything else needs such a job.
struct Job {
  std::vector<Topology> groups;          // one per group of the program; empty: any nodes
  std::vector<int64_t> parameters;       // one per parameter: its value, or its Rule at the call
  std::vector<LinearModel> models = {};  // one per parameter, for rules that use it; may be empty
  // For any nodes only: one per parameter, the formula of its value. Unused for a parameter at call.
  std::vector<Expression> formulas = {};
  int64_t most_ranks = 0;  // for any nodes only: the most ranks that it serves; 0: no limit
  std::string needs = {};  // for any nodes only: what it requires of them, in words; may be empty
  // By group and table: the entries that with_fixed_tables() has evaluated. May be empty.
  std::vector<std::vector<std::optional<Entries>>> fixed_tables = {};
};

// Describes a parameter: "radix = 4", or "B is chosen at the call: auto, alpha 2000 ns, beta 100 ps".
std::string parameter_text(const Program& program, const Job& job, size_t index);

// The arguments of a call.
struct Call {
  std::vector<std::vector<int64_t>> counts;  // one list per group, one entry per rank; may be empty
  std::vector<int64_t> parameters;  // one per parameter that is given at the call, in order
  int64_t root = 0;
};

// Returns the limit of entries of one table, and of temporary blocks. `ranks` counts the ranks of all groups.
inline int64_t most_entries(int64_t ranks) {
  return std::min(kMaxEntries + kMaxEntriesAPair * ranks * ranks, kMaxTableLength);
}

struct Binding {
  Place place;  // with rank 0
  std::vector<int64_t> parameters;
  std::vector<Entries> tables;
  int64_t temporary_blocks = 0;
  int64_t most_iterations = 0;
};

// Returns how many tables must be filled before the requirement is checked: up to the last one that it names. Later
// tables may rely on the requirement.
int64_t tables_before(const Expression& requirement);

// Returns the program without requirements, entries of tables and temporary blocks that depend on the root, the
// counts or a parameter of the call.
Program before_the_call(Program program);
// Returns the job with the tables that do not depend on the call, so that bind() does not fill them again. The job's
// groups and parameters must not change afterwards.
Job with_fixed_tables(const Program& program, Job job);

// Evaluates tables and requirements for one group. Errors: a requirement that is undefined or does not hold; a table that
// is undefined or too long; `locate` or `distinct` of a table that does not ascend; counts that the program needs and
// the call lacks.
Result<Binding> bind(const Program& program, const Job& job, const Call& call, int64_t group);

// False if a requirement of the program does not hold for that call. True after any other error; bind() reports it.
bool takes(const Program& program, const Job& job, const Call& call);

// False if a requirement that does not depend on the call does not hold.
bool takes_some_call(const Program& program, const Job& job);

// True if the program depends on the placement of ranks on nodes, not only on their number.
bool uses_nodes(const Program& program);
// True if the program depends on the counts of the call.
bool uses_counts(const Program& program);

// True if some step may start before the previous one is complete.
bool has_overlapping_steps(const Program& program);

// True if some piece is a range of a block. Then the lengths of blocks matter.
bool names_parts_of_blocks(const Program& program);

// Returns counts by group and rank, no two of them equal. One rank has 0; the greatest is about 8 times the least of
// the others. So a pipeline has few blocks even if its block size is the least count.
std::vector<std::vector<int64_t>> uneven_counts(const std::vector<Topology>& groups);

// Returns the simplest call that a program can be bound with: every count and every parameter that it needs is 1.
Call plain_call(const Program& program, const Job& job);

}  // namespace quadrille
