// The proof of the hierarchical algorithms, as text put together from what the chosen options bring
// (Sanders and Traeff 2002, section 3).
//
// Lemmas: f, the first node of more than D ranks, has C of them; nodes f .. f' of one phase are
// equal, so prefix sums over them are products, so one phase's keys end where the next one's begin.
// Witnesses: the lesser rank's v is the greater one's l, and its l the other's u; the block from a
// source to a target travels in the phase of the lesser one's local index, in the round in which
// the nodes meet.
#include "generator/hierarchical_proof.h"

#include <fmt/core.h>

namespace quadrille {
namespace {

constexpr const char* kLemmas = R"(lemma node_of(i, x)
  given 0 <= i and i < length(size) and 0 <= x and x < size[i]
  show locate(base, base[i] + x) = i
define first_of(phase)
  as locate(size, done[phase]) + 1
lemma first_active(phase)
  given 0 <= phase and phase + 1 < length(done)
  show first_of(phase) < length(size) and size[first_of(phase)] = done[phase + 1]
  use member(done, phase + 1)
  use covered(done, first_of(phase))
lemma equal_nodes(phase, j)
  given 0 <= phase and phase + 1 < length(done)
  show base[first_of(phase)] + (j - first_of(phase))*done[phase + 1] = base[j]
  induction j from first_of(phase) to first_of(phase + 1)
  use first_active(phase)
define begin(phase)
  as size[length(size) - 1]*(base[first_of(phase)] + (length(size) - first_of(phase))*done[phase])
define end(phase)
  as size[length(size) - 1]*(base[first_of(phase)] + (length(size) - first_of(phase))*done[phase + 1])
lemma phases_follow(phase)
  given 0 <= phase and phase + 2 < length(done)
  show end(phase) = begin(phase + 1)
  use first_active(phase)
  use equal_nodes(phase, first_of(phase + 1))
  use monotone(base[first_of(phase)] + (first_of(phase + 1) - first_of(phase))*done[phase + 1], base[first_of(phase + 1)], size[length(size) - 1])
  use monotone(base[first_of(phase + 1)], base[first_of(phase)] + (first_of(phase + 1) - first_of(phase))*done[phase + 1], size[length(size) - 1])
theorem steps_start_at_0(phase)
  given phase = 0
  show begin(phase) = 0
  use monotone(base[first_of(phase)] + (length(size) - first_of(phase))*done[phase], 0, size[length(size) - 1])
  use monotone(0, base[first_of(phase)] + (length(size) - first_of(phase))*done[phase], size[length(size) - 1])
  use monotone(done[phase], 0, length(size) - first_of(phase))
  use monotone(0, done[phase], length(size) - first_of(phase))
theorem steps_are_longest_times_ranks(phase)
  given phase + 2 = length(done)
  show end(phase) = size[length(size) - 1]*ranks
  use first_active(phase)
  use equal_nodes(phase, length(size))
  use monotone(base[first_of(phase)] + (length(size) - first_of(phase))*done[phase + 1], ranks, size[length(size) - 1])
  use monotone(ranks, base[first_of(phase)] + (length(size) - first_of(phase))*done[phase + 1], size[length(size) - 1])
theorem invariant_initial(l)
  given 0 <= l
  show (l < done[0] ? 1 : 0) = 0
theorem invariant_kept(phase, i, l)
  given 0 <= phase and phase + 1 < length(done) and 0 <= i and i < length(size) and 0 <= l and l < size[i]
  show (l < done[phase] ? 1 : 0) + (first_of(phase) <= i and done[phase] <= l and l < done[phase + 1] ? 1 : 0) = (l < done[phase + 1] ? 1 : 0)
theorem invariant_progress(phase)
  given 0 <= phase and phase + 1 < length(done)
  show done[phase] < done[phase + 1]
theorem invariant_exit(i, l)
  given 0 <= i and i < length(size) and l < size[i]
  show l < done[length(done) - 1]
theorem delivered_between_nodes(phase, u, v)
  given 0 <= phase and phase < length(done) and 0 <= u and u < ranks and 0 <= v and v < ranks
  given a(u) < a(v) and l(u) < done[phase]
  show locate(done, l(u)) < phase
refute printed_invariant(phase, u, v)
  given 0 <= phase and phase < length(done) and 0 <= u and u < ranks and 0 <= v and v < ranks
  given a(u) = a(v) and l(u) < done[phase]
  show locate(done, l(u)) < phase and locate(done, l(v)) < phase
refute fifteen_steps_with_self_copies(phase)
  given length(size) = 3 and size[0] = 1 and size[1] = 2 and size[2] = 3 and phase + 2 = length(done)
  show end(phase) = 15
)";

constexpr const char* kMeetFactor = R"(define meeting(x, y, n)
  as wrap(x + y, n)
)";
constexpr const char* kMeetCircle = R"(define meeting(x, y, n)
  as n mod 2 = 1 ? wrap(x + y, n) : x = y ? n - 1 : x = n - 1 ? wrap(2*y, n - 1) : y = n - 1 ? wrap(2*x, n - 1) : wrap(x + y, n - 1)
)";

// The numbers of the sites that carry blocks: tokens are sites too.
struct Sites {
  const char *lesser_send, *lesser_receive, *greater, *self;
};
constexpr Sites kFree = {"1", "1", "2", "3"};
constexpr Sites kToken = {"2", "3", "5", "7"};

// Everything about two nodes that meet, and about who meets.
constexpr const char* kBetweenNodes = R"(define meet(i, j, phase)
  as meeting(i - first_of(phase), j - first_of(phase), length(size) - first_of(phase))
match receive {lesser_receive}
  with send {greater} where phase = phase, round = round, u = l
  use first_active(phase)
  rewrite node_of(b, v)
match send {lesser_send}
  with receive {greater} where phase = phase, round = round, u = l
  use first_active(phase)
  rewrite node_of(b, v)
match receive {greater}
  with send {lesser_send} where phase = phase, round = round, v = l
  use first_active(phase)
  rewrite node_of(b, u)
match send {greater}
  with receive {lesser_receive} where phase = phase, round = round, v = l
  use first_active(phase)
  rewrite node_of(b, u)
once receive {lesser_receive}
  use first_active(phase)
  rewrite node_of(b, v)
once receive {greater}
  use first_active(phase)
  rewrite node_of(b, u)
cover
  with receive {greater} where phase = locate(done, l(source)), round = meet(a(source), a(target), locate(done, l(source))), u = l(source) if a(source) < a(target)
  use first_active(locate(done, l(source)))
  with receive {lesser_receive} where phase = locate(done, l(target)), round = meet(a(source), a(target), locate(done, l(target))), v = l(source) if a(target) < a(source)
  use first_active(locate(done, l(target)))
  {cover_self}
{cover_uses})";

constexpr const char* kSelfOneWay = R"(match send {self}
  with receive {self} where phase = phase, round = round, u = u
  use first_active(phase)
  rewrite node_of(b, v)
match receive {self}
  with send {self} where phase = phase, round = round, u = u, v = l
  use first_active(phase)
  rewrite node_of(b, u)
once receive {self}
  use first_active(phase)
  rewrite node_of(b, u)
)";

// Pairs inside a node: who is whose partner at which distance, and in which round with room for
// them. In place, what an exchange brings comes by the step in which what was there is sent.
constexpr const char* kSelfExchange = R"(lemma even(m, top)
  given 1 <= top
  show m*(m - 1) mod 2 = 0
  induction m from 1 to top
define gap(s, t)
  as wrap(l(t) - l(s), mine(s))
define apart(s, t)
  as 2*gap(s, t) <= mine(s) ? gap(s, t) : mine(s) - gap(s, t)
define start(s, t)
  as 2*gap(s, t) < mine(s) ? l(s) : 2*gap(s, t) = mine(s) ? min(l(s), l(t)) : l(t)
define number(s, t)
  as (apart(s, t) - 1)*mine(s) + start(s, t)
define when(s, t)
  as locate(done, number(s, t) div longest(s))
define clamp(y, low, high)
  as min(max(y, low), high) - low
match send {self}
  with receive {self} where phase = phase, round = round, delta = delta, side = u = l ? (l < wrap(l + delta, mine) ? 0 : 1) : (w < wrap(w - delta, mine) ? 0 : 1)
  rewrite node_of(b, u = l ? wrap(l + delta, mine) : u)
{uses}match receive {self}
  with send {self} where phase = phase, round = round, delta = delta, side = u = l ? (l < wrap(l + delta, mine) ? 0 : 1) : (w < wrap(w - delta, mine) ? 0 : 1)
  rewrite node_of(b, u = l ? wrap(l + delta, mine) : u)
{uses}once receive {self}
{self_uses}apart send {lesser}
  use first_active(phase)
  rewrite node_of(b, v)
apart send {greater}
  use first_active(phase)
  rewrite node_of(b, u)
apart send {self}
{self_uses})";

// Why the distance delta of a pair is at least 1.
constexpr const char* kDistanceUses = R"(  use first_active(phase)
  use monotone(low div mine, -1, mine)
  use monotone(0, mine - 1, mine)
  use monotone(0, D, longest)
)";

// Why the pair is that of the round.
const std::string kSelfUses = std::string(R"(  rewrite node_of(b, u = l ? wrap(l + delta, mine) : u)
)") + kDistanceUses + R"(  use monotone(((delta - 1)*mine + u) div longest + 1, D, longest)
  use monotone(C, ((delta - 1)*mine + u) div longest, longest)
)";

// Why pair number n of a node of m ranks, or its self-copy, has a phase that finds room for it:
// {{n}}, {{m}}, {{longest}}, {{phase}}.
constexpr const char* kPhaseUses = R"(  use first_active({phase})
  use even({m}, {m})
  use monotone(0, {m} - 1, {m})
  use monotone(1, {m}, {m})
  use monotone({m}, {longest}, {m})
  use monotone({m}, {longest}, {longest})
  use monotone({longest}, {n} div {longest}, {longest})
  use monotone({n} div {longest}, -1, {longest})
  use monotone(done[{phase}], {n} div {longest}, {longest})
  use monotone({n} div {longest} + 1, done[{phase} + 1], {longest})
  use monotone({m}, done[{phase}], {longest})
)";

// Why the distance of two ranks of a node is one that the round looks at.
constexpr const char* kRangeUses =
    R"(  use monotone(2*apart(source, target), mine(source), mine(source))
  use monotone(mine(source), 2*apart(source, target), mine(source))
  use monotone(2*apart(source, target), mine(source) - 1, mine(source))
  use monotone(0, apart(source, target) - 1, mine(source))
  use monotone(apart(source, target), low(source, when(source, target), 0) div mine(source), mine(source))
  use monotone((high(source, when(source, target), 0) - 1) div mine(source) + 1, apart(source, target) - 1, mine(source))
)";

// Why pairs at one distance keep to their row.
constexpr const char* kRowUses = R"(  use first_active(phase)
  use even(mine, mine)
  use monotone(D, C, longest)
  use monotone(0, D, longest)
  use monotone(0, mine - 1, mine)
  use monotone(low div mine, -1, mine)
  use monotone(2*delta, mine, mine)
  use monotone(mine, 2*delta, mine)
  use monotone(2*delta, mine - 1, mine)
  use monotone(0, delta - 1, mine)
)";

// Which send of a token meets which receive.
std::string tokens() {
  std::string text;
  for (const auto& [send, receive] : {std::pair(1, 1), {3, 2}, {4, 4}, {6, 6}})
    text += fmt::format(R"(match send {0}
  with receive {1} where phase = phase, round = round
  use first_active(phase)
match receive {1}
  with send {0} where phase = phase, round = round
  use first_active(phase)
)",
                        send, receive);
  return text;
}

class ProofText {
 public:
  explicit ProofText(const Choices& choices)
      : token_(choices.at("pacing") == "token"),
        exchange_(choices.at("intra") == "exchange"),
        drop_(choices.at("self-loops") == "drop"),
        sites_(token_ ? kToken : kFree) {}

  std::string run(const char* meeting) const {
    return std::string(kLemmas) + meeting + between_nodes() + (token_ ? tokens() : "") + self() +
           copies() + keys() + port();
  }

 private:
  std::string between_nodes() const {
    const char* one_way =
        "with receive {self} where phase = locate(done, l(source)), round = meet(a(source), "
        "a(source), locate(done, l(source))), u = l(source)";
    const char* exchange =
        "with receive {self} where phase = when(source, target), round = meet(a(source), "
        "a(source), "
        "when(source, target)), delta = apart(source, target), side = start(source, target) = "
        "min(l(target), wrap(l(target) - apart(source, target), mine(source))) ? 0 : 1";
    const char* self = exchange_ ? exchange : one_way;
    const std::string uses = exchange_ ? phase_uses("number(source, target)", "mine(source)",
                                                    "longest(source)", "when(source, target)") +
                                             kRangeUses
                                       : "  use first_active(locate(done, l(source)))\n";
    return fmt::format(
        fmt::runtime(kBetweenNodes), fmt::arg("lesser_receive", sites_.lesser_receive),
        fmt::arg("lesser_send", sites_.lesser_send), fmt::arg("greater", sites_.greater),
        fmt::arg("cover_self", fmt::format(fmt::runtime(self), fmt::arg("self", sites_.self))),
        fmt::arg("cover_uses", uses));
  }

  static std::string phase_uses(const char* n, const char* m, const char* longest,
                                const char* phase) {
    return fmt::format(fmt::runtime(kPhaseUses), fmt::arg("n", n), fmt::arg("m", m),
                       fmt::arg("longest", longest), fmt::arg("phase", phase));
  }

  std::string self() const {
    return fmt::format(fmt::runtime(exchange_ ? kSelfExchange : kSelfOneWay),
                       fmt::arg("self", sites_.self), fmt::arg("uses", kDistanceUses),
                       fmt::arg("self_uses", kSelfUses), fmt::arg("lesser", sites_.lesser_send),
                       fmt::arg("greater", sites_.greater));
  }

  std::string copies() const {
    if (drop_) return "";
    if (exchange_)
      return "define copy_number(r)\n  as mine(r)*(mine(r) - 1) div 2 + l(r)\n"
             "define copy_phase(r)\n  as locate(done, copy_number(r) div longest(r))\n"
             "copies\n"
             "  with copy 1 where phase = copy_phase(rank), round = meet(a(rank), a(rank), "
             "copy_phase(rank))\n" +
             phase_uses("copy_number(rank)", "mine(rank)", "longest(rank)", "copy_phase(rank)") +
             "once copy 1\n"
             "  use first_active(phase)\n"
             "  use monotone((pairs + l) div longest + 1, D, longest)\n"
             "  use monotone(C, (pairs + l) div longest, longest)\n";
    return "copies\n"
           "  with copy 1 where phase = locate(done, l(rank)), round = meet(a(rank), a(rank), "
           "locate(done, l(rank))), u = l(rank), v = l(rank)\n"
           "  use first_active(locate(done, l(rank)))\n"
           "once copy 1\n"
           "  use first_active(phase)\n";
  }

  // The key of data step number x; and the bounds of an interval of step numbers.
  std::string data_key(const std::string& x) const {
    return token_ ? fmt::format("3*({}) + 2", x) : x;
  }
  std::string bound(const std::string& x) const {
    return token_ ? fmt::format("3*({}) + 1", x) : x;
  }

  std::string loop(const char* name, const std::string& from, const std::string& to,
                   const std::string& uses = "") const {
    return fmt::format("keys {}\n  from {}\n  to {}\n{}", name, from, to, uses);
  }
  // A loop of one data step an iteration.
  std::string step_loop(const char* name, const std::string& number) const {
    return loop(name, data_key(number), data_key(number) + " + 1");
  }

  std::string keys() const {
    const char* width = drop_ ? "(mine - 1)" : "mine";
    std::string text =
        loop("phase", bound("begin(phase)"), bound("end(phase)"),
             "  use first_active(phase)\n"
             "  use phases_follow(phase)\n"
             "  use monotone(0, length(size) - first_of(phase), size[length(size) - 1])\n"
             "  use monotone(done[phase], done[phase + 1], size[length(size) - 1]*(length(size) - "
             "first_of(phase)))\n");
    text += loop("round", bound("t(rank, phase, round)"),
                 bound("t(rank, phase, round) + longest*(C - D)"), round_uses());
    text += step_loop("v", "k + v") + step_loop("u", "t + (u - D)*mine + l");
    if (exchange_) {
      text += loop("delta", bound("t + clamp((delta - 1)*mine, low, high)"),
                   bound("t + clamp(min(delta*mine, pairs), low, high)"), kRowUses);
      const char* at = "t + clamp(row + min({}, 2*delta = mine ? delta : mine), low, high)";
      text += loop(
          "side", bound(fmt::format(fmt::runtime(at), "(side = 0 ? min(l, w) : max(l, w))")),
          bound(fmt::format(fmt::runtime(at), "(side = 0 ? min(l, w) : max(l, w)) + 1")), kRowUses);
      return text + "order\n" + round_uses() + kRowUses;
    }
    text += loop("u", bound(fmt::format("t + (u - D)*{}", width)),
                 bound(fmt::format("t + (u - D)*{0} + {0}", width)), "  use first_active(phase)\n");
    text += drop_ ? loop("v", bound("k + (v <= l ? v : v - 1)"), bound("k + (v < l ? v + 1 : v)"))
                  : loop("v", bound("k + v"), bound("k + v + 1"));
    return text + "order\n" + round_uses();
  }

  // Why what happens in a round stays within longest*(C - D) steps.
  std::string round_uses() const {
    std::string text =
        "  use first_active(phase)\n"
        "  use monotone(0, C - D, longest)\n"
        "  use monotone(0, l - D, size[b(rank, phase, round)])\n"
        "  use monotone(l - D + 1, C - D, size[b(rank, phase, round)])\n"
        "  use monotone(size[b(rank, phase, round)], longest, C - D)\n"
        "  use monotone(mine, longest, C - D)\n";
    if (exchange_) text += kRowUses;
    if (token_)
      text +=
          "  use monotone(1, C - D, longest)\n"
          "  use monotone(l - D + 1, C - D - 1, size[b(rank, phase, round)])\n"
          "  use monotone(size[b(rank, phase, round)], longest, C - D - 1)\n";
    return text;
  }

  std::string port() const {
    return std::string("port\n") +
           "  use first_active(phase)\n"
           "  use monotone(l + 1, l_2, size[b])\n"
           "  use monotone(l_2 + 1, l, size[b])\n"
           "  use monotone(u + 1, u_2, mine)\n"
           "  use monotone(u_2 + 1, u, mine)\n" +
           (exchange_ ? fmt::format("  inside send {}\n", sites_.self) + kDistanceUses : "") +
           "defined\n"
           "  use first_active(phase)\n" +
           (exchange_ ? kDistanceUses : "");
  }

  const bool token_, exchange_, drop_;
  const Sites sites_;
};

}  // namespace

std::string hierarchical_factor_proof(const Choices& choices) {
  return ProofText(choices).run(kMeetFactor);
}
std::string hierarchical_circle_proof(const Choices& choices) {
  return ProofText(choices).run(kMeetCircle);
}

}  // namespace quadrille
