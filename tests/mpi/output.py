# SPDX-License-Identifier: Apache-2.0
"""output.py CREEK LAUNCHER...: the file that all ranks write together, and the folder with a part of each, have the bytes
of one process, and appear whole or not at all."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import launch

# The launcher's processes, by which ranks are found.
MARK = "CREEK_TEST_RUN"
RANK = ("PMI_RANK", "OMPI_COMM_WORLD_RANK")


class Case:
    def __init__(self, creek, launcher, folder):
        self.creek, self.launcher, self.folder = creek, launcher, pathlib.Path(folder)
        self.failures = []

    def expect(self, found, wanted, about):
        if found != wanted:
            self.failures.append(f"{about}: {found!r}, expected {wanted!r}")

    def on(self, ranks, *arguments):
        return [*self.launcher, "-n", str(ranks), self.creek, arguments[0], "--backend", "mpi", *arguments[1:]]

    def text(self, name, words):
        path = self.folder / name
        path.write_text(" ".join(words), encoding="ascii")
        return str(path)

    def same_bytes(self):
        numbers = random.Random(7)
        many = [self.text(f"many{i}", [f"w{int(numbers.expovariate(0.001))}" for _ in range(30_000)]) for i in range(3)]
        few = [self.text(f"few{i}", ["a", "b", "a"]) for i in range(6)]
        inputs = {"many words": many,
                  "words in many files": ["--top", "1", *few],
                  "one word": ["--top", "0", self.text("one", ["word"])],
                  "no word": [self.text("none", [])]}
        one, all_ranks = self.folder / "one.tsv", self.folder / "all.tsv"
        for about, arguments in inputs.items():
            for command, members in (("wordcount", ("words", "distinct", "top")),
                                     ("inverted-index", ("words", "distinct", "entries", "top"))):
                alone = json.loads(launch.run([self.creek, command, "--json", "--output", one, *arguments]).stdout)
                for ranks in (1, 2, 4):
                    what = f"{command} of {about} on {ranks} ranks"
                    done = launch.run(self.on(ranks, command, "--json", "--output", str(all_ranks), *arguments))
                    self.expect(done.returncode, 0, f"{what}: exit status ({done.stderr})")
                    if done.returncode != 0:
                        continue
                    self.expect(all_ranks.read_bytes() == one.read_bytes(), True, f"{what}: equal files")
                    report = json.loads(done.stdout)
                    self.expect([report[m] for m in members], [alone[m] for m in members], what)
                    all_ranks.unlink()
        done = launch.run(self.on(2, "wordcount", "--quiet", "--output", "/dev/stdout", *many))
        alone = launch.run([self.creek, "wordcount", "--quiet", "--output", "/dev/stdout", *many])
        self.expect((done.returncode, done.stdout == alone.stdout), (0, True), "standard output as a file")
        done = launch.run(self.on(2, "inverted-index", "--quiet", *many))
        alone = launch.run([self.creek, "inverted-index", "--quiet", *many])
        self.expect((done.returncode, done.stdout == alone.stdout), (0, True), "an index on standard output")

    def parts(self):
        numbers = random.Random(9)
        many = [self.text(f"parts{i}", [f"w{int(numbers.expovariate(0.001))}" for _ in range(30_000)]) for i in range(3)]
        one, folder = self.folder / "one.tsv", self.folder / "parts"
        for command, members in (("wordcount", ("words", "distinct", "top")),
                                 ("inverted-index", ("words", "distinct", "entries", "top"))):
            alone = json.loads(launch.run([self.creek, command, "--json", "--output", one, *many]).stdout)
            for ranks, more in ((1, []), (2, []), (4, []), (2, ["--memory", "1M"])):
                what = f"parts of {command} {more} on {ranks} ranks"
                done = launch.run(self.on(ranks, command, "--json", *more, "--output-parts", f"{folder}/", *many))
                self.expect(done.returncode, 0, f"{what}: exit status ({done.stderr})")
                if done.returncode != 0:
                    continue
                parts = sorted(folder.iterdir())
                self.expect([each.name for each in parts], [f"part-{i:05}" for i in range(ranks)], what)
                self.expect(b"".join(each.read_bytes() for each in parts) == one.read_bytes(), True, f"{what}: bytes")
                self.expect(all(each.stat().st_size > 0 for each in parts), True, f"{what}: empty parts")
                report = json.loads(done.stdout)
                self.expect([report[m] for m in members], [alone[m] for m in members], what)
                self.failed(launch.run(self.on(ranks, command, "--output-parts", str(folder), *many)), "not empty", what)
                for each in parts:
                    each.unlink()  # an empty folder is replaced
            folder.rmdir()
        empty, link = self.folder / "empty", self.folder / "link"
        empty.mkdir()
        link.symlink_to(empty)
        done = launch.run(self.on(2, "wordcount", "--output-parts", str(link), *many))
        self.expect((done.returncode, link.is_symlink(), len(list(empty.iterdir()))), (0, True, 2), "a folder behind a link")
        self.expect([each.name for each in self.folder.iterdir() if "part-" in each.name], [], "files beside the folder")

    def refused_parts(self):
        words = self.text("words", ["b", "a", "b"])
        for command in ("wordcount", "inverted-index"):
            for target, line in ((self.folder / "missing" / "x", "No such file or directory"), (words, "Not a directory"),
                                 ("/proc/x", "cannot write /proc/x")):
                done = launch.run(self.on(2, command, "--output-parts", str(target), words))
                self.failed(done, line, f"{command} --output-parts {target}")
            for arguments, line in ((self.on(2, command, "--output", "x", "--output-parts", "y", words), "not with --output"),
                                    ([self.creek, command, "--output-parts", "y", words], "needs --backend mpi")):
                done = launch.run(arguments)
                self.expect((done.returncode, line in done.stdout + done.stderr), (2, True), f"{done.stdout}{done.stderr}")
        done = launch.run(self.on(2, "wordcount", "--output-parts", str(self.folder / "nowhere"), words, "missing"))
        self.failed(done, "missing: No such file or directory", "parts without input")
        self.expect([each.name for each in self.folder.iterdir() if "nowhere" in each.name], [], "parts without input")

    def replaced_file(self):
        words = self.text("words", ["b", "a", "b"])
        old, link = self.folder / "old.tsv", self.folder / "link.tsv"
        old.write_text("old", encoding="ascii")
        old.chmod(0o640)
        link.symlink_to(old)
        launch.run(self.on(2, "wordcount", "--output", str(link), words))
        self.expect((old.read_text(encoding="ascii"), old.stat().st_mode & 0o777, link.is_symlink()),
                    ("a\t1\nb\t2\n", 0o640, True), "a file behind a link")

    def failed(self, done, line, about):
        """Expects one line of creek's, and exit status 1."""
        lines = [each for each in (done.stdout + done.stderr).splitlines() if each.startswith("creek:")]
        self.expect(done.returncode, 1, f"{about}: exit status")
        self.expect((len(lines), line in "".join(lines)), (1, True), f"{about}: {done.stdout}{done.stderr}")

    def unwritable(self):
        words = self.text("words", ["b", "a", "b"])
        for target, line in ((self.folder / "missing" / "x.tsv", "No such file or directory"),
                             (self.folder, "Is a directory"), ("/proc/x.tsv", "cannot write /proc/x.tsv")):
            for command in ("wordcount", "inverted-index"):
                self.failed(launch.run(self.on(2, command, "--output", str(target), words)), line, f"{command} {target}")

    def full_disk(self):
        many = self.text("large", (f"word{i}" for i in range(100_000)))
        disk = self.folder / "disk"
        disk.mkdir()
        script = 'mount -t tmpfs -o size=256k none "$0" && "$@"; status=$?; ls -A "$0"; exit $status'
        inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(disk)]
        if launch.run([*inside, "true"]).returncode != 0:
            print("no full disk: this system mounts none for users")
            return
        for option in ("--output", "--output-parts"):
            done = launch.run([*inside, *self.on(2, "wordcount", "--quiet", option, str(disk / "x.tsv"), many)])
            self.failed(done, "No space left on device", f"{option} on a full disk")
            self.expect([line for line in done.stdout.splitlines() if ".tsv" in line and not line.startswith("creek:")],
                        [], f"{option}: files on the full disk")

    def process_of(self, rank, mark):
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                folder = pathlib.Path("/proc", name)
                variables = folder.joinpath("environ").read_bytes().split(b"\0")
                if mark in variables and folder.joinpath("comm").read_text().strip() == "creek":
                    if any(f"{variable}={rank}".encode() in variables for variable in RANK):
                        return int(name)
            except OSError:
                pass
        return None

    def killed(self):
        for victim, option in ((0, "--output"), (1, "--output"), (0, "--output-parts"), (1, "--output-parts")):
            folder = self.folder / f"killed{victim}{option}"
            folder.mkdir()
            pipe = self.folder / f"pipe{victim}{option}"
            os.mkfifo(pipe)
            mark = f"{os.getpid()}.{victim}{option}"
            run = subprocess.Popen(self.on(2, "wordcount", option, str(folder / "x.tsv"), str(pipe)),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=False,
                                   env={**os.environ, MARK: mark})
            with open(pipe, "w", encoding="ascii"):  # waits until a rank reads it, and has opened its output
                found = self.process_of(victim, f"{MARK}={mark}".encode())
                self.expect(found is None, False, f"process of rank {victim}")
                if found is None:
                    run.kill()
                else:
                    os.kill(found, signal.SIGKILL)
                said = run.communicate(timeout=60)[1]
            self.expect(run.returncode == 0, False, f"exit status after a kill of rank {victim} ({said})")
            self.expect([each.name for each in folder.iterdir()], [], f"files after a kill of rank {victim}")


def main():
    creek, *launcher = sys.argv[1:]
    launch.skip_unless_it_starts([*launcher, "-n", "2"])
    with tempfile.TemporaryDirectory() as folder:
        case = Case(creek, launcher, folder)
        case.same_bytes()
        case.parts()
        case.refused_parts()
        case.replaced_file()
        case.unwritable()
        case.full_disk()
        case.killed()
    print("\n".join(case.failures), file=sys.stderr)
    return 1 if case.failures else 0


if __name__ == "__main__":
    sys.exit(main())
