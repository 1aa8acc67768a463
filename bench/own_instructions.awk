# own_instructions.awk CALLGRIND_FILE: two numbers, the instructions in all, and those of functions whose names do not
# match -v foreign='...'. Calls of other functions are counted there, not here.
/^calls=/ { skip = 1; next }
/^(c?fn)=/ {
  caller = /^fn=/
  sub(/^c?fn=/, "")
  id = $1
  if (NF > 1) { name = $0; sub(/^\([0-9]+\) /, "", name); names[id] = name }
  if (caller) own = names[id] !~ foreign
  next
}
/^[-+*0-9]/ {
  if (skip) { skip = 0; next }
  all += $2
  if (own) mine += $2
}
END { printf "%d %d\n", all, mine }
