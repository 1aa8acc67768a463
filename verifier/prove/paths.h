// What can be said of paths and expressions of a program without a solver: which place is inside
// which, which two are never reached together, and where an expression's operators are partial.
#ifndef QUADRILLE_VERIFIER_PROVE_PATHS_H_
#define QUADRILLE_VERIFIER_PROVE_PATHS_H_

#include <vector>

#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// Whether whatever is on the one path is, in that order, on the other, which then knows at least as
// much.
bool is_part_of(const Path& part, const Path& path);

// Wherever an expression's operators are partial: what must hold there. `and` and `? :` guard what
// they do not choose.
void partial_conditions(const Expression& e, const Path& path, std::vector<Place>& out);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PATHS_H_
