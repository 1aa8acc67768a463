# awk -f amalgamate.awk FILE.c...: prints the runtime as one C source: what `emit --runtime` puts before a schedule. Each
# header stands where it is first included. Functions become static, so that a compiler drops those that are not called.
function place(file, line, comment) {
  if (placed[file]++) return
  print "/* ---- " file " */"
  while ((getline line <file) > 0) {
    if (comment || line ~ /^\/\*/) {  # a comment that begins a line is left out
      comment = line !~ /\*\//
    } else if (line ~ /^#include "/) {
      gsub(/^#include "|".*/, "", line)
      if (line != "runtime/quadrille.h") place(line)
    } else if (line !~ /^$|^#pragma once$|^#(ifndef|define|endif).* QUADRILLE_.*_H_( \*\/)?$/ && !(line ~ /^#include/ && placed[line]++)) {
      if (line ~ /^[a-zA-Z_].*[ *]qd_[a-z_0-9]+\(/ && line !~ /^(static|typedef|extern) /) line = "static " line
      sub(/^extern (const|struct)/, "__attribute__((visibility(\"hidden\"))) &", line)
      print line
    }
  }
  close(file)
}
BEGIN {
  print "#pragma GCC diagnostic ignored \"-Wunused-function\""
  for (i = 1; i < ARGC; i++) place(ARGV[i])
}
