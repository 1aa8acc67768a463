"""Allgathers between two groups on simulated networks, in the settings of Kang et al. 2019, section 5: 64 nodes of one
rank, with at most 1 MiB per rank. They are compared with root gathering, which MPI libraries use, and with the
limit: a rank receives all M bytes of the other group.
"""
from dataclasses import dataclass

WINDOW = 16
MOST = 1 << 20
SEGMENTS, ROOT = "segment-map-v", "root-gathering"
OURS = (SEGMENTS, "segment-map-bruck", "segment-map-blocks", "segment-map-paper", "two-stage")


@dataclass
class Setting:
    """Two groups: the ranks of the first, and the contribution of each rank."""

    name: str
    first: int
    counts: list

    def totals(self):
        return sum(self.counts[: self.first]), sum(self.counts[self.first :])

    def longest(self):
        return max(self.totals())

    def model(self):
        """The time of root gathering by Equation 2, over the limit. The paper leaves out what grows slower than the groups: a root
        has its own contribution, and a scatter and a ring on n ranks each carry (n - 1)/n of the bytes. So 64 ranks stay
        below the paper's limits of 7.0, 4.84, 4.21 and 6.68."""
        ranks = (self.first, len(self.counts) - self.first)
        totals = self.totals()
        gathered = max(total - counts[0] for total, counts in zip(totals, (self.counts, self.counts[self.first :])))
        sent_on = sum(total * (1 + 2 * (n - 1) / n) for total, n in zip(totals, reversed(ranks)))
        return (gathered + sent_on) / self.longest()


def settings(ranks, most):
    """The eight settings for so many ranks and bytes, of which two pairs agree. Groups are equal, or as 25 to 7."""

    def equal(first, of_first, of_second):
        return [of_first] * first + [of_second] * (ranks - first)

    def arithmetic(first):
        """Contributions that grow by rank, with the same total as equal ones."""
        return [2 * most * (rank + 1) // (size + 1) for size in (first, ranks - first) for rank in range(size)]

    half, more = ranks // 2, ranks * 25 // 32
    return [
        Setting("1 and 5", half, equal(half, most, most)),
        Setting("2 and 7", more, equal(more, most, most)),
        Setting("3", more, equal(more, most, most // 4)),
        Setting("4", more, equal(more, most // 4, most)),
        Setting("6", half, arithmetic(half)),
        Setting("8", more, arithmetic(more)),
    ]


OF_THE_MODEL = 0.995  # root gathering takes that much of Equation 2 at least, over the best of ours
# Nodes, ranks of the first group, bytes of a rank, the algorithm that wins there, and the others' best time over its time.
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
    """The seconds of a call by each algorithm."""
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
