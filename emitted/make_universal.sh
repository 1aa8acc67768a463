#!/usr/bin/env bash
# make_universal.sh GENERATOR VERIFIER 'COLLECTIVE[-between-groups] ALGORITHM[:OPTION=VALUE]...'...
#
# Prints an archive of schedules for any nodes in base64. Its folder `universal` has these schedules, in this order, and
# `more` those of all other algorithms: COLLECTIVE[-between-groups].ALGORITHM.qs. Fails if one of them is not proven.
set -euo pipefail
generator=$(readlink -f "$1") verifier=$(readlink -f "$2")
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir universal more
files=()
make() { # FOLDER KIND NAME
  local arguments option words file=$2.$3.qs
  [ ! -e "universal/$file" ] || return 0
  IFS=: read -ra words <<<"$3"
  arguments=("${2%-between-groups}" --algorithm "${words[0]}" --nodes any)
  [ "${2%-between-groups}" = "$2" ] || arguments+=(--remote-nodes any)
  for option in "${words[@]:1}"; do arguments+=("--${option%%=*}" "${option#*=}"); done
  "$generator" generate "${arguments[@]}" --out "$1/$file" >/dev/null
  files+=("$1/$file")
}
for pair in "$@"; do make universal "${pair% *}" "${pair#* }"; done
while read -r collective algorithm between; do make more "$collective${between:+-between-groups}" "$algorithm"; done < <(
  "$generator" list | awk '/^[a-z]/ { name = $0 } /^  --nodes any: yes/ { print name }'
)
"$verifier" check "${files[@]}" >said || { cat said >&2; exit 1; }
tar --format=ustar --owner=0 --group=0 --mode=644 --mtime=@0 -c "${files[@]}" | gzip -9n | base64 -w0
echo
