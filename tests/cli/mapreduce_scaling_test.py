#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek bench stages` from outside: its figures are consistent, whatever the times are."""
import csv
import json
import os
import statistics
import subprocess
import unittest

from tool_case import TOOL, FolderCase

STRATEGIES = {
    "word-count": ["combine", "group"],
    "histogram": ["combine", "group", "automatic", "fill"],
    "linear-regression": ["combine", "group", "automatic"],
    "k-means": ["combine", "group"],
    "string-match": ["combine", "group", "fill"],
    "inverted-index": ["combine", "group"],
    "line-filter": ["combine", "group"]}
STAGES = ["map", "combine", "partition", "group", "reduce", "sort", "merge"]


def run(*arguments):
    return subprocess.run([TOOL, "bench", "stages", "--quick", *arguments],
                          capture_output=True, timeout=1000)


class Study(FolderCase):
    def test_every_workload_and_strategy_by_workers(self):
        name = self.path("figures.csv")
        answer = self.report_of(run("--runs", "1", "--workers", "1,2", "--json", "--csv", name), version=2)
        self.assertEqual(answer["command"], "bench stages")
        self.assertEqual([(one["workload"], one["strategy"]) for one in answer["series"]],
                         [(name, how) for name, all_of in STRATEGIES.items() for how in all_of])
        for one in answer["series"]:
            first = one["points"][0]
            self.assertEqual([point["workers"] for point in one["points"]], [1, 2])
            self.assertEqual(first["speedup_1"], 1)
            for point in one["points"]:
                self.assertEqual(list(point["stages_ms"]), STAGES)
                self.assertEqual(point["speedup_1"], first["ms"] / point["ms"])
                stages = sum(stage["median"] for stage in point["stages_ms"].values())
                self.assertTrue(0 < stages <= point["ms"], one["workload"])
        self.assertNotIn(b"virtual", json.dumps(answer).encode())
        with open(name, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        points = [(one, point) for one in answer["series"] for point in one["points"]]
        self.assertEqual(len(rows), len(points))
        for row, (one, point) in zip(rows, points):
            self.assertEqual((row["workload"], row["strategy"], int(row["workers"])),
                             (one["workload"], one["strategy"], point["workers"]))
            self.assertEqual(float(row["ms"]), point["ms"])
            self.assertEqual(float(row["map_ms"]), point["stages_ms"]["map"]["median"])

    def test_figures_are_medians_of_runs(self):
        answer = self.report_of(run("--runs", "3", "--workers", "2", "--workload", "word-count",
                                    "--strategy", "combine", "--json"), version=2)
        (one,) = answer["series"]
        (point,) = one["points"]
        self.assertEqual(len(point["runs_ms"]), 3)
        self.assertEqual(point["ms"], statistics.median(point["runs_ms"]))
        self.assertIsNone(point["speedup_1"])  # one worker was not measured
        self.assertIsNone(point["stages_ms"]["map"]["speedup_1"])

    def test_text_for_people(self):
        done = run("--runs", "1", "--workers", "1", "--workload", "histogram",
                   "--strategy", "group,fill")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode()
        self.assertIn("histogram, 0.3 MB, without combiner: ms, medians\n", text)
        self.assertIn("histogram, 0.3 MB, in arrays: ms, medians\n", text)
        self.assertEqual(text.count("speed-up over one worker\n"), 2)

    def test_bad_usage(self):
        for arguments, part in ((("--workload", "grep"), "grep"), (("--workers", "1,0"), "--workers must be between 1 and 4096, got 0"),
                                (("--strategy", "sort"), "sort"), (("--runs", "0"), "runs")):
            self.fails(run(*arguments), 2, part)
        self.fails(run("--csv", os.path.join(self.path("none"), "figures.csv")), 1, "none")


if __name__ == "__main__":
    unittest.main()
