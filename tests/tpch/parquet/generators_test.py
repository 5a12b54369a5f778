#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: generators_test.py TOOL with|without: all eight tables as tpchgen-cli writes them in Parquet, and as DuckDB
does, come to the columns that the generator's text comes to."""
import subprocess
import sys
import unittest
from pathlib import Path

from tables import Case, pa, skip

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))
from oracle import engine, fill

GENERATOR = Path(pa.__file__).parents[1] / "bin/tpchgen-cli"
if not GENERATOR.exists():
    skip(f"{GENERATOR}: No such file")
SCHEMA = Path(__file__).parents[1] / "sql/schema.sql"


class Generators(Case):
    def setUp(self):
        super().setUp()
        self.generate(self.folder / "text")
        self.wanted = self.arrays(self.folder / "text")
        self.assertEqual(len(self.wanted), 8)

    def generate(self, folder, *options):
        subprocess.run([GENERATOR, *options, "-s", "0.001", "-o", folder, "-q"], check=True)

    def test_tpchgen(self):
        for name, options in (("one", ["parquet"]), ("parts", ["parquet", "--parts", "12"]),
                              ("groups", ["parquet", "--row-group-bytes", "100KB", "-c", "ZSTD(1)"]),
                              ("text in parts", ["tbl", "--parts", "12"])):
            self.generate(self.folder / name, *options)
            self.assertTrue(self.arrays(self.folder / name, "--workers", "3") == self.wanted, name)

    def test_duckdb(self):
        folder = self.folder / "duckdb"
        folder.mkdir()
        with engine().connect(config={"threads": 1}) as database:
            fill(database, self.folder / "text", SCHEMA.read_text(encoding="utf-8"))
            for table in self.wanted:
                database.execute(f"copy {table} to '{folder}/{table}.parquet' (format parquet, row_group_size 2048)")
        self.assertTrue(self.arrays(folder) == self.wanted)


if __name__ == "__main__":
    unittest.main()
