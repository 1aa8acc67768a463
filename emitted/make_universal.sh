#!/usr/bin/env bash
# make_universal.sh MAKE_SCHEDULE GENERATOR VERIFIER 'COLLECTIVE[-between-groups] ALGORITHM[:OPTION=VALUE]...'...
#
# Prints the C source of universal.h's table of these schedules for any nodes. Fails if one of them is not proven.
set -euo pipefail
make=$1 generator=$2 verifier=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rows=
echo '#include "emitted/universal.h"'
for index in $(seq $#); do
  read -r kind name <<<"${!index}"
  IFS=: read -ra words <<<"$name"
  arguments=("${kind%-between-groups}" --algorithm "${words[0]}" --nodes any)
  groups=1
  if [ "$kind" != "${kind%-between-groups}" ]; then
    groups=2
    arguments+=(--remote-nodes any)
  fi
  for option in "${words[@]:1}"; do arguments+=("--${option%%=*}" "${option#*=}"); done
  "$make" "$generator" "$verifier" "s$index" "$folder" '' "${arguments[@]}"
  sed -n 's/^const unsigned char quadrille_/static const unsigned char /; /^static/,$p' "$folder/s$index.c"
  rows+="    {\"${kind%-between-groups}\", $groups, \"$name\", s$index, sizeof s$index},"$'\n'
done
printf 'const struct quadrille_universal quadrille_universal[] = {\n%s};\n' "$rows"
echo 'const int quadrille_universal_count = sizeof quadrille_universal / sizeof *quadrille_universal;'
