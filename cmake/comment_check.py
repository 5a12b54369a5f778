#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a comment or a name of the C++ sources is not in plain English.

A comment names the thing first, then says what it does: "Returns ...", "Number of ...", "Called when ...".
So none opens with a bare word of OPENINGS, be it a block of comment lines or a comment behind code. Later
lines of a block may. Names of NAMES are refused as whole identifiers. One line per finding, exit status 1
if there is any.
"""

import argparse
import re
import sys
from pathlib import Path

from layer_check import CXX, LICENCE, sources

ROOMS = {"core", "tasking", "streams", "mapreduce", "text", "linalg", "power", "backends", "apps", "bench", "tests", "examples"}
OPENINGS = "Of|What|As|Who|That|Where"

# Refused identifiers, also with a member's trailing underscore, and what to write instead. Only names that the
# code no longer has; letter, mail, crew, hire, rouse, taker and the other
# most_... and least_... join when the code is renamed.
NAMES = {
    "forsake": "abandon",
    "forsaken": "abandoned",
    "give_way": "yield",
    "least_search": "min_search",
    "least_stack": "min_stack",
    "linger": "spin_wait",
    "lingers": "spin_waits",
    "mails": "messages",
    "most_awake": "max_awake",
    "most_bytes": "max_bytes",
    "most_columns": "max_columns",
    "most_known": "max_known",
    "most_parts": "max_parts",
    "most_stack": "max_stack",
    "most_strands": "max_strands",
    "most_watts": "max_watts",
    "owed_hires": "pending_spawns",
    "roused": "woken",
    "take_in": "drain",
}

# Whatever may hold quotes or slashes comes first, so that a comment is one.
TOKEN = re.compile(r"""(?P<number>(?<!\w)\d(?:'?[\w.])*)"""
                   r"""|(?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")"""
                   r"""|(?P<string>"(?:\\.|[^"\\\n])*")"""
                   r"""|(?P<character>'(?:\\[^\n][^'\n]*|[^'\\\n])')"""
                   r"""|(?P<line>//[^\n]*)"""
                   r"""|(?P<block>/\*.*?\*/)""", re.DOTALL)
OPENING = re.compile(rf"(/[/*][/!*]*<?)\s*({OPENINGS})(?=[\s,;:.?']|$)")
NAME = re.compile(rf"\b({'|'.join(NAMES)})_?\b")


def check_text(text):
    """Yields line and message of each finding in a source file."""
    code = []  # the text without strings and comments, its line ends kept
    at = 0
    line = 1
    previous = None  # where the line below has to have its comment to go on with this one
    for token in TOKEN.finditer(text):
        code.append(text[at:token.start()])
        line += text.count("\n", at, token.start())
        comment = token[0]
        if token.lastgroup in ("line", "block"):
            line_start = text.rfind("\n", 0, token.start()) + 1
            column = token.start() - line_start
            behind_code = text[line_start:token.start()].strip()
            opening = OPENING.match(comment)
            if opening and (behind_code or (line, column) != previous):
                yield line, f'comment opens with "{opening[2]}": name the thing first'
            goes_on = token.lastgroup == "line" and LICENCE not in comment
            previous = (line + 1, column) if goes_on else None
        code.append("\n" * comment.count("\n") or " ")
        at = token.end()
        line += comment.count("\n")
    code = "".join(code) + text[at:]
    for match in NAME.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, f'name "{match[1]}": write {NAMES[match[1]]}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path,
                        help="the repository (default: the one this file is in)")
    root = parser.parse_args().root.resolve()
    files = [path for path in sources(root) if path.parts[0] in ROOMS and path.suffix in CXX]
    if not files:
        print(f"comment_check: {root}: no C++ sources of creek here", file=sys.stderr)
        return 2
    count = 0
    for path in files:
        for line, message in check_text((root / path).read_text(encoding="utf-8", errors="replace")):
            print(f"{path}:{line}: {message}")
            count += 1
    print(f"comment_check: {len(files)} files, {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
