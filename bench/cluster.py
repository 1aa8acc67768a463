"""Measures collectives on the emulated cluster: five nodes of 200 Mbit/s, real TCP, Open MPI and MPICH, as root.

Each call by a schedule runs next to one of the library's own (bench/collective.c). The figure is the median of these
ratios, native / ours. Above 1, the schedule is faster.
"""
import fcntl
import os
import subprocess
import tempfile
from dataclasses import dataclass

from bench import machine, paired, sampling
from bench.distributions import DISTRIBUTIONS, as_text
from bench.simulation import node_sizes

NEEDS_CALM = True
RATE = 200  # Mbit/s
LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH"}
PAIRS = 21  # of calls by the best schedule with native calls
WINDOW, ALLTOALLV_WINDOW = 16, 32  # 0 would be the window that the schedule asks for
MOST_OF_BEST = 1.10  # time of auto's choice / time of the best
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


def build_preloaded(instrument):
    """Builds the program bench/preloaded.c and the preload library. Returns their paths by MPI library."""
    want_root(instrument)
    targets = "//bench:preloaded_{}", "//preload:libquadrille_preload_{}.so"
    return {library: machine.build(*(target.format(library) for target in targets)) for library in LIBRARIES}


class Cluster:
    """The cluster, which exists inside a `with`. A machine has only one, which a lock protects."""

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


def hosts_of(nodes):
    """Returns hosts such as n0:4,n1:4 for the ranks on each node, such as 2x4 or 4,4. Returns hosts unchanged."""
    return nodes if ":" in nodes else ",".join(f"n{i}:{size}" for i, size in enumerate(node_sizes(nodes)))


def groups_of(hosts, first):
    """Returns each group's ranks on each node, as the generator reads them. Without `first` there is one group."""
    groups, ranks = [[], []], 0
    for host in hosts.split(","):
        size = int(host.split(":")[1])
        of_first = size if first is None else max(0, min(size, first - ranks))
        for group, share in zip(groups, (of_first, size - of_first)):
            if share:
                group.append(share)
        ranks += size
    return [",".join(map(str, group)) for group in groups if group]


def preloaded(mpi, nodes, library, *variables):
    """Returns the words that start a program with a preload library. The words of the program follow them."""
    load = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', library]
    return [MPIRUN, mpi, hosts_of(nodes), *load, "env", *variables]


def starter(mpi, nodes, program, library):
    """Returns a function from variables to the words that start bench/preloaded.c with them."""
    return lambda variables: [*preloaded(mpi, nodes, library, *variables), program]


@dataclass
class Case:
    """A call, the schedules to try, and the limits. `hosts` may also be nodes, such as 4x4."""

    name: str
    library: str
    hosts: str
    collective: str
    counts: object  # bytes, a list of bytes by rank, or a distribution of bench/collective.c
    files: dict  # from labels to schedule files, or to pairs of a file and its window
    window: int = WINDOW
    at_least: float = None  # native / best of ours
    trials: int = 3  # calls of each schedule alone, to find the best
    first: int = None  # ranks of the first of two groups; None: one group
    auto: bool = False  # whether to measure the choice of auto as well
    auto_at_least: float = None  # native / auto

    @property
    def options(self):
        return ["--first-group", self.first] if self.first else []

    def text(self):
        """Returns the counts as bench/collective.c reads them."""
        return as_text(self.counts) if isinstance(self.counts, list) else self.counts

    def mean(self):
        """Returns the mean bytes of a block."""
        if isinstance(self.counts, list):
            return sum(self.counts) // len(self.counts)
        return mean_of(self.counts) if isinstance(self.counts, str) else self.counts


def mean_of(sizes):
    """Returns the mean bytes of a block in a distribution of bench/collective.c."""
    kind, *numbers = sizes.split(":")
    first, *rest = map(float, numbers)
    if kind == "power":
        one, two = 1 - first, 2 - first
        return (rest[0] ** two - 1) / two * one / (rest[0] ** one - 1)
    return first / 2 if kind == "uniform" else first


def mean_between_groups(collective, size, ranks, first):
    """Returns the mean bytes of a block. In a reduce-scatter, it has `size` for each rank of the other group."""
    return 2 * size * first * (ranks - first) // ranks if first and collective == "reduce-scatter" else size


class Measuring(sampling.Measuring):
    def __init__(self, report, options, programs, folder):
        super().__init__(report, options, programs[0], folder)
        self.programs, self.calibrate = dict(zip(LIBRARIES, programs[1:3])), dict(zip(LIBRARIES, programs[3:]))

    def sample(self, library, nodes, collective, counts, schedules, repetitions, *options):
        """Samples a call by these schedules, which are pairs of a file and its window."""
        return sampling.sample(
            [MPIRUN, library, hosts_of(nodes), self.programs[library], collective, counts, repetitions, *options]
            + [f"{file}:{window}" for file, window in schedules],
            timeout=1800,
        )

    def files(self, collective, nodes, algorithms):
        """Returns the schedule files of these algorithms with options, by their words."""
        return {" ".join(words): self.generator.file(collective, words[0], nodes, *words[1:]) for words in algorithms}

    def costs(self, library, nodes, size):
        """Calibrates with blocks of `size` bytes. Returns the costs as options for the generator."""
        command = [MPIRUN, library, hosts_of(nodes), self.calibrate[library], "--bytes", size, "--seconds", "5"]
        lines, errors = machine.lines_until(command, "--.*", 300)
        if not lines or not lines[-1].startswith("--"):
            raise machine.Unusable(f"calibrate: {machine.last_words(errors)}")
        return lines[-1].split()

    def alone(self, name, files, trials, sample):
        """Adds the median of each schedule alone. Returns the label of the fastest. `sample` runs the schedules."""
        tried = sample(trials, "--without-native")
        medians = {label: paired.median(one.ours) for label, one in zip(files, tried)}
        for label, seconds in medians.items():
            self.report.figure(f"{name} | {label}, alone", 1e3 * seconds, "ms", n=trials)
        return min(medians, key=medians.get)

    def best(self, case):
        """Tries every schedule alone. Then compares the best one with the native collective in new pairs, so that
        luck in the trial does not count. Returns the Sampled of the best one."""
        files = {label: file if isinstance(file, tuple) else (file, case.window) for label, file in case.files.items()}

        def sample(schedules, repetitions, *options):
            options += (*case.options,)
            return self.sample(case.library, case.hosts, case.collective, case.text(), schedules, repetitions, *options)

        label = self.alone(case.name, files, case.trials, lambda *words: sample(files.values(), *words))
        pairs = self.repetitions(PAIRS)
        (winner,) = sample([files[label]], pairs)
        for what, seconds in (("native", winner.native), (label, winner.ours)):
            self.report.sample(f"{case.name} | {what}", [1e3 * each for each in seconds], "ms")
        self.report.sample(f"{case.name} | native / best of ours ({label})", winner.ratios, at_least=case.at_least)
        if case.auto:
            ours, swept = sample([self.automatic(case), files[label]], pairs)
            self.report.sample(f"{case.name} | native / auto ({ours.algorithm})", ours.ratios, at_least=case.auto_at_least)
            ratio = paired.median(ours.ours) / paired.median(swept.ours)
            self.report.figure(f"{case.name} | auto / best of the sweep", ratio, n=pairs, at_most=MOST_OF_BEST)
        return winner

    def automatic(self, case):
        """Returns the file that auto chooses with the costs that calibrate measures, and the window."""
        nodes, *others = groups_of(hosts_of(case.hosts), case.first)
        remote = ["--remote-nodes", *others] if others else []
        lengths = ["--counts", case.text()] if isinstance(case.counts, list) else []
        ranks = sum(sum(node_sizes(group)) for group in (nodes, *others))
        size = mean_between_groups(case.collective, case.mean(), ranks, case.first)
        costs = self.costs(case.library, case.hosts, max(1, round(size)))
        schedules = "alltoall" if case.collective == "alltoallv" else case.collective.removesuffix("v")
        return self.generator.file(schedules, "auto", nodes, *remote, *lengths, *costs), case.window


# Each function below, except helpers, yields cases to measure with an MPI library, or measures them itself. `m` makes the
# schedule files.

TOTAL = 4 << 20  # bytes of an allgatherv, over all ranks
LEAST = {  # least native / best of ours, by library and distribution
    "openmpi": {"regular": 1.25, "broadcast": 2.9, "spike": 6.5, "geometric": 7, "half": 1.25, "linear": 5.5},
    "mpich": dict.fromkeys(DISTRIBUTIONS, 0.97),
}
MOST_OF_LIMIT = 1.25  # time / physical limit, of the worst distribution
RINGS = [
    (algorithm, "--block-size", size)
    for algorithm in ("blocked-ring", "blocked-ring-nodes")
    for size in ("8192", "16384", "32768", "65536")
]


def physical_limit(counts, nodes):
    """Returns the seconds that any allgatherv takes at least: each node must receive the data that it lacks."""
    total, first, lacking = sum(counts), 0, 0
    for size in nodes:
        lacking = max(lacking, total - sum(counts[first : first + size]))
        first += size
    return lacking * 8 / (RATE * 1e6)


def rings(m, library, name, counts, at_least):
    """Returns the case of the ring schedules for an allgatherv, with each block size."""
    files = {words.replace("--block-size ", ""): file for words, file in m.files("allgather", "4x4", RINGS).items()}
    return Case(f"allgatherv {name}, {LIBRARIES[library]}", library, "4x4", "allgatherv", counts, files, at_least=at_least)


def allgatherv(m, library):
    shares, ratios = [], []
    for distribution, counts_of in DISTRIBUTIONS.items():
        case = rings(m, library, distribution, counts_of(TOTAL, 16), LEAST[library][distribution])
        if m.wanted(case.name):
            winner = m.best(case)
            shares.append(paired.median(winner.ours) / physical_limit(case.counts, node_sizes("4x4")))
            ratios.append(paired.median(winner.ratios))
            m.report.figure(f"{case.name} | best of ours / physical limit", shares[-1], n=len(winner.ours))
    if len(shares) == len(DISTRIBUTIONS):
        title = f"allgatherv, {LIBRARIES[library]}"
        m.report.figure(f"{title} | best of ours / physical limit, the worst", max(shares), at_most=MOST_OF_LIMIT)
        above = sum(ratio > 1.05 for ratio in ratios)
        at_least = 2 if library == "mpich" else None
        m.report.figure(f"{title} | distributions with native / best of ours above 1.05", above, at_least=at_least)
    return ()


def exactly(m, library):
    """Distributions of exactly 4 MiB, where Open MPI changes to the ring. Rounded ones have a little less."""
    for distribution, counts_of in DISTRIBUTIONS.items():
        counts = counts_of(TOTAL, 16)
        more = TOTAL - sum(counts)
        counts[0] += more
        if library == "openmpi" and more > 0:
            yield rings(m, library, f"{distribution} and {more} B more", counts, None)


def small(m, library):
    """Messages so short that mostly their number matters."""
    for nodes in ("4x4", "1,6,3,4"):
        for size in (64, 256):
            at_least = 0.97 if (nodes, size) == ("4x4", 64) else None
            yield of_all(m, library, f"allgather {size} B, {nodes}", nodes, "allgather", size, at_least, 11)


def alltoall(m, library):
    nodes, factor = "8,4,2,2", "hierarchical-factor"
    file = m.generator.file("alltoall", factor, nodes)
    files = {f"{factor}, window {window}": (file, window) for window in (1, 4, 16, 64)}
    for words in ((factor, "--intra", "exchange"), ("hierarchical-circle",), (factor, "--pacing", "token")):
        files[" ".join(words[:1] + words[2:])] = m.generator.file("alltoall", words[0], nodes, *words[1:])
    at_least = 0.97 if library == "openmpi" else None
    for size in (4096, 32768):
        name = f"alltoall {nodes}, {size} B, {LIBRARIES[library]}"
        yield Case(name, library, nodes, "alltoall", size, files, at_least=at_least)


LEAST_ALLTOALLV = {  # least native / best of ours, by library, nodes and sizes: of a plain call, of a persistent one
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
FEW_RANKS = ("5x2", "3x5", "1,6,3,4")  # with short blocks
LEAST_ALLTOALLV |= {
    (library, nodes, sizes): (None,)
    for nodes in FEW_RANKS
    for library in LIBRARIES
    for sizes in ("uniform:64", "uniform:1024", "power:0.95:4096")
}
LEAST_CHOSEN = {"4x8 uniform:65536": 0.98} | dict.fromkeys(FEW_RANKS, 0.97)  # native / auto, by nodes (and sizes)
FOR_ALLTOALLV = (
    *(("tuna-coalesced", "--radix", radix) for radix in "248"),
    *(("tuna", "--radix", radix) for radix in "28"),
    ("hierarchical-factor",),
    *(("hierarchical-overlapped", "--early", early) for early in "12"),
)


def alltoallv(m, library):
    """Alltoallvs whose sizes differ from pair to pair, as plain calls and as persistent ones."""
    for (of, nodes, sizes), limits in LEAST_ALLTOALLV.items():
        for collective, limit in zip(("alltoallv", "persistent"), limits if of == library else ()):
            name = f"{collective} {nodes} {sizes}, {LIBRARIES[library]}"
            case = Case(name, library, nodes, collective, sizes, {}, ALLTOALLV_WINDOW, limit, 11)
            case.files = m.files("alltoall", nodes, FOR_ALLTOALLV) if m.wanted(name) else {}
            case.auto = collective == "alltoallv"
            case.auto_at_least = LEAST_CHOSEN.get(nodes, LEAST_CHOSEN.get(f"{nodes} {sizes}"))
            yield case


LONGEST = 64 << 10  # bytes of a contribution in the settings of Kang et al. 2019, section 5
SETTINGS = {  # ranks of the first group, bytes of a rank of the first and of the second, least native / ours
    "1": (8, LONGEST, LONGEST, {}),
    "2": (12, LONGEST, LONGEST, {"openmpi": 4.3, "mpich": 1.9}),
    "3": (12, LONGEST, LONGEST // 4, {"openmpi": 2.3, "mpich": 1.8}),
    "4": (12, LONGEST // 4, LONGEST, {"openmpi": 5.3, "mpich": 1.7}),
}
# The second group has nodes of its own, or the two groups share nodes.
SPREADS = {"": "n0:4,n1:4,n2:4,n3:4", ", spread over all nodes": "n0:3,n1:3,n2:3,n3:3,n0:1,n1:1,n2:1,n3:1"}
PIPELINES = ("pipeline", "pipeline-nodes", "binary-nodes", "hypercube")


def of_all(m, library, what, hosts, collective, counts, at_least, trials, **others):
    """Returns a case with all algorithms, in schedules for any nodes with the windows that they ask for."""
    name = f"{what}, {LIBRARIES[library]}"
    files = m.generator.for_any(collective.removesuffix("v"), "first" in others) if m.wanted(name) else {}
    return Case(name, library, hosts, collective, counts, files, 0, at_least, trials, **others)


def between(m, library):
    """Calls between groups: allgathers in Kang's settings, all with 64 B, Silva & Silva's with 1 KiB and 1 MiB."""
    for setting, (first, of_first, of_second, limits) in SETTINGS.items():
        for spread, hosts in SPREADS.items():
            if not (spread and setting == "1"):
                what = f"allgather between groups, {first} + {16 - first} ranks{spread}, setting {setting}"
                counts = [of_first] * first + [of_second] * (16 - first)
                yield of_all(m, library, what, hosts, "allgatherv", counts, limits.get(library), 5, first=first)
    longer = ("allgather", "allreduce", "broadcast", "gather", "reduce", "scatter", "reduce-scatter")
    for collective in (*longer, "alltoall", "barrier"):
        for first in (8, 12):
            what = f"{collective} between groups, {first} + {16 - first} ranks, 64 B"
            yield of_all(m, library, what, "4x4", collective, 64, 1.0, 5, first=first)
    for collective in longer:
        for size in (1 << 10, 1 << 20):
            for nodes, first, second in (("2x4", 4, 4), ("3x4", 9, 3)):
                what = f"{collective} between groups, {first} + {second} ranks, {size >> 10} KiB"
                yield of_all(m, library, what, nodes, collective, size, None, 2, first=first, auto=True, auto_at_least=0.95)


def reductions(m, library):
    """Reductions within one group, and a short allreduce on five nodes of two ranks."""
    for collective in ("allreduce", "reduce-scatter"):
        for size in (1 << 10, 64 << 10, 4 << 20):
            each = size if collective == "allreduce" else size // 16
            what = f"{collective}, 16 ranks, {size >> 10} KiB"
            yield of_all(m, library, what, "4x4", collective, each, None, 5, auto=True, auto_at_least=0.97)
    for distribution in ("spike", "half", "linear"):
        what = f"reduce-scatter {distribution}, 16 ranks, 4096 KiB"
        counts = [count // 8 * 8 for count in DISTRIBUTIONS[distribution](4 << 20, 16)]
        yield of_all(m, library, what, "4x4", "reduce-scatterv", counts, None, 5, auto=True, auto_at_least=1.2)
    yield of_all(m, library, "allreduce, 5x2 ranks, 16 KiB", "5x2", "allreduce", 16 << 10, None, 5, auto=True, auto_at_least=1.0)


def rooted(m, library):
    """Reductions to a root, and broadcasts from one. Pipelines are tried with two block sizes as well, since MPI
    libraries send short messages faster."""
    pipelines = [(each, "--block-size", block) for each in PIPELINES for block in ("8192", "65536")]
    for collective, sizes, at_least in (("reduce", (16, 256, 4096), 1.1), ("broadcast", (1024,), 2.0)):
        for size in sizes:
            what = f"{collective} with a root, 16 ranks, {size} KiB"
            limit = at_least if library == "mpich" else None
            case = of_all(m, library, what, "4x4", collective, size << 10, limit, 5)
            case.files |= m.files(collective, "any", pipelines)
            yield case


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder, Cluster(5, RATE):
        m = Measuring(report, options, programs, folder)
        for part in (allgatherv, exactly, small, alltoall, alltoallv, between, reductions, rooted):
            for library in LIBRARIES:
                for case in part(m, library):
                    if m.wanted(case.name):
                        m.best(case)
