#!/usr/bin/env bash
# second_solver.sh: asks cvc5 about each proof in emitted/proofs.txt that only Z3 has proven. If cvc5 gives the same
# answers, writes "cvc5" there. Exit code 0: the answers are the same, or nothing was asked. It only names lines that
# end with "cvc5:open": cvc5 left questions of these proofs open. `./dev bench prove` asks cvc5 about all proofs.
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
# Leaves lines alone that have changed meanwhile.
for line in "${lines[@]}"; do sed -i "s/^$line\$/& cvc5/" "$list"; done
echo "$list now says so; commit it"
