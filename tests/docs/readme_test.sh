#!/usr/bin/env bash
# What the README says that commands print is what they print; times are left out.
set -euo pipefail
generator=$1 verifier=$2 readme=$PWD/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$PWD

expect() {
  while IFS= read -r line; do
    grep -qxF -- "$line" "$readme" || {
      echo "README.md does not have the line that is printed today: $line" >&2
      exit 1
    }
  done
}
timeless() { grep -vE '  checked +in |, [0-9.]+ s' || true; }

cd "$folder"
"$here/$generator" generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 \
  --out alltoall_1_2_3.qs >said
expect <said
"$here/$verifier" check alltoall_1_2_3.qs | timeless >said
[ "$(wc -l <said)" -ge 9 ]
expect <said
"$here/$verifier" prove hierarchical-factor | timeless >said
[ "$(wc -l <said)" -ge 2 ]
expect <said
"$here/$generator" list | grep -oE '^alltoall [a-z-]+' | sed 's/alltoall //' | while read -r name; do
  grep -qF "| \`$name\` |" "$readme" || {
    echo "README.md does not list $name" >&2
    exit 1
  }
done
