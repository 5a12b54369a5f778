#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek bench scc-mapreduce` from outside: consistent figures, repeated runs, and bad input."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)

STRATEGIES = {name: ["combine", "group"] for name in (
    "word-count", "histogram", "linear-regression", "k-means", "string-match", "inverted-index",
    "line-filter")}
STRATEGIES["histogram"] = STRATEGIES["string-match"] = ["combine", "group", "fill"]
STAGES = ["map", "combine", "partition", "group", "reduce", "sort", "merge"]


def run(*arguments):
    return subprocess.run([TOOL, "bench", "scc-mapreduce", "--quick", *arguments],
                          capture_output=True, timeout=1000)


class Case(unittest.TestCase):
    def test_every_workload_gains_from_cores(self):
        done = run("--cores", "1,4,16", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["schema_version"], 3)
        self.assertEqual([(one["workload"], one["strategy"]) for one in answer["series"]],
                         [(name, how) for name, all_of in STRATEGIES.items() for how in all_of])
        for one in answer["series"]:
            first, *more = one["runs"]
            self.assertEqual((first["speedup_1"], first["sent_bytes"]), (1, 0))
            for measured in more:
                if one["strategy"] != "fill":  # their arrays are larger than these inputs
                    self.assertGreater(measured["speedup_1"], 1, one["workload"])
                self.assertGreater(measured["sent_bytes"], 0)
            for measured in one["runs"]:
                stages = measured["stages_virtual_ms"]
                self.assertEqual(list(stages), STAGES)
                self.assertEqual(stages["combine"]["longest"] > 0, one["strategy"] == "combine")
                for name, stage in stages.items():
                    before = first["stages_virtual_ms"][name]["longest"]
                    if stage["speedup_1"] is not None:
                        self.assertEqual(stage["speedup_1"], before / stage["longest"])
                self.assertGreaterEqual(sum(stage["longest"] for stage in stages.values()),
                                        0.99 * measured["virtual_ms"] - 0.1)
                self.assertLess(sum(stage["joules"] for stage in stages.values()),
                                measured["joules"])

    def test_combining_sends_less(self):
        series = json.loads(run("--cores", "8", "--workload", "histogram", "--json").stdout)["series"]
        self.assertLess(series[0]["runs"][0]["sent_bytes"], series[1]["runs"][0]["sent_bytes"])
        self.assertIsNone(series[0]["runs"][0]["speedup_4"])  # not measured
        self.assertIsNone(series[0]["runs"][0]["stages_virtual_ms"]["map"]["speedup_1"])

    def test_repeats_and_writes_csv(self):
        with tempfile.TemporaryDirectory(prefix="creek-cli-") as folder:
            arguments = ("--cores", "2,3", "--workload", "k-means,string-match",
                         "--strategy", "combine,fill", "--seed", "7")
            name = os.path.join(folder, "figures.csv")
            text = run(*arguments, "--csv", name).stdout
            self.assertEqual(text, run(*arguments).stdout)
            self.assertNotEqual(text, run(*arguments[:-1], "8").stdout)
            self.assertIn(b"k-means", text)
            with open(name, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([(row["strategy"], row["cores"]) for row in rows],
                             [("combine", "2"), ("combine", "3")] * 2 + [("fill", "2"), ("fill", "3")])
            self.assertEqual({(row["schema_version"], row["seed"]) for row in rows}, {("2", "7")})
            for stage in STAGES:
                self.assertGreaterEqual(float(rows[0][stage + "_virtual_ms"]),
                                        float(rows[0][stage + "_shortest_virtual_ms"]))
            self.assertEqual(rows[0]["map_speedup_1"], "")  # one core was not measured

    def test_bad_usage(self):
        for arguments, part in ((("--workload", "grep"), "grep"), (("--cores", "1,49"), "49"),
                                (("--strategy", "automatic"), "automatic"),
                                (("--cores", "0"), "0"), (("--chip", "none"), "none")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, b""), arguments)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(part, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
