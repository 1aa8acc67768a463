"""Collectives between two groups of ranks, and reductions within one, on the emulated cluster."""
from bench import machine
from bench.distributions import DISTRIBUTIONS, as_text

WINDOW = 0  # what the program asks for
NODES, RANKS = (4, 4, 4, 4), 16
TRIALS = 5
LONGEST = 64 << 10  # bytes of a contribution in the settings of Kang et al. 2019, section 5
# Ranks of the first group, contribution of each of its ranks, least native / ours.
SETTINGS = {
    "1": (8, LONGEST, LONGEST, {}),
    "2": (12, LONGEST, LONGEST, {"openmpi": 4.3, "mpich": 1.9}),
    "3": (12, LONGEST, LONGEST // 4, {"openmpi": 2.3, "mpich": 1.8}),
    "4": (12, LONGEST // 4, LONGEST, {"openmpi": 5.3, "mpich": 1.7}),
}
# The first group's last ranks are on other nodes than the second's, or on the same.
SPREADS = {"": "n0:4,n1:4,n2:4,n3:4", ", spread over all nodes": "n0:3,n1:3,n2:3,n3:3,n0:1,n1:1,n2:1,n3:1"}


class Candidates:
    """The algorithms of a collective that have schedules for any nodes."""

    def __init__(self, m, program):
        self.m, self.lines = m, machine.run([program, "list"]).splitlines()

    def names(self, collective, between=""):
        lines = (line.removesuffix(between).split() for line in self.lines if line.endswith(between) and line[:1] != " ")
        return [words[1] for words in lines if len(words) == 2 and words[0] == collective]

    def files(self, collective, first=None):
        remote = ["--remote-nodes", "any"] if first else []
        names = self.names(collective, " between groups" if first else "")
        return {name: (self.m.generator.file(collective, name, "any", *remote), WINDOW) for name in names}


def settings(m, candidates, library, name_of):
    for setting, (first, of_first, of_second, limits) in SETTINGS.items():
        for spread, hosts in SPREADS.items():
            name = f"allgather between groups, {first} + {RANKS - first} ranks{spread}, setting {setting}, {name_of}"
            if m.wanted(name) and not (spread and setting == "1"):
                counts = f"{first}x{of_first},{RANKS - first}x{of_second}"
                files = candidates.files("allgather", first)
                options = ["--first-group", first]
                m.best(name, library, hosts, "allgatherv", counts, files, limits.get(library), TRIALS, *options)


def short(m, candidates, library, name_of):
    """Every collective between groups, with 64 bytes."""
    for collective in COLLECTIVES:
        for first in (8, 12):
            name = f"{collective} between groups, {first} + {RANKS - first} ranks, 64 B, {name_of}"
            if m.wanted(name):
                files = candidates.files(collective, first)
                m.best(name, library, NODES, collective, 64, files, 1.0, TRIALS, "--first-group", first)


COLLECTIVES = (
    *("allgather", "alltoall", "allreduce", "barrier", "broadcast", "gather", "reduce", "reduce-scatter", "scatter"),
)


def ranks_of(hosts):
    return sum(int(host.split(":")[1]) for host in hosts.split(","))


def groups_of(hosts, first):
    """The ranks on each node of each group, as the generator reads them. Without `first` there is one group."""
    groups, ranks = [[], []], 0
    for host in hosts.split(","):
        size = int(host.split(":")[1])
        of_first = size if first is None else max(0, min(size, first - ranks))
        for group, share in zip(groups, (of_first, size - of_first)):
            if share:
                group.append(share)
        ranks += size
    return [",".join(map(str, group)) for group in groups if group]


def with_auto(m, name, library, hosts, collective, counts, files, at_least, trials, first=None):
    """Measures the best of ours, and the choice of auto, which has a limit. `counts`: one for all ranks, or a list with one each."""
    options = ["--first-group", first] if first else []
    each, lengths = [counts], []
    if isinstance(counts, list):
        each, counts = counts, as_text(counts)
        lengths = ["--counts", counts]
    label, _ = m.best(name, library, hosts, collective, counts, files, None, trials, *options)
    size = sum(each) // len(each)
    if first and collective == "reduce-scatter":  # the vector of each group has blocks for all ranks of the other
        size = 2 * size * first * (ranks_of(hosts) - first) // ranks_of(hosts)
    costs = m.costs(library, hosts, max(1, size))
    nodes, *others = groups_of(hosts, first)
    remote = ["--remote-nodes", *others] if others else []
    auto = m.generator.file(collective.removesuffix("v"), "auto", nodes, *remote, *lengths, *costs), WINDOW
    m.chosen(name, library, hosts, collective, counts, auto, files[label], at_least, *options)


def long(m, candidates, library, name_of):
    """The collectives of Silva & Silva 1999, with 1 KiB and 1 MiB."""
    for collective in ("allgather", "allreduce", "broadcast", "gather", "reduce", "scatter", "reduce-scatter"):
        for size in (1 << 10, 1 << 20):
            for hosts, first, second in (("n0:4,n1:4", 4, 4), ("n0:4,n1:4,n2:4", 9, 3)):
                name = f"{collective} between groups, {first} + {second} ranks, {size >> 10} KiB, {name_of}"
                if m.wanted(name):
                    files = candidates.files(collective, first)
                    with_auto(m, name, library, hosts, collective, size, files, 0.95, 2, first)


def reductions(m, candidates, library, name_of):
    """Reductions within one group."""
    hosts = ",".join(f"n{i}:{size}" for i, size in enumerate(NODES))
    for collective in ("allreduce", "reduce-scatter"):
        for size in (1 << 10, 64 << 10, 4 << 20):
            name = f"{collective}, 16 ranks, {size >> 10} KiB, {name_of}"
            if m.wanted(name):
                each = size if collective == "allreduce" else size // RANKS
                with_auto(m, name, library, hosts, collective, each, candidates.files(collective), 0.97, TRIALS)
    for distribution in ("spike", "half", "linear"):
        name = f"reduce-scatter {distribution}, 16 ranks, 4096 KiB, {name_of}"
        if m.wanted(name):
            counts = [count // 8 * 8 for count in DISTRIBUTIONS[distribution](4 << 20, RANKS)]
            files = candidates.files("reduce-scatter")
            with_auto(m, name, library, hosts, "reduce-scatterv", counts, files, 1.2, TRIALS)


PIPELINES = ("pipeline", "pipeline-nodes", "hypercube")


def rooted(m, candidates, library, name_of):
    """Reductions to a root and broadcasts from one. Pipelines are tried with two block sizes, too: MPI libraries send short
    messages faster."""
    for collective, sizes, at_least in (("reduce", (16, 256, 4096), 1.1), ("broadcast", (1024,), 2.0)):
        for size in sizes:
            name = f"{collective} with a root, 16 ranks, {size} KiB, {name_of}"
            if m.wanted(name):
                pipelines = [(each, "--block-size", block) for each in PIPELINES for block in ("8192", "65536")]
                files = candidates.files(collective) | m.files(collective, "any", pipelines, WINDOW)
                limit = at_least if library == "mpich" else None
                m.best(name, library, NODES, collective, size << 10, files, limit, TRIALS)


def on_pairs(m, candidates, library, name_of):
    """A short allreduce on five nodes of two ranks."""
    name = f"allreduce, 5x2 ranks, 16 KiB, {name_of}"
    if m.wanted(name):
        hosts = ",".join(f"n{i}:2" for i in range(5))
        with_auto(m, name, library, hosts, "allreduce", 16 << 10, candidates.files("allreduce"), 1.0, TRIALS)


def measure(m, program, libraries):
    candidates = Candidates(m, program)
    for part in (settings, short, long, reductions, rooted, on_pairs):
        for library, name_of in libraries.items():
            part(m, candidates, library, name_of)
