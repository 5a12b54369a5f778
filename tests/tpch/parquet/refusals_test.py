#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: refusals_test.py TOOL with|without: Parquet files that are damaged or have other contents are refused in one
line that names the place, and no changed byte makes creek fail in another way."""
import datetime
import unittest
from decimal import Decimal

from tables import ORDERS, Case, arrow_of, creek, pa, pq, rows_of

# Column, its type, the expected message.
WRONG_TYPES = [
    ("o_orderkey", pa.float64(), "is of the type DOUBLE, not an integer"),
    ("o_orderkey", pa.uint64(), "is of the type INT64 Int(bitWidth=64, isSigned=false), not an integer"),
    ("o_custkey", pa.utf8(), "is of the type BYTE_ARRAY String, not an integer"),
    ("o_totalprice", pa.float32(), "is of the type FLOAT, not a decimal or a double"),
    ("o_totalprice", pa.utf8(), "is of the type BYTE_ARRAY String, not a decimal or a double"),
    ("o_orderdate", pa.timestamp("us"), "is of the type INT64 Timestamp"),
    ("o_comment", pa.int32(), "is of the type INT32, not a text"),
    ("o_comment", pa.binary(3), "is of the type FIXED_LEN_BYTE_ARRAY, not a text"),
    ("o_comment", pa.list_(pa.utf8()), "is missing"),
]

NO_DECIMAL = "is not a decimal number with at most two digits after the point"
# Column, a value, the types of the table, the message after the number of the column.
BAD_VALUES = [
    ("o_custkey", None, {}, "(o_custkey): is null"),
    ("o_totalprice", None, {}, "(o_totalprice): is null"),
    ("o_totalprice", None, {"decimal": pa.float64()}, "(o_totalprice): is null"),
    ("o_orderdate", None, {}, "(o_orderdate): is null"),
    ("o_comment", None, {}, "(o_comment): is null"),
    ("o_custkey", Decimal("0.5"), {"o_custkey": pa.decimal128(20, 1)}, "'0.5' is not a whole number of 64 bits"),
    ("o_custkey", Decimal(2**63), {"o_custkey": pa.decimal128(38, 0)}, "(o_custkey): does not fit 64 bits"),
    ("o_custkey", Decimal(-2**63 - 1), {"o_custkey": pa.decimal128(38, 0)}, "(o_custkey): does not fit 64 bits"),
    ("o_totalprice", Decimal("0.125"), {"decimal": pa.decimal128(15, 3)}, f"'0.125' {NO_DECIMAL}"),
    ("o_totalprice", Decimal(10**17), {"decimal": pa.decimal128(38, 2)}, "(o_totalprice): does not fit 64 bits"),
    ("o_totalprice", Decimal(10**16), {"decimal": pa.decimal128(38, 3)}, "(o_totalprice): does not fit 64 bits"),
    ("o_totalprice", 0.125, {"decimal": pa.float64()}, f"'0.125' {NO_DECIMAL}"),
    ("o_totalprice", 0.1 + 0.2, {"decimal": pa.float64()}, f"'0.30000000000000004' {NO_DECIMAL}"),
    ("o_totalprice", 1e300, {"decimal": pa.float64()}, f"'1e+300' {NO_DECIMAL}"),
    ("o_totalprice", float("nan"), {"decimal": pa.float64()}, f"'nan' {NO_DECIMAL}"),
    ("o_orderdate", "1995-02-30", {"date": pa.utf8()}, "(o_orderdate): '1995-02-30' is not a date YYYY-MM-DD"),
    ("o_orderdate", 3_000_000, {"date": pa.date32()}, "(o_orderdate): day 3000000 after 1970-01-01 is not in"),
    ("o_orderstatus", "OO", {}, "(o_orderstatus): 'OO' has 2 bytes, more than 1"),
    ("o_comment", "x" * 80, {}, "has 80 bytes, more than 79"),
    ("o_comment", "a\0b", {}, "(o_comment): 'a\\x00b' has a NUL byte"),
]


class Refusals(Case):
    def setUp(self):
        super().setUp()
        self.rows = rows_of(ORDERS, 60, self.random)
        self.file = self.folder / "orders.parquet"

    def refused(self, *parts):
        for workers in (1, 3):
            self.fails(creek("load", self.folder, "--workers", workers), "orders.parquet: ", *parts,
                       ": not a table of TPC-H")

    def test_files_that_are_no_parquet(self):
        pq.write_table(arrow_of(self.rows, ORDERS), self.file)
        good = self.file.read_bytes()
        for bad in (b"", b"P", b"no Parquet file at all", good[:-1], good[:-30], good[:len(good) // 2], good[200:],
                    good[:4] + bytes(600) + good[604:]):
            self.file.write_bytes(bad)
            self.refused()
        self.file.write_bytes(b"no Parquet file at all")
        self.refused("Parquet magic bytes not found")

    def test_columns(self):
        table = arrow_of(self.rows, ORDERS)
        for bad, said in ((table.drop_columns(["o_clerk"]), "column 7 (o_clerk): is missing"),
                          (table.append_column("O_CLERK", table["o_clerk"]), "column 7 (o_clerk): occurs twice"),
                          (table.slice(0, 0), "the table has no rows")):
            pq.write_table(bad, self.file)
            self.refused(said)
        for name, wrong, said in WRONG_TYPES:
            with self.subTest(name=name, type=wrong):
                place = table.column_names.index(name)
                pq.write_table(table.set_column(place, name, pa.array([None] * 60, wrong)), self.file)
                self.refused(f"column {place + 1} ({name}): {said}")

    def test_values(self):
        for name, value, types, said in BAD_VALUES:
            with self.subTest(name=name, value=value):
                rows = {key: list(values) for key, values in self.rows.items()}
                rows[name][44] = datetime.date(1970, 1, 1) if isinstance(value, int) else value
                if value == "1995-02-30":
                    rows[name] = [str(day) for day in rows[name]]
                table = arrow_of(rows, ORDERS, types, nullable=True)
                if isinstance(value, int):  # a day that Python does not have
                    place = table.column_names.index(name)
                    days = table[name].cast(pa.int32()).to_pylist()
                    days[44] = value
                    table = table.set_column(place, name, pa.array(days, pa.int32()).cast(pa.date32()))
                pq.write_table(table, self.file, row_group_size=20)
                place = table.column_names.index(name) + 1
                self.refused(f"row group 3, row 5: column {place} ({name}): ", said)

    def test_the_first_of_several(self):
        for name, row in (("o_custkey", 50), ("o_comment", 25), ("o_orderdate", 30), ("o_comment", 45)):
            self.rows[name][row] = None
        pq.write_table(arrow_of(self.rows, ORDERS, nullable=True), self.file, row_group_size=20)
        self.refused("row group 2, row 11: column 5 (o_orderdate): is null")

    def test_only_in_columns_that_are_read(self):
        self.rows["o_comment"][3] = None
        pq.write_table(arrow_of(self.rows, ORDERS, nullable=True), self.file)
        done = creek("q4", "--data", self.folder)  # also needs lineitem
        self.assertIn("lineitem.tbl: No such file", done.stderr)

    def test_any_changed_bytes(self):
        pq.write_table(arrow_of(self.rows, ORDERS, nullable=True), self.file, row_group_size=30,
                       write_page_checksum=False, compression="none", use_dictionary=["o_clerk"])
        good = self.file.read_bytes()
        refused = 0
        for _ in range(60):
            bad = bytearray(good)
            for _ in range(self.random.randrange(1, 4)):
                bad[self.random.randrange(len(bad))] = self.random.randrange(256)
            if self.random.random() < 0.1:
                del bad[self.random.randrange(len(bad)):]
            self.file.write_bytes(bad)
            done = creek("load", self.folder, "--workers", 2)
            if done.returncode == 0:
                self.assertEqual(done.stderr, "")
                continue
            refused += 1
            self.fails(done, "orders.parquet: ")
        self.assertGreater(refused, 5)


if __name__ == "__main__":
    unittest.main()
