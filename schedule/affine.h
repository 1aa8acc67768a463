// Loops whose iterations differ by constant strides.
#ifndef QUADRILLE_SCHEDULE_AFFINE_H_
#define QUADRILLE_SCHEDULE_AFFINE_H_

#include <optional>

#include "schedule/program.h"

namespace quadrille {

bool depends_on(const Expression& expression, int64_t variable);

// Where the loop's body is lets and then one step of whole-block messages, all affine in the loop's
// variable: that step, with the lets put in. `variable` is the number of the loop's variable.
std::optional<Step> affine_step(const For& loop, int64_t variable);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_AFFINE_H_
