# own_instructions.awk -v program=NAME CALLGRIND_FILE: prints three counts of instructions: all; those of the program
# itself, without its functions named MPI_... (bench/stub_mpi.c); and those in the libraries of Open MPI.
# What a function calls is counted where it is called.
function count(instructions) {
  all += instructions
  if (object ~ ("/" program "$")) own += name !~ /^MPI_/ ? instructions : 0
  if (object ~ /openmpi|libmpi|libopen-/) mpi += instructions
}
/^(c?ob|c?fn)=/ {
  kind = /^c?ob/ ? "ob" : "fn"
  called = /^c/
  sub(/^[a-z]+=/, "")
  id = kind $1
  if (NF > 1) { sub(/^\([0-9]+\) /, ""); names[id] = $0 }
  if (called) next
  if (kind == "ob") object = names[id]
  else name = names[id]
  next
}
/^calls=/ { skip = 1; next }
/^[-+*0-9]/ {
  if (!skip) count($2)
  skip = 0
}
END { printf "%d %d %d\n", all, own, mpi }
