# SPDX-License-Identifier: Apache-2.0
"""spill.py CREEK LAUNCHER...: with a memory limit on each rank, commands print and write the bytes of one process without
one; no file is left behind, also after a failure."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import launch
import output

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from json_schema import faults  # noqa: E402

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs/schemas"
LIMIT = 1 << 20


class Case(output.Case):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.spill = self.folder / "spill"
        self.spill.mkdir()
        self.limit = ["--memory", str(LIMIT), "--spill", str(self.spill)]
        numbers = random.Random(7)
        self.many = [self.text(f"many{i}", (f"{numbers.randrange(100 if i % 2 else 1 << 40):x}" for i in range(120_000)))
                     for i in range(3)]

    def expect_no_files(self, about):
        self.expect([each.name for each in self.spill.iterdir()], [], f"{about}: files left")

    def same_bytes(self):
        one, all_ranks = self.folder / "one.tsv", self.folder / "all.tsv"
        for command, members, more in (("wordcount", ("words", "distinct", "top"), []),
                                       ("wordcount", ("words", "distinct", "top"), ["--no-combine"]),
                                       ("wordcount", ("words", "distinct", "top"), ["--memory", "64M"]),
                                       ("inverted-index", ("words", "distinct", "entries", "top"), [])):
            schema = json.loads((SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))
            alone = json.loads(launch.run([self.creek, command, "--json", "--output", one, *self.many]).stdout)
            for ranks in (1, 2, 4):
                what = f"{' '.join([command, *more])} on {ranks} ranks"
                limit = more if "--memory" in more else [*more, *self.limit]
                asked = [command, "--json", *limit, *self.many]
                for done, to_file in ((launch.run(self.on(ranks, *asked, "--output", str(all_ranks))), True),
                                      (launch.run(self.on(ranks, *asked)), False)):
                    self.expect(done.returncode, 0, f"{what}: exit status ({done.stderr})")
                    if done.returncode != 0:
                        continue
                    if to_file:
                        self.expect(all_ranks.read_bytes() == one.read_bytes(), True, f"{what}: equal files")
                    report = json.loads(done.stdout)
                    self.expect([report[m] for m in members], [alone[m] for m in members], what)
                    self.expect(faults(report, schema), [], f"{what}: faults by the schema")
                    if limit != more:
                        self.expect(report["spilled"]["bytes"] > 2 << 20, True, f"{what}: {report['spilled']}")
                        # Messages of 4 KiB from each of two workers to each rank, in blocks that may be half empty.
                        bound = LIMIT + 2 * 2 * 8192 * ranks
                        self.expect(report["spilled"]["peak_bytes"] <= bound, True, f"{what}: {report['spilled']}")
                    self.expect_no_files(what)
        for command in ("wordcount", "inverted-index"):
            alone = launch.run([self.creek, command, "--quiet", *self.many])
            done = launch.run(self.on(2, command, "--quiet", *self.limit, *self.many))
            self.expect((done.returncode, done.stdout == alone.stdout), (0, True), f"{command} --quiet")

    def refused(self):
        words = self.text("words", ["b", "a", "b"])
        for command in ("wordcount", "inverted-index"):
            for arguments, status, line in ((["--memory", "much"], 2, "--memory"),
                                            (["--memory", "1K"], 2, "1024 bytes is too small for 2 workers"),
                                            (["--spill", str(self.spill)], 2, "--memory is required"),
                                            (["--memory", "1M", "--spill", "/missing"], 1, "cannot make a spill file")):
                done = launch.run(self.on(2, command, *arguments, words))
                about = f"{command} {arguments}: {done.stdout}{done.stderr}"
                self.expect(done.returncode, status, f"exit status of {about}")
                self.expect(line in done.stdout + done.stderr, True, about)

    def full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        script = 'mount -t tmpfs -o size=256k none "$0" && "$@"; status=$?; ls -A "$0"; exit $status'
        inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(disk)]
        if launch.run([*inside, "true"]).returncode != 0:
            print("no full disk: this system mounts none for users")
            return
        target = self.folder / "none.tsv"
        for command in ("wordcount", "inverted-index"):
            done = launch.run([*inside, *self.on(2, command, "--quiet", "--memory", "1M", "--spill", str(disk), "--output",
                                                 str(target), *self.many)])
            self.failed(done, "cannot write a spill file: No space left on device", f"{command}: a full disk")
            self.expect(target.exists(), False, f"{command}: a partial file")

    def killed(self):
        for victim in (0, 1):
            pipe = self.folder / f"pipe{victim}"
            os.mkfifo(pipe)
            mark = f"{os.getpid()}.{victim}"
            run = subprocess.Popen(self.on(2, "wordcount", *self.limit, str(pipe)), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, restore_signals=False,
                                   env={**os.environ, output.MARK: mark})
            with open(pipe, "w", encoding="ascii") as to:
                for i in range(100_000):
                    to.write(f"{i * 7919:x} ")
                to.flush()
                found = self.process_of(victim, f"{output.MARK}={mark}".encode())
                self.expect(found is None, False, f"process of rank {victim}")
                if found is None:
                    run.kill()
                else:
                    os.kill(found, signal.SIGKILL)
                said = run.communicate(timeout=60)[1]
            self.expect(run.returncode == 0, False, f"exit status after a kill of rank {victim} ({said})")
            self.expect_no_files(f"after a kill of rank {victim}")


def main():
    creek, *launcher = sys.argv[1:]
    launch.skip_unless_it_starts([*launcher, "-n", "2"])
    with tempfile.TemporaryDirectory() as folder:
        case = Case(creek, launcher, folder)
        case.same_bytes()
        case.refused()
        case.full_disk()
        case.killed()
    print("\n".join(case.failures), file=sys.stderr)
    return 1 if case.failures else 0


if __name__ == "__main__":
    sys.exit(main())
