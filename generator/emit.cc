// Writes bytes as C text, without dates and paths, so that equal schedules give equal text. Tested by the drift test
// of emitted/, and by tests/generator/emit_test.cc, which reads the bytes back.
#include "generator/emit.h"

#include <fmt/core.h>

#include <cctype>

extern const char *const kRuntimeHeader, *const kRuntimeSource;  // embed_texts.sh

namespace quadrille {

Runtime embedded_runtime() { return {kRuntimeHeader, kRuntimeSource}; }

std::string identifier_from(const std::string& name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])))
    result = "schedule_" + result;
  return result;
}

EmittedSource emit_c(std::span<const uint8_t> file, const std::string& identifier,
                     const std::string& command, const Runtime& runtime) {
  std::string guard = "QUADRILLE_EMITTED_" + identifier + "_H_";
  for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::string made =
      fmt::format("{}\n{} */\n/* SPDX-License-Identifier: BSD-3-Clause */\n", kMadeByEmit, command);

  EmittedSource result;
  result.header = fmt::format(
      "{0}{4}#ifndef {1}\n#define {1}\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "/* For quadrille_load_memory(quadrille_{2}, sizeof quadrille_{2}, &schedule). */\n"
      "extern const unsigned char quadrille_{2}[{3}];\n\n"
      "#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {1} */\n",
      made, guard, identifier, file.size(), runtime.header);
  std::string bytes;
  for (size_t i = 0; i < file.size(); ++i)
    bytes += fmt::format("{}0x{:02x},", i % 16 == 0 ? (i ? "\n    " : "    ") : " ", file[i]);
  result.source = fmt::format(
      "{0}{1}#include \"{2}.h\"\n\n{3}const unsigned char quadrille_{2}[{4}] = {{\n{5}\n}};\n",
      made, *runtime.source ? "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n" : "", identifier,
      runtime.source, file.size(), bytes);
  return result;
}

}  // namespace quadrille
