"""algorithms_test.py GENERATOR REFERENCES ALGORITHMS [--update]: the tables of docs/algorithms.md equal what
`generator list` prints. The bibliography has the papers that the sources name, and no others. This writes the tables:

    bazel run //tests/docs:algorithms_test -- --update
"""
import json
import os
import re
import subprocess
import sys

SECTIONS = {
    "All-to-all": ["alltoall"],
    "Allgather": ["allgather"],
    "Broadcast, gather, scatter": ["broadcast", "gather", "scatter"],
    "Reductions and scans": ["reduce", "allreduce", "reduce-scatter", "scan", "exscan"],
    "Barrier": ["barrier"],
}


def section_of(algorithm):
    if algorithm["groups"] == 2:
        return "Between groups"
    return next(section for section, collectives in SECTIONS.items() if algorithm["collective"] in collectives)


def row(algorithm):
    flags = [option["flag"] for option in algorithm["options"] + algorithm["numbers"]]
    flags += ["--block-size"] * algorithm["block_size"]
    facts = ["cost: {cost}", "needs: {needs}", "source: {source}"]
    if algorithm["needs"] == "none":
        facts.pop(1)
    cells = [
        "<br>".join("`%s`" % word for word in [algorithm["algorithm"], *flags]),
        "{summary} Use it {use}.".format_map(algorithm),
        "<br>".join(facts).format_map(algorithm),
    ]
    return "| %s %s |\n" % (algorithm["collective"], " | ".join(cells).replace("*", "\\*"))


def page(algorithms, document):
    """Returns the document, with the tables of its sections made from these algorithms."""
    parts = re.split(r"^## (.*\n)", document, flags=re.M)
    for at in range(1, len(parts), 2):
        rows = "".join(row(each) for each in algorithms if section_of(each) == parts[at].strip())
        parts[at] = "## " + parts[at]
        parts[at + 1] = re.sub(r"(^\|---.*\n)(\|.*\n)*", lambda table: table[1] + rows, parts[at + 1], flags=re.M)
    return "".join(parts)


def complaints(text, references, document):
    algorithms, said = json.loads(text)["algorithms"], []
    entries = re.findall(r"^- \*\*(.*)\*\*: ", references, flags=re.M)
    for each in algorithms:
        name, rest = each["collective"] + " " + each["algorithm"], each["source"]
        for entry in entries:
            rest = rest.replace(entry, "")
        if rest == each["source"] or re.search(r"\d{4}", rest):
            said.append(f"{name}: '{each['source']}' names what the bibliography lacks")
        if not each["summary"] or not each["use"]:
            said.append(f"{name}: its program does not say its idea, or when to use it")
        if row(each) not in document:
            said.append(f"{name}: docs/algorithms.md lacks the row '{row(each)}'")
    for entry in entries:
        if not any(entry in each["source"] for each in algorithms):
            said.append(f"no source names {entry}")
    if page(algorithms, document) != document:
        said.append("docs/algorithms.md has other tables than the command at the top of this test makes")
    return said


generator, references, path = sys.argv[1:4]
listed = subprocess.run([generator, "list", "--format", "json"], check=True, capture_output=True, text=True).stdout
given = [listed, *(open(each, encoding="utf-8").read() for each in (references, path))]
if sys.argv[4:] == ["--update"]:
    with open(os.path.join(os.environ["BUILD_WORKSPACE_DIRECTORY"], "docs/algorithms.md"), "w", encoding="utf-8") as file:
        file.write(page(json.loads(listed)["algorithms"], given[2]))
    sys.exit()
failures = complaints(*given)
assert len(json.loads(listed)["algorithms"]) > 60, "the list is not read"

# Edits that must be refused: (index of the text, old text, new text, part of the complaint).
for at, old, new, complaint in [
    (0, '"Kang et al. 2018', '"Kang et al. 2017', "names what the bibliography lacks"),
    (0, '"Traeff 2025', '"folklore', "names what the bibliography lacks"),
    (0, '"ours: the stages', '"the stages', "lacks the row"),
    (0, '"Hillis', '"ours: Hillis', "lacks the row"),
    (0, 'section 4.1, Algorithm 2"', 'section 4.2, Algorithm 2"', "lacks the row"),
    (0, '"p/2 rounds', '"p rounds', "lacks the row"),
    (0, '"a power of two', '"a power of three', "lacks the row"),
    (0, '"xor"', '"xxor"', "has other tables"),
    (0, '"for any inclusive scan whose sums need not be canonical"', '""', "does not say its idea"),
    (1, "**Chen et al. 2005**", "**Chan et al. 2005**", "names what the bibliography lacks"),
    (1, "**Hillis and Steele 1986**", "**Hillis 1986**", "names what the bibliography lacks"),
    (1, "**Chen et al. 2005**", "**Chen 2004**: \n- **Chen et al. 2005**", "no source names Chen 2004"),
    (2, "| scan `doubling` |", "| scan `dubling` |", "lacks the row"),
    (2, "| scan `doubling` |", "| scan `doubling` | twice |\n| scan `doubling` |", "has other tables"),
    (2, "<br>`--early`", "", "lacks the row"),
]:
    changed = list(given)
    changed[at] = changed[at].replace(old, new)
    if changed == given or not any(complaint in said for said in complaints(*changed)):
        failures.append(f"'{new}' for '{old}' is not refused")

sys.exit("\n".join(failures) or 0)
