"""Träff et al. 2008: irregular allgathers by the blocked ring and by the linear ring."""
from bench.distributions import DISTRIBUTIONS, as_text
from bench.papers_page import Machine, Section, table

SX8 = Machine(
    "NEC SX-8",
    ["--alpha", "5us", "--beta", "125ps", "--gap", "50ns", "--alpha-inside", "500ns", "--beta-inside", "30ps"]
    + ["--gap-inside", "50ns", "--sharing", "fair"],
    "Its crossbar takes 8 GB/s each way from a node. The latency is a guess; it hardly matters for long messages.",
)
BLUE_GENE = Machine(
    "IBM Blue Gene/P",
    ["--alpha", "3us", "--beta", "2667ps", "--gap", "50ns"],
    "A link of its torus takes 425 MB/s each way, about 375 MB/s of it data. The latency is a guess.",
)
MIB = 1 << 20


def times(runs, nodes, counts, flags, block, algorithms=("linear-ring", "blocked-ring")):
    call = ["--counts", as_text(counts)]
    options = {name: [] if name == "linear-ring" else ["--block-size", block] for name in algorithms}
    return [runs.seconds("allgather", name, nodes, call, flags, *options[name]) for name in algorithms]


def rows_of(runs, nodes, ranks, totals, flags, block, algorithms=("linear-ring", "blocked-ring")):
    regular = {}
    for name, divide in DISTRIBUTIONS.items():
        row = [name]
        for total in totals:
            counts = divide(total, ranks)
            linear, blocked = times(runs, nodes, counts, flags, block, algorithms)
            regular.setdefault(total, blocked)
            row += [f"{1e3 * linear:.3g}", f"{1e3 * blocked:.3g}", f"{linear / blocked:.2f}"]
            blocks = sum(max(1, -(-count // block)) for count in counts)
            row.append(f"{(ranks - 1) * max(counts) / ((blocks - 1) * min(block, max(counts))):.2f}")
            row.append(f"{blocked / regular[total]:.2f}")
        yield row


def head(totals, nodes=""):
    parts = [f"{total >> 20} MiB{nodes}: linear ring" for total in totals]
    return ["distribution", *(word for part in parts for word in (part, "blocked", "gain", "analysis", "over regular"))]


def quick(runs):
    totals = (4 * MIB, 64 * MIB)
    table_text = table(head(totals), list(rows_of(runs, "30x1", 30, totals, SX8.flags, MIB)))
    return f"{SX8.text()}\n{TEXT}\n{table_text}\n{DIFFERENCES}"


def long(runs):
    totals = (64 * MIB,)
    nodes = list(rows_of(runs, "30x8", 240, totals, SX8.flags, MIB, ("linear-ring", "blocked-ring-nodes")))
    many = []
    for name in ("regular", "spike"):
        counts = DISTRIBUTIONS[name](64 * MIB, 4096)
        linear, blocked = times(runs, "4096x1", counts, BLUE_GENE.flags, 1 << 16)
        many.append([name, f"{1e3 * linear:.4g}", f"{1e3 * blocked:.4g}", f"{linear / blocked:.2f}"])
    return (
        f"{SX8.text()}\n{LONG_TEXT}\n{table(head(totals), nodes)}\n{BLUE_GENE.text()}\n{MANY_TEXT}\n"
        f"{table(['distribution', 'linear ring', 'blocked ring', 'gain'], many)}\n{LONG_DIFFERENCES}"
    )


TEXT = """30 nodes of one process, blocks of 1 MiB: milliseconds by total. *Gain* is the linear ring's time over the blocked ring's.
*Analysis* is the gain by the paper: p - 1 rounds of the greatest contribution, over as many rounds of a block as there are blocks,
less one. *Over regular* is the blocked ring's time over its time for the regular distribution.
"""
DIFFERENCES = """Differences:

- The paper's text has no times, only plots. It says that the six distributions have comparable running times. That holds for
  64 MiB, within the column *over regular*. With 4 MiB most ranks have less than one block, so blocks of 1 MiB are too long to fill
  the ring.
- *Analysis* counts every block as full, and assumes that no rank waits. If blocks are shorter, as in geometric and regular, the two
  differ.
"""
LONG_TEXT = "30 nodes of 8 processes, with the ring of nodes (`blocked-ring-nodes`) in blocks of 1 MiB: milliseconds.\n"
MANY_TEXT = "4,096 processes, blocks of 64 KiB, 64 MiB in all: milliseconds.\n"
LONG_DIFFERENCES = """Differences:

- The paper shows these cases only in plots. Its finding is the same: the blocked ring gains if contributions differ, and equals the
  linear ring if they do not.
- With 8 processes a node, *analysis* counts equal rounds. But seven of eight steps of the linear ring stay inside a node, where
  they take less time. So the gain is smaller.
"""
QUICK = Section("Träff et al. 2008: six distributions, 30 nodes", quick, quick=True)
LONG = Section("Träff et al. 2008: nodes of several processes, and 4,096 processes", long)
