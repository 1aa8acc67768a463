#!/bin/bash
# on_node.sh nK COMMAND...: runs a command on node K: in its network, with its host name and its /etc/hosts. Each node
# has its own boot id, by which UCX tells machines apart.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/names.sh"
node=$1
shift
exec ip netns exec "$prefix${node#n}" unshare --uts --mount /bin/sh -c '
  hostname "$0"
  mount --bind "$1/hosts" /etc/hosts
  mount --bind "$1/boot_id.$0" /proc/sys/kernel/random/boot_id
  shift
  exec "$@"' "$node" "$state" "$@"
