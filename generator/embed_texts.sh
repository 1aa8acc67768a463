#!/usr/bin/env bash
# embed_texts.sh NAME=FILE...: prints a C++ source file that defines each NAME as the text of its file.
set -euo pipefail
echo '// DO NOT EDIT. Made by generator/embed_texts.sh.'
for pair in "$@"; do
  name=${pair%%=*}
  printf 'extern const char* const %s;\nconst char* const %s = R"~(%s\n)~";\n' "$name" "$name" "$(cat "${pair#*=}")"
done
