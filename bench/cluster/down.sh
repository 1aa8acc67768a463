#!/bin/bash
# down.sh: takes away what up.sh made.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source "$here/names.sh"
for space in $(ip netns list | cut -d' ' -f1 | grep -E "^($switch|$prefix[0-9]+)\$"); do ip netns del "$space"; done
rm -rf "$state"
