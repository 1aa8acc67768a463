"""Simulates the curves of the papers beside the printed numbers: docs/papers.md.

Each run makes the tables of every section and compares them with the page. `--update` writes them into the page
instead. `--only TEXT` takes only the sections whose name has this text. Simulated times are the same on every run and
at any load.
"""
import sys
import tempfile

from bench import machine, papers_closure, papers_curves
from bench.papers_page import Runs, sections_of, written

NEEDS_CALM = False
PAGE = "docs/papers.md"
SECTIONS = [*papers_curves.SECTIONS, papers_closure.LONG, papers_curves.SIMGRID]


def build():
    return machine.build("//generator:generator", "//bench:smpi_collective.so")


def read_page():
    try:
        with open(PAGE) as file:
            return file.read()
    except OSError as error:
        raise machine.Unusable(f"papers: {PAGE}: {error.strerror}; its prose and machines are needed") from None


def measure(report, options, programs):
    wanted = [section for section in SECTIONS if options.only in section.name]
    if not wanted:
        names = ", ".join(section.name for section in SECTIONS)
        raise machine.Unusable(f"papers: no section has '{options.only}' in its name; there are: {names}")
    page = read_page()
    differing = 0
    for number, section in enumerate(wanted, 1):
        with tempfile.TemporaryDirectory() as folder:
            step = f"papers: {section.name} ({number} of {len(wanted)})"
            runs = Runs(programs, folder, page, lambda text: print(f"{step}: {text}", file=sys.stderr, flush=True))
            text, old = written(section, runs, page), sections_of(page)[section.name]
        if old == text:
            continue
        differing += 1
        if options.update:
            page = page.replace(old, text)
            with open(PAGE, "w") as file:
                file.write(page)
        else:
            print(f"papers: {PAGE} has another text for '{section.name}' than this run:\n{text}", file=sys.stderr)
    if options.update:
        print(f"papers: {PAGE} written; {differing} of {len(wanted)} sections changed")
    report.figure(
        f"sections of {PAGE} that this run writes otherwise", 0 if options.update else differing, at_most=0, n=len(wanted)
    )
