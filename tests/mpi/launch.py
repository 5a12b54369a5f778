# SPDX-License-Identifier: Apache-2.0
"""launch.py LAUNCHER... -- PROGRAM...: runs a program by the launcher of an MPI; is skipped (77) where the launcher
cannot start anything, as Open MPI's without a network interface."""

import os
import subprocess
import sys

SKIPPED = 77
LIMIT = 60  # seconds


def run(command):
    # Python ignores SIGPIPE, and so shall the launcher: MPICH's is killed by it now and then when ranks end early. Even
    # so it fails now and then, also with `true` for a program: writes to a process of its own that has ended.
    for _ in range(5):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False,
                                  restore_signals=False)
        except subprocess.TimeoutExpired as hung:
            said = [(part or b"").decode(errors="replace") for part in (hung.stdout, hung.stderr)]
            return subprocess.CompletedProcess(command, 124, said[0], f"{said[1]}not over after {LIMIT} s\n")
        if done.returncode != 255 or "write error (Broken pipe)" not in done.stdout + done.stderr:
            break
    return done


def skip_unless_it_starts(launcher):
    done = run([*launcher, "true"])
    if done.returncode == 0:
        return
    print(f"skipped: {' '.join(launcher)} true: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    sys.exit(SKIPPED)


def main():
    cut = sys.argv.index("--")
    launcher, program = sys.argv[1:cut], sys.argv[cut + 1:]
    skip_unless_it_starts(launcher)
    os.execvp(launcher[0], [*launcher, *program])


if __name__ == "__main__":
    main()
