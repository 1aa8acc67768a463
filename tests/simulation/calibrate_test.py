"""calibrate_test.py PROGRAM: //tools:calibrate finds the parameters of simulated machines (bench/simulation.py): 2 us
between nodes, and 0.8 ns per byte at a node's one port. On the network busy, a message also occupies each of its two
ranks for 1 us."""
import os
import re
import sys
import tempfile
import unittest

from bench import machine, simulation

PROGRAM = os.path.abspath(sys.argv[1])


class Calibrate(unittest.TestCase):
    def measure(self, kind, nodes, size=16, options=()):
        """Returns the values by their flags: times in ns or ps as integers, the port as its word."""
        with tempfile.TemporaryDirectory() as folder:
            network = simulation.Network(kind, nodes, folder)
            network.configuration = network.configuration + list(options)
            command = network.command(network.ranks, network.hosts, [], [PROGRAM, "--bytes", size, "--seconds", 0])
            printed = machine.run(command, timeout=100, cwd=folder)
        self.assertEqual(printed.count("\n"), 1, printed)
        self.assertTrue(printed.startswith(f"--bytes {size} --"), printed)
        found = re.findall(r"--([a-z-]+) (\w+)", printed.split(" ", 2)[2])
        return {flag: value if flag == "port" else int(re.sub("[np]s$", "", value)) for flag, value in found}

    def near(self, found, expected, within):
        self.assertLess(abs(found - expected), within * expected, f"{found}, not {expected}")

    def test_one_rank_a_node(self):
        found = self.measure("linear", "2x1")
        self.near(found["alpha"], 2013, 0.01)
        self.near(found["beta"], 800, 0.01)
        self.assertLess(found["gap"], 20)
        self.assertEqual(list(found), ["alpha", "beta", "gap", "copy", "beta-copy", "eager", "port"])

    def test_messages_are_as_long_as_blocks(self):
        """On the network flat, longer messages delay each other."""
        self.assertLess(self.measure("flat", "2x1", 16)["gap"], 30)
        self.assertGreater(self.measure("flat", "2x1", 512)["gap"], 500)

    def test_ranks_share_the_port_of_their_node(self):
        found = self.measure("busy", "2x4")
        self.assertEqual(found["port"], "node")
        self.near(found["alpha"], 2013, 0.05)
        self.near(found["beta"], 800, 0.01)
        self.near(4 * found["gap"], 1000, 0.06)
        self.near(4 * found["beta-inside"], 100, 0.01)
        self.near(found["alpha-inside"] + 4 * found["gap-inside"], 1200, 0.01)
        self.assertLess(found["copy"], 3)
        self.assertEqual(found["beta-copy"], 0)
        self.near(found["beta-alone"], 100, 0.01)

    def test_what_leaves_before_its_receiver_is_there(self):
        self.assertEqual(self.measure("linear", "2x1")["eager"], 0)
        longest = "--cfg=smpi/send-is-detached-thresh:5000"
        self.assertEqual(self.measure("linear", "2x1", options=[longest])["eager"], 4096)

    def test_each_rank_has_its_own_memory_on_one_node(self):
        found = self.measure("busy", "4")
        self.assertEqual(found["port"], "rank")
        self.near(found["alpha-inside"], 200, 0.05)
        self.near(found["beta-inside"], 100, 0.01)
        self.near(found["gap-inside"], 1000, 0.01)
        self.assertEqual(
            list(found),
            ["alpha-inside", "beta-inside", "gap-inside", "beta-alone", "copy", "beta-copy", "eager", "port"],
        )

    def test_the_nodes_with_most_ranks_are_measured(self):
        """The ranks stay in step: in each round, each waits for another. So no rank uses the port more than the
        others."""
        found = self.measure("busy", "1,3,3")
        self.assertEqual(found["port"], "node")
        self.near(found["beta"], 800, 0.01)
        self.near(3 * found["gap"], 1000, 0.06)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
