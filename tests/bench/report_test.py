import json
import os
import tempfile
import unittest

from bench import report

MACHINE = {"processor": "a processor", "cores": 2, "system": "a system"}


def made(loaded=False):
    return report.Report("check", "2026-01-31", MACHINE, 0.123, loaded)


class Limits(unittest.TestCase):
    def missed(self, value, **limit):
        one = made()
        one.figure("x", value, **limit)
        return len(report.missed(one.contents())) == 1

    def test_at_most_and_at_least(self):
        self.assertFalse(self.missed(1.25, at_most=1.25))
        self.assertTrue(self.missed(1.26, at_most=1.25))
        self.assertFalse(self.missed(0.97, at_least=0.97))
        self.assertTrue(self.missed(0.96, at_least=0.97))

    def test_without_a_limit_nothing_is_missed(self):
        self.assertFalse(self.missed(1e9))

    def test_what_is_no_number_is_missed(self):
        self.assertTrue(self.missed(float("nan"), at_most=1))
        self.assertTrue(self.missed(float("nan"), at_least=1))


class Samples(unittest.TestCase):
    def test_a_sample_is_its_median_and_the_interval(self):
        one = made()
        one.sample("x", [5.0, 1.0, 3.0], "s", at_most=2)
        (figure,) = report.missed(one.contents())
        self.assertEqual((figure["value"], figure["spread"], figure["n"]), (3.0, [1.0, 5.0], 3))


class Files(unittest.TestCase):
    def test_what_is_written_is_read_again(self):
        one = made()
        one.figure("a | b", 2.5, "ms", at_most=3, spread=[2, 3], n=7)
        one.note("a note")
        with tempfile.TemporaryDirectory() as folder:
            first, second = one.write(folder), one.write(folder)
            self.assertEqual(os.path.basename(first), "check-2026-01-31.json")
            self.assertEqual(os.path.basename(second), "check-2026-01-31-2.json")
            self.assertEqual(report.load(first), one.contents())

    def test_other_files_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("text", "no"), ("list", "[]"), ("schema", json.dumps({**made().contents(), "schema": 9}))):
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write(text)
                with self.assertRaisesRegex(ValueError, "not a report of schema 1"):
                    report.load(path)
            with self.assertRaisesRegex(ValueError, "No such file"):
                report.load(os.path.join(folder, "missing"))


class Table(unittest.TestCase):
    def test_has_case_value_spread_and_verdict(self):
        one = made()
        one.figure("a case | first", 1.5, "ms", at_most=1, spread=[1.25, 2], n=9)
        one.figure("a case | second", 3, at_least=2)
        lines = report.table(one.contents()).splitlines()
        self.assertEqual(lines[2], "a case")
        self.assertEqual(lines[3].split(), "first 1.5 1.25 to 2 9 ms at most 1: MISSED".split())
        self.assertEqual(lines[4].split(), "second 3 1 at least 2: ok".split())
        self.assertEqual(len(lines), 5)

    def test_says_that_the_machine_was_loaded(self):
        self.assertIn("LOADED MACHINE", report.table(made(loaded=True).contents()))
        self.assertNotIn("LOADED MACHINE", report.table(made().contents()))


if __name__ == "__main__":
    unittest.main()
