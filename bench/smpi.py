"""Simulated networks of up to 256 ranks: flat, fat-tree and dragonfly, 10 Gbit/s per node (bench/networks.py).

The same runtime runs over SimGrid's MPI. Times are the same on every run and at any load, so one call is a
measurement without a spread. SimGrid's own collectives differ from the libraries that they are named after. Ratios
to them are for information only, and schedules are the baselines.
"""
import re
import tempfile

from bench import expected, machine, simulation, smpi_auto, smpi_groups, smpi_tuna
from bench.distributions import DISTRIBUTIONS, as_text
from bench.sampling import Generator

NEEDS_CALM = False
TABLE = "tests/simulation/expected.txt"
WINDOW = 16
WINDOWS = (1, WINDOW)  # for given block sizes; simultaneous messages share a simulated wire, so that all arrive late
KINDS = ("flat", "fat-tree", "dragonfly")
LONGEST = 4 << 20  # bytes of a message that tells the bandwidth
ROOTED = {"broadcast": ("hypercube", "pipeline"), "reduce": ("hypercube", "pipeline")}  # that cut a vector into blocks
SWEEP = sorted(scale << power for power in range(6, 22) for scale in (2, 3))  # the block sizes to try
MOST_BLOCKS = 3000  # of a ring in a sweep, which simulates as many rounds


def build():
    return machine.build(
        "//generator:generator", "//verifier:verifier", "//bench:smpi_collective.so", "//bench:smpi_calibrate.so"
    )


class Measuring:
    """The report, options and programs that the parts share."""

    def __init__(self, report, options, programs, folder):
        self.report, self.options, self.folder = report, options, folder
        self.generator_program, self.verifier, self.collective, self.calibrate = programs
        self.generator = Generator(self.generator_program, folder)

    def wanted(self, name):
        return self.options.only in name

    def network(self, kind, nodes):
        return simulation.Network(kind, nodes, tempfile.mkdtemp(dir=self.folder))

    def microseconds(self, name, seconds):
        self.report.figure(name, 1e6 * seconds, "us")


def regressions(m):
    """Counts how many of the times that tests expect differ; none may."""
    if not m.wanted("expected times"):
        return
    rows = [row for row in expected.read(TABLE) if isinstance(row, list)]
    differing = 0
    for row in rows:
        seconds = expected.simulate(row, m.generator_program, m.collective)
        differing += not expected.agrees(seconds, float(row[5]))
    m.report.figure(f"expected times: of {len(rows)}, how many differ", differing, at_most=0, n=len(rows))


def messages(m):
    """alpha and beta of a message between the ends of the network."""
    for kind in ("linear", *KINDS):
        case = f"a message, {kind} 64 nodes"
        if m.wanted(case):
            alpha, beta = Costs(m, m.network(kind, "64x1")).line()
            m.microseconds(f"{case} | alpha", alpha)
            m.report.figure(f"{case} | beta", 1e9 * beta, "ns/B")


def alltoall(m):
    """Compares schedules with each other and, up to 64 ranks, with SimGrid's own."""
    algorithms = ("factor", "hierarchical-factor", "hierarchical-circle")
    for kind in KINDS:
        for nodes, size in (("64x1", 4096), ("16x4", 256), ("16x4", 4096)):
            case = f"alltoall, {kind} {nodes}, {size} B"
            if not m.wanted(case):
                continue
            network = m.network(kind, nodes)
            schedules = [(m.generator.file("alltoall", name, nodes), WINDOW) for name in algorithms]
            sampled = network.sample(m.collective, "alltoall", size, schedules)
            m.microseconds(f"{case} | SimGrid's own", sampled[0].native[0])
            for name, one in zip(algorithms, sampled):
                m.microseconds(f"{case} | {name}", one.ours[0])


def chosen(m):
    """The time of the choice of `--algorithm auto` with calibrated costs, over the best of all algorithms and many radices."""
    for kind, at_most in (("linear", 1.1), ("flat", None)):
        chosen_on(m, kind, at_most)


def chosen_on(m, kind, at_most):
    cases = [(nodes, size) for nodes in ("4x8", "8,8,4,12", "16x4", "32x1") for size in (16, 512, 2048, 16384)]
    found = []
    for nodes, size in cases:
        case = f"alltoall auto, {kind} {nodes}, {size} B"
        if not m.wanted(case):
            continue
        network = m.network(kind, nodes)
        auto = ("auto", *network.calibrated(m.calibrate, size))
        schedules = [auto, ("factor",), ("spread-out",), ("hierarchical-factor",)]
        for algorithm, most in (
            ("tuna", network.ranks),
            ("tuna-coalesced", max(network.sizes)),
            ("tuna-staggered", max(network.sizes)),
        ):
            radices = {2, most} | {radix for radix in (3, 4, 6, 8, 12, 16, 24) if radix < most}
            schedules += [(algorithm, "--radix", radix) for radix in sorted(radices) if radix >= 2]
        schedules += [
            ("hierarchical-overlapped", "--early", early) for early in (1, 2, 4, 8, 16) if early < len(network.sizes)
        ]
        files = [(m.generator.file("alltoall", words[0], nodes, *map(str, words[1:])), WINDOW) for words in schedules]
        ours, *swept = [one.ours[0] for one in network.sample(m.collective, "alltoall", size, files, native=False)]
        best = swept.index(min(swept))
        m.report.figure(f"{case} | auto / best of the sweep ({' '.join(map(str, schedules[1 + best]))})", ours / swept[best])
        found.append(ours / swept[best])
    worst(m, f"alltoall auto, {kind} | auto / best of the sweep, the worst", found, len(cases), at_most)


def allgatherv(m):
    """The rings on nodes of several ranks."""
    algorithms = ("linear-ring", "blocked-ring", "blocked-ring-nodes")
    for kind in KINDS:
        for nodes, total in (("16x4", 1 << 20), ("64x4", 4 << 20)):
            for distribution in ("regular", "spike"):
                case = f"allgatherv {distribution}, {kind} {nodes}, {total >> 20} MiB"
                if m.wanted(case):
                    ring = Ring(m, kind, nodes, distribution, total)
                    for name, seconds in zip(algorithms, ring.seconds([(name,) for name in algorithms])):
                        m.microseconds(f"{case} | {name}", seconds)


def rooted(m):
    """A broadcast and a reduce of 16 MiB in the fewest rounds, over their bound: the time of all bytes, and of ceil(log2 p) - 1
    blocks more, at the rate of the wire."""
    total, ranks = 16 << 20, 36
    for collective, algorithms in ROOTED.items():
        case = f"{collective}, linear {ranks}x1, {total >> 20} MiB"
        if not m.wanted(case):
            continue
        network = m.network("linear", f"{ranks}x1")
        costs = Costs(m, network)
        wire, model = costs.line()[1], ("--block-size", "model", *costs.options())
        for name in algorithms:
            file = m.generator.file(collective, name, f"{ranks}x1", *model)
            size = block_size(m, file, str(total))
            (one,) = network.sample(m.collective, collective, total, [(file, 0)], native=False, checked=False)
            bound = (total + ((ranks - 1).bit_length() - 1) * size) * wire
            at_most = 1.05 if name == "hypercube" else None
            m.report.figure(f"{case} | {name}, blocks of {size} B / bound", one.ours[0] / bound, at_most=at_most)


def block_size(m, file, counts):
    """The block size that a schedule's rule chooses, by the verifier."""
    return int(re.search(r"B = (\d+)", machine.run([m.verifier, "check", file, "--counts", counts]))[1])


class Costs:
    """The costs of messages on a network."""

    def __init__(self, m, network):
        self.seconds = lambda *sizes: network.message_seconds(m.calibrate, sizes)

    def line(self):
        """alpha and beta: the times of an empty message, and of a byte of a long one."""
        found = self.seconds(0, LONGEST // 2, LONGEST)
        return found[0], (found[LONGEST] - found[LONGEST // 2]) / (LONGEST // 2)

    def options(self):
        """The same as options for the generator, in whole nanoseconds and picoseconds."""
        alpha, beta = self.line()
        return "--alpha", f"{1e9 * alpha:.0f}ns", "--beta", f"{1e12 * beta:.0f}ps"


def blocks(counts, size):
    """The number of blocks. A rank without data has one empty block."""
    return sum(max(1, -(-count // size)) for count in counts)


class Ring:
    """An allgatherv of a total that is distributed over a network's ranks."""

    def __init__(self, m, kind, nodes, distribution, total):
        self.m, self.nodes = m, nodes
        self.network = m.network(kind, nodes)
        self.costs = Costs(m, self.network)
        self.counts = DISTRIBUTIONS[distribution](total, self.network.ranks)

    def file(self, schedule):
        return self.m.generator.file("allgather", schedule[0], self.nodes, *map(str, schedule[1:]))

    def seconds(self, schedules, block_sizes=()):
        """The time of a call by each schedule: an algorithm with its options. The first one is also run with these block sizes,
        each with its better window."""
        sampled = self.network.sample(
            self.m.collective,
            "allgatherv",
            as_text(self.counts),
            [(self.file(schedule), 0) for schedule in schedules]  # the window that it asks for, or the default one
            + [(self.file(schedules[0]), window, size) for size in block_sizes for window in WINDOWS],
            native=False,
            checked=False,
        )
        found = [one.ours[0] for one in sampled]
        swept = found[len(schedules) :]
        return found[: len(schedules)] + [min(swept[i : i + len(WINDOWS)]) for i in range(0, len(swept), len(WINDOWS))]

    def block_size(self, schedule):
        return block_size(self.m, self.file(schedule), as_text(self.counts))


def against_the_model(m):
    """Compares the time with the model (b - 1) (alpha + beta B), with m beta, with the linear ring, and with trees in a hypercube.
    B is the model's block size for the network's alpha and beta. alpha + beta B is the measured time of a message of B bytes."""
    total = 16 << 20
    for kind in ("linear", "flat"):
        found = []
        for distribution in DISTRIBUTIONS:
            case = f"allgatherv {distribution}, {kind} 64x1, 16 MiB"
            if not m.wanted(case):
                continue
            ring = Ring(m, kind, "64x1", distribution, total)
            rule = ("--block-size", "model", *ring.costs.options())
            blocked = ("blocked-ring", *rule)
            size, bytes_take = ring.block_size(blocked), sum(ring.counts) * ring.costs.line()[1]
            seconds, linear, trees = ring.seconds([blocked, ("linear-ring",), ("hypercube", *rule)])
            model = (blocks(ring.counts, size) - 1) * ring.costs.seconds(size)[size]
            m.report.figure(f"{case} | block size", size, "B")
            m.report.figure(f"{case} | blocked ring / model", seconds / model)
            m.report.figure(f"{case} | blocked ring / (m beta)", seconds / bytes_take)
            m.report.figure(f"{case} | linear ring / (m beta)", linear / bytes_take)
            m.report.figure(f"{case} | hypercube / (m beta)", trees / bytes_take)
            found.append(seconds / model)
        worst(m, f"allgatherv, {kind} 64x1, 16 MiB | blocked ring / model, the worst", found, 6, 1.05)


def worst(m, name, found, cases, at_most):
    """The worst of all cases. It has no figure if some cases were left out."""
    if len(found) == cases:
        m.report.figure(name, max(found), at_most=at_most, n=cases)


def automatic(m):
    """The time with auto's block size for the network's alpha and beta, over the best of a sweep."""
    for kind, at_most in (("linear", 1.05), ("flat", None)):
        found = []
        for total in (64 << 10, 1 << 20, 16 << 20):
            for distribution in DISTRIBUTIONS:
                case = f"block size, {distribution} {total >> 10} KiB, {kind} 64x1"
                if not m.wanted(case):
                    continue
                ring = Ring(m, kind, "64x1", distribution, total)
                sizes = [size for size in SWEEP if blocks(ring.counts, size) <= MOST_BLOCKS and size < 2 * max(ring.counts)]
                auto = ("blocked-ring", "--block-size", "auto", *ring.costs.options())
                chosen, *swept = ring.seconds([auto], sizes)
                m.report.figure(f"{case} | auto / best of the sweep", chosen / min(swept))
                m.report.figure(f"{case} | auto", ring.block_size(auto), "B")
                m.report.figure(f"{case} | best of the sweep", sizes[swept.index(min(swept))], "B")
                found.append(chosen / min(swept))
        worst(m, f"block size, {kind} 64x1 | auto / best of the sweep, the worst", found, 3 * len(DISTRIBUTIONS), at_most)


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder:
        m = Measuring(report, options, programs, folder)
        parts = [regressions, messages, alltoall, chosen, allgatherv, rooted, against_the_model, automatic]
        parts += [smpi_tuna.coalesced, smpi_tuna.bundled, smpi_tuna.radix, smpi_groups.allgather, smpi_auto.chosen]
        for part in parts:
            part(m)
