#!/usr/bin/env bash
# embed.sh FILE...: prints a source file with the texts of these files for the page and SVGs. page.css is kPageCss.
set -euo pipefail
echo '// DO NOT EDIT. Made by view/embed.sh.'
echo '#include "view/assets.h"'
echo 'namespace quadrille {'
for file in "$@"; do
  IFS=. read -r name ending <<<"$(basename "$file")"
  printf 'const char* const k%s%s = R"~(%s\n)~";\n' "${name^}" "${ending^}" "$(cat "$file")"
done
echo '}  // namespace quadrille'
