#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the repository's Markdown pages.

    pages.py links ROOT             names each relative link that leads nowhere; exit status 1 if any
    pages.py examples ROOT FOLDER   writes each C++ block that includes something to FOLDER/PAGE_N.cpp
                                    and prints `program FILE`, or `fragment FILE` without a main()
    pages.py grouped ROOT FOLDER    writes those blocks that include the same headers of creek to one
                                    FOLDER/HEADER_HEADER.cpp, a program that runs them, and prints the same
    pages.py together FILE PAGE...  writes FILE, one program that runs the examples of the pages which
                                    have a main(), one after the other
"""

import os
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
CODE_SPAN = re.compile(r"`[^`\n]*`")
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in sorted(subfolders)
                         if not name.startswith(".") and not name.startswith("build")]
        yield from (Path(folder) / name for name in sorted(names) if name.endswith(".md"))


def blank(match):
    """Returns only the line ends, so that the following text keeps its line numbers."""
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


def examples(page):
    """Yields the line and the text of each C++ block that includes something."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        if match[1] in ("cpp", "c++") and "#include" in match[2]:
            yield text.count("\n", 0, match.start()) + 2, match[2]


def write_if_changed(path, code):
    if not path.is_file() or path.read_text(encoding="utf-8") != code:
        path.write_text(code, encoding="utf-8")


def write_examples(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages(root):
        stem = re.sub(r"\W+", "_", str(page.relative_to(root).with_suffix("")))
        for number, (line, block) in enumerate(examples(page), 1):
            path = folder / f"{stem}_{number}.cpp"
            code = f'#line {line} "{page}"\n{block}'
            write_if_changed(path, code)
            print("program" if "int main(" in code else "fragment", path)
    return 0


def joined(blocks):
    """Returns one program of (page, line, block): each block in its own namespace, below the includes of all
    blocks, and a main() that runs those with a main()."""
    includes, bodies, calls = set(), [], []
    for number, (page, line, block) in enumerate(blocks):
        name = f"example_{number}"
        includes.update(INCLUDE.findall(block))
        body = INCLUDE.sub("", block)
        if "int main(" in block:
            # Only the real main() may omit its return; all examples end with it.
            body = body.rstrip().removesuffix("}") + "return 0; }\n"
            calls.append(f"  if ({name}::main() != 0) return {number + 1};\n")
        bodies.append(f'#line {line} "{page}"\nnamespace {name} {{ {body}}}')
    return "\n".join([*sorted(includes), *bodies, f"int main() {{\n{''.join(calls)}}}\n"])


def write_together(path, chosen):
    write_if_changed(path, joined([(page, line, block) for page in chosen for line, block in examples(page)
                                   if "int main(" in block]))
    return 0


def write_grouped(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    groups = {}
    for page in pages(root):
        for line, block in examples(page):
            headers = re.findall(r"^#include <creek/(.*)\.hpp>$", block, re.MULTILINE)
            groups.setdefault("_".join(sorted(headers)).replace("/", "_"), []).append((page, line, block))
    for name, blocks in groups.items():
        path = folder / f"{name}.cpp"
        write_if_changed(path, joined(blocks))
        print("program", path)
    return 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "links":
        return check_links(Path(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] == "examples":
        return write_examples(Path(sys.argv[2]), Path(sys.argv[3]))
    if len(sys.argv) == 4 and sys.argv[1] == "grouped":
        return write_grouped(Path(sys.argv[2]), Path(sys.argv[3]))
    if len(sys.argv) > 3 and sys.argv[1] == "together":
        return write_together(Path(sys.argv[2]), [Path(page) for page in sys.argv[3:]])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
