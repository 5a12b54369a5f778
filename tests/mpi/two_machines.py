# SPDX-License-Identifier: Apache-2.0
"""two_machines.py LAUNCHER RANKS_TEST ENDS_BADLY [CREEK]: ranks on two machines, which are network namespaces: the
tests of the communicator, a word count, a rank that is killed, a machine that is unreachable."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import kills
import launch
import machines

LIMIT = 15  # seconds until the line; what is promised is 5 on an idle machine


class Started(kills.Run):
    """A run whose standard error is read as it comes, each line with its time."""

    def __init__(self, command, ranks):
        super().__init__(command, ranks)
        self.lines, self.has_line = [], threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.started.stderr:
            self.lines.append(line)
            if line.startswith("creek: "):
                self.has_line.set()

    def creek_lines(self):
        return [line.rstrip() for line in self.lines if line.startswith("creek: ")]


def check_end(*arguments):
    """Starts a rank per machine, disturbs them, and expects one line and no process that remains. Again if MPICH's
    launcher has failed by itself, which happens when two machines end at the same time and takes the line with it."""
    for _ in range(3):
        if not launcher_failed(*arguments):
            return
    arguments[-1].append(f"{arguments[1]}: the launcher failed each time")


def launcher_failed(there, what, launcher, program, disturb, pattern, failures):
    before = there.processes("first") | there.processes("second")
    run = Started(there.command(launcher, 2, program, "works"), 2)
    began = time.monotonic()
    disturb(run)
    run.has_line.wait(LIMIT)
    named = time.monotonic() - began
    ranks = set(run.processes.values())
    while ranks & (there.processes("first") | there.processes("second")) and time.monotonic() < began + LIMIT:
        time.sleep(0.02)  # polls for the end of processes that are not this one's children
    ended = time.monotonic() - began
    left = ranks & (there.processes("first") | there.processes("second"))
    try:
        status = run.started.wait(5)
    except subprocess.TimeoutExpired:
        status = None
    launcher_ended = time.monotonic() - began
    for process in (there.processes("first") | there.processes("second")) - before:
        try:
            os.kill(process, signal.SIGKILL)  # a launcher's, which waits for a machine that is gone
        except ProcessLookupError:
            pass
    run.reader.join(10)
    run.watchdog.cancel()
    print(f"{what}: named after {named:.1f} s, ranks gone after {ended:.1f} s, "
          + (f"launcher gone after {launcher_ended:.1f} s with exit status {status}" if status is not None
             else "the launcher goes on"), flush=True)
    lines = run.creek_lines()
    if not lines and any("assert (!closed) failed" in line for line in run.lines):
        return True
    if len(lines) != 1 or not re.fullmatch(pattern, lines[0]) or left or status == 0:
        failures.append(f"{what}: expected {pattern}, left {left}, said:\n{''.join(run.lines)}")
    return False


def check_word_count(there, launcher, creek, failures):
    text = pathlib.Path(there.folder.name) / "text.txt"
    text.write_text("".join(f"w{i * i % 9973} " for i in range(200_000)), encoding="ascii")
    out, alone = f"{there.folder.name}/two.tsv", f"{there.folder.name}/one.tsv"
    launch.run([creek, "wordcount", "--output", alone, str(text)])
    # MPI_Finalize of MPICH 4.0 waits for ever in one run of ten unless creek prevents it.
    for _ in range(1 if "openmpi" in launcher else 10):
        done = launch.run(there.command(launcher, 2, creek, "wordcount", "--backend", "mpi", "--json", "--output", out,
                                        str(text)))
        if done.returncode != 0 or json.loads(done.stdout)["ranks"] != 2:
            failures.append(f"word count: exit status {done.returncode}: {done.stdout}{done.stderr}")
        elif pathlib.Path(out).read_bytes() != pathlib.Path(alone).read_bytes():
            failures.append("word count: another result than in one process")


def main():
    launcher, ranks_test, ends_badly, *creek = sys.argv[1:]
    failures = []
    os.environ["OMPI_MCA_plm"] = "rsh"
    with machines.machines_or_skip() as there:
        done = launch.run(there.command(launcher, 2, ranks_test))
        print("\n".join(done.stdout.splitlines()[-3:]), flush=True)
        if done.returncode != 0 or "[  PASSED  ]" not in done.stdout:
            failures.append(f"tests of the communicator: exit status {done.returncode}: {done.stdout}{done.stderr}")
        # Ranks on the machines in turns, whose neighbours are all on the other one.
        done = launch.run(there.command(launcher, 4, ranks_test, "--gtest_filter=*NeighboursAreNear"))
        if done.returncode != 0 or "[  PASSED  ]" not in done.stdout:
            failures.append(f"neighbours: exit status {done.returncode}: {done.stdout}{done.stderr}")
        if creek:
            check_word_count(there, launcher, creek[0], failures)
        for rank, name in enumerate(there.names):
            check_end(there, f"rank {rank} is killed", launcher, ends_badly,
                      lambda run, rank=rank: os.kill(run.processes[rank], signal.SIGKILL),
                      rf"creek: rank {rank} on {name} ended without a word \(last seen turning.*\): the run ends", failures)
        check_end(there, "the other machine is unreachable", launcher, ends_badly,
                  lambda run: there.disconnect("second"),
                  r"creek: rank 1 on second is unreachable.*: the run ends", failures)
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
