// Writes the numbers that the script of a page draws, as JSON.
#pragma once

#include <string>

#include "view/figure.h"
#include "view/holdings.h"
#include "view/lanes.h"
#include "view/page.h"

namespace quadrille {

std::string page_data(const Page& page, const Figure& figure, const Lanes& lanes,
                      const Holdings& holdings);

}  // namespace quadrille
