"""Runs a program under SimGrid's MPI (SMPI): simulated time, the same on every run and at any load.

Time passes in messages alone, not in computation. What a message costs is measured (message_seconds), not computed.
"""
import os

from bench import machine, networks, sampling

CONFIGURATION = [
    "--cfg=smpi/simulate-computation:no",
    "--cfg=network/crosstraffic:0",  # what is received does not slow what is sent: full duplex
    "--cfg=smpi/send-is-detached-thresh:0",
    "--cfg=smpi/test:0",  # to look whether a message has come takes no time, as nothing does but messages
    "--log=root.thres:critical",
]
SHARED = "--cfg=smpi/auto-shared-malloc-thresh:65536"  # ranks share large buffers: contents are lost


def node_sizes(text):
    """"4x16,3" as one size a node."""
    sizes = []
    for run in text.split(","):
        count, _, size = run.rpartition("x")
        sizes += [int(size)] * int(count or 1)
    return sizes


class Network:
    """A network with one rank a core: node i has the i-th of the sizes. Files are made in `folder`."""

    def __init__(self, kind, nodes, folder):
        self.sizes = node_sizes(nodes)
        self.configuration = CONFIGURATION + networks.CONFIGURATION.get(kind, [])
        self.folder = folder
        hosts = [f"n{node}" for node, size in enumerate(self.sizes) for _ in range(size)]
        self.ranks, self.hosts = len(hosts), self.write("hosts", "\n".join(hosts) + "\n")
        self.ends = self.write("ends", f"n0\nn{len(self.sizes) - 1}\n")
        try:
            self.platform = self.write("network.xml", networks.network(kind, len(self.sizes), max(self.sizes)))
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
        """One call of each schedule. `schedules`: files with windows and, where the file does not choose, block sizes.
        `first_group`: so many ranks are one group, and the others the other."""
        words = [program, collective, counts, 1]
        words += [] if native else ["--without-native"]
        words += [] if checked else ["--unchecked"]
        words += [] if first_group is None else ["--first-group", first_group]
        words += [":".join(map(str, schedule)) for schedule in schedules]
        command = self.command(self.ranks, self.hosts, [] if checked else [SHARED], words)
        return sampling.parse_or_complain(machine.run(command, timeout=3000, cwd=self.folder).splitlines())

    def message_seconds(self, program, sizes):
        """The time of a message from the first node to the last while as long a one comes back, by size; `program` is
        //tools:calibrate. Simulated times need no repetition."""
        words = [program, "--seconds", 0, "--messages", ",".join(map(str, sizes))]
        printed = machine.run(self.command(2, self.ends, [], words), timeout=600, cwd=self.folder)
        lines = [line.split() for line in printed.splitlines() if line.startswith("message ")]
        return {int(size): float(seconds) for _, size, seconds in lines}

    def calibrated(self, program, size):
        """What //tools:calibrate prints for blocks of that size: flags for the generator."""
        words = [program, "--bytes", size, "--seconds", 0]
        return machine.run(self.command(self.ranks, self.hosts, [], words), timeout=600, cwd=self.folder).split()
