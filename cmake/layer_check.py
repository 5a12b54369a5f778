#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file of one layer includes what that layer may not use.

The rules are those of the architecture: a layer sees the public headers of the layers that it
stands on, and nothing else; backends never meet each other; apps and bench meet in the examples that bench
measures only; what lies in a src/ folder stays there
(tests may look); the library behind a backend is included by that backend alone. In apps and support CLI11 and
nlohmann-json are included by the sources that wrap them. What is in a module's `detail`, as a folder of
headers or as a namespace, is used by that module and by tests alone; `ext` is for authors of backends. Every public header
includes <creek/core/language.hpp>, directly or by another header of creek. Every source file starts with
its SPDX line. One line a finding, exit status 1 if there is any.
"""

import argparse
import os
import re
import sys
from pathlib import Path

LANGUAGE = "creek/core/language.hpp"
LICENCE = "SPDX-License-Identifier: Apache-2.0"

# A layer and those it may use besides itself. `backends/*` stands for each backend on its own,
# `backends` for the one place below apps that knows them all: the table in backends/src.
ALLOWED = {
    "core": set(),
    "tasking": {"core"},
    "streams": {"tasking", "core"},
    "power": {"core"},
    "mapreduce": {"tasking", "core"},
    "text": {"mapreduce", "tasking", "core"},
    "linalg": {"tasking", "core"},
    "backends/*": {"tasking", "core"},
    "backends": {"backends/*", "tasking", "core"},
    # What apps and bench both need.
    "support": {"core"},
}
# These may use every layer. Only tests may look into the src/ of another, and at all three.
TOP = {"apps", "bench", "tests"}
# The folders from which sources of TOP name what they include, after their own folder and their layer.
TOP_ROOTS = ("apps/creek", "apps", "support", "apps/examples", "bench", "tests", "")
# Programs to copy, which benchmarks measure.
EXAMPLES = Path("apps/examples")

# Headers of other libraries that belong to one backend, by the start of their name.
EXTERNAL = {
    "hwloc": "backends/host",
    "tbb/": "backends/tbb",
    "oneapi/tbb": "backends/tbb",
    "mpi.h": "backends/mpi",
    "utf8proc": "text",
    "re2/": "text",
    "simdjson": "text",
    "arrow/": "apps",
    "parquet/": "apps",
}

# Headers that take long to compile, by the start of their name: in apps and support only these files include them,
# the wrappers that every other file uses.
WRAPPED = {
    "CLI/": ("support/command_line/command.cpp",),
    "nlohmann/": ("support/json/json_value.cpp",),
}

# Modules whose details have a namespace of their own, by its name; those of core and tasking are in creek::detail.
OWN_NAMESPACE = {"mapreduce": "mapreduce", "text": "text", "linalg": "linalg", "power": "power", "stream": "streams"}

# Details of a module that other modules use all the same: debts, to be given an interface.
KNOWN_DEBTS = {
    "core": {"xml_escaped"},
}

SOURCE = {".cpp", ".hpp", ".cc", ".h", ".c", ".inl", ".cmake", ".py", ".sh", ".pml", ".rs"}
CXX = {".cpp", ".hpp", ".cc", ".h", ".c", ".inl"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
LINE_COMMENT = re.compile(r"//[^\n]*")
DETAIL_BLOCK = re.compile(r"^namespace (?:creek::)?detail \{$(.*?)^\}(?!;)", re.MULTILINE | re.DOTALL)
DETAIL_NAME = re.compile(r"\b(?:class|struct|concept|using)[ \t]+(\w+)|[ *&](\w+)(?:\(|\{|;|[ \t]*=)")
DETAIL_USE = re.compile(r"(?:\b(\w+)::)?\bdetail::(\w+)")
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def home_of(path):
    """The folder of the layer that a path relative to the root belongs to; None outside of all."""
    parts = path.parts
    if parts[0] == "backends" and len(parts) > 2 and parts[1] != "src":
        return Path(*parts[:2])
    return Path(parts[0]) if parts[0] in ALLOWED or parts[0] in TOP else None


def layer_of(path):
    home = home_of(path)
    return None if home is None else home.as_posix()


def is_private(path):
    """Whether a path lies in the src/ folder of a layer."""
    home = home_of(path)
    return home is not None and layer_of(path) not in TOP and home / "src" in path.parents


def may_use(user, used, target):
    def kind(layer):
        return "backends/*" if layer.startswith("backends/") else layer
    if user in TOP:
        return user in {used, "tests"} or used not in TOP or EXAMPLES in target.parents
    return user == used or kind(used) in ALLOWED[kind(user)]


def sources(root):
    """Every source file below the root, relative to it; build trees and hidden folders left out."""
    for folder, subfolders, names in os.walk(root):
        at_top = Path(folder) == root
        subfolders[:] = sorted(
            name for name in subfolders
            if (name == ".ci" or not name.startswith(".")) and not (at_top and name.startswith("build")))
        for name in sorted(names):
            path = (Path(folder) / name).relative_to(root)
            if path.suffix in SOURCE or name == "CMakeLists.txt" or is_script(root / path):
                yield path


def is_script(path):
    if path.suffix or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) == b"#!"


class checker:
    def __init__(self, root):
        self.root = root
        self.files = list(sources(root))
        self.findings = []
        # Public headers by the name under which they are included, "creek/core/error.hpp".
        self.public = {}
        for path in self.files:
            if "include" in path.parts and layer_of(path) and layer_of(path) not in TOP:
                start = path.parts.index("include") + 1
                self.public["/".join(path.parts[start:])] = path

    def report(self, path, line, what):
        self.findings.append(f"{path}:{line}: {what}")

    def resolve(self, path, quote, name):
        """The file of this repository that an include means; None for one of another library."""
        if quote == '"':
            beside = Path(os.path.normpath(path.parent / name))
            if (self.root / beside).is_file():
                return beside
            inside = home_of(path) / "src" / name
            if (self.root / inside).is_file():
                return inside
        if layer_of(path) in TOP and name not in self.public:
            for root in (layer_of(path), *TOP_ROOTS):
                if (self.root / root / name).is_file():
                    return Path(root) / name
        return self.public.get(name)

    def check_include(self, path, line, quote, name):
        user = layer_of(path)
        for start, owner in EXTERNAL.items():
            if name.startswith(start) and user not in TOP and user != owner:
                self.report(path, line, f"<{name}> belongs to {owner}, {user} may not include it")
        for start, wrappers in WRAPPED.items():
            if name.startswith(start) and user in ("apps", "support") and path.as_posix() not in wrappers:
                self.report(path, line, f"<{name}> may be included in {user} by {wrappers[0]} only; use its header")
        target = self.resolve(path, quote, name)
        if target is None or target.parts[0] == "..":
            if name.startswith("creek/"):
                self.report(path, line, f"no layer has the public header <{name}>")
            return
        used = layer_of(target)
        if used and used != user and user != "tests" and "detail" in target.parts \
                and name not in KNOWN_DEBTS.get(used, ()):
            self.report(path, line, f"<{name}> is a detail of {used}")
        elif used and not may_use(user, used, target):
            self.report(path, line, f"{user} may not use {used} (includes {target})")
        elif is_private(target) and "include" in path.parts and user not in TOP:
            self.report(path, line, f"a public header may not include {target}, which is not installed")
        elif is_private(target) and used != user and user != "tests":
            self.report(path, line, f"{target} is private to {used}")

    def collect_details(self):
        """Names that the public headers of core and tasking declare in creek::detail, by layer."""
        self.details = {"core": set(), "tasking": set()}
        for path in self.public.values():
            if layer_of(path) not in self.details:
                continue
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            for block in DETAIL_BLOCK.findall(LINE_COMMENT.sub("", text)):
                for line in block.splitlines():
                    if line[:1].isalpha():  # a declaration of the namespace, not of a class in it
                        self.details[layer_of(path)].update(filter(None, sum(DETAIL_NAME.findall(line), ())))

    def check_details(self, path, text):
        """Refuses names of another layer's namespace `detail`."""
        user = layer_of(path)
        if user == "tests":
            return
        text = LINE_COMMENT.sub("", text)
        for match in DETAIL_USE.finditer(text):
            qualifier, name = match[1], match[2]
            if qualifier in OWN_NAMESPACE:
                owner = OWN_NAMESPACE[qualifier]
            elif qualifier in (None, "creek") and (qualifier or user not in OWN_NAMESPACE.values()):
                owner = next((layer for layer, names in self.details.items() if name in names), None)
            else:
                continue
            if owner in (None, user) or name in self.details.get(user, ()) or name in KNOWN_DEBTS.get(owner, ()):
                continue
            self.report(path, text.count("\n", 0, match.start()) + 1, f"detail::{name} belongs to {owner}")

    def check_language(self, path, text):
        """A header without another of creek's has to refuse compilers' modes that creek cannot work in."""
        if path not in self.public.values() or self.public.get(LANGUAGE) == path:
            return
        if not any(self.resolve(path, match[1], match[2]) for match in INCLUDE.finditer(text)):
            self.report(path, 1, f"a public header that includes no other of creek includes <{LANGUAGE}>")

    def check_licence(self, path, text):
        head = text.splitlines()[:2]
        if head and head[0].startswith("#!"):
            head = head[1:]
        if not head or LICENCE not in head[0]:
            self.report(path, 1, f"does not start with its licence line ({LICENCE})")

    def run(self):
        self.collect_details()
        for path in self.files:
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            self.check_licence(path, text)
            if path.suffix not in CXX or layer_of(path) is None:
                continue
            # Comments go, their line ends stay.
            text = BLOCK_COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
            for match in INCLUDE.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                self.check_include(path, line, match[1], match[2])
            self.check_details(path, text)
            self.check_language(path, text)
        return self.findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path,
                        help="the repository (default: the one this file is in)")
    root = parser.parse_args().root.resolve()
    check = checker(root)
    if not any(layer_of(path) for path in check.files):
        print(f"layer_check: {root}: no layer of creek here", file=sys.stderr)
        return 2
    findings = check.run()
    for finding in findings:
        print(finding)
    print(f"layer_check: {len(check.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
