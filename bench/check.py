"""Measures sizes of schedule files, and times of generator and checker in seconds of one core (Google Benchmark)."""
import json
import os
import re
import tempfile

from bench import machine
from bench.distributions import random_nodes
from bench.sampling import Generator

NEEDS_CALM = True
REPETITIONS = 5
KIBIBYTE = 1024
ALLGATHERS = ("linear-ring", "blocked-ring", "blocked-ring-nodes", "blocked-ring-blocking", "bruck", "recursive-doubling")
SIZES = (  # collective, algorithm, nodes in words, nodes, most bytes, options
    ("alltoall", "hierarchical-factor", "nodes 1,2,3", "1,2,3", 0.4 * KIBIBYTE),
    ("alltoall", "hierarchical-factor", "512 nodes x 32", "512x32", 0.4 * KIBIBYTE),
    ("alltoall", "hierarchical-factor", "512 nodes of random sizes 1 to 64", random_nodes(), 0.7 * KIBIBYTE),
    ("alltoall", "tuna", "512 nodes x 32, radix 8", "512x32", 0.3 * KIBIBYTE, "--radix", "8"),
    *(("allgather", algorithm, "512 nodes x 32", "512x32", 0.5 * KIBIBYTE) for algorithm in ALLGATHERS),
    ("allgather", "neighbor-exchange", "512 nodes x 32", "512x32", 0.5 * KIBIBYTE),
)


def blocks(ranks):
    """Returns options of the file and counts of the call with which each rank has 64 blocks."""
    return ("--block-size", "1024"), f":{ranks}x65536"


CHECKS = (  # collective, algorithm, nodes, options and counts, most seconds, most ns a transfer, repetitions if fewer
    ("alltoall", "hierarchical-factor", "32x32", ((), ""), 0.06, None, None),
    ("alltoall", "hierarchical-factor", "128x32", ((), ""), 0.8, None, None),
    ("alltoall", "hierarchical-factor", "512x32", ((), ""), 12, None, 2),
    ("allgather", "blocked-ring", "128x1", blocks(128), None, 30, None),
    ("allgather", "blocked-ring-nodes", "8x16", blocks(128), None, 30, None),
    ("allgather", "blocked-ring", "1024x1", blocks(1024), None, 30, 2),
    ("allgather", "blocked-ring-nodes", "32x32", blocks(1024), None, 30, 2),
)
HOPS = ((1024, 8, 60),)  # of TuNA: ranks, radix, most ns a block and hop
TOO_SLOW = 300  # ns a transfer; after that, no larger schedule of the algorithm is tried
MOST_MEMORY = 64  # MB, at 16,384 ranks


def build():
    return machine.build("//generator:generator", "//verifier:verifier", "//bench:check_benchmark")


def parse(text):
    """Reads the output of Google Benchmark. Returns {name: (seconds of each repetition, counters)}, in order."""
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    found = {}
    for line in json.loads(text)["benchmarks"]:
        if line.get("error_occurred"):
            raise machine.Unusable(f"{line['name']}: {line['error_message']}")
        if line.get("run_type") == "aggregate":
            continue
        seconds, _ = found.setdefault(line["run_name"], ([], line))
        seconds.append(line["cpu_time"] * units[line["time_unit"]])
    return found


def run(program, word, repetitions):
    return parse(machine.run([program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}", word]))


def sizes(report, generator):
    """Adds the sizes of files. A file has no counts, so its size is the same for every distribution."""
    for collective, algorithm, what, nodes, most, *options in SIZES:
        size = os.path.getsize(generator.file(collective, algorithm, nodes, *options))
        report.figure(f"size | {algorithm}, {what}", size, "B", at_most=most)


def generating(report, folder, program, repetitions):
    """Adds the elapsed time of the whole generator process, as a user waits for it."""
    times = machine.elapsed(
        repetitions, lambda: Generator(program, folder).file("alltoall", "hierarchical-factor", "512x32")
    )
    report.sample("generate | hierarchical-factor, 16,384 ranks, elapsed", times, "s", at_most=0.05)


def checking(report, generator, benchmark, repetitions):
    too_slow = set()
    for collective, algorithm, nodes, (options, counts), most, most_of_transfer, fewer in CHECKS:
        if algorithm in too_slow:
            report.note(f"check | {algorithm} {nodes}: not measured, a smaller one takes too long already")
            continue
        file = generator.file(collective, algorithm, nodes, *options)
        ((seconds, counters),) = run(benchmark, file + counts, fewer or repetitions).values()
        case = f"check | {algorithm} {nodes}"
        report.sample(case, seconds, "s", at_most=most)
        a_transfer = [1e9 * one / counters["transfers"] for one in seconds]
        report.sample(f"{case}, a transfer", a_transfer, "ns", at_most=most_of_transfer)
        if min(a_transfer) > TOO_SLOW:
            too_slow.add(algorithm)


def hops(ranks, radix):
    """Returns how often blocks are sent in all. A block is sent once for each digit of its distance that is not 0."""
    digits = (distance // radix**digit % radix for distance in range(ranks) for digit in range(ranks.bit_length()))
    return ranks * sum(digit != 0 for digit in digits)


def forwarding(report, generator, benchmark, repetitions):
    for ranks, radix, most in HOPS:
        file = generator.file("alltoall", "tuna", f"{ranks}x1", "--radix", str(radix))
        ((seconds, _),) = run(benchmark, file, repetitions).values()
        a_hop = [1e9 * one / hops(ranks, radix) for one in seconds]
        report.sample(f"check | tuna {ranks}x1, radix {radix}, a block and hop", a_hop, "ns", at_most=most)


def memory(report, generator, verifier):
    printed = machine.run([verifier, "check", generator.file("alltoall", "hierarchical-factor", "512x32")])
    used = int(re.search(r"at most (\d+) MB", printed)[1])
    report.figure("check | hierarchical-factor 512x32, memory", used, "MB", at_most=MOST_MEMORY)


def measure(report, options, programs):
    generator_program, verifier, benchmark = programs
    repetitions = options.repetitions or REPETITIONS
    with tempfile.TemporaryDirectory() as folder:
        generator = Generator(generator_program, folder)
        sizes(report, generator)
        generating(report, folder, generator_program, repetitions)
        checking(report, generator, benchmark, repetitions)
        forwarding(report, generator, benchmark, repetitions)
        memory(report, generator, verifier)
