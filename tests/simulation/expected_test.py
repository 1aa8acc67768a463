"""expected_test.py TABLE GENERATOR PROGRAM: simulated times equal those in the table, and a wrong time is noticed."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

from bench import expected

TABLE, GENERATOR, PROGRAM = sys.argv[1:4]


def run(table):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = expected.main([table, GENERATOR, PROGRAM])
    return code, out.getvalue()


class Expected(unittest.TestCase):
    def test_times_are_those_of_the_table(self):
        code, printed = run(TABLE)
        self.assertEqual(code, 0, f"\n{printed}if that is meant to be so: see bench/expected.py")

    def test_another_time_is_noticed(self):
        row = next(row for row in expected.read(TABLE) if isinstance(row, list))
        row[5] = str(1.0001 * float(row[5]))
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "table.txt")
            with open(table, "w") as file:
                file.write(" ".join(row) + "\n")
            code, printed = run(table)
        self.assertEqual(code, 1)
        self.assertIn("0.999900 of what is expected", printed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
