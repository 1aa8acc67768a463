"""goal_test.py GENERATOR: the exported GOAL of every algorithm follows GOAL's grammar. Each send has its
receive, and no operation waits for itself, directly or through others."""
import collections
import graphlib
import os
import re
import subprocess
import sys
import tempfile
import unittest

GENERATOR = sys.argv[1]
NODES = ("1,2,3", "4x2", "5x1")  # each algorithm is exported on the first of these that it serves
LINE = {
    "send": re.compile(r"(\w+): send (\d+)b to (\d+)"),
    "recv": re.compile(r"(\w+): recv (\d+)b from (\d+)"),
    "calc": re.compile(r"(\w+): calc (\d+)"),
    "requires": re.compile(r"(\w+) requires (\w+)"),
}


def parse(text):
    """Returns the bytes of the messages in order, by (kind, from, to), and the requirements of each rank."""
    head, *blocks = text.split("\nrank ")
    ranks = int(re.fullmatch(r"num_ranks (\d+)\n", head)[1])
    messages, requirements = collections.defaultdict(list), []
    for number, block in enumerate(blocks):
        first, *lines, last, end = block.split("\n")
        assert (first, last, end) == (f"{number} {{", "}", ""), block
        labels, needs = set(), collections.defaultdict(set)
        for line in lines:
            kind, match = next((kind, match) for kind, form in LINE.items() if (match := form.fullmatch(line)))
            if kind == "requires":
                assert {match[1], match[2]} <= labels, line
                needs[match[1]].add(match[2])
                continue
            assert match[1] not in labels, line
            labels.add(match[1])
            if kind == "send":
                messages["send", number, int(match[3])].append(int(match[2]))
            elif kind == "recv":
                messages["recv", int(match[3]), number].append(int(match[2]))
        requirements.append(needs)
    assert len(blocks) == ranks
    return messages, requirements


class Goal(unittest.TestCase):
    def check(self, text):
        messages, requirements = parse(text)
        for kind, sender, receiver in list(messages):
            other = "recv" if kind == "send" else "send"
            self.assertEqual(messages[kind, sender, receiver], messages[other, sender, receiver])
        for needs in requirements:
            list(graphlib.TopologicalSorter(needs).static_order())

    def test_of_every_algorithm(self):
        exported = 0
        lines = subprocess.run([GENERATOR, "list"], check=True, capture_output=True, text=True).stdout.splitlines()
        with tempfile.TemporaryDirectory() as folder:
            schedule, goal = os.path.join(folder, "s.qs"), os.path.join(folder, "s.goal")
            for line in lines:
                words = line.removesuffix(" between groups").split()
                if line.startswith(" ") or len(words) != 2:
                    continue
                remote = ["--remote-nodes", "2,1"] if line.endswith(" between groups") else []
                for nodes in NODES:
                    making = [GENERATOR, "generate", words[0], "--algorithm", words[1], "--nodes", nodes, *remote, "--out", schedule]
                    if subprocess.run(making, capture_output=True).returncode != 0:
                        continue  # the algorithm does not serve these nodes
                    size = [] if words[0] == "barrier" else ["--bytes", "100"]
                    subprocess.run([GENERATOR, "simulate", schedule, *size, "--goal", goal], check=True, capture_output=True)
                    with self.subTest(line=line, nodes=nodes), open(goal) as file:
                        self.check(file.read())
                    exported += 1
                    break
        print(f"{exported} algorithms exported")
        self.assertGreater(exported, 80)

    def test_refuses_what_is_wrong(self):
        for wrong in (
            "num_ranks 1\n\nrank 0 {\ns0: send 8b to 0\n}\n",
            "num_ranks 2\n\nrank 0 {\ns0: send 8b to 1\n}\n\nrank 1 {\nr0: recv 9b from 0\n}\n",
        ):
            with self.assertRaises(AssertionError):
                self.check(wrong)
        with self.assertRaises(graphlib.CycleError):
            self.check("num_ranks 1\n\nrank 0 {\na: calc 0\nb: calc 0\na requires b\nb requires a\n}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
