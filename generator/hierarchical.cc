// Hierarchical factor all-to-all on nodes of any sizes, and its circle variant. The paper has such factors for ranks,
// not for nodes.
//
// A phase starts with D ranks of every larger node done. It ends with C ranks done, where C is the size of the
// smallest node that is not done. It pairs the n nodes f .. N-1 that are still active by a 1-factorization with
// self-loops. When two nodes meet, each of the ranks D .. C-1 of the lesser node exchanges with all ranks of the
// other. A node that is paired with itself sends from its ranks D .. C-1 to all its ranks.
//
// Cost: n*p steps by Theorem 1. In at most n^2 of these the largest node sends inside while others exchange (end of
// the proof). Let an exchange take 2 and a send inside 1. Then the time is at most n^2 above the work of the largest
// node, and above the lower bound of verifier/port_accounting.h.
//
// Options. --intra exchange is section 4's "more intra-node work in rounds where a node is paired with itself".
// Messages both ways at once take no longer than the exchanges of other nodes. They also travel as early as there is
// room, so later phases have less or nothing to do. --pacing token: the empty messages pass on the right to use the
// node's port. --self-loops drop: self-copies may take `longest` more time.
#include <fmt/core.h>

#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

// Texts that say which nodes meet in each of n rounds. Nodes and rounds are counted from 0.
struct Factorization {
  const char* name;
  const char* x;        // a let of x, if `partner` uses it
  const char* partner;  // the node that meets node x = a - f in `round`
};

constexpr Factorization kFactor = {"hierarchical-factor", "", "wrap(round - (a - f), n)"};
constexpr Factorization kCircle = {
    "hierarchical-circle", "    let x = a - f\n",
    "n mod 2 = 1 ? wrap(round - x, n)"
    " : round = n - 1 ? x"
    " : x = n - 1 ? (round mod 2 = 0 ? round div 2 : (round + n - 1) div 2)"
    " : wrap(round - x, n - 1) = x ? n - 1"
    " : wrap(round - x, n - 1)"};

bool chosen(const Choices& choices, const char* option, const char* value) {
  return choices.at(option) == value;
}

// Returns the line of data step `number`. With tokens, each number leaves two keys for token steps before it, and
// each step waits for the previous one.
std::string data_step(const Choices& choices, const std::string& number) {
  return chosen(choices, "pacing", "token") ? fmt::format("step 3*({}) + 2", number)
                                            : fmt::format("step {} after -1", number);
}

std::string indented(size_t depth, const std::string& text) {
  std::string result;
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    if (!line.empty()) result += std::string(2 * depth, ' ') + line + '\n';
    start = end == std::string::npos ? text.size() : end + 1;
  }
  return result;
}

// Returns the steps of the lesser node: each of its ranks D .. C-1 exchanges with all ranks of node b.
std::string lesser(const Choices& choices) {
  const bool token = chosen(choices, "pacing", "token");
  std::string exchange = fmt::format(R"(
for v in 0 .. size[b]
  let peer = first + v
  {}
    receive recv[peer] from peer
    send send[peer] to peer
)",
                                     data_step(choices, "k + v"));
  if (!token) return "if D <= l and l < C\n  let k = t + (l - D)*size[b]\n" + indented(1, exchange);
  return R"(
if 0 < D
  if l = 0
    step 3*t + 1
      send nothing to rank + D
  if l = D
    step 3*t + 1
      receive nothing from rank - D
if D <= l and l < C
  let k = t + (l - D)*size[b]
  if D < l
    step 3*k + 1
      receive nothing from rank - 1
)" + indented(1, exchange) +
         R"(
  if l + 1 < C
    step 3*(k + size[b]) + 1
      send nothing to rank + 1
if 1 < C
  if l = C - 1
    step 3*(t + longest*(C - D))
      send nothing to rank - l
  if l = 0
    step 3*(t + longest*(C - D))
      receive nothing from rank + (C - 1)
)";
}

// Returns the steps of the greater node: each of its ranks exchanges with ranks D .. C-1 of node b.
std::string greater(const Choices& choices) {
  std::string text = fmt::format(R"(
for u in D .. C
  let peer = first + u
  {}
    receive recv[peer] from peer
    send send[peer] to peer
)",
                                 data_step(choices, "t + (u - D)*mine + l"));
  if (!chosen(choices, "pacing", "token")) return text;
  return text + R"(
if 1 < mine
  if l = mine - 1
    step 3*(t + longest*(C - D))
      send nothing to rank - l
  if l = 0
    step 3*(t + longest*(C - D))
      receive nothing from rank + (mine - 1)
)";
}

// Returns the paper's round inside a node: u sends to v, for u in D .. C and all v, one way. Without self-copies no
// step is empty, which gives figure 3's 15 steps for nodes of 1, 2 and 3 ranks.
std::string self_one_way(const Choices& choices) {
  const bool drop = chosen(choices, "self-loops", "drop");
  std::string copy;
  if (!drop)
    copy =
        fmt::format("else\n  {}\n    copy send[rank] to recv[rank]\n", data_step(choices, "k + v"));
  return fmt::format(
             R"(
for u in D .. C
  let k = t + (u - D)*{width}
  if u = l
    for v in 0 .. mine
      if v != l
        {send}
          send send[first + v] to first + v
)",
             fmt::arg("width", drop ? "(mine - 1)" : "mine"),
             fmt::arg("send", data_step(choices, drop ? "k + (v < l ? v : v - 1)" : "k + v"))) +
         indented(3, copy) +
         fmt::format(R"(
  else
    {}
      receive recv[first + u] from first + u
)",
                     data_step(choices, drop ? "k + (l < u ? l : l - 1)" : "k + l"));
}

// Returns exchanges inside a node. Pair (delta - 1)*mine + u is u and u + delta (mod mine), delta = 1 .. mine div 2;
// if 2*delta = mine, only for u < delta. Self-copies come last. A round takes the next longest*(C - D) of them.
std::string self_exchange(const Choices& choices) {
  const bool drop = chosen(choices, "self-loops", "drop");
  return fmt::format(R"(
let pairs = mine*(mine - 1) div 2
let low = min({total}, longest*D)
let high = min({total}, longest*C)
for delta in low div mine + 1 .. min(mine div 2, (high - 1) div mine + 1) + 1
  let row = (delta - 1)*mine
  let w = wrap(l - delta, mine)
  for side in 0 .. 2
    let u = side = 0 ? min(l, w) : max(l, w)
    if u < (2*delta = mine ? delta : mine) and low <= row + u and row + u < high
      let peer = first + (u = l ? wrap(l + delta, mine) : u)
      {step}
        receive recv[peer] from peer
        send send[peer] to peer
)",
                     fmt::arg("total", drop ? "pairs" : "pairs + mine"),
                     fmt::arg("step", data_step(choices, "t + row + u - low"))) +
         (drop ? ""
               : fmt::format(R"(
if low <= pairs + l and pairs + l < high
  {}
    copy send[rank] to recv[rank]
)",
                             data_step(choices, "t + pairs + l - low")));
}

std::string program(const Factorization& factorization, const Choices& choices) {
  const bool exchange = chosen(choices, "intra", "exchange");
  std::string text =
      fmt::format(R"(
algorithm {} for alltoall
port exchange per node
{}
table size = nodes
table base = prefix(size)
table done = distinct(size)

let longest = size[length(size) - 1]
let a = locate(base, rank)
let mine = size[a]
let l = rank - base[a]
{}
for phase in 0 .. length(done) - 1
  let D = done[phase]
  let C = done[phase + 1]
  let f = locate(size, D) + 1
  if f <= a
    let n = length(size) - f
{}    for round in 0 .. n
      let b = f + ({})
      let first = base[b]
      let t = longest*(base[f] + n*D + round*(C - D))
)",
                  factorization.name, exchange ? "in_place" : "",
                  chosen(choices, "self-loops", "drop") ? "copy send[rank] to recv[rank]" : "",
                  factorization.x, factorization.partner);
  text += "      if a < b\n" + indented(4, lesser(choices)) + "      else\n";
  text += "        if b < a\n" + indented(5, greater(choices)) + "        else\n";
  text += indented(5, exchange ? self_exchange(choices) : self_one_way(choices));
  return text;
}

std::string hierarchical_factor_program(const Choices& choices) {
  return R"(
-- Nodes stand in the order of their sizes. A phase serves all ranks up to the size of the smallest unfinished node. It pairs
-- the n active nodes in n rounds. When two nodes meet, one pair of ranks exchanges in each step. So a node has one
-- inter-node exchange at a time. A node that is paired with itself sends inside.
-- Use: for long blocks on nodes of unequal sizes, where the network serves one exchange of a node at a time. --pacing token makes that hold for every timing. --intra exchange moves more data inside nodes while others use the network
-- Source: Sanders and Traeff 2002, section 3, figure 2
-- Cost: n*p steps with self-copies, for n ranks on the largest node; its time is at most n^2 above the lower bound
)" + program(kFactor, choices);
}
std::string circle_program(const Choices& choices) {
  return R"(
-- hierarchical-factor, but where the number of active nodes is even, the circle method pairs them. All nodes are then paired
-- with themselves in one round, so that no node waits for work inside another.
-- Use: in place of hierarchical-factor where the number of nodes is even, above all on nodes of one size
-- Source: ours: Sanders and Traeff 2002, section 3, with the factors of the last paragraph of section 2
-- Cost: as hierarchical-factor, and n^2 less time on an even number of equal nodes of n ranks
)" + program(kCircle, choices);
}

// ---- The proof

// The numbers of the sites that carry blocks. Tokens count as sites, too.
struct Sites {
  const char *lesser_send, *lesser_receive, *greater, *self;
};
constexpr Sites kFree = {"1", "1", "2", "3"};
constexpr Sites kToken = {"2", "3", "5", "7"};

// Composes the proof from the fragments in generator/lemmas/hierarchical.lemmas that the chosen options need.
std::string proof(const char* meeting, const Choices& choices) {
  const bool token = chosen(choices, "pacing", "token");
  const bool exchange = chosen(choices, "intra", "exchange");
  const bool drop = chosen(choices, "self-loops", "drop");
  const auto [lesser_send, lesser_receive, greater, self] = token ? kToken : kFree;
  std::string text = fmt::format("include phases\ninclude {}\ninclude between_nodes({}, {}, {})\n",
                                 meeting, lesser_send, lesser_receive, greater);
  text += fmt::format("cover\n  include cover_between_nodes({}, {})\n  include cover_{}({})\n",
                      lesser_receive, greater, exchange ? "by_exchange" : "one_way", self);
  text += token ? "include tokens\ninclude token_keys\n" : "include plain_keys\n";
  text += exchange ? fmt::format("include self_exchange({}, {}, {})\n", self, lesser_send, greater)
                   : fmt::format("include self_one_way({})\n", self);
  if (!drop) text += exchange ? "include copies_by_exchange\n" : "include copies_one_way\n";
  const std::string round = std::string("  include steps_of_round\n") +
                            (exchange ? "  include pairs_of_phase\n" : "") +
                            (token ? "  include round_of_tokens\n" : "");
  text += "include keys_between_nodes\nkeys round\n  include keys_of_round\n" + round;
  text += exchange ? "include keys_by_exchange\n"
          : drop   ? "include keys_one_way((mine - 1), (v <= l ? v : v - 1), (v < l ? v + 1 : v))\n"
                   : "include keys_one_way(mine, v, v + 1)\n";
  text += "order\n" + round + "port\n  include port_between_nodes\n";
  if (exchange) text += fmt::format("  inside send {}\n  include distance_of_pair\n", self);
  return put_in_lemmas("hierarchical.cc", text + "defined\n  use first_active(phase)\n" +
                                              (exchange ? "  include distance_of_pair\n" : ""));
}

std::vector<Option> options() {
  return {self_loops_option(),
          {"intra",
           {"one-way", "exchange"},
           "one-way: the paper's sends inside nodes; exchange: both directions at once, as soon as "
           "a round in which a node is paired with itself has room"},
          {"pacing",
           {"free", "token"},
           "free: steps may overlap, and the port holds in lock-step; token: empty messages inside "
           "a node make it hold for every timing"}};
}

}  // namespace

Algorithm hierarchical_factor() {
  return {"hierarchical-factor", Collective::kAlltoall, options(), hierarchical_factor_program,
          [](const Choices& choices) { return proof("meet_by_factor", choices); }};
}

Algorithm hierarchical_circle() {
  return {"hierarchical-circle", Collective::kAlltoall, options(), circle_program,
          [](const Choices& choices) { return proof("meet_by_circle", choices); }};
}

}  // namespace quadrille
