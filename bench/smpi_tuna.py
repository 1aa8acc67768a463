"""TuNA on simulated networks: compared with windowed linear on many ranks, and by radix."""
WINDOW = 16
RADICES = (2, 4, 8, 16)
SIZES = {"uniform:16": 4, "uniform:2048": 1.8}  # of blocks, and windowed linear / coalesced, at least


def seconds(network, m, nodes, sizes, schedules, collective="alltoallv"):
    """The time of one call by each schedule: an algorithm with its options."""
    files = [(m.generator.file("alltoall", name, nodes, *map(str, options)), WINDOW) for name, *options in schedules]
    sampled = network.sample(m.collective, collective, sizes, files, native=False)
    return [one.ours[0] for one in sampled]


def coalesced(m):
    """Compares on 256 ranks, 16 per node."""
    nodes = "16x16"
    for kind in ("flat", "fat-tree", "dragonfly"):
        for sizes, at_least in SIZES.items():
            case = f"alltoallv {sizes}, {kind} {nodes}"
            if not m.wanted(case):
                continue
            candidates = [("tuna-coalesced", "--radix", radix) for radix in RADICES]
            linear, *found = seconds(m.network(kind, nodes), m, nodes, sizes, [("linear",), *candidates])
            m.microseconds(f"{case} | linear", linear)
            for radix, each in zip(RADICES, found):
                m.microseconds(f"{case} | tuna-coalesced, radix {radix}", each)
            limit = at_least if kind == "flat" else None
            m.report.figure(f"{case} | linear / tuna-coalesced", linear / min(found), at_least=limit)


def bundled(m):
    """Compares an all-to-all of 8 bytes on 256 ranks, 16 per node, with the best of the other algorithms."""
    nodes = "16x16"
    others = [("linear",), ("spread-out",), ("scattered",), ("pairwise",), ("xor",), ("hierarchical-factor",)]
    others += [("tuna", "--radix", radix) for radix in (2, 4, 8, 16, 32)]
    others += [(name, "--radix", radix) for name in ("tuna-coalesced", "tuna-staggered") for radix in RADICES]
    others += [("hierarchical-overlapped", "--early", early) for early in (1, 4, 15)]
    ours = [("tuna-bundled", "--radix", radix) for radix in RADICES]
    for kind, at_least in (("busy", None), ("fast-busy", 1.3)):
        case = f"alltoall, 8 B, {kind} {nodes}"
        if not m.wanted(case):
            continue
        times = seconds(m.network(kind, nodes), m, nodes, 8, others + ours, "alltoall")
        for schedule, found in zip(others + ours, times):
            m.microseconds(f"{case} | {' '.join(map(str, schedule))}", found)
        ratio = min(times[: len(others)]) / min(times[len(others) :])
        m.report.figure(f"{case} | best of the others / tuna-bundled", ratio, at_least=at_least)


def radix(m):
    """Small blocks need few messages, and large blocks need short paths. Medium ones need a radix between."""
    nodes = "128x1"
    radices = [2**power for power in range(1, 8)]
    for sizes in ("uniform:16", "uniform:1024", "uniform:16384"):
        case = f"tuna {sizes}, busy {nodes}"
        if m.wanted(case):
            schedules = [("tuna", "--radix", each) for each in radices]
            for each, found in zip(radices, seconds(m.network("busy", nodes), m, nodes, sizes, schedules)):
                m.microseconds(f"{case} | radix {each}", found)
