"""The emulated cluster: four nodes with 200 Mbit/s each, real TCP, Open MPI and MPICH, as root.

Each call of ours stands next to one of the library's own (bench/collective.c). The figure is the median of native /
ours, pair by pair: above 1, ours is faster. Where several of ours are tried, each is shown, and the best has the limit.
"""
import fcntl
import os
import subprocess
import tempfile

from bench import machine, paired, sampling
from bench.distributions import DISTRIBUTIONS, as_text

NEEDS_CALM = True
RATE = 200  # Mbit/s
TOTAL = 4 << 20  # bytes of an allgatherv, over all ranks
SMALL = 64  # bytes a rank
LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH"}
REPETITIONS = {"openmpi": 25, "mpich": 25}
LEAST = {  # native / best of ours, by library and distribution
    "openmpi": {"regular": 1.25, "broadcast": 2.9, "spike": 6.5, "geometric": 7, "half": 1.25, "linear": 5.5},
    "mpich": dict.fromkeys(DISTRIBUTIONS, 0.97),
}
MOST_OF_LIMIT = 1.25  # time / physical limit, the worst distribution
BLOCK_SIZES = ["8192", "32768", "131072", "min", "auto"]
RING_WINDOW = 16
UP, DOWN, MPIRUN = (f"bench/cluster/{name}.sh" for name in ("up", "down", "mpirun"))


def build():
    if os.geteuid() != 0:
        raise machine.Unusable("cluster: network namespaces need root; run it as root")
    return machine.build("//generator:generator", "//bench:collective_openmpi", "//bench:collective_mpich")


class Cluster:
    """The cluster, there within a `with`. There is one a machine: who has the lock has it."""

    def __init__(self, nodes, rate):
        self.nodes, self.rate = nodes, rate

    def __enter__(self):
        self.lock = open("/run/lock/quadrille-cluster", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise machine.Unusable("cluster: another measurement has it; wait until that one is over") from None
        subprocess.run([DOWN])
        made = subprocess.run([UP, str(self.nodes), str(self.rate)], capture_output=True, text=True)
        if made.returncode != 0:
            raise machine.Unusable(f"cluster: this machine cannot emulate one: {machine.last_words(made.stderr)}")

    def __exit__(self, *_):
        subprocess.run([DOWN])
        self.lock.close()


class Measuring:
    """What the parts share."""

    def __init__(self, report, options, programs, folder):
        self.report, self.options = report, options
        self.generator = sampling.Generator(programs[0], folder)
        self.programs = dict(zip(LIBRARIES, programs[1:]))

    def wanted(self, name):
        return self.options.only in name

    def sample(self, library, nodes, collective, counts, schedules):
        """`schedules`: files with windows."""
        hosts = ",".join(f"n{i}:{size}" for i, size in enumerate(nodes))
        repetitions = self.options.repetitions or REPETITIONS[library]
        return sampling.sample(
            [MPIRUN, library, hosts, self.programs[library], collective, counts, repetitions]
            + [f"{file}:{window}" for file, window in schedules],
            timeout=1800,
        )

    def best(self, name, labels, sampled, at_least):
        """Every schedule's ratio, and the best one's with the limit. Returns the best."""
        for label, one in zip(labels, sampled):
            sampling.add_ratio(self.report, f"{name} | native / {label}", one)
        winner = max(sampled, key=lambda one: paired.median(one.ratios))
        label = labels[sampled.index(winner)]
        sampling.add_ratio(self.report, f"{name} | native / best of ours ({label})", winner, at_least)
        sampling.add_time(self.report, f"{name} | native", winner.native)
        sampling.add_time(self.report, f"{name} | best of ours", winner.ours)
        return winner


def physical_limit(counts, nodes):
    """Seconds in which no allgatherv can be done: what a node lacks, through its interface."""
    total, first, lacking = sum(counts), 0, 0
    for size in nodes:
        lacking = max(lacking, total - sum(counts[first : first + size]))
        first += size
    return lacking * 8 / (RATE * 1e6)


def alltoall(m, library):
    nodes, text = (8, 4, 2, 2), "8,4,2,2"
    windows = [1, 2, 4, 8, 16, 32, 64] if library == "openmpi" else [4, 16, 64]
    schedules, labels = [], []
    for window in windows:
        schedules.append((m.generator.file("alltoall", "hierarchical-factor", text), window))
        labels.append(f"hierarchical-factor, window {window}")
    for algorithm, *options in (
        ("hierarchical-factor", "--intra", "exchange"),
        ("hierarchical-circle",),
        ("hierarchical-factor", "--pacing", "token"),
    ):
        schedules.append((m.generator.file("alltoall", algorithm, text, *options), 16))
        labels.append(" ".join([algorithm, *options[1:]]))
    for size in (4096, 32768):
        name = f"alltoall {text}, {size} B, {LIBRARIES[library]}"
        if m.wanted(name):
            sampled = m.sample(library, nodes, "alltoall", size, schedules)
            m.best(name, labels, sampled, 0.97 if library == "openmpi" else None)


def rings(m, nodes):
    """The rings for an allgatherv, each with each block size: schedules and labels."""
    schedules, labels = [], []
    for algorithm in ("blocked-ring", "blocked-ring-nodes"):
        if not m.generator.knows("allgather", algorithm):
            m.report.note(f"{algorithm}: the generator does not have it")
            continue
        for size in BLOCK_SIZES:
            schedules.append((m.generator.file("allgather", algorithm, nodes, "--block-size", size), RING_WINDOW))
            labels.append(f"{algorithm} {size}")
    return schedules, labels


def allgatherv(m, library):
    nodes = (4, 4, 4, 4)
    schedules, labels = rings(m, "4x4")
    worst, above = 0, 0
    names = [name for name in DISTRIBUTIONS if m.wanted(f"allgatherv {name}, {LIBRARIES[library]}")]
    for distribution in names if schedules else []:
        name = f"allgatherv {distribution}, {LIBRARIES[library]}"
        counts = DISTRIBUTIONS[distribution](TOTAL, sum(nodes))
        sampled = m.sample(library, nodes, "allgatherv", as_text(counts), schedules)
        winner = m.best(name, labels, sampled, LEAST[library][distribution])
        share = paired.median(winner.ours) / physical_limit(counts, nodes)
        m.report.figure(f"{name} | best of ours / physical limit", share, n=len(winner.ours))
        worst = max(worst, share)
        above += paired.median(winner.ratios) > 1.05
    if len(names) == len(DISTRIBUTIONS) and schedules:
        title = f"allgatherv, {LIBRARIES[library]}"
        m.report.figure(f"{title} | best of ours / physical limit, worst", worst, at_most=MOST_OF_LIMIT)
        m.report.figure(
            f"{title} | distributions with native / best of ours above 1.05",
            above,
            at_least=2 if library == "mpich" else None,
        )


def small(m, library):
    """Messages so short that only what each costs counts."""
    name = f"allgather {SMALL} B, 16 ranks, {LIBRARIES[library]}"
    algorithms = [
        algorithm
        for algorithm in ("linear-ring", "bruck", "recursive-doubling", "neighbor-exchange", "blocked-ring")
        if m.wanted(name) and m.generator.knows("allgather", algorithm)
    ]
    if algorithms:
        schedules = [(m.generator.file("allgather", algorithm, "4x4"), RING_WINDOW) for algorithm in algorithms]
        m.best(name, algorithms, m.sample(library, (4, 4, 4, 4), "allgather", SMALL, schedules), 0.97)


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder, Cluster(4, RATE):
        m = Measuring(report, options, programs, folder)
        for part in (allgatherv, small, alltoall):
            for library in LIBRARIES:
                part(m, library)
