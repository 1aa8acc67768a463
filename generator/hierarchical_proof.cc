// Composes the proof of the hierarchical algorithms from the fragments in generator/lemmas/hierarchical that the
// chosen options need.
#include "generator/hierarchical_proof.h"

#include <fmt/core.h>

#include "generator/programs.h"

namespace quadrille {
namespace {

// The numbers of the sites that carry blocks. Tokens count as sites, too.
struct Sites {
  const char *lesser_send, *lesser_receive, *greater, *self;
};
constexpr Sites kFree = {"1", "1", "2", "3"};
constexpr Sites kToken = {"2", "3", "5", "7"};

std::string proof(const char* meeting, const Choices& choices) {
  const bool token = choices.at("pacing") == "token";
  const bool exchange = choices.at("intra") == "exchange";
  const bool drop = choices.at("self-loops") == "drop";
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
  return put_in_lemmas("hierarchical_proof.cc",
                       text + "defined\n  use first_active(phase)\n" +
                           (exchange ? "  include distance_of_pair\n" : ""));
}

}  // namespace

std::string hierarchical_factor_proof(const Choices& choices) {
  return proof("meet_by_factor", choices);
}
std::string hierarchical_circle_proof(const Choices& choices) {
  return proof("meet_by_circle", choices);
}

}  // namespace quadrille
