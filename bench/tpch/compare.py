#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The queries of `creek tpch` beside DuckDB and Hyper on the same tables in the same minutes: `./bootstrap bench
tpch`. Every engine answers every query with every number of threads in turns, round by round; answers are compared
outside the timed part. Queries are the files of tests/tpch/sql, their parameters those of the validation run."""
import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tpch/oracle"))

from engines import Creek, DuckDB, Hyper, Query  # noqa: E402
from oracle import Failure  # noqa: E402
from query_file import QueryFile  # noqa: E402
from rows import difference  # noqa: E402

# The columns of each table that have keys, but for those of nations and regions.
KEYS = {"customer": (0,), "lineitem": (0, 1, 2), "orders": (0, 1), "part": (0,), "partsupp": (0, 1), "supplier": (0,)}

# Bytes that scale factor 1 takes: text, creek's caches and the peers' files on disk, all but the text in memory.
DISK, MEMORY = 3.0e9, 2.0e9


def options():
    parser = argparse.ArgumentParser(prog="./bootstrap bench tpch", description=__doc__)
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, default=ROOT / "build/tpch", help="where tables are made (build/tpch)")
    parser.add_argument("--scale", default="1", help="scale factor (1)")
    parser.add_argument("--shuffled", action="store_true", help="put the rows of all tables in random order")
    parser.add_argument("--sparse-keys", action="store_true",
                        help="scatter the keys of all tables over 31 bits; dbgen's are nearly dense")
    parser.add_argument("--queries", default="", help="as q3,q6 (all that creek has)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (5)")
    parser.add_argument("--runs", type=int, default=5, help="runs in a row a round, of which the median counts (5)")
    parser.add_argument("--loads", type=int, default=3, help="times that the text is loaded, 0 for not at all (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    given = parser.parse_args()
    try:
        given.threads = [int(count) for count in given.threads.split(",")]
        float(given.scale)
    except ValueError as wrong:
        parser.error(str(wrong))
    if min(given.threads + [given.rounds, given.runs]) < 1 or given.loads < 0:
        parser.error("threads, rounds and runs must be 1 or more")
    return given


# --- tables, queries, engines ---------------------------------------------------------------------

def available_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))


def check_room(scale, folder):
    """Of the disk only if the tables are not there yet."""
    needs = [("memory", MEMORY * scale, available_memory())]
    if not (folder / "made").exists():
        needs.append(("disk", DISK * scale, shutil.disk_usage(folder.parent).free))
    for what, wanted, there in needs:
        if wanted > there:
            raise Failure(f"scale factor {scale:g} needs {wanted / 1e9:.0f} GB of {what}, {there / 1e9:.1f} GB are free")


def scattered(key):
    """A different number below 2^31 for each key below 2^31 - 1, which is a prime."""
    return int(key) * 1_000_000_007 % (2**31 - 1)


def change_rows(path, shuffled, columns):
    """Puts the lines of a file in an order that is random but the same each time, and scatters the keys in `columns`."""
    lines = path.read_bytes().splitlines(keepends=True)
    if shuffled:
        random.Random(path.name).shuffle(lines)
    with open(path, "wb") as file:
        for line in lines:
            fields = line.split(b"|")
            for column in columns:
                fields[column] = b"%d" % scattered(fields[column])
            file.write(b"|".join(fields))


def make_text(folder, scale, shuffled, sparse_keys):
    if (folder / "made").exists():
        return
    generator = next((place for entry in sys.path if (place := Path(entry) / "bin/tpchgen-cli").exists()),
                     shutil.which("tpchgen-cli"))
    if not generator:
        raise Failure("tpchgen-cli: not found; pip could not install tests/tpch/wheels.txt")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([generator, "-s", scale, "-o", folder, "-q"], check=True)
    for table, columns in KEYS.items():
        if shuffled or sparse_keys:
            change_rows(folder / f"{table}.tbl", shuffled, columns if sparse_keys else ())
    (folder / "made").touch()


def wanted_queries(creek, names):
    """In the order of their numbers."""
    listed = set(re.findall(r"^ +(q\d+) ", creek.output("tpch", "--help"), re.MULTILINE))
    files = {path.stem: path for path in (ROOT / "tests/tpch/sql").glob("q*.sql")}
    chosen = set(names.split(",")) if names else listed & set(files)
    if chosen - listed or chosen - set(files):
        raise Failure(f"{','.join(sorted(chosen - (listed & set(files))))}: no query of `creek tpch`")
    queries = []
    for name in sorted(chosen, key=lambda name: int(name[1:])):
        file = QueryFile(files[name])
        ends = "|".join(parameter.name for parameter in file.parameters)
        text = creek.run(name, 1, 1)["parameters"]
        values = dict(part.split("=", 1) for part in re.split(rf" (?=(?:{ends})=)", text) if part)
        queries.append(Query(file, values))
    return queries


def open_peers(folder, threads):
    """Those that can be had, and why the others cannot."""
    schema = (ROOT / "tests/tpch/sql/schema.sql").read_text(encoding="utf-8")
    schema = "\n".join(line for line in schema.splitlines() if not line.startswith("--"))
    peers, missing = [], {}
    for name, make in (("duckdb", lambda: DuckDB(folder, schema)), ("hyper", lambda: Hyper(folder, schema, threads))):
        try:
            peers.append(make())
        except Exception as failure:  # whatever a peer throws, the others are measured
            missing[name] = one_line(failure)
    return peers, missing


def one_line(failure):
    return " ".join(str(failure).split())[:200]


# --- measuring ------------------------------------------------------------------------------------

def peers_differ(one, other):
    """What is wrong between two peers' answers. Quotients are binary floating point at one and decimals of six
    digits at another."""
    def same(a, b):
        if isinstance(a, float) or isinstance(b, float):
            if a is None or b is None:
                return False
            return abs(float(a) - float(b)) <= 1e-6 + 1e-9 * abs(float(a))
        return a == b

    if one[0] != other[0] or len(one[1]) != len(other[1]):
        return f"{len(other[1])} rows of {other[0]}, not {len(one[1])} of {one[0]}"
    for number, (row, wanted) in enumerate(zip(other[1], one[1]), 1):
        if not all(map(same, row, wanted)):
            return f"row {number} is {row}, not {wanted}"
    return None


def check_answers(creek, peers, queries, threads):
    """Runs everything once; returns why a peer does not answer a query. A wrong answer ends the command: creek's
    must be the first peer's, and another peer's, too."""
    refused = {}
    for query in queries:
        mine = creek.run(query.name, threads[-1], 1)["answer"]
        first = None
        for peer in peers:
            try:
                answers = [peer.answer(query, count) for count in threads]
            except Exception as failure:
                refused[query.name, peer.name] = one_line(failure)
                continue
            for answer in answers:
                wrong = peers_differ(first, answer) if first else difference(mine, *answer)
                if wrong:
                    raise Failure(f"{query.name}: {peer.name} gives another answer: {wrong}")
            first = first or answers[0]
    return refused


def measure(engines, queries, threads, rounds, runs, refused):
    """{(query, threads, engine): seconds, one a round}."""
    samples = {}
    for done in range(rounds):
        print(f"\rround {done + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        for query in queries:
            for count in threads:
                for engine in engines:
                    if (query.name, engine.name) in refused:
                        continue
                    samples.setdefault((query.name, count, engine.name), []).append(
                        engine.seconds(query, count, runs))
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return samples


def measure_loads(creek, threads, loads):
    """Rates of lineitem.tbl in bytes a second, by workers: checked and read into columns, and with its cache written."""
    rates = {count: ([], []) for count in threads}
    for _ in range(loads):
        for count in threads:
            table = next(table for table in creek.load(count) if table["table"] == "lineitem")
            rates[count][0].append(table["text_bytes"] / table["reading_s"])
            rates[count][1].append(table["text_bytes"] / (table["reading_s"] + table["writing_s"]))
    return {count: tuple(map(statistics.median, both)) for count, both in rates.items()} if loads else {}


def scan_limits(creek, threads, rounds, runs):
    """Of Q6 by workers: seconds, and those that its bytes take at the bandwidth of the same process; medians."""
    limits = {}
    for count in threads:
        said = [creek.run_warm("q6", count, runs) for _ in range(rounds)]
        limits[count] = (statistics.median(run["seconds"] for run in said),
                         statistics.median(run["bytes"] / run["memory_bytes_s"] for run in said))
    return limits


# --- results --------------------------------------------------------------------------------------

def results_of(samples):
    for (query, threads, engine), seconds in samples.items():
        median = statistics.median(seconds)
        yield {"query": query, "threads": threads, "engine": engine, "seconds": median, "least_s": min(seconds),
               "greatest_s": max(seconds), "times_creek": median / statistics.median(samples[query, threads, "creek"])}


def counted(threads):
    return f"{threads} thread{'s' * (threads > 1)}"


def print_tables(given, queries, engines, missing, refused, figures):
    by_place = {(row["query"], row["threads"], row["engine"]): row for row in figures["queries"]}
    names = [engine.name for engine in engines]
    rows = ", rows shuffled" * given.shuffled + ", keys sparse" * given.sparse_keys
    print(f"TPC-H, scale factor {given.scale}{rows}: ms, medians of {given.rounds} rounds of {given.runs} runs; "
          "(how many times creek's)")
    print(f"{'query':<6} {'threads':>7}" + "".join(f" {name:>18}" for name in names + sorted(missing)))
    for query in queries:
        for count in given.threads:
            line = f"{query.name:<6} {count:>7}"
            for name in names + sorted(missing):
                row = by_place.get((query.name, count, name))
                if not row:
                    line += f" {'missing' if name in missing else 'refused':>18}"
                    continue
                ratio = "" if name == "creek" else f" ({row['times_creek']:.2f})"
                line += f" {1e3 * row['seconds']:>9.2f}{ratio:>9}"
            print(line)
    for name in names[1:]:
        means = [f"{statistics.geometric_mean(ratios):.2f}" for count in given.threads if (ratios := [
            row["times_creek"] for (_, threads, engine), row in by_place.items() if (threads, engine) == (count, name)])]
        print(f"{name}: {' / '.join(means)} times creek's with {' / '.join(map(str, given.threads))} threads, geometric means")
    for row in figures["scan_limit"]:
        print(f"q6, {counted(row['threads'])}: {1e3 * row['seconds']:.2f} ms, {row['seconds'] / row['limit_s']:.2f} times "
              f"the {1e3 * row['limit_s']:.2f} ms in which its columns can be read")
    for row in figures["load"]:
        print(f"lineitem.tbl, {counted(row['threads'])}: {row['read_bytes_s'] / 1e6:.0f} MB/s read, "
              f"{row['with_cache_bytes_s'] / 1e6:.0f} MB/s with its cache written")
    for name, why in sorted(missing.items()):
        print(f"{name}: missing: {why}")
    for (query, name), why in sorted(refused.items()):
        print(f"{query} on {name}: {why}")


def surroundings():
    def git(*arguments):
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(": ", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    return {"processor": model, "processors": os.cpu_count(), "kernel": os.uname().release,
            "commit": git("rev-parse", "HEAD"), "modified": bool(git("status", "--porcelain", "-uno"))}


def run(given):
    order = "-shuffled" * given.shuffled + "-sparse" * given.sparse_keys
    folder = (given.data / f"sf{given.scale}{order}").resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    check_room(float(given.scale), folder)
    make_text(folder, given.scale, given.shuffled, given.sparse_keys)
    creek = Creek(given.tool, folder)
    creek.load(given.threads[-1])
    queries = wanted_queries(creek, given.queries)
    loads = measure_loads(creek, given.threads, given.loads)
    peers, missing = open_peers(folder, given.threads)
    engines = [creek, *peers]
    refused = check_answers(creek, peers, queries, given.threads)
    samples = measure(engines, queries, given.threads, given.rounds, given.runs, refused)
    limits = scan_limits(creek, given.threads, given.rounds, given.runs)
    for peer in peers:
        peer.close()
    figures = {
        "schema_version": 1, "command": "bench tpch",
        "scale": given.scale, "shuffled": given.shuffled, "sparse_keys": given.sparse_keys, "rounds": given.rounds, "runs": given.runs, "machine": surroundings(),
        "engines": {engine.name: engine.version for engine in engines}, "missing": missing,
        "queries": list(results_of(samples)),
        "scan_limit": [{"threads": count, "seconds": seconds, "limit_s": limit}
                       for count, (seconds, limit) in limits.items()],
        "load": [{"threads": count, "read_bytes_s": read, "with_cache_bytes_s": written}
                 for count, (read, written) in loads.items()]}
    print_tables(given, queries, engines, missing, refused, figures)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main():
    given = options()
    try:
        run(given)
    except (Failure, RuntimeError, OSError, subprocess.CalledProcessError) as failure:
        print(f"bench tpch: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
