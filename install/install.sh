#!/usr/bin/env bash
# install.sh TREE --prefix DIR: installs the tree in DIR, below $DESTDIR if that is set. TREE is an archive, or the
# Bazel target that makes it. Writes the prefix into the module file and Spack's packages.yaml.
set -euo pipefail
wrong() {
  echo "install: $1" >&2
  exit 2
}
tree=$1
shift
case $# in
  1) [ "${1#--prefix=}" != "$1" ] && prefix=${1#--prefix=} || wrong "it wants --prefix DIR" ;;
  2) [ "$1" = --prefix ] && prefix=$2 || wrong "it wants --prefix DIR" ;;
  *) wrong "it wants --prefix DIR" ;;
esac
case $prefix in
  /*) ;;
  *) wrong "--prefix: '$prefix' is no absolute path" ;;
esac
case $prefix in
  *[{}\"\\\$[:cntrl:]]*) wrong "--prefix: '$prefix' has a brace, quote, backslash, dollar or control character, which module files cannot name" ;;
esac
to=${DESTDIR:-}$prefix
new=$({ mkdir -p "$to" && mktemp -d "$to/.quadrille-XXXXXX"; } 2>&1) ||
  wrong "--prefix: '$to' cannot be written to: ${new##*: }"
trap 'rm -rf "$new"' EXIT
case $tree in
  //*)
    bazel build --noshow_progress --ui_event_filters=-info --show_result=0 "$tree"
    tree=bazel-bin/install/tree.tar
    ;;
esac
# Unpacks into another folder first, so that a full disk leaves no partial installation.
tar -C "$new" --no-same-owner -xf "$tree" || wrong "--prefix: '$to' has no room for all files"
rm -rf "$new"
tar -C "$to" --no-same-owner --no-overwrite-dir -xf "$tree" || wrong "--prefix: '$to' cannot be written to"
for file in "$to"/share/modulefiles/quadrille/* "$to/share/quadrille/spack/packages.yaml"; do
  [ -e "$file" ] || continue
  text=$(<"$file")
  printf '%s\n' "${text//@PREFIX@/"$prefix"}" >"$file"
done
echo "installed in $to: $(tar -tf "$tree" | grep -vc '/$') files; $prefix/bin/quadrille --help names the commands"
