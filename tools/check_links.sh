#!/usr/bin/env bash
# check_links.sh [TREE]: checks that every file and every heading that the documents link to exists. Without TREE these are
# the documents of the source tree; an installed folder of documents has the same layout.
# Tested by //tests/structure:lint_test and //install:install_test.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
code=0
declare -A known  # the anchors of each file

# Prints the anchor of each heading: in small letters, with hyphens for spaces, without other marks.
anchors() { sed -nE 's/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'; }
has_heading() { # FILE ANCHOR
  [ -n "${known[$1]:-}" ] || known[$1]=$'\n'$(anchors "$1")$'\n'
  [[ ${known[$1]} == *$'\n'"$2"$'\n'* ]]
}

for document in ./*.md docs/*.md theory/*.md; do
  [ -e "$document" ] || continue
  for link in $(grep -oE '\]\([^):]+\)|src="[^":]+"' "$document" | sed -E 's/^\]\(//; s/\)$//; s/^src="//; s/"$//'); do
    file=${link%%#*}
    target=$document
    [ -z "$file" ] || target=${document%/*}/$file
    if [ ! -e "$target" ]; then
      echo "${document#./} points to $file, which is not there" >&2
      code=1
    elif [ "$link" != "$file" ] && ! has_heading "$target" "${link#*#}"; then
      echo "${document#./} points to $link, and there is no such heading" >&2
      code=1
    fi
  done
done
exit $code
