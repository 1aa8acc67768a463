#!/usr/bin/env bash
# embed_programs.sh FILE...: prints the source file with the texts of generator/programs and generator/lemmas.
set -euo pipefail
table() { # FUNCTION ENDING FILE...: prints a function that returns the texts of the files of that ending, by name.
  local function=$1 ending=$2 file name
  shift 2
  echo "const TextFiles& $function() {"
  echo '  static const TextFiles kTexts = {'
  for file in "$@"; do
    [[ $file == *"$ending" ]] || continue
    name=${file##*/}
    printf '    {"%s", R"text(%s\n)text"},\n' "${name%"$ending"}" "$(<"$file")"
  done
  echo '  };'
  echo '  return kTexts;'
  echo '}'
}
echo '// DO NOT EDIT. Made of generator/programs and generator/lemmas by generator/embed_programs.sh.'
echo '#include "generator/programs.h"'
echo 'namespace quadrille {'
table program_texts .txt "$@"
table proof_texts .proof "$@"
table lemma_texts .lemmas "$@"
echo '}  // namespace quadrille'
