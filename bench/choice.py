"""Compares what `--algorithm auto` and `choose` choose with all algorithms and native calls, on the emulated cluster.

Both know the machine from `calibrate`, with blocks of the size of the call. In each case every algorithm runs alone
first. Then the choices and the best algorithm run beside native calls.
"""
import sys
import tempfile

from bench import cluster, machine, paired
from bench.cluster import LIBRARIES

NEEDS_CALM = True
WINDOW = 0  # the window that the schedule asks for
SHORT = 8192  # bytes; of the next two pairs of numbers, the second one is for longer calls
TRIALS = 5, 1  # calls of each algorithm, to find the best
PAIRS = 21, 7  # of calls of the best or a choice with native calls
COLLECTIVES = ("alltoall", "allgather", "broadcast", "gather", "scatter", "reduce", "allreduce", "reduce-scatter", "scan")
SIZES = (8, 256, 2048, 8192, 32768, 131072)
NODES = ("4x4", "3x5", "1,6,3,4", "8,4,2,2")
# An algorithm is tried with each of these options that it has. Algorithms that do not serve the nodes are left out.
VARIANTS = (
    *((), ("--radix", "2"), ("--radix", "4"), ("--radix", "8"), ("--radix", "auto")),
    *(("--block-size", "8192"), ("--block-size", "32768"), ("--block-size", "auto")),
)
MOST_MEDIAN, MOST_WORST, MOST_OF_NATIVE = 1.05, 1.15, 1.03

build = cluster.build


class Case:
    """Measures one collective with one size, on some nodes, with one MPI library."""

    def __init__(self, m, library, nodes, collective, size):
        self.m, self.library, self.nodes, self.collective, self.size = m, library, nodes, collective, size
        self.name = f"{collective} {nodes}, {size} B, {LIBRARIES[library]}"
        self.pairs = m.repetitions(PAIRS[size > SHORT])

    def file(self, algorithm, *options):
        return self.m.generator.file(self.collective, algorithm, self.nodes, *options)

    def candidates(self, costs):
        """Returns the files of all algorithms with their variants, each with its window, by their words."""
        found = {}
        for name in self.m.generator.names(self.collective):
            for options in VARIANTS:
                given = [*options, *(costs if options[1:] == ("auto",) else ())]
                try:
                    found[" ".join([name, *options])] = self.file(name, *given), WINDOW
                except machine.Unusable:
                    pass
        return found

    def ruled(self, costs):
        """Returns the choice of the rule that `choose` writes, and its file with window and block size, or None."""
        if self.collective == "scan":  # `choose` writes no rules for it
            return "native", None
        path, size = f"{self.m.folder}/rules.txt", costs.index("--bytes") + 1
        sizes = [*costs[:size], f"{self.size}..{self.size}", *costs[size + 1 :]]
        machine.run(
            [self.m.generator.program, "choose", self.collective, "--nodes", self.nodes, *sizes, "--out", path]
        )
        with open(path) as rules:
            rule = rules.readline().split(" use=")[1].rstrip()
        name, *options = rule.split(":")
        if name == "native":
            return "native", None
        options = dict(option.split("=") for option in options)
        radix = ["--radix", options["radix"]] if "radix" in options else []
        block = f":{options['block-size']}" if "block-size" in options else ""
        return rule, (self.file(name, *radix), f"{WINDOW}{block}")

    def sample(self, files, repetitions, *options):
        """Samples schedule files, given with their windows. Measures files of the same contents once."""
        kinds = [(contents(path), window) for path, window in files]
        different = dict(zip(kinds, files))
        sampled = self.m.sample(
            self.library, self.nodes, self.collective, self.size, different.values(), repetitions, *options
        )
        found = dict(zip(different, sampled))
        return [found[kind] for kind in kinds]

    def measure(self, costs):
        """Returns two ratios of times: auto over the best, and the rule of `choose` over native."""
        swept = self.candidates(costs)
        auto = self.file("auto", *costs), WINDOW
        rule, ruled = self.ruled(costs)
        best = self.m.alone(self.name, swept, TRIALS[self.size > SHORT], lambda *words: self.sample(swept.values(), *words))
        ours, least, *by_rule = self.sample([auto, swept[best], *([ruled] if ruled else [])], self.pairs)
        of_best = paired.median(ours.ours) / paired.median(least.ours)
        of_native = 1 / paired.median(by_rule[0].ratios) if ruled else 1.0
        for what, ratio in (
            (f"native / best of ours ({best})", paired.median(least.ratios)),
            (f"native / auto ({ours.algorithm})", paired.median(ours.ratios)),
            ("auto / best of ours", of_best),
            (f"the rule of choose ({rule}) / native", of_native),
        ):
            self.m.report.figure(f"{self.name} | {what}", ratio, n=self.pairs)
            print(f"{self.name}: {what}: {ratio:.2f}", file=sys.stderr, flush=True)
        return of_best, of_native


def contents(path):
    with open(path, "rb") as schedule:
        return schedule.read()


def cases(m):
    for nodes in NODES:
        for library in LIBRARIES:
            for size in SIZES:
                wanted = [case for case in (Case(m, library, nodes, of, size) for of in COLLECTIVES) if m.wanted(case.name)]
                costs = m.costs(library, nodes, size) if wanted else ()
                yield from ((case, costs) for case in wanted)


def measure(report, options, programs):
    ratios = []
    with tempfile.TemporaryDirectory() as folder, cluster.Cluster(5, cluster.RATE):
        for case, costs in cases(cluster.Measuring(report, options, programs, folder)):
            try:
                ratios.append(case.measure(costs))
            except machine.Unusable as error:
                report.note(f"{case.name} was not measured: {error}")
                print(report.notes[-1], file=sys.stderr, flush=True)
    if not ratios:
        raise machine.Unusable("choice: no case was measured")
    of_best, of_native = zip(*ratios)
    report.figure("auto / best of ours, the median", paired.median(of_best), at_most=MOST_MEDIAN, n=len(ratios))
    report.figure("auto / best of ours, the worst", max(of_best), at_most=MOST_WORST, n=len(ratios))
    report.figure("rules of choose / native, the worst", max(of_native), at_most=MOST_OF_NATIVE, n=len(ratios))
