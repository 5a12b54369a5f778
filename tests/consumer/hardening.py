#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at programs and libraries with readelf.

    hardening.py paths FOLDER...        no search path of any ELF file below has an empty or relative entry,
                                        which would load libraries from the current folder
    hardening.py protections FOLDER...  every program and shared library below is position-independent, binds at
                                        the start, is read-only from then on and guards its stack; at least
                                        one calls checked functions of libc; objects in archives of creek are
                                        marked for indirect branch tracking
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def elf_files(folders):
    for top in folders:
        for folder, subfolders, names in os.walk(top):
            subfolders[:] = [name for name in subfolders if not name.endswith(".dir")]
            for name in names:
                path = Path(folder) / name
                if path.is_symlink() or not path.is_file():
                    continue
                with path.open("rb") as file:
                    head = file.read(18)
                if head[:4] == b"\x7fELF" and head[16] in (2, 3):  # a program or a shared library
                    yield path


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True, check=True).stdout


def bad_entries(path):
    for search in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", readelf("-d", path)):
        for entry in search.split(":"):
            if not entry.startswith(("/", "$ORIGIN")):
                yield f"{path}: the search path [{search}] has the entry '{entry}'"


def check_paths(files):
    return [finding for path in files for finding in bad_entries(path)]


def lacks(path):
    header, segments = readelf("-h", path), readelf("-l", path)
    dynamic, symbols = readelf("-d", path), readelf("--dyn-syms", path)
    if not re.search(r"Type:\s+DYN", header):
        yield "is not position-independent"
    if not re.search(r"BIND_NOW|FLAGS_1.*NOW", dynamic):
        yield "is not linked with -z now"
    if "GNU_RELRO" not in segments:
        yield "is not linked with -z relro"
    if "GNU_STACK" in segments and re.search(r"GNU_STACK.*RWE", segments):
        yield "has an executable stack"
    if "__stack_chk_fail" not in symbols:
        yield "is not compiled with -fstack-protector-strong"


def check_protections(files, folders):
    findings = [f"{path}: {what}" for path in files for what in lacks(path)]
    if not any("_chk@" in readelf("--dyn-syms", path).replace("__stack_chk", "") for path in files):
        findings.append("no program calls a checked function of libc: -D_FORTIFY_SOURCE=2 has no effect")
    for top in folders:
        for archive in Path(top).rglob("libcreek*.a"):
            notes = readelf("-n", archive)
            if notes.count("IBT") < notes.count("File: "):
                findings.append(f"{archive}: has objects that are not compiled with -fcf-protection")
    return findings


def main():
    action, folders = sys.argv[1], sys.argv[2:]
    files = list(elf_files(folders))
    findings = check_paths(files) if action == "paths" else check_protections(files, folders)
    print("\n".join([*findings, f"{len(files)} files, {len(findings)} findings"]))
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main())
