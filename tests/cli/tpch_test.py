#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek tpch` from outside: load, answers, options, and every kind of bad input."""
import json
import os
import shutil
import subprocess
import unittest

from tool_case import TOOL, FolderCase

CUSTOMER = "1|Customer#1|street|15|25-989|711.56|BUILDING|comment|\n"
ORDERS = ("1|1|O|100.00|1995-01-02|1-URGENT|Clerk#1|0|comment|\n"
          "2|1|O|100.00|1995-01-03|5-LOW|Clerk#2|1|comment|\n")
LINEITEM = (
    "1|5|6|1|17|1000.00|0.05|0.02|N|O|1995-03-20|1995-03-25|1995-04-01|NONE|MAIL|one|\n"
    "2|5|6|1|36|2000.50|0.00|0.06|N|O|1995-03-21|1995-03-26|1995-04-02|NONE|SHIP|two|\n"
    "2|5|6|2|3|10.00|0.06|0.00|R|F|1995-02-01|1995-01-26|1995-02-02|NONE|AIR|three|\n")


def run(*arguments):
    return subprocess.run([TOOL, "tpch", *arguments], capture_output=True, text=True, timeout=1000)


class Case(FolderCase):
    def setUp(self):
        super().setUp()
        self.write("customer.tbl", CUSTOMER)
        self.write("orders.tbl", ORDERS)
        self.write("lineitem.tbl", LINEITEM)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def answer(self, query, *arguments):
        done = run(query, "--data", self.folder.name, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["answer"]

    def fails(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("creek: "), lines)
        for part in parts:
            self.assertIn(part, lines[0])


class Answers(Case):
    def check_all(self):
        self.assertEqual(self.answer("q6", "--param", "DATE=1995-01-01", "--param", "DISCOUNT=0.06"),
                         [{"revenue": "50.6000"}])
        self.assertEqual(self.answer("q3"), [
            {"l_orderkey": 2, "revenue": "2000.5000", "o_orderdate": "1995-01-03",
             "o_shippriority": 1},
            {"l_orderkey": 1, "revenue": "950.0000", "o_orderdate": "1995-01-02",
             "o_shippriority": 0}])
        self.assertEqual(self.answer("q12", "--param", "DATE=1995-01-01"), [
            {"l_shipmode": "MAIL", "high_line_count": 1, "low_line_count": 0},
            {"l_shipmode": "SHIP", "high_line_count": 0, "low_line_count": 1}])
        rows = self.answer("q1", "--workers", "2")
        self.assertEqual([row["count_order"] for row in rows], [2, 1])
        self.assertEqual(rows[0]["sum_charge"], "3089.530000")
        self.assertEqual(rows[0]["avg_qty"], "26.500000")

    def test_known_answers_from_text_and_from_caches(self):
        self.check_all()
        done = run("load", self.folder.name, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        loaded = {table["table"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
        self.assertEqual(loaded, {"customer": 1, "orders": 2, "lineitem": 3})
        for name in ("customer", "orders", "lineitem"):
            os.remove(self.path(name + ".tbl"))
        self.check_all()

    def test_known_answers_from_tables_in_parts(self):
        os.remove(self.path("lineitem.tbl"))
        os.remove(self.path("orders.tbl"))
        os.mkdir(self.path("orders"))
        for number, record in enumerate(LINEITEM.splitlines(keepends=True), 1):
            self.write(f"lineitem.tbl.{number}", record)
        for number, record in enumerate(ORDERS.splitlines(keepends=True), 1):
            self.write(f"orders/orders.{number}.tbl", record)
        self.check_all()
        done = run("q6", "--data", self.folder.name)
        self.assertIn(self.path("lineitem.tbl.1") + " and 2 more", done.stdout)
        done = run("load", self.folder.name, "--json")
        loaded = {table["table"]: table["files"] for table in json.loads(done.stdout)["tables"]}
        self.assertEqual(loaded, {"customer": 1, "orders": 2, "lineitem": 3})
        self.check_all()

    def test_in_memory_and_every_run(self):
        self.assertEqual(run("load", self.folder.name).returncode, 0)
        mapped, copied = (json.loads(run("q6", "--data", self.folder.name, "--repeat", "3", "--json", *more).stdout)
                          for more in ([], ["--in-memory"]))
        self.assertEqual(copied["answer"], mapped["answer"])
        for said in mapped, copied:
            self.assertEqual(said["schema_version"], 2)
            self.assertEqual(sorted(said["each_s"])[1], said["seconds"])

    def test_text_names_the_source_and_explains(self):
        done = run("q6", "--data", self.folder.name, "--repeat", "3", "--explain")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("revenue", "rows/s", "MB touched", self.path("lineitem.tbl"), "- scan lineitem",
                     "median of 3"):
            self.assertIn(part, done.stdout)


class WithoutParquet(Case):
    def test_says_how_to_get_it(self):
        """A tool in another folder finds no reader beside it."""
        alone = os.path.join(self.folder.name, "creek")
        shutil.copy(TOOL, alone)
        os.remove(self.path("lineitem.tbl"))
        self.write("lineitem.parquet", "PAR1")
        for arguments in (["load", self.folder.name], ["q6", "--data", self.folder.name]):
            done = subprocess.run([alone, "tpch", *arguments], capture_output=True, text=True, timeout=1000)
            self.fails(done, 1, "lineitem.parquet: this creek was built without Parquet", "install Arrow",
                       "CREEK_PYARROW", "docs/tpch.md")


class BadInput(Case):
    def test_usage(self):
        for arguments in ([], ["q6"], ["q99"], ["q6", "--data", self.folder.name, "--param", "DAY=1"],
                          ["q6", "--data", self.folder.name, "--param", "DATE=yesterday"],
                          ["q6", "--data", self.folder.name, "--workers", "0"],
                          ["q6", "--data", self.folder.name, "--repeat", "0"], ["load"]):
            self.fails(run(*arguments), 2)

    def test_folders(self):
        self.fails(run("q6", "--data", "/nowhere"), 1, "/nowhere: No such file")
        self.fails(run("load", self.path("orders.tbl")), 1, "Not a directory")
        os.mkdir(self.path("empty"))
        self.fails(run("load", self.path("empty")), 1, "has no .tbl or .parquet files")
        os.remove(self.path("orders.tbl"))
        self.fails(run("q12", "--data", self.folder.name), 1, "orders.tbl: No such file")

    def test_parts_that_are_missing_or_too_many(self):
        self.write("lineitem.tbl.2", LINEITEM)
        self.fails(run("q6", "--data", self.folder.name), 1, "lineitem.tbl and ", "lineitem.tbl.2 both have",
                   "keep one")
        os.remove(self.path("lineitem.tbl"))
        self.fails(run("load", self.folder.name), 1, "lineitem.tbl.1: a part that must be there")
        self.write("lineitem.tbl.1", LINEITEM.replace("1995-03-21", "1995-02-30"))
        self.fails(run("q6", "--data", self.folder.name), 1,
                   "lineitem.tbl.1:2: column 11 (l_shipdate): '1995-02-30' is not a date")

    def test_malformed_text_is_named(self):
        self.write("lineitem.tbl", LINEITEM.replace("0.06", "0.0x"))
        self.fails(run("q6", "--data", self.folder.name), 1,
                   "lineitem.tbl:2: column 8 (l_tax): '0.0x' is not a decimal")
        self.write("lineitem.tbl", LINEITEM[:-9])
        self.fails(run("load", self.folder.name), 1, "lineitem.tbl:3: column", "the file ends before")
        self.write("lineitem.tbl", "")
        self.fails(run("q1", "--data", self.folder.name), 1, "lineitem.tbl: the file is empty")

    def test_an_empty_letter_is_named(self):
        self.write("lineitem.tbl", LINEITEM.replace("|R|", "||"))
        self.fails(run("load", self.folder.name), 1, "lineitem.tbl:3: column 9 (l_returnflag): '' is empty")

    def test_links_for_caches_are_not_followed(self):
        self.write("precious", "precious")
        os.symlink(self.path("precious"), self.path("lineitem.creek"))
        for arguments in (["load", self.folder.name], ["q6", "--data", self.folder.name]):
            self.fails(run(*arguments), 1, "lineitem.creek: a symbolic link, not followed")
        os.remove(self.path("precious"))
        self.fails(run("load", self.folder.name), 1, "lineitem.creek: a symbolic link, not followed")
        self.assertEqual(os.path.lexists(self.path("precious")), False)

    def test_pipes_for_caches_and_tables_are_not_waited_for(self):
        for name in ("lineitem.creek", "lineitem.tbl"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
            os.mkfifo(self.path(name))
            for arguments in (["load", self.folder.name], ["q6", "--data", self.folder.name]):
                self.fails(run(*arguments), 1, name + ": not a regular file")
            os.remove(self.path(name))
            self.write("lineitem.tbl", LINEITEM)
        os.remove(self.path("lineitem.tbl"))
        os.mkdir(self.path("lineitem"))
        os.mkfifo(self.path("lineitem/lineitem.1.tbl"))
        self.fails(run("q6", "--data", self.folder.name), 1, "lineitem.1.tbl: not a regular file")

    def test_tables_may_be_links(self):
        os.rename(self.path("lineitem.tbl"), self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("lineitem.tbl"))
        self.assertEqual(run("load", self.folder.name).returncode, 0)
        self.assertEqual(self.answer("q6", "--param", "DATE=1995-01-01"), [{"revenue": "50.6000"}])

    def test_a_folder_that_may_not_be_written_to(self):
        other = self.as_nobody()
        os.chmod(self.folder.name, 0o555)
        done = subprocess.run([TOOL, "tpch", "load", self.folder.name], capture_output=True, text=True,
                              timeout=1000, **other)
        self.fails(done, 1, "cannot write ", "customer.creek: Permission denied")

    def test_a_corrupt_cache_is_refused(self):
        self.assertEqual(run("load", self.folder.name).returncode, 0)
        with open(self.path("lineitem.creek"), "r+b") as file:
            file.seek(80)
            byte = file.read(1)
            file.seek(80)
            file.write(bytes([byte[0] ^ 1]))
        self.fails(run("q6", "--data", self.folder.name), 1, "lineitem.creek: the directory is damaged",
                   "creek tpch load")
        self.assertEqual(run("load", self.folder.name).returncode, 0)
        self.assertEqual(self.answer("q6", "--param", "DATE=1995-01-01"), [{"revenue": "50.6000"}])


def seconds_used(pid):
    """Returns the processor time; 0 if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ChangedCaches(Case):
    """Another process writes to a cache while a query runs: the answer is right, or one line says that
    a file was changed."""
    ROWS = 60000

    def setUp(self):
        super().setUp()
        self.write("lineitem.tbl", LINEITEM * (self.ROWS // 3))
        self.assertEqual(run("load", self.folder.name).returncode, 0)
        self.cache = self.path("lineitem.creek")
        with open(self.cache, "rb") as file:
            self.good = file.read()
        os.remove(self.path("lineitem.tbl"))
        self.restore()
        self.expected = self.answer("q1")

    def restore(self):
        with open(self.cache, "wb") as file:
            file.write(self.good)
        os.utime(self.cache, (1e9, 1e9))

    def query_while(self, change):
        query = subprocess.Popen([TOOL, "tpch", "q1", "--data", self.folder.name, "--repeat", "2000", "--json"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while query.poll() is None:
            if seconds_used(query.pid) > 0.15:  # the cache has been opened and checked
                change()
        out, err = query.communicate()
        if query.returncode == 0:
            self.assertEqual(json.loads(out)["answer"], self.expected)
        else:
            self.fails(subprocess.CompletedProcess([], query.returncode, out, err), 1, "creek: ")

    def overwrite(self):
        with open(self.cache, "r+b") as file:
            file.seek(8192)
            file.write(os.urandom(len(self.good) - 8192))

    def test_overwritten_in_place(self):
        for _ in range(2):
            self.restore()
            self.query_while(self.overwrite)

    def test_cut_short(self):
        for size in (0, 8192, len(self.good) // 2):
            self.restore()
            self.query_while(lambda: os.truncate(self.cache, size))

    def test_replaced(self):
        def replace():
            with open(self.path("new"), "wb") as file:
                file.write(self.good)
            os.rename(self.path("new"), self.cache)
        self.query_while(replace)


if __name__ == "__main__":
    unittest.main()
