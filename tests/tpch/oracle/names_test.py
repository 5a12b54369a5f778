#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: names_test.py TOOL FOLDER: `creek tpch --help` lists exactly the queries that FOLDER has as
qN.sql, and the parameters of each are those that its file declares."""
import re
import subprocess
import sys
from pathlib import Path

from query_file import QueryFile


def help_of(tool, *command):
    return subprocess.run([tool, "tpch", *command, "--help"], capture_output=True, text=True, check=True).stdout


def main():
    tool, folder = sys.argv[1:]
    queries = set(re.findall(r"^ +(q\d+) ", help_of(tool), re.MULTILINE))
    files = {path.stem: QueryFile(path) for path in Path(folder).glob("q*.sql")}
    wrong = [f"{name}: not both in `creek tpch --help` and in {folder}" for name in queries ^ set(files)]
    for name in queries & set(files):
        text = " ".join(help_of(tool, name).split())
        listed = re.search(r"NAME=VALUE, of: ((?:\w+=.*?)) --", text)
        names = set(re.findall(r"\b([A-Z]\w*)=", listed[1])) if listed else set()
        declared = {parameter.name for parameter in files[name].parameters}
        if names != declared:
            wrong.append(f"{name}: has the parameters {sorted(names)}, its file declares {sorted(declared)}")
    print(f"{len(queries)} queries", *sorted(wrong), sep="\n")
    return bool(wrong) or not queries


if __name__ == "__main__":
    sys.exit(main())
