#!/bin/bash
# launch.sh [-OPTIONS] nK COMMAND...: runs a command on node K. mpirun calls it instead of ssh.
here=$(cd "$(dirname "$0")" && pwd)
while [[ ${1:-} == -* ]]; do shift; done
node=$1
shift
exec "$here/on_node.sh" "$node" /bin/sh -c "$*"
