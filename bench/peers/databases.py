#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DuckDB and Polars as benchmark peers, from Python as their users call them (bench/README.md has the
protocol). The input is a table in memory, and so is the result."""
import argparse
import importlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import time

WORKLOADS = ("count_bigrams", "count_words", "distinct_keys", "inverted_index", "sum_by_key")
PEERS = ("duckdb", "polars")


def mixed(z):
    """SplitMix64 of an array, as bench/sum_by_key/config.hpp."""
    import numpy
    u64 = numpy.uint64
    z = z * u64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


def pairs(n):
    import numpy
    count = 100_000 if n == 1000 else 16_000_000
    i = numpy.arange(count, dtype=numpy.uint64)
    keys = mixed(mixed(i + numpy.uint64(1)) % numpy.uint64(n) + numpy.uint64(1)) >> numpy.uint64(1)
    return keys.astype(numpy.int64), (i % numpy.uint64(1000)).astype(numpy.int64)


def lines(workload, n):
    """The text that the C++ peers count, as the serial one beside this program prints it."""
    serial = pathlib.Path(__file__).resolve().parent / "bench_serial"
    text = subprocess.run([serial, "--print-input", "--workload", workload, "--n", str(n)],
                          check=True, stdout=subprocess.PIPE).stdout
    return len(text), text.decode().splitlines()


def begins(text):
    """Where each line begins."""
    import numpy
    lengths = numpy.fromiter((len(line) + 1 for line in text), numpy.int64, len(text))
    return numpy.cumsum(lengths) - lengths


def answer(keys, mixed_sum):
    return (1_000_003 * keys + mixed_sum) % 2**64


# The number of a text in the answer: 256 times its length plus its first byte.
COUNT = "SELECT k, count(*) AS n FROM (SELECT unnest({list}) AS k FROM lines) WHERE k <> '' GROUP BY k"
WORDS = "string_split(line, ' ')"
LISTS = (f"SELECT k, list(pos) AS n FROM (SELECT unnest({WORDS}) AS k, pos FROM lines) WHERE k <> '' "
         "GROUP BY k")
BIGRAMS = "[w[i] || ' ' || w[i + 1] FOR i IN range(1, len(w))]"


def run_duckdb(workload, n, workers, runs):
    import duckdb
    import polars
    db = duckdb.connect(config={"threads": workers})
    if workload in ("sum_by_key", "distinct_keys"):
        keys, values = pairs(n)
        work = len(keys)
        load(db, "pairs", polars.DataFrame({"k": keys, "v": values}))
        query = "SELECT k, sum(v)::BIGINT AS n FROM pairs GROUP BY k"
        if workload == "distinct_keys":
            query = "SELECT DISTINCT k, 1 AS n FROM pairs"
        check = "SELECT count(*), sum((k % 1024)::HUGEINT * n) FROM result"
    else:
        work, text = lines(workload, n)
        load(db, "lines", polars.DataFrame({"line": text, "pos": begins(text)}))
        if workload == "count_words":
            query = COUNT.format(list=WORDS)
        elif workload == "inverted_index":
            query = LISTS
        else:
            query = COUNT.format(list=BIGRAMS).replace(
                "FROM lines", f"FROM (SELECT list_filter({WORDS}, lambda x: x <> '') AS w FROM lines)")
        value = "list_sum(n)" if workload == "inverted_index" else "n"
        check = f"SELECT count(*), sum((256 * strlen(k) + ascii(k))::HUGEINT * {value}) FROM result"
    for _ in range(runs):
        db.execute("DROP TABLE IF EXISTS result")
        start = time.perf_counter_ns()
        db.execute(f"CREATE TEMP TABLE result AS {query}")
        ns = time.perf_counter_ns() - start
        yield ns, work, answer(*map(int, db.execute(check).fetchone()))


def load(db, name, frame):
    db.register("frame", frame.to_arrow())
    db.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    db.unregister("frame")


def run_polars(workload, n, workers, runs):
    import polars as pl
    value = pl.col("n").cast(pl.Int64)
    if workload in ("sum_by_key", "distinct_keys"):
        keys, values = pairs(n)
        work = len(keys)
        frame = pl.DataFrame({"k": keys, "v": values})
        query = frame.lazy().group_by("k").agg(pl.col("v").sum().alias("n"))
        if workload == "distinct_keys":
            query, value = frame.lazy().select(pl.col("k").unique()), 1
        number = pl.col("k") % 1024
    else:
        work, text = lines(workload, n)
        frame = pl.DataFrame({"line": text, "pos": begins(text)})
        words = pl.col("line").str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
        if workload == "count_bigrams":
            second = pl.element().shift(-1)
            words = words.list.eval((pl.element() + " " + second).drop_nulls())
        query = frame.lazy().select(words.alias("k"), "pos").explode("k").drop_nulls().group_by("k")
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


def version(peer):
    return f"{peer} {importlib.metadata.version(peer)}"


def list_peers():
    for peer in PEERS:
        try:
            for module in {peer, "polars", "numpy", "pyarrow"}:
                importlib.import_module(module)
        except ImportError as missing:
            print(json.dumps({"peer": peer, "missing":
                              f"python3 -m pip install duckdb polars numpy pyarrow ({missing})"}))
            continue
        for workload in WORKLOADS:
            print(json.dumps({"workload": workload, "peer": peer, "version": version(peer),
                              "options": f"--peer {peer}"}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="list the peers and their workloads")
    parser.add_argument("--peer", choices=PEERS)
    parser.add_argument("--workload", choices=WORKLOADS)
    parser.add_argument("--n", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--grain", help="ignored")
    given = parser.parse_args()
    if given.list:
        return list_peers()
    os.environ["POLARS_MAX_THREADS"] = str(given.workers)  # read when the module is loaded
    run = {"duckdb": run_duckdb, "polars": run_polars}[given.peer]
    for i, (ns, work, found) in enumerate(
            run(given.workload, given.n, given.workers, given.warmup + given.runs)):
        if i >= given.warmup:
            print(json.dumps({"workload": given.workload, "peer": given.peer,
                              "version": version(given.peer), "workers": given.workers,
                              "n": given.n, "work": work, "total_ns": ns, "answer": str(found)}))


if __name__ == "__main__":
    main()
