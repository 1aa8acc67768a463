#include "view/curves.h"

namespace quadrille {
std::string curves_svg(const Curves&) { return ""; }
}  // namespace quadrille
