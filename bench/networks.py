"""python3 -m bench.networks KIND NODES CORES: a network for SimGrid, as XML.

The kinds are flat (all nodes at one switch without limit), fat-tree (two levels, with as many links up as down) and dragonfly.
A node has one network interface, which sends and receives at full rate at once, and a loopback for its own ranks. Times of
messages are SimGrid's calibration on TCP, where latency and bandwidth depend on the length. Linear is flat without that: a
message of B bytes takes alpha + beta B. Fast is linear with ten times the bandwidth. Busy is linear, and each message
keeps its sender and its receiver busy for a microsecond. Fast-busy is both.
"""
import sys

LATENCY = "1us"
LINEAR = ["--cfg=network/model:CM02"]
BUSY = LINEAR + ["--cfg=smpi/ois:0:1e-6:0", "--cfg=smpi/or:0:1e-6:0"]
CONFIGURATION = {"linear": LINEAR, "fast": LINEAR, "busy": BUSY, "fast-busy": BUSY}  # of smpirun
# groups, links between them; chassis of a group; routers of a chassis; nodes of a router
DRAGONFLY = {16: "2,1;2,1;2,1;2", 64: "4,1;2,1;4,1;2", 256: "4,2;4,1;4,2;4"}


def fat_tree(nodes):
    """The switches form the least square that holds the nodes. Each lower switch has a link to each upper one."""
    lower = next((size for size in range(1, nodes + 1) if size * size >= nodes and nodes % size == 0), nodes)
    return f"2;{lower},{nodes // lower};1,{lower};1,1"


def shape(kind, nodes):
    """The attributes of the cluster. ValueError if there is no such network."""
    if kind == "flat" or kind in CONFIGURATION:
        return 'bb_bw="100TBps" bb_lat="0us"'
    if kind == "fat-tree":
        return f'topology="FAT_TREE" topo_parameters="{fat_tree(nodes)}"'
    if kind != "dragonfly":
        raise ValueError(f"there is no network '{kind}'; there are flat, linear, fast, busy, fast-busy, fat-tree and dragonfly")
    if nodes not in DRAGONFLY:
        raise ValueError(f"a dragonfly has {', '.join(map(str, DRAGONFLY))} nodes, not {nodes}")
    return f'topology="DRAGONFLY" topo_parameters="{DRAGONFLY[nodes]}"'


def network(kind, nodes, cores):
    cluster = (
        f'id="cluster" prefix="n" suffix="" radical="0-{nodes - 1}" speed="10Gf" core="{cores}" '
        f'bw="{"100Gbps" if kind.startswith("fast") else "10Gbps"}" lat="{LATENCY}" sharing_policy="SPLITDUPLEX" loopback_bw="10GBps" loopback_lat="200ns"'
    )
    return (
        '<?xml version="1.0"?>\n'
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1">\n<cluster {cluster} {shape(kind, nodes)}/>\n</platform>\n'
    )


if __name__ == "__main__":
    try:
        print(network(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])), end="")
    except (IndexError, ValueError) as error:
        print(f"networks: {error}; give KIND NODES CORES", file=sys.stderr)
        sys.exit(2)
