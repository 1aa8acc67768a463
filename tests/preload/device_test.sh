#!/usr/bin/env bash
# device_test.sh MPI LIBRARY TOOL PROGRAM CUDA ROCM: buffers in device memory, with stand-ins for the drivers of GPUs that are
# loaded after the first collective. ROCm numbers the kinds of memory anew since version 6.
set -u
. "$(dirname "$0")/runs.sh"
cuda=$(cd "$OLDPWD" && readlink -f "$5") rocm=$(cd "$OLDPWD" && readlink -f "$6")
preload="$library $tool"
copied='copied by MPI: buffers are in device memory$'

# The schedules send messages from the blocks' own places, composed messages, and packed elements.
for way in "factor bruck doubling binomial" "tuna blocked-ring ring pipeline" "tuna-coalesced linear-ring rabenseifner binary-nodes"; do
  read -r alltoall allgather allreduce bcast <<<"$way"
  for driver in "$cuda" "$rocm"; do
    right 3 QUADRILLE_ALLTOALL=$alltoall QUADRILLE_ALLGATHER=$allgather QUADRILLE_ALLREDUCE=$allreduce QUADRILLE_BCAST=$bcast \
      QUADRILLE_GATHER=binomial HIP_VERSION=60100000 -- later "$driver"
    reported alltoall "$alltoall" 'by rule$'
    reported alltoall "$alltoall" "$copied"
    reported allreduce "$allreduce" "$copied"
    reported gather binomial 'by rule$' # host memory, but a driver is loaded
    not_reported "^gather .*$copied"
  done
done
right 3 QUADRILLE_ALLTOALL=factor QUADRILLE_ALLGATHER=bruck QUADRILLE_ALLREDUCE=doubling QUADRILLE_BCAST=binomial \
  QUADRILLE_GATHER=binomial HIP_VERSION=50422800 -- later "$rocm"
reported alltoall factor "$copied"
not_reported "^gather .*$copied"

for driver in "CUDA $cuda" "ROCm $rocm"; do
  name=${driver%% *}
  rm -f quadrille-rules.txt
  right 3 QUADRILLE=learn HIP_VERSION=60100000 -- passed "${driver#* }"
  reported allgather native "$name is loaded: buffers may be in device memory$"
  right 3 QUADRILLE_ALLGATHER=bruck HIP_VERSION=60100000 -- passed "${driver#* }"
  reported allgather bruck 'by rule$'
done
exit $failed
