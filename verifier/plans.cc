// Makes the builder's inputs for every rank of a job. They equal those of a binding in the runtime, but ranks are
// numbered as in the schedule. Tested by tests/verifier/plans_test.cc.
#include "verifier/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "runtime/plan/builder.h"

namespace quadrille::verifier {

namespace {

constexpr int64_t kPlainLength = 8;

struct Topologies {
  std::vector<std::vector<qd_node_run>> runs;
  std::array<qd_topology, 2> all{};

  explicit Topologies(const Job& job) : runs(job.groups.size()) {
    for (size_t g = 0; g < job.groups.size(); ++g) {
      for (const Run& run : job.groups[g].runs()) runs[g].push_back({run.nodes, run.size});
      all[g] = {runs[g].data(), static_cast<int64_t>(runs[g].size()), job.groups[g].nodes(),
                job.groups[g].ranks()};
    }
  }
};

// The blocks of a buffer, which lie one after another: lengths in units, offsets in bytes.
struct Extents {
  std::vector<int64_t> lengths, offsets;
  qd_extents all{};

  // `unit`: bytes of a unit.
  void set(std::vector<int64_t> blocks, int64_t unit) {
    lengths = std::move(blocks);
    offsets.assign(lengths.size() + 1, 0);
    for (size_t i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i] * unit;
    all = {static_cast<int32_t>(lengths.size()), lengths.data(), offsets.data()};
  }
};

std::vector<int64_t> lengths_of(const qd_program& program, const qd_context& context, int buffer,
                                int32_t blocks) {
  const int64_t* peers = program.groups == 2 ? context.remote_counts : context.counts;
  const bool by_rank = (program.collective == QD_ALLGATHER && buffer == QD_PIECE_RECEIVE) ||
                       (program.collective == QD_REDUCE_SCATTER && buffer == QD_PIECE_SEND);
  const bool own = program.collective == QD_ALLGATHER || program.collective == QD_REDUCE_SCATTER;
  if (by_rank) return {peers, peers + blocks};
  return std::vector<int64_t>(static_cast<size_t>(blocks),
                              own ? context.counts[context.rank] : context.counts[0]);
}

bool is_in_place_at(const qd_program& program, const qd_context& context) {
  switch (program.collective) {
    case QD_ALLREDUCE:
    case QD_SCAN: return program.in_place != 0;
    case QD_EXSCAN: return program.in_place != 0 && context.rank > 0;
    case QD_REDUCE:
      return program.in_place != 0 && program.groups == 1 && context.rank == context.root;
    default: return false;
  }
}

// Writes plans as text, one operation a line, in MPI's terms. Message numbers go on from plan to plan of a call.
class PlanText {
 public:
  explicit PlanText(bool has_global_counts) : has_global_counts_(has_global_counts) {}

  void add(const qd_plan& plan) {
    qd_progress at{};
    for (int32_t i = 0; i < plan.operation_count; ++i) {
      const qd_operation& o = plan.operations[i];
      if (o.kind == QD_PLAN_END) break;
      if (o.kind == QD_PLAN_COPY) line(copy(plan, plan.copies[o.what]));
      if (o.kind == QD_PLAN_COPY_OWN) line("copy the own block");
      if (o.kind != QD_PLAN_MESSAGES) continue;
      for (int n = o.more.receives_done; n > 0; --n)
        line(fmt::format("wait for receive {}", receives_ + at.receives_done++));
      for (int n = o.more.sends_done; n > 0; --n)
        line(fmt::format("wait for send {}", sends_ + at.sends_done++));
      for (int n = o.more.receives_posted; n > 0; --n, ++at.receives_posted)
        line(fmt::format("post receive {} from rank {}", receives_ + at.receives_posted,
                         message(plan, plan.receives.all[at.receives_posted])));
      for (int n = o.more.sends_posted; n > 0; --n, ++at.sends_posted)
        line(fmt::format("post send {} to rank {}", sends_ + at.sends_posted,
                         message(plan, plan.sends.all[at.sends_posted])));
    }
    receives_ += plan.receives.count;
    sends_ += plan.sends.count;
  }
  std::string take() { return std::move(text_); }

 private:
  void line(const std::string& text) { text_ += fmt::format("{:6}  {}\n", ++lines_, text); }

  std::string part(const qd_plan& plan, const qd_part& part) const {
    const int32_t receives = plan.regions.send_blocks, region = part.region;
    const int32_t temporaries =
        has_global_counts_ ? QD_TEMPORARY_REGIONS : receives + plan.regions.receive_blocks;
    std::string text = region >= temporaries ? fmt::format("temporary {}", region - temporaries)
                       : has_global_counts_ && region == QD_RECEIVE_REGION ? "receive buffer"
                       : has_global_counts_                                ? "send buffer"
                       : region >= receives ? fmt::format("receive block {}", region - receives)
                                            : fmt::format("send block {}", region);
    if (part.form == QD_RANGE) text += fmt::format(" bytes {}..{}", part.low, part.high);
    return text;
  }

  static std::string buffer(const char* how, int32_t buffer) {
    return buffer == QD_NO_BUFFER ? "" : fmt::format(" {} buffer {}", how, buffer);
  }
  static const char* side(int combines) { return combines == QD_ON_THE_LEFT ? "left" : "right"; }

  std::string message(const qd_plan& plan, const qd_message& m) const {
    std::string text = fmt::format("{}:{}", m.peer, m.count == 0 ? " an empty message" : "");
    for (int32_t i = 0; i < m.count; ++i)
      text += (i > 0 ? ", " : " ") + part(plan, qd_parts_of(&plan, &m)[i]);
    text += buffer("through", m.buffer);
    return m.combines ? text + ", combined on the " + side(m.combines) : text;
  }

  std::string copy(const qd_plan& plan, const qd_copy& copy) const {
    const std::string from = part(plan, copy.from), to = part(plan, copy.to);
    return (copy.combines
                ? fmt::format("reduce {} into {}, on the {}", from, to, side(copy.combines))
                : fmt::format("copy {} to {}", from, to)) +
           buffer("in", copy.buffer);
  }

  const bool has_global_counts_;
  int64_t lines_ = 0, receives_ = 0, sends_ = 0;
  std::string text_;
};

}  // namespace

struct RankPlans::Memory {
  qd_context context{};
  std::array<Extents, 2> extents;
  qd_plan_input input{};
  qd_builder builder{};
  qd_plan plan{};

  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    qd_builder_close(&builder);
    qd_plan_destroy(&plan);
  }
};

RankPlans::RankPlans(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}
RankPlans::RankPlans(RankPlans&&) noexcept = default;
RankPlans::~RankPlans() = default;

Result<const qd_plan*> RankPlans::next() {
  if (!more_) return nullptr;
  const int more = qd_builder_next(&memory_->builder);
  if (more < 0) return Error{memory_->builder.error};
  more_ = more > 0;
  return &memory_->plan;
}

const qd_builder& RankPlans::builder() const { return memory_->builder; }

struct Plans::State {
  qd_program program{};
  Topologies topologies;
  std::vector<std::vector<int64_t>> counts;  // by group and rank
  std::vector<int64_t> parameters;
  std::vector<int> ranks;  // 0, 1, ...
  std::array<qd_tables, 2> tables{};
  std::array<int64_t, 2> most_iterations{};  // of a rank, by group
  int64_t root = 0;

  explicit State(const Job& job) : topologies(job) {}
  ~State() {
    for (qd_tables& filled : tables) qd_tables_destroy(&filled);
    qd_program_destroy(&program);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int groups() const { return program.groups; }
  int64_t size(int64_t group) const { return topologies.all[static_cast<size_t>(group)].ranks; }
  int64_t all_ranks() const { return size(0) + (groups() == 2 ? size(1) : 0); }

  qd_context context(int64_t group, int64_t rank) const {
    const bool two = groups() == 2;
    return {.rank = rank,
            .ranks = size(group),
            .remote_ranks = two ? size(1 - group) : 0,
            .group = group,
            .root = root,
            .counts = counts[static_cast<size_t>(group)].data(),
            .remote_counts = counts[static_cast<size_t>(two ? 1 - group : 0)].data(),
            .parameters = parameters.data(),
            .topologies = topologies.all.data()};
  }

  // Sets up a builder. Returns an error message, or null.
  const char* open(int64_t group, int64_t rank, const PlanOptions& options,
                   RankPlans::Memory& made) const {
    int32_t blocks[2];
    made.context = this->context(group, rank);
    qd_block_counts(&program, &made.context, blocks);
    for (const int buffer : {QD_PIECE_SEND, QD_PIECE_RECEIVE})
      made.extents[buffer].set(lengths_of(program, made.context, buffer, blocks[buffer]),
                               options.unit);
    const int first = group == 1 ? static_cast<int>(size(0)) : 0;
    const int remote = group == 1 || groups() == 1 ? 0 : static_cast<int>(size(0));
    made.input.program = &program;
    made.input.tables = &tables[static_cast<size_t>(group)];
    made.input.context = &made.context;
    made.input.real = ranks.data() + first;
    made.input.remote_real = ranks.data() + remote;
    made.input.user = ranks.data();
    made.input.known[QD_PIECE_SEND] = &made.extents[QD_PIECE_SEND].all;
    made.input.known[QD_PIECE_RECEIVE] = &made.extents[QD_PIECE_RECEIVE].all;
    made.input.most_iterations = most_iterations[static_cast<size_t>(group)];
    made.input.own = first + static_cast<int>(rank);
    made.input.window = options.window > 0 ? options.window : qd_default_window(&program);
    made.input.has_block_size = options.has_block_size;
    const bool in_place = options.in_place && is_in_place_at(program, made.context);
    if (!qd_builder_open(&made.builder, &made.input, &made.plan, in_place, options.whole))
      return qd_no_memory;
    made.builder.traits.unit = options.unit;
    qd_builder_start(&made.builder);
    return nullptr;
  }
};

Plans::Plans(std::unique_ptr<State> job) : state_(std::move(job)) {}
Plans::Plans(Plans&&) noexcept = default;
Plans& Plans::operator=(Plans&&) noexcept = default;
Plans::~Plans() = default;

Result<Plans> Plans::make(std::span<const uint8_t> file, const Program& program, const Job& job,
                          const Call& call) {
  auto made = std::make_unique<State>(job);
  if (const char* error = qd_program_load(&made->program, file.data(), file.size()))
    return Error{error};
  for (size_t g = 0; g < 2; ++g) {
    const auto ranks = g < job.groups.size() ? static_cast<size_t>(job.groups[g].ranks()) : 1;
    made->counts.push_back(g < call.counts.size() ? call.counts[g]
                                                  : std::vector<int64_t>(ranks, kPlainLength));
  }
  made->root = call.root;
  made->ranks.resize(static_cast<size_t>(made->all_ranks()) + 1);
  std::iota(made->ranks.begin(), made->ranks.end(), 0);
  for (int g = 0; g < program.groups; ++g) {
    const Result<Binding> binding = bind(program, job, call, g);
    if (!binding.ok()) return binding.error();
    made->parameters = binding->parameters;
    made->parameters.resize(QD_MAX_PARAMETERS);
    const qd_context context = made->context(g, 0);
    if (const char* error =
            qd_tables_fill(&made->tables[static_cast<size_t>(g)], &made->program, &context))
      return Error{error};
    qd_plan_input input{};
    input.program = &made->program;
    input.context = &context;
    made->most_iterations[static_cast<size_t>(g)] = qd_most_iterations(&input);
  }
  return Plans(std::move(made));
}

bool Plans::has_in_place() const {
  const qd_context context = state_->context(
      0, state_->program.collective == QD_REDUCE ? state_->root : state_->size(0) - 1);
  return is_in_place_at(state_->program, context);
}

Result<RankPlans> Plans::of_rank(int64_t group, int64_t rank, const PlanOptions& options) const {
  auto made = std::make_unique<RankPlans::Memory>();
  if (const char* error = state_->open(group, rank, options, *made)) return Error{error};
  return RankPlans(std::move(made));
}

Result<std::string> Plans::print(int64_t group, int64_t rank, const PlanOptions& options) const {
  Result<RankPlans> plans = of_rank(group, rank, options);
  if (!plans.ok()) return plans.error();
  PlanText text(plans->builder().traits.has_global_counts != 0);
  Result<const qd_plan*> plan = plans->next();
  for (; plan.ok() && *plan; plan = plans->next()) text.add(**plan);
  if (!plan.ok()) return plan.error();
  return text.take();
}

Result<std::optional<std::string>> Plans::broken_law(const PlanOptions& options,
                                                     const Change& change) const {
  using Law = std::optional<std::string>;
  std::vector<PlanCheck> checks;
  for (int64_t group = 0; group < state_->groups(); ++group)
    for (int64_t rank = 0; rank < state_->size(group); ++rank) {
      Result<RankPlans> plans = of_rank(group, rank, options);
      if (!plans.ok()) return plans.error();
      PlanCheck& check = checks.emplace_back(plans->builder());
      Result<const qd_plan*> plan = plans->next();
      for (; plan.ok() && *plan; plan = plans->next()) {
        if (change) change(checks.size() - 1, plans->memory_->plan);
        check.feed(**plan);
      }
      if (!plan.ok()) return Error{fmt::format("rank {}: {}", rank, plan.error().message)};
      const std::optional<Offence> found = check.end();
      if (found && found->law == kPlansNotChecked) return Law(kPlansNotChecked);
      if (found)
        return Law(fmt::format("{} at rank {}{}: {}", found->law, rank,
                               group == 1 ? " of group 1" : "", found->text));
    }
  const std::optional<Offence> found = PlanCheck::match(checks);
  return found ? Law(fmt::format("{}: {}", found->law, found->text)) : std::nullopt;
}

std::vector<int> Plans::windows() const {
  std::vector<int> all = {1, 2, QD_DEFAULT_WINDOW};
  const int asked = qd_default_window(&state_->program);
  if (std::ranges::find(all, asked) == all.end()) all.push_back(asked);
  return all;
}

std::optional<std::string> Plans::objection() const {
  constexpr int64_t kMostBlocks = 1 << 22;  // temporary blocks of all ranks: some hundred MB
  if (state_->all_ranks() *
          std::max(state_->tables[0].temporary_blocks, state_->tables[1].temporary_blocks) >
      kMostBlocks)
    return std::string(kPlansNotChecked);
  for (const int window : windows())
    for (const bool whole : {true, false})
      for (const bool in_place : {false, true}) {
        if (in_place && !has_in_place()) continue;
        const auto law = broken_law({window, in_place, whole});
        const std::string where = fmt::format(", window {}{}{}", window, whole ? "" : ", streamed",
                                              in_place ? ", in place" : "");
        if (!law.ok()) return "the library refuses them: " + law.error().message + where;
        if (*law == kPlansNotChecked) return *law;
        if (law->has_value()) return **law + where;
      }
  return std::nullopt;
}

}  // namespace quadrille::verifier
