"""Measures what an unchanged program gains or loses while the preload library adapts, on the emulated cluster.

One program (bench/preloaded.c) calls the MPI library's own collectives and the preloaded ones in turn, 25 calls each.
Of long calls it makes only as many as take 20 seconds. On the first nodes, there are three more cases: beside busy
loops, against the best schedule for all calls, and with sizes that change every 50 calls.
"""
import contextlib
import runpy
import subprocess
import sys

from bench import choice, cluster, machine, paired, sampling

NEEDS_CALM = True
CALLS = 2000
SECONDS = 20
FIXED_CALLS = 300
BLOCK = 25  # calls in each half of a pair of bench/preloaded.c
MPI_NAMES = {"broadcast": "bcast", "reduce-scatter": "reduce_scatter_block"}  # where MPI's name is another one
BUSY, FIXED, CHANGING = ", beside busy loops", " or the best fixed choice", ", in turn"
LIMITS = {"": (1.02, 0.9), BUSY: (1.05, None), FIXED: (1.05, None), CHANGING: (1.02, None)}  # worst, median
BUSY_LOOPS = 8
SPECIAL = ((2048, BUSY), (2048, FIXED), ("8,2048,32768", CHANGING))  # sizes and kinds, on the first nodes only


def build():
    return cluster.build_preloaded("adapt")


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def choice_of(collective, name):
    """Returns the variables with which all calls of a collective follow a schedule."""
    return ["QUADRILLE=on", f"QUADRILLE_{MPI_NAMES.get(collective, collective).upper()}={name}"]


def schedules_of(collective):
    """Returns the names of the schedules that the preload library has for a collective."""
    return runpy.run_path("emitted/universal_schedules.bzl")["UNIVERSAL_SCHEDULES"][collective]


def run(start, call, calls, *variables):
    """Returns the number of calls, and preloaded over native times: of all calls, and of the last quarter."""
    (one,) = sampling.sample(start(variables) + [0, f"blocks={calls},{SECONDS}", call], 600)
    last = len(one.pairs) * 3 // 4
    ratios = [sum(one.ours[first:]) / sum(one.native[first:]) for first in (0, last)]
    return BLOCK * len(one.pairs), *ratios


def best_fixed(start, collective, call):
    """Finds the schedule with which all calls take least. Returns its ratio in another run, so that luck does not
    count, and its name. Returns (1.0, "native") if the ratio is above 1."""

    def ratio(name):
        return run(start, call, FIXED_CALLS, *choice_of(collective, name))[1]

    ratios = {name: ratio(name) for name in schedules_of(collective)}
    best = min(ratios, key=ratios.get)
    return min((ratio(best), best), (1.0, "native"))


def case(report, start, name, collective, size, what):
    """Measures a case and adds its figures. Returns the ratio of times over all calls."""
    base, of, call = 1.0, "native", f"{collective}={str(size).replace(',', '/')}"
    if what == FIXED:
        base, of = best_fixed(start, collective, call)
    with busy_loops(BUSY_LOOPS if what == BUSY else 0):
        calls, ratio, last = run(start, call, CALLS)
    ratio, last = ratio / base, last / base
    report.figure(f"{name} | adaptive / {of}, all calls", ratio, n=calls)
    report.figure(f"{name} | adaptive / {of}, the last quarter", last, n=calls // 4)
    print(f"{name}: {ratio:.3f} of {of}, at last {last:.3f}, {calls} calls", file=sys.stderr, flush=True)
    return ratio


def cases():
    for library in cluster.LIBRARIES:
        for nodes in choice.NODES:
            sizes = [(size, "") for size in choice.SIZES] + list(SPECIAL if nodes == choice.NODES[0] else ())
            yield from ((library, nodes, size, what, of) for size, what in sizes for of in choice.COLLECTIVES)


def measure(report, options, programs):
    ratios = {what: [] for what in LIMITS}
    with cluster.Cluster(5, cluster.RATE):
        for library, nodes, size, what, collective in cases():
            name = f"{collective} {nodes}, {size} B, {cluster.LIBRARIES[library]}{what}"
            if options.only not in name:
                continue
            try:
                start = cluster.starter(library, nodes, *programs[library])
                ratios[what].append(case(report, start, name, collective, size, what))
            except machine.Unusable as error:
                report.note(f"{name}: {error}")
    if not any(ratios.values()):
        raise machine.Unusable("adapt: no case was measured")
    for what, of in ratios.items():
        if of:
            most_worst, most_median = LIMITS[what]
            report.figure(f"adaptive / native{what}, the worst", max(of), at_most=most_worst, n=len(of))
            report.figure(f"adaptive / native{what}, the median", paired.median(of), at_most=most_median, n=len(of))
