"""tutorial_test.py GENERATOR VERIFIER DOCUMENT: the document's commands print what it says.

A block that begins with "```text NAME" is written to that file; in one that begins with "```console"
each line after "$ " is run, in order, and what follows is what it prints, all of it, but for times and
for what a line "..." stands for.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

BLOCK = re.compile(r"^```(text|console)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODES = {"REFUTED": 1, "generate: ": 2, "prove: ": 2, "UNKNOWN": 3}


def blocks(document):
    """(kind, name, text) of each block, from first to last."""
    return [match.groups() for match in BLOCK.finditer(document)]


def session(text):
    """(command, expected lines) of each command of a console block."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif line or commands[-1][1]:
            commands[-1][1].append(line)
    return [(command, "\n".join(lines).strip("\n").splitlines()) for command, lines in commands]


def timeless(line):
    return re.sub(r"\d+\.\d+ s\b", "TIME s", line)


def prints(expected, found):
    """Whether the lines are the expected ones; "..." stands for any lines, at least one."""
    if not expected:
        return not found
    if expected[0] == "...":
        return any(prints(expected[1:], found[i:]) for i in range(1, len(found) + 1))
    return bool(found) and timeless(expected[0]) == timeless(found[0]) and prints(expected[1:], found[1:])


def exit_code(expected):
    """What a command that prints this ends with."""
    for word, code in EXIT_CODES.items():
        if any(word in line for line in expected[:1]):
            return code
    return 0


class Tutorial(unittest.TestCase):
    def run_command(self, command, expected):
        for name, program in PROGRAMS.items():
            command = command.replace(f"bazel run //{name} -- ", program + " ")
        self.assertNotIn("bazel run", command)
        result = subprocess.run(
            ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        found = result.stdout.splitlines()
        self.assertTrue(prints(expected, found), f"{command} prints\n{result.stdout}")
        self.assertEqual(result.returncode, exit_code(expected), command)

    def test_commands_print_what_the_document_says(self):
        commands = 0
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for kind, name, text in blocks(DOCUMENT):
                if kind == "text":
                    with open(name, "w", encoding="utf-8") as file:
                        file.write(text)
                    continue
                for command, expected in session(text):
                    self.run_command(command, expected)
                    commands += 1
            os.chdir("/")
        self.assertGreaterEqual(commands, 15)

    def test_every_command_of_the_document_is_in_a_block_that_is_run(self):
        run = "".join(text for kind, _, text in blocks(DOCUMENT) if kind == "console")
        for line in DOCUMENT.splitlines():
            if line.startswith("$ "):
                self.assertIn(line, run)

    def test_the_first_program_has_ten_lines(self):
        self.assertEqual(len(blocks(DOCUMENT)[0][2].splitlines()), 10)


class Comparison(unittest.TestCase):
    def test_other_lines_are_noticed(self):
        self.assertTrue(prints(["a", "...", "in 0.11 s"], ["a", "b", "c", "in 2.50 s"]))
        self.assertTrue(prints(["a", "..."], ["a", "b"]))
        for found in [[], ["a"], ["a", "in 2.50 s"], ["a", "b", "in 2.50 s", "c"], ["b", "c", "in 2.50 s"]]:
            self.assertFalse(prints(["a", "...", "in 0.11 s"], found), found)
        self.assertFalse(prints(["a"], ["a", "b"]))


if __name__ == "__main__":
    PROGRAMS = {"generator": os.path.abspath(sys.argv[1]), "verifier": os.path.abspath(sys.argv[2])}
    with open(sys.argv[3], encoding="utf-8") as document_file:
        DOCUMENT = document_file.read()
    os.environ.pop("BUILD_WORKING_DIRECTORY", None)
    unittest.main(argv=sys.argv[:1])
