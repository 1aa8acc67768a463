"""Preloading under a program that does not know Quadrille, on the emulated cluster. One process (bench/preloaded.c) runs the
library's collectives and the preloaded ones in turn, with rules that were learned there and without rules.
"""
import os
import tempfile

from bench import cluster, machine, paired, sampling

NEEDS_CALM = True
PAIRS = 15
CALLS = 300  # learning takes at most so many
# Ranks on each node, and a divisor: ranks with equal remainders share a communicator. With 0 all ranks do.
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


def shape(report, options, library, programs, name, folder):
    nodes, row = SHAPES[name]
    title = f"{name}, {cluster.LIBRARIES[library]}"
    cells = [cell for cell in CELLS if options.only in f"{cell[0]} {cell[1]} B, {title}"]
    if not cells:
        return
    program, preload = programs

    def run(variables, how):
        words = [program, row, how, *(f"{collective}={size}" for collective, size in cells)]
        return sampling.sample([*cluster.preloaded(library, nodes, preload, *variables), *words], 3600)

    rules = f"QUADRILLE_RULES={folder}/{library}-{name.replace(' ', '-')}.txt"
    run(["QUADRILLE=learn", rules], CALLS)
    if not os.path.exists(rules.split("=")[1]):
        raise machine.Unusable(f"preload: {title}: no rules were written; try once more")
    for how, variables in (("learned", [rules]), ("without rules", [])):
        sampled = run(variables, f"pairs={options.repetitions or PAIRS}")
        for (collective, size), one in zip(cells, sampled):
            name = f"{collective} {size} B, {title} | {how}, native / preloaded"
            report.sample(name, one.ratios, at_least=LIMITS[how])
        ratios = [paired.median(one.ratios) for one in sampled]
        below = sum(ratio < LIMITS[how] for ratio in ratios)
        report.figure(f"{title} | {how}: of {len(ratios)}, how many are below {LIMITS[how]}", below)


def measure(report, options, programs):
    count = len(cluster.LIBRARIES)
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(4, cluster.RATE):
        for library, *of in zip(cluster.LIBRARIES, programs[:count], programs[count:]):
            for name in SHAPES:
                shape(report, options, library, of, name, folder)
