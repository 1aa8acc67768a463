"""Keeps the figures of an instrument, as JSON and as a table. docs/measurements.md describes the schema."""
import json
import os

from bench import paired

SCHEMA = 1


class Report:
    """The report of one run of one instrument."""

    def __init__(self, instrument, date, machine, load=0.0, loaded=False):
        self.head = {
            "schema": SCHEMA,
            "instrument": instrument,
            "date": date,
            "machine": machine,
            "load": round(load, 2),
            "loaded": loaded,
        }
        self.figures, self.notes = [], []

    def figure(self, name, value, unit="", at_most=None, at_least=None, spread=None, n=1):
        """Adds a figure. `name`: the measured quantity, or CASE | WHAT if a case has several figures in a row.
        `spread`: the 95 % interval of the true median, or None if each run gives the same value."""
        limit = {word: most for word, most in (("at_most", at_most), ("at_least", at_least)) if most is not None}
        self.figures.append(
            {"name": name, "value": value, "unit": unit, "limit": limit or None, "spread": spread, "n": n}
        )

    def sample(self, name, values, unit="", at_most=None, at_least=None):
        """Adds the median of measured values as a figure, with its 95 % interval."""
        self.figure(name, paired.median(values), unit, at_most, at_least, paired.interval(values), len(values))

    def note(self, text):
        """Adds a remark for readers, for example which quantity was not measured, and why."""
        self.notes.append(text)

    def contents(self):
        return {**self.head, "figures": self.figures, "notes": self.notes}

    def write(self, folder):
        """Writes the report to a new file in the folder. Returns its path."""
        os.makedirs(folder, exist_ok=True)
        stem = f"{self.head['instrument']}-{self.head['date']}"
        number, path = 1, os.path.join(folder, stem + ".json")
        while os.path.exists(path):
            number += 1
            path = os.path.join(folder, f"{stem}-{number}.json")
        with open(path, "w") as file:
            json.dump(self.contents(), file, indent=1)
            file.write("\n")
        return path


def load(path):
    """Reads a recorded report. Raises ValueError if the file is not one."""
    try:
        with open(path) as file:
            contents = json.load(file)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}; give a file that './dev bench' wrote") from None
    except ValueError:
        contents = None
    wanted = {"instrument", "date", "machine", "load", "loaded", "figures", "notes"}
    if not isinstance(contents, dict) or contents.get("schema") != SCHEMA or not wanted <= contents.keys():
        raise ValueError(f"{path}: not a report of schema {SCHEMA}; give a file that './dev bench' wrote")
    return contents


def is_missed(figure):
    limit = figure["limit"] or {}
    # This form counts NaN as missed.
    return not (
        figure["value"] <= limit.get("at_most", figure["value"])
        and figure["value"] >= limit.get("at_least", figure["value"])
    )


def missed(contents):
    return [figure for figure in contents["figures"] if is_missed(figure)]


def number(value):
    """Returns the value as text with four digits."""
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.4g}" if 1e-3 <= abs(value) < 1e4 else f"{value:.3e}" if abs(value) < 1e-3 else f"{value:.0f}"


def table(contents):
    """Returns the report as text, with a line for each figure."""
    machine = contents["machine"]
    lines = [
        f"{contents['instrument']}, {contents['date']}, {machine['cores']} cores of {machine['processor']}, "
        f"load {contents['load']} a core"
    ]
    if contents["loaded"]:
        lines.append("LOADED MACHINE: times are not to be relied on")
    width = max([len(figure["name"].split(" | ")[-1]) + 2 for figure in contents["figures"]] + [20])
    lines.append(f"{'':{width}} {'median':>10} {'95 %':>20} {'n':>4} {'unit':12} limit")
    case = None
    for figure in contents["figures"]:
        *cases, name = figure["name"].split(" | ")
        if cases and cases != case:
            lines.append(cases[0])
        case = cases
        lines.append(row(figure, "  " + name if cases else name, width))
    lines += [f"note: {note}" for note in contents["notes"]]
    return "\n".join(line.rstrip() for line in lines)


def row(figure, name, width):
    spread = " to ".join(number(value) for value in figure["spread"]) if figure["spread"] else ""
    limit = ""
    for word, value in (figure["limit"] or {}).items():
        limit = f"{word.replace('_', ' ')} {number(value)}: {'MISSED' if is_missed(figure) else 'ok'}"
    return (
        f"{name:{width}} {number(figure['value']):>10} {spread:>20} {figure['n']:>4} "
        f"{figure['unit']:12} {limit}"
    )
