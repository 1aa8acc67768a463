"""race_test.py PROGRAM: the preload library adapts over SimGrid's MPI, with right bytes and equal times in all
runs."""
import os
import sys
import unittest

from bench import machine, race, simulation

PROGRAM = os.path.abspath(sys.argv[1])
CALLS = 200
OFF = {"QUADRILLE": "off"}


def case(collective="allgather", size=4096, nodes="2x4"):
    return race.Case(PROGRAM, "flat", nodes, collective, size)


class Race(unittest.TestCase):
    def test_two_runs_take_the_same_time_and_receive_the_right_bytes(self):
        first, second = (case().run(CALLS, {}, checked=True) for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual([calls for calls, _ in first], list(range(CALLS // 10, CALLS + 1, CALLS // 10)))

    def test_calls_enter_the_preload_library(self):
        """The library compares schedules during these calls, so they take another time than MPI's own calls alone."""
        self.assertNotEqual(case().run(CALLS, {}), case().run(CALLS, OFF))

    def test_a_fixed_choice_is_followed(self):
        names = "linear-ring", "bruck", "native"
        self.assertEqual(len({case().fixed(name, CALLS) for name in names}), len(names))
        self.assertEqual(case().fixed("native", 10), case().native(10))

    def test_every_collective_receives_the_right_bytes(self):
        for collective in race.COLLECTIVES:
            one = case(collective, 64)
            for name in "native", race.choices(collective, 64)[0]:
                with self.subTest(collective=collective, choice=name):
                    self.assertEqual(one.run(4, one.forced(name), checked=True)[-1][0], 4)

    def test_wrong_bytes_are_noticed(self):
        """The simulated ranks share their buffers, so they overwrite each other's bytes."""
        shared = ["--cfg=smpi/shared-malloc:local", simulation.SHARED]
        one = case("alltoall", 65536)
        self.assertEqual(one.run(2, OFF, options=shared)[-1][0], 2)
        with self.assertRaisesRegex(machine.Unusable, "bytes are wrong"):
            one.run(2, OFF, checked=True, options=shared)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
