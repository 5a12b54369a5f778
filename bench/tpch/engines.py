# SPDX-License-Identifier: Apache-2.0
"""creek, DuckDB and Hyper behind one interface. An engine has a `name` and a `version`; `answer(query, threads)`
gives the columns and rows of a query, and `seconds(query, threads, runs)` the median time of runs in a row, with
the tables in memory. Both peers hold their tables as compressed files of their own form, which they read into
memory once: on these queries faster than their tables without a file."""
import contextlib
import datetime
import importlib.metadata
import json
import re
import shutil
import statistics
import subprocess
import time
from decimal import Decimal

from oracle import fill

TABLE = re.compile(r"create table (\w+) \((.*?)\);", re.DOTALL)
COLUMN = re.compile(r"(?:^|,)\s*([a-z]\w*_\w+)\s+(\w+(?:\(\d+, \d+\))?)")


def tables_of(schema):
    """{table: {column: type}} of `create table` statements."""
    return {name: dict(COLUMN.findall(columns)) for name, columns in TABLE.findall(schema)}


def median_time(run, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Query:
    """A query with the parameters of the specification's validation run."""

    def __init__(self, file, values):
        self.name, self.sql = file.name, file.sql(values)


class Creek:
    name = "creek"

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.version = self.output("--version").split()[-1]

    def output(self, *arguments):
        done = subprocess.run([self.tool, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().removeprefix("creek: "))
        return done.stdout

    def load(self, threads):
        """What loading each table took, as `creek tpch load` says it."""
        return json.loads(self.output("tpch", "load", str(self.folder), "--workers", str(threads), "--json"))["tables"]

    def run(self, name, threads, runs):
        """All that `creek tpch` says of a query."""
        return json.loads(self.output("tpch", name, "--data", str(self.folder), "--workers", str(threads),
                                      "--repeat", str(runs), "--in-memory", "--json"))

    def run_warm(self, name, threads, runs):
        """The same, with the seconds of runs after the first: peers' processes live on from one query to the next, this
        one is new."""
        said = self.run(name, threads, runs + 1)
        return {**said, "seconds": statistics.median(said["each_s"][1:])}

    def seconds(self, query, threads, runs):
        return self.run_warm(query.name, threads, runs)["seconds"]


class DuckDB:
    name = "duckdb"

    def __init__(self, folder, schema):
        import duckdb
        self.version = duckdb.__version__
        file = folder / f"duckdb-{self.version}.db"
        if not file.exists():
            new = file.with_suffix(".new")
            new.unlink(missing_ok=True)
            with duckdb.connect(str(new)) as database:
                fill(database, folder, schema)
            new.rename(file)
        self.database = duckdb.connect(str(file), read_only=True)

    def answer(self, query, threads):
        self.database.execute(f"set threads = {threads}")
        done = self.database.execute(query.sql)
        return [column[0] for column in done.description], done.fetchall()

    def seconds(self, query, threads, runs):
        self.database.execute(f"set threads = {threads}")
        return median_time(lambda: self.database.execute(query.sql).fetchall(), runs)

    def close(self):
        self.database.close()


class Hyper:
    """The threads of a query are a setting of the server, so there is a server for each number of them, and a copy
    of the file for each, as a server locks its own."""
    name = "hyper"

    def __init__(self, folder, schema, thread_counts):
        import tableauhyperapi as hyper
        self.hyper, self.version = hyper, importlib.metadata.version("tableauhyperapi")
        self.open = contextlib.ExitStack()
        self.connections = {}
        files = {threads: folder / f"hyper-{self.version}-{threads}.hyper" for threads in thread_counts}
        for file in files.values():
            made = [other for other in files.values() if other.exists()]
            if file not in made:
                self.make(file, made, folder, schema)
        for threads, file in files.items():
            self.connections[threads] = self.open.enter_context(self.connect(threads, file, "NONE"))

    def make(self, file, made, folder, schema):
        new = file.with_suffix(".new")
        if made:
            shutil.copy(made[0], new)
        else:
            with self.connect(2, new, "CREATE_AND_REPLACE") as connection:
                self.fill(connection, folder, schema)
        new.rename(file)

    @contextlib.contextmanager
    def connect(self, threads, file, create):
        hyper = self.hyper
        settings = {"log_config": "", "soft_concurrent_query_thread_limit": str(threads)}
        with hyper.HyperProcess(hyper.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU, parameters=settings) as server:
            with hyper.Connection(server.endpoint, str(file), hyper.CreateMode[create]) as connection:
                yield connection

    @staticmethod
    def fill(connection, folder, schema):
        for table, columns in tables_of(schema).items():
            described = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            connection.execute_command(f"create table {table} ({described})")
            connection.execute_command(
                f"insert into {table} select {', '.join(columns)} from external('{folder / table}.tbl', "
                r"format => 'csv', delimiter => '|', quote => e'\x01', escape => e'\x01', "
                f"columns => descriptor({described}, after_the_last_bar text))")

    def answer(self, query, threads):
        with self.connections[threads].execute_query(query.sql) as result:
            columns = [column.name.unescaped for column in result.schema.columns]
            return columns, [tuple(map(self.plain, row)) for row in result]

    def plain(self, value):
        if isinstance(value, self.hyper.Date):
            return value.to_date()
        # A sum of 64-bit integers is a decimal here.
        return int(value) if isinstance(value, Decimal) and value.as_tuple().exponent == 0 else value

    def seconds(self, query, threads, runs):
        return median_time(lambda: self.connections[threads].execute_list_query(query.sql), runs)

    def close(self):
        self.open.close()
