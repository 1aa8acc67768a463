"""Runs a program of Google Benchmark and reads its output."""
import json

from bench import machine


def parse(text):
    """Returns {name: (seconds of each repetition, counters)}, in order. Seconds are those of one core."""
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
    """Runs the program. A benchmark's own number of repetitions comes before `repetitions`."""
    return parse(machine.run([program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}", *words]))
