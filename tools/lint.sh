#!/usr/bin/env bash
# lint.sh [--base REV | --all] [--quick]: checks formatting, includes between rooms, links, lengths of files and rooms, and runs
# clang-tidy over the sources that have changed since REV. Tested by //tests/structure:lint_test.
#
#   --base REV  clang-tidy over the sources that have changed since REV (default: see tools/base.sh)
#   --all       clang-tidy over every source
#   --quick     clang-tidy over a few sources only, in less than a minute; continuous integration runs this
#
# clang-tidy sees a header through one source that includes it. Exit codes: 0 nothing to mend, 1 something to mend, 2 bad
# arguments.
set -euo pipefail
tools=$(dirname "$(readlink -f "$0")")
cd "$(git rev-parse --show-toplevel)"
most_when_quick=2

usage() {
  echo "lint: $1; write ./dev lint [--base REV | --all] [--quick]" >&2
  exit 2
}

base='' all='' quick=''
while [ $# -gt 0 ]; do
  case $1 in
    --base)
      base=${2:-}
      git rev-parse -q --verify "$base^{commit}" >/dev/null || usage "--base: '$base' is no commit"
      shift
      ;;
    --all) all=yes ;;
    --quick) quick=yes ;;
    *) usage "'$1' is not known" ;;
  esac
  shift
done
[ -z "$base" ] || [ -z "$all" ] || usage '--base and --all are two answers to one question'

. "$tools/base.sh"

sources() { git ls-files '*.cc' '*.c' '*.h'; }

changed() {
  git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.c' '*.h'
  git ls-files --others --exclude-standard -- '*.cc' '*.c' '*.h'
}

# Prints the sources that stdin names. For a header, prints the source of its name, or else one that includes it.
to_tidy() {
  local file
  while IFS= read -r file; do
    case $file in
      emitted/*) ;;
      *.h)
        if [ -e "${file%.h}.cc" ]; then
          echo "${file%.h}.cc"
        elif [ -e "${file%.h}.c" ]; then
          echo "${file%.h}.c"
        else
          git grep -lF "#include \"$file\"" -- '*.cc' '*.c' | sed -n 1p || true
        fi
        ;;
      install/test/*) ;; # a user's program, which needs an installation
      *) echo "$file" ;;
    esac
  done | sort -u
}

# Runs clang-tidy over the files that stdin names.
tidy() {
  # shellcheck disable=SC2016 # $1 is the inner shell's
  xargs -r -P "$(nproc)" -I{} bash -c '
    case $1 in *.c) standard=c11 ;; *) standard=c++20 ;; esac
    case $1 in # written for the interface of MPICH, or of the standard
      tests/preload/abi.c) mpi=runtime/abi ;;
      tests/net/* | tests/preload/abi_shim.c | bench/stub_mpi.c) mpi=/usr/include/x86_64-linux-gnu/mpich ;;
      *) mpi=/usr/lib/x86_64-linux-gnu/openmpi/include ;;
    esac
    exec clang-tidy --quiet "$1" -- -std=$standard -D_GNU_SOURCE -DOMPI_SKIP_MPICXX -I. -Ibazel-bin \
      -I$mpi' tidy {} \
    2> >(grep -v 'warnings\? generated\|^Suppressed\|^Use -header' >&2)
}

code=0
sources | xargs -r clang-format --dry-run -Werror || code=1
"$tools/check_rooms.sh" . || code=1
"$tools/check_links.sh" . || code=1
git ls-files '*.cc' '*.h' '*.c' '*.bzl' '*.sh' '*.py' | xargs -r wc -l |
  awk '$2 != "total" && $1 > 700 {print $2 ": " $1 " lines, 700 are the most"; long = 1}
       END {exit long}' || code=1
# Compares each room with its most lines in tools/budgets.txt. Files of no room count as the room `rest`.
git ls-files -z | xargs -0 -r wc -l | awk 'NR == FNR {if ($1 !~ /^#/) most[$1] = $2; next}
  $2 != "total" {room = $2; sub("/.*", "", room); lines[room in most && room != $2 ? room : "rest"] += $1}
  END {for (room in lines) if (lines[room] > most[room]) {
         print room ": " lines[room] " lines, tools/budgets.txt allows " most[room] + 0; large = 1}
       exit large}' tools/budgets.txt - || code=1

if [ -n "$all" ]; then
  files=$(git ls-files '*.cc' '*.c' | to_tidy)
  echo "lint: clang-tidy looks at every source"
else
  [ -n "$base" ] || base=$(default_base)
  files=$(changed | to_tidy)
  echo "lint: clang-tidy looks at what has changed since $(git rev-parse --short "$base")"
fi
count=$(grep -c . <<<"$files" || true)
if [ -n "$quick" ] && [ "$count" -gt "$most_when_quick" ]; then
  echo "lint: at $most_when_quick of $count files; ./dev lint looks at all of them"
  files=$(head -n "$most_when_quick" <<<"$files")
fi
[ -z "$files" ] || tidy <<<"$files" || code=1
[ $code -ne 0 ] || echo 'lint: nothing to mend'
exit $code
