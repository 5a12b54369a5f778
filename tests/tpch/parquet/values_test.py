#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: values_test.py TOOL with|without: Parquet files give the same columns as dbgen's text,
whatever the types and the encodings."""
import unittest

from tables import LINEITEM, ORDERS, Case, arrow_of, creek, pa, pq, rows_of, text_of

WORDS = pa.dictionary(pa.int32(), pa.utf8())
# Types that generators and engines write, by kind or by column.
TYPES = {
    "usual": {},
    "narrow": {"integer": pa.int32(), "decimal": pa.decimal128(10, 2)},
    "doubles": {"decimal": pa.float64(), "date": pa.utf8()},
    "wide": {"decimal": pa.decimal128(38, 6), "integer": pa.decimal128(38, 0), "text": pa.large_utf8()},
    "very wide": {"decimal": pa.decimal256(60, 2)},
    "dictionaries": {"text": WORDS, "date": WORDS},
    "bytes": {"text": pa.binary(), "l_quantity": pa.int64()},
    "views": {"text": pa.string_view(), "l_quantity": pa.decimal128(5, 0)},
}
# Ways to write them.
WAYS = {
    "usual": {},
    "plain": {"use_dictionary": False, "compression": "none", "data_page_version": "2.0"},
    "small": {"row_group_size": 7, "compression": "zstd", "data_page_size": 64},
    "pages": {"compression": "gzip", "data_page_size": 100, "write_batch_size": 10, "write_page_checksum": True},
    "deltas": {"use_dictionary": False, "version": "2.6", "compression": "lz4", "column_encoding": {
        "l_orderkey": "DELTA_BINARY_PACKED", "l_comment": "DELTA_BYTE_ARRAY",
        "l_shipmode": "DELTA_LENGTH_BYTE_ARRAY"}},
    "integers": {"store_decimal_as_integer": True, "compression": "brotli"},
}


class Values(Case):
    def setUp(self):
        super().setUp()
        self.rows = rows_of(LINEITEM, 500, self.random)
        (self.folder / "text").mkdir()
        (self.folder / "text/lineitem.tbl").write_text(text_of(self.rows), encoding="utf-8")
        self.wanted = self.arrays(self.folder / "text")

    def check(self, table, workers, **way):
        pq.write_table(table, self.folder / "lineitem.parquet", **way)
        self.assertTrue(self.arrays(self.folder, "--workers", workers) == self.wanted)

    def test_every_type_and_way_of_writing(self):
        for types, chosen in TYPES.items():
            for nullable in (False, True):
                with self.subTest(types=types, nullable=nullable):
                    self.check(arrow_of(self.rows, LINEITEM, chosen, nullable), 2)
        for way, options in WAYS.items():
            for workers in (1, 5):
                with self.subTest(way=way, workers=workers):
                    self.check(arrow_of(self.rows, LINEITEM, nullable=workers == 5), workers, **options)

    def test_columns_in_any_order_and_others_beside_them(self):
        table = arrow_of(self.rows, LINEITEM)
        names = table.column_names
        self.random.shuffle(names)
        table = table.select(names).rename_columns([name.upper() for name in names])
        table = table.append_column("more", pa.array([None] * 500, pa.float32()))
        table = table.append_column("nested", pa.array([{"l_tax": [1, 2]}] * 500))
        self.check(table, 2)

    def test_extreme_numbers(self):
        least, greatest = -2**63, 2**63 - 1
        self.rows["l_orderkey"][:4] = [least, greatest, -1, 0]
        self.rows["l_extendedprice"][:3] = [-1 * self.rows["l_extendedprice"][0], 0, 9_999_999_999_999]
        (self.folder / "text/lineitem.tbl").write_text(text_of(self.rows), encoding="utf-8")
        self.wanted = self.arrays(self.folder / "text")
        for types in ({}, {"integer": pa.decimal128(38, 0)}, {"decimal": pa.float64()}):
            self.check(arrow_of(self.rows, LINEITEM, types), 2)


class Answers(Case):
    def test_are_those_from_text(self):
        orders, lines = rows_of(ORDERS, 300, self.random), rows_of(LINEITEM, 900, self.random)
        lines["l_orderkey"] = [self.random.randrange(1, 301) for _ in range(900)]
        for form in ("text", "parquet"):
            (self.folder / form).mkdir()
        for name, columns, rows in (("orders", ORDERS, orders), ("lineitem", LINEITEM, lines)):
            (self.folder / f"text/{name}.tbl").write_text(text_of(rows), encoding="utf-8")
            pq.write_table(arrow_of(rows, columns), self.folder / f"parquet/{name}.parquet", row_group_size=100)
        for query, parameters in (("q1", []), ("q6", ["DISCOUNT=0.05"]), ("q12", ["SHIPMODE2=AIR"]), ("q4", [])):
            given = [part for value in parameters for part in ("--param", value)]
            answers = [creek(query, "--data", self.folder / form, "--answer-only", "--json", *given)
                       for form in ("text", "parquet")]
            self.assertEqual(answers[0].returncode, 0, answers[0].stderr)
            self.assertEqual(answers[0].stdout, answers[1].stdout, answers[1].stderr)


if __name__ == "__main__":
    unittest.main()
