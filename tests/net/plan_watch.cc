// Checks every plan that the runtime makes in a test: plans that it keeps, streamed ones, and plans of a builder that
// made others before, for another root or window.
//
// The linker replaces the runtime's builder with __wrap_qd_builder_start and __wrap_qd_builder_next.
#include <gtest/gtest.h>

#include <map>

#include "runtime/plan/builder.h"
#include "verifier/plan_check.h"

namespace quadrille::net {
namespace {

std::map<const qd_builder*, verifier::PlanCheck> checks;
int64_t checked = 0;

class Watch : public testing::Environment {
  void TearDown() override { EXPECT_GT(checked, 0) << "no plan was checked"; }
};
[[maybe_unused]] const auto* const watch = testing::AddGlobalTestEnvironment(new Watch);

}  // namespace

// The linker requires these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" void __real_qd_builder_start(qd_builder* builder);
extern "C" int __real_qd_builder_next(qd_builder* builder);
extern "C" void __wrap_qd_builder_start(qd_builder* builder) {
  __real_qd_builder_start(builder);
  checks.erase(builder);
  checks.try_emplace(builder, *builder);
}
extern "C" int __wrap_qd_builder_next(qd_builder* builder) {
  const int more = __real_qd_builder_next(builder);
  verifier::PlanCheck& check = checks.at(builder);
  if (more >= 0) check.feed(*builder->plan);
  if (more != 0) return more;
  const std::optional<verifier::Offence> found = check.end();
  EXPECT_FALSE(found) << found->law << ": " << found->text;
  ++checked;
  return more;
}
// NOLINTEND(bugprone-reserved-identifier)

}  // namespace quadrille::net
