#!/usr/bin/env bash
# tree.sh OUT.tar 'PLACE=FILE...'...: packs each file at its place, and adds the manual pages. If a place has several files, they are archives, which become one.
set -euo pipefail
out=$(readlink -f "$1")
shift
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

for pair in "$@"; do
  case $pair in
    include/*.h=*) header=${pair#*=} ;;
  esac
done
number() { sed -n "s/^#define QUADRILLE_VERSION_$1 //p" "$header"; }
major=$(number MAJOR)
version=$major.$(number MINOR)

for pair in "$@"; do
  place=$tree/${pair%%=*}
  place=${place/VERSION/$version}
  read -ra files <<<"${pair#*=}"
  mkdir -p "${place%/*}"
  case $place in
    *.a)
      # A Bazel library is an archive (.a, or .lo if all its objects are always linked), and perhaps a shared library.
      { echo "create $place"; printf '%s\n' "${files[@]}" | sed -n 's/.*\.l\?[ao]$/addlib &/p'; printf 'save\nend\n'; } | ar -M
      ;;
    # The schedules without options.
    */share/quadrille)
      mkdir -p "$place"
      base64 -d "${files[0]}" | tar -C "$place" --strip-components=1 --exclude='*:*' -xz
      ;;
    *.so.*)
      install -m 755 "${files[0]}" "$place"
      name=${place##*/}
      ln -s "$name" "${place%.so.*}.so.$major"
      ln -s "${name%.so.*}.so.$major" "${place%.so.*}.so"
      ;;
    */proofs) install -D -m 644 -t "$place" "${files[0]}"/*.proof ;;
    */schemas) install -D -m 644 -t "$place" "${files[@]}" ;;
    */lib/quadrille/*) install -m 755 "${files[0]}" "$place" ;;
    *.md)
      # The documents keep the layout of the source tree, so their links work. Only the header is elsewhere.
      sed 's|](\.\./runtime/quadrille\.h)|](../../../../include/quadrille/quadrille.h)|g' "${files[0]}" >"$place"
      chmod 644 "$place"
      ;;
    *)
      sed "s/@VERSION@/$version/; s/@MAJOR@/$major/" "${files[0]}" >"$place"
      chmod 644 "$place"
      ;;
  esac
done

chmod 755 "$tree" "$tree/bin/quadrille"

quadrille=$tree/bin/quadrille
# Writes the manual pages. The NAME of a command is its line of `quadrille --help`; the DESCRIPTION is its own --help.
man=$tree/share/man/man1
mkdir -p "$man"
page() { # NAME DESCRIPTION COMMAND...
  printf '.TH %s 1 "" "Quadrille %s"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n' "${1^^}" "$version" "$1" "$2"
  "${@:3}" --help | sed -E 's/\b(generator|verifier) ([a-z]+|COMMAND)/quadrille \2/g; s/\\/\\e/g; s/^[.'\'']/\\\&&/; s/-/\\-/g'
}
page quadrille "make, check, prove and run communication schedules for MPI collectives" "$quadrille" >"$man/quadrille.1"
"$quadrille" --help | sed -nE 's/^  ([a-z]+) .*  +([^ ].*)$/\1 \2/p' | while read -r command description; do
  "$quadrille" "$command" --help >/dev/null 2>&1 || continue # preload has no help of its own
  page "quadrille-$command" "$description" "$quadrille" "$command" >"$man/quadrille-$command.1"
done

tar -C "$tree" --sort=name --owner=0 --group=0 --mtime=@0 -cf "$out" .
