#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek lu|chol|qr --backend scc`, `creek bench scc-linalg` and `scc-linalg-messages` from outside."""
import csv
import json
import subprocess
import unittest

from tool_case import TOOL, FolderCase

MEMORIES = ("shared", "messages")


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=1000, text=True,
                          errors="replace")


class Case(FolderCase):
    def output_of(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def fails(self, code, arguments, *parts):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""), (arguments, done))
        self.assertTrue(done.stderr.startswith("creek: ") and done.stderr.count("\n") == 1 and
                        done.stderr.strip().isprintable(), (arguments, done))
        for part in parts:
            self.assertIn(part, done.stderr)


class Dense(Case):
    def test_runs_are_right_and_repeat(self):
        for problem in ("lu", "chol", "qr"):
            for memory in MEMORIES:
                command = (problem, "--backend", "scc", "-n", "96", "--block", "16", "--cores", "6",
                           "--memory", memory, "--json")
                text = self.output_of(*command)
                found = json.loads(text)
                self.assertEqual((found["command"], found["memory"], found["cores"], found["info"]),
                                 (problem, memory, 6, 0))
                self.assertLess(found["residual"], 30)
                self.assertGreater(found["simulated_s"], 0)
                self.assertGreater(found["joules"], 0)
                self.assertAlmostEqual(found["joule_seconds"],
                                       found["joules"] * found["simulated_s"])
                self.assertEqual(self.output_of(*command), text)

    def test_small_matrices_need_no_block(self):
        for memory in MEMORIES:
            self.assertIn("order 5", self.output_of("lu", "--backend", "scc", "-n", "5", "--memory",
                                                    memory))

    def test_a_block_wider_than_the_matrix_is_one_block(self):
        found = json.loads(self.output_of("lu", "--backend", "scc", "-n", "40", "--memory", "messages",
                                          "--block", str(2**63 - 1), "--json"))
        self.assertLess(found["residual"], 30)

    def test_what_cannot_be_run_is_told_before_it_runs(self):
        for arguments, parts in ((("-n", "0"), ("-n",)),
                                 (("-n", "64", "--block", "0"), ("--block",)),
                                 (("-n", "64", "--cores", "49"), ("48 cores",)),
                                 (("-n", "64", "--policy", "sloth"), ("sloth", "valid")),
                                 (("-n", "64", "--policy", "power_cap"), ("power_cap",)),
                                 (("-n", "64", "--policy", "power_cap", "--watts", "5"), ("5 W",)),
                                 (("-n", "64", "--policy", "slack_reduction", "--bound", "-1"),
                                  ("bound",))):
            self.fails(2, ("lu", "--backend", "scc", *arguments), *parts)
        for memory in MEMORIES:
            command = ("lu", "--backend", "scc", "--memory", memory)
            self.fails(1, (*command, "-n", "64", "--trace", "/no/such/folder/x.json"), "/no/such")
            self.fails(1, (*command, "-n", "2000000"), "needs", "GiB")


class Benches(Case):
    def test_differences_are_to_the_first_policy(self):
        command = ("bench", "scc-linalg", "-n", "96", "--block", "16", "--cores", "1,6", "--policy",
                   "polling,blocking", "--json")
        text = self.output_of(*command)
        rows = json.loads(text)["rows"]
        self.assertEqual([(row["cores"], row["policy"]) for row in rows],
                         [(1, "polling"), (1, "blocking"), (6, "polling"), (6, "blocking")])
        for first, other in (rows[:2], rows[2:]):
            self.assertEqual((first["more_time"], first["more_energy"]), (0, 0))
            self.assertAlmostEqual(other["more_energy"], other["joules"] / first["joules"] - 1)
            self.assertAlmostEqual(first["speedup"], rows[0]["simulated_s"] / first["simulated_s"])
        self.assertEqual(self.output_of(*command), text)

    def test_time_of_cores_adds_up_in_messages(self):
        report = json.loads(self.output_of("bench", "scc-linalg-messages", "qr", "--n", "64", "--cores",
                                           "1,5", "--csv", self.path("r.csv"), "--json"))
        self.assertEqual(report["problem"], "qr")
        for each in report["runs"]:
            self.assertAlmostEqual(each["busy_s"] + each["waiting_s"] + each["halted_s"],
                                   1e-3 * each["virtual_ms"] * each["cores"])
        with open(self.path("r.csv"), newline="") as file:
            energies = [float(row["simulated_joules"]) for row in csv.DictReader(file)]
        self.assertEqual(energies, [each["simulated_joules"] for each in report["runs"]])

    def test_bad_usage(self):
        for arguments, parts in ((("--block", "0"), ("--block",)),
                                 (("--cores", "49"), ("48 cores",)),
                                 (("--policy", "sloth"), ("sloth",)),
                                 (("--memory", "messages", "--moves", "combined"), ("--moves",)),
                                 (("--memory", "messages", "--policy", "slack_reduction"), ("graph",))):
            self.fails(2, ("bench", "scc-linalg", "-n", "64", *arguments), *parts)
        for arguments, parts in ((("svd",), ("svd not in {lu,chol,qr}",)),
                                 (("--route", "ring"), ("ring not in {simple,chain",)),
                                 (("--chunks", "0"), ("--chunks must be 1 or more, got 0",)),
                                 (("--piece", "0"), ("--piece must be 1 or more, got 0",)),
                                 (("--look-ahead", "-1"), ("--look-ahead must be 0 or more, got -1",)),
                                 (("--kernel-crossing", "-1"), ("--kernel-crossing must be between 0 and 1000000, got -1",)),
                                 (("--kernel-crossing", "9223372036854775807"),
                                  ("--kernel-crossing must be between 0 and 1000000, got 9223372036854775807",)),
                                 (("--cores", "0"), ("--cores must be 1 or more, got 0",)),
                                 (("--policy", "power_cap"), ("power_cap",))):
            self.fails(2, ("bench", "scc-linalg-messages", *arguments, "--n", "64"), *parts)
        self.fails(1, ("bench", "scc-linalg-messages", "--n", "64", "--csv", "/no/such/folder/r.csv"),
                   "/no/such/folder")


if __name__ == "__main__":
    unittest.main()
