#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the shape of the code, so that a redesign can be measured before and after it.

Classes: data members (static ones apart), member functions that the class declares, and those defined outside of
it, in how many files. Constructors, destructors, overloads and functions that are = default or = delete count.
A class is large above 50 members.
Files: source files per folder. A folder is large above 15.
Virtual functions of one class, its destructor included, and the classes that override each: those that derive from
it, directly or not, and declare a function of that name with as many parameters.
Lines: of C and C++, without blank lines and comments.
Portable layers: lines, comments included, that name the simulated chip: "simulated", also inside a word; "virtual
time" or virtual_time; scc, chip and chips as words, where `_` separates words, too.
References to `detail` of another module: each `detail::NAME` is one, found by NAME among what the modules declare.

cxx_outline.py says what its reader of C++ cannot see. Nor does this script see names of another module's `detail`
without `detail::` before them: in code that opens the same namespace, or behind a `using`.
"""

import argparse
import bisect
import io
import json
import re
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path, PurePosixPath

from cxx_outline import outline, without_comments
from layer_check import CXX, SOURCE, layer_of, sources

MODULES = ("core", "tasking", "streams", "mapreduce", "text", "linalg", "power", "backends", "apps")
PORTABLE = MODULES[:5]
LARGE_FOLDER = 15  # files
LARGE_CLASS = 50   # members
LISTED = 20

MENTIONS = {
    "simulated": re.compile(r"simulated", re.IGNORECASE),
    "virtual time": re.compile(r"virtual[ _]time", re.IGNORECASE),
    "scc, chip": re.compile(r"(?<![^\W_])(?:scc|chips?)(?![^\W_])", re.IGNORECASE),
}
DETAIL = re.compile(r"\bdetail::(\w+)")
QUALIFIERS = re.compile(r"(?:\w+::)*$")
CODE_LINE = re.compile(r"^.*\S", re.MULTILINE)


def read_folder(root):
    """Path and text of every source below a folder."""
    return {PurePosixPath(path): (root / path).read_text(encoding="utf-8", errors="replace") for path in sources(root)}


def read_revision(root, revision):
    """The same of a revision of the repository that the folder is in."""
    archive = subprocess.run(["git", "-C", root, "archive", "--format=tar", revision], capture_output=True)
    if archive.returncode:
        print(f"shape: --against must name a revision, got {revision}: {archive.stderr.decode().strip()}",
              file=sys.stderr)
        sys.exit(2)
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            hidden = any(part.startswith(".") and part != ".ci" for part in path.parts[:-1])
            if not member.isfile() or hidden or path.parts[0].startswith("build") and len(path.parts) > 1:
                continue
            if path.suffix and path.suffix not in SOURCE and path.name != "CMakeLists.txt":
                continue
            content = tar.extractfile(member).read()
            if path.suffix or content.startswith(b"#!"):
                files[path] = content.decode("utf-8", errors="replace")
    return files


def display_name(name):
    """A qualified name as a reader writes it."""
    parts = [part for part in name if not part.startswith("@")]
    return "::".join(parts[1:] if parts[0] == "creek" and len(parts) > 1 else parts)


def room_of(path):
    """What the lines of a file count for: core, backends/host, apps/creek, tests/core."""
    if path.parts[0] in ("backends", "apps", "tests") and len(path.parts) > 2:
        return "/".join(path.parts[:2])
    return path.parts[0] if len(path.parts) > 1 else "."


class shape:
    def __init__(self, files, interface):
        self.files = files
        self.interface = interface
        self.outlines = {path: outline(text, path.as_posix()) for path, text in files.items()
                         if path.parts[0] in MODULES and path.suffix in CXX}
        self.by_name = {}
        for source in self.outlines.values():
            for cls in source.classes:
                self.by_name.setdefault(cls.name, []).append(cls)
        for source in self.outlines.values():
            for function in source.definitions:
                if owner := self.find_class(function.scope, function.qualifiers, function.path):
                    owner.outside.append((function.name, function.path, function.line))
        self.classes = sorted((cls for group in self.by_name.values() for cls in group
                               if cls.members() or cls.constants),
                              key=lambda cls: (-cls.members(), display_name(cls.name)))

    def find_class(self, scope, name, path):
        """The class that a qualified name means in a scope of a file; None if it is none of these."""
        without_arguments = tuple(component.split("<")[0] for component in name)
        for length in range(len(scope), -1, -1):
            for names in (name, without_arguments):
                for between in ((), ("@" + path,)):
                    group = self.by_name.get(scope[:length] + between + names)
                    if group:  # programs may each have one of a name: take the nearest
                        return max(group, key=lambda cls: common_length(cls.path, path))
        return None

    def named(self, name):
        """Classes whose qualified name ends with a name."""
        parts = tuple(name.split("::"))
        return [cls for cls in self.classes
                if tuple(part for part in cls.name if not part.startswith("@"))[-len(parts):] == parts]

    def class_row(self, cls):
        return {"class": display_name(cls.name), "file": cls.path, "line": cls.line, "data": len(cls.data),
                "functions": len(cls.functions), "members": cls.members(), "static_data": len(cls.constants),
                "outside": len(cls.outside), "outside_files": len({path for _, path, _ in cls.outside})}

    def class_members(self, cls):
        """The row of a class, and its members by name."""
        return self.class_row(cls) | {
            "data_members": cls.data, "static_data_members": cls.constants,
            "member_functions": [function.name for function in cls.functions],
            "outside_functions": [{"name": name, "file": path, "line": line} for name, path, line in cls.outside]}

    def folders(self):
        counts = Counter(path.parent.as_posix() for path in self.files)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def descendants(self, base):
        """Classes that derive from one, directly or by others."""
        parents = {}
        for cls in self.classes:
            for name in cls.bases:
                if parent := self.find_class(cls.scope, name, cls.path):
                    parents.setdefault(id(parent), []).append(cls)
        result, left = [], [base]
        while left:
            for child in parents.get(id(left.pop()), []):
                if child not in result:
                    result.append(child)
                    left.append(child)
        return result

    def virtuals(self):
        """Per virtual function of the class: whether it is pure, and who overrides it."""
        bases = [cls for cls in self.named(self.interface)
                 if any(function.is_virtual for function in cls.functions)]
        if not bases:
            return None
        base = bases[0]
        children = self.descendants(base)
        rows = []
        for function in base.functions:
            if not function.is_virtual:
                continue
            overriders = [display_name(child.name) for child in children if any(overrides(own, function)
                                                                         for own in child.functions)]
            rows.append({"function": function.name, "pure": function.is_pure, "overridden_by": sorted(overriders)})
        return {"class": display_name(base.name), "file": base.path, "functions": rows}

    def code_lines(self):
        """Lines of code by room, of tests and of all else."""
        lines = {"code": Counter(), "tests": Counter()}
        for path, text in self.files.items():
            if path.suffix not in CXX:
                continue
            source = self.outlines.get(path)
            code = source.stripped if source else without_comments(text)
            lines["tests" if path.parts[0] == "tests" else "code"][room_of(path)] += len(CODE_LINE.findall(code))
        return {kind: dict(sorted(counts.items())) for kind, counts in lines.items()}

    def mentions(self):
        """Lines of the portable layers that name the simulated chip, by module and by what they name."""
        rows = {module: dict.fromkeys([*MENTIONS, "lines"], 0) for module in PORTABLE}
        for path in self.outlines:
            if path.parts[0] not in PORTABLE:
                continue
            row, text = rows[path.parts[0]], self.files[path]
            ends = [match.start() for match in re.finditer("\n", text)]
            all_lines = set()
            for word, pattern in MENTIONS.items():
                lines = {bisect.bisect_left(ends, match.start()) for match in pattern.finditer(text)}
                row[word] += len(lines)
                all_lines |= lines
            row["lines"] += len(all_lines)
        return rows

    def detail_owners(self):
        """The module that declares each name of a namespace `detail`, by namespace and name."""
        strong, weak = {}, {}
        for path, source in self.outlines.items():
            for scope, name, is_weak in source.declared:
                namespace = tuple(part for part in scope if not part.startswith("@"))
                if namespace and namespace[-1] == "detail":
                    (weak if is_weak else strong).setdefault((namespace, name), set()).add(layer_of(Path(path)))
        return weak | strong

    def detail_references(self):
        """Counts by (module of the user, owner, file of the user), and references whose owner was not found."""
        owners = self.detail_owners()
        namespaces = {namespace for namespace, _ in owners}
        counts, lost = Counter(), Counter()
        for path, source in self.outlines.items():
            user = layer_of(Path(path))
            for match in DETAIL.finditer(source.code):
                before = source.code[max(0, match.start() - 100):match.start()]
                prefix = tuple(QUALIFIERS.search(before)[0].split("::")[:-1])
                scope = tuple(part for part in source.namespace_at(match.start()) if not part.startswith("@"))
                around = [scope[:length] + prefix + ("detail",) for length in range(len(scope), -1, -1)]
                known = [namespace for namespace in around if namespace in namespaces]
                modules = next((owners[namespace, match[1]] for namespace in known
                                if (namespace, match[1]) in owners), None)
                if modules is None:
                    if known:
                        lost[path.as_posix(), match[1]] += 1
                elif user not in modules:
                    owner = min(modules, key=lambda module: (MODULES.index(module.split("/")[0]), module))
                    counts[user, owner, path.as_posix()] += 1
        return counts, lost

    def report(self):
        """All of it, as --json writes it."""
        references, lost = self.detail_references()
        result = {
            "classes": [self.class_row(cls) for cls in self.classes],
            "folders": self.folders(),
            "virtuals": self.virtuals(),
            "lines": self.code_lines(),
            "mentions": self.mentions(),
            "detail_references": [{"user": user, "owner": owner, "file": file, "count": count}
                                  for (user, owner, file), count in
                                  sorted(references.items(), key=lambda item: (-item[1], item[0]))],
            "detail_owner_not_found": [{"file": file, "name": name, "count": count}
                                       for (file, name), count in sorted(lost.items())],
        }
        return {"totals": totals(result)} | result


def common_length(a, b):
    return next((at for at, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def overrides(own, function):
    if function.name.startswith("~"):
        return own.name.startswith("~") and (own.overrides or own.is_virtual)
    return own.name == function.name and own.parameters == function.parameters


def totals(report):
    classes, folders = report["classes"], report["folders"].values()
    virtuals = report["virtuals"]["functions"] if report["virtuals"] else []
    return {
        "classes": len(classes),
        "data_members": sum(row["data"] for row in classes),
        "member_functions": sum(row["functions"] for row in classes),
        "functions_defined_outside": sum(row["outside"] for row in classes),
        "large_classes": sum(row["members"] > LARGE_CLASS for row in classes),
        "max_members_per_class": max((row["members"] for row in classes), default=0),
        "max_files_per_class": max((row["outside_files"] for row in classes), default=0),
        "source_files": sum(folders),
        "folders": len(folders),
        "large_folders": sum(count > LARGE_FOLDER for count in folders),
        "max_files_per_folder": max(folders, default=0),
        "virtual_functions": len(virtuals),
        "pure_virtual_functions": sum(row["pure"] for row in virtuals),
        "overrides": sum(len(row["overridden_by"]) for row in virtuals),
        "lines_of_code": sum(report["lines"]["code"].values()),
        "lines_of_tests": sum(report["lines"]["tests"].values()),
        "portable_lines_that_name_the_chip": sum(row["lines"] for row in report["mentions"].values()),
        "detail_references": sum(row["count"] for row in report["detail_references"]),
    }


def print_table(title, head, rows):
    """Prints rows of cells, the first to the left and numbers to the right."""
    print(f"\n{title}")
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    numeric = [all(re.fullmatch(r"[-+]?\d+", row[column]) for row in rows[1:]) for column in range(len(head))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = (cell.rjust(width) if right else cell.ljust(width)
                 for cell, width, right in zip(row, widths, numeric))
        print("  " + "  ".join(cells).rstrip())


def spaced(name):
    return name.replace("_", " ")


def cut(rows, everything):
    return rows if everything else rows[:LISTED]


def print_report(report, everything):
    print_table("Totals", ("quantity", "number"), [(spaced(name), count) for name, count in report["totals"].items()])
    print_table("Classes, the largest first", ("class", "members", "data", "functions", "static", "outside", "in files",
                                               "declared in"),
                [(row["class"], row["members"], row["data"], row["functions"], row["static_data"], row["outside"],
                  row["outside_files"], row["file"]) for row in cut(report["classes"], everything)])
    folders = report["folders"].items()
    print_table(f"Files per folder, those of more than {LARGE_FOLDER}" + " first" * everything, ("folder", "files"),
                [item for item in folders if everything or item[1] > LARGE_FOLDER])
    if virtuals := report["virtuals"]:
        print_table(f"{len(virtuals['functions'])} virtual functions of {virtuals['class']} ({virtuals['file']})",
                    ("function", "pure", "overrides", "overridden by"),
                    [(row["function"], "pure" if row["pure"] else "", len(row["overridden_by"]),
                      ", ".join(row["overridden_by"])) for row in virtuals["functions"]])
    for kind, title in (("code", "Lines of code, without tests"), ("tests", "Lines of tests")):
        print_table(title, ("folder", "lines"), report["lines"][kind].items())
    print_table("Lines of the portable layers that name the simulated chip", ("module", *MENTIONS, "lines"),
                [(module, *row.values()) for module, row in report["mentions"].items()])
    between = Counter()
    for row in report["detail_references"]:
        between[row["user"], row["owner"]] += row["count"]
    print_table("References to another module's detail", ("user", "owner", "references"),
                [(*pair, count) for pair, count in sorted(between.items(), key=lambda item: (-item[1], item[0]))])
    print_table("References to another module's detail by file", ("file", "owner", "references"),
                [(row["file"], row["owner"], row["count"]) for row in cut(report["detail_references"], everything)])
    if lost := report["detail_owner_not_found"]:
        print_table("Names of detail whose owner was not found", ("file", "name", "references"),
                    [row.values() for row in lost])


def print_class(row):
    print(f"{row['class']} ({row['file']}:{row['line']}): {row['data']} data members, "
          f"{row['functions']} member functions, {row['static_data']} static data members, "
          f"{row['outside']} functions defined outside in {row['outside_files']} files")
    for title, key in (("data", "data_members"), ("static", "static_data_members"), ("functions", "member_functions")):
        print(f"  {title}: {', '.join(row[key])}")
    files = {}
    for function in row["outside_functions"]:
        files.setdefault(function["file"], []).append(function["name"])
    for file, names in sorted(files.items()):
        print(f"  {file} ({len(names)}): {', '.join(names)}")


def compare(before, after):
    return {name: {"before": before[name], "after": after[name], "difference": after[name] - before[name]}
            for name in after}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path,
                        help="the repository (default: the one this file is in)")
    parser.add_argument("--all", action="store_true", help=f"every class, folder and file, not the first {LISTED}")
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--class", dest="class_name", metavar="NAME", help="print the members of one class only")
    parser.add_argument("--virtuals", metavar="NAME", default="executor",
                        help="class whose virtual functions are listed (default: executor)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    one_of.add_argument("--against", metavar="REVISION",
                        help="print the totals of this revision and of the files as they are, and the difference")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader, such as `head`, may stop early
    arguments = options()
    root = arguments.root.resolve()
    now = shape(read_folder(root), arguments.virtuals)
    if not now.outlines:
        print(f"shape: {root}: no layer of creek here", file=sys.stderr)
        return 2
    if arguments.class_name:
        rows = [now.class_members(cls) for cls in now.named(arguments.class_name)]
        if not rows:
            print(f"shape: --class must name a class with members, got {arguments.class_name}", file=sys.stderr)
            return 2
        if arguments.json:
            print(json.dumps(rows, indent=2))
        else:
            for row in rows:
                print_class(row)
        return 0
    report = now.report()
    if arguments.against:
        before = shape(read_revision(root, arguments.against), arguments.virtuals).report()["totals"]
        difference = compare(before, report["totals"])
        if arguments.json:
            print(json.dumps(difference, indent=2))
        else:
            print_table(f"Totals against {arguments.against}", ("quantity", "before", "after", "difference"),
                        [(spaced(name), row["before"], row["after"], f"{row['difference']:+d}")
                         for name, row in difference.items()])
    elif arguments.json:
        print(json.dumps(report, indent=2))
    else:
        print_report(report, arguments.all)
    return 0


if __name__ == "__main__":
    sys.exit(main())
