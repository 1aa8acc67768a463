"""Runs a program of Google Benchmark and reads what it prints."""
import json

from bench import machine, paired


def parse(text):
    """Benchmark by benchmark, in order: {name: (seconds of each repetition, its counters)}. Seconds are of one core."""
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


def run(program, *words, repetitions):
    """A `repetitions` that a benchmark has of its own goes first."""
    return parse(machine.run([program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}", *words]))


def add(report, name, values, unit, at_most=None):
    report.figure(
        name, paired.median(values), unit, at_most=at_most, spread=paired.interval(values), n=len(values)
    )
