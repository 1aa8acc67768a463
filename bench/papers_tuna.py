"""Fan et al. 2024 (TuNA): the best radix by block length, and speed-ups over MPI_Alltoallv."""
from bench.papers_page import Machine, Section, table

RANKS_A_NODE = 32
# MPI_Alltoallv on 8,192 ranks with blocks of up to 16 bytes takes 51.8 ms on Polaris and 408.33 ms on Fugaku: section V-A. That
# time divided by the messages of a node is the gap of its port. Everything else is a prediction.
CALIBRATED = {"Polaris": 51.8e-3, "Fugaku": 408.33e-3}
ALL_OF_A_NODE = RANKS_A_NODE * (8192 - RANKS_A_NODE)
COPY = ["--copy", "10ns", "--beta-copy", "100ps"]


def machine_of(name, alpha, beta, network):
    gap = round(1e9 * CALIBRATED[name] / ALL_OF_A_NODE)
    flags = ["--alpha", alpha, "--beta", beta, "--gap", f"{gap}ns", "--alpha-inside", "500ns", "--gap-inside", "50ns", *COPY]
    source = f"The gap makes MPI_Alltoallv take the printed {1e3 * CALIBRATED[name]:g} ms on 8,192 ranks with S = 16. {network}"
    return Machine(name, flags, source)


POLARIS = machine_of("Polaris", "2us", "40ps", "A node sends 200 Gbit/s (Slingshot). Latency and copies are guesses.")
FUGAKU = machine_of("Fugaku", "1us", "25ps", "A node sends 40.8 GB/s (six Tofu-D links). Latency and copies are guesses.")


def trend(runs, ranks, radices, sizes):
    """Milliseconds by radix and S."""
    nodes = f"{ranks // RANKS_A_NODE}x{RANKS_A_NODE}"
    rows = []
    for size in sizes:
        call = ["--sizes", f"uniform:{size}"]
        found = [runs.seconds("alltoall", "tuna", nodes, call, POLARIS.flags, "--radix", radix) for radix in radices]
        best = radices[found.index(min(found))]
        rows.append([f"{size} B", *(f"{1e3 * one:.4g}" for one in found), str(best)])
    return table(["S", *(f"r = {radix}" for radix in radices), "best"], rows)


def direct_seconds(ranks, size, flags):
    """MPI_Alltoallv: the work of a node's port, which `spread-out` comes near. Blocks have S / 2 bytes on average."""
    values = dict(zip(flags[::2], flags[1::2]))
    gap, beta = (int(values[flag].rstrip("pns")) for flag in ("--gap", "--beta"))
    messages = RANKS_A_NODE * (ranks - RANKS_A_NODE)
    return messages * (gap * 1e-9 + size / 2 * beta * 1e-12)


def best(runs, algorithm, ranks, size, flags, radices):
    """The least time of these radices, and the radix. All blocks have S / 2 bytes: there are too many to follow each."""
    nodes = f"{ranks // RANKS_A_NODE}x{RANKS_A_NODE}"
    call = ["--bytes", size // 2, "--sizes", "equal"]
    return min((runs.seconds("alltoall", algorithm, nodes, call, flags, "--radix", radix), radix) for radix in radices)


def speed_up(runs, case):
    of, algorithm, ranks, size, printed, radices = case
    seconds, radix = best(runs, algorithm, ranks, size, of.flags, radices)
    ours = direct_seconds(ranks, size, of.flags) / seconds
    return [of.name, f"`{algorithm}`", f"{ranks:,}", f"{size:,} B", printed, f"{ours:.2f}", f"{1e3 * seconds:.4g} ms", str(radix)]


CASES = [
    (POLARIS, "tuna", 8192, 16, "29 (1.78 ms)", (2, 8)),
    (FUGAKU, "tuna", 8192, 16, "70.48 (5.79 ms)", (2, 8)),
    (POLARIS, "tuna", 8192, 1024, "5.62", (32, 128)),
    (FUGAKU, "tuna", 8192, 1024, "7.26", (32, 128)),
    (FUGAKU, "tuna-coalesced", 16384, 16, "42.08", (2,)),
    (FUGAKU, "tuna-coalesced", 16384, 8192, "2.20", (32,)),
]


def quick(runs):
    text = trend(runs, 512, (2, 8, 23, 128, 512), (16, 2048, 16384))
    return f"{POLARIS.text()}\n{TRENDS}\n{text}\n{TREND_DIFFERENCES}"


def long(runs):
    trends = trend(runs, 2048, (2, 8, 45, 256, 2048), (16, 2048, 16384))
    rows = [speed_up(runs, case) for case in CASES]
    ups = table(["machine", "algorithm", "ranks", "S", "printed", "ours", "ours takes", "radix"], rows)
    return f"Fig. 7 on 2,048 ranks of Polaris, as above.\n\n{trends}\n{FUGAKU.text()}\n{SPEED_UPS}\n{ups}\n{DIFFERENCES}"


TRENDS = """Fig. 7 on 512 ranks of Polaris, 32 a node: milliseconds of `tuna` by radix r. Blocks have 0 to S bytes, each length with the
same probability; lengths travel ahead of the blocks. The paper finds three trends: the best radix is about 2 for small S, near the
square root of the ranks for middle S, and near the number of ranks for large S.
"""
TREND_DIFFERENCES = """The three trends are those of the paper. The guessed costs of copies decide at which S one trend gives way to the next.
"""
SPEED_UPS = """Speed-ups over MPI_Alltoallv, Figs. 8 and 13. Each is the time of MPI_Alltoallv over that of the best radix tried. The time of
MPI_Alltoallv is that of a node's port for all messages of the node. Every block has S/2 bytes.
"""
DIFFERENCES = """Differences:

- The best radix for S = 16 is 8 here, not 2: each copy of a block has a cost, and radix 2 copies most. Radix 2 is close behind.
- For S = 16 ours gains more than the paper, since `tuna` itself takes less time. The simulation leaves out what each rank of the paper
  does before the rounds, an MPI_Allreduce of the greatest length and the rotation of its blocks.
- For S = 1,024 on Fugaku ours gains more, too. Here the gap that fits the printed time with S = 16 holds for all S. The paper's own
  speed-ups fall faster, so MPI_Alltoallv must be better than that with longer blocks. On Polaris ours gains less.
- Coalesced `tuna` sends more messages between nodes than flat `tuna` with a small radix. With such a gap it gains less here than in the
  paper for S = 16. For S = 8,192 it gains more, as above.
- Staggered `tuna`, the scattered algorithm and MPI_Alltoallv have 268 million messages on 16,384 ranks, too many to simulate.
"""
QUICK = Section("Fan et al. 2024 (TuNA): radices on 512 ranks", quick, quick=True)
LONG = Section("Fan et al. 2024 (TuNA): radices on 2,048 ranks, and speed-ups to 16,384", long)
