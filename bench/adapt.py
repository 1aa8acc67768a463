"""What a program that does not know Quadrille gains or loses while the preload library adapts, on the emulated cluster.

One process (bench/adaptive.c) makes blocks of calls of the library's own collectives and of the preloaded ones in turn. Long calls
are fewer: as many as take 20 seconds. On the first nodes, the same is measured beside busy loops, and with sizes that change every
50 calls.
"""
import contextlib
import subprocess
import sys

from bench import choice, cluster, machine, paired

NEEDS_CALM = True
CALLS = 2000
SECONDS = 20
MOST_WORST, MOST_MEDIAN, MOST_BUSY, MOST_CHANGING = 1.02, 0.9, 1.05, 1.02
BUSY, CHANGING = ", beside busy loops", ", in turn"
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


def case(report, options, library, programs, nodes, collective, size, what=""):
    """Returns the ratio of the times of all calls, or None if it is not wanted."""
    name = f"{collective} {nodes}, {size} B, {cluster.LIBRARIES[library]}{what}"
    if options.only not in name:
        return None
    program, preload = programs
    command = [*cluster.preloaded(library, choice.NODES[nodes], preload), program, CALLS, SECONDS, f"{collective}={size}"]
    lines, errors = machine.lines_until(command, "end", 600)
    found = [line.split() for line in lines if line.startswith("adaptive ")]
    if not found:
        raise machine.Unusable(f"{name}: {machine.last_words(errors)}")
    calls = int(found[0][3])
    native, ours, last_native, last_ours = map(float, found[0][4:])
    report.figure(f"{name} | adaptive / native, all calls", ours / native, n=calls)
    report.figure(f"{name} | adaptive / native, the last quarter", last_ours / last_native, n=calls // 4)
    print(f"{name}: {ours / native:.3f}, at last {last_ours / last_native:.3f}, {calls} calls", file=sys.stderr, flush=True)
    return ours / native


def cases(nodes):
    """The wanted sizes on these nodes, and what is special about the calls."""
    yield from ((size, "") for size in choice.SIZES)
    if nodes == next(iter(choice.NODES)):
        yield BUSY_SIZE, BUSY
        yield CHANGING_SIZES, CHANGING


def ratios_of(report, options, programs):
    """For each kind of case, the ratios."""
    count, ratios = len(cluster.LIBRARIES), {"": [], BUSY: [], CHANGING: []}
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
    for what, most_worst, most_median in (("", MOST_WORST, MOST_MEDIAN), (BUSY, MOST_BUSY, None), (CHANGING, MOST_CHANGING, None)):
        of = ratios[what]
        if of:
            report.figure(f"adaptive / native{what}, the worst", max(of), at_most=most_worst, n=len(of))
            report.figure(f"adaptive / native{what}, the median", paired.median(of), at_most=most_median, n=len(of))
