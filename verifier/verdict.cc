// Names and sentences of the properties.
#include "verifier/verdict.h"

#include <array>

namespace quadrille::verifier {
namespace {

struct Wording {
  std::string_view name, text;
};

constexpr std::array<Wording, kPropertyCount> kWordings = {{
    {"defined", "every expression has a value"},
    {"peer", "every peer is a rank"},
    {"self-message", "no rank sends to itself"},
    {"block", "every block and range lies in its buffer"},
    {"order",
     "keys strictly increase at a rank, with at most one message a direction and pair in a step"},
    {"held", "what is sent is held"},
    {"match", "every send has its receive and every receive its send"},
    {"keys", "both ends of a message have the same key"},
    {"length", "both ends of a message agree on its pieces"},
    {"progress", "no rank waits for ever, with no buffering at all"},
    {"once", "no block arrives where it already is"},
    {"overwrite", "no block is overwritten while it is still needed"},
    {"contribution", "no contribution is added twice"},
    {"place", "every block ends where it belongs"},
    {"coverage", "every block arrives"},
    {"left-over", "nothing is moved in vain"},
    {"empty", "no empty block travels"},
    {"port", "no port is used twice at a time"},
    {"overlap", "steps in flight together touch no block in common"},
    {"in-place", "each block is sent no later than it is overwritten"},
    {"barrier", "no rank leaves before every rank has come"},
    {"role", "of the root's group, the root alone has messages"},
}};

}  // namespace

std::string_view property_name(Property property) {
  return kWordings[static_cast<int>(property)].name;
}
std::string_view property_text(Property property) {
  return kWordings[static_cast<int>(property)].text;
}

}  // namespace quadrille::verifier
