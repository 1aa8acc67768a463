// Writes a schedule file as C: the same bytes in a header and a source, for linking into a program. The runtime can be in
// them, too.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace quadrille {

// The first line of both files.
inline constexpr const char* kMadeByEmit = "/* DO NOT EDIT. Made by:";

struct EmittedSource {
  std::string header, source;
};

// Returns the name of the files and of their symbol: "nodes-1,2,3" becomes nodes_1_2_3.
std::string identifier_from(const std::string& name);

// The runtime as one header and one source (runtime/amalgamate.awk).
struct Runtime {
  const char *header = "", *source = "";
};
Runtime embedded_runtime();

// Returns both files, which begin with the runtime. The array is called quadrille_<identifier>. The first lines show
// `command`, which made the files.
EmittedSource emit_c(std::span<const uint8_t> file, const std::string& identifier,
                     const std::string& command, const Runtime& runtime = {});

}  // namespace quadrille
