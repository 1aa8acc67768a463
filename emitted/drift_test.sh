#!/usr/bin/env bash
# What is checked in under emitted/ is what the generator makes today.
set -euo pipefail
generator=$1
shift
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

differs() {
  echo "$1; look at the difference, and take it with: bazel run //emitted:update" >&2
  exit 1
}

"$generator" proofs --out "$fresh"
diff -r "$fresh" emitted/proofs || differs "the proofs under emitted/proofs are not today's"
for made in "$@"; do
  diff "$made" "emitted/schedules/$(basename "$made")" ||
    differs "the schedules under emitted/schedules are not today's"
done
[ "$(ls emitted/schedules)" = "$(for made in "$@"; do basename "$made"; done | LC_ALL=C sort)" ] ||
  differs "emitted/schedules holds other files than are made"
