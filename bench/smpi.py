"""Measures schedules on simulated networks of up to 256 ranks, 10 Gbit/s per node (bench/simulation.py).

The runtime itself runs over SimGrid's MPI. Times are the same on every run and at any load, so one call is enough.
SimGrid's own collectives differ from the libraries that they are named after. So schedules are the baselines.
"""
import re
import tempfile

from bench import expected, machine, sampling, simulation, smpi_groups
from bench.distributions import DISTRIBUTIONS, as_text

NEEDS_CALM = False
WINDOW = 16
WINDOWS = (1, WINDOW)  # for given block sizes; a larger window may be worse, since messages in flight share the wire
LONGEST = 4 << 20  # bytes of the message that shows the bandwidth
SWEEP = sorted(scale << power for power in range(6, 22) for scale in (2, 3))  # the block sizes to try, in bytes
MOST_BLOCKS = 3000  # of a ring in a sweep, which has about as many rounds
RADICES = (2, 4, 8, 16)


def build():
    return machine.build(
        "//generator:generator", "//verifier:verifier", "//bench:smpi_collective.so", "//bench:smpi_calibrate.so"
    )


def with_radix(algorithm, radices):
    return [(algorithm, "--radix", radix) for radix in radices]


def blocks(counts, size):
    """Returns the number of blocks. A rank without data has one empty block."""
    return sum(max(1, -(-count // size)) for count in counts)


class Measuring(sampling.Measuring):
    def __init__(self, report, options, programs, folder):
        super().__init__(report, options, programs[0], folder)
        _, self.verifier, self.collective, self.calibrate = programs

    def network(self, kind, nodes):
        return simulation.Network(kind, nodes, tempfile.mkdtemp(dir=self.folder))

    def file(self, network, collective, words):
        return self.generator.file(expected.schedules_for(collective), words[0], network.nodes, *words[1:])

    def seconds(self, network, collective, counts, schedules, window=WINDOW, more=(), checked=True):
        """Returns the seconds of a call by each schedule (an algorithm with options), and by each file in `more`."""
        files = [(self.file(network, collective, words), window) for words in schedules]
        sampled = network.sample(self.collective, collective, counts, [*files, *more], native=False, checked=checked)
        return [one.ours[0] for one in sampled]

    def microseconds(self, case, times):
        for name, seconds in times.items():
            self.report.figure(f"{case} | {name}", 1e6 * seconds, "us")

    def worst(self, name, found, cases, at_most):
        """Adds the worst of all cases as a figure, unless some cases were left out."""
        if len(found) == cases:
            self.report.figure(name, max(found), at_most=at_most, n=cases)

    def line(self, network):
        """Returns alpha and beta: the seconds of an empty message, and of a byte of a long one."""
        found = network.message_seconds(self.calibrate, (0, LONGEST // 2, LONGEST))
        return found[0], (found[LONGEST] - found[LONGEST // 2]) / (LONGEST // 2)

    def costs(self, network):
        """Returns alpha and beta as options for the generator, in whole nanoseconds and picoseconds."""
        alpha, beta = self.line(network)
        return "--alpha", f"{1e9 * alpha:.0f}ns", "--beta", f"{1e12 * beta:.0f}ps"

    def block_size(self, network, collective, words, counts):
        """Returns the block size that a schedule's rule chooses, as the verifier prints it."""
        command = [self.verifier, "check", self.file(network, collective, words), "--counts", counts]
        return int(re.search(r"B = (\d+)", machine.run(command))[1])


def message(m):
    """Adds alpha and beta of a message between the ends of the network."""
    case = "a message, linear 64 nodes"
    if m.wanted(case):
        alpha, beta = m.line(m.network("linear", "64x1"))
        m.microseconds(case, {"alpha": alpha})
        m.report.figure(f"{case} | beta", 1e9 * beta, "ns/B")


def chosen(m):
    """Compares auto's choice, with calibrated costs, with the best of all algorithms and many radices."""
    cases = [(nodes, size) for nodes in ("4x8", "8,8,4,12", "16x4", "32x1") for size in (16, 512, 2048, 16384)]
    for kind, at_most in (("linear", 1.1), ("flat", None)):
        found = []
        for nodes, size in cases:
            case = f"alltoall auto, {kind} {nodes}, {size} B"
            if not m.wanted(case):
                continue
            network = m.network(kind, nodes)
            schedules = [("auto", *network.calibrated(m.calibrate, size))]
            schedules += [("factor",), ("spread-out",), ("hierarchical-factor",)]
            largest = max(network.sizes)
            for name, most in (("tuna", network.ranks), ("tuna-coalesced", largest), ("tuna-staggered", largest)):
                radices = {2, most} | {radix for radix in (3, 4, 6, 8, 12, 16, 24) if radix < most}
                schedules += with_radix(name, sorted(radix for radix in radices if radix >= 2))
            schedules += [
                ("hierarchical-overlapped", "--early", early) for early in (1, 2, 4, 8, 16) if early < len(network.sizes)
            ]
            ours, *swept = m.seconds(network, "alltoall", size, schedules)
            best = " ".join(map(str, schedules[1 + swept.index(min(swept))]))
            found.append(ours / min(swept))
            m.report.figure(f"{case} | auto / best of the sweep ({best})", found[-1])
        m.worst(f"alltoall auto, {kind} | auto / best of the sweep, the worst", found, len(cases), at_most)


def rooted(m):
    """Compares 16 MiB in a broadcast or reduce with the wire time of these bytes and ceil(log2 p) - 1 blocks."""
    total, ranks = 16 << 20, 36
    for collective in ("broadcast", "reduce"):
        case = f"{collective}, linear {ranks}x1, {total >> 20} MiB"
        if not m.wanted(case):
            continue
        network = m.network("linear", f"{ranks}x1")
        for name, at_most in (("hypercube", 1.05), ("pipeline", None)):
            words = name, "--block-size", "model", *m.costs(network)
            size = m.block_size(network, collective, words, total)
            (seconds,) = m.seconds(network, collective, total, [words], window=0, checked=False)
            bound = (total + ((ranks - 1).bit_length() - 1) * size) * m.line(network)[1]
            m.report.figure(f"{case} | {name}, blocks of {size} B / bound", seconds / bound, at_most=at_most)


def against_the_model(m):
    """Compares the blocked ring with the model (b - 1) (alpha + beta B), with m beta, with the linear ring and with
    `hypercube`. It has b blocks for m bytes in all. B is the model's block size for the network's alpha and beta. For
    alpha + beta B, takes the measured time of a message of B bytes."""
    for kind in ("linear", "flat"):
        network, found = m.network(kind, "64x1"), []
        for distribution, counts_of in DISTRIBUTIONS.items():
            case = f"allgatherv {distribution}, {kind} 64x1, 16 MiB"
            if not m.wanted(case):
                continue
            counts, rule = counts_of(16 << 20, 64), ("--block-size", "model", *m.costs(network))
            schedules = [("blocked-ring", *rule), ("linear-ring",), ("hypercube", *rule)]
            size = m.block_size(network, "allgatherv", schedules[0], as_text(counts))
            times = m.seconds(network, "allgatherv", as_text(counts), schedules, window=0, checked=False)
            model = (blocks(counts, size) - 1) * network.message_seconds(m.calibrate, [size])[size]
            found.append(times[0] / model)
            m.report.figure(f"{case} | block size", size, "B")
            m.report.figure(f"{case} | blocked ring / model", found[-1])
            for name, seconds in zip(("blocked ring", "linear ring", "hypercube"), times):
                m.report.figure(f"{case} | {name} / (m beta)", seconds / (sum(counts) * m.line(network)[1]))
        m.worst(f"allgatherv, {kind} 64x1, 16 MiB | blocked ring / model, the worst", found, 6, 1.05)


def automatic(m):
    """Compares auto's block size with the best of a sweep. Each size of the sweep has its better window."""
    network, found = m.network("linear", "64x1"), []
    for total in (64 << 10, 1 << 20, 16 << 20):
        for distribution, counts_of in DISTRIBUTIONS.items():
            case = f"block size, {distribution} {total >> 10} KiB, linear 64x1"
            if not m.wanted(case):
                continue
            counts = counts_of(total, 64)
            auto, text = ("blocked-ring", "--block-size", "auto", *m.costs(network)), as_text(counts)
            sizes = [size for size in SWEEP if blocks(counts, size) <= MOST_BLOCKS and size < 2 * max(counts)]
            swept = [(m.file(network, "allgatherv", auto), window, size) for window in WINDOWS for size in sizes]
            ours, *times = m.seconds(network, "allgatherv", text, [auto], window=0, more=swept, checked=False)
            best, (_, _, size) = min(zip(times, swept))
            found.append(ours / best)
            m.report.figure(f"{case} | auto / best of the sweep", found[-1])
            m.report.figure(f"{case} | auto", m.block_size(network, "allgatherv", auto, text), "B")
            m.report.figure(f"{case} | best of the sweep", size, "B")
    m.worst("block size, linear 64x1 | auto / best of the sweep, the worst", found, 3 * len(DISTRIBUTIONS), 1.05)


OTHERS = [("linear",), ("spread-out",), ("scattered",), ("pairwise",), ("xor",), ("hierarchical-factor",)]
OTHERS += with_radix("tuna", (2, 4, 8, 16, 32)) + with_radix("tuna-coalesced", RADICES) + with_radix("tuna-staggered", RADICES)
OTHERS += [("hierarchical-overlapped", "--early", early) for early in (1, 4, 15)]
COMPARED = [  # collective, network, counts, other schedules, our algorithm, least of: best of others / best of ours
    *(("alltoallv", kind, sizes, [("linear",)], "tuna-coalesced", at_least if kind == "flat" else None)
      for kind in ("flat", "fat-tree", "dragonfly") for sizes, at_least in (("uniform:16", 4), ("uniform:2048", 1.8))),
    ("alltoall", "busy", 8, OTHERS, "tuna-bundled", None),
    ("alltoall", "fast-busy", 8, OTHERS, "tuna-bundled", 1.3),
]


def compared(m):
    """Compares an algorithm with others on 256 ranks, 16 on each node."""
    for collective, kind, counts, others, ours, at_least in COMPARED:
        what = f"{collective} {counts}" if collective == "alltoallv" else f"{collective}, {counts} B"
        case = f"{what}, {kind} 16x16"
        if m.wanted(case):
            schedules = [*others, *with_radix(ours, RADICES)]
            times = m.seconds(m.network(kind, "16x16"), collective, counts, schedules)
            m.microseconds(case, {" ".join(map(str, words)): seconds for words, seconds in zip(schedules, times)})
            best = "linear" if len(others) == 1 else "best of the others"
            ratio = min(times[: len(others)]) / min(times[len(others) :])
            m.report.figure(f"{case} | {best} / {ours}", ratio, at_least=at_least)


def radix(m):
    """Small blocks need few messages, and large blocks need short paths. Medium blocks need a radix between."""
    radices = [2**power for power in range(1, 8)]
    for sizes in ("uniform:16", "uniform:1024", "uniform:16384"):
        case = f"tuna {sizes}, busy 128x1"
        if m.wanted(case):
            times = m.seconds(m.network("busy", "128x1"), "alltoallv", sizes, with_radix("tuna", radices))
            m.microseconds(case, {f"radix {each}": seconds for each, seconds in zip(radices, times)})


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder:
        m = Measuring(report, options, programs, folder)
        for part in (message, chosen, rooted, against_the_model, automatic, compared, radix, smpi_groups.allgather):
            part(m)
