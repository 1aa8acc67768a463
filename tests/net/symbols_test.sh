#!/usr/bin/env bash
# symbols_test.sh PROGRAM: every MPI function that the runtime calls is simulated, so the program takes none from the
# library. A function that is missing must be added to tests/net.
set -uo pipefail

functions_of() { nm -D --undefined-only "$1" | awk '$2 ~ /^P?MPI_/ {print $2}'; }

missing=$(functions_of "$1")
if [ -n "$missing" ]; then
  echo "not simulated:" $missing
  exit 1
fi
# The check notices a function that is not simulated.
program=$(mktemp)
trap 'rm -f "$program"' EXIT
echo 'int MPI_Pcontrol(int); int main(void) { return MPI_Pcontrol(1); }' |
  gcc -x c - -shared -fPIC -o "$program" || exit 1
[ "$(functions_of "$program")" = MPI_Pcontrol ] || { echo "it does not see MPI_Pcontrol"; exit 1; }
