#include "view/page.h"

namespace quadrille {
Result<std::string> page_html(const Page&) { return std::string(); }
}  // namespace quadrille
