#!/usr/bin/env bash
# universal_table.sh ARCHIVE: prints the C source of universal.h's table of the schedules in an archive (make_universal.sh).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
base64 -d "$1" | tar -xzC "$folder"
index=0 rows=
echo '#include "emitted/universal.h"'
for file in $(base64 -d "$1" | tar -tz | grep '^universal/'); do
  index=$((index + 1)) name=${file#*/}
  name=${name%.qs} kind=${name%%.*} groups=1
  [ "${kind%-between-groups}" = "$kind" ] || groups=2
  echo "static const unsigned char s${index}[] = {"
  od -An -v -tu1 -w32 "$folder/$file" | sed 's/ *\([0-9]*\)/\1,/g'
  echo '};'
  rows+="    {\"${kind%-between-groups}\", $groups, \"${name#*.}\", s$index, sizeof s$index},"$'\n'
done
printf 'const struct quadrille_universal quadrille_universal[] = {\n%s};\n' "$rows"
echo 'const int quadrille_universal_count = sizeof quadrille_universal / sizeof *quadrille_universal;'
