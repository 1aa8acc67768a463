#!/usr/bin/env bash
# What the README says that commands print is what they print; times are left out.
set -euo pipefail
generator=$1 verifier=$2 readme=$PWD/README.md language=$PWD/docs/language.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$PWD

expect() {
  while IFS= read -r line; do
    grep -qxF -- "$line" "$readme" || {
      echo "$readme does not have the line that is printed today: $line" >&2
      exit 1
    }
  done
}
timeless() { grep -vE '  checked +in |, [0-9.]+ s' || true; }

cd "$folder"
"$here/$generator" generate alltoall --algorithm hierarchical-factor --nodes any --out alltoall.qs >said
expect <said
"$here/$verifier" check alltoall.qs >said
[ "$(wc -l <said)" -ge 5 ]
expect <said
"$here/$generator" generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 \
  --out alltoall_1_2_3.qs >said
expect <said
"$here/$verifier" check alltoall_1_2_3.qs | timeless >said
[ "$(wc -l <said)" -ge 9 ]
expect <said
"$here/$verifier" prove hierarchical-factor | timeless >said
[ "$(wc -l <said)" -ge 2 ]
expect <said
"$here/$generator" generate allreduce --algorithm auto --nodes 4x4 --bytes 1000000 --out sum.qs >said
expect <said
"$here/$generator" show sum.qs --explain --bytes 1000000 | grep . >said
[ "$(wc -l <said)" -ge 7 ]
expect <said
"$here/$generator" generate allgather --algorithm blocked-ring-nodes --nodes 1,2,3 --block-size 1000 \
  --out gather.qs >said
expect <said
"$here/$verifier" check gather.qs --counts 3000,0,1000,5000,2000,1000 | timeless >said
[ "$(wc -l <said)" -ge 9 ]
expect <said

# The blocked ring of docs/language.md, as it is shown.
readme=$language
"$here/$generator" generate allgather --algorithm blocked-ring --nodes 4 --out ring.qs >/dev/null
"$here/$generator" show ring.qs | grep -v '^--' >said
[ "$(wc -l <said)" -ge 25 ]
expect <said
