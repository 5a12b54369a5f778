# SPDX-License-Identifier: Apache-2.0
"""tpch.py CREEK LAUNCHER...: queries of `creek tpch` with `--backend mpi` print what they print in one process."""

import datetime
import json
import pathlib
import random
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from json_schema import faults  # noqa: E402
import launch  # noqa: E402

QUERIES = (["q1"], ["q3"], ["q6"], ["q12"], ["q18", "--param", "QUANTITY=200"])
SEGMENTS = ("AUTOMOBILE", "BUILDING", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "5-LOW")
MODES = ("AIR", "MAIL", "SHIP", "TRUCK")


def tables(numbers, orders=2000, customers=200):
    """Returns lines of the tables in the order of their keys."""
    def day(first, days):
        return first + datetime.timedelta(days=numbers.randrange(days))

    made = {"customer": [], "orders": [], "lineitem": []}
    for key in range(1, customers + 1):
        made["customer"].append(f"{key}|Customer#{key:09}|street|15|25-989|711.56|{numbers.choice(SEGMENTS)}|none|\n")
    for order in range(1, 4 * orders, 4):
        ordered = day(datetime.date(1993, 1, 1), 1000)
        made["orders"].append(
            f"{order}|{numbers.randrange(1, customers + 1)}|O|{numbers.randrange(10**4, 10**7) / 100:.2f}|{ordered}|"
            f"{numbers.choice(PRIORITIES)}|Clerk#1|0|none|\n")
        for line in range(numbers.randrange(1, 8)):
            shipped, committed = day(ordered, 120), day(ordered, 90)
            made["lineitem"].append(
                f"{order}|5|6|{line}|{numbers.randrange(1, 51)}|{numbers.randrange(10**4, 10**7) / 100:.2f}|"
                f"0.{numbers.randrange(11):02}|0.0{numbers.randrange(9)}|{numbers.choice('ANR')}|"
                f"{numbers.choice('FO')}|{shipped}|{committed}|{day(shipped, 30)}|NONE|{numbers.choice(MODES)}|none|\n")
    return made


def write(folder, made):
    pathlib.Path(folder).mkdir()
    for name, lines in made.items():
        pathlib.Path(folder, f"{name}.tbl").write_text("".join(lines), encoding="ascii")


def main():
    creek, *launcher = sys.argv[1:]
    launch.skip_unless_it_starts([*launcher, "-n", "1"])
    failures = []

    def expect(found, wanted, what):
        if found != wanted:
            failures.append(f"{what}: {found!r}, expected {wanted!r}")

    def on_ranks(ranks, *arguments):
        return launch.run([*launcher, "-n", str(ranks), creek, "tpch", *arguments, "--backend", "mpi"])

    def compare(folder, counts):
        for query in QUERIES:
            arguments = [*query, "--data", folder, "--answer-only"]
            alone = launch.run([creek, "tpch", *arguments])
            expect((alone.returncode, alone.stderr), (0, ""), f"{query} alone")
            expect(len(alone.stdout.splitlines()) > 1, True, f"{query}: an answer with rows")
            for ranks in counts:
                done = on_ranks(ranks, *arguments)
                expect((done.returncode, done.stdout), (0, alone.stdout), f"{query} on {ranks} ({done.stderr})")

    def fails(folder, code, *parts, query="q3", ranks=2):
        done = on_ranks(ranks, query, "--data", folder)
        said = [line for line in done.stderr.splitlines() if line.startswith("creek: ")]
        expect(done.returncode, code, f"exit status ({done.stderr})")
        for part in parts:
            expect([part in line for line in said[:1]], [True], f"{part} in {done.stderr!r}")

    with tempfile.TemporaryDirectory() as folder:
        made = tables(random.Random(3))
        plain, shuffled, bad = f"{folder}/plain", f"{folder}/shuffled", f"{folder}/bad"
        write(plain, made)
        compare(plain, (1, 2))
        for lines in made.values():
            random.Random(4).shuffle(lines)
        write(shuffled, made)
        expect(launch.run([creek, "tpch", "load", shuffled]).returncode, 0, "load")
        compare(shuffled, (2, 4))

        report = json.loads(on_ranks(2, "q12", "--data", shuffled, "--json", "--explain").stdout)
        expect((report["backend"], report["ranks"]), ("mpi", 2), "backend and ranks")
        expect(report["rows"], len(made["orders"]) + len(made["lineitem"]), "rows")
        expect(report["sent_bytes"] > 0, True, "sent bytes")
        expect(any(step.startswith("broadcast lines") for step in report["steps"]), True, report["steps"])
        schema = json.loads((ROOT / "docs/schemas/tpch-query.json").read_text(encoding="utf-8"))
        expect(faults(report, schema), [], "faults by the schema")

        made["lineitem"][-1] = made["lineitem"][-1].replace("|0.0", "|x.0", 1)
        write(bad, made)
        fails(bad, 1, "creek: rank 1 on ", f"lineitem.tbl:{len(made['lineitem'])}: column ")
        pathlib.Path(bad, "orders.tbl").unlink()
        fails(bad, 1, "creek: rank ", "orders.tbl: No such file or directory")
        fails(shuffled, 2, "--backend mpi: q5 runs in one process; ranks answer q1, q3, q6, q12, q18", query="q5",
              ranks=1)
    print("\n".join(failures) or "all answers are those of one process")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
