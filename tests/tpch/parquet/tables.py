# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of this folder: a small `orders` and `lineitem` as rows, as dbgen's text and as Parquet in
many types, and the columns that creek reads. Tests are skipped (exit status 77) without pyarrow or creek's reader."""
import datetime
import os
import random
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path


def skip(why):
    print(f"skipped: {why} (./bootstrap test installs tests/tpch/wheels.txt and builds creek with them)")
    sys.exit(77)


TOOL, READER = sys.argv[1:3]
del sys.argv[1:3]
if READER != "with":
    skip("this creek was built without Parquet")
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as failure:
    skip(failure)

SEED = os.environ.get("CREEK_TEST_SEED") or str(random.SystemRandom().getrandbits(32))
print(f"replay with CREEK_TEST_SEED={SEED}", flush=True)

ORDERS = {"o_orderkey": "integer", "o_custkey": "integer", "o_orderstatus": "text", "o_totalprice": "decimal",
          "o_orderdate": "date", "o_orderpriority": "text", "o_clerk": "text", "o_shippriority": "integer",
          "o_comment": "text"}
LINEITEM = {"l_orderkey": "integer", "l_partkey": "integer", "l_suppkey": "integer", "l_linenumber": "integer",
            "l_quantity": "decimal", "l_extendedprice": "decimal", "l_discount": "decimal", "l_tax": "decimal",
            "l_returnflag": "text", "l_linestatus": "text", "l_shipdate": "date", "l_commitdate": "date",
            "l_receiptdate": "date", "l_shipinstruct": "text", "l_shipmode": "text", "l_comment": "text"}
MONEY = pa.decimal128(15, 2)
TYPES = {"integer": pa.int64(), "decimal": MONEY, "date": pa.date32(), "text": pa.utf8()}


def rows_of(columns, count, generator):
    """Returns random rows, a dictionary from names to lists of integers, Decimals, dates and texts."""
    def value(name, holds):
        if holds == "integer":
            return generator.randrange(1, 100_000)
        if holds == "decimal":
            if name == "l_quantity":
                return Decimal(generator.randrange(1, 51))
            return Decimal(generator.randrange(0, 11 if name in ("l_discount", "l_tax") else 99_999_999)) / 100
        if holds == "date":
            return datetime.date(1992, 1, 1) + datetime.timedelta(generator.randrange(2500))
        if name.endswith(("flag", "status")):
            return generator.choice("ANRFO")
        if name.endswith("comment"):
            return "".join(generator.choice("abc \u00e4") for _ in range(generator.randrange(22)))
        return generator.choice(["AIR", "MAIL", "SHIP", "REG AIR", "1-URGENT", ""])

    rows = {name: [value(name, holds) for _ in range(count)] for name, holds in columns.items()}
    if "o_orderkey" in rows:
        rows["o_orderkey"] = list(range(1, count + 1))
    return rows


def text_of(rows):
    return "".join("|".join(map(str, record)) + "|\n" for record in zip(*rows.values()))


def as_type(value, wanted, holds):
    if pa.types.is_floating(wanted):
        return float(value)
    if pa.types.is_integer(wanted):
        return int(value)
    if holds == "date" and not pa.types.is_date(wanted):
        return str(value)
    return value.encode() if pa.types.is_binary(wanted) else value


def arrow_of(rows, columns, types=None, nullable=False):
    """Returns an Arrow table; `types` replace the usual ones for kinds or single columns."""
    types = TYPES | (types or {})
    arrays, fields = [], []
    for name, holds in columns.items():
        wanted = types.get(name, types[holds])
        values = [None if value is None else as_type(value, wanted, holds) for value in rows[name]]
        plain = wanted.value_type if pa.types.is_dictionary(wanted) else wanted
        array = pa.array(values, plain)
        arrays.append(array.dictionary_encode() if pa.types.is_dictionary(wanted) else array)
        fields.append(pa.field(name, arrays[-1].type, nullable=nullable))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def creek(*arguments):
    return subprocess.run([TOOL, "tpch", *map(str, arguments)], capture_output=True, text=True, timeout=1000)


class Case(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(f"{SEED}:{self.id()}")
        folder = tempfile.TemporaryDirectory(prefix="creek-parquet-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def arrays(self, folder, *options):
        """Loads a folder; returns the bytes of its caches without the description of their files: all values of all
        columns, and how they are packed."""
        done = creek("load", folder, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for cache in Path(folder).glob("*.creek"):
            content = cache.read_bytes()
            found[cache.stem] = content[64 + (int.from_bytes(content[12:16], "little") + 63) // 64 * 64:]
        return found

    def fails(self, done, *parts):
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("creek: "), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
