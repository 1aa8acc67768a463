#!/usr/bin/env bash
# bazel run //emitted:update: makes everything checked in under emitted/ again.
set -euo pipefail
generator=$1
shift
target=$BUILD_WORKSPACE_DIRECTORY/emitted
rm -f "$target"/proofs/*.proof "$target"/schedules/*
"$generator" proofs --out "$target/proofs"
for made in "$@"; do
  install -m 644 "$made" "$target/schedules/"
done
