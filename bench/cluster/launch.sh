#!/bin/bash
# launch.sh [-OPTIONS] nK COMMAND...: what mpirun calls in place of ssh.
here=$(cd "$(dirname "$0")" && pwd)
while [[ ${1:-} == -* ]]; do shift; done
node=$1
shift
exec "$here/on_node.sh" "$node" /bin/sh -c "$*"
