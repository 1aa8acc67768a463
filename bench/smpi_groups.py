"""Measures allgathers between two groups on simulated networks, in the settings of Kang et al. 2019, section 5: 64
nodes of one rank, with at most 1 MiB per rank. Compares them with root gathering, which MPI libraries use, and with
the limit. The limit is the time in which a rank receives all bytes of the other group.
"""
from dataclasses import dataclass

WINDOW = 16
MOST = 1 << 20
SEGMENTS, ROOT = "segment-map-v", "root-gathering"
OURS = (SEGMENTS, "segment-map-bruck", "segment-map-paper", "two-stage")


@dataclass
class Setting:
    """Two groups. `first`: the number of ranks in the first; `counts`: the bytes that each rank contributes."""

    name: str
    first: int
    counts: list

    def totals(self):
        return sum(self.counts[: self.first]), sum(self.counts[self.first :])

    def longest(self):
        return max(self.totals())

    def model(self):
        """Returns the time of root gathering by Equation 2, over the limit. Unlike the paper, counts what vanishes in
        large groups: a root has its own contribution already, and a scatter and a ring on n ranks each carry (n -
        1)/n of the bytes. So with 64 ranks, results are below the paper's limits of 7.0, 4.84, 4.21 and 6.68."""
        ranks = (self.first, len(self.counts) - self.first)
        totals = self.totals()
        gathered = max(total - counts[0] for total, counts in zip(totals, (self.counts, self.counts[self.first :])))
        sent_on = sum(total * (1 + 2 * (n - 1) / n) for total, n in zip(totals, reversed(ranks)))
        return (gathered + sent_on) / self.longest()


def settings(ranks, most):
    """Returns the paper's eight settings, of which two pairs agree. Groups are equally large, or as 25 to 7."""

    def equal(first, of_first, of_second):
        return [of_first] * first + [of_second] * (ranks - first)

    def arithmetic(first):
        """Returns contributions that grow with the rank, up to `most` in each group."""
        return [most * (rank + 1) // size for size in (first, ranks - first) for rank in range(size)]

    half, more = ranks // 2, ranks * 25 // 32
    return [
        Setting("1 and 5", half, equal(half, most, most)),
        Setting("2 and 7", more, equal(more, most, most)),
        Setting("3", more, equal(more, most, most // 4)),
        Setting("4", more, equal(more, most // 4, most)),
        Setting("6", half, arithmetic(half)),
        Setting("8", more, arithmetic(more)),
    ]


OF_THE_MODEL = 0.995  # root gathering / best of ours must be at least this share of Equation 2
# Nodes, ranks of the first group, bytes of a rank, the algorithm that wins, and the least of: best of others / it
WINNERS = (
    ("10x4", 32, 64 << 10, "segment-map-nodes", 1.3),
    ("64x1", 50, 1 << 10, "segment-map-bruck", 1.1),
)


def allgather(m):
    every = settings(64, MOST)
    for setting in every:
        setting_on(m, "linear", setting)
    setting_on(m, "fast", every[3], at_most=1.1, with_root=False)
    for nodes, first, size, winner, at_least in WINNERS:
        winner_on(m, nodes, first, size, winner, at_least)


def sample(m, network, algorithms, counts, first):
    """Returns the seconds of a call by each algorithm, by name."""
    files = [(m.generator.file("allgather", name, "any", "--remote-nodes", "any"), WINDOW) for name in algorithms]
    counts = ",".join(map(str, counts))
    sampled = network.sample(m.collective, "allgatherv", counts, files, native=False, checked=False, first_group=first)
    return {name: one.ours[0] for name, one in zip(algorithms, sampled)}


def winner_on(m, nodes, first, size, winner, at_least):
    network = m.network("linear", nodes)
    case = f"allgather between groups, linear {nodes}, {first} + {network.ranks - first} ranks, {size} B"
    if m.wanted(case):
        others = (SEGMENTS, "subgroup-bruck", "leader")
        seconds = sample(m, network, (winner, *others), [size] * network.ranks, first)
        m.microseconds(case, seconds)
        best = min(seconds[name] for name in others)
        m.report.figure(f"{case} | best of the others / {winner}", best / seconds[winner], at_least=at_least)


def setting_on(m, kind, setting, at_most=1.06, with_root=True):
    case = f"allgather between groups, {kind}, {setting.first} + {64 - setting.first} ranks, setting {setting.name}"
    if not m.wanted(case):
        return
    network = m.network(kind, "64x1")
    seconds = sample(m, network, [*OURS, *([ROOT] if with_root else [])], setting.counts, setting.first)
    limit = setting.longest() * m.line(network)[1]
    best = min(seconds[name] for name in OURS)
    if with_root:
        model = setting.model()
        m.report.figure(f"{case} | {ROOT} / best", seconds[ROOT] / best, at_least=OF_THE_MODEL * model)
        at_most_of_model = 1.01 if setting.name in "1234" else None  # Equation 2 is for equal contributions
        m.report.figure(f"{case} | {ROOT} / Equation 2", seconds[ROOT] / limit / model, at_least=0.99, at_most=at_most_of_model)
    m.report.figure(f"{case} | best / limit", best / limit, at_most=at_most)
    for name in OURS:
        m.report.figure(f"{case} | {name} / limit", seconds[name] / limit)
