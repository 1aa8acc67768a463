#!/usr/bin/env bash
# adapt_test.sh MPI LIBRARY TOOL PRELOADED: by default, a program finds out which schedule is faster, and loses little on the way.
set -u
. "$(dirname "$0")/runs.sh"
preload="$library $tool"

# called VARIABLE=VALUE... -- ROW CALLS COLLECTIVE=BYTES...: runs PRELOADED on 2 ranks, and expects that it ends.
called() {
  start 2 "$@"
  [ $code -eq 0 ] && grep -q '^end$' "$out" || problem "$*"
}
# total COLUMN REASON [SCHEDULE]: prints the sum of a column over the report's allgathers. The seconds are column 0.
total() {
  awk -v column="$1" -v reason="$2" -v schedule="${3:-}" '$1 == "allgather" && $0 ~ " [-0-9.]+  " reason "$" && (schedule == "" || index($0, " " schedule " ")) {
    i = 1; while ($i !~ /^[0-9]+\.[0-9]+$/) i++; sum += $(i + column) } END { printf "%.0f\n", sum }' "$report"
}
# calls REASON [SCHEDULE]: prints the number of these calls in the report.
calls() { total -2 "$@"; }
within() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || problem "$4: $1 is not from $2 to $3"; }

if [ "$mpi" = openmpi ]; then
  # MPI's own allgather is slow. A schedule is chosen, and the rules go into a file that did not exist.
  rm -f rules.txt
  called QUADRILLE_RULES=rules.txt TOOL_SLOW=1 -- 0 3000 allgather=65536
  reported allgather '1 x 2 ranks' '65536..' chosen
  within "$(($(calls chosen) - $(calls chosen native)))" 1 2960 'calls by a schedule'
  within "$(total 3 chosen)" 5 100 'seconds saved'
  within "$(total 1 chosen)" 5000 999999999 'microseconds of native calls'
  grep -E '^allgather ranks=2 .* bytes=65536\.\.262143 use=.* # 0\.[0-9]{2} of native' rules.txt | grep -qv use=native || problem "the rules: $(cat rules.txt)"
  called QUADRILLE_RULES=rules.txt TOOL_SLOW=1 -- 0 100 allgather=65536
  reported allgather '1 x 2 ranks' ' 100 ' 'by rule'

  # A communicator uses what another one of its shape has found, so its calls are not raced.
  called QUADRILLE=learn QUADRILLE_RULES=learned.txt TOOL_SLOW_SENDS=1 -- 0 300 allgather=64 allgather=64
  within "$(($(calls compared) - $(calls compared native)))" 8 20 'races on two communicators'
  within "$(calls chosen native)" 560 590 'calls by the choice, on two communicators'
else
  echo 'SKIPPED: MPICH waits busily; where ranks share cores, its times are too unsteady to tell when a schedule is chosen'
fi

# The schedules are slow. MPI's own collective stays, after few slow calls.
called TOOL_SLOW_SENDS=1 -- 0 1500 allgather=65536
within "$(($(calls compared) - $(calls compared native)))" 2 12 'slow calls'
within "$(calls chosen native)" 600 1480 'calls by the choice'

# If there are few calls, none is compared. QUADRILLE=on compares none at all.
called TOOL_SLOW=1 -- 0 30 allgather=65536
within "$(calls compared)" 0 0 'comparisons of rare calls'
called TOOL_SLOW=1 QUADRILLE=on -- 0 300 allgather=65536
within "$(calls compared)" 0 0 'comparisons by QUADRILLE=on'

exit $failed
