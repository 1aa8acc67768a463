#!/bin/sh
# universal_names.sh: prints a header with the schedules that the preload library has (emitted/universal_schedules.bzl).
# Each line of the input is: COLLECTIVE ALGORITHM. A name is "tuna:radix=8", a kind "alltoall-between-groups".
printf '#pragma once\nnamespace quadrille {\nstruct UniversalName {\n  const char *kind, *name;\n};\n'
echo 'inline constexpr UniversalName kUniversalNames[] = {'
sed 's/\(.*\) \(.*\)/    {"\1", "\2"},/'
printf '};\n}  // namespace quadrille\n'
