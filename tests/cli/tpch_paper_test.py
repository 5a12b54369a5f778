#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The published forms of TPC-H queries from outside: answers, consistent figures, bad input."""
import json
import subprocess
import unittest

from tool_case import TOOL, FolderCase

DAYS = ["1994-{:02}-{:02}".format(month, day) for month in range(1, 13) for day in range(1, 29)]


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=1000)


class Paper(FolderCase):
    """Returns orders of every day of a year with two lines each, of which one is late."""

    def setUp(self):
        super().setUp()
        self.write("customer.tbl", "1|Customer#1|street|15|25-989|711.56|BUILDING|comment|\n")
        orders, lines = "", ""
        for key, day in enumerate(DAYS, 1):
            orders += f"{key}|1|O|100.00|{day}|{'1-URGENT' if key % 3 == 0 else '5-LOW'}|Clerk#1|0|comment|\n"
            for number, mode in enumerate(("MAIL", "SHIP"), 1):
                lines += (f"{key}|5|6|{number}|17|1000.00|0.06|0.02|N|O|{day}|1994-12-30|1994-12-31|NONE|{mode}|one|\n")
        self.write("orders.tbl", orders)
        self.write("lineitem.tbl", lines)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def said(self, *arguments):
        done = run(*arguments, "--data", self.folder.name, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def fails(self, code, why, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(why, done.stderr)

    def test_known_answers_on_host_and_chip(self):
        high = len(DAYS) // 3
        for on in (["--workers", "3"], ["--backend", "scc", "--cores", "5"]):
            form = ["--form", "paper", *on]
            self.assertEqual(self.said("tpch", "q6", *form)["answer"], [{"revenue": f"{len(DAYS) * 120}.0000"}])
            self.assertEqual(self.said("tpch", "q12", *form)["answer"], [
                {"l_shipmode": mode, "high_line_count": high, "low_line_count": len(DAYS) - high}
                for mode in ("MAIL", "SHIP")])
            # All lines are shipped on the day of their order, so no line is ordered before a day and shipped after it.
            self.assertEqual(self.said("tpch", "q3", *form, "--param", "DATE=1994-06-01")["answer"],
                             [{"lines": 0, "revenue": "0.0000"}])

    def test_virtual_and_wall_time_have_different_names(self):
        host = self.said("tpch", "q6", "--form", "paper", "--repeat", "3")
        chip = self.said("tpch", "q6", "--form", "paper", "--backend", "scc")
        self.assertGreater(host["computing_s"], 0)
        self.assertGreater(chip["computing_virtual_s"], 0)
        self.assertGreater(chip["joules"], 0)
        self.assertEqual(chip["cores"], 48)
        self.assertFalse({"computing_s", "reading_s"} & set(chip))
        self.assertFalse({"computing_virtual_s", "joules"} & set(host))

    def test_study_of_the_chip_gains_from_cores_and_repeats(self):
        arguments = ["bench", "tpch-paper", "--backend", "scc", "--workers", "1,2,8"]
        study = self.said(*arguments)
        self.assertEqual(study, self.said(*arguments))
        self.assertEqual([one["query"] for one in study["queries"]], ["q3", "q6", "q12"])
        for one in study["queries"]:
            self.assertEqual([point["cores"] for point in one["points"]], [1, 2, 8])
            self.assertEqual(one["points"][0]["computing_speedup"], 1)
            for before, after in zip(one["points"], one["points"][1:]):
                self.assertGreater(after["with_reading_speedup"], before["with_reading_speedup"])
            for point in one["points"]:
                self.assertGreater(point["with_reading_virtual_s"], point["computing_virtual_s"])
                self.assertGreater(point["joules"], 0)

    def test_study_of_the_host(self):
        study = self.said("bench", "tpch-paper", "--query", "q6", "--workers", "2", "--repeat", "1")
        self.assertEqual([point["workers"] for point in study["queries"][0]["points"]], [1, 2])
        text = run("bench", "tpch-paper", "--data", self.folder.name, "--repeat", "1")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertNotIn("virtual", text.stdout)

    def test_bad_usage(self):
        data = ["--data", self.folder.name]
        self.fails(2, "needs --form paper", "tpch", "q6", *data, "--backend", "scc")
        self.fails(2, "must not be SHIPMODE1", "tpch", "q12", *data, "--form", "paper", "--param", "SHIPMODE2=MAIL")
        self.fails(2, "has 48 cores, not 49", "tpch", "q6", *data, "--form", "paper", "--backend", "scc", "--cores", "49")
        self.fails(2, "--form", "tpch", "q1", *data, "--form", "paper")
        self.fails(2, "has no published form", "bench", "tpch-paper", *data, "--query", "q1")
        self.fails(2, "1 to 48 cores", "bench", "tpch-paper", *data, "--backend", "scc", "--workers", "49")
        self.fails(2, "must be between 1 and 4096, got 0", "bench", "tpch-paper", *data, "--workers",
                   "0")
        self.fails(1, "No such file", "tpch", "q6", "--data", "/nowhere", "--form", "paper")


if __name__ == "__main__":
    unittest.main()
