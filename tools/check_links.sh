#!/usr/bin/env bash
# check_links.sh [TREE]: every file that README.md and docs/ point to is there. Tested by
# //tests/structure:lint_test.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
code=0
for document in README.md docs/*.md; do
  for target in $(grep -oE '\]\([^)#:]+\)|src="[^":]+"' "$document" | sed -E 's/^\]\(//; s/\)$//; s/^src="//; s/"$//'); do
    [ -e "$(dirname "$document")/$target" ] || {
      echo "$document points to $target, which is not there" >&2
      code=1
    }
  done
done
exit $code
