#!/bin/bash
# launch.sh [-OPTIONS] nK COMMAND...: mpirun calls this instead of ssh.
here=$(cd "$(dirname "$0")" && pwd)
while [[ ${1:-} == -* ]]; do shift; done
node=$1
shift
exec "$here/on_node.sh" "$node" /bin/sh -c "$*"
