"""commands_test.py TREE.tar MPIRUN.sh DOCUMENT...: the documents' commands print what the documents say.

The test follows each document from top to bottom in its own folder, with the installed `quadrille`. It writes a
block that begins with "```text NAME" to that file. In a block that begins with "```console" it runs each line after
"$ ", and compares the output with the lines below. A line "..." stands for one line or more, and times may differ.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

BLOCK = re.compile(r"^```(text|console)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODES = {"REFUTED": 1, "generate: ": 2, "prove: ": 2, "UNKNOWN": 3}
# Starts the ranks in the way a machine with enough cores does.
MPIRUN = '#!/usr/bin/env bash\n. "{}"\nranks=$2\nshift 2\nstart_ranks openmpi "$ranks" 60 "$@"\n'


def blocks(document):
    """Returns (kind, name, text) of each block, from first to last."""
    return [match.groups() for match in BLOCK.finditer(document)]


def session(text):
    """Returns (command, expected lines) for each command of a console block."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif line or commands[-1][1]:
            commands[-1][1].append(line)
    return [(command, "\n".join(lines).strip("\n").splitlines()) for command, lines in commands]


def timeless(line):
    line = line.replace("bazel run //verifier -- ", "quadrille ")
    return re.sub(r"\d+\.\d+ s\b", "TIME s", line)


def prints(expected, found):
    """Returns whether the lines are the expected ones. "..." stands for one line or more."""
    if not expected:
        return not found
    if expected[0] == "...":
        return any(prints(expected[1:], found[i:]) for i in range(1, len(found) + 1))
    return bool(found) and timeless(expected[0]) == timeless(found[0]) and prints(expected[1:], found[1:])


def exit_code(expected):
    """Returns the exit code of a command that prints this."""
    for word, code in EXIT_CODES.items():
        if any(word in line for line in expected[:1]):
            return code
    return 0


class Documents(unittest.TestCase):
    def run_command(self, command, expected):
        self.assertNotIn("bazel", command)
        result = subprocess.run(
            ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        found = "\n".join(result.stdout.splitlines()).strip("\n").splitlines()
        self.assertTrue(prints(expected, found), f"{command} prints\n{result.stdout}")
        self.assertEqual(result.returncode, exit_code(expected), command)

    def test_commands_print_what_the_document_says(self):
        for name, document in DOCUMENTS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                for kind, file_name, text in blocks(document):
                    if kind == "console":
                        for command, expected in session(text):
                            self.run_command(command, expected)
                    elif file_name:
                        with open(file_name, "w", encoding="utf-8") as file:
                            file.write(text)
                os.chdir("/")

    def test_every_command_of_a_document_is_in_a_block_that_is_run(self):
        commands = 0
        for document in DOCUMENTS.values():
            run = "".join(text for kind, _, text in blocks(document) if kind == "console")
            for line in document.splitlines():
                if line.startswith("$ "):
                    self.assertIn(line, run)
                    commands += 1
        self.assertGreaterEqual(commands, 25)

    def test_a_first_program_has_ten_lines(self):
        for name in ["README.md", "language.md"]:
            first = next(text for kind, file, text in blocks(DOCUMENTS[name]) if kind == "text" and file)
            self.assertEqual(len(first.splitlines()), 10, name)

    def test_the_readme_has_150_lines_at_most(self):
        self.assertLessEqual(len(DOCUMENTS["README.md"].splitlines()), 150)


class Comparison(unittest.TestCase):
    def test_other_lines_are_noticed(self):
        self.assertTrue(prints(["a", "...", "in 0.11 s"], ["a", "b", "c", "in 2.50 s"]))
        self.assertTrue(prints(["a", "..."], ["a", "b"]))
        for found in [[], ["a"], ["a", "in 2.50 s"], ["a", "b", "in 2.50 s", "c"], ["b", "c", "in 2.50 s"]]:
            self.assertFalse(prints(["a", "...", "in 0.11 s"], found), found)
        self.assertFalse(prints(["a"], ["a", "b"]))


def install(tree, launcher):
    """Puts the installed commands and the launcher first in PATH."""
    prefix = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    subprocess.run(["tar", "-C", prefix, "-xf", tree], check=True)
    with open(f"{prefix}/bin/mpirun", "w", encoding="utf-8") as file:
        file.write(MPIRUN.format(launcher))
    os.chmod(f"{prefix}/bin/mpirun", 0o755)
    os.environ["PATH"] = f"{prefix}/bin:{os.environ['PATH']}"


if __name__ == "__main__":
    install(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    DOCUMENTS = {os.path.basename(path): open(path, encoding="utf-8").read() for path in sys.argv[3:]}
    os.environ.pop("BUILD_WORKING_DIRECTORY", None)
    unittest.main(argv=sys.argv[:1])
