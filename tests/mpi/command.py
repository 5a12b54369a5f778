# SPDX-License-Identifier: Apache-2.0
"""command.py CREEK LAUNCHER...: commands with `--backend mpi` print what they print in one process."""

import json
import pathlib
import random
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from json_schema import faults  # noqa: E402
import launch  # noqa: E402


def run(*command):
    return launch.run(command)


def main():
    creek, *launcher = sys.argv[1:]
    launch.skip_unless_it_starts(launcher)
    numbers = random.Random(7)
    failures = []

    def expect(found, wanted, what):
        if found != wanted:
            failures.append(f"{what}: {found!r}, expected {wanted!r}")

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i in range(5):
            files.append(f"{folder}/{i}.txt")
            words = [f"w{int(numbers.expovariate(0.01))}" for _ in range(20000)]
            pathlib.Path(files[-1]).write_text(" ".join(words) + "\n", encoding="ascii")
        alone = json.loads(run(creek, "wordcount", "--json", *files).stdout)
        done = run(*launcher, creek, "wordcount", "--backend", "mpi", "--json", *files)
        expect(done.returncode, 0, f"exit status ({done.stderr})")
        together = json.loads(done.stdout)
        for member in ("words", "distinct", "top", "text_bytes", "files"):
            expect(together[member], alone[member], member)
        expect(together["ranks"], 3, "ranks")
        schema = json.loads((ROOT / "docs/schemas/wordcount.json").read_text(encoding="utf-8"))
        expect(faults(together, schema), [], "faults by the schema")

        out, other = f"{folder}/all.tsv", f"{folder}/one.tsv"
        run(*launcher, creek, "wordcount", "--backend", "mpi", "--output", out, *files)
        run(creek, "wordcount", "--output", other, *files)
        expect(pathlib.Path(out).read_bytes() == pathlib.Path(other).read_bytes(), True, "equal files")

        done = run(*launcher, creek, "wordcount", "--backend", "mpi", "--output", f"{folder}/none.tsv",
                   f"{folder}/missing.txt")
        expect(done.returncode, 1, "exit status without input")
        expect("missing.txt: No such file or directory" in done.stderr + done.stdout, True, done.stderr)
        expect(pathlib.Path(f"{folder}/none.tsv").exists(), False, "a partial file")
        for wrong in (["--energy"], ["--scheduler", "nonsense"], ["-"]):
            done = run(*launcher, creek, "wordcount", "--backend", "mpi", *wrong, files[0])
            expect(done.returncode, 2, f"exit status with {wrong} ({done.stderr})")
        alone = json.loads(run(creek, "wordcount", "--json", "--backend", "mpi", files[0]).stdout)
        expect((alone["ranks"], alone["sent_bytes"]), (1, 0), "ranks without a launcher")

        big = f"{folder}/big.txt"
        pathlib.Path(big).write_text("".join(f"w{i * i % 99991} " for i in range(600_000)), encoding="ascii")
        mapped = json.loads(run(*launcher, creek, "wordcount", "--backend", "mpi", "--json", big).stdout)
        expect(mapped["mapped_bytes"], mapped["bytes"], "mapped bytes")
        expect(mapped["top"], json.loads(run(creek, "wordcount", "--json", big).stdout)["top"], "top of a large file")

        index, other = f"{folder}/index.tsv", f"{folder}/one-index.tsv"
        command = [creek, "inverted-index", "--json", "--output"]
        alone = json.loads(run(*command, other, *files).stdout)
        for ranks in ("1", "2", "3"):
            done = run(*launcher[:-1], ranks, *command, index, "--backend", "mpi", *files)
            expect(done.returncode, 0, f"inverted-index on {ranks}: exit status ({done.stderr})")
            same = pathlib.Path(index).read_bytes() == pathlib.Path(other).read_bytes()
            expect(same, True, f"inverted-index on {ranks}: equal files")
            report = json.loads(done.stdout)
            for member in ("words", "distinct", "entries", "top"):
                expect(report[member], alone[member], f"inverted-index on {ranks}: {member}")
            expect(report["ranks"], int(ranks), "inverted-index: ranks")
        schema = json.loads((ROOT / "docs/schemas/inverted-index.json").read_text(encoding="utf-8"))
        expect(faults(report, schema), [], "inverted-index: faults by the schema")
        none = f"{folder}/no-index.tsv"
        done = run(*launcher, creek, "inverted-index", "--backend", "mpi", "--output", none, *files, "missing")
        expect((done.returncode, pathlib.Path(none).exists()), (1, False), "a partial index")

        clouds = [f"{folder}/{name}.csv" for name in ("many", "few", "some")]
        for name, points in zip(clouds, (20_000, 5, 12_000)):
            lines = [f"{numbers.gauss(i % 7, 1)},{numbers.gauss(i % 5, 1)}\n" for i in range(points)]
            pathlib.Path(name).write_text("".join(lines), encoding="ascii")
        same = f"{folder}/same.csv"
        pathlib.Path(same).write_text("1 2\n" * 6, encoding="ascii")
        floats = f"{folder}/points.bin"
        pathlib.Path(floats).write_bytes(b"".join(struct.pack("2f", i % 100, i % 77) for i in range(30_000)))
        for arguments in (["--clusters", "4", *clouds], ["--clusters", "2", clouds[1]],
                          ["--clusters", "9", "--start", "kmeans++", "--seed", "3", *clouds],
                          ["--clusters", "3", same],
                          ["--clusters", "5", "--start", "first", "--format", "floats", "--dimensions", "2", floats]):
            one = run(creek, "kmeans", "--quiet", *arguments)
            expect(one.returncode, 0, f"kmeans {arguments}: alone ({one.stderr})")
            for ranks in ("1", "2", "3"):
                done = run(*launcher[:-1], ranks, creek, "kmeans", "--quiet", "--backend", "mpi", *arguments)
                expect((done.returncode, done.stdout), (0, one.stdout), f"kmeans {arguments} on {ranks} ({done.stderr})")
        cluster = [*launcher, creek, "kmeans", "--backend", "mpi", "--clusters"]
        report = json.loads(run(*cluster, "4", "--json", *clouds).stdout)
        alone = json.loads(run(creek, "kmeans", "--clusters", "4", "--json", *clouds).stdout)
        for member in ("n", "clusters", "inertia", "rounds", "bytes", "files"):
            expect(report[member], alone[member], f"kmeans: {member}")
        expect((report["ranks"], report["backend"]), (3, "mpi"), "kmeans: report")
        schema = json.loads((ROOT / "docs/schemas/kmeans.json").read_text(encoding="utf-8"))
        expect(faults(report, schema), [], "kmeans: faults by the schema")
        wide = f"{folder}/wide.csv"
        pathlib.Path(wide).write_text("1,2,3\n", encoding="ascii")
        for status, line, arguments in ((2, "9 clusters of 5 points", ["9", clouds[1]]),
                                        (1, "missing: No such file", ["2", clouds[0], f"{folder}/missing"]),
                                        (1, "wide.csv: 3 columns, and", ["2", *clouds, wide]),
                                        (1, "no points", ["2", "/dev/null"]),
                                        (2, "--separator", ["2", "--separator", "xx", clouds[0]]),
                                        (2, "--energy: not with --backend mpi", ["2", "--energy", clouds[0]]),
                                        (2, "--dimensions is required", ["2", "--format", "floats", floats])):
            done = run(*cluster, *arguments)
            expect(done.returncode, status, f"kmeans {arguments} ({done.stderr})")
            expect(line in done.stderr + done.stdout, True, f"kmeans {arguments}: {done.stderr}")

        data = []
        for i in range(4):
            data.append(f"{folder}/{i}.bin")
            pathlib.Path(data[-1]).write_bytes(numbers.randbytes(60_000))
        for command in (["histogram", "--raw"], ["linear-regression", "--format", "bytes"],
                        ["string-match", "-e", "a", "-e", "\x01\x02"]):
            one = run(creek, *command, "--quiet", *data)
            expect((one.returncode, one.stdout.count("\n") > 0), (0, True), f"{command[0]}: alone")
            all_ranks = [*launcher, creek, *command, "--backend", "mpi"]
            done = run(*all_ranks, "--quiet", *data)
            expect((done.returncode, done.stdout), (0, one.stdout), f"{command[0]}: lines ({done.stderr})")
            report = json.loads(run(*all_ranks, "--json", *data).stdout)
            expect((report["ranks"], report["backend"], report["bytes"]), (3, "mpi", 240_000), f"{command[0]}: report")
            schema = json.loads((ROOT / f"docs/schemas/{command[0]}.json").read_text(encoding="utf-8"))
            expect(faults(report, schema), [], f"{command[0]}: faults by the schema")
        done = run(*launcher, creek, "histogram", "--raw", "--bins", "3", "--backend", "mpi", *data)
        expect(done.returncode, 2, f"exit status of a wrong option ({done.stderr})")
        lines = f"{folder}/counts.tsv"
        done = run(*launcher, creek, "histogram", "--raw", "--backend", "mpi", "--output", lines, *data, "missing")
        expect((done.returncode, pathlib.Path(lines).exists()), (1, False), "a partial file of counts")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
