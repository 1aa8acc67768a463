// A program is made from a skeleton or taken from the registry. Then expressions, statements and claims are changed
// without regard to their meaning. The job and the call are drawn last. tests/mutation/random_test.cc counts the
// correct, wrong, undefined and unbindable programs.
#include "tests/support/random_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "schedule/text.h"
#include "schedule/traverse.h"
#include "tests/support/flows.h"
#include "tests/support/rewrites.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille {
namespace {

// The skeletons of random programs. {a|b|c} stands for one of the three, and alternatives may be nested. @name stands
// for one draw, equal everywhere in a program; each @far is a draw of its own.
constexpr const char* kRandomDraws[][2] = {
    {"@claims",
     "{|||port one+one per rank\n|port one+one per rank\n|port exchange per rank\n|port exchange "
     "per node\n}{||in_place\n}"},
    {"@after", "{|| after -1| after -1| after @key - 1| after @key - 2| after @far}"},
    {"@key", "{round|round|round|2*round|round + 7|round + @far|@far - ranks + round|3*round - 1}"},
    {"@via", "{temp[d]|temp[d]|temp[d]|temp[0]|recv[d]}"},
    {"@sized", "{|||sized }"},
    {"@parts", "{1|1|2|3|ranks|a}"},
    {"@order", "{d|d|d|ranks - d|(a*d) mod ranks|d xor 1|t[d]|wrap(d + a, ranks)}"},
    {"@table", "{i|i|ranks - 1 - i|(i*a + 1) mod ranks|(i + a) mod ranks|i*i}"},
};

constexpr const char* kRandomSkeletons[] = {
    // Each rank sends to each rank, ordered by their distance.
    R"(
algorithm rotated for alltoall
@claimsparameter a
{table t[i in 0 .. ranks] = @table|table u[i in 0 .. ranks] = @table
table t = greatest(u)|table t = 0, {1|2}, 2, 3, 4}
for d in 0 .. ranks
  let round = {d|d|d|@far - @far + d}
  let by = @order
  let right = {wrap(rank + by, ranks)|(rank + by) mod ranks}
  let left = {wrap(rank - by, ranks)|(rank + ranks - by) mod ranks}
  if right != rank
    step @key@after
      {send @sizedsend[right] to right
      receive @sizedrecv[left] from left|receive @sizedrecv[left] from left
      send @sizedsend[right] to right}
  else
    {copy send[rank] to recv[rank]|step @key@after
      copy send[rank] to recv[rank]}
)",
    // Ranks exchange in pairs.
    R"(
algorithm pairs for alltoall
@claimsparameter a
table t[i in 0 .. ranks] = @table
for round in {0|0|a|min(0, a)} .. {ranks|ranks|8}
  let peer = {wrap(round - rank, ranks)|wrap(t[round] - rank, ranks)|round xor rank}
  if peer != rank and peer < ranks
    step @key@after
      send @sizedsend[peer] to peer
      receive @sizedrecv[peer] from peer
{copy send[rank] to recv[rank]|if a < 3
  copy send[rank] to recv[rank]}
)",
    // Exchanges run one after another, or all at once.
    R"(
algorithm one-by-one for alltoall
@claimstable size = nodes
table base = prefix(size)
for n in 0 .. length(size)
  for l in 0 .. size[n]
    let s = base[n] + l
    for d in 0 .. ranks
      let round = s*ranks + d
      if s = rank and d != rank
        step @key@after
          send @sizedsend[d] to d
      if d = rank and s != rank
        step @key@after
          receive @sizedrecv[s] from s
copy send[rank] to recv[rank]
)",
    R"(
algorithm at-once for alltoall
@claimslet round = 0
step {0|@far}@after
  for i in 0 .. ranks
    let x = {i|wrap(rank + i, ranks)}
    if x != rank
      send @sizedsend[{x|x|0}] to x
      receive @sizedrecv[x] from x
  copy send[{rank|rank|0}] to recv[rank]
)",
    R"(
algorithm gathered-at-once for allgather
@claimslet round = 0
step {0|@far}@after
  for i in 0 .. ranks
    let x = {i|wrap(rank + i, ranks)}
    if x != rank
      send send[{0|0|0|x}] to x
      receive recv[x] from x
  copy send[{0|0|rank}] to recv[rank]
)",
    // Blocks take two hops, through the temporary or the receive buffer.
    R"(
algorithm relayed for alltoall
@claimsparameter a
temporary {ranks|ranks|ranks + 3|@far} blocks
copy send[rank] to recv[rank]
for d in 1 .. ranks
  let h = {d div 2|d - 1|1|min(a, d)|0}
  let round = {2*d|d*@parts}
  if h != 0 and h != d
    step @key@after
      send @sizedsend[wrap(rank + d, ranks)] to wrap(rank + h, ranks)
      receive @sized@via from wrap(rank - h, ranks)
    step @key + 1{|| after @key}
      send @sized@via to wrap(rank + d - h, ranks)
      receive @sizedrecv[wrap(rank - d, ranks)] from wrap(rank + h - d, ranks)
  else
    step @key@after
      send @sizedsend[wrap(rank + d, ranks)] to wrap(rank + d, ranks)
      receive @sizedrecv[wrap(rank - d, ranks)] from wrap(rank - d, ranks)
)",
    // Each rank sends to each rank, in parts.
    R"(
algorithm parted for allgather
@claimsparameter a
table m = counts
table t[i in 0 .. ranks] = @table
copy send[0] to recv[rank]
for d in 1 .. ranks
  let by = @order
  let right = wrap(rank + by, ranks)
  let left = wrap(rank - by, ranks)
  for part in 0 .. @parts
    let round = d*ranks + part
    let low = m[rank]*part div @parts
    let high = {m[rank]*(part + 1) div @parts|m[rank]*part div @parts + (m[rank]*(part + 1) div @parts - low)}
    let start = m[left]*part div @parts
    let end = m[left]*(part + 1) div @parts
    step @key@after
      if low < high
        send {send[0]|recv[rank]}@low..high to right
      if start < end
        receive recv[left]@start..end from left
)",
    // Contributions go round a ring in parts.
    R"(
algorithm ring for allgather
@claimsparameter a
table m = counts
{copy send[0] to recv[rank]|step {0|-1|@far}
  copy send[0] to recv[rank]}
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
for k in 0 .. ranks - 1
  let x = wrap(rank - k, ranks)
  let y = wrap(left - k, ranks)
  for part in 0 .. @parts
    let round = k*@parts + part
    step @key{|| after @key - 1| after @key - @parts}
      if 0 < m[x] and part < m[x]
        send recv[x]@m[x]*part div @parts .. m[x]*(part + 1) div @parts to right
      if 0 < m[y] and part < m[y]
        receive recv[y]@m[y]*part div @parts .. m[y]*(part + 1) div @parts from left
)",
    // Contributions go round a ring through temporary blocks.
    R"(
algorithm carried for allgather
@claimstable m = counts
temporary {ranks|ranks|ranks + 1} blocks
copy send[0] to temp[0]
copy send[0] to recv[rank]
for round in 0 .. ranks - 1
  let x = wrap(rank - round, ranks)
  let y = wrap(rank - 1 - round, ranks)
  step @key@after
    if 0 < m[x]
      send temp[round]@0..m[x] to wrap(rank + 1, ranks)
    if 0 < m[y]
      receive temp[round + 1]@0..m[y] from wrap(rank - 1, ranks)
for i in 1 .. ranks
  let z = wrap(rank - i, ranks)
  if 0 < m[z]
    {copy temp[i]@0..m[z] to recv[z]|step @far + i
      copy temp[i]@0..m[z] to recv[z]}
)",
    // Messages have several blocks.
    R"(
algorithm doubled for allgather
@claimsparameter a
table pow = powers({2|2|max(2, a)|a}, ranks)
copy send[0] to recv[rank]
for round in 0 .. length(pow) - 1
  let hop = pow[round]
  step @key{||@after}
    send to wrap(rank - hop, ranks)
      for i in 0 .. min(hop, ranks - hop)
        recv[wrap(rank + i, ranks)]
    receive from wrap(rank + hop, ranks)
      for i in 0 .. min(hop, ranks - hop)
        recv[wrap(rank + hop + i, ranks)]
)",
    // Tokens travel over growing distances.
    R"(
algorithm told for barrier
@claimstable pow = powers({2|2|3}, ranks)
for x in 0 .. length(pow) - {1|1|2}
  let round = x
  step @key@after
    send nothing to wrap(rank + pow[x], ranks)
    receive nothing from wrap(rank - pow[x], ranks)
)",
    // All ranks send to one rank, which sends everything back.
    R"(
algorithm star for allgather
@claimslet round = 0
copy send[0] to recv[rank]
let hub = {0|ranks - 1|@far mod ranks}
if rank = hub
  step @key{|| after -1}
    for i in 0 .. ranks
      if i != hub
        receive recv[i] from i
  step @key + 1{||@after}
    for i in 0 .. ranks
      if i != hub
        send to i
          for j in 0 .. ranks
            if j != i
              recv[j]
else
  step @key{|| after -1}
    send {send[0]|recv[rank]} to hub
  step @key + 1{||@after}
    receive from hub
      for j in 0 .. ranks
        if j != rank
          recv[j]
)",
};

constexpr int64_t power(int exponent) { return int64_t{1} << exponent; }

// Numbers at the limits or beside them.
constexpr std::array<int64_t, 24> kFar = {
    power(20) - 1, power(20),     power(20) + 1,  -power(20), power(25) + 1, power(31) - 1,
    power(31),     power(32),     power(32) + 1,  -power(31), power(40) - 1, power(40),
    power(40) + 1, -power(40),    -power(40) - 1, power(62),  power(62) - 1, power(62) + 1,
    -power(62),    INT64_MAX - 5, INT64_MAX - 1,  INT64_MAX,  INT64_MIN + 1, INT64_MIN};

int64_t far(Random& random) { return any_of(kFar, random); }
int64_t small(Random& random) { return static_cast<int64_t>(below(random, 8)) - 2; }
int64_t number(Random& random) { return one_in(random, 3) ? far(random) : small(random); }

// ---- Skeletons

// Returns one alternative of {a|b|c}. `at` is behind the opening brace, and moves behind the closing one.
std::string choice(const std::string& text, size_t& at, Random& random);

// Expands the text up to the end of an alternative, and moves `at` there.
std::string expanded(const std::string& text, size_t& at, Random& random) {
  std::string result;
  while (at < text.size() && text[at] != '|' && text[at] != '}') {
    const char next = text[at++];
    if (next == '{')
      result += choice(text, at, random);
    else
      result += next;
  }
  return result;
}

std::string choice(const std::string& text, size_t& at, Random& random) {
  std::vector<std::string> alternatives;
  do {
    alternatives.push_back(expanded(text, at, random));
  } while (text[at++] == '|');
  return any_of(alternatives, random);
}

std::string expanded(const std::string& text, Random& random) {
  size_t at = 0;
  return expanded(text, at, random);
}

template <class Draw>
void replace_all(std::string& text, const std::string& name, const Draw& draw) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
    text.replace(at, name.size(), draw());
}

Program skeleton(Random& random) {
  std::string text = expanded(any_of(kRandomSkeletons, random), random);
  for (const auto& [name, alternatives] : kRandomDraws) {
    const std::string drawn = expanded(alternatives, random);
    replace_all(text, name, [&]() -> const std::string& { return drawn; });
  }
  replace_all(text, "@far", [&] { return fmt::format("{}", far(random)); });
  Result<Program> program = parse_program(text, "a skeleton");
  if (!program.ok()) check(false, (program.error().message + text).c_str());
  return std::move(program).value();
}

Program original(Random& random) {
  if (!one_in(random, 5)) return skeleton(random);
  const std::vector<Variant>& all = variants();
  for (;;) {
    const Variant& variant = any_of(all, random);
    if (!reduces(variant.program.collective) && variant.program.groups == 1) return variant.program;
  }
}

// ---- Changes

Expression leaf_of(Random& random) {
  switch (below(random, 7)) {
    case 0: return leaf(Operator::kRank);
    case 1: return leaf(Operator::kRanks);
    case 2: return variable(static_cast<int64_t>(below(random, 6)));
    case 3: return leaf(Operator::kParameter, 0);
    default: return constant(number(random));
  }
}

// Returns an expression that equals `e` for most values, as long as nothing overflows.
Expression equal_by_way_of(const Expression& e, Random& random) {
  const Expression c = constant(far(random));
  switch (below(random, 7)) {
    case 0: return apply(Operator::kSubtract, {apply(Operator::kAdd, {e, c}), c});
    case 1: return apply(Operator::kAdd, {apply(Operator::kSubtract, {e, c}), c});
    case 2: return apply(Operator::kDivide, {apply(Operator::kMultiply, {e, c}), c});
    case 3: return apply(Operator::kXor, {apply(Operator::kXor, {c, e}), c});
    case 4: return apply(c.value < 0 ? Operator::kMaximum : Operator::kMinimum, {c, e});
    case 5: return apply(Operator::kModulo, {e, c});
    default:
      return apply(Operator::kChoose, {apply(Operator::kLess, {e, c}), e,
                                       apply(Operator::kMinimum, {e, leaf_of(random)})});
  }
}

void change(Expression& e, Random& random) {
  if (e.op == Operator::kConstant && one_in(random, 2)) {
    e.value = number(random);
    return;
  }
  const bool is_condition = e.op == Operator::kAnd || is_comparison(e.op);
  if (is_condition) {
    const Expression other = apply(any_of(std::array{Operator::kLess, Operator::kEqual}, random),
                                   {leaf_of(random), leaf_of(random)});
    e = one_in(random, 2) ? apply(Operator::kAnd, {e, other})
                          : apply(Operator::kChoose, {other, e, e});
    return;
  }
  constexpr std::array kOperators = {Operator::kAdd,      Operator::kAdd,     Operator::kSubtract,
                                     Operator::kMultiply, Operator::kDivide,  Operator::kModulo,
                                     Operator::kXor,      Operator::kMinimum, Operator::kMaximum,
                                     Operator::kWrap};
  switch (below(random, 5)) {
    case 0: e = leaf_of(random); break;
    case 1: e = apply(any_of(kOperators, random), {e, leaf_of(random)}); break;
    default: e = equal_by_way_of(e, random);
  }
}

void collect(Expression& e, std::vector<Expression*>& all) {
  all.push_back(&e);
  for (Expression& operand : e.operands) collect(operand, all);
}

void change_expression(Program& program, Random& random) {
  std::vector<Expression*> all;
  for_each_expression_of_program(program, [&](Expression& e) { collect(e, all); });
  change(*any_of(all, random), random);
}

void collect(Body& body, std::vector<Body*>& all) {
  if (!body.empty()) all.push_back(&body);
  for_each_statement(body, [&](Statement& statement) {
    const auto add = [&](Body& inner) {
      if (!inner.empty()) all.push_back(&inner);
    };
    if (auto* loop = std::get_if<For>(&statement.kind)) add(loop->body);
    if (auto* choice = std::get_if<If>(&statement.kind)) add(choice->then), add(choice->otherwise);
    if (auto* step = std::get_if<Step>(&statement.kind)) add(step->body);
    if (auto* message = std::get_if<Message>(&statement.kind)) add(message->pieces);
  });
}

Body& any_body(Program& program, Random& random) {
  std::vector<Body*> all;
  collect(program.body, all);
  return all.empty() ? program.body : *any_of(all, random);
}

void change_statement(Program& program, Random& random) {
  Body& body = any_body(program, random);
  if (body.empty()) return;
  const size_t at = below(random, body.size());
  const Statement old = body[at];
  const bool names = std::holds_alternative<Let>(old.kind);
  const auto condition = [&] { return apply(Operator::kLess, {leaf_of(random), leaf_of(random)}); };
  switch (below(random, 6)) {
    case 0: body.erase(body.begin() + at); break;
    case 1: std::swap(body[at], body[below(random, body.size())]); break;
    case 2:
      if (!names) body[at] = {If{condition(), {old}, {}}};
      break;
    case 3:
      if (!names) body[at] = {If{condition(), {old}, {old}}};
      break;
    case 4:
      if (!names) body.insert(body.begin() + at, old);
      break;
    default:
      if (!names)
        body[at] = {For{{"again"}, constant(0), constant(one_in(random, 2) ? 1 : 2), {old}}};
  }
}

void change(Piece& piece, Random& random) {
  if (one_in(random, 2))
    piece.buffer = any_of(std::array{Buffer::kSend, Buffer::kReceive, Buffer::kTemporary}, random);
  else if (piece.range)
    piece.range.reset();
  else
    piece.range = {constant(one_in(random, 2) ? 0 : number(random)), leaf_of(random)};
}

void change_claim(Program& program, Random& random) {
  std::vector<Step*> steps;
  std::vector<Message*> messages;
  std::vector<Piece*> pieces;
  for_each_statement(program.body, [&](Statement& statement) {
    if (auto* step = std::get_if<Step>(&statement.kind)) steps.push_back(step);
    if (auto* message = std::get_if<Message>(&statement.kind)) messages.push_back(message);
    if (auto* transfer = std::get_if<Transfer>(&statement.kind)) pieces.push_back(&transfer->piece);
    if (auto* copy = std::get_if<Copy>(&statement.kind))
      pieces.push_back(&copy->from), pieces.push_back(&copy->to);
  });
  switch (below(random, 6)) {
    case 0: program.in_place = !program.in_place; break;
    case 4: program.window = below(random, 3); break;
    case 1:
      program.port = {any_of(std::array{PortKind::kExchange, PortKind::kSendReceive}, random),
                      any_of(std::array{PortScope::kRank, PortScope::kNode}, random)};
      break;
    case 2:
      if (!messages.empty()) any_of(messages, random)->sized ^= true;
      break;
    case 3:
      if (!pieces.empty()) change(*any_of(pieces, random), random);
      break;
    default:
      if (steps.empty()) return;
      auto& after = any_of(steps, random)->after;
      if (after && one_in(random, 2))
        after.reset();
      else
        after = constant(number(random));
  }
}

// ---- Jobs and calls

std::vector<int64_t> counts_of(int64_t ranks, Random& random) {
  std::vector<int64_t> counts;
  const uint64_t kind = below(random, 16);
  for (int64_t r = 0; r < ranks; ++r) {
    const auto drawn = static_cast<int64_t>(below(random, 9));
    const int64_t most = kind == 15 && one_in(random, 5) ? kMaxCount + 1 : kMaxCount;
    counts.push_back(kind == 0   ? 0
                     : kind < 10 ? 1 + drawn
                     : kind < 13 ? std::max<int64_t>(0, drawn - 4)
                                 : most - drawn / 4 * 1000);
  }
  return counts;
}

int64_t parameter_of(int64_t ranks, Random& random) {
  const uint64_t kind = below(random, 16);
  if (kind == 0) return far(random);
  return kind < 6 ? ranks - static_cast<int64_t>(below(random, 2)) : 1 + small(random);
}

}  // namespace

void perturb(Program& program, int changes, Random& random) {
  for (int i = 0; i < changes; ++i) switch (below(random, 8)) {
      case 0: change_statement(program, random); break;
      case 1: change_claim(program, random); break;
      default: change_expression(program, random);
    }
}

namespace {

// Returns random node sizes in ascending order, whose sum is `ranks`.
std::vector<int64_t> sizes_of(int64_t ranks, Random& random) {
  std::vector<int64_t> sizes;
  for (int64_t left = ranks; left > 0; left -= sizes.back())
    sizes.push_back(1 + static_cast<int64_t>(below(random, one_in(random, 2) ? 1 : left)));
  std::ranges::sort(sizes);
  return sizes;
}

std::string text_of(const RandomCase& drawn, uint64_t seed) {
  std::string nodes, counts;
  for (const Topology& topology : drawn.job.groups)
    nodes += (nodes.empty() ? "" : " and ") + topology.text();
  for (const std::vector<int64_t>& of_group : drawn.call.counts)
    counts += fmt::format("{}{}", counts.empty() ? "" : " and ", fmt::join(of_group, " "));
  return fmt::format("seed {}, nodes {}, parameters {}; {}, counts {}, root {}\n{}", seed, nodes,
                     fmt::join(drawn.job.parameters, " "), fmt::join(drawn.call.parameters, " "),
                     counts.empty() ? "none" : counts, drawn.call.root, print(drawn.program));
}

}  // namespace

std::optional<RandomCase> random_case(uint64_t seed) {
  Random random(seed);
  RandomCase result{original(random), {}, {}, ""};
  perturb(result.program, static_cast<int>(below(random, 4)), random);
  if (!validate(result.program).ok()) return std::nullopt;
  result.job = job_of(sizes_of(1 + static_cast<int64_t>(below(random, 5)), random));
  const int64_t ranks = result.job.groups[0].ranks();
  for (const Parameter& parameter : result.program.parameters) {
    const int64_t value = parameter_of(ranks, random);
    result.job.parameters.push_back(parameter.at_call ? int64_t{kRuleNone} : value);
    result.job.models.emplace_back();
    if (parameter.at_call) result.call.parameters.push_back(value);
  }
  if (uses_counts(result.program)) {
    std::vector<int64_t> counts = counts_of(ranks, random);
    if (has_one_count(result.program.collective)) std::ranges::fill(counts, counts[0]);
    result.call.counts = {counts};
  }
  result.text = text_of(result, seed);
  return result;
}

namespace {

RandomCase flow_case(Random& random) {
  const Flow flow = random_flow(random);
  const std::string text = text_of(flow, random);
  Result<Program> program = parse_program(text, "a flow");
  if (!program.ok()) check(false, (program.error().message + "\n" + text).c_str());
  RandomCase result{std::move(program).value(), {}, {}, ""};
  for (int group = 0; group < flow.groups; ++group)
    result.job.groups.push_back(topology_of(sizes_of(flow.ranks[group], random)));
  result.call.root = flow.root;
  return result;
}

// Returns an algorithm's program on a few nodes, with any root.
RandomCase algorithm_case(Random& random) {
  for (;;) {
    const Variant& variant = any_of(variants(), random);
    const int64_t most = variant.program.groups == 2 ? 3 : 5;
    const std::vector<int64_t> sizes =
        sizes_of(1 + static_cast<int64_t>(below(random, most)), random);
    const std::vector<Job> jobs = jobs_on(variant, sizes);
    if (jobs.empty()) continue;
    RandomCase result{variant.program, any_of(jobs, random), {}, ""};
    result.call = plain_call(result.program, result.job);
    for (int64_t& parameter : result.call.parameters)
      parameter = 1 + static_cast<int64_t>(below(random, 4));
    if (rooted(result.program.collective))
      result.call.root = static_cast<int64_t>(below(random, result.job.groups[0].ranks()));
    return result;
  }
}

}  // namespace

std::optional<RandomCase> random_step_case(uint64_t seed) {
  Random random(seed);
  RandomCase result = one_in(random, 3) ? algorithm_case(random) : flow_case(random);
  if (!one_in(random, 3)) rewrite(result.program, 1 + static_cast<int>(below(random, 3)), random);
  if (one_in(random, 3)) perturb(result.program, 1, random);
  if (!validate(result.program).ok()) return std::nullopt;
  result.call.counts.clear();
  // Counts are drawn even if the program has no table of counts, since it may still name ranges.
  if (result.program.collective != Collective::kBarrier &&
      !only_ends_know_lengths(result.program.collective)) {
    for (const Topology& topology : result.job.groups)
      result.call.counts.push_back(counts_of(topology.ranks(), random));
    const int64_t one = result.call.counts[0][0];
    if (has_one_count(result.program.collective))
      for (std::vector<int64_t>& counts : result.call.counts) std::ranges::fill(counts, one);
  }
  result.text = text_of(result, seed);
  return result;
}

}  // namespace quadrille
