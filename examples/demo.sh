#!/usr/bin/env bash
# ./dev demo: shows the whole path, from an algorithm to a proven table that MPI runs.
set -euo pipefail
echo "building (once)"
bazel build --noshow_progress --ui_event_filters=-info,-stdout,-stderr,-warning \
  //verifier //generator //tools:run
generator=bazel-bin/generator/generator
verifier=bazel-bin/verifier/verifier
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
schedule=$folder/alltoall_1_2_3.qs

# Prints a command as a user would type it, then runs it.
try() {
  local shown=$1
  shift
  printf '\n$ %s\n' "$shown"
  "$@"
}
in_folder() { (cd "$folder" && "$@"); }

try "bazel run //generator -- generate alltoall --algorithm hierarchical-factor --nodes any --out alltoall.qs" \
  in_folder "$PWD/$generator" generate alltoall --algorithm hierarchical-factor --nodes any --out alltoall.qs
try "bazel run //verifier -- check alltoall.qs" in_folder "$PWD/$verifier" check alltoall.qs
try "mpirun -n 5 bazel-bin/tools/run alltoall.qs" \
  mpirun --allow-run-as-root --oversubscribe -n 5 bazel-bin/tools/run "$folder/alltoall.qs"
printf '\n%s\n' "That file serves every job. For given nodes:"

try "bazel run //generator -- generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out alltoall_1_2_3.qs" \
  in_folder "$PWD/$generator" generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 \
  --out alltoall_1_2_3.qs
try "bazel run //generator -- show alltoall_1_2_3.qs --format steps" \
  in_folder "$PWD/$generator" show alltoall_1_2_3.qs --format steps
try "bazel run //verifier -- check alltoall_1_2_3.qs" \
  in_folder "$PWD/$verifier" check alltoall_1_2_3.qs
try "bazel run //verifier -- prove hierarchical-factor" "$verifier" prove hierarchical-factor
printf '%s\n' "Without a name it proves all programs."
try "bazel run //generator -- emit alltoall_1_2_3.qs --out ." \
  in_folder "$PWD/$generator" emit alltoall_1_2_3.qs --out .
try "mpirun -n 6 bazel-bin/tools/run alltoall_1_2_3.qs --layout trusted" \
  mpirun --allow-run-as-root --oversubscribe -n 6 bazel-bin/tools/run "$schedule" --layout trusted
printf '\n%s\n' "One machine has no network between its nodes: what this shows is that every byte is right.
./dev bench measures on an emulated cluster."
