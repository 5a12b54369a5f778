#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek kmeans` from outside: answers must be fixed points of the rounds computed here."""
import array
import gzip
import json
import math
import random
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b""):
    return subprocess.run([TOOL, "kmeans", *arguments], input=stdin, capture_output=True,
                          timeout=1000)


def clouds(seed, count, dimensions, clusters):
    """Returns points on a fine grid, which floats and text represent exactly, near distant centres."""
    source = random.Random(seed)
    return [[source.randrange(-64, 64) / 64 + 20 * ((c + 1) * (j + 2) % (clusters + 2))
             for j in range(dimensions)]
            for c in (source.randrange(clusters) for _ in range(count))]


def as_csv(points):
    return "".join(",".join(map(repr, p)) + "\n" for p in points).encode()


def as_floats(points):
    return array.array("f", [x for p in points for x in p]).tobytes()


class Answers(FolderCase):
    def answer(self, *arguments, **more):
        return self.report_of(run("--json", *arguments, **more))

    def check_fixed_point(self, points, answer):
        self.assertTrue(answer["converged"])
        self.assertEqual((answer["n"], answer["dimensions"]), (len(points), len(points[0])))
        centres = [c["centre"] for c in answer["clusters"]]
        members = [[] for _ in centres]
        inertia = 0
        for point in points:
            distances = [math.dist(point, centre) ** 2 for centre in centres]
            inertia += min(distances)
            members[distances.index(min(distances))].append(point)
        self.assertEqual([c["points"] for c in answer["clusters"]], [len(m) for m in members])
        self.assertTrue(math.isclose(answer["inertia"], inertia, rel_tol=1e-4))
        for centre, own in zip(centres, members):
            for j, x in enumerate(centre):
                if own:
                    self.assertAlmostEqual(x, sum(p[j] for p in own) / len(own), places=4)

    def test_fixed_point_in_any_dimensions(self):
        for dimensions in (1, 2, 3, 7, 80):
            points = clouds(dimensions, 400, dimensions, 4)
            name = self.write("points.csv", as_csv(points))
            self.check_fixed_point(points, self.answer("--clusters", "4", "--seed", "1", name))

    def test_same_answer_for_all_settings_and_formats(self):
        points = clouds(1, 60000, 3, 5)
        text = self.write("points.csv", b"a,b,c\n" + as_csv(points))
        floats = self.write("points.bin", as_floats(points))
        blanks = self.write("blanks", as_csv(points).replace(b",", b"  "))
        self.write("in/a", as_csv(points[:999]))
        self.write("in/b", gzip.compress(as_csv(points[999:])))
        answers = []
        for arguments in ([text], ["--workers", "1", text], ["--workers", "5", text],
                          ["--scheduler", "sharing", text], ["--backend", "scc", text], [blanks],
                          ["--format", "floats", "--dimensions", "3", floats],
                          ["--columns", "1,2,3", self.path("in")]):
            answer = self.answer("--clusters", "5", "--seed", "3", "--rounds", "9", *arguments)
            answers.append([answer[name] for name in ("clusters", "inertia", "rounds", "converged")])
        for answer in answers[1:]:
            self.assertEqual(answer, answers[0])
        piped = self.answer("--clusters", "5", "--seed", "3", "--rounds", "9", stdin=as_csv(points))
        self.assertEqual(piped["clusters"], answers[0][0])

    def test_columns_seed_rounds_and_tolerance(self):
        points = clouds(2, 2000, 2, 6)
        rows = b"".join(b"name,%d,%r,%r\n" % (i, *p) for i, p in enumerate(points)).replace(b"'", b"")
        name = self.write("rows", b"n,i,x,y\n" + rows)
        swapped = [[y, x] for x, y in points]
        self.check_fixed_point(swapped, self.answer("--clusters", "6", "--columns", "y,x", name))
        centres = {json.dumps(self.answer("--clusters", "6", "--columns", "x,y", "--rounds", "1",
                                          "--seed", str(seed), name)["clusters"])
                   for seed in range(4)}
        self.assertGreater(len(centres), 1)
        answer = self.answer("--clusters", "6", "--columns", "x,y", "--tolerance", "1000", name)
        self.assertEqual((answer["rounds"], answer["converged"]), (1, True))

    def test_starts(self):
        points = clouds(3, 2000, 2, 6)
        name = self.write("points.csv", as_csv(points))
        answers = [self.answer("--clusters", "6", "--start", start, "--seed", "5", name)
                   for start in ("random", "kmeans++", "first")]
        self.assertEqual([a["start"] for a in answers], ["random", "kmeans++", "first"])
        for answer in answers:
            self.check_fixed_point(points, answer)
        self.assertLess(answers[1]["inertia"], 2000 * 2)  # a centre in each cloud
        first = self.answer("--clusters", "3", "--start", "first", "--seed", "9", name)
        again = self.answer("--clusters", "3", "--start", "first", "--seed", "8", name)
        self.assertEqual(first["clusters"], again["clusters"])

    def test_text_for_people_and_quiet(self):
        done = run("--clusters", "1", stdin=b"1 2\n3 4\n")
        self.assertIn(b"2 points of 2 dimensions, 2 rounds", done.stdout)
        self.assertIn(b"       0            2  2 3\n", done.stdout)
        self.assertEqual(run("--quiet", "--clusters", "1", stdin=b"1 2\n3 4\n").stdout, b"2\t2\t3\n")


class BadInput(FolderCase):
    def test_malformed_input_is_named(self):
        name = self.write("bad.csv", b"1,2\n3,4\n5,six\n")
        self.fails(run("--clusters", "2", name), 1, "bad.csv:3: column 2: 'six' is not a number")
        self.fails(run("--clusters", "1", stdin=b"1e39\n"), 1, "'1e39' is out of the range of float")
        self.fails(run("--clusters", "1", stdin=b"1e20\n"), 1, "point 0: coordinate 0")
        other = self.write("other.csv", b"1,2,3\n")
        good = self.write("good.csv", b"1,2\n")
        self.fails(run("--clusters", "1", good, other), 1, "other.csv: 3 columns", "good.csv has 2")
        binary = self.write("bad.bin", array.array("f", [1, 2, 3, math.inf]).tobytes())
        self.fails(run("--clusters", "1", "--format", "floats", "--dimensions", "2", binary), 1,
                   "bad.bin: byte 12: inf is not a finite number")
        self.fails(run("--clusters", "1", "--format", "floats", "--dimensions", "3", binary), 1,
                   "bad.bin: ends within a record: 16 bytes, records of 12")
        for empty in (b"", b"\n\n", b"x,y\n"):
            self.fails(run("--clusters", "1", stdin=empty), 1, "no points")
        self.fails(run("--clusters", "1", self.path("none")), 1, "none: No such file")

    def test_bad_options(self):
        for arguments, part in (([], "--clusters"), (["--clusters", "0"], "--clusters must be 1 or more, got 0"),
                                (["--clusters", "9"], "9 clusters of 1 points"),
                                (["--clusters", "1", "--rounds", "0"], "--rounds must be 1 or more, got 0"),
                                (["--clusters", "1", "--tolerance", "-1"], "--tolerance must be 0 or more, got -1"),
                                (["--clusters", "1", "--dimensions", "2"], "--dimensions: needs"),
                                (["--clusters", "1", "--format", "floats"], "--dimensions is required"),
                                (["--clusters", "1", "--format", "floats", "--dimensions", "1",
                                  "--header", "no"], "--header: needs")):
            self.fails(run(*arguments, stdin=b"1 2\n"), 2, part)


if __name__ == "__main__":
    unittest.main()
