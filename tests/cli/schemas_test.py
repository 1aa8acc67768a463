"""schemas_test.py GENERATOR VERIFIER REPORT SCHEMA...: the JSON that commands print matches its schema.

Each schema also refuses documents with a member too few, a member too many, or a value of another type.
"""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

from jsonschema import Draft202012Validator

# OPEN: objects with members of any name, all of which may be missing. SIGNED: numbers that may be negative.
OPEN = ["parameters"]
SIGNED = ["comparing_seconds", "saved_seconds"]

CALLS = {"groups": 1, "ranks": 16, "remote_ranks": 0, "nodes": 4, "ranks_a_node": [4, 4], "calls": 3, "all_bytes": 96, "seconds": 0.5}
TIMES = {"timed_calls": 3, "native_seconds": 0.75, "taken_seconds": 0.5, "comparing_seconds": -0.125}
REPORT = {
    "schema": 3,
    "ranks": 16,
    "seconds": 2,
    "collective_seconds": 1,
    "saved_seconds": 0.25,
    "calls": [
        {"collective": "bcast", **CALLS, "bytes": [16, 63], "schedule": "binomial", "reason": "chosen", **TIMES},
        {"collective": "gatherv", **CALLS, "bytes": None, "schedule": "native", "reason": "no rule", **TIMES},
    ],
}


def run(code, *command):
    """Runs a command that must end with that exit code. Returns the JSON document that it prints."""
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"{command} ends with {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout.decode("utf-8"))


def quiet(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def generate(*arguments):
    quiet(GENERATOR, "generate", *arguments)


def check(code, *arguments):
    return run(code, VERIFIER, "check", *arguments, "--format", "json")


def prove(code, *arguments):
    return run(code, VERIFIER, "prove", *arguments, "--format", "json")


def places(value, path=()):
    """Yields the path of each value in a document, as a tuple of keys and indices."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, member in members:
        yield from places(member, path + (key,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def mutants(document):
    """Yields wrong documents, each with a description of its mistake: (description, document)."""
    for path in places(document):
        value, where = at(document, path), "/".join(map(str, path))
        if isinstance(value, dict):
            wrong = copy.deepcopy(document)
            at(wrong, path)["unknown"] = []
            yield f"a member too many in {where}", wrong
        if not path:
            continue
        for other in [{"unknown": []}] + ([] if path[-1] in SIGNED else [-1.5]):
            wrong = copy.deepcopy(document)
            at(wrong, path[:-1])[path[-1]] = other
            yield f"{other} for {where}", wrong
        if isinstance(path[-1], str) and path[-2:-1] != ("parameters",):
            wrong = copy.deepcopy(document)
            del at(wrong, path[:-1])[path[-1]]
            yield f"no {where}", wrong


def documents():
    """Returns documents for each schema, of many kinds."""
    write("shift.txt", SHIFT)
    write("short.txt", SHIFT.replace("1 .. ranks", "1 .. min(ranks, 3)"))
    write("many.txt", SHIFT.replace("copy", "require 9 < ranks\ncopy", 1))
    write("shift.proof", PROOF)
    write("weak.proof", PROOF.replace("target - source", "source - target"))
    write("report.json", json.dumps(REPORT))
    generate("alltoall", "--algorithm", "hierarchical-factor", "--nodes", "1,2,3", "--out", "timed.qs")
    generate("alltoall", "--algorithm", "tuna", "--nodes", "any", "--out", "any.qs")
    generate("allgather", "--algorithm", "blocked-ring", "--nodes", "4", "--out", "ring.qs")
    generate("broadcast", "--algorithm", "binomial", "--nodes", "65", "--out", "many.qs")
    generate("allgather", "--algorithm", "segment-map", "--nodes", "any", "--remote-nodes", "any", "--out", "groups.qs")
    generate("alltoall", "--program", "short.txt", "--nodes", "4", "--out", "short.qs")
    generate("alltoall", "--program", "shift.txt", "--nodes", "4", "--out", "shift.qs")
    choose = run(0, GENERATOR, "choose", "alltoall", "--nodes", "2x2", "--bytes", "8", "--out", "chosen.txt", "--format", "json")
    return {
        "list": [run(0, GENERATOR, "list", "--format", "json")],
        "check": [
            check(0, "timed.qs", "any.qs", "ring.qs", "many.qs", "shift.qs"),
            check(0, "groups.qs", "--nodes", "2,3", "--remote-nodes", "2"),
            check(0, "any.qs", "--nodes", "1,2"),
            check(1, "short.qs", "shift.qs"),
            check(2, "shift.txt", "timed.qs", b'\xc3\xa9 \xff"<\\\n.qs'),
            check(0, "--program", "shift.txt", "--up-to", "5"),
            check(1, "--program", "short.txt", "--up-to", "8"),
            check(3, "--program", "many.txt", "--up-to", "5"),
            check(2, "--program", "many.txt"),
        ],
        "prove": [
            prove(0, "alltoall.factor", "hierarchical-factor"),
            prove(0, "--program", "shift.txt", "--proof", "shift.proof"),
            prove(3, "--program", "shift.txt", "--proof", "weak.proof"),
            prove(1, "--program", "short.txt", "--proof", "shift.proof"),
            prove(0, "--program", "shift.txt", "--proof", "shift.proof", "--second-solver", "cvc5"),
        ],
        "choose": [choose],
        "compare": [
            run(0, GENERATOR, "compare", "alltoall", "--nodes", "2x2", "--bytes", "8..64", "--format", "json"),
            run(0, GENERATOR, "compare", "allgather", "--nodes", "2", "--remote-nodes", "3", "--bytes", "8", "--format", "json"),
        ],
        "report": [run(0, REPORT_COMMAND, "report", "report.json", "report.json", "--format", "json")],
    }


class Schemas(unittest.TestCase):
    def test_every_schema_is_one_and_has_documents(self):
        self.assertEqual(set(SCHEMAS), set(DOCUMENTS))
        for name, schema in SCHEMAS.items():
            Draft202012Validator.check_schema(schema)
            self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", name)

    def test_documents_are_as_their_schemas_say(self):
        for name, all_documents in DOCUMENTS.items():
            for document in all_documents:
                errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(SCHEMAS[name]).iter_errors(document)]
                self.assertEqual(errors, [], name)

    def test_wrong_documents_are_refused(self):
        for name, all_documents in DOCUMENTS.items():
            refuses = Draft202012Validator(SCHEMAS[name])
            tried = 0
            for document in map(small, all_documents):
                self.assertTrue(refuses.is_valid(document), name)
                for words, wrong in mutants(document):
                    self.assertFalse(refuses.is_valid(wrong), f"{name}: {words}")
                    tried += 1
            self.assertGreater(tried, 8, name)

    def test_other_documents_are_refused(self):
        for name, schema in SCHEMAS.items():
            for other, all_documents in DOCUMENTS.items():
                if other != name:
                    self.assertFalse(Draft202012Validator(schema).is_valid(all_documents[0]), f"{name} takes a document of {other}")

    def test_verdicts_are_those_of_the_exit_codes(self):
        def verdicts(document):
            return [result["verdict"] for result in document["results"]]

        found = [verdicts(document) for document in DOCUMENTS["check"]]
        self.assertEqual(found[0], ["verified", "proven", "verified", "verified", "verified"])
        self.assertEqual(found[3:6], [["refuted", "verified"], ["bad input", "verified", "bad input"], ["verified"]])
        self.assertEqual(found[6:], [["refuted"], ["unknown"], ["bad input"]])
        self.assertEqual(
            [[program["verdict"] for program in document["programs"]] for document in DOCUMENTS["prove"]],
            [["proven", "proven"], ["proven"], ["unknown"], ["refuted"], ["proven"]],
        )
        self.assertEqual(DOCUMENTS["check"][6]["results"][0]["failing"]["nodes"], ["4x1"])

    def test_names_of_files_may_have_any_bytes(self):
        self.assertEqual(DOCUMENTS["check"][4]["results"][2]["file"], 'é \ufffd"<\\\n.qs')


def small(document):
    """Returns the document with the first three of each list of objects, so that it has fewer mutants."""
    if isinstance(document, dict):
        return {key: small(value) for key, value in document.items()}
    if isinstance(document, list):
        return [small(value) for value in (document[:3] if document and isinstance(document[0], dict) else document)]
    return document


if __name__ == "__main__":
    GENERATOR, VERIFIER, REPORT_COMMAND = (os.path.abspath(path) for path in sys.argv[1:4])
    SHIFT, PROOF = (open(f"tests/cli/shift.{end}", encoding="utf-8").read() for end in ["txt", "proof"])
    SCHEMAS = {}
    for path in sys.argv[4:]:
        with open(path, encoding="utf-8") as schema_file:
            SCHEMAS[os.path.basename(path).removesuffix(".schema.json")] = json.load(schema_file)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        DOCUMENTS = documents()
        unittest.main(argv=sys.argv[:1])
