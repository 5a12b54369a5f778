#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: query_test.py TOOL QUERY.sql FOLDER DRAWS [OPTION...]: answers of `creek tpch QUERY OPTION...` on every
database below FOLDER (make_databases.py), DRAWS random parameter sets each, are those of DuckDB: names and order of
the columns, number and order of the rows, every value. Exit status 77 where DuckDB is missing."""
import functools
import random
import shlex
import sys
from pathlib import Path

from oracle import Failure, engine, run_tool, skip
from query_file import QueryFile
from rows import difference

WORKERS = (1, 2, 5)


def compare(tool, query, folder, draws, options, generator):
    """Returns how many answers were compared; raises Failure at the first wrong one."""
    compared = 0
    with engine().connect(str(folder / "oracle.duckdb"), read_only=True, config={"threads": 1}) as oracle:
        @functools.cache
        def values_of(table, column):
            return [row[0] for row in oracle.execute(f"select distinct {column} from {table} order by 1").fetchall()]

        for _ in range(draws):
            values = query.draw(generator, values_of)
            if values is None:  # for example where all rows of a database have the same value
                continue
            count = "--cores" if "scc" in options else "--workers"
            arguments = [query.name, "--data", str(folder), *options, count, str(generator.choice(WORKERS))]
            for name, value in values.items():
                arguments += ["--param", f"{name}={value}"]
            done = oracle.execute(query.sql(values))
            columns, rows = [column[0] for column in done.description], done.fetchall()
            wrong = difference(run_tool(tool, *arguments, "--answer-only")["answer"], columns, rows)
            if wrong:
                raise Failure(f"{shlex.join([tool, 'tpch', *arguments])}: {wrong}")
            compared += 1
    return compared


def main():
    tool, query, folder, draws, *options = sys.argv[1:]
    engine()
    folder, query = Path(folder), QueryFile(query)
    if not (folder / "seed").exists():
        skip(f"no databases in {folder}")
    seed = (folder / "seed").read_text(encoding="utf-8")
    print(f"replay with CREEK_TEST_SEED={seed}", flush=True)
    databases = sorted(path for path in folder.iterdir() if path.is_dir())
    compared, failed = 0, False
    for database in databases:
        try:
            compared += compare(tool, query, database, int(draws), options,
                                random.Random(f"{seed}:{query.name}:{database.name}"))
        except Failure as failure:
            print(f"{database.name}: {failure}")
            failed = True
    print(f"{compared} answers compared on {len(databases)} databases")
    return failed or compared == 0


if __name__ == "__main__":
    sys.exit(main())
