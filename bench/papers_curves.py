"""Makes the tables of docs/papers.md, which explains them: curves of four papers, and some of them by SimGrid."""
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


def gains(runs, setting, ranks):
    """Returns a row: a setting's gain at each size. For the greatest size there are also the gain by Equation 2 and
    the printed limit, and an allgather in one group over ours, in time and in bytes."""
    remote, found = ("--remote-nodes", f"{ranks - setting.first}x1"), []
    for size in SIZES:
        one = next(each for each in settings(ranks, size) if each.name == setting.name)
        root, ours = (runs.seconds("allgather", of, f"{setting.first}x1", call(one), "Cori", *remote) for of in (ROOT, SEGMENTS))
        found.append(ratio(root, ours))
    counts = ["--counts", as_text(one.counts)]
    within = runs.seconds("allgather", "blocked-ring", f"{ranks}x1", counts, "Cori", "--block-size", "65536")
    model, printed = f"{one.model():.2f}", f"{PRINTED[setting.name]:.2f}"
    return [setting.name, *found, model, printed, ratio(within, ours), ratio(sum(one.counts), one.longest())]


def kang(ranks):
    head = ["setting", "64 KiB", "512 KiB", "8 MiB", "Eq. 2", "printed limit", "one group", "its bytes"]
    return lambda runs: [table(head, [gains(runs, setting, ranks) for setting in settings(ranks, SIZES[0])])]


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
        """Makes the table of milliseconds by radix and S."""
        rows = []
        for size in (16, 2048, 16384):
            found = by_radix(runs, "tuna", ranks, radices, ["--sizes", f"uniform:{size}"], "Polaris")
            rows.append([f"{size} B", *(f"{1e3 * seconds:.4g}" for seconds, _ in found), min(found)[1]])
        return [table(["S", *(f"r = {radix}" for radix in radices), "best"], rows)]

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
    Section("Träff et al. 2008: six distributions, 30 nodes", traff, quick=True),
    Section("Träff et al. 2008: nodes of several processes, and 4,096 processes", traff_long),
    Section("Fan et al. 2024 (TuNA): radices on 512 ranks", trend(512, (2, 8, 23, 128, 512)), quick=True),
    Section("Fan et al. 2024 (TuNA): radices on 2,048 ranks, and speed-ups to 16,384", tuna_long),
    Section("Sanders and Träff 2002: exclusive ports", sanders, quick=True),
]
SIMGRID = Section("The same from SimGrid", simgrid)
