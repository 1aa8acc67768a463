#!/usr/bin/env bash
# The command `rules` accepts what the preload library accepts, prints it, and joins several files into one.
rules=$PWD/$4
source "$(dirname "$0")/common.sh"

rules() { "$rules" rules "$@"; }
# lists FILE RULES...: expects that the command prints the text of FILE.
lists() {
  expect 0 rules "${@:2}"
  cmp -s .out "$1" || fail "$(diff .out "$1")"
}

cat >one.txt <<'EOT'
# measured on Monday
alltoallv nodes=2.. ranks-a-node=8 even=yes use=tuna:radix=8

	allgather	ranks=16 bytes=64..255 use=bruck	# 0.50 of native, 100 calls
bcast bytes=0 use=binomial
EOT
cat >two.txt <<'EOT'
allgather bytes=64..255 use=linear-ring ranks=16
bcast use=leader:window=4 groups=2
BCAST use=native
EOT
: >none.txt

lists one.txt one.txt
lists none.txt none.txt
# A later file replaces rules for the same calls, and no other line.
prints 'both.txt: 5 rules' rules one.txt none.txt two.txt --out both.txt
{ sed "s/^.*allgather.*/$(sed -n 1p two.txt)/" one.txt && sed 1d two.txt; } >wanted.txt
cmp both.txt wanted.txt || fail "$(diff both.txt wanted.txt)"
expect 0 rules both.txt one.txt --out both.txt
grep -qF 'use=bruck' both.txt || fail 'the order of the files does not count'
# The library uses the first rule that fits. So a later rule of the same file does not replace an earlier one.
printf '%s\n' 'bcast bytes=4 use=binomial' 'bcast use=native' 'bcast bytes=4 use=hypercube' >twice.txt
expect 0 rules one.txt twice.txt
[ "$(tail -n 2 .out)" = "$(head -n 2 twice.txt)" ] || fail 'another rule than the first counts'
printf 'scan use=native' >open.txt
prints 'scan use=native' rules open.txt

# A file names what its rules were measured with. Files of two MPI libraries stay apart.
printf '%s\n' '# mine' 'library=MPICH version=4.0.2 machine=here nodes=2' 'bcast use=native' >mpich.txt
printf '%s\n' 'library=MPICH version=4.1 machine=there' 'scan use=native' >later.txt
printf '%s\n' 'scan use=native' 'library=Open-MPI' >openmpi.txt
printf '%s\n' '# mine' 'library=MPICH version=4.1 machine=there' 'bcast use=native' 'scan use=native' >wanted.txt
lists mpich.txt mpich.txt
lists wanted.txt mpich.txt later.txt
refuses 'rules: openmpi.txt:2: these rules are of Open-MPI, and those before of MPICH; keep them in two files' rules mpich.txt openmpi.txt

# Mistakes that a lax reader would accept.
refuses_rule() { # SENTENCE LINE
  printf '# a comment\n%s\n' "$2" >lax.txt
  refuses "rules: lax.txt:2: $1" rules lax.txt
}
printf '\357\273\277bcast use=native\n' >marked.txt
refuses 'rules: marked.txt:1: the line begins with a byte order mark; save the file without it' rules marked.txt
refuses_rule "'bcst' is no collective that is served: a rule begins with one, such as alltoallv" 'bcst use=native'
refuses_rule "'bruk' is none of binary-nodes, binomial," 'bcast use=bruk'
refuses_rule 'a rule needs use=SCHEDULE, or use=native' 'bcast bytes=4 # use=native'
refuses_rule "'node=2' is not known; behind a collective write use=SCHEDULE and, as needed, ranks=," 'bcast node=2 use=native'
refuses_rule "'use' is not known" 'bcast use native'
refuses_rule "'time=1' is not known" 'bcast use=native time=1'
for word in nodes=x nodes=2x version= ranks=2 library; do
  refuses_rule "'$word' is not known; behind library=NAME write version=, machine= or nodes=N" "library=MPICH $word"
done
refuses_rule "'library=' is not known" 'library='
for value in '' x 0x2 -1 1.5 +3 ..4 2..1 1...3 1..2..3 1,2 9223372036854775808; do
  refuses_rule "'ranks=$value': write a whole number, LEAST..MOST, or LEAST.. for no limit" "bcast ranks=$value use=native"
done
refuses_rule "'even=true': write even=yes or even=no" 'bcast even=true use=native'
refuses_rule "'groups=3': write groups=1, or groups=2 for intercommunicators" 'bcast groups=3 use=native'
for word in nodes=3 ranks-a-node=2 even=no; do
  refuses_rule 'nodes=, ranks-a-node= and even= are for one group; leave them out' "bcast groups=2 $word use=native"
done
refuses_rule "'bytes=5': this name is there twice; leave one out" 'bcast bytes=4 bytes=5 use=native'
refuses_rule "'native:window=3': native takes no options" 'bcast use=native:window=3'
refuses_rule "'binomial:block-size=7': the schedule takes no block size" 'bcast use=binomial:block-size=7'
refuses_rule "'binomial:window=65537': window is a whole number from 1 to 65536" 'bcast use=binomial:window=65537'
refuses_rule 'a rule has at most 1023 characters' "bcast$(printf '%1100s' '')use=native"
printf 'bcast use=native\0 ranks=3\n' >lax.txt
refuses 'rules: lax.txt:1: a text has no byte with the value 0' rules lax.txt
refuses 'rules: missing.txt: No such file' rules missing.txt
refuses 'rules: lax.txt:1: ' rules one.txt lax.txt --out other.txt
[ ! -e other.txt ] || fail 'a file is half-written'
refuses '--out: ' rules one.txt --out missing/other.txt

# Rules may name schedule files.
expect 0 alltoall spread-out --nodes any --out own.qs
echo 'alltoall use=file:own.qs:window=4' >files.txt
lists files.txt files.txt
refuses_rule 'file:own.qs is a schedule of alltoall on 1 group' 'bcast use=file:own.qs'
refuses_rule 'none.qs: No such file' 'alltoall use=file:none.qs'
head -c 40 own.qs >cut.qs
refuses_rule 'cut.qs: ' 'alltoall use=file:cut.qs'
for ((i = 0; i < 65; i++)); do
  cp own.qs $i.qs
  echo "alltoall ranks=$i use=file:$i.qs"
done >many.txt
refuses 'many.txt:65: 64.qs: it is one too many: rules may name at most 64 schedule files' rules many.txt

# Rules in the older JSON form become lines.
cat >old.json <<'EOT'
{"schema": 1, "rules": [
  {"collective": "alltoallv", "nodes": [2, null], "ranks_a_node": 8, "even": true, "algorithm": "tuna:radix=8"},
  {"collective": "allgather", "ranks": 16, "bytes": [64, 255], "algorithm": "bruck", "time": 1e-3, "native_time": 2e-3, "calls": 100},
  {"collective": "bcast", "groups": 2, "algorithm": "leader:window=4"}
]}
EOT
cat >new.txt <<'EOT'
alltoallv even=yes nodes=2.. ranks-a-node=8 use=tuna:radix=8
allgather bytes=64..255 ranks=16 use=bruck  # 0.50 of native, 100 calls
bcast groups=2 use=leader:window=4
EOT
prints 'rules.txt: 3 rules' rules old.json --out rules.txt
cmp rules.txt new.txt || fail "$(diff rules.txt new.txt)"
lists new.txt rules.txt
refuses_old() { # SENTENCE SED
  sed "$2" old.json >bad.json
  refuses "rules: bad.json: $1" rules bad.json --out other.txt
}
refuses_old "rule 2: 'bruk' is none of blocked-ring," s/bruck/bruk/
refuses_old 'rule 2 is not as earlier versions wrote it' 's/"bruck"/3/'
refuses_old 'rule 1 is not as earlier versions wrote it' 's/\[2, null\]/[2]/'
refuses_old "rule 1: 'ranks-a-node=8.5': write a whole number" 's/8,/8.5,/'
refuses_old "rule 3: 'speed=2' is not known" 's/"groups"/"speed"/'
refuses_old 'this is neither lines nor JSON as earlier versions wrote it' '$d'
finish
