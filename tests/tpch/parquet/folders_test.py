#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: folders_test.py TOOL with|without: the files of a Parquet table as generators and engines name them, and
the caches made of them."""
import json
import os
import shutil
import unittest

from tables import ORDERS, Case, arrow_of, creek, pq, rows_of, text_of

COUNT = 240


class Folders(Case):
    def setUp(self):
        super().setUp()
        self.rows = rows_of(ORDERS, COUNT, self.random)
        self.data = self.folder / "data"
        (self.folder / "text").mkdir()
        (self.folder / "text/orders.tbl").write_text(text_of(self.rows), encoding="utf-8")
        self.wanted = self.arrays(self.folder / "text")

    def write(self, *names):
        """Each file has the next rows, as many as the other files."""
        shutil.rmtree(self.data, ignore_errors=True)
        table = arrow_of(self.rows, ORDERS)
        each = COUNT // len(names)
        for i, name in enumerate(names):
            (self.data / name).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table.slice(i * each, each), self.data / name, row_group_size=17)

    def same(self):
        return self.arrays(self.data) == self.wanted

    def source(self):
        done = creek("q4", "--data", self.data, "--workers", "2")
        return done.stderr if done.returncode else done.stdout

    def test_of_the_generator(self):
        self.write("orders.parquet")
        self.assertTrue(self.same())
        self.write(*(f"orders/orders.{i}.parquet" for i in range(1, 13)))
        self.assertTrue(self.same())
        os.remove(self.data / "orders/orders.3.parquet")
        self.fails(creek("load", self.data), "orders/orders.3.parquet: a part that must be there")

    def test_of_other_engines(self):
        for folder in ("orders", "orders.parquet"):
            self.write(*(f"{folder}/data_{i}.parquet" for i in range(12)))
            self.assertTrue(self.same())
            self.write(*(f"{folder}/part-{i:05}-17e2-c000.snappy.parquet" for i in range(3)))
            for name in ("_SUCCESS", "._SUCCESS.crc", "_metadata.parquet", "README"):
                (self.data / folder / name).write_text("nothing")
            self.assertTrue(self.same())

    def test_with_parts_that_have_no_rows(self):
        self.write("orders/orders.1.parquet")
        pq.write_table(arrow_of(self.rows, ORDERS).slice(0, 0), self.data / "orders/orders.2.parquet")
        self.assertTrue(self.same())

    def test_in_two_forms(self):
        self.write("orders.parquet")
        shutil.copy(self.folder / "text/orders.tbl", self.data)
        self.fails(creek("load", self.data), "orders.tbl and ", "orders.parquet both have the table orders",
                   "keep one and move the other away")
        self.write("orders/orders.1.parquet", "orders/data_0.parquet")
        self.fails(creek("load", self.data), "orders.1.parquet and ", "data_0.parquet both have the table orders")
        self.write("orders.parquet", "orders/data_0.parquet")
        self.fails(creek("load", self.data), "both have the table orders")

    def test_with_caches(self):
        self.write(*(f"orders/orders.{i}.parquet" for i in range(1, 5)))
        done = creek("load", self.data, "--json")
        loaded = json.loads(done.stdout)["tables"][0]
        size = sum(file.stat().st_size for file in (self.data / "orders").iterdir())
        self.assertEqual([loaded[key] for key in ("table", "rows", "files", "format", "text_bytes")],
                         ["orders", COUNT, 4, "parquet", size])
        missing = "lineitem.tbl: No such file"
        self.assertIn(missing, self.source())
        self.assertTrue((self.data / "orders.creek").exists())
        last = self.data / "orders/orders.4.parquet"
        os.utime(last, ns=(1, last.stat().st_mtime_ns + 1000))
        last.write_bytes(b"PAR1")  # read only if the cache is out of date
        done = creek("q4", "--data", self.data)
        self.fails(done, "orders.4.parquet: ", "not a table of TPC-H")
        shutil.rmtree(self.data / "orders")
        self.assertIn(missing, self.source())


if __name__ == "__main__":
    unittest.main()
