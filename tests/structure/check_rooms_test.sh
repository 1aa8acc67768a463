#!/usr/bin/env bash
# tools/check_rooms.sh accepts a small tree with the right layering. The test then adds lines that break a rule. The
# check must name each of these lines and its rule.
set -uo pipefail
check=$(readlink -f "$1")
failures=0

# Makes a tree that keeps every rule.
right_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"/{schedule,runtime/program,runtime/execute,generator,verifier/prove,cli,tests,preload}
  echo '#include "schedule/ids.h"' >"$tree/schedule/program.h"
  printf '#include <stdlib.h>\n#include "schedule/limits.h"\n' >"$tree/runtime/program/load.c"
  printf '#include <mpi.h>\n#include "runtime/program/program.h"\n' >"$tree/runtime/execute/bind.c"
  printf 'cc_library(\n    name = "program",\n    srcs = ["program/load.c"],\n)\n' >"$tree/runtime/BUILD"
  printf '#include "runtime/program/table_format.h"\n#include "verifier/decode.h"\n' >"$tree/generator/main.cc"
  echo '#include "schedule/program.h"' >"$tree/verifier/check.cc"
  echo '#include <z3++.h>' >"$tree/verifier/prove/prover.cc"
  printf 'package(default_visibility = ["//generator:__pkg__"])\ncc_library(\n    name = "prove",\n    deps = ["//schedule:walk", "//third_party:z3"],\n)\n' >"$tree/verifier/BUILD"
  printf '#include <mpi.h>\n#include "emitted/universal.h"\n#include "runtime/quadrille.h"\n' >"$tree/preload/serve.c"
  printf '#include "generator/registry.h"\n#include "verifier/check.h"\n' >"$tree/tests/any_test.cc"
}

# breaks FILE LINE RULE: adds LINE, which breaks RULE, to the file.
broken=()
breaks() {
  mkdir -p "$(dirname "$tree/$1")"
  echo "$2" >>"$tree/$1"
  broken+=("$1" "$2" "$3")
}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
right_tree
if ! said=$("$check" "$tree"); then
  echo "a right tree is refused: $said"
  failures=$((failures + 1))
fi

# Rules that several of the lines break.
schedule_knows='schedule/ knows no other room'
verifier_knows='verifier/ knows schedule/, the table format and plans, never generator/'
simulate_knows='simulate/ knows schedule/, plans, calls and the decoder, never generator/'
view_knows='view/ knows schedule/, simulate/, the JSON of cli/ and the checker, never generator/'
trace_knows='trace/ knows schedule/, simulate/, view/, the format of traces, calls and plans, never generator/'
runtime_knows='runtime/ knows no other room but the limits of schedule/'
preload_knows='preload/ knows the public header of runtime/, its loader, its entry points, nodes.h and datatypes.h, emitted:universal, and of cli/ and view/ what commands need'
tools_knows='tools/ knows the public header of runtime/, datatypes.h, nodes.h, preload/ as a library, device.h, its rules and interpose.h, emitted:universal, and of cli/ the reader of quantities'

breaks schedule/walk.cc '#include "verifier/check.h"' "$schedule_knows"
if "$check" "$tree" >/dev/null; then
  echo 'a tree with one wrong line is accepted'
  failures=$((failures + 1))
fi
breaks schedule/BUILD '    deps = ["//generator:registry"],' "$schedule_knows"
breaks verifier/check.cc '#include "generator/registry.h"' "$verifier_knows"
breaks verifier/prove/sites.cc '#include "generator/encode.h"' "$verifier_knows"
breaks verifier/BUILD '    deps = ["//generator:encode"],' "$verifier_knows"
breaks verifier/decode.cc '#include "runtime/program/program.h"' "$verifier_knows"
breaks generator/encode.cc '#include "verifier/memory.h"' 'generator/ knows schedule/, the table format, simulate/, view/, the decoder, the checker, calls, certificates, plans and the coloring'
breaks simulate/engine.cc '#include "generator/registry.h"' "$simulate_knows"
breaks simulate/engine.cc '#include "view/page.h"' "$simulate_knows"
breaks view/page.cc '#include "generator/registry.h"' "$view_knows"
breaks view/page.cc '#include "verifier/decode.h"' "$view_knows"
breaks view/BUILD '    deps = ["//generator:encode"],' "$view_knows"
breaks verifier/check.cc '#include "view/page.h"' "$verifier_knows"
breaks trace/check.cc '#include "generator/registry.h"' "$trace_knows"
breaks trace/file.cc '#include "runtime/execute/call.h"' "$trace_knows"
breaks verifier/check.cc '#include <z3++.h>' 'Z3 in verifier/prove/ only'
breaks runtime/program/walk.c '#include <z3.h>' 'Z3 in verifier/prove/ only'
breaks generator/BUILD '    deps = ["//third_party:z3"],' 'Z3 in verifier/ only'
breaks tests/BUILD '    deps = ["@quadrille//third_party:z3"],' 'Z3 in verifier/ only'
breaks runtime/program/walk.c '#include "schedule/program.h"' "$runtime_knows"
breaks runtime/BUILD '    deps = ["//generator:encode"],' "$runtime_knows"
breaks runtime/program/load.c '#include <mpi.h>' 'runtime/program/ and runtime/plan/ need libc alone'
breaks runtime/program/walk.c '#include <zlib.h>' 'runtime/ needs MPI and libc alone'
breaks verifier/check.cc '#include "tests/support/oracle.h"' 'nothing that ships knows tests, measurements or examples'
breaks cli/files.cc '#include "verifier/check.h"' 'cli/ knows schedule/ alone'
breaks preload/serve.c '#include "runtime/internal.h"' "$preload_knows"
breaks preload/BUILD '    deps = ["//generator:registry"],' "$preload_knows"
breaks tools/run.c '#include "runtime/execute/state.h"' "$tools_knows"
breaks tools/run.c '#include "preload/preload.h"' "$tools_knows"
breaks tools/run.c '#include "cli/files.h"' "$tools_knows"
breaks runtime/program/walk.c '#include "preload/rules.h"' "$runtime_knows"

said=$("$check" "$tree")
for ((i = 0; i < ${#broken[@]}; i += 3)); do
  if ! grep -F "${broken[i + 1]}    <- ${broken[i + 2]}" <<<"$said" | grep -q "^\(\./\)\?${broken[i]}:"; then
    echo "accepted: ${broken[i + 1]} in ${broken[i]}, against: ${broken[i + 2]}"
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))
