#!/usr/bin/env bash
# deb.sh TREE [FOLDER]: makes Debian packages of the tree, in that folder or the current one. TREE is an archive, or
# the Bazel target that makes it. The packages have the commands, the libraries for each MPI, and development files.
set -euo pipefail
tree=$1
out=$(readlink -f "${2:-.}")
[ $# -le 2 ] && [ -d "$out" ] && [ -w "$out" ] || { echo "deb: '${*:2}' is no folder that can be written to" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
architecture=$(dpkg --print-architecture)
DESTDIR=$work "${BASH_SOURCE[0]%/*}/install.sh" "$tree" --prefix /usr >/dev/null
version=$("$work/usr/bin/quadrille" --version | cut -d' ' -f2)

# package NAME DESCRIPTION PATTERN...: makes a package of those remaining files that match a pattern.
package() {
  local name=$1 description=$2 root=$work/$1 paths=() pattern depends
  mkdir -p "$root/DEBIAN" "$root/usr" "$work/debian"
  chmod 755 "$root" "$root/usr"
  for pattern in "${@:3}"; do paths+=(-o -path "./$pattern"); done
  (cd "$work/usr" && find . ! -type d \( "${paths[@]:1}" \) -print0 | tar --null -T - --remove-files -c) | tar -C "$root/usr" -xp
  printf 'Source: quadrille\n\nPackage: %s\nArchitecture: any\n' "$name" >"$work/debian/control"
  depends=$(cd "$work" && find "$root/usr" -type f \( -name '*.so.*' -o -path '*/lib/quadrille/*' \) -print0 |
    xargs -0r dpkg-shlibdeps -O --ignore-missing-info 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
  [ "$name" != libquadrille-dev ] ||
    depends="libquadrille-openmpi (= $version), libquadrille-mpich (= $version)"
  cat >"$root/DEBIAN/control" <<EOT
Package: $name
Version: $version
Architecture: $architecture
Section: science
Priority: optional
Maintainer: Quadrille <quadrille@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
${depends:+Depends: $depends
}Description: $description
EOT
  dpkg-deb --root-owner-group -Zzstd --build "$root" "$out/${name}_${version}_$architecture.deb" >/dev/null
  echo "$out/${name}_${version}_$architecture.deb"
}

for mpi in openmpi mpich abi; do
  package "libquadrille-$mpi" "MPI collectives that follow proven schedules ($mpi)" \
    "lib/libquadrille_$mpi.so.*" "lib/libquadrille_preload_$mpi.so*" "lib/quadrille/libquadrille_preload_${mpi}_core.so"
done
package libquadrille-dev "MPI collectives that follow proven schedules (development)" \
  'include/*' 'lib/*.a' 'lib/*.so' 'lib/cmake/*' 'lib/pkgconfig/*'
package quadrille "communication schedules for MPI collectives: make, check, prove, run" '*'
