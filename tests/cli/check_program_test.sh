#!/usr/bin/env bash
# `check --program FILE --up-to N`: verdicts, commands that show a counterexample, and refusals.
source "$(dirname "$0")/common.sh"

copy_shift

# ---- Verified

prints 'shift.txt: verified on all 66 topologies of up to 8 ranks' check --program shift.txt --up-to 8
says '  shift for alltoall'
says '  walked    66 calls'
says '  scope     verified for these topologies alone; prove covers all sizes'
says '  checked   in '
prints 'shift.txt: verified on the 1 topology of up to 1 rank' check --program shift.txt --up-to 1
sed 's/^copy/require ranks mod 2 = 0\n&/' shift.txt >even.txt
prints 'even.txt: verified on the 18 topologies of up to 6 ranks that it serves; it refuses 11' check --program even.txt --up-to 6
expect 0 allgather segment-map --nodes any --remote-nodes any --out groups.qs
prints 'groups.qs: verified on all 37 topologies of up to 5 ranks' check --program groups.qs --up-to 5
says '; and counts up to 2 on up to 4 ranks, counts at the limits on up to 5 ranks, at most 3 in a group; at most 5000 cases of each on a topology'

printf '%s\n' 'algorithm root for broadcast' 'table m = counts' 'if rank = root and 0 < m[0]' '  copy send[0] to recv[0]' 'step 0' '  for k in 0 .. ranks' \
  '    if rank = root and k != root and 0 < m[0]' '      send send[0] to k' '  if rank != root and 0 < m[0]' '    receive recv[0] from root' >root.txt
prints 'root.txt: verified for these counts on all 66 topologies of up to 8 ranks' check --program root.txt --up-to 8
says '  scope     verified for these topologies and counts alone; prove covers all sizes'
says '; and counts up to 2 on up to 6 ranks, counts at the limits on up to 6 ranks; at most 5000 cases of each on a topology'

# ---- Refuted. The printed commands work as they are

follow() { # REPLAYED
  sed -n 's/^.*bazel run //p' .out >commands
  [ "$(wc -l <commands)" -ge 2 ] || fail "too few commands: $(cat .out)"
  while read -r line; do
    line=${line/#\/\/generator --/\"\$generator\"}
    eval "expect 0 ${line/#\/\/verifier --/\"\$verifier\"}"
  done <commands
  says "$1"
}
sed 's/1 \.\. ranks/1 .. min(ranks, 5)/' shift.txt >"short one's.txt"
refutes "short one's.txt: REFUTED on nodes 6x1" check --program "short one's.txt" --up-to 8
says '  coverage: every block arrives'
says '  but '
follow 'step 1: send '
# A parameter of the schedule. A schedule file stands in place of a text.
sed 's/^copy/parameter r\n&/; s/1 \.\. ranks/1 .. ranks - (r = 2 ? 1 : 0)/' shift.txt >number.txt
refutes 'number.txt: REFUTED on nodes 2x1, parameter 2' check --program number.txt --up-to 8
follow 'rank 1'
# A parameter that the call chooses.
sed 's/^copy/parameter B at call\n&/; s/1 \.\. ranks/1 .. ranks - (B = 1 and ranks = 3 ? 1 : 0)/' shift.txt >chosen.txt
refutes 'chosen.txt: REFUTED on nodes 3x1, parameter 1' check --program chosen.txt --up-to 8
follow 'rank 1'
expect 0 generate alltoall --program "short one's.txt" --nodes 3 --out short.qs
refutes 'short.qs: REFUTED on nodes 6x1' check --program short.qs --up-to 8
follow 'step 1: send '
# The refutation depends on a root and on counts.
printf '%s\n' 'algorithm late for broadcast' 'table m = counts' 'step 0' '  if rank = root and m[0] != 1' '    for k in 0 .. ranks' '      if k != rank' \
  '        send send[0] to k' '  if rank != root and m[0] != 1' '    receive recv[0] from root' >late.txt
refutes 'late.txt: REFUTED on nodes ' check --program late.txt --up-to 4
follow 'rank '
refutes '  port: no port is used twice at a time' check --program shift.txt --up-to 4 --ports 1

# ---- Unknown

sed 's/^copy/require 9 < ranks\n&/' shift.txt >many.txt
expect 3 check --program many.txt --up-to 8
says 'many.txt: UNKNOWN: it serves no topology of up to 8 ranks; try more'
expect 3 check --program groups.qs --up-to 1
# A larger --up-to does not help if the program refuses the calls that are tried.
for requirement in '5 = m[0]' '9999 < root'; do
  sed "s/^if rank/require $requirement\n&/" root.txt >few.txt
  expect 3 check --program few.txt --up-to 3
  says 'few.txt: UNKNOWN: it takes none of the calls that are tried on topologies of up to 3 ranks; generate a schedule and check one of its own calls'
done

# ---- Large tables

# This table does not depend on the call, so it is filled once for each topology.
sed 's/^table m = counts/&\ntable a[i in 0 .. 1048576] = i*i mod 7/; s/0 < m\[0\]/a[5] < m[0] + 4/' root.txt >large.txt
expect 0 timeout 600 "$verifier" check --program large.txt --up-to 6

# ---- Refused

refuses 'name schedule files, or a program with --program FILE --up-to 8' check
refuses '--program: say of how many ranks, such as --up-to 8' check --program shift.txt
for ranks in 0 -1 17 2000000; do
  refuses "--up-to: $ranks is not a number of ranks from 1 to 16; more have too many topologies" check --program shift.txt --up-to $ranks
done
refuses "--up-to: 'many' is not a whole number" check --program shift.txt --up-to many
refuses '--up-to: it is for --program FILE; leave it out' check groups.qs --up-to 8
refuses '--program: it is checked alone' check groups.qs --program shift.txt --up-to 8
for flags in '--counts 1,2' '--parameter B=1' '--root 0' '--nodes 1,2' '--remote-nodes 2'; do
  # shellcheck disable=SC2086 # a flag and its value
  refuses '--program: it is checked on all topologies and many calls; leave out --counts' check --program shift.txt --up-to 4 $flags
done
refuses 'nowhere.txt: No such file' check --program nowhere.txt --up-to 4
echo 'algorithm wrong' >wrong.txt
refuses 'wrong.txt:1:' check --program wrong.txt --up-to 4
sed 's/^copy/table t[i in 0 .. 1] = 1 div (ranks = 3 ? 0 : 1)\n&/' shift.txt >undefined.txt
refuses 'undefined.txt: on nodes 3x1: ' check --program undefined.txt --up-to 4

finish
