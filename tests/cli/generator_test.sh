#!/usr/bin/env bash
# The generator's commands: every topology notation, every output, every refusal.
source "$(dirname "$0")/common.sh"

generate() { "$generator" generate alltoall --algorithm "$@"; }

# ---- What is accepted

expect 0 generate hierarchical-factor --nodes 1,2,3 --out a.qs
says 'a.qs: hierarchical-factor for alltoall on nodes 1,2,3 (6 ranks)'
says "$(wc -c <a.qs) bytes"
expect 0 generate hierarchical-factor --nodes 3,2,1 --out b.qs
cmp a.qs b.qs || fail 'the order of nodes changes the file'
expect 0 generate hierarchical-factor --nodes 512x16,5 --out b.qs
expect 0 generate hierarchical-factor --slurm '16(x512),5' --out c.qs
cmp b.qs c.qs || fail 'two notations give two files'
printf '# hosts\na slots=2\nb:1\nc:3\n' >hosts
expect 0 generate hierarchical-factor --hostfile hosts --out c.qs
cmp a.qs c.qs || fail 'a host file gives another file'
expect 0 generate hierarchical-factor --nodes 4x8 --self-loops drop --intra exchange --pacing token --out c.qs
says 'hierarchical-factor+drop+exchange+token for alltoall on nodes 4x8 (32 ranks)'
for algorithm in factor factor-even xor hierarchical-factor hierarchical-circle; do
  expect 0 generate $algorithm --nodes 4x4 --out c.qs
  expect 0 "$verifier" check c.qs
done

# Relative paths mean the user's own folder, whichever the program runs in.
mkdir -p user/below elsewhere
cp hosts user/
expect 0 env -C elsewhere BUILD_WORKING_DIRECTORY="$folder/user" \
  "$generator" generate alltoall --algorithm factor --hostfile hosts --out below/d.qs
[ -s user/below/d.qs ] || fail 'not written to the folder of the user'
expect 0 env -C elsewhere BUILD_WORKING_DIRECTORY="$folder/user" "$generator" show below/d.qs
expect 0 env -C elsewhere BUILD_WORKING_DIRECTORY="$folder/user" \
  "$generator" emit below/d.qs --out below
[ -s user/below/d.c ] || fail 'not emitted to the folder of the user'
expect 0 env -C elsewhere BUILD_WORKING_DIRECTORY="$folder/user" "$generator" show "$folder/a.qs"
[ -z "$(ls -A elsewhere)" ] || fail 'something is written where the program runs'

expect 0 "$generator" list
for word in 'alltoall hierarchical-factor' 'source: ' 'needs: a power of two' '--pacing free|token'; do
  says "$word"
done

expect 0 "$generator" show a.qs
says 'algorithm hierarchical-factor for alltoall'
says '-- nodes 1,2,3 (6 ranks)'
cp .out program.txt
expect 0 "$write_schedule" program.txt 1,2,3 again.qs
cmp a.qs again.qs || fail 'the shown program is another program'
expect 0 "$generator" show a.qs --format steps
says '-- phase 2, round 0 --'
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 18 ] || fail 'not 18 steps'
expect 0 "$generator" show a.qs --format steps --steps 3..5
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 2 ] || fail 'not 2 steps'
expect 0 "$generator" show a.qs --format steps --steps 12..
[ "$(grep -cE '^ +[0-9]+ \|' .out)" -eq 6 ] || fail 'not 6 steps'
expect 0 "$generator" show a.qs --format svg --out a.svg
[ ! -s .out ] && grep -q '</svg>' a.svg || fail 'no picture'

expect 0 "$generator" emit a.qs --out made/here
[ "$(head -1 made/here/a.c)" = '/* DO NOT EDIT. Made by:' ] || fail 'no warning'
grep -qF 'generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out a.qs' made/here/a.h ||
  fail 'the command is missing'
! grep -qE "$folder|20[0-9]{2}|:[0-9]{2}" made/here/a.h made/here/a.c || fail 'a path or a date'
"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -c made/here/a.c -o a.o || fail 'does not compile'
cp made/here/a.c first.c
expect 0 "$generator" emit a.qs --out made/here
cmp first.c made/here/a.c || fail 'emitted again, it differs'

# ---- What is refused

bad_nodes() { refuses "$2" generate factor --nodes "$1" --out x.qs; }
bad_nodes 0 '--nodes: a node of 0 ranks; every node has at least 1'
bad_nodes 1,-2 '--nodes: a node of -2 ranks'
bad_nodes 0x4 '--nodes: 0 nodes of 4 ranks; a count is at least 1'
bad_nodes 1000000000000000000000000000000 'more than 16777216 ranks; check the counts'
bad_nodes 99999999x99999999 'more than 16777216 ranks; check the counts'
bad_nodes 2147483648 'more than 16777216 ranks; check the counts'
for list in , 1,,2 1, x 4x '1;2' one 1.5 '16(x2)'; do
  bad_nodes "$list" "--nodes: '$list' is not a node list; write sizes like 1,2,3 or 4x8 or 512x16,5"
done
refuses "--slurm: '4x8' is not a node list" generate factor --slurm 4x8 --out x.qs
refuses 'nowhere: No such file' generate factor --hostfile nowhere --out x.qs
printf 'a slots=2\nb slots=many\n' >bad
refuses "bad:2: 'b slots=many' is not a host line" generate factor --hostfile bad --out x.qs
refuses 'no nodes; give at least one' generate factor --hostfile /dev/null --out x.qs
refuses 'is a folder; name a file' generate factor --hostfile made --out x.qs
refuses 'give the nodes once' generate factor --out x.qs
refuses 'give the nodes once' generate factor --nodes 4 --slurm 4 --out x.qs
refuses 'give the nodes once' generate factor --nodes '' --out x.qs

refuses "--algorithm: 'fastest' is not known for alltoall; choose one of factor, factor-even, xor" \
  generate fastest --nodes 4 --out x.qs
refuses "'alltoal' is no collective that schedules are generated for; try alltoall" \
  "$generator" generate alltoal --algorithm factor --nodes 4 --out x.qs
refuses "'scatter' is no collective that schedules are generated for; try alltoall or allgather" \
  "$generator" generate scatter --algorithm factor --nodes 4 --out x.qs
refuses "--algorithm: 'factor' is not known for allgather; choose one of linear-ring, blocked-ring" \
  "$generator" generate allgather --algorithm factor --nodes 4 --out x.qs
refuses '--pacing: factor has no such option' generate factor --nodes 4 --pacing token --out x.qs
refuses "--pacing: 'slow' is none of free, token" \
  generate hierarchical-factor --nodes 4 --pacing slow --out x.qs
refuses 'xor requires' generate xor --nodes 6 --out x.qs
refuses 'which does not hold for 6 ranks' generate xor --nodes 1,2,3 --out x.qs
refuses 'factor-even requires ranks mod 2 = 0, which does not hold for 5 ranks' \
  generate factor-even --nodes 5 --out x.qs
refuses '--quick' generate factor --nodes 4 --out x.qs --quick
refuses '--out is required' generate factor --nodes 4
refuses 'collective is required' "$generator" generate
refuses 'subcommand is required' "$generator"
refuses '--help tells more' "$generator" dance

cp a.qs kept.qs
refuses 'is not known' generate fastest --nodes 4 --out kept.qs
refuses 'No such file or directory' generate factor --nodes 4 --out nowhere/x.qs
refuses 'Is a directory' generate factor --nodes 4 --out made
refuses 'Not a directory' generate factor --nodes 4 --out a.qs/x.qs
refuses 'Not a directory' "$generator" emit a.qs --out a.qs/src
refuses 'No such file or directory' "$generator" show a.qs --out nowhere/a.txt
refuses 'No such file or directory' "$generator" proofs --out nowhere
if [ "$(id -u)" -ne 0 ]; then # root may write anywhere
  mkdir locked && cp a.qs locked/a.qs && chmod a-w locked
  refuses 'Permission denied' generate factor --nodes 4 --out locked/a.qs
fi

for command in show emit; do
  arguments=()
  [ $command = show ] || arguments=(--out made)
  refuses 'nothing.qs: No such file or directory' "$generator" $command nothing.qs "${arguments[@]}"
  refuses 'hosts: not a schedule file' "$generator" $command hosts "${arguments[@]}"
done
refuses 'not in {text,steps,svg}' "$generator" show a.qs --format pdf
refuses "--steps: '3' is not LOW..HIGH" "$generator" show a.qs --format steps --steps 3
refuses "--steps: 'a..b' is not LOW..HIGH" "$generator" show a.qs --format steps --steps a..b
refuses 'no steps there' "$generator" show a.qs --format steps --steps 100..
expect 0 generate factor --nodes 2000 --out big.qs
refuses '2000 ranks are too many to draw; at most 1024 are' "$generator" show big.qs --format svg

finish
