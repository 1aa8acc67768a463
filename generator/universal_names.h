// The schedules that the preload library has (emitted/universal_schedules.bzl).
#ifndef QUADRILLE_GENERATOR_UNIVERSAL_NAMES_H_
#define QUADRILLE_GENERATOR_UNIVERSAL_NAMES_H_

#include <span>

namespace quadrille {

struct UniversalName {
  const char* kind;  // "alltoall" or "alltoall-between-groups"
  const char* name;  // "tuna:radix=8"
};
std::span<const UniversalName> universal_names();

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_UNIVERSAL_NAMES_H_
