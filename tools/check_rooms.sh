#!/usr/bin/env bash
# check_rooms.sh [TREE]: checks which folder may use which. It reads #include lines and the labels of BUILD files,
# prints each line that breaks a rule, and fails if there is one. Tested by tests/structure/check_rooms_test.sh.
#
#   schedule   itself
#   runtime    itself, MPI and the limits of schedule; the parts of runtime:program and runtime:table_format, libc only
#   generator  schedule, the table format, simulate, view, and of the verifier its decoder, checker, replay, calls, certificates and plans, to show and emit files;
#              the coloring, which asks Z3
#   verifier   schedule, the table format, the rules of block sizes, the plans that it checks, cli; never the generator.
#              Z3 only in verifier/prove, and its tests
#   simulate   schedule, cli, and the plans of runtime; of the verifier its calls, decoder and plans; never the generator
#   view       schedule, simulate, the JSON of cli, and the verifier's checker, which it observes; never the generator
#   trace      schedule, cli, simulate, view, the format of traces of runtime; of the verifier its calls, decoder and plans
#   cli        schedule
#   tools      the public header of runtime, its datatypes and nodes, preload as a library, device.h, its rules and interpose.h, the schedules for any nodes,
#              the readers of sizes in cli
#   emitted    the runtime; its rules run generator and verifier
#   preload    the public header of runtime, its loader of files, the entry points, nodes and datatypes, and the schedules for any nodes of emitted;
#              its commands, parts of cli and the texts of view
#   install    the outputs of the others, to put them in their places
set -euo pipefail
tree=${1:-$(dirname "$(readlink -f "$0")")/..}
cd "$tree"

# refuse FILES PATTERN EXCEPTIONS RULE: adds a rule. A line of FILES that matches PATTERN and not EXCEPTIONS breaks it. All are regular
# expressions.
rules=
refuse() { rules+=$(printf '%s\t' "$@")$'\n'; }

rooms='schedule|runtime|tools|generator|verifier|simulate|trace|view|emitted|preload|cli|tests|bench|examples|third_party/precompiled'
# room NAME ALLOWED RULE: checks that the room's #include lines and BUILD files name only its own files and ALLOWED.
room() {
  refuse "$1/.*\.(h|cc?)" " *# *include *\"($rooms)/" "include *\"($1/|$2)" "$3"
  refuse "$1/(.*/)?BUILD" "[^#]*\"//($rooms)[:/].*" \
    "__pkg__|__subpackages__|\"//$1[:/]|\"//($2)|^[^:]*:[0-9]*:load\\(" "$3"
}

room schedule 'nothing' 'schedule/ knows no other room'
room cli 'schedule[/:]' 'cli/ knows schedule/ alone'
room runtime 'schedule(/limits\.h|:limits)' 'runtime/ knows no other room but the limits of schedule/'
room tools 'runtime(/(quadrille|execute/(datatypes|nodes))\.h|:(openmpi|mpich|smpi|")|:" \+ mpi)|preload(/(device|rules|interpose)\.h|:device|:rules|:preload_)|emitted(/universal\.h|:universal)|cli(/quantity\.h|:quantity)' \
  'tools/ knows the public header of runtime/, datatypes.h, nodes.h, preload/ as a library, device.h, its rules and interpose.h, emitted:universal, and of cli/ the reader of quantities'
room preload 'runtime(/(quadrille|execute/(api|arguments|datatypes|nodes|significance)|program/program)\.h|:program|:" \+ mpi)|emitted(/universal\.h|:universal)|cli(/(command_line|files)\.h|:(command_line|files))|view(/(assets|pack)\.h|:text)' \
  'preload/ knows the public header of runtime/, its loader, its entry points, nodes.h and datatypes.h, emitted:universal, and of cli/ and view/ what commands need'
room generator 'schedule[/:]|runtime(/program/table_format\.h|/program/digest\.h|:table_format|:quadrille\.[ch])|simulate[/:]|simulate"|view[/:]|verifier(/decode\.h|:decode|/check\.h|:check|/replay\.h|:replay|/call\.h|:call|/certificate\.h|:certificate_file|/plans\.h|:plans|/prove/coloring\.h|:coloring)|cli[/:]|emitted[/:]' \
  'generator/ knows schedule/, the table format, simulate/, view/, the decoder, the checker, calls, certificates, plans and the coloring'
room verifier 'schedule[/:]|runtime(/program/table_format\.h|/program/digest\.h|:table_format|/program/block_size\.h|:block_size|/plan/builder\.h|:plan)|cli[/:]|emitted:proofs' \
  'verifier/ knows schedule/, the table format and plans, never generator/'
room simulate 'schedule[/:]|cli[/:]|runtime(/plan/(builder|plan)\.h|:plan|/program/table_format\.h|:table_format)|verifier(/(call|decode|plans)\.h|:(call|decode|plans))' \
  'simulate/ knows schedule/, plans, calls and the decoder, never generator/'
room view 'schedule[/:]|simulate[/:]|simulate"|cli(/json\.h|:json)|verifier(/(check|findings|memory)\.h|:check)' \
  'view/ knows schedule/, simulate/, the JSON of cli/ and the checker, never generator/'
room trace 'schedule[/:]|cli[/:]|simulate[/:]|view[/:]|runtime(/execute/trace_format\.h|:trace_format)|verifier(/(call|decode|plans)\.h|:(call|decode|plans))' \
  'trace/ knows schedule/, simulate/, view/, the format of traces, calls and plans, never generator/'

sources="($rooms)/.*\.(h|cc?)"
refuse "$sources" '.*# *include *[<"]z3' '^(verifier|tests)/prove/' 'Z3 in verifier/prove/ only'
refuse '(.*/)?BUILD' '.*(third_party:z3|"-lz3")' '^(verifier|tests/prove|third_party)/BUILD:' 'Z3 in verifier/ only'
refuse "$sources" '.*# *include *"(tests|bench|examples)/' '^(tests|bench|examples)/' \
  'nothing that ships knows tests, measurements or examples'

refuse 'runtime/(program|plan)/.*\.[hc]' '.*# *include *<' \
  '<(assert|ctype|errno|inttypes|limits|stdarg|stdbool|stddef|stdint|stdio|stdlib|string)\.h>' \
  'runtime/program/ and runtime/plan/ need libc alone'
refuse 'runtime/.*\.[hc]' '.*# *include *<' \
  '<(assert|cpuid|ctype|dlfcn|errno|inttypes|limits|link|locale|math|mpi|pthread|sched|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|time|unistd|(fcntl|sys/[a-z]+))\.h>' \
  'runtime/ needs MPI and libc alone'

lines() {
  find . -path ./.git -prune -o -type f \( -name '*.h' -o -name '*.cc' -o -name '*.c' -o -name BUILD \) -printf '%P\0' |
    xargs -0 -r grep -nHE '# *include|"//|third_party:z3|"-lz3"' || true
}
awk -F'\t' '
  NR == FNR {breaks[++rules] = "^(" $1 "):[0-9]+:" $2; excepted[rules] = $3; rule[rules] = $4; next}
  {for (i = 1; i <= rules; i++) if ($0 ~ breaks[i] && $0 !~ excepted[i]) {print $0 "    <- " rule[i]; broken = 1}}
  END {exit broken}' <(printf '%s' "$rules") <(lines)
