"""Times of the proofs: each in seconds of one core (Google Benchmark), and all together as users wait for them."""
import re

from bench import google, machine

NEEDS_CALM = True
REPETITIONS = 3


def build():
    return machine.build("//verifier:verifier", "//bench:prove_benchmark")


def each(report, benchmark, repetitions, only):
    words = [f"--benchmark_filter={re.escape(only)}"] if only else []
    for name, (seconds, counters) in google.run(benchmark, *words, repetitions=repetitions).items():
        report.sample(f"{name} | {counters['obligations']:.0f} obligations", seconds, "s")


def together(report, verifier, repetitions):
    times = machine.elapsed(repetitions, lambda: machine.run([verifier, "prove"]))
    report.sample("all proofs | Z3 on all cores, elapsed", times, "s")
    printed = machine.run([verifier, "prove", "--second-solver", "cvc5"])
    found = re.search(r"answered (\d+) questions in ([0-9.]+) s: the same answers", printed)
    if not found:
        raise machine.Unusable(f"prove: cvc5 does not give the same answers: {machine.last_words(printed)}")
    report.figure(f"all proofs | {found[1]} questions again with cvc5, elapsed", float(found[2]), "s")


def measure(report, options, programs):
    verifier, benchmark = programs
    repetitions = options.repetitions or REPETITIONS
    each(report, benchmark, repetitions, options.only)
    if not options.only:
        together(report, verifier, repetitions)
