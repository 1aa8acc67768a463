#!/usr/bin/env bash
# adapt_test.sh MPI LIBRARY TOOL PRELOADED: by default, a program finds out which schedule is faster, and loses little on the way.
set -u
. "$(dirname "$0")/runs.sh"
preload="$library $tool"

# called VARIABLE=VALUE... -- ROW CALLS COLLECTIVE=BYTES...
called() {
  start 2 "$@"
  [ $code -eq 0 ] && grep -q '^end$' "$out" || problem "$*"
}
# calls REASON [SCHEDULE]: how many the report has.
calls() {
  awk -v reason="$1" -v schedule="${2:-}" '$1 == "allgather" && $0 ~ " [0-9.]+  " reason "$" && (schedule == "" || index($0, " " schedule " ")) {
    for (i = NF; i > 0; i--) if ($i ~ /^[0-9]+\.[0-9]+$/) { sum += $(i - 2); break } } END { print sum + 0 }' "$report"
}
within() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || problem "$4: $1 is not from $2 to $3"; }

# MPI's own is slow: a schedule is chosen, and the rules go into a file that need not exist.
rm -f rules.json
called QUADRILLE_RULES=rules.json TOOL_SLOW=0 -- 0 8000 allgather=64
reported allgather '1 x 2 ranks' '64..255' chosen
python3 - <<'EOT' || problem 'the rules'
import json
(rule,) = json.load(open("rules.json"))["rules"]
assert rule["collective"] == "allgather" and rule["bytes"] == [64, 255] and rule["ranks"] == 2, rule
assert rule["algorithm"] != "native" and rule["native_time"] > 1e-3 > 2 * rule["time"], rule
EOT
called QUADRILLE_RULES=rules.json TOOL_SLOW=0 -- 0 100 allgather=64
reported allgather '1 x 2 ranks' ' 100 ' 'by rule'

# Schedules are slow: MPI's own stays, and few calls were lost.
called TOOL_SLOW_SENDS=1 -- 0 2000 allgather=64
within "$(calls compared native)" 2 10 'comparisons'
within "$(($(calls compared) - $(calls compared native)))" 2 4 'slow calls'
within "$(calls chosen native)" 1000 1110 'calls by the choice'

# Times change: the choice follows.
called TOOL_SLOW=1500 -- 0 8000 allgather=4096
within "$(($(calls chosen) - $(calls chosen native)))" 500 8000 'calls by a schedule, after the change'

# A communicator takes over what another one of its shape has found.
called TOOL_SLOW=0 -- 0 8000 allgather=64 allgather=64
within "$(($(calls chosen) - $(calls chosen native)))" 6000 15500 'calls by the schedule, on two communicators'

# Few calls are left alone, and QUADRILLE=on compares none.
called TOOL_SLOW=0 -- 0 100 allgather=4096
within "$(calls compared)" 0 0 'comparisons of rare calls'
called TOOL_SLOW=0 QUADRILLE=on -- 0 1000 allgather=64
within "$(calls compared)" 0 0 'comparisons by QUADRILLE=on'

exit $failed
