"""real_test.py PROGRAM LIBRARY TOOL IDLE: a program of Debian's has its native results in every mode of the preload
library. The class Refusals shows that other results are refused."""
import dataclasses
import sys
import unittest

from bench import real

NAME, LIBRARIES, TOOL = None, None, None
ADDED = "1e-15"  # the tool adds this to sums of doubles


class Refusals(unittest.TestCase):
    def setUp(self):
        self.program = real.Program(packages=(), command=(), residuals="PASSED")
        self.native = real.Result(0, ["energy 0.29139304715136399", "error 3e-16 PASSED", "-- end"], 1, None, 0.1)

    def refused(self, text, exact, lines=None, code=0):
        result = dataclasses.replace(self.native, lines=lines or self.native.lines, code=code)
        self.assertIn(text, real.difference(self.program, self.native, result, exact) or "the same")

    def test_other_bits_are_refused_and_near_numbers_only_where_sums_may_differ(self):
        last_bit = ["energy 0.29139304715136394", *self.native.lines[1:]]
        self.refused("line 1 is 'energy 0.29139304715136394' instead of", True, last_bit)
        self.refused("the same", False, last_bit)
        self.refused("line 1", False, ["energy 0.2914", *self.native.lines[1:]])
        self.refused("line 1", False, ["energy nan", *self.native.lines[1:]])
        self.refused("the same", False, [self.native.lines[0], "error 5e-16 PASSED", "-- end"])
        self.refused("line 2", False, [self.native.lines[0], "error 5e-16 FAILED", "-- end"])

    def test_missing_and_added_lines_and_other_ends_are_refused(self):
        self.refused("line 3 is '(nothing)'", True, self.native.lines[:2])
        self.refused("line 4 is 'quadrille: a word' instead of '(nothing)'", False, [*self.native.lines, "quadrille: a word"])
        self.refused("it ends with 124 (timeout) instead of 0", False, code=124)

    def test_a_library_that_does_nothing_is_refused(self):
        def report(*schedules):
            return dataclasses.replace(self.native, calls=[{"schedule": name, "calls": 3} for name in schedules])

        self.assertEqual(real.unserved("adapt", self.native), "the library reports no call")
        self.assertEqual(real.unserved("off", report("native")), "the library has done something")
        for mode in ("learn", "verify", *real.FORCED):
            self.assertEqual(real.unserved(mode, report("native")), "schedules served no call")
            self.assertIsNone(real.unserved(mode, report("native", "ring")))

    def test_forced_modes_name_the_first_and_the_last_schedule_of_all_collectives(self):
        first, last = real.forced("forced first"), real.forced("forced last")
        self.assertEqual(len(first), 17 + 2)
        self.assertEqual((first["QUADRILLE_BCAST"], last["QUADRILLE_BCAST"]), ("binary-nodes", "tree-nodes"))
        self.assertEqual(real.forced("forced between groups")["QUADRILLE_ALLGATHERV"], "leader")


class Program(unittest.TestCase):
    def test_results_are_the_native_ones(self):
        program = real.PROGRAMS[NAME]
        for mode, wrong, result in real.compare(program, real.modes(program), LIBRARIES):
            print(f"{NAME}, {mode}: {wrong or 'as natively'}; {len(result.lines)} lines, and {result.times} of times; ", end="")
            print(f"schedules served {result.served} calls; {result.seconds:.2f} s", flush=True)
            with self.subTest(mode=mode):
                self.assertIsNone(wrong)

    def test_a_tool_that_adds_to_sums_is_noticed(self):
        if not NAME.startswith("lammps"):
            return
        native, other = (
            real.run(real.PROGRAMS[NAME], real.NATIVE, LIBRARIES, {"LD_PRELOAD": TOOL, **added})
            for added in ({}, {"TOOL_ADDS": ADDED})
        )
        self.assertIsNotNone(real.difference(real.PROGRAMS[NAME], native, other, exact=True))


if __name__ == "__main__":
    NAME = sys.argv[1]
    library, TOOL, idle = map(real.os.path.abspath, sys.argv[2:])
    LIBRARIES = real.Libraries({real.PROGRAMS[NAME].mpi: library}, {real.PROGRAMS[NAME].mpi: idle})
    unittest.main(argv=sys.argv[:1])
