"""What a program that does not know Quadrille gains or loses while the preload library adapts, on the emulated cluster.

One process (bench/adaptive.c) makes blocks of calls of the library's own collectives and of the preloaded ones in turn. Long calls
are fewer: as many as take 20 seconds. On the first nodes, the same is measured beside busy loops, against the best schedule for all calls,
and with sizes that change every 50 calls.
"""
import contextlib
import runpy
import subprocess
import sys

from bench import choice, cluster, machine, paired

NEEDS_CALM = True
CALLS = 2000
SECONDS = 20
FIXED_CALLS = 300
MPI_NAMES = {"broadcast": "bcast", "reduce-scatter": "reduce_scatter_block"}  # where the collective has another
BUSY, FIXED, CHANGING = ", beside busy loops", " or the best fixed choice", ", in turn"
LIMITS = {"": (1.02, 0.9), BUSY: (1.05, None), FIXED: (1.05, None), CHANGING: (1.02, None)}  # the worst and the median
BUSY_LOOPS = 8
BUSY_SIZE, CHANGING_SIZES = 2048, "8,2048,32768"


def build():
    cluster.want_root("adapt")
    return machine.build(
        *(f"//bench:adaptive_{library}" for library in cluster.LIBRARIES),
        *(f"//preload:libquadrille_preload_{library}.so" for library in cluster.LIBRARIES),
    )


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(library, programs, nodes, call, calls, *variables):
    """Returns the number of calls and the ratios of times, preloaded to native: of all calls, and of the last quarter."""
    program, preload = programs
    words = [*cluster.preloaded(library, choice.NODES[nodes], preload, *variables), program, calls, SECONDS, call]
    lines, errors = machine.lines_until(words, "end", 600)
    found = [line.split() for line in lines if line.startswith("adaptive ")]
    if not found:
        raise machine.Unusable(machine.last_words(errors))
    native, ours, last_native, last_ours = map(float, found[0][4:])
    return int(found[0][3]), ours / native, last_ours / last_native


def best_fixed(library, programs, nodes, collective, call):
    """The schedule that is the fastest if all calls follow it, and its ratio in another run, so that luck does not count."""
    variable = f"QUADRILLE_{MPI_NAMES.get(collective, collective).upper()}"
    schedules = runpy.run_path("emitted/universal_schedules.bzl")["UNIVERSAL_SCHEDULES"][collective]

    def ratio(name):
        return run(library, programs, nodes, call, FIXED_CALLS, "QUADRILLE=on", f"{variable}={name}")[1]

    ratios = {name: ratio(name) for name in schedules}
    best = min(ratios, key=ratios.get)
    return min((ratio(best), best), (1.0, "native"))


def case(report, options, library, programs, nodes, collective, size, what=""):
    """Returns the ratio of the times of all calls, or None if it is not wanted."""
    name, call = f"{collective} {nodes}, {size} B, {cluster.LIBRARIES[library]}{what}", f"{collective}={size}"
    if options.only not in name:
        return None
    base, of = 1.0, "native"
    try:
        if what == FIXED:
            base, of = best_fixed(library, programs, nodes, collective, call)
        calls, ratio, last = run(library, programs, nodes, call, CALLS)
    except machine.Unusable as error:
        raise machine.Unusable(f"{name}: {error}") from None
    ratio, last = ratio / base, last / base
    report.figure(f"{name} | adaptive / {of}, all calls", ratio, n=calls)
    report.figure(f"{name} | adaptive / {of}, the last quarter", last, n=calls // 4)
    print(f"{name}: {ratio:.3f} of {of}, at last {last:.3f}, {calls} calls", file=sys.stderr, flush=True)
    return ratio


def cases(nodes):
    """The wanted sizes on these nodes, and what is special about the calls."""
    yield from ((size, "") for size in choice.SIZES)
    if nodes == next(iter(choice.NODES)):
        yield BUSY_SIZE, BUSY
        yield BUSY_SIZE, FIXED
        yield CHANGING_SIZES, CHANGING


def ratios_of(report, options, programs):
    """For each kind of case, the ratios."""
    count, ratios = len(cluster.LIBRARIES), {what: [] for what in LIMITS}
    for library, *of in zip(cluster.LIBRARIES, programs[:count], programs[count:]):
        for nodes in choice.NODES:
            for size, what in cases(nodes):
                for collective in choice.COLLECTIVES:
                    try:
                        with busy_loops(BUSY_LOOPS if what == BUSY else 0):
                            ratio = case(report, options, library, of, nodes, collective, size, what)
                    except machine.Unusable as error:
                        report.note(str(error))
                        continue
                    ratios[what] += [ratio] if ratio else []
    return ratios


def measure(report, options, programs):
    with cluster.Cluster(5, cluster.RATE):
        ratios = ratios_of(report, options, programs)
    if not any(ratios.values()):
        raise machine.Unusable("adapt: no case was measured")
    for what, of in ratios.items():
        if of:
            most_worst, most_median = LIMITS[what]
            report.figure(f"adaptive / native{what}, the worst", max(of), at_most=most_worst, n=len(of))
            report.figure(f"adaptive / native{what}, the median", paired.median(of), at_most=most_median, n=len(of))
