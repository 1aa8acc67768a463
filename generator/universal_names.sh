#!/bin/sh
# universal_names.sh: prints the source of universal_names.h's table. Each line of the input is: COLLECTIVE ALGORITHM
printf '#include "generator/universal_names.h"\nnamespace quadrille {\nstd::span<const UniversalName> universal_names() {\n'
echo '  static constexpr UniversalName kNames[] = {'
sed 's/\(.*\) \(.*\)/    {"\1", "\2"},/'
printf '  };\n  return kNames;\n}\n}  // namespace quadrille\n'
