// Reads sizes of blocks from the text of --bytes.
#ifndef QUADRILLE_GENERATOR_SIZES_H_
#define QUADRILLE_GENERATOR_SIZES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/result.h"

namespace quadrille {

// Reads "8..1MiB": 8, then four times as much each time, and 1 MiB. Also reads a single size. Errors name the flag.
Result<std::vector<int64_t>> read_sizes(const std::string& text);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_SIZES_H_
