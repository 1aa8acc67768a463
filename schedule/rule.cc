// Names of the rules. Tested by tests/schedule/binding_test.cc.
#include "schedule/rule.h"

#include <array>
#include <string_view>

namespace quadrille {
namespace {

struct Named {
  int64_t rule;
  std::string_view name;
};
constexpr std::array<Named, 3> kNamed = {
    {{kRuleLeast, "min"}, {kRuleModel, "model"}, {kRuleAuto, "auto"}}};

}  // namespace

std::string rule_text(int64_t rule) {
  for (const Named& named : kNamed)
    if (rule == named.rule) return std::string(named.name);
  return rule == kRuleNone ? "none" : std::to_string(rule);
}

std::optional<int64_t> rule_named(const std::string& text) {
  for (const Named& named : kNamed)
    if (text == named.name) return named.rule;
  return std::nullopt;
}

}  // namespace quadrille
