"""The time of the choice of `--algorithm auto` with calibrated costs, over the best of all algorithms. It covers the collectives
other than all-to-alls, on the simulated network "linear". All ranks call at once, and simultaneous messages share a wire."""
from bench.cluster_groups import Candidates

WINDOW = 16  # the default, for which auto simulates
SIZES = (64, 4096, 65536)
# For each place: the ranks of the first group, and the nodes of both groups.
PLACES = {"16x1": (None, "16x1"), "4x4": (None, "4x4"), "12x1": (8, "8x1", "--remote-nodes", "4x1")}
COLLECTIVES = ("allgather", "broadcast", "gather", "scatter", "reduce", "allreduce", "reduce-scatter", "scan")
ALIKE = 1.1  # the report counts the choices that take this much longer


def average(collective, size, ranks, first):
    """The mean bytes of a block. In a reduce-scatter between groups, each rank has a block for each rank of the other group."""
    if first and collective == "reduce-scatter":
        return 2 * size * first * (ranks - first) // ranks
    return size


def chosen(m):
    candidates, found = Candidates(m, m.generator_program), []
    for place, (first, *nodes) in PLACES.items():
        network = m.network("linear", place)
        for collective in COLLECTIVES:
            for size in SIZES:
                case = f"{collective} auto, linear {place}{' between groups' if first else ''}, {size} B"
                if m.wanted(case) and not (first and collective == "scan"):
                    costs = network.calibrated(m.calibrate, average(collective, size, network.ranks, first))
                    auto = m.generator.file(collective, "auto", *nodes, *costs), WINDOW
                    swept = {name: (file, WINDOW) for name, (file, _) in candidates.files(collective, first).items()}
                    found.append(ratio(m, network, case, collective, size, auto, swept, first))
    if found and m.wanted("auto, linear"):
        m.report.figure("auto, linear | auto / best of the algorithms, the worst", max(found), n=len(found))
        above = sum(each > ALIKE for each in found)
        m.report.figure(f"auto, linear | of {len(found)}, how many above {ALIKE}", above, n=len(found))


def ratio(m, network, case, collective, size, auto, swept, first):
    schedules = [auto, *swept.values()]
    sampled = network.sample(
        m.collective, collective, size, schedules, native=False, checked=not first, first_group=first
    )
    ours, *others = [one.ours[0] for one in sampled]
    best = min(range(len(others)), key=others.__getitem__)
    label = f"{case} | auto ({sampled[0].algorithm}) / best of the algorithms ({list(swept)[best]})"
    m.report.figure(label, ours / others[best])
    return ours / others[best]
