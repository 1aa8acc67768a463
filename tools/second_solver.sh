#!/usr/bin/env bash
# second_solver.sh [--base REV]: the proofs that have changed since REV, again with cvc5; where it is not
# given: since this branch left its upstream or the main branch, or else since the commit before. Those of
# all programs are part of ./dev bench prove. Exit code 0: the same answers, or nothing has changed.
set -euo pipefail
tools=$(dirname "$(readlink -f "$0")")
cd "$(git rev-parse --show-toplevel)"
. "$tools/base.sh"
base=$(default_base)
if [ $# -gt 0 ]; then
  [ "$1" = --base ] && [ $# -eq 2 ] && base=$(git rev-parse -q --verify "$2^{commit}") || {
    echo "second_solver: write tools/second_solver.sh [--base REV], with a commit" >&2
    exit 2
  }
fi
mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- 'emitted/proofs/*.proof' |
  sed 's|.*/||; s|\.proof$||')
if [ ${#changed[@]} -eq 0 ]; then
  echo "no proof has changed since $(git rev-parse --short "$base")"
  exit
fi
bazel run --noshow_progress --ui_event_filters=-info //verifier -- \
  prove --second-solver cvc5 "${changed[@]}"
