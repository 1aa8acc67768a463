#!/usr/bin/env bash
# The generator's `show`: a schedule's text, its steps, its pictures, and its times by the model.
source "$(dirname "$0")/common.sh"

expect 0 alltoall hierarchical-factor --nodes 1,2,3 --out a.qs
prints 'algorithm hierarchical-factor for alltoall' show a.qs
says '-- nodes 1,2,3 (6 ranks)'
cp .out program.txt
expect 0 "$write_schedule" program.txt 1,2,3 again.qs
cmp a.qs again.qs || fail 'the shown program is another program'
prints '-- phase 2, round 0 --' show a.qs --format steps
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 18 ] || fail 'not 18 steps'
expect 0 show a.qs --format steps --steps 3..5
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 2 ] || fail 'not 2 steps'
expect 0 show a.qs --format steps --steps 12..
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 6 ] || fail 'not 6 steps'
expect 0 show a.qs --format svg --out a.svg
[ ! -s .out ] && grep -q '</svg>' a.svg || fail 'no picture'
expect 0 show a.qs --format html --out a.html
[ ! -s .out ] && grep -q '</html>' a.html || fail 'no page'
# Without --counts, a reduction gets as many elements as there are ranks. So each rank has a part of the ring.
expect 0 generate allreduce --algorithm ring --nodes 4 --out around.qs
prints 'ring on nodes 4, counts 4x4 (--counts gives others)' show around.qs --format steps
[ "$(grep -c '0->1' .out)" -eq 6 ] || fail 'rank 0 does not send in each of the six steps'

expect 0 show a.qs --explain --bytes 1000 --alpha 1us --beta 1ns --gap 0 --gap-inside 60ns --copy 40ns --beta-copy 70ps --port rank
says 'blocks of 1000 bytes; a message takes 1000 ns and a byte 1000 ps between nodes, the next one 0 ns; inside 250 ns and 50 ps, the next one 60 ns; a block that is copied 40 ns and 70 ps; '
says 'each rank has a port of its own'
# Rank 0 begins to send after 1 us. It sends 5 blocks, and each takes 1 us.
says '         6.0         5        2         5000        2000         1000  hierarchical-factor (this file)'
[ "$(grep -c 'tuna-' .out)" -eq 3 ] || fail 'not the other algorithms'
says 'depth of this file: 1, the messages in the longest chain in which each waits for the one before'

# `show` draws one call.
expect 0 allgather blocked-ring --nodes 4 --out ring.qs
prints 'blocked-ring on nodes 4, counts 4x1, B = 1 (--counts gives others)' show ring.qs --format steps
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 3 ] || fail 'not 3 steps'
prints 'depth of this file: 3, the' show ring.qs --explain --bytes 1000 --parameter B=100
prints 'blocked-ring on nodes 4, counts 4,0,2,1, B = 1' show ring.qs --format steps --counts 4,0,2,1 --parameter B=1
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 7 ] || fail 'not 7 steps'

# One rank has no steps.
expect 0 alltoall linear --nodes 1 --out one.qs
prints 'no step has a message or a copy' show one.qs --format steps
says 'linear on nodes 1' 'step | node 0: 0'
refuses 'one.qs: no steps there' show one.qs --format steps --steps 0..
expect 0 show one.qs --format svg --out one.svg
prints '<h1>linear: an all-to-all on nodes 1 takes ' show one.qs --format html

# ---- Refused

refuses "show: 'b.qs' is not known" show a.qs b.qs
refuses 'give the bytes of a block, on the average, with --bytes' show a.qs --explain
refuses '--beta: it is for --explain and --format html' show a.qs --beta 4
refuses 'No such file or directory' show a.qs --out nowhere/a.txt
refuses "show: --format: 'pdf' is none of text, steps, svg, html, plan" show a.qs --format pdf
for given in '--root 99' '--counts 1,2' '--parameter B=3' '--steps 0..2'; do
  # shellcheck disable=SC2086
  refuses "show: ${given%% *}: the text says nothing of it; it is for --format steps, svg or html" show a.qs $given
done
refuses 'show: --format: --explain prints a table of times' show a.qs --explain --bytes 4 --format svg
refuses 'show: --steps: --explain prints a table of times' show a.qs --explain --bytes 4 --steps 0..2
refuses "--steps: '3' is not LOW..HIGH" show a.qs --format steps --steps 3
refuses "--steps: 'a..b' is not LOW..HIGH" show a.qs --format steps --steps a..b
refuses 'ring.qs: 3 counts are given for group 0, whose ranks are 4; give one a rank with --counts, as in 4x1024' \
  show ring.qs --format steps --counts 1,2,3
refuses 'a count of -3; counts are 0 or more' show ring.qs --format svg --counts 1,2,-3,4
refuses "--parameter: 'b=4' is not NAME=VALUE of a parameter of its call" show ring.qs --format steps --parameter b=4
refuses 'no steps there' show a.qs --format steps --steps 100..
expect 0 alltoall factor --nodes 2000 --out big.qs
refuses '2000 ranks are too many to draw; at most 1024 are' show big.qs --format svg
# A page refuses them before it plans and simulates the call, which would take hours.
expect 0 alltoall factor --nodes 65536 --out huge.qs
refuses 'show: huge.qs: 65536 ranks are too many to draw; at most 1024 are' timeout 60 "$generator" show huge.qs --format html --bytes 1

finish
