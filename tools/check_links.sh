#!/usr/bin/env bash
# check_links.sh [TREE]: every file that the documents point to is there: README.md and docs/, or those in TREE itself, as
# they are installed. Tested by //tests/structure:lint_test and //install:install_test.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
code=0
for document in ./*.md docs/*.md; do
  [ -e "$document" ] || continue
  for target in $(grep -oE '\]\([^)#:]+\)|src="[^":]+"' "$document" | sed -E 's/^\]\(//; s/\)$//; s/^src="//; s/"$//'); do
    [ -e "$(dirname "$document")/$target" ] || {
      echo "${document#./} points to $target, which is not there" >&2
      code=1
    }
  done
done
exit $code
