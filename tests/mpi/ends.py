# SPDX-License-Identifier: Apache-2.0
"""ends.py LAUNCHER... -- PROGRAM: a rank that fails ends the run soon, with one line that names it."""

import re
import sys
import time

import launch


def run(command):
    began = time.monotonic()
    done = launch.run(command)  # ends a hang
    return done.returncode, done.stdout + done.stderr, time.monotonic() - began


def main():
    cut = sys.argv.index("--")
    launcher, program = sys.argv[1:cut], sys.argv[cut + 1]
    launch.skip_unless_it_starts(launcher)
    failures = []
    for how, status, line in [
            ("throws", {1}, r"creek: rank 2 on \S+: input\.txt: No such file or directory"),
            ("is_misused", {2}, r"creek: rank 2 on \S+: 17 is too many"),
            ("throws_a_number", {1}, r"creek: rank 2 on \S+: an exception that is no std::exception"),
            ("all_throw", {1}, r"creek: rank \d on \S+: input\.txt: No such file or directory"),
            ("is_killed", None, r"creek: rank 2 on \S+ ended without a word: the run ends"),
            ("aborts", None, r"creek: rank 2 on \S+ called abort\(\): the run ends"),
            ("crashes", None, r"creek: rank 2 on \S+ ended without a word: the run ends"),
            ("exits", set(range(256)), r"creek: rank 2 on \S+ called exit\(\) or returned from main\(\): the run ends"),
            ("exits_at_once", set(range(256)), r"creek: rank 2 on \S+ ended without a word: the run ends"),
            ("returns_3", {3}, None)]:
        found, said, seconds = run([*launcher, program, how])
        print(f"{how}: exit status {found} after {seconds:.1f} s")
        lines = re.findall(r"^creek: .*$", said, re.MULTILINE)
        fits = not lines if line is None else len(lines) == 1 and re.fullmatch(line, lines[0])
        if (found == 0 if status is None else found not in status) or not fits:
            failures.append(f"{how}: exit status {found}, expected {status} and /{line}/ in:\n{said}")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
