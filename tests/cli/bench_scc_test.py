#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek bench schedulers --backend scc` from outside: its output, repeated runs, misuse."""
import csv
import json
import os
import subprocess
import unittest

from tool_case import FolderCase, TOOL

SMALL = ["--backend", "scc", "--tasks", "300", "--lengths", "5,50", "--cores", "1,6"]


def run(*arguments, text=True):
    return subprocess.run([TOOL, "bench", "schedulers", *arguments], capture_output=True, text=text,
                          timeout=1000)


class BenchOnScc(FolderCase):
    def results(self, *more):
        done = run(*SMALL, *more, "--json", self.path("r.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("r.json")) as file:
            return done.stdout, json.load(file)

    def test_writes_tables_json_csv_and_charts(self):
        table, found = self.results("--csv", self.path("r.csv"), "--svg", self.path("charts"))
        self.assertEqual(found["command"], "bench schedulers")
        self.assertEqual(found["schema_version"], 2)
        self.assertEqual(len(found["results"]), 3 * 3 * 2 * 2)
        for result in found["results"]:
            self.assertGreater(result["joules"], 0)
            self.assertLess(result["speedup"], result["cores"])
        with open(self.path("r.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["speedup"]) for row in rows],
                         [result["speedup"] for result in found["results"]])
        self.assertEqual(len(os.listdir(self.path("charts"))), 9)
        self.assertIn("spc, 300 tasks, random", table)
        self.assertIn("tree, ", table)

    def test_repeats_byte_for_byte_and_not_with_another_seed(self):
        self.assertEqual(self.results("--seed", "4"), self.results("--seed", "4"))
        first = self.results("--seed", "4")[1]["results"]
        other = self.results("--seed", "5")[1]["results"]
        for a, b in zip(first, other):
            self.assertEqual((a["tasks"], a["serial_virtual_s"]), (b["tasks"], b["serial_virtual_s"]))
            if a["cores"] > 1:
                self.assertNotEqual(a["schedule"], b["schedule"])

    def test_longer_tasks_speed_up_more(self):
        found = self.results("--workload", "bpc", "--scheduler", "random")[1]["results"]
        by = {(r["task_us"], r["cores"]): r["speedup"] for r in found}
        self.assertGreater(by[50, 6], by[5, 6])
        self.assertGreater(by[50, 6], 4)

    def test_a_single_run_can_be_recorded_and_checked(self):
        one = ["--backend", "scc", "--tasks", "300", "--lengths", "5", "--cores", "6",
               "--workload", "spc", "--scheduler", "latency"]
        plain = run(*one)
        recorded = run(*one, "--trace", self.path("t.json"), "--heatmap", self.path("h.svg"), "--check")
        self.assertEqual((recorded.returncode, recorded.stderr), (0, ""))
        self.assertEqual(recorded.stdout, plain.stdout)
        with open(self.path("t.json")) as file:
            names = {event["args"]["name"] for event in json.load(file)["traceEvents"]
                     if event.get("name") == "thread_name"}
        self.assertIn("core 5", names)
        with open(self.path("h.svg")) as file:
            self.assertTrue(file.read().startswith("<svg"))

    def test_a_file_that_cannot_be_written_is_known_before_the_work(self):
        done = run(*SMALL, "--csv", self.path("none/r.csv"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none/r.csv: No such file", done.stderr)

    def test_misuse_is_one_line_and_starts_nothing(self):
        for arguments, why in [
                (["--backend", "scc", "--cores", "49"], "chip 'scc-533' has 48 cores, not 49"),
                (["--backend", "scc", "--workload", "fib"], "unknown workload 'fib'"),
                (["--backend", "scc", "--scheduler", "fair"], "fair"),
                ([*SMALL, "--trace", "t.json"], "show a single run, but these are 36"),
                (["--backend", "scc", "--tasks", "3"], "--tasks must be at least 100, got 3"),
                (["--backend", "scc", "--chip", "atom"], "atom"),
                (["--backend", "scc", "--deque-capacity", "60"], "9696 bytes"),
                (["--backend", "scc", "--workers", "3"], "--workers: not with --backend scc"),
                (["--backend", "scc", "--cores", "6,1,0x6"], "--cores: the list contains '6' twice"),
                (["--backend", "scc", "--lengths", "5,5"], "--lengths: the list contains '5' twice"),
                (["--backend", "scc", "--workload", "spc", "--workload", "tree,spc"],
                 "--workload: the list contains 'spc' twice"),
                (["--backend", "scc", "--scheduler", "random,sharing,random"],
                 "--scheduler: the list contains 'random' twice"),
                (["--workers", "1,2,1"], "--workers: the list contains '1' twice"),
                (["--backend", "gpu"], "--backend must be host or scc, got 'gpu'"),
                (["--chip", "scc-800"], "--chip: not with --backend host")]:
            with self.subTest(arguments=arguments):
                self.fails(run(*arguments, text=False), 2, why)


if __name__ == "__main__":
    unittest.main()
