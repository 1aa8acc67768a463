#!/bin/bash
# down.sh: removes the cluster that up.sh has made, and ends the processes that still run there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source "$here/names.sh"
for space in $(ip netns list | cut -d' ' -f1 | grep -E "^($switch|$prefix[0-9]+)\$"); do
  ip netns pids "$space" | xargs -r kill -9 # an interrupted run may have left processes
  ip netns del "$space"
done
rm -rf "$state"
