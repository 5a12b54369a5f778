#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: make_databases.py TOOL TPCHGEN SCHEMA FOLDER: databases below FOLDER, each a folder of tables as text with
creek's caches of them and the same tables as the file oracle.duckdb. Those of TPC-H's generator are made once,
those of random rows in every run, from CREEK_TEST_SEED or a new seed, which FOLDER/seed then holds. Exit status 77
where DuckDB or the generator is missing."""
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from odd_tables import Flavour, write_tables
from oracle import engine, fill, run_tool, skip

SCALES = ("0.001", "0.01", "0.05")
ODD = {
    "odd": Flavour(sparse=True, shuffled=True, orphans=True),
    "wide": Flavour(wide=True),
    "single": Flavour(orders=1),
}


def make_oracle(folder, schema):
    file = folder / "oracle.duckdb"
    file.unlink(missing_ok=True)
    with engine().connect(str(file)) as database:
        fill(database, folder, schema)


def generate(generator, scale, folder, schema):
    """Keeps the result of an earlier run with the same input."""
    stamp = folder / "made"
    version = subprocess.run([generator, "--version"], capture_output=True, text=True, check=True).stdout
    wanted = f"{version}{engine().__version__}\n{schema}"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([generator, "-s", scale, "-o", folder, "-q"], check=True)
    make_oracle(folder, schema)
    stamp.write_text(wanted, encoding="utf-8")


def without_caches(source, folder):
    """Links to the database without creek's caches, so that queries read the text."""
    folder.mkdir(exist_ok=True)
    for file in [source / "oracle.duckdb", *source.glob("*.tbl")]:
        (folder / file.name).unlink(missing_ok=True)
        (folder / file.name).symlink_to(file)


def main():
    tool, generator, schema, folder = sys.argv[1:]
    engine()
    if not Path(generator).exists():
        skip(f"{generator}: No such file")
    seed = os.environ.get("CREEK_TEST_SEED") or str(random.SystemRandom().getrandbits(32))
    schema, folder = Path(schema).read_text(encoding="utf-8"), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seed").write_text(seed, encoding="utf-8")
    for scale in SCALES:
        generate(generator, scale, folder / f"sf{scale}", schema)
    for name, like in ODD.items():
        (folder / name).mkdir(exist_ok=True)
        write_tables(folder / name, random.Random(f"{seed}:{name}"), like)
        make_oracle(folder / name, schema)
    for name in (*(f"sf{scale}" for scale in SCALES), *ODD):
        run_tool(tool, "load", str(folder / name))
    for name in (f"sf{SCALES[0]}", "odd"):
        without_caches(folder / name, folder / f"{name}-text")


if __name__ == "__main__":
    main()
