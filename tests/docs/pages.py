#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the repository's Markdown pages.

    pages.py links ROOT             names each relative link that leads nowhere; exit status 1 if any
    pages.py examples ROOT FOLDER   writes each C++ block that includes something to FOLDER/PAGE_N.cpp
                                    and prints `program FILE`, or `fragment FILE` without a main()
"""

import os
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
CODE_SPAN = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in sorted(subfolders)
                         if not name.startswith(".") and not name.startswith("build")]
        yield from (Path(folder) / name for name in sorted(names) if name.endswith(".md"))


def blank(match):
    """Line ends only, so that what follows keeps its line number."""
    return "\n" * match[0].count("\n")


def broken_links(page):
    text = page.read_text(encoding="utf-8")
    for code in (FENCE, INDENTED, CODE_SPAN):
        text = code.sub(blank, text)
    for link in LINK.finditer(text):
        target = link[1].split("#")[0]
        if target and not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
            yield text.count("\n", 0, link.start()) + 1, link[1]


def check_links(root):
    broken = [f"{page.relative_to(root)}:{line}: {target} is not there"
              for page in pages(root) for line, target in broken_links(page)]
    print("\n".join(broken) or "every link leads somewhere")
    return 1 if broken else 0


def write_examples(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        blocks = [match for match in FENCE.finditer(text)
                  if match[1] in ("cpp", "c++") and "#include" in match[2]]
        stem = re.sub(r"\W+", "_", str(page.relative_to(root).with_suffix("")))
        for number, block in enumerate(blocks, 1):
            line = text.count("\n", 0, block.start()) + 2
            path = folder / f"{stem}_{number}.cpp"
            code = f'#line {line} "{page}"\n{block[2]}'
            if not path.is_file() or path.read_text(encoding="utf-8") != code:
                path.write_text(code, encoding="utf-8")
            print("program" if "int main(" in code else "fragment", path)
    return 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "links":
        return check_links(Path(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] == "examples":
        return write_examples(Path(sys.argv[2]), Path(sys.argv[3]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
