"""Measures the simulator's speed, and how far its times are from SimGrid's on `linear`, for every algorithm."""
import itertools
import json
import tempfile

from bench import machine, sampling, simulation

NEEDS_CALM = True  # because of the events a second
WINDOW = 16
EAGER = 1 << 16  # bytes
# On that network, SimGrid charges 2 us and 800 ps a byte for a message between nodes, and 200 ns and 100 ps a byte
# inside a node. It adds 16 bytes and 10 ns to each message.
LINEAR = ["--alpha", "2010ns", "--beta", "800ps", "--alpha-inside", "202ns", "--beta-inside", "100ps", "--memory", "0"]
LINEAR += ["--gap", "13ns", "--gap-inside", 0, "--copy", 0, "--beta-copy", 0, "--eager", 0, "--sharing", "fair"]
COLLECTIVES = ("alltoall", "allgather", "reduce-scatter", "allreduce", "reduce", "broadcast", "gather", "scatter", "scan")
SIZES = (64, 4096, 65536, 1 << 20)
REDUCTIONS = ("reduce-scatter", "allreduce", "reduce", "scan")  # their elements have 8 bytes


def build():
    return machine.build("//generator:generator", "//bench:smpi_collective.so")


class Measuring(sampling.Measuring):
    def __init__(self, report, options, programs, folder):
        super().__init__(report, options, programs[0], folder)
        self.program, self.collective = programs

    def simulate(self, file, size, *words):
        """Returns the simulator's JSON for a call with blocks of `size` bytes."""
        return json.loads(
            machine.run([self.program, "simulate", file, "--bytes", size, "--format", "json", *words], timeout=600)
        )


def of_simgrid(m, collective, nodes, size, file, eager=0):
    """Returns the seconds of a call by SimGrid."""
    network = simulation.Network("linear", nodes, tempfile.mkdtemp(dir=m.folder), eager)
    (one,) = network.sample(m.collective, collective, size, [(file, WINDOW)], native=False, checked=False)
    return one.ours[0]


def agreement(m):
    """Adds the greatest difference of the simulator's times from SimGrid's, for each call and the nodes."""
    for nodes in ("64x1", "8x8"):
        for collective, size in itertools.product(COLLECTIVES, SIZES):
            name = f"agreement, {collective}, {nodes}, {size} B"
            if not m.wanted(name) or (collective, size) == ("alltoall", 1 << 20):
                continue  # SimGrid takes too long for this all-to-all
            differences = {}
            for algorithm in m.generator.names(collective):
                try:
                    file = m.generator.file(collective, algorithm, nodes)
                except machine.Unusable:
                    continue  # the algorithm does not serve these nodes
                elements = ["--element", 8] if collective in REDUCTIONS else []
                ours = m.simulate(file, size, "--window", WINDOW, *elements, *LINEAR)["time_ps"] * 1e-12
                differences[algorithm] = 100 * abs(ours / of_simgrid(m, collective, nodes, size, file) - 1)
            worst = max(differences, key=differences.get)
            m.report.figure(f"{name} | worst difference ({worst})", differences[worst], "%", at_most=5, n=len(differences))


def eager(m):
    """Adds the difference for hierarchical-factor with eager messages, which jam."""
    flags = [EAGER if before == "--eager" else word for before, word in zip([None, *LINEAR], LINEAR)]
    for nodes, size in itertools.product(("8x8", "16x8"), (64, 4096)):
        name = f"eager, hierarchical-factor, {nodes}, {size} B"
        if m.wanted(name):
            file = m.generator.file("alltoall", "hierarchical-factor", nodes)
            said = m.simulate(file, size, "--window", WINDOW, *flags)
            difference = said["time_ps"] * 1e-12 / of_simgrid(m, "alltoall", nodes, size, file, EAGER) - 1
            m.report.figure(f"{name} | difference", 100 * abs(difference), "%", at_most=5)
            m.report.figure(f"{name} | time / its port's work", said["time_ps"] / said["busiest_port"]["busy_ps"])


def speed(m):
    """Adds the events a second on one core, and the seconds of long simulations."""
    for name, collective, algorithm, nodes, size, limit in (
        ("hierarchical-factor, 4,096 ranks", "alltoall", "hierarchical-factor", "128x32", 64, 60),
        ("tuna-coalesced, 16,384 ranks", "alltoall", "tuna-coalesced", "512x32", 64, 60),
        ("allreduce, 131,072 ranks, 8 B", "allreduce", "doubling", "4096x32", 8, 60),
        ("allreduce, 131,072 ranks, 1 MiB", "allreduce", "doubling", "4096x32", 1 << 20, 60),
        ("broadcast, 131,072 ranks, 8 B", "broadcast", "binomial", "4096x32", 8, 60),
        ("broadcast, 131,072 ranks, 1 MiB", "broadcast", "binomial", "4096x32", 1 << 20, 60),
    ):
        if not m.wanted(f"speed, {name}"):
            continue
        said = m.simulate(m.generator.file(collective, algorithm, nodes), size)
        seconds = said["seconds"]
        m.report.figure(f"speed, {name} | in all", seconds["plans"] + seconds["events"], "s", at_most=limit)
        m.report.figure(f"speed, {name} | events a second", said["events"] / max(seconds["events"], 1e-3) / 1e6, "million")


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder:
        m = Measuring(report, options, programs, folder)
        speed(m)
        agreement(m)
        eager(m)
