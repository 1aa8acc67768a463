#!/usr/bin/env bash
# tools/lint.sh accepts a small tree and refuses it after each change that it should notice: the wrong format, a line
# too many, a broken link, a forbidden include, and clang-tidy's findings in files that have changed since the base.
set -uo pipefail
count_tests=$(readlink -f "$2")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/tools" && cp -L "$(dirname "$1")"/{lint,base,check_rooms,check_links}.sh "$tree/tools/"
cp -L "$3" "$tree/.clang-format" && cp -L "$4" "$tree/.clang-tidy"
cd "$tree" || exit 1
export HOME=$tree GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git() { command git -c user.name=test -c user.email=test@example.com "$@"; }
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENT...: expects lint's exit code, and TEXT in its output; no such text if TEXT begins with
# "!".
expect() {
  local wanted=$1 text=$2 code=0 said
  shift 2
  said=$(tools/lint.sh "$@" 2>&1) || code=$?
  [ "$code" -eq "$wanted" ] || fail "lint $*: exit code $code instead of $wanted: $said"
  if [ "${text#!}" != "$text" ]; then
    ! grep -qF -- "${text#!}" <<<"$said" || fail "lint $*: says '${text#!}': $said"
  else
    grep -qF -- "$text" <<<"$said" || fail "lint $*: does not say '$text': $said"
  fi
}

commit() { git add -A && git commit -qm "$1"; }

# right FILE writes a correct source. found FILE writes one in which clang-tidy finds something.
right() { printf 'int right_%s() { return 1; }\n' "$(basename "$1" .cc)" >"$1"; }
found() { printf 'int found_%s(int x) { return x - x; }\n' "$(basename "$1" .cc)" >"$1"; }
finding='both sides of operator are equivalent'

mkdir schedule docs
printf '# room, lines\nschedule 800\nrest 2000\n' >tools/budgets.txt
echo 'A tree.' >README.md
echo 'Nothing.' >docs/nothing.md
git init -q -b main .
right schedule/first.cc
commit 'first'
expect 0 'lint: nothing to mend'

# ---- Rules for every file

echo 'int  spaced() { return 1; }' >schedule/spaced.cc
commit 'format'
right schedule/other.cc
commit 'other'
expect 1 'schedule/spaced.cc:1'
git rm -q schedule/spaced.cc
commit 'right again'
# broken TEXT COMMAND: expects TEXT after the command, which is undone.
broken() {
  eval "$2" && git add -A && expect 1 "$1"
  git reset -q --hard
}
lines() { yes '# a line' | head -n "$1"; }
broken 'schedule/long.sh: 701 lines, 700 are the most' 'lines 701 >schedule/long.sh'
broken 'schedule: 802 lines, tools/budgets.txt allows 800' 'lines 700 >schedule/long.sh; lines 100 >schedule/more.sh'
broken ' lines, tools/budgets.txt allows 10' "sed -i 's/rest .*/rest 10/' tools/budgets.txt"
broken 'README.md points to docs/away.md, which is not there' "echo '[away](docs/away.md)' >>README.md"
broken 'README.md points to docs/nothing.md#some-thing, and there is no such heading' "echo '[nothing](docs/nothing.md#some-thing)' >>README.md"
broken 'schedule/ knows no other room' "echo '#include \"verifier/check.h\"' >schedule/knows.cc"
lines 700 >schedule/long.sh
echo '[nothing](docs/nothing.md#some-thing)' >>README.md
echo '## Some thing!' >>docs/nothing.md
git add -A
expect 0 'nothing to mend'
git reset -q --hard

# ---- Files changed: before a commit, before git tracks them, in the last commit, or earlier

right schedule/mended.cc
commit 'mended'
found schedule/mended.cc
expect 1 "$finding"
git checkout -q schedule/mended.cc
expect 0 'nothing to mend'
found schedule/unknown.cc
expect 1 "$finding"
commit 'found'
expect 1 "$finding"
right schedule/later.cc
commit 'later'
expect 0 "!$finding"
expect 1 "$finding" --base HEAD~2
expect 0 "!$finding" --base HEAD~1
expect 1 "$finding" --all
expect 1 'unknown.cc:1' --all

# On a branch, lint checks every file that has changed since the branch left main.
git checkout -qb branch
expect 0 "!$finding"
found schedule/branched.cc
commit 'branched'
right schedule/after.cc
commit 'after'
expect 1 'branched.cc:1'
expect 1 '!unknown.cc:1'
git checkout -q main

# A header is checked through a source that includes it.
git rm -q schedule/unknown.cc
printf '#ifndef H_\n#define H_\ninline int in_header(int x) { return x - x; }\n#endif\n' >schedule/header.h
printf '#include "schedule/header.h"\nint user() { return in_header(2); }\n' >schedule/user.cc
commit 'a header'
expect 1 'schedule/header.h:3'
right schedule/later_still.cc
commit 'after it'
expect 0 "!$finding"
sed -i 's/in_header(int x) { return x/in_header(int x) {return x/' schedule/header.h
expect 1 'schedule/header.h:3'
git checkout -q schedule/header.h
echo '// one more line' >>schedule/header.h
expect 1 'schedule/header.h:3'
sed -i 's/x - x/x - 1/' schedule/header.h
expect 0 'nothing to mend'
commit 'mended'

# ---- The quick part

for i in 1 2; do right schedule/a$i.cc; done
found schedule/b3.cc
commit 'many'
expect 0 'lint: at 2 of 3 files' --quick
expect 1 "$finding"
git rm -q schedule/a2.cc
expect 1 "$finding" --quick

# ---- Bad arguments

expect 2 "lint: --base: 'nowhere' is no commit" --base nowhere
expect 2 "lint: --base: '' is no commit" --base
expect 2 "lint: '--fast' is not known" --fast
expect 2 'two answers to one question' --base HEAD --all

# ---- The count of tests counts a failed lint as a failed case

counted() { # LAST-LINE CODE ARGUMENT
  local code=0 said
  said=$(python3 "$count_tests" "$3" | tail -n 1) || code=$?
  [ "$said" = "$1" ] && [ "$code" -eq "$2" ] || fail "count_tests $3: exit code $code, $said"
}
counted '1 passed, 0 failed' 0 lint=0
counted '0 passed, 1 failed' 1 lint=1
counted '0 passed, 1 failed' 1 /nowhere/events=0.json

[ "$failures" -eq 0 ] || exit 1
