# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the scripts of this folder: the oracle or its absence, the seed, runs of the tool."""
import json
import shlex
import subprocess
import sys


def skip(why):
    print(f"skipped: {why} (./bootstrap test installs tests/tpch/wheels.txt)")
    sys.exit(77)


def engine():
    """Returns DuckDB's module. Ends the test as skipped if it is not installed."""
    try:
        import duckdb
    except ImportError as failure:
        skip(failure)
    return duckdb


def fill(database, folder, schema):
    """Creates the tables of `schema` in a database of DuckDB and reads them from FOLDER/TABLE.tbl."""
    database.execute(schema)
    for table in [row[0] for row in database.execute("show tables").fetchall()]:
        types = {row[0]: row[1] for row in database.execute(f"describe {table}").fetchall()}
        # After the bar that ends a record there is one more column, always empty.
        database.execute(
            f"insert into {table} select {', '.join(types)} from read_csv(?, delim = '|', quote = '', "
            "escape = '', header = false, nullstr = 'no text is null', auto_detect = false, columns = ?)",
            [f"{folder}/{table}.tbl", types | {"after_the_last_bar": "VARCHAR"}])


class Failure(Exception):
    """An error with one line that says what went wrong."""


def run_tool(tool, *arguments):
    """Returns the JSON that `creek tpch` prints."""
    command = [tool, "tpch", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1000)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)
