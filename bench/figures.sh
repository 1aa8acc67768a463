# Sourced by the scripts here: a table of figures beside their limits.
missed=0

# figure WHAT VALUE LIMIT UNIT: one line; a value above the limit is missed. Without a limit ('-') it is for information.
figure() {
  awk -v what="$1" -v value="$2" -v limit="$3" -v unit="$4" 'BEGIN {
    verdict = limit == "-" ? "" : value + 0 <= limit + 0 ? "ok" : "MISSED"
    printf "%-72s %10s %10s %-12s %s\n", what, value, limit, unit, verdict
    exit (verdict == "MISSED")
  }' || missed=1
}

heading() { printf '\n%s\n%-72s %10s %10s\n' "$1" "" value limit; }

# Where other work is going on, times and MPI's polling are not what they would be.
note_load() {
  read -r load _ </proc/loadavg
  awk -v load="$load" 'BEGIN {exit (load < 0.7)}' &&
    echo "LOADED MACHINE: load $load at the start; times are not to be relied on"
  return 0
}

# The same 512 sizes from 1 to 64 on every machine.
random_nodes() {
  awk 'BEGIN {
    for (x = 20261120; i < 512; i++) {
      x = (x*1103515245 + 12345) % 2147483648
      printf "%s%d", i ? "," : "", int(x/65536) % 64 + 1
    }
  }'
}

# at_least WHAT VALUE LIMIT: the same for a value that must not be less.
at_least() {
  awk -v what="$1" -v value="$2" -v limit="$3" 'BEGIN {
    printf "%-72s %10s %10s %-12s %s\n", what, value, limit, "", (value + 0 >= limit + 0 ? "ok" : "MISSED")
    exit (value + 0 < limit + 0)
  }' || missed=1
}
