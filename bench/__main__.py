"""./dev bench: runs the instruments, and prints their figures beside the limits.

Exit codes: 0 every limit is kept, 1 a limit is missed, 2 bad input or nothing could be measured.
"""
import argparse
import datetime
import importlib
import re
import sys

from bench import machine, report

# The instruments run in this order: those that need a calm machine come first. Each is a module with
#   NEEDS_CALM                         whether other work on the machine changes its figures
#   build()                            builds its programs, and returns them for measure
#   measure(report, options, programs) adds figures
INSTRUMENTS = {
    "check": "sizes of schedule files, times of generator and checker",
    "prove": "times of the proofs",
    "cluster": "MPI's collectives and ours on an emulated cluster, as root",
    "choice": "what auto and choose take there, beside all algorithms, as root; an hour or two",
    "adapt": "collectives of an unchanged program there, while the preload library adapts, as root; an hour or two",
    "preload": "collectives of an unchanged program there, and what preloading makes of them, as root",
    "programs": "unchanged programs there, as root: mpi4py-fft and examples; with --all, twelve of Debian's instead",
    "simulate": "the simulator's speed, and its agreement with SimGrid",
    "papers": "the curves of the papers, simulated, against docs/papers.md",
    "count": "instructions, counted by callgrind",
    "race": "collectives of an unchanged program while the preload library adapts, simulated; hours",
    "smpi": "simulated times on flat, fat-tree and dragonfly networks",
}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"bench: {message}; './dev bench --help' lists the instruments and options", file=sys.stderr)
        sys.exit(2)


def date(text):
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a date like 2026-01-31")
    return text


def at_least_one(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return int(text)


def parse(words):
    names = "\n".join(f"  {name:9}{what}" for name, what in INSTRUMENTS.items())
    parser = Parser(
        prog="./dev bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"instruments:\n{names}\n  show     the tables of recorded files\n",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="an instrument (default: all), or 'show FILE...'")
    parser.add_argument("--out", default="bench-results", metavar="FOLDER", help="where the JSON goes (bench-results)")
    parser.add_argument("--date", type=date, default=str(datetime.date.today()), help="to record (today)")
    parser.add_argument("--force", action="store_true", help="measure on a loaded machine, and flag it")
    parser.add_argument("--repetitions", type=at_least_one, metavar="N", help="of each timed pair or benchmark")
    parser.add_argument("--calls", type=at_least_one, metavar="N", help="race: calls in a row of each case (2000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name has this text")
    parser.add_argument("--update", action="store_true", help="papers: write docs/papers.md")
    parser.add_argument("--all", action="store_true", help="programs: install programs of Debian's, and compare their results")
    options = parser.parse_args(words)
    if options.update and options.names != ["papers"]:
        parser.error("--update is for papers alone")
    if options.all and options.names != ["programs"]:
        parser.error("--all is for programs alone")
    if options.calls and options.names != ["race"]:
        parser.error("--calls is for race alone")
    if options.names[:1] != ["show"]:
        for name in options.names:
            if name not in INSTRUMENTS:
                parser.error(f"there is no instrument '{name}'")
    elif len(options.names) == 1:
        parser.error("show wants a file")
    return options


def run(name, options):
    """Runs one instrument. Returns its report."""
    instrument = importlib.import_module(f"bench.{name}")
    programs = instrument.build()
    calm = not instrument.NEEDS_CALM or machine.await_calm(0 if options.force else machine.PATIENCE)
    if not calm and not options.force:
        raise machine.Unusable(
            f"{name}: the load is {machine.load():.2f} a core, more than {machine.MOST_LOAD}; "
            "wait until the machine is quiet, or give --force to measure anyway and flag the report"
        )
    made = report.Report(name, options.date, machine.description(), machine.load(), loaded=not calm)
    instrument.measure(made, options, programs)
    return made


def show(contents, where):
    """Prints a report. Returns whether it missed a limit."""
    print(f"\n{report.table(contents)}\n{where}", flush=True)
    missed = report.missed(contents)
    for figure in missed:
        print(f"bench: missed: {figure['name']}", file=sys.stderr)
    return bool(missed)


def main(words):
    options = parse(words)
    code = 0
    if options.names[:1] == ["show"]:
        for path in options.names[1:]:
            try:
                code = max(code, show(report.load(path), path))
            except ValueError as error:
                print(f"bench: {error}", file=sys.stderr)
                code = 2
        return int(code)
    for name in options.names or INSTRUMENTS:
        try:
            made = run(name, options)
            code = max(code, show(made.contents(), made.write(options.out)))
        except machine.Unusable as error:
            print(f"bench: {error}", file=sys.stderr)
            code = 2
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
