#!/usr/bin/env bash
# symbols_test.sh MPI LIBRARY: checks what a shared library of the runtime exports, and which data it keeps.
set -u
library=$2
failed=0
problem() {
  echo "FAILED: $library: $*"
  failed=1
}

# It exports exactly the functions of quadrille.h.
shown=$(nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ {print $3}' |
  grep -vE '^(__bss_start|_edata|_end)$' | sort)
wanted=$(sed -nE -e 's/^QUADRILLE_API .*\b(quadrille_[a-z_]+)\(.*/\1/p' \
  -e 's/^QUADRILLE_COLLECTIVE\((quadrille_[a-z_]+),.*/\1\n\1_c\n\1_init\n\1_init_c/p' runtime/quadrille.h | sort)
[ "$(wc -l <<<"$wanted")" -ge 70 ] || problem "runtime/quadrille.h was not understood"
[ "$shown" = "$wanted" ] || problem "symbols differ from those of quadrille.h: $(diff <(echo "$shown") <(echo "$wanted"))"

# Thread-local variables hinder simulators that run ranks as threads.
readelf -lW "$library" | grep -q '\bTLS\b' && problem "has thread-local variables"
# All variables are in qd_global, apart from those that every shared library has.
kept=$(objdump -t "$library" | sed -nE 's/^[0-9a-f]+ .{5} O \.t?(bss|data)\s.* //p' |
  grep -vE '^(completed\.0|__dso_handle|__TMC_END__)$' | sort | tr '\n' ' ')
[ "$kept" = "qd_global " ] || problem "keeps state outside qd_global: $kept"
exit $failed
