#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek linear-regression` from outside, against sums of exact fractions."""
import array
import gzip
import json
import math
import random
import subprocess
import unittest
from fractions import Fraction

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b""):
    return subprocess.run([TOOL, "linear-regression", *arguments], input=stdin,
                          capture_output=True, timeout=1000)


def oracle(points):
    """Computes exactly: all coordinates are multiples of 1/128, summed up as integers in this unit."""
    scaled = [(int(128 * x), int(128 * y)) for x, y in points]
    assert all((a / 128, b / 128) == tuple(p) for (a, b), p in zip(scaled, points))
    n = len(points)
    x, y = (sum(p[c] for p in scaled) for c in (0, 1))
    xx, yy, xy = (sum(p[a] * p[b] for p in scaled) for a, b in ((0, 0), (1, 1), (0, 1)))
    slope = Fraction(n * xy - x * y, n * xx - x * x)
    r2 = Fraction((n * xy - x * y) ** 2, (n * xx - x * x) * (n * yy - y * y))
    return {"n": n, "slope": float(slope), "intercept": float((y - slope * x) / n / 128), "r2": float(r2)}


def random_points(seed, count):
    source = random.Random(seed)
    xs = [source.randrange(-3200, 6400) / 64 for _ in range(count)]  # fractions that are quick to add
    return [(x, 3 - 0.5 * x + source.randrange(-512, 512) / 64) for x in xs]


def as_csv(points):
    return "".join(f"{x!r},{y!r}\n" for x, y in points).encode()


class Answers(FolderCase):
    def agrees(self, expected, *arguments, **more):
        answer = self.report_of(run("--json", *arguments, **more))
        self.assertEqual(answer["n"], expected["n"])
        for name in ("slope", "intercept", "r2"):
            self.assertTrue(math.isclose(answer[name], expected[name], rel_tol=1e-9), (name, answer))
        return answer

    def test_text_for_all_settings(self):
        points = random_points(1, 60000)
        name = self.write("points.csv", b"x,y\r\n" + as_csv(points))
        self.write("in/packed", gzip.compress(as_csv(points[:500])))
        self.write("in/plain", as_csv(points[500:]))
        answers = [self.agrees(oracle(points), *settings, name)
                   for settings in (["--workers", "1"], ["--workers", "2"], ["--workers", "7"],
                                    ["--scheduler", "sharing"], ["--backend", "scc"])]
        self.assertEqual({answer["slope"] for answer in answers}, {answers[0]["slope"]})
        self.agrees(oracle(points), self.path("in"))
        self.agrees(oracle(points), stdin=as_csv(points))

    def test_columns_and_separators(self):
        points = random_points(2, 300)
        rows = "".join(f"\"a;b\"; {y!r} ;-;{x!r}\n" for x, y in points).encode()
        name = self.write("rows", b"name;y;nothing;x\n" + rows)
        for columns in ("x,y", "4,2", "4,y"):
            self.agrees(oracle(points), "--columns", columns, name)
        name = self.write("blanks", "".join(f"  {x!r}\t {y!r}\n" for x, y in points).encode())
        self.agrees(oracle(points), name)
        self.agrees(oracle(points), "--separator", "space", "--header", "no", name)
        self.agrees(oracle(points[1:]), "--header", "yes", name)

    def test_binary_records(self):
        points = random_points(3, 100000)
        doubles = self.write("doubles", array.array("d", [v for p in points for v in p]).tobytes())
        self.agrees(oracle(points), "--format", "doubles", doubles)
        source = random.Random(4)
        data = source.randbytes(500_002)
        self.agrees(oracle(list(zip(data[::2], data[1::2]))), "--format", "bytes", stdin=data)

    def test_text_for_people(self):
        done = run(stdin=b"1 1\n2 3\n3 5\n")
        self.assertIn("slope      2\nintercept  -1\nr2         1\nn          3\n", done.stdout.decode())
        self.assertEqual(run("--quiet", stdin=b"1 1\n2 3\n").stdout, b"2\t-1\t1\t2\n")
        self.assertIn(b"all y are equal", run(stdin=b"1 7\n2 7\n").stdout)
        self.assertIsNone(json.loads(run("--json", stdin=b"1 7\n2 7\n").stdout)["r2"])


class BadInput(FolderCase):
    def test_malformed_fields_are_named(self):
        for text, parts in ((b"1,2\n2,x\n", [":2: column 2: 'x' is not a number"]),
                            (b"x,y\n1,2\n3\n", [":3: 1 field, and the first line has 2"]),
                            (b"1,2,3\n", [":1: 3 columns, not 2"]),
                            (b"1,2\n3,nan\n", [":2: column 2: 'nan' is not a finite number"]),
                            (b"1,2\n3,\0\n", [":2: column 2: '\\x00' is not a number"])):
            self.fails(run(self.write("bad.csv", text)), 1, "bad.csv" + parts[0])
        self.fails(run(stdin=b"1 2\n3 4 5\n"), 1, "standard input:2: 3 fields")
        rows = b"".join(b"%d,1\n" % i for i in range(300000))
        name = self.write("large.csv", rows + b"1,2,3\n" + rows)
        for workers in "12":
            self.fails(run("--workers", workers, name), 1, "large.csv:300001: 3 fields")

    def test_bad_records(self):
        for where in (0, 70000, 99999):
            values = array.array("d", [1.0, 2.0] * 100000)
            values[2 * where + 1] = math.nan
            self.fails(run("--format", "doubles", self.write("bad", values.tobytes())), 1,
                       f"bad: record at byte {16 * where}: nan is not a finite number")
        self.fails(run("--format", "bytes", stdin=b"123"), 1, "ends within a record: 3 bytes")

    def test_no_line(self):
        for text in (b"", b"1 2\n", b"1 2\n1 3\n", b"1e200 1\n2e200 2\n"):
            self.fails(run(stdin=text), 1, "no line through")

    def test_bad_options(self):
        for arguments, parts in ((["--columns", "x"], ["1 are chosen, but 2 are needed"]),
                                 (["--columns", "0,1"], ["column 0"]),
                                 (["--separator", "dots"], ["--separator dots"]),
                                 (["--header", "maybe"], ["maybe"]),
                                 (["--format", "floats"], ["floats"]),
                                 (["--format", "bytes", "--columns", "1,2"], ["--columns: needs --format text"])):
            self.fails(run(*arguments, stdin=b"1 2\n"), 2, *parts)
        self.fails(run("--columns", "x,z", stdin=b"x,y\n1,2\n"), 1, "no column 'z': x, y")
        self.fails(run(self.path("none")), 1, "none: No such file")


if __name__ == "__main__":
    unittest.main()
