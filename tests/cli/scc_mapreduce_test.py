#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek bench scc-mapreduce` from the outside: figures that hang together, repeat, and bad input."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([TOOL, "bench", "scc-mapreduce", "--quick", *arguments],
                          capture_output=True, timeout=1000)


class Case(unittest.TestCase):
    def test_every_workload_gains_from_cores(self):
        done = run("--cores", "1,4,16", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["schema_version"], 1)
        self.assertEqual([(one["workload"], one["combiner"]) for one in answer["series"]],
                         [(name, combiner)
                          for name in ("word-count", "histogram", "linear-regression", "k-means")
                          for combiner in (True, False)])
        for one in answer["series"]:
            first, *more = one["runs"]
            self.assertEqual((first["speedup_1"], first["sent_bytes"]), (1, 0))
            for measured in more:
                self.assertGreater(measured["speedup_1"], 1, one["workload"])
                self.assertGreater(measured["sent_bytes"], 0)
            for measured in one["runs"]:
                stages = measured["stages_virtual_ms"].values()
                self.assertGreaterEqual(sum(stage["longest"] for stage in stages),
                                        0.99 * measured["virtual_ms"] - 0.1)
                self.assertLess(sum(stage["joules"] for stage in stages), measured["joules"])

    def test_combining_sends_less(self):
        series = json.loads(run("--cores", "8", "--workload", "histogram", "--json").stdout)["series"]
        self.assertLess(series[0]["runs"][0]["sent_bytes"], series[1]["runs"][0]["sent_bytes"])
        self.assertIsNone(series[0]["runs"][0]["speedup_4"])  # not measured

    def test_repeats_and_writes_csv(self):
        with tempfile.TemporaryDirectory(prefix="creek-cli-") as folder:
            arguments = ("--cores", "2,3", "--workload", "k-means", "--seed", "7")
            name = os.path.join(folder, "figures.csv")
            text = run(*arguments, "--csv", name).stdout
            self.assertEqual(text, run(*arguments).stdout)
            self.assertNotEqual(text, run(*arguments[:-1], "8").stdout)
            self.assertIn(b"k-means", text)
            with open(name, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([row["cores"] for row in rows], ["2", "3", "2", "3"])
            self.assertGreater(float(rows[0]["map_virtual_ms"]), 0)

    def test_bad_usage(self):
        for arguments, part in ((("--workload", "grep"), "grep"), (("--cores", "1,49"), "49"),
                                (("--cores", "0"), "0"), (("--chip", "none"), "none")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, b""), arguments)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(part, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
