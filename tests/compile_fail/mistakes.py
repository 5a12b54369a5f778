# SPDX-License-Identifier: Apache-2.0
"""Compiles programs with one planted mistake each, and expects the compiler's message for it.

    mistakes.py SOURCE COMPILER FLAG...

SOURCE has a block `#ifdef NAME` for each mistake, with `// expect: REGEX` as its first line. Without any of them it has
to compile, so that a mistake is refused for itself. What shows only that correct calls compile is in `#ifndef MISTAKE`. With one of them the compiler has to fail, and its first error has
to contain what REGEX finds. Where that error cannot name the cause, as for the constraint of a class template,
`// because: REGEX` in the second line is looked for in the compiler's notes as well.

The headers of SOURCE are precompiled once for all mistakes.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CASE = re.compile(r"^#ifdef (\w+)\n *// expect: (.*)\n(?: *// because: (.*)\n)?", re.MULTILINE)
BEGUN = re.compile(r"^#ifdef ", re.MULTILINE)
INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)


def compiled(command, *arguments):
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, errors="replace",
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"})
    return done.returncode, done.stderr


def complaint(name, expected, because, status, output):
    """Says in a line what is wrong, or returns None."""
    if status == 0:
        return f"{name}: the compiler accepts it"
    first = next((line for line in output.splitlines() if "error:" in line), "no error")
    if not re.search(expected, first):
        return f"{name}: the first error does not say '{expected}':\n  {first}"
    if because and not re.search(f"note:.*{because}", output):
        return f"{name}: no note says '{because}'"
    return None


def precompiled(command, text, folder):
    """Returns the command with the headers of the source compiled in advance."""
    headers = Path(folder) / "headers.hpp"
    headers.write_text("".join(INCLUDE.findall(text)), encoding="utf-8")
    status, output = compiled(command, "-x", "c++-header", str(headers), "-o", f"{headers}.gch")
    if status != 0:
        raise SystemExit(output)
    return [*command, "-include", str(headers), "-fsyntax-only", "-fmax-errors=1"]


def main():
    source, *command = sys.argv[1:]
    text = Path(source).read_text(encoding="utf-8")
    cases = CASE.findall(text)
    if not cases or len(cases) != len(BEGUN.findall(text)):
        print(f"{source}: every #ifdef needs a line `// expect:`")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        command = precompiled(command, text, folder)
        status, output = compiled(command, source)
        if status != 0:
            print(output)
            return 1
        with ThreadPoolExecutor(2) as several:
            results = several.map(lambda case: complaint(*case, *compiled(command, "-DMISTAKE", f"-D{case[0]}", source)), cases)
        wrong = [line for line in results if line]
    for line in wrong:
        print(line)
    print(f"{source}: {len(cases)} mistakes, {len(wrong)} not refused as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
