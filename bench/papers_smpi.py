"""The same figures from SimGrid, where they are small enough: the runtime itself, over SMPI on the network `linear`."""
import tempfile

from bench import simulation
from bench.distributions import DISTRIBUTIONS, as_text
from bench.papers_page import Section, table
from bench.papers_kang import OURS, ROOT, call
from bench.simulate import LINEAR
from bench.smpi_groups import settings

WINDOW = 16
SIZE = 1 << 19  # of the greatest contribution of a setting
TOTAL, BLOCK = 4 << 20, 1 << 16


def ratios(runs, network, collective, counts, files, words, first=None):
    """The time of the first schedule over that of the second one, by SimGrid and by the simulator."""
    sampled = network.sample(
        runs.collective, collective, counts, [(file, WINDOW) for file in files], native=False, checked=False, first_group=first
    )
    ours = [runs.simulate(file, [*words, "--window", WINDOW], LINEAR)["time_ps"] for file in files]
    return sampled[0].ours[0] / sampled[1].ours[0], ours[0] / ours[1]


def long(runs):
    rows = []
    network = simulation.Network("linear", "64x1", tempfile.mkdtemp(dir=runs.folder))
    for setting in settings(64, SIZE):
        nodes = (f"{setting.first}x1", "--remote-nodes", f"{64 - setting.first}x1")
        files = [runs.file("allgather", name, *nodes) for name in (ROOT, OURS)]
        counts = ",".join(map(str, setting.counts))
        found = ratios(runs, network, "allgatherv", counts, files, call(setting), setting.first)
        rows.append([f"Kang et al., setting {setting.name}: `{ROOT}` / `{OURS}`", *(f"{one:.3f}" for one in found)])
    network = simulation.Network("linear", "30x1", tempfile.mkdtemp(dir=runs.folder))
    files = [runs.file("allgather", "linear-ring", "30x1"), runs.file("allgather", "blocked-ring", "30x1", "--block-size", BLOCK)]
    for name, divide in DISTRIBUTIONS.items():
        counts = as_text(divide(TOTAL, 30))
        found = ratios(runs, network, "allgatherv", counts, files, ["--counts", counts])
        rows.append([f"Träff et al., {name}: `linear-ring` / `blocked-ring`", *(f"{one:.3f}" for one in found)])
    network = simulation.Network("linear", "8x8", tempfile.mkdtemp(dir=runs.folder))
    for size in (16, 16384):
        files = [runs.file("alltoall", "spread-out", "8x8"), runs.file("alltoall", "tuna", "8x8", "--radix", 2)]
        found = ratios(runs, network, "alltoallv", f"uniform:{size}", files, ["--sizes", f"uniform:{size}"])
        rows.append([f"Fan et al., S = {size}: `spread-out` / `tuna`", *(f"{one:.3f}" for one in found)])
    return f"{TEXT}\n{table(['ratio of times', 'SimGrid', 'simulator'], rows)}"


TEXT = """These cases are small enough for SimGrid. There the runtime itself sends the messages, on a network where every message takes 2 us
and 800 ps a byte. Kang et al. have 64 nodes, and 512 KiB in the greatest contribution. Träff et al. have 30 nodes, 4 MiB and
blocks of 64 KiB. Fan et al. have 8 nodes of 8 ranks. With the same network, the simulator gives the same ratios of times within 3 %.
"""
LONG = Section("The same from SimGrid", long)
