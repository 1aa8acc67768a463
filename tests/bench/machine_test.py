import unittest

from bench import machine


class Calm(unittest.TestCase):
    def await_calm(self, loads, patience):
        slept, loads = [], iter(loads)
        now = [next(loads)]

        def sleep(seconds):
            slept.append(seconds)
            now[0] = next(loads, now[0])

        return machine.await_calm(patience, 0.35, lambda: now[0], sleep), sum(slept)

    def test_a_calm_machine_is_not_waited_for(self):
        self.assertEqual(self.await_calm([0.2], 150), (True, 0))

    def test_a_machine_that_calms_is_waited_for(self):
        self.assertEqual(self.await_calm([2, 1, 0.3], 150), (True, 10))

    def test_a_machine_that_stays_loaded_is_given_up(self):
        calm, waited = self.await_calm([2], 150)
        self.assertFalse(calm)
        self.assertGreaterEqual(waited, 150)


class Commands(unittest.TestCase):
    def test_a_failure_is_told_by_its_last_words(self):
        with self.assertRaisesRegex(machine.Unusable, "sh failed: second"):
            machine.run(["sh", "-c", "echo first >&2; echo second >&2; exit 3"])

    def test_a_missing_program_is_told(self):
        with self.assertRaisesRegex(machine.Unusable, "no-such-program is not there"):
            machine.run(["no-such-program"])

    def test_a_hang_is_an_error(self):
        with self.assertRaisesRegex(machine.Unusable, "did not end"):
            machine.run(["sleep", "60"], timeout=0.1)

    def test_a_launcher_that_hangs_after_the_last_line_is_ended(self):
        lines, errors = machine.lines_until(["sh", "-c", "echo one; echo bad >&2; echo end; sleep 60"], "end", 30)
        self.assertEqual((lines, errors), (["one", "end"], "bad\n"))

    def test_one_that_hangs_before_is_ended_too(self):
        lines, _ = machine.lines_until(["sh", "-c", "echo one; sleep 60"], "end", 5)
        self.assertEqual(lines, ["one"])

    def test_each_repetition_is_timed(self):
        done = []
        times = machine.elapsed(3, lambda: done.append(0))
        self.assertEqual((len(times), len(done)), (3, 3))
        self.assertTrue(all(0 <= seconds < 30 for seconds in times))


if __name__ == "__main__":
    unittest.main()
