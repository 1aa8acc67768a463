"""Measures the times of the proofs: each alone in seconds of one core, and all together as users wait for them."""
import re
import resource

from bench import machine

NEEDS_CALM = True
REPETITIONS = 3
PROOFS = "emitted/proofs.txt"


def build():
    return machine.build("//verifier:verifier")


def core_seconds():
    """Returns the processor seconds that all commands of this process have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def each(report, verifier, repetitions, only):
    with open(PROOFS) as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    for name, _, _, obligations, *_ in lines:
        if only in name:
            times = [core_seconds()]
            for _ in range(repetitions):
                machine.run([verifier, "prove", name])
                times.append(core_seconds())
            report.sample(f"{name} | {obligations} obligations", [b - a for a, b in zip(times, times[1:])], "s")


def together(report, verifier, repetitions):
    times = machine.elapsed(repetitions, lambda: machine.run([verifier, "prove"]))
    report.sample("all proofs | Z3 on all cores, elapsed", times, "s")
    printed = machine.run([verifier, "prove", "--second-solver", "cvc5"])
    found = re.search(r"answered (\d+) questions in ([0-9.]+) s: the same answers", printed)
    if not found:
        raise machine.Unusable(f"prove: cvc5 does not give the same answers: {machine.last_words(printed)}")
    report.figure(f"all proofs | {found[1]} questions again with cvc5, elapsed", float(found[2]), "s")


def measure(report, options, programs):
    (verifier,) = programs
    repetitions = options.repetitions or REPETITIONS
    each(report, verifier, repetitions, options.only)
    if not options.only:
        together(report, verifier, repetitions)
