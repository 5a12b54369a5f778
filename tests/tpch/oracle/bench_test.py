#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: bench_test.py COMPARE TOOL FOLDER: bench/tpch/compare.py on small tables made below FOLDER has a
figure of creek and DuckDB for every query asked for and number of threads, whether Hyper is installed or not. Exit
status 77 where DuckDB is missing."""
import json
import subprocess
import sys
from pathlib import Path

from oracle import engine


def main():
    compare, tool, folder = sys.argv[1:]
    queries = ["q6", "q12"]
    engine()
    out = Path(folder) / "out.json"
    command = [sys.executable, "-B", compare, "--tool", tool, "--data", folder]
    done = subprocess.run([*command, "--scale", "0.001", "--queries", ",".join(queries), "--rounds", "1", "--runs", "1",
                           "--loads", "1", "--json", out],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text(encoding="utf-8"))
    places = {(row["query"], row["threads"], row["engine"]) for row in figures["queries"] if row["seconds"] > 0}
    for query in queries:
        assert f"\n{query} " in done.stdout, done.stdout
        assert places >= {(query, count, name) for count in (1, 2) for name in ("creek", "duckdb")}, (query, places)
    assert [row["threads"] for row in figures["load"]] == [row["threads"] for row in figures["scan_limit"]] == [1, 2]
    assert ("hyper" in figures["missing"]) != ("hyper" in figures["engines"])
    for arguments, code, why in ((["--queries", "q99"], 1, "q99: no query"), (["--rounds", "0"], 2, "must be 1 or more"),
                                 (["--scale", "1e7"], 1, "needs 20000000 GB of memory")):
        done = subprocess.run([*command, "--scale", "0.001", *arguments], capture_output=True, text=True)
        assert done.returncode == code and why in done.stderr, done


if __name__ == "__main__":
    main()
