# SPDX-License-Identifier: Apache-2.0
"""kills.py KILLS LAUNCHER... -- PROGRAM: ranks that are killed at random moments end the run soon, and one line says
which one it was; SIGTERM and SIGINT to the launcher end it, too. CREEK_TEST_SEED repeats a run."""

import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

import launch

LIMIT = 30  # seconds; what is promised is 5 on an idle machine


class Run:
    """A run of which every rank has said that it is ready; its ranks' processes are by rank."""

    def __init__(self, command, ranks):
        self.started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        restore_signals=False)
        self.watchdog = threading.Timer(90, self.started.kill)
        self.watchdog.start()
        self.processes, self.said = {}, []
        while len(self.processes) < ranks:
            line = self.started.stdout.readline()
            if not line:
                raise RuntimeError(f"the run ended before its ranks were ready: {self.started.communicate()[1]}")
            for rank, process in re.findall(r"rank (\d+) is process (\d+)", line):
                self.processes[int(rank)] = int(process)

    def end(self):
        """Waits for the end; returns the exit status, standard error, and how long it took."""
        began = time.monotonic()
        said = self.started.communicate()[1]
        self.watchdog.cancel()
        return self.started.returncode, said, time.monotonic() - began

    def left(self):
        """Returns the processes of the run that exist, watchers included: they have their ranks' command line."""
        mine = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if self.mark in file.read():
                        mine.append(int(name))
            except OSError:
                pass
        return mine


def run_marked(command, ranks):
    mark = f"CREEK_TEST_RUN={os.getpid()}.{time.monotonic_ns()}"
    os.environ["CREEK_TEST_RUN"] = mark.partition("=")[2]
    made = Run(command, ranks)
    made.mark = mark.encode()
    return made


def wait_until_none_is_left(run):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if not run.left():
            return []
        time.sleep(0.02)  # polls for the end of processes that are not this one's children
    return run.left()


def main():
    kills, arguments = int(sys.argv[1]), sys.argv[2:]
    cut = arguments.index("--")
    launcher, program = arguments[:cut], arguments[cut + 1]
    ranks = int(launcher[launcher.index("-n") + 1])
    launch.skip_unless_it_starts(launcher)
    seed = int(os.environ.get("CREEK_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"CREEK_TEST_SEED={seed}", flush=True)
    numbers = random.Random(seed)
    failures, times, statuses = [], [], set()

    def check(what, run, pattern, count):
        status, said, seconds = run.end()
        lines = re.findall(r"^creek: .*$", said, re.MULTILINE)
        left = wait_until_none_is_left(run)
        fits = len(lines) in count and all(re.fullmatch(pattern, line) for line in lines)
        if not fits or status == 0 or left or seconds > LIMIT:
            failures.append(f"{what}: exit status {status} after {seconds:.1f} s, left {left}, said:\n{said}")
        return status, seconds

    for i in range(kills):
        how, victim = numbers.choice(["works", "works", "waits"]), numbers.randrange(ranks)
        run = run_marked([*launcher, program, how], ranks)
        time.sleep(numbers.random() * 0.05)  # a random moment; ranks are ready at any
        os.kill(run.processes[victim], signal.SIGKILL)
        line = rf"creek: rank {victim} on \S+ ended without a word \(last seen turning.*\): the run ends"
        status, seconds = check(f"kill {i} of rank {victim}, which {how}", run, line, {1})
        times.append(seconds)
        statuses.add(status)
    print(f"{kills} kills: the launcher ended after {statistics.median(times):.2f} s in the median, "
          f"{max(times):.2f} s at most, with exit status {sorted(statuses)}")

    for sent in (signal.SIGTERM, signal.SIGINT):
        run = run_marked([*launcher, program, "works"], ranks)
        run.started.send_signal(sent)
        check(f"{sent.name} to the launcher", run, r"creek: rank \d+ on \S+ was ended by SIG(TERM|INT).*", {0, 1})
        run = run_marked([*launcher, program, "waits"], ranks)
        os.kill(run.processes[ranks - 1], sent)
        check(f"{sent.name} to a rank", run, rf"creek: rank {ranks - 1} on \S+ was ended by {sent.name} \(.*\): .*", {1})
    run = run_marked([*launcher, program, "catches"], ranks)
    os.kill(run.processes[ranks - 1], signal.SIGTERM)
    check("SIGTERM to a rank with a handler of its own", run,
          rf"creek: rank {ranks - 1} on \S+ ended without a word \(.*\): .*", {1})
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
