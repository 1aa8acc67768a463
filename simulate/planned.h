// Makes the plans of the call that a command line describes.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "simulate/lengths.h"
#include "simulate/script.h"
#include "verifier/call.h"

namespace quadrille {

// The flags as typed. `sizes`: equal, a distribution, or a file, if only the two ends of a message know its length.
struct LengthArguments {
  std::string element, sizes;
  std::optional<int64_t> window;
  bool persistent = false;
  verifier::CallArguments call;
};

struct Planned {
  Call call;
  int64_t bytes = 0;    // of a block or a contribution; 0 if --counts or --sizes gives them
  int64_t element = 1;  // the bytes of an element of a reduction
  BlockLengths lengths;
  Scripts scripts;
};

// Makes the plans of a schedule on its nodes, as scripts. `path` and `file`: its name and bytes; `bytes`: the text of
// --bytes. The seed draws the lengths of a distribution. Errors name the flag or the file.
Result<Planned> plan(const std::string& path, std::span<const uint8_t> file,
                     const verifier::Schedule& schedule, const LengthArguments& arguments,
                     const std::string& bytes, int64_t seed, const Tell& tell = {});

}  // namespace quadrille
