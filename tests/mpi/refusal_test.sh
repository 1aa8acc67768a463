#!/usr/bin/env bash
# refusal_test.sh MPI_TEST: mpi_test.sh itself must not accept silence, a hang or a missing rank.
set -u
mpi_test=$1
failed=0
cat >"$TEST_TMPDIR/program" <<'EOT'
#!/bin/sh
rank=$OMPI_COMM_WORLD_RANK
case $CASE in
  good) echo "rank $rank ran 3 tests, all passed" ;;
  silent) ;;
  hanging) echo "rank $rank ran 3 tests, all passed" && exec sleep 100 ;;
  nothing) echo "rank $rank ran 0 tests, all passed" ;;
  one) [ "$rank" = 1 ] || echo "rank $rank ran 3 tests, all passed" ;;
  different) echo "rank $rank ran 3$rank tests, all passed" ;;
  code) echo "rank $rank ran 3 tests, all passed" && exit "$rank" ;;
esac
EOT
chmod +x "$TEST_TMPDIR/program"

expect() {
  CASE=$2 "$mpi_test" openmpi 2 "${3:-20}" "$TEST_TMPDIR/program" >"$TEST_TMPDIR/out" 2>&1
  [ $? -eq "$1" ] && return
  failed=1
  echo "FAILED: $2"
  cat "$TEST_TMPDIR/out"
}

expect 0 good
expect 1 silent
expect 1 hanging 1
expect 1 nothing
expect 1 one
expect 1 different
expect 1 code
exit $failed
