"""A program that knows nothing of Quadrille, on the emulated cluster: the library's collectives and what preloading
makes of them, in turn in one process (bench/preloaded.c), with rules that were learned there and without any.
"""
import os
import tempfile

from bench import cluster, machine, paired, sampling

NEEDS_CALM = True
PAIRS = 15
CALLS = 140  # that learning takes at most
# Ranks on each node; the remainder of a rank's number by which one has a communicator with others, or 0 for all.
SHAPES = {"4x8": ((8, 8, 8, 8), 0), "8,8,4,12": ((8, 8, 4, 12), 0), "rows of 4x8": ((8, 8, 8, 8), 8)}
SHORT = (16, 256, 4096, 32768)
CELLS = [
    *((collective, size) for collective in ("alltoall", "alltoallv") for size in SHORT),
    *((collective, size) for collective in ("allgather", "allgatherv") for size in (*SHORT, 256 << 10)),
]
LIMITS = {"learned": 0.97, "without rules": 0.95}


def build():
    cluster.want_root("preload")
    return machine.build(
        *(f"//bench:preloaded_{library}" for library in cluster.LIBRARIES),
        *(f"//preload:libquadrille_preload_{library}.so" for library in cluster.LIBRARIES),
    )


class Runs:
    """Of one library's program on one communicator."""

    def __init__(self, library, program, preloaded, nodes, row):
        self.start = [cluster.MPIRUN, library, cluster.hosts_of(nodes)]
        self.preloaded = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"', preloaded, "env"]
        self.words = [program, row]

    def run(self, variables, how, cells):
        cells = [f"{collective}={size}" for collective, size in cells]
        with tempfile.TemporaryFile("w+") as errors:
            lines = machine.lines_until(
                [*self.start, *self.preloaded, *variables, *self.words, how, *cells], "end", 3600, errors
            )
            errors.seek(0)
            return sampling.parse_or_complain(lines, errors.read().splitlines())


def shape(report, options, library, programs, name, folder):
    nodes, row = SHAPES[name]
    title = f"{name}, {cluster.LIBRARIES[library]}"
    cells = [cell for cell in CELLS if options.only in f"{cell[0]} {cell[1]} B, {title}"]
    if not cells:
        return
    runs = Runs(library, *programs, nodes, row)
    rules = f"QUADRILLE_RULES={folder}/{library}-{name.replace(' ', '-')}.json"
    runs.run(["QUADRILLE=learn", rules], CALLS, cells)
    if not os.path.exists(rules.split("=")[1]):
        raise machine.Unusable(f"preload: {title}: no rules were written; try once more")
    for how, variables in (("learned", [rules]), ("without rules", [])):
        sampled = runs.run(variables, f"pairs={options.repetitions or PAIRS}", cells)
        for (collective, size), one in zip(cells, sampled):
            sampling.add_ratio(report, f"{collective} {size} B, {title} | {how}, native / preloaded", one, LIMITS[how])
        ratios = [paired.median(one.ratios) for one in sampled]
        below = sum(ratio < LIMITS[how] for ratio in ratios)
        report.figure(f"{title} | {how}: of {len(ratios)}, how many are below {LIMITS[how]}", below)


def measure(report, options, programs):
    count = len(cluster.LIBRARIES)
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(4, cluster.RATE):
        for library, *of in zip(cluster.LIBRARIES, programs[:count], programs[count:]):
            for name in SHAPES:
                shape(report, options, library, of, name, folder)
