#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: generators_test.py TOOL with|without: all eight tables as tpchgen-cli and DuckDB write them in Parquet give
the same columns as the generator's text."""
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
    def generate(self, name, *options):
        subprocess.run([GENERATOR, *options, "-s", "0.001", "-o", self.folder / name, "-q"], check=True)
        return self.folder / name

    def test_tpchgen_and_duckdb(self):
        """One test, because the generator takes seconds to start."""
        wanted = self.arrays(self.generate("text"))
        self.assertEqual(len(wanted), 8)
        self.assertTrue(self.arrays(self.generate("text in parts", "tbl", "--parts", "12")) == wanted)
        parquet = self.generate("parquet", "parquet", "--parts", "3", "--row-group-bytes", "100KB")
        self.assertTrue(self.arrays(parquet, "--workers", "3") == wanted)

        folder = self.folder / "duckdb"
        folder.mkdir()
        with engine().connect(config={"threads": 1}) as database:
            fill(database, self.folder / "text", SCHEMA.read_text(encoding="utf-8"))
            for table in wanted:
                database.execute(f"copy {table} to '{folder}/{table}.parquet' (format parquet, row_group_size 2048)")
        self.assertTrue(self.arrays(folder) == wanted)


if __name__ == "__main__":
    unittest.main()
