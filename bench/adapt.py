"""What a program that does not know Quadrille gains or loses while the preload library adapts, on the emulated cluster.

One process (bench/adaptive.c) makes blocks of calls of the library's own collectives and of the preloaded ones in turn. Long calls
are fewer: as many as take 20 seconds.
"""
import sys

from bench import choice, cluster, machine, paired

NEEDS_CALM = True
CALLS = 2000
SECONDS = 20
MOST_WORST, MOST_MEDIAN = 1.02, 0.9


def build():
    cluster.want_root("adapt")
    return machine.build(
        *(f"//bench:adaptive_{library}" for library in cluster.LIBRARIES),
        *(f"//preload:libquadrille_preload_{library}.so" for library in cluster.LIBRARIES),
    )


def case(report, options, library, programs, nodes, collective, size):
    """Returns the ratio of the times of all calls, or None if it is not wanted."""
    name = f"{collective} {nodes}, {size} B, {cluster.LIBRARIES[library]}"
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


def measure(report, options, programs):
    count, ratios = len(cluster.LIBRARIES), []
    with cluster.Cluster(5, cluster.RATE):
        for library, *of in zip(cluster.LIBRARIES, programs[:count], programs[count:]):
            for nodes in choice.NODES:
                for size in choice.SIZES:
                    for collective in choice.COLLECTIVES:
                        try:
                            ratio = case(report, options, library, of, nodes, collective, size)
                        except machine.Unusable as error:
                            report.note(str(error))
                            continue
                        ratios += [ratio] if ratio else []
    if not ratios:
        raise machine.Unusable("adapt: no case was measured")
    report.figure("adaptive / native, the worst", max(ratios), at_most=MOST_WORST, n=len(ratios))
    report.figure("adaptive / native, the median", paired.median(ratios), at_most=MOST_MEDIAN, n=len(ratios))
