#!/usr/bin/env bash
# second_solver.sh: asks cvc5 about each proof that only Z3 has proven, by emitted/proofs.txt, and writes "cvc5" there
# if it gives the same answers. `./dev bench prove` asks it about all proofs. Exit code 0: the same answers, or none was
# asked. A line that ends with "cvc5:open" is not asked again: cvc5 left questions of that proof open. Each run names it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
list=emitted/proofs.txt
open=$(sed -n 's/^\([^ ]*\) .* cvc5:open$/\1/p' "$list")
[ -z "$open" ] || echo "Z3 alone has proven, as cvc5 leaves questions open:" $open
mapfile -t lines < <(grep '^[^#].* z3$' "$list")
if [ ${#lines[@]} -eq 0 ]; then
  echo "cvc5 has proven everything else in $list"
  exit
fi
bazel run --noshow_progress --ui_event_filters=-info //verifier -- prove --second-solver cvc5 "${lines[@]%% *}"
# Lines that have changed meanwhile are left unchanged.
for line in "${lines[@]}"; do sed -i "s/^$line\$/& cvc5/" "$list"; done
echo "$list now says so; commit it"
