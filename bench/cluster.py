"""The emulated cluster: five nodes with 200 Mbit/s each, real TCP, Open MPI and MPICH, as root.

Each call of ours runs next to one of the library's own (bench/collective.c). The figure is the median of native / ours over
these pairs. Above 1, ours is faster.
"""
import fcntl
import os
import subprocess
import tempfile

from bench import cluster_groups, machine, paired, sampling
from bench.distributions import DISTRIBUTIONS, as_text

NEEDS_CALM = True
RATE = 200  # Mbit/s
TOTAL = 4 << 20  # bytes of an allgatherv, over all ranks
SMALL = 64  # bytes a rank
LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH"}
PAIRS = 21  # of the best of ours with the native collective
TRIALS = 3  # of each of ours, to find the best
SHORT_TRIALS = 11  # where a call is short
LEAST = {  # native / best of ours, by library and distribution
    "openmpi": {"regular": 1.25, "broadcast": 2.9, "spike": 6.5, "geometric": 7, "half": 1.25, "linear": 5.5},
    "mpich": dict.fromkeys(DISTRIBUTIONS, 0.97),
}
LEAST_ALLTOALLV = {  # native / best of ours, by library, nodes and sizes: of one call, of a persistent one
    ("openmpi", "4x8", "uniform:16"): (2.8, 3.6),
    ("openmpi", "4x8", "uniform:128"): (2.6, 3.4),
    ("openmpi", "4x8", "uniform:512"): (2.0, 2.5),
    ("openmpi", "4x8", "uniform:2048"): (1.3, 1.5),
    ("openmpi", "8,8,4,12", "uniform:16"): (2.0, None),
    ("openmpi", "8,8,4,12", "uniform:512"): (1.5, None),
    ("openmpi", "4x8", "normal:1000:240"): (1.3, None),
    ("openmpi", "4x8", "power:0.95:1024"): (2.0, None),
    ("openmpi", "4x8", "uniform:65536"): (0.98, None),
    ("mpich", "4x8", "uniform:16"): (2.4, None),
    ("mpich", "4x8", "uniform:512"): (1.7, None),
    ("mpich", "4x8", "uniform:2048"): (1.2, None),
    ("mpich", "4x8", "uniform:65536"): (0.98, None),
}
FEW_RANKS = {"5x2": (2,) * 5, "3x5": (5,) * 3, "1,6,3,4": (1, 6, 3, 4)}  # with short blocks
LEAST_ALLTOALLV |= {
    (library, nodes, sizes): (None,)
    for nodes in FEW_RANKS
    for library in LIBRARIES
    for sizes in ("uniform:64", "uniform:1024", "power:0.95:4096")
}
NODES = {"4x8": (8, 8, 8, 8), "8,8,4,12": (8, 8, 4, 12)} | FEW_RANKS
LEAST_CHOSEN = {"4x8 uniform:65536": 0.98} | dict.fromkeys(FEW_RANKS, 0.97)  # native / auto, by nodes, or nodes and sizes
MOST_OF_BEST = 1.10  # time of what auto chooses / time of the best
MOST_OF_LIMIT = 1.25  # time / physical limit, the worst distribution
BLOCK_SIZES = (8192, 16384, 32768, 65536)
WINDOW = 16
ALLTOALLV_WINDOW = 32
FOR_ALLTOALLV = (
    *(("tuna-coalesced", "--radix", radix) for radix in "248"),
    *(("tuna", "--radix", radix) for radix in "28"),
    ("hierarchical-factor",),
    *(("hierarchical-overlapped", "--early", early) for early in "12"),
)
FOR_SMALL = (
    ("linear-ring",),
    *(("bruck", "--radix", radix) for radix in ("2", "4", "16")),
    *(("recursive-doubling",), ("neighbor-exchange",), ("blocked-ring-nodes",)),
)
UP, DOWN, MPIRUN = (f"bench/cluster/{name}.sh" for name in ("up", "down", "mpirun"))


def want_root(instrument):
    if os.geteuid() != 0:
        raise machine.Unusable(f"{instrument}: network namespaces need root; run it as root")


def build():
    want_root("cluster")
    return machine.build(
        *("//generator:generator", "//bench:collective_openmpi", "//bench:collective_mpich"),
        *("//tools:calibrate", "//tools:calibrate_mpich"),
    )


class Cluster:
    """The cluster, which exists within a `with`. A machine has one, and a lock protects it."""

    def __init__(self, nodes, rate):
        self.nodes, self.rate = nodes, rate

    def __enter__(self):
        self.lock = open("/run/lock/quadrille-cluster", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise machine.Unusable("cluster: another measurement uses it; wait until that one ends") from None
        subprocess.run([DOWN])
        made = subprocess.run([UP, str(self.nodes), str(self.rate)], capture_output=True, text=True)
        if made.returncode != 0:
            raise machine.Unusable(f"cluster: this machine cannot emulate one: {machine.last_words(made.stderr)}")

    def __exit__(self, *_):
        subprocess.run([DOWN])
        self.lock.close()


class Measuring:
    """The report, options and programs that the parts share."""

    def __init__(self, report, options, programs, folder):
        self.report, self.options = report, options
        self.generator = sampling.Generator(programs[0], folder)
        self.programs, self.calibrate = dict(zip(LIBRARIES, programs[1:3])), dict(zip(LIBRARIES, programs[3:]))

    def wanted(self, name):
        return self.options.only in name

    def sample(self, library, nodes, collective, counts, schedules, repetitions, *options):
        """`schedules`: files with windows."""
        return sampling.sample(
            [MPIRUN, library, hosts_of(nodes), self.programs[library], collective, counts, repetitions, *options]
            + [f"{file}:{window}" for file, window in schedules],
            timeout=1800,
        )

    def files(self, collective, nodes, algorithms, window):
        """Schedule files of these algorithms, each with its options, by its words."""
        return {
            " ".join(words): (self.generator.file(collective, words[0], nodes, *words[1:]), window)
            for words in algorithms
        }

    def costs(self, library, nodes, size):
        """The machine's costs with blocks of that many bytes, as options for the generator."""
        command = [MPIRUN, library, hosts_of(nodes), self.calibrate[library], "--bytes", size, "--seconds", "5"]
        lines, errors = machine.lines_until(command, "--.*", 300)
        if not lines or not lines[-1].startswith("--"):
            raise machine.Unusable(f"calibrate: {machine.last_words(errors)}")
        return lines[-1].split()

    def best(self, name, library, nodes, collective, counts, schedules, at_least, trials=TRIALS, *options):
        """Tries every schedule alone, and then compares the best one with the native collective in new pairs. So luck in the
        trial does not count. `schedules`: files with windows, by their labels."""
        tried = self.sample(library, nodes, collective, counts, schedules.values(), trials, "--without-native", *options)
        medians = {label: paired.median(one.ours) for label, one in zip(schedules, tried)}
        for label, seconds in medians.items():
            self.report.figure(f"{name} | {label}, alone", 1e3 * seconds, "ms", n=trials)
        label = min(medians, key=medians.get)
        pairs = self.options.repetitions or PAIRS
        (winner,) = self.sample(library, nodes, collective, counts, [schedules[label]], pairs, *options)
        for what, seconds in (("native", winner.native), (label, winner.ours)):
            self.report.sample(f"{name} | {what}", [1e3 * each for each in seconds], "ms")
        self.report.sample(f"{name} | native / best of ours ({label})", winner.ratios, at_least=at_least)
        return label, winner

    def chosen(self, name, library, nodes, collective, counts, auto, best, at_least, *options):
        """Compares the choice of auto with native calls, and with the best of the sweep."""
        pairs = self.options.repetitions or PAIRS
        ours, swept = self.sample(library, nodes, collective, counts, [auto, best], pairs, *options)
        self.report.sample(f"{name} | native / auto ({ours.algorithm})", ours.ratios, at_least=at_least)
        ratio = paired.median(ours.ours) / paired.median(swept.ours)
        self.report.figure(f"{name} | auto / best of the sweep", ratio, n=pairs, at_most=MOST_OF_BEST)


def preloaded(mpi, nodes, library, *variables):
    """The words before a program that runs with a preload library."""
    load = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', library]
    return [MPIRUN, mpi, hosts_of(nodes), *load, "env", *variables]


def hosts_of(nodes):
    """The hosts with that many ranks on each node. A text is returned unchanged."""
    return nodes if isinstance(nodes, str) else ",".join(f"n{i}:{size}" for i, size in enumerate(nodes))


def mean_of(sizes):
    """The mean bytes of a block in a distribution of bench/collective.c."""
    kind, *numbers = sizes.split(":")
    first, *rest = map(float, numbers)
    if kind == "power":
        one, two = 1 - first, 2 - first
        return (rest[0] ** two - 1) / two * one / (rest[0] ** one - 1)
    return first / 2 if kind == "uniform" else first


def physical_limit(counts, nodes):
    """Seconds that every allgatherv takes at least: a node must receive all data that it lacks through its interface."""
    total, first, lacking = sum(counts), 0, 0
    for size in nodes:
        lacking = max(lacking, total - sum(counts[first : first + size]))
        first += size
    return lacking * 8 / (RATE * 1e6)


def alltoall(m, library):
    nodes, text = (8, 4, 2, 2), "8,4,2,2"
    schedules = {}
    for window in (1, 4, 16, 64):
        file = m.generator.file("alltoall", "hierarchical-factor", text)
        schedules[f"hierarchical-factor, window {window}"] = file, window
    for algorithm, *options in (
        ("hierarchical-factor", "--intra", "exchange"),
        ("hierarchical-circle",),
        ("hierarchical-factor", "--pacing", "token"),
    ):
        file = m.generator.file("alltoall", algorithm, text, *options)
        schedules[" ".join([algorithm, *options[1:]])] = file, WINDOW
    for size in (4096, 32768):
        name = f"alltoall {text}, {size} B, {LIBRARIES[library]}"
        if m.wanted(name):
            m.best(name, library, nodes, "alltoall", size, schedules, 0.97 if library == "openmpi" else None)


def alltoallv(m, library):
    """Sizes that differ from pair to pair, in single calls and in persistent ones."""
    for (of, nodes, sizes), limits in LEAST_ALLTOALLV.items():
        candidates = m.files("alltoall", nodes, FOR_ALLTOALLV, ALLTOALLV_WINDOW)
        for collective, limit in zip(("alltoallv", "persistent"), limits):
            name = f"{collective} {nodes} {sizes}, {LIBRARIES[library]}"
            if of != library or not m.wanted(name):
                continue
            label, _ = m.best(
                name, library, NODES[nodes], collective, sizes, candidates, limit, SHORT_TRIALS
            )
            if collective == "alltoallv":
                costs = m.costs(library, NODES[nodes], round(mean_of(sizes)))
                auto = m.generator.file("alltoall", "auto", nodes, *costs), ALLTOALLV_WINDOW
                at_least = LEAST_CHOSEN.get(nodes, LEAST_CHOSEN.get(f"{nodes} {sizes}"))
                m.chosen(name, library, NODES[nodes], collective, sizes, auto, candidates[label], at_least)


def rings(m):
    """The rings for an allgatherv, with each block size."""
    return {
        f"{algorithm} {size}": (m.generator.file("allgather", algorithm, "4x4", "--block-size", str(size)), WINDOW)
        for algorithm in ("blocked-ring", "blocked-ring-nodes")
        for size in BLOCK_SIZES
    }


def allgatherv(m, library):
    nodes, shares, ratios = (4, 4, 4, 4), [], []
    for distribution, counts_of in DISTRIBUTIONS.items():
        name = f"allgatherv {distribution}, {LIBRARIES[library]}"
        if not m.wanted(name):
            continue
        counts = counts_of(TOTAL, sum(nodes))
        _, winner = m.best(name, library, nodes, "allgatherv", as_text(counts), rings(m), LEAST[library][distribution])
        limit = physical_limit(counts, nodes)
        shares.append(paired.median(winner.ours) / limit)
        ratios.append(paired.median(winner.ratios))
        m.report.figure(f"{name} | best of ours / physical limit", shares[-1], n=len(winner.ours))
    if len(shares) == len(DISTRIBUTIONS):
        title = f"allgatherv, {LIBRARIES[library]}"
        m.report.figure(f"{title} | best of ours / physical limit, the worst", max(shares), at_most=MOST_OF_LIMIT)
        above = sum(ratio > 1.05 for ratio in ratios)
        at_least = 2 if library == "mpich" else None
        m.report.figure(f"{title} | distributions with native / best of ours above 1.05", above, at_least=at_least)


def exactly(m, library):
    """Distributions of exactly 4 MiB. At that total Open MPI changes from Bruck's algorithm to the ring, and the rounded
    distributions are a little below it."""
    nodes = (4, 4, 4, 4)
    for distribution, counts_of in DISTRIBUTIONS.items():
        counts = counts_of(TOTAL, sum(nodes))
        name = f"allgatherv {distribution} and {TOTAL - sum(counts)} B more, {LIBRARIES[library]}"
        if library == "openmpi" and sum(counts) < TOTAL and m.wanted(name):
            counts[0] += TOTAL - sum(counts)
            m.best(name, library, nodes, "allgatherv", as_text(counts), rings(m), None)


def small(m, library):
    """Messages so short that only their number matters."""
    name = f"allgather {SMALL} B, 16 ranks, {LIBRARIES[library]}"
    if m.wanted(name):
        schedules = m.files("allgather", "4x4", FOR_SMALL, WINDOW)
        m.best(name, library, (4, 4, 4, 4), "allgather", SMALL, schedules, 0.97, SHORT_TRIALS)


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder, Cluster(5, RATE):
        m = Measuring(report, options, programs, folder)
        for part in (allgatherv, exactly, small, alltoall, alltoallv):
            for library in LIBRARIES:
                part(m, library)
        cluster_groups.measure(m, programs[0], LIBRARIES)
