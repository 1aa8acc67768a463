#!/usr/bin/env bash
# embed_programs.sh FILE...: the source file with the texts of generator/programs.
set -euo pipefail
echo '// DO NOT EDIT. Made of generator/programs by generator/embed_programs.sh.'
echo '#include "generator/programs.h"'
echo 'namespace quadrille {'
echo 'const std::vector<ProgramText>& program_texts() {'
echo '  static const std::vector<ProgramText> kTexts = {'
for program in "$@"; do
  [ "${program%.txt}" = "$program" ] && continue
  proof=${program%.txt}.proof
  name=$(basename "$program" .txt)
  printf '    {"%s", R"text(%s\n)text",\n     R"text(' "$name" "$(cat "$program")"
  for other in "$@"; do
    if [ "$other" = "$proof" ]; then cat "$proof"; fi
  done
  echo ')text"},'
done
echo '  };'
echo '  return kTexts;'
echo '}'
echo '}  // namespace quadrille'
