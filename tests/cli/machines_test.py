#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek bench machines` from outside: its output, repeated runs, misuse."""
import json
import subprocess
import unittest

from tool_case import FolderCase, TOOL

SMALL = ("--gigabytes", "0.01", "-n", "256", "--depth", "7", "--ranks", "1,2,16,64")


def run(*arguments, text=True):
    return subprocess.run([TOOL, "bench", "machines", *arguments], capture_output=True, text=text, timeout=250)


class Machines(FolderCase):
    def text(self, *arguments):
        done = run(*SMALL, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def jobs(self, *arguments):
        return {each["job"]: each for each in json.loads(self.text("--json", *arguments))["jobs"]}

    def test_runs_repeat_byte_for_byte_and_seeds_change_stealing_only(self):
        self.assertEqual(self.text("--json", "--seed", "3"), self.text("--json", "--seed", "3"))
        self.assertEqual(self.text(), self.text("--seed", "1"))
        first, other = self.jobs("--seed", "3"), self.jobs("--seed", "4")
        self.assertNotEqual(first["stealing"], other["stealing"])
        self.assertEqual([first[job] for job in ("wordcount", "lu")], [other[job] for job in ("wordcount", "lu")])

    def test_one_rank_sends_nothing_and_is_the_unit_of_speed_up(self):
        for name, job in self.jobs().items():
            with self.subTest(name):
                one, two = job["rows"][:2]
                self.assertEqual((one["messages"], one["message_bytes"], one["speedup"]), (0, 0, 1))
                self.assertAlmostEqual(two["speedup"], one["simulated_s"] / two["simulated_s"])
                self.assertGreater(two["messages"], 0)
                for row in job["rows"]:
                    self.assertLessEqual(row["speedup"], row["ranks"] * 1.0001)
                    self.assertAlmostEqual(row["efficiency"], row["speedup"] / row["ranks"])
        self.assertEqual(len({row["size"] for row in self.jobs()["stealing"]["rows"]}), 1, "ranks lose nodes")

    def test_says_where_the_list_stops_to_gain(self):
        for name, job in self.jobs().items():
            with self.subTest(name):
                rows, last = job["rows"], job["rows"][0]
                for row in rows[1:]:
                    if row["speedup"] < 1.1 * last["speedup"]:
                        break
                    last = row
                self.assertEqual(job["gains_until"], last["ranks"])
                efficient = [row["ranks"] for row in rows if row["efficiency"] >= 0.5]
                self.assertEqual(job["efficient_until"], max(efficient))
                self.assertIn(f"up to {last['ranks']} ranks; efficiency of a half up to {max(efficient)}\n",
                              self.text("--job", name))

    def test_grids_are_square_or_have_the_rows_given(self):
        def grids(*arguments):
            return [row["size"] for row in self.jobs("--job", "lu", *arguments)["lu"]["rows"]]
        self.assertEqual(grids(), [f"256 on {grid}" for grid in ("1 x 1", "1 x 2", "4 x 4", "8 x 8")])
        self.assertEqual(grids("--grid-rows", "2"), [f"256 on {grid}" for grid in ("1 x 1", "2 x 1", "2 x 8", "2 x 32")])

    def test_a_slower_network_and_slower_looks_take_longer(self):
        def time(job, *arguments):
            return self.jobs("--job", job, *arguments)[job]["rows"][-1]["simulated_s"]
        for job in ("wordcount", "lu", "stealing"):
            with self.subTest(job):
                self.assertLess(time(job), time(job, "--network", "tcp"))
        self.assertLess(time("stealing"), time("stealing", "--set", "poll_us=500"))
        self.assertLess(time("wordcount"), time("wordcount", "--top", "0"))

    def test_misuse_is_one_line(self):
        for arguments, why in [
                (["--ranks", "0"], "--ranks must be between 1 and 4096, got 0"),
                (["--ranks", "4,2"], "--ranks must be in rising order"),
                (["--ranks", "2,4,2"], "--ranks: the list contains '2' twice"),
                (["--job", "sort"], "--job must be wordcount, lu or stealing, got 'sort'"),
                (["--job", "lu,lu"], "--job: the list contains 'lu' twice"),
                (["--network", "token-ring"], "--network: token-ring not in {aries,tcp,memory}"),
                (["--gigabytes", "0"], "--gigabytes must be between 0.001 and 1000000, got 0"),
                (["--depth", "1"], "--depth must be between 2 and 18, got 1"),
                (["-n", "8"], "-n must be between 64 and 1048576, got 8"),
                (["--block", "4"], "--block must be between 8 and 1024, got 4"),
                (["--grid-rows", "5000"], "--grid-rows must be between 0 and 4096, got 5000"),
                (["--set", "speed=1"], "--set takes NAME=VALUE, got 'speed=1'; names: latency_us"),
                (["--set", "node_ns"], "--set takes NAME=VALUE, got 'node_ns'"),
                (["--set", "node_ns=fast"], "--set node_ns must be from 1e-06 to 1000000000, got 'fast'"),
                (["--set", "bandwidth_GBs=0"], "--set bandwidth_GBs must be from 1e-06 to 1000000000, got '0'"),
                (["--set", "latency_us=0.1"], "latency_us must be at least twice overhead_us"),
                (["--rates", "--json"], "--json: not with --rates")]:
            with self.subTest(arguments=arguments):
                self.fails(run(*arguments, text=False), 2, why)


if __name__ == "__main__":
    unittest.main()
