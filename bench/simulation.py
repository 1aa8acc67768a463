"""Runs a program under SimGrid's MPI (SMPI). Simulated times are the same on every run and at any load.

Only messages take time; computation takes none. The cost of a message is measured (message_seconds), not computed.

The networks are flat (all nodes at one switch without limit), fat-tree (two levels, with as many links up as down)
and dragonfly. A node has one network interface, which sends and receives at full rate at once, and a loopback for its
own ranks. Times of messages follow SimGrid's calibration on TCP, where latency and bandwidth depend on the length. In
linear, which is otherwise flat, a message of B bytes takes alpha + beta B. Fast is linear with ten times the
bandwidth. Busy is linear, and each message occupies its sender and its receiver for a microsecond. Fast-busy is both.
"""
import os

from bench import machine, sampling

CONFIGURATION = [
    "--cfg=smpi/simulate-computation:no",
    "--cfg=network/crosstraffic:0",  # full duplex: receiving does not slow sending
    "--cfg=smpi/test:0",  # MPI_Test takes no time
    "--log=root.thres:critical",
]
SHARED = "--cfg=smpi/auto-shared-malloc-thresh:65536"  # ranks share large buffers, so their contents are lost


def node_sizes(text):
    """Returns the size of each node, from text such as 4x16,3."""
    sizes = []
    for run in text.split(","):
        count, _, size = run.rpartition("x")
        sizes += [int(size)] * int(count or 1)
    return sizes


LATENCY = "1us"
LINEAR = ["--cfg=network/model:CM02"]
BUSY = LINEAR + ["--cfg=smpi/ois:0:1e-6:0", "--cfg=smpi/or:0:1e-6:0"]
OF_KIND = {"linear": LINEAR, "fast": LINEAR, "busy": BUSY, "fast-busy": BUSY}  # options of smpirun
# By nodes: groups, links between them; chassis of a group, links; routers of a chassis, links; nodes of a router
DRAGONFLY = {16: "2,1;2,1;2,1;2", 64: "4,1;2,1;4,1;2", 256: "4,2;4,1;4,2;4"}


def fat_tree(nodes):
    """Returns the topology for SimGrid: about as many lower as upper switches, each linked with each."""
    lower = next((size for size in range(1, nodes + 1) if size * size >= nodes and nodes % size == 0), nodes)
    return f"2;{lower},{nodes // lower};1,{lower};1,1"


def shape(kind, nodes):
    """Returns the XML attributes of the cluster. Raises ValueError if there is no such network."""
    if kind == "flat" or kind in OF_KIND:
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


class Network:
    """A network with one rank on each core. Node i has the i-th of the sizes. Its files are in `folder`."""

    def __init__(self, kind, nodes, folder, eager=0):
        """`eager`: bytes of the longest message that starts, and whose send completes, without a posted receive."""
        self.nodes, self.sizes = nodes, node_sizes(nodes)
        self.configuration = CONFIGURATION + OF_KIND.get(kind, [])
        self.configuration += [f"--cfg=smpi/send-is-detached-thresh:{eager}", f"--cfg=smpi/async-small-thresh:{eager}"]
        self.folder = folder
        hosts = [f"n{node}" for node, size in enumerate(self.sizes) for _ in range(size)]
        self.ranks, self.hosts = len(hosts), self.write("hosts", "\n".join(hosts) + "\n")
        self.ends = self.write("ends", f"n0\nn{len(self.sizes) - 1}\n")
        try:
            self.platform = self.write("network.xml", network(kind, len(self.sizes), max(self.sizes)))
        except ValueError as error:
            raise machine.Unusable(f"smpi: {error}") from None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def command(self, ranks, hosts, options, words):
        return ["smpirun", "-np", ranks, "-platform", self.platform, "-hostfile", hosts] + [
            str(word) for word in self.configuration + options + words
        ]

    def sample(self, program, collective, counts, schedules, native=True, checked=True, first_group=None):
        """Runs one call of each schedule. Returns a Sampled for each. `schedules`: files with windows and, if the
        file leaves it open, a block size. `first_group`: ranks of the first of two groups; None: one group."""
        words = [program, collective, counts, 1]
        words += [] if native else ["--without-native"]
        words += [] if checked else ["--unchecked"]
        words += [] if first_group is None else ["--first-group", first_group]
        words += [":".join(map(str, schedule)) for schedule in schedules]
        command = self.command(self.ranks, self.hosts, [] if checked else [SHARED], words)
        return sampling.parse_or_complain(machine.run(command, timeout=3000, cwd=self.folder).splitlines())

    def message_seconds(self, program, sizes):
        """Returns the seconds of a message from the first node to the last, by size, while an equal one comes back.
        `program` is //bench:smpi_calibrate.so. Simulated times need no repetition."""
        words = [program, "--seconds", 0, "--messages", ",".join(map(str, sizes))]
        printed = machine.run(self.command(2, self.ends, [], words), timeout=600, cwd=self.folder)
        lines = [line.split() for line in printed.splitlines() if line.startswith("message ")]
        return {int(size): float(seconds) for _, size, seconds in lines}

    def calibrated(self, program, size):
        """Returns the options for the generator that calibrate, `program`, prints for blocks of that size."""
        words = [program, "--bytes", size, "--seconds", 0]
        return machine.run(self.command(self.ranks, self.hosts, [], words), timeout=600, cwd=self.folder).split()
