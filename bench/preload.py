"""Measures what preloading does to an unchanged program, on the emulated cluster. One program (bench/preloaded.c)
makes the MPI library's own calls and preloaded ones in turn, with rules that were learned there and without rules.
"""
import os
import tempfile

from bench import cluster, machine, paired, sampling

NEEDS_CALM = True
PAIRS = 15
CALLS = 300  # of each collective while learning, which needs no more
# Ranks on each node, and a divisor: ranks with equal remainders share a communicator. With 0, all ranks share one.
SHAPES = {"4x8": ("4x8", 0), "8,8,4,12": ("8,8,4,12", 0), "rows of 4x8": ("4x8", 8)}
SIZES = (16, 256, 4096, 32768, 256 << 10)  # the last one for allgathers alone
CELLS = [(of, size) for of in ("alltoall", "alltoallv") for size in SIZES[:-1]]
CELLS += [(of, size) for of in ("allgather", "allgatherv") for size in SIZES]
LIMITS = {"learned": 0.97, "without rules": 0.95}


def build():
    return cluster.build_preloaded("preload")


def shape(report, options, library, programs, name, folder):
    nodes, row = SHAPES[name]
    title = f"{name}, {cluster.LIBRARIES[library]}"
    cells = [cell for cell in CELLS if options.only in f"{cell[0]} {cell[1]} B, {title}"]
    if not cells:
        return
    start = cluster.starter(library, nodes, *programs)
    calls = [f"{of}={f'uniform:{2 * size}' if of == 'alltoallv' else size}" for of, size in cells]
    rules = f"QUADRILLE_RULES={folder}/{library}-{name.replace(' ', '-')}.txt"
    sampling.sample(start(["QUADRILLE=learn", rules]) + [row, CALLS, *calls], 3600)
    if not os.path.exists(rules.split("=")[1]):
        raise machine.Unusable(f"preload: {title}: no rules were written; try once more")
    for how, variables in (("learned", [rules]), ("without rules", [])):
        sampled = sampling.sample(start(variables) + [row, f"pairs={options.repetitions or PAIRS}", *calls], 3600)
        for (collective, size), one in zip(cells, sampled):
            report.sample(f"{collective} {size} B, {title} | {how}, native / preloaded", one.ratios, at_least=LIMITS[how])
        ratios = [paired.median(one.ratios) for one in sampled]
        below = sum(ratio < LIMITS[how] for ratio in ratios)
        report.figure(f"{title} | {how}: of {len(ratios)}, how many are below {LIMITS[how]}", below)


def measure(report, options, programs):
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(4, cluster.RATE):
        for library in cluster.LIBRARIES:
            for name in SHAPES:
                shape(report, options, library, programs[library], name, folder)
