# SPDX-License-Identifier: Apache-2.0
"""Compiles programs with one planted mistake each, and expects the compiler's message for it.

    mistakes.py SOURCE COMPILER FLAG...

SOURCE has a block `#ifdef NAME` for each mistake, with lines `// expect: REGEX` at its head. Without any of them it has
to compile, so that a mistake is refused for itself. With one of them the compiler has to fail and print what each REGEX
finds.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CASE = re.compile(r"^#ifdef (\w+)\n((?:[ ]*// expect: .*\n)+)", re.MULTILINE)
EXPECTED = re.compile(r"// expect: (.*)")


def compiled(command, name):
    define = [f"-D{name}"] if name else []
    done = subprocess.run(command + define, capture_output=True, text=True, errors="replace",
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"})
    return done.returncode, done.stderr


def complaint(name, wanted, status, output):
    """Says in a line what is wrong, or returns None."""
    if status == 0:
        return f"{name}: the compiler accepts it"
    for part in EXPECTED.findall(wanted):
        if not re.search(part, output):
            return f"{name}: no message has '{part}':\n" + "\n".join(output.splitlines()[:12])
    return None


def main():
    source, compiler, *flags = sys.argv[1:]
    command = [compiler, "-fsyntax-only", *flags, source]
    cases = CASE.findall(Path(source).read_text(encoding="utf-8"))
    status, output = compiled(command, None)
    if status != 0 or not cases:
        print(output or f"{source}: no case in it")
        return 1
    with ThreadPoolExecutor(2) as several:
        results = several.map(lambda case: complaint(*case, *compiled(command, case[0])), cases)
    wrong = [line for line in results if line]
    for line in wrong:
        print(line)
    print(f"{source}: {len(cases)} mistakes, {len(wrong)} not refused as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
