#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DuckDB, ClickHouse and Polars as benchmark peers, from Python as their users call them (bench/README.md
has the protocol), and grep with GNU parallel. The input is a table in memory, and so is the result; for
grep it is a file in memory."""
import argparse
import dataclasses
import functools
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import typing

PAIRS = ("sum_by_key", "sum_by_key_large", "distinct_keys")
WORDS_OF_TEXT = ("count_words", "count_words_real", "count_bigrams", "inverted_index")
MATCHES = ("count_matches", "filter_lines")
TABLES = PAIRS + WORDS_OF_TEXT + MATCHES + ("sort_records",)
# Those of bench/match_lines/config.hpp.
STRINGS = ("ab", "xyz", "hello")
WANTED = STRINGS[1]


def mixed(z):
    """SplitMix64 of an array, as bench/sum_by_key/config.hpp."""
    import numpy
    u64 = numpy.uint64
    z = z * u64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


def pairs(workload, n):
    import numpy
    many = 100_000_000 if workload == "sum_by_key_large" else 16_000_000
    count = 100_000 if n == 1000 else many
    i = numpy.arange(count, dtype=numpy.uint64)
    keys = mixed(mixed(i + numpy.uint64(1)) % numpy.uint64(n) + numpy.uint64(1)) >> numpy.uint64(1)
    return keys.astype(numpy.int64), (i % numpy.uint64(1000)).astype(numpy.int64)


def records(n):
    import numpy
    i = numpy.arange(n, dtype=numpy.uint64)
    return (mixed(i + numpy.uint64(1)) >> numpy.uint64(1)).astype(numpy.int64), i.astype(numpy.int64)


def print_input(workload, n, to):
    """Has the serial peer beside this program print the text that the C++ peers get."""
    serial = pathlib.Path(__file__).resolve().parent / "bench_serial"
    return subprocess.run([serial, "--print-input", "--workload", workload, "--n", str(n)], check=True,
                          stdout=to).stdout


def lines(workload, n):
    text = print_input(workload, n, subprocess.PIPE)
    # Not splitlines(), which also splits at other bytes.
    return len(text), text.decode("latin-1").removesuffix("\n").split("\n")


def begins(text):
    """Where each line begins."""
    import numpy
    lengths = numpy.fromiter((len(line) + 1 for line in text), numpy.int64, len(text))
    return numpy.cumsum(lengths) - lengths


def answer(keys, mixed_sum):
    return (1_000_003 * keys + mixed_sum) % 2**64


def frame_of(workload, n):
    """Returns the work, the name of the table and the table."""
    import polars
    if workload in PAIRS or workload == "sort_records":
        keys, values = pairs(workload, n) if workload in PAIRS else records(n)
        return len(keys), "pairs", polars.DataFrame({"k": keys, "v": values})
    work, text = lines(workload, n)
    return work, "lines", polars.DataFrame({"line": text, "pos": begins(text)})


# Queries by workload. The number of a text in the answer is 256 times its length plus its first byte.
class Duckdb:
    of_words = "FROM (SELECT unnest(string_split(line, ' ')) AS k, pos FROM lines) WHERE k <> '' GROUP BY k"
    bigrams = ("(SELECT unnest([w[i] || ' ' || w[i + 1] FOR i IN range(1, len(w))]) AS k FROM "
               "(SELECT list_filter(string_split(line, ' '), lambda x: x <> '') AS w FROM lines))")
    queries = {
        "sum_by_key": "SELECT k, sum(v)::BIGINT AS n FROM pairs GROUP BY k",
        "distinct_keys": "SELECT DISTINCT k, 1 AS n FROM pairs",
        "sort_records": "SELECT k, v FROM pairs ORDER BY k",
        "count_words": f"SELECT k, count(*) AS n {of_words}",
        "inverted_index": f"SELECT k, list(pos) AS n {of_words}",
        "count_bigrams": f"SELECT k, count(*) AS n FROM {bigrams} GROUP BY k",
        "count_matches": "SELECT unnest([1, 2, 3]) AS k, unnest([" + ", ".join(
            f"count(*) FILTER (contains(line, '{each}'))" for each in STRINGS) + "]) AS n FROM lines",
        "filter_lines": f"SELECT line FROM lines WHERE contains(line, '{WANTED}')",
    }
    number = {"text": "(256 * strlen(k) + ascii(k))::HUGEINT * {n}", "pairs": "(k % 1024)::HUGEINT * n",
              "matches": "k * n", "sort": "(rowid + 1)::HUGEINT * (k % 1024 + v % 1024)", "lines": "strlen(line)",
              "list_sum": "list_sum(n)"}

    def __init__(self, workers, name, frame):
        import duckdb
        self.db = duckdb.connect(config={"threads": workers})
        self.db.register("frame", frame.to_arrow())
        self.db.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        self.db.unregister("frame")

    def drop(self):
        self.db.execute("DROP TABLE IF EXISTS result")

    def create(self, query):
        self.db.execute(f"CREATE TEMP TABLE result AS {query}")

    def check(self, expression):
        return self.db.execute(f"SELECT count(*), coalesce(sum({expression}), 0) FROM result").fetchone()


class Clickhouse:
    of_words = "FROM (SELECT arrayJoin(splitByChar(' ', line)) AS k, pos FROM lines) WHERE k != '' GROUP BY k"
    bigrams = ("(SELECT arrayJoin(arrayMap((a, b) -> concat(a, ' ', b), arrayPopBack(w), arrayPopFront(w))) "
               "AS k FROM (SELECT arrayFilter(x -> x != '', splitByChar(' ', line)) AS w FROM lines))")
    queries = Duckdb.queries | {
        "sum_by_key": "SELECT k, sum(v) AS n FROM pairs GROUP BY k",
        "sort_records": "SELECT k, v FROM pairs ORDER BY k SETTINGS max_insert_threads = 1",  # keeps the order
        "count_words": f"SELECT k, count() AS n {of_words}",
        "inverted_index": f"SELECT k, groupArray(pos) AS n {of_words}",
        "count_bigrams": f"SELECT k, count() AS n FROM {bigrams} GROUP BY k",
        "count_matches": "SELECT t.1 AS k, t.2 AS n FROM (SELECT arrayJoin([" + ", ".join(
            f"(toUInt64({k}), countIf(position(line, '{each}') > 0))"
            for k, each in enumerate(STRINGS, 1)) + "]) AS t FROM lines)",
        "filter_lines": f"SELECT line FROM lines WHERE position(line, '{WANTED}') > 0",
    }
    number = {"text": "toUInt64(256 * length(k) + ascii(k)) * {n}", "pairs": "toUInt64(k % 1024) * n",
              "matches": "k * n", "sort": "(rowNumberInAllBlocks() + 1) * (k % 1024 + v % 1024)",
              "lines": "length(line)", "list_sum": "arraySum(n)"}

    def __init__(self, workers, name, frame):
        from chdb import session
        self.db = session.Session()
        self.db.query(f"SET max_threads = {workers}")
        given = frame.to_arrow()  # noqa: F841 (the query names it)
        self.db.query(f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM Python(given)")

    def drop(self):
        self.db.query("DROP TABLE IF EXISTS result")

    def create(self, query):
        self.db.query(f"CREATE TABLE result ENGINE = Memory AS {query}")

    def check(self, expression):
        found = self.db.query(f"SELECT count(), sum({expression}) FROM result SETTINGS max_threads = 1", "CSV")
        return str(found).strip().split(",")


def run_queries(database, workload, n, workers, runs):
    work, name, frame = frame_of(workload, n)
    db = database(workers, name, frame)
    del frame
    number = database.number
    value = number["list_sum"] if workload == "inverted_index" else "n"
    if workload in WORDS_OF_TEXT:
        check = number["text"].format(n=value)
    else:
        check = number[{"sort_records": "sort", "count_matches": "matches",
                        "filter_lines": "lines"}.get(workload, "pairs")]
    query = database.queries[workload.removesuffix("_real").removesuffix("_large")]
    for _ in range(runs):
        db.drop()
        start = time.perf_counter_ns()
        db.create(query)
        ns = time.perf_counter_ns() - start
        yield ns, work, answer(*map(int, db.check(check)))


def run_polars(workload, n, _workers, runs):
    import polars as pl
    work, _, frame = frame_of(workload, n)
    table = frame.lazy()
    value = pl.col("n").cast(pl.Int64)
    number = pl.col("k") % 1024
    if workload in ("sum_by_key", "sum_by_key_large"):
        query = table.group_by("k").agg(pl.col("v").sum().alias("n"))
    elif workload == "distinct_keys":
        query, value = table.select(pl.col("k").unique()), pl.lit(1)
    elif workload == "sort_records":
        query, value = table.sort("k"), pl.int_range(1, pl.len() + 1, dtype=pl.UInt64)
        number = (number + pl.col("v") % 1024).cast(pl.UInt64)
    elif workload == "count_matches":
        query = table.select(pl.concat_list([pl.col("line").str.contains(each, literal=True).sum()
                                             for each in STRINGS]).alias("n")).explode("n").with_row_index("k", 1)
        number = pl.col("k").cast(pl.Int64)
    elif workload == "filter_lines":
        query = table.select("line").filter(pl.col("line").str.contains(WANTED, literal=True))
        number, value = pl.col("line").str.len_bytes().cast(pl.Int64), pl.lit(1)
    else:
        words = pl.col("line").str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
        if workload == "count_bigrams":
            second = pl.element().shift(-1)
            words = words.list.eval((pl.element() + " " + second).drop_nulls())
        query = table.select(words.alias("k"), "pos").explode("k").drop_nulls().group_by("k")
        if workload == "inverted_index":
            query, value = query.agg(pl.col("pos").alias("n")), pl.col("n").list.sum()
        else:
            query = query.agg(pl.len().alias("n"))
        number = 256 * pl.col("k").str.len_bytes().cast(pl.Int64) + pl.col("k").str.slice(0, 1).cast(
            pl.Binary).bin.reinterpret(dtype=pl.UInt8).cast(pl.Int64)
    for _ in range(runs):
        start = time.perf_counter_ns()
        result = query.collect()
        ns = time.perf_counter_ns() - start
        mixed_sum = result.select((number * value).sum()).item()
        yield ns, work, answer(result.height, int(mixed_sum))


def run_grep(workload, n, workers, runs):
    """`grep` on parts of a file in memory, one per worker at a time, by GNU parallel if there are several."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        print_input(workload, n, file)
        count = workload == "count_matches"
        for _ in range(runs):
            start = time.perf_counter_ns()
            found = [grep(file.name, each, count, workers) for each in (STRINGS if count else (WANTED,))]
            ns = time.perf_counter_ns() - start
            if count:
                sums = [sum(map(int, each.split())) for each in found]
                result = answer(len(sums), sum(k * each for k, each in enumerate(sums, 1)))
            else:
                ends = found[0].count(b"\n")
                result = answer(ends, len(found[0]) - ends)
            yield ns, os.path.getsize(file.name), result


def grep(file, string, count, workers):
    command = ["grep", "-F", *(["-c"] if count else []), "--", string]
    if workers == 1:
        command.append(file)
    else:
        command = ["parallel", "--will-cite", "--pipe-part", "-k", "-a", file, "--block", "-1", "-j", str(workers),
                   "--", *command]
    # Both report parts without a match by their exit status.
    return subprocess.run(command, check=False, stdout=subprocess.PIPE,
                          env=os.environ | {"LC_ALL": "C"}).stdout


@dataclasses.dataclass
class Peer:
    workloads: tuple
    run: typing.Callable
    package: str = ""  # of Python; empty: programs
    modules: tuple = ()


PEERS = {
    "duckdb": Peer(TABLES, functools.partial(run_queries, Duckdb), "duckdb", ("duckdb", "polars", "pyarrow")),
    "clickhouse": Peer(TABLES, functools.partial(run_queries, Clickhouse), "chdb", ("chdb", "polars", "pyarrow")),
    "polars": Peer(TABLES, run_polars, "polars", ("polars",)),
    "grep": Peer(MATCHES, run_grep),
}


def version(peer):
    if PEERS[peer].package:
        return f"{PEERS[peer].package} {importlib.metadata.version(PEERS[peer].package)}"
    return subprocess.run(["grep", "--version"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split("\n", 1)[0]


def missing(peer):
    """Returns how to get what the peer lacks, or nothing."""
    for module in (*PEERS[peer].modules, *(["numpy"] if PEERS[peer].modules else [])):
        if importlib.util.find_spec(module) is None:
            packages = dict.fromkeys([PEERS[peer].package, "polars", "numpy", "pyarrow"])
            return f"python3 -m pip install {' '.join(packages)} (no module {module})"
    for program in [] if PEERS[peer].package else ["grep", "parallel"]:
        if shutil.which(program) is None:
            return f"install {program} (Debian: {program})"
    return ""


def list_peers():
    for name, peer in PEERS.items():
        if lacks := missing(name):
            print(json.dumps({"peer": name, "missing": lacks}))
            continue
        for workload in peer.workloads:
            print(json.dumps({"workload": workload, "peer": name, "version": version(name),
                              "options": f"--peer {name}"}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="list the peers and their workloads")
    parser.add_argument("--peer", choices=PEERS)
    parser.add_argument("--workload", choices=sorted(TABLES))
    parser.add_argument("--n", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--grain", help="ignored")
    given = parser.parse_args()
    if given.list:
        return list_peers()
    os.environ["POLARS_MAX_THREADS"] = str(given.workers)  # read when the module is loaded
    for i, (ns, work, found) in enumerate(
            PEERS[given.peer].run(given.workload, given.n, given.workers, given.warmup + given.runs)):
        if i >= given.warmup:
            print(json.dumps({"workload": given.workload, "peer": given.peer,
                              "version": version(given.peer), "workers": given.workers,
                              "n": given.n, "work": work, "total_ns": ns, "answer": str(found)}))


if __name__ == "__main__":
    main()
