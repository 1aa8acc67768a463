#!/bin/bash
# up.sh NODES RATE_MBIT [MTU] [BURST]: makes an emulated cluster on this machine, as root. Each node is a network
# namespace with one rate-limited interface (e0). A bridge in another namespace joins the nodes. TCP and the MPI
# libraries are real, and only the wires are software. down.sh removes the cluster.
#
# A burst over 16k would let messages of 64 KiB through faster than the wire.
set -euo pipefail
nodes=$1 rate=$2 mtu=${3:-4000} burst=${4:-16k}
here=$(cd "$(dirname "$0")" && pwd)
source "$here/names.sh"
mkdir -p "$state"
trap '"$here/down.sh"' ERR

limit() { # NAMESPACE INTERFACE
  ip netns exec "$1" tc qdisc replace dev "$2" root tbf rate "${rate}mbit" burst "$burst" limit 64mb
}

gcc -O2 -D_GNU_SOURCE -shared -fPIC -o "$state/idle.so" "$here/idle.c" -ldl
ip netns add "$switch"
ip -n "$switch" link add bridge type bridge stp_state 0 forward_delay 0
ip -n "$switch" link set bridge mtu "$mtu" up
echo "127.0.0.1 localhost" >"$state/hosts"
for ((i = 0; i < nodes; i++)); do
  space=$prefix$i
  echo "10.77.0.$((i + 1)) n$i" >>"$state/hosts"
  cat /proc/sys/kernel/random/uuid >"$state/boot_id.n$i"
  ip netns add "$space"
  ip netns exec "$space" sysctl -qw net.ipv4.tcp_slow_start_after_idle=0 net.ipv4.tcp_no_metrics_save=1 || true
  ip -n "$space" link set lo up
  ip -n "$switch" link add "port$i" type veth peer name e0 netns "$space"
  ip -n "$switch" link set "port$i" mtu "$mtu" master bridge up
  ip -n "$space" link set e0 mtu "$mtu" up
  ip -n "$space" addr add "10.77.0.$((i + 1))/24" dev e0
  limit "$space" e0        # what the node sends
  limit "$switch" "port$i" # what it receives
done

# Resolves all addresses now, so that no measurement waits for ARP.
for ((i = 0; i < nodes; i++)); do
  for ((j = 0; j < nodes; j++)); do
    if ((i == j)); then continue; fi
    mac=$(ip netns exec "$prefix$j" cat /sys/class/net/e0/address)
    ip -n "$prefix$i" neigh replace "10.77.0.$((j + 1))" lladdr "$mac" dev e0 nud permanent
  done
done
