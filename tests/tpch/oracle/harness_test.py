#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison finds differences; parameters are drawn and written as declared."""
import datetime
import random
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from query_file import QueryFile
from rows import difference, same_value


class Values(unittest.TestCase):
    def test_exact(self):
        for got, wanted in ((1, 1), ("a", "a"), ("1.50", Decimal("1.5")), (None, None),
                            ("1995-01-31", datetime.date(1995, 1, 31))):
            self.assertTrue(same_value(got, wanted), (got, wanted))
        for got, wanted in ((1, 2), ("1", 1), (1, "1"), (True, 1), ("1.50", Decimal("1.51")), (1.5, Decimal("1.5")),
                            (None, 0), ("x", None), ("1995-01-30", datetime.date(1995, 1, 31)), ("1.0", None)):
            self.assertFalse(same_value(got, wanted), (got, wanted))

    def test_floating_point_to_the_last_digit_of_the_decimal(self):
        self.assertTrue(same_value("0.333333", 1 / 3))
        self.assertFalse(same_value("0.333334", 1 / 3))
        self.assertTrue(same_value("123456789012.500000", 123456789012.5 * (1 + 5e-10)))
        self.assertFalse(same_value("123456789012.500000", 123456789012.5 * (1 + 5e-9)))

    def test_rows(self):
        self.assertIsNone(difference([{"a": 1, "b": "x"}], ["a", "b"], [(1, "x")]))
        for got in ([], [{"b": "x", "a": 1}], [{"a": 1}], [{"a": 1, "b": "y"}], [{"a": 1, "b": "x"}] * 2):
            self.assertIsNotNone(difference(got, ["a", "b"], [(1, "x")]), got)
        self.assertIsNotNone(difference([{"a": 2}, {"a": 1}], ["a"], [(1,), (2,)]))


class Files(unittest.TestCase):
    def query(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "q0.sql"
            path.write_text(text, encoding="utf-8")
            return QueryFile(path)

    def test_draws_what_is_declared(self):
        query = self.query("-- param A: choice x|it's\n-- param B: from t.c\n-- param D: date 1995-01-30 1995-02-02\n"
                           "-- param N: int 3 5\n-- param P: decimal -0.01 0.01\n-- differ A B\n"
                           "select :A, :B, :D::DATE, :N, :P")
        seen = {name: set() for name in "ABDNP"}
        for seed in range(200):
            values = query.draw(random.Random(seed), lambda table, column: ["x", "y"])
            self.assertNotEqual(values["A"], values["B"])
            for name, value in values.items():
                seen[name].add(value)
        self.assertEqual(seen, {"A": {"x", "it's"}, "B": {"x", "y"}, "N": {"3", "4", "5"},
                                "D": {"1995-01-30", "1995-01-31", "1995-02-01", "1995-02-02"},
                                "P": {"-0.01", "0.00", "0.01"}})
        self.assertEqual(query.sql({"A": "it's", "B": "y", "D": "1995-01-31", "N": "4", "P": "0.01"}),
                         "select 'it''s', 'y', DATE '1995-01-31'::DATE, 4, 0.01")

    def test_nothing_to_draw_where_all_values_are_the_same(self):
        query = self.query("-- param A: choice x\n-- param B: from t.c\n-- differ A B\nselect :A, :B")
        self.assertIsNone(query.draw(random.Random(1), lambda table, column: ["x"]))

    def test_refuses_what_it_cannot_read(self):
        for text in ("-- param A: int 1 2\nselect 1", "select :A", "-- param A: range 1 2\nselect :A",
                     "-- differ A\nselect 1"):
            self.assertRaises(ValueError, self.query, text)


if __name__ == "__main__":
    unittest.main()
