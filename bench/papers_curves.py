"""Makes the tables of docs/papers.md, which explains them: curves of four papers, and some of them by SimGrid."""
import itertools
import tempfile

from bench import simulation
from bench.distributions import DISTRIBUTIONS, as_text
from bench.papers_page import Section, table
from bench.simulate import LINEAR
from bench.smpi_groups import ROOT, SEGMENTS, settings

MIB = 1 << 20


def ratio(one, other):
    return f"{one / other:.2f}"


# Kang et al. 2019, Figs. 4 to 6.
SIZES = (1 << 16, 1 << 19, 1 << 23)
PRINTED = {"1 and 5": 7.0, "2 and 7": 4.84, "3": 4.21, "4": 6.68, "6": 7.0, "8": 4.84}  # limits for many ranks


def call(setting):
    first, second = setting.counts[: setting.first], setting.counts[setting.first :]
    return ["--counts", f"{as_text(first)}/{as_text(second)}"]


def times(runs, setting, of, algorithms, each=1):
    """Returns the seconds of a setting by each algorithm, on nodes of `each` ranks."""
    first, second = (f"{size // each}x{each}" for size in (setting.first, len(setting.counts) - setting.first))
    return [runs.seconds("allgather", name, first, call(setting), of, "--remote-nodes", second) for name in algorithms]


def gains(runs, setting, ranks):
    """Returns a row: a setting's gain at each size. For the greatest size there are also the gain by Equation 2 and
    the printed limit, and an allgather in one group over ours, in time and in bytes."""
    found = []
    for size in SIZES:
        one = next(each for each in settings(ranks, size) if each.name == setting.name)
        root, ours = times(runs, one, "Cori", (ROOT, SEGMENTS))
        found.append(ratio(root, ours))
    counts = ["--counts", as_text(one.counts)]
    within = runs.seconds("allgather", "blocked-ring", f"{ranks}x1", counts, "Cori", "--block-size", "65536")
    model, printed = f"{one.model():.2f}", f"{PRINTED[setting.name]:.2f}"
    return [setting.name, *found, model, printed, ratio(within, ours), ratio(sum(one.counts), one.longest())]


ALLGATHERS = {"Algorithm 1": "segment-map-paper", "EuroMPI": "two-stage", "ours": SEGMENTS}


def figure_4(runs, ranks, sizes, of, each=1):
    """Makes a table of the gains of three algorithms in settings 1 to 4. `sizes`: the most bytes of a node."""
    rows = []
    for number in range(4):
        rows.append([number + 1])
        for size in sizes:
            root, *others = times(runs, settings(ranks, size // each)[number], of, (ROOT, *ALLGATHERS.values()), each)
            rows[-1] += [ratio(root, one) for one in others]
    return table(["setting", *(f"{size >> 10} KiB: {name}" for size in sizes for name in ALLGATHERS)], rows)


def kang(ranks):
    def tables(runs):
        head = ["setting", "64 KiB", "512 KiB", "8 MiB", "Eq. 2", "printed limit", "one group", "its bytes"]
        rows = [gains(runs, setting, ranks) for setting in settings(ranks, SIZES[0])]
        return [figure_4(runs, ranks, (SIZES[0], SIZES[2]), "Cori"), table(head, rows)]

    return tables


def kang_full(runs):
    return [figure_4(runs, 2048, (SIZES[0], SIZES[2]), "full Cori", each=32)]


# Silva and Silva 1999, on 8 workstations: collectives between groups, over those of one group.
def silva(runs):
    def time(collective, algorithm, size, nodes, *others):
        return 1e3 * runs.seconds(collective, algorithm, nodes, ["--bytes", size], "eight workstations", *others)

    halves, rows = ("4x1", "--remote-nodes", "4x1"), []
    one_group = [("reduce", "binomial", 2 * MIB, "8x1"), ("scatter", "linear", MIB // 4, "8x1")]
    in_mpi_2 = [("reduce", "leader", 2 * MIB, "1", "--remote-nodes", "4x1"), ("scatter", "linear", MIB // 2, "4x1")]
    for name, printed, between, within in (
        ("MPI_Reduce", "about 1", [("reduce", "leader", 2 * MIB, "1", "--remote-nodes", "7x1")], one_group[:1]),
        ("MPI_Reduce_scatter", "1.26", [("reduce-scatter", "leader", MIB // 2, *halves)], one_group),
        ("the same, as in MPI-2", "-", in_mpi_2, one_group),
        ("MPI_Allgather", "well above 1", [("allgather", "leader", MIB // 4, *halves)], [("allgather", "linear-ring", MIB // 4, "8x1")]),
    ):
        one, other = (sum(time(*part) for part in parts) for parts in (within, between))
        rows.append([name, f"{other:.4g}", f"{one:.4g}", ratio(one, other), printed])
    return [table(["collective", "between groups", "within one", "ratio", "printed"], rows)]


# Träff et al. 2008.
def ring_times(runs, nodes, counts, of, block, blocked="blocked-ring"):
    """Returns the seconds of the linear ring and of a blocked one."""
    words = ["--counts", as_text(counts)], of
    linear = runs.seconds("allgather", "linear-ring", nodes, *words)
    return linear, runs.seconds("allgather", blocked, nodes, *words, "--block-size", block)


def rings(runs, nodes, ranks, totals, blocked="blocked-ring"):
    regular, rows = {}, []
    for name, divide in DISTRIBUTIONS.items():
        rows.append([name])
        for total in totals:
            counts = divide(total, ranks)
            linear, ours = ring_times(runs, nodes, counts, "NEC SX-8", MIB, blocked)
            regular.setdefault(total, ours)
            blocks, most = sum(max(1, -(-count // MIB)) for count in counts), max(counts)
            analysis = ratio((ranks - 1) * most, (blocks - 1) * min(MIB, most))
            times = f"{1e3 * linear:.3g}", f"{1e3 * ours:.3g}"
            rows[-1] += [*times, ratio(linear, ours), analysis, ratio(ours, regular[total])]
    columns = ("blocked", "gain", "analysis", "over regular")
    head = [word for total in totals for word in (f"{total >> 20} MiB: linear ring", *columns)]
    return table(["distribution", *head], rows)


def traff(runs):
    return [rings(runs, "30x1", 30, (4 * MIB, 64 * MIB))]


def traff_long(runs):
    rows = []
    for name in ("regular", "spike"):
        counts = DISTRIBUTIONS[name](64 * MIB, 4096)
        linear, blocked = ring_times(runs, "4096x1", counts, "IBM Blue Gene/P", 1 << 16)
        rows.append([name, f"{1e3 * linear:.4g}", f"{1e3 * blocked:.4g}", ratio(linear, blocked)])
    many = table(["distribution", "linear ring", "blocked ring", "gain"], rows)
    return [rings(runs, "30x8", 240, (64 * MIB,), "blocked-ring-nodes"), many]


LENGTHS = (1 << 12, 1 << 15, 1 << 18, MIB)  # of blocks


def traff_blocks(runs):
    """Makes the tables of block sizes on 16x2 ranks, and of the spike on more."""
    rows, many = [], []
    for name, divide in DISTRIBUTIONS.items():
        words = "16x2", ["--counts", as_text(divide(8 * MIB, 32))], "a Linux cluster"
        found = [runs.seconds("allgather", "blocked-ring-nodes", *words, "--block-size", size) for size in LENGTHS]
        model = runs.seconds("allgather", "blocked-ring-nodes", *words, "--block-size", "model", "--alpha", "4us", "--beta", "1ns")
        rows.append([name, *(f"{1e3 * one:.3g}" for one in (runs.seconds("allgather", "linear-ring", *words), *found, model))])
    for nodes, ranks, block, of in (("12x8", 96, 1 << 15, "a Linux cluster"), ("5784x1", 5784, MIB, "SiCortex 5832")):
        words = nodes, ["--counts", as_text(DISTRIBUTIONS["spike"](64 * MIB, ranks))], of
        linear, blocked = (runs.seconds("allgather", *one) for one in (("linear-ring", *words), ("blocked-ring", *words, "--block-size", block)))
        many.append([of, f"{ranks:,}", f"{1e3 * linear:.4g}", f"{1e3 * blocked:.4g}", ratio(linear, blocked)])
    head = ["distribution", "linear ring", *(f"B = {size >> 10} KiB" for size in LENGTHS), "B by the model"]
    return [table(head, rows), table(["machine", "processes", "linear ring", "blocked ring", "gain"], many)]


# Fan et al. 2024 (TuNA). On both machines, the gap of a node's port comes from the printed time of MPI_Alltoallv on
# 8,192 ranks with blocks of up to 16 bytes (section V-A), divided by the messages of a node. All else is predicted.
RANKS_A_NODE = 32
SPEED_UPS = [  # machine, algorithm, ranks, S, printed, radices
    ("Polaris", "tuna", 8192, 16, "29 (1.78 ms)", (2, 8)),
    ("Fugaku", "tuna", 8192, 16, "70.48 (5.79 ms)", (2, 8)),
    ("Polaris", "tuna", 8192, 1024, "5.62", (32, 128)),
    ("Fugaku", "tuna", 8192, 1024, "7.26", (32, 128)),
    ("Fugaku", "tuna-coalesced", 16384, 16, "42.08", (2,)),
    ("Fugaku", "tuna-coalesced", 16384, 8192, "2.20", (32,)),
]


def by_radix(runs, algorithm, ranks, radices, call, of):
    """Returns a list of the seconds with each radix, and the radix."""
    nodes = f"{ranks // RANKS_A_NODE}x{RANKS_A_NODE}"
    return [(runs.seconds("alltoall", algorithm, nodes, call, of, "--radix", radix), radix) for radix in radices]


def trend(ranks, radices):
    def tables(runs):
        """Makes the table of milliseconds by radix and S, and of MPI_Alltoallv."""
        rows = []
        for of, size in itertools.product(("Polaris", "Fugaku"), (16, 2048, 16384)):
            found = by_radix(runs, "tuna", ranks, radices, ["--sizes", f"uniform:{size}"], of)
            seconds = *(seconds for seconds, _ in found), direct_seconds(ranks, size, runs.machines[of])
            rows.append([of, f"{size} B", *(f"{1e3 * each:.4g}" for each in seconds), min(found)[1]])
        return [table(["machine", "S", *(f"r = {radix}" for radix in radices), "MPI_Alltoallv", "best r"], rows)]

    return tables


def direct_seconds(ranks, size, flags):
    """Returns the seconds of MPI_Alltoallv: the work of a node's port. Blocks have `size` / 2 bytes on average."""
    gap, beta = (int(flags[flags.index(flag) + 1].rstrip("pns")) for flag in ("--gap", "--beta"))
    return RANKS_A_NODE * (ranks - RANKS_A_NODE) * (gap * 1e-9 + size / 2 * beta * 1e-12)


def tuna_long(runs):
    rows = []
    for of, algorithm, ranks, size, printed, radices in SPEED_UPS:
        # All blocks get S / 2 bytes, since there are too many to simulate each with its own size.
        seconds, radix = min(by_radix(runs, algorithm, ranks, radices, ["--bytes", size // 2, "--sizes", "equal"], of))
        ours = ratio(direct_seconds(ranks, size, runs.machines[of]), seconds)
        rows.append([of, f"`{algorithm}`", f"{ranks:,}", f"{size:,} B", printed, ours, f"{1e3 * seconds:.4g} ms", radix])
    head = ["machine", "algorithm", "ranks", "S", "printed", "ours", "ours takes", "radix"]
    return [*trend(2048, (2, 8, 45, 256, 2048))(runs), table(head, rows)]


# On 512 ranks of Fugaku, where many messages to a node slow each other down.
BATCHES = (1, 2, 8, 32, 128, 480)  # 480: all messages of a rank at once


def fft_sizes(runs, name, block, ranks=512):
    """Writes the bytes of each block to a file. block(i, j): those from rank i to rank j. Returns the file's name."""
    path = f"{runs.folder}/{name}"
    with open(path, "w") as file:
        file.writelines(" ".join(str(block(i, j)) for j in range(ranks)) + "\n" for i in range(ranks))
    return path


def fan_others(runs):
    def ms(algorithm, sizes, *options):
        call = [*(["--bytes", sizes // 2, "--sizes", "equal"] if isinstance(sizes, int) else ["--sizes", sizes]), "--window", 65536]
        return 1e3 * runs.seconds("alltoall", algorithm, "16x32", call, "congested Fugaku", *options)

    def best(algorithm, sizes):
        return min(ms(algorithm, sizes, "--radix", radix, "--block-count", 8) for radix in (2, 8, 32))

    counts, standard, uneven = [], [], []
    for size in (16, 512, 16384):
        found = [ms("tuna-staggered", size, "--radix", 2, "--block-count", count) for count in BATCHES]
        coalesced = best("tuna-coalesced", size)
        counts.append([f"{size} B", *(f"{one:.4g}" for one in found), BATCHES[found.index(min(found))], f"{coalesced:.4g}", ratio(min(found), coalesced)])
        found = [ms(name, size) for name in ("linear", "pairwise", "xor", "spread-out")]
        batch = min((ms("scattered", size, "--block-count", count), count) for count in (1, 2, 8, 32, 128))
        standard.append([f"{size} B", *(f"{one:.4g}" for one in (*found, batch[0])), batch[1]])
    ranks, workers, filled = 512, 320, 400
    for name, sizes, printed in (
        ("FFT, N1", fft_sizes(runs, "n1", lambda i, j: 64 if i < workers and j < filled else 0), "9.42 coalesced"),
        ("FFT, N2", fft_sizes(runs, "n2", lambda i, j: 512 if j < ranks - 1 else 128), "4.01 coalesced"),
        ("normal", "normal:1000:240", "3.21, 3.63, 1.57"),
        ("power law", "power:0.95:1024", "-"),
    ):
        direct = ms("spread-out", sizes)
        flat = min(ms("tuna", sizes, "--radix", radix) for radix in (2, 8, 23, 128))
        uneven.append([name, *(ratio(direct, one) for one in (flat, best("tuna-coalesced", sizes), best("tuna-staggered", sizes))), printed])
    return [
        table(["S", *(f"B = {count}" for count in BATCHES), "best B", "coalesced", "staggered / coalesced"], counts),
        table(["S", "linear", "pairwise", "xor", "spread-out", "scattered", "its B"], standard),
        table(["distribution", "`tuna`", "`tuna-coalesced`", "`tuna-staggered`", "printed"], uneven),
    ]


# Sanders and Träff 2002.
NODES = ["regular, 6x4", "organ pipe, 1,2,4,4,2,1", "alternating, 4,1,4,1,4,1", "random, 3,1,4,2,4,2", "32 full nodes, 32x4"]
WINDOWS = (1, 4, 65536)  # steps in flight at a rank; the last number is no limit


def sanders(runs):
    rows = []
    for name in NODES:
        rows.append([name])
        for window in WINDOWS:
            words = name.split(", ")[1], ["--bytes", 65536, "--window", window], "a Giganet cluster of 6 nodes with 4 processors"
            trivial, *ours = (
                runs.seconds("alltoall", of, *words) for of in ("linear", "hierarchical-factor", "hierarchical-circle")
            )
            rows[-1] += [ratio(trivial, one) for one in ours]
    columns = [f"{window}: {one}" for window in ("1 in flight", "4", "all") for one in ("theirs", "circle")]
    return [table(["nodes", *columns], rows)]


# Some of the curves by SimGrid, where the runtime itself runs over SMPI on the network `linear`.
WINDOW = 16


def simgrid(runs):
    rows = []

    def add(name, nodes, collective, counts, schedules, words, first=None):
        """Adds a row: the time of the first schedule over that of the second, by SimGrid and by the simulator."""
        network = simulation.Network("linear", nodes, tempfile.mkdtemp(dir=runs.folder))
        files = [runs.file(collective.removesuffix("v"), *schedule) for schedule in schedules]
        sampled = network.sample(
            runs.collective, collective, counts, [(file, WINDOW) for file in files], native=False, checked=False, first_group=first
        )
        ours = [runs.simulate(file, [*words, "--window", WINDOW], LINEAR)["time_ps"] for file in files]
        names = " / ".join(f"`{schedule[0]}`" for schedule in schedules)
        rows.append([f"{name}: {names}", f"{sampled[0].ours[0] / sampled[1].ours[0]:.3f}", f"{ours[0] / ours[1]:.3f}"])

    for setting in settings(64, 1 << 19):
        nodes = (f"{setting.first}x1", "--remote-nodes", f"{64 - setting.first}x1")
        schedules, counts = [(of, *nodes) for of in (ROOT, SEGMENTS)], ",".join(map(str, setting.counts))
        add(f"Kang et al., setting {setting.name}", "64x1", "allgatherv", counts, schedules, call(setting), setting.first)
    schedules = [("linear-ring", "30x1"), ("blocked-ring", "30x1", "--block-size", 1 << 16)]
    for name, divide in DISTRIBUTIONS.items():
        counts = as_text(divide(4 * MIB, 30))
        add(f"Träff et al., {name}", "30x1", "allgatherv", counts, schedules, ["--counts", counts])
    schedules = [("spread-out", "8x8"), ("tuna", "8x8", "--radix", 2)]
    for size in (16, 16384):
        sizes = f"uniform:{size}"
        add(f"Fan et al., S = {size}", "8x8", "alltoallv", sizes, schedules, ["--sizes", sizes])
    return [table(["ratio of times", "SimGrid", "simulator"], rows)]


SECTIONS = [
    Section("Kang et al. 2019: 64 nodes", kang(64), quick=True),
    Section("Kang et al. 2019: 256 nodes", kang(256)),
    Section("Kang et al. 2019: 2,048 processes", kang_full),
    Section("Träff et al. 2008: six distributions, 30 nodes", traff, quick=True),
    Section("Träff et al. 2008: nodes of several processes, and 4,096 processes", traff_long),
    Section("Träff et al. 2008: block sizes, 96 processes and 5,784 processes", traff_blocks),
    Section("Fan et al. 2024 (TuNA): radices on 512 ranks", trend(512, (2, 8, 23, 128, 512)), quick=True),
    Section("Fan et al. 2024 (TuNA): radices on 2,048 ranks, and speed-ups to 16,384", tuna_long),
    Section("Fan et al. 2024 (TuNA): block_count, standard algorithms and other distributions", fan_others),
    Section("Sanders and Träff 2002: exclusive ports", sanders, quick=True),
    Section("Silva and Silva 1999: eight workstations", silva, quick=True),
]
SIMGRID = Section("The same from SimGrid", simgrid)
