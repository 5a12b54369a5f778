#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes.py ROOT: the recipes of packaging/ name the components that creek_components.cmake defines, the version of
the project, and existing options. A test without network cannot check their downloads."""

import ast
import json
import re
import sys
from pathlib import Path


def main():
    root = Path(sys.argv[1])
    cmake = (root / "cmake/creek_components.cmake").read_text()
    components = re.search(r"set\(CREEK_ALL_COMPONENTS ([^)]*)\)", cmake)[1].split()
    project = (root / "CMakeLists.txt").read_text()
    version = re.search(r"project\(creek VERSION (\S+)", project)[1]
    findings = []

    def expect_equal(found, expected, what):
        if found != expected:
            findings.append(f"{what}: {found} instead of {expected}")

    port = root / "packaging/vcpkg/creek"
    manifest = json.loads((port / "vcpkg.json").read_text())
    portfile = (port / "portfile.cmake").read_text()
    expect_equal(manifest["version"], version, "version of vcpkg.json")
    expect_equal(["core", *manifest["features"]], components, "features of vcpkg.json")
    expect_equal(["core", *re.search(r"foreach\(component ([^)]*)\)", portfile)[1].split()], components,
                 "components of portfile.cmake")
    conan = (root / "packaging/conan/conanfile.py").read_text()
    values = {node.targets[0].id: node.value for node in ast.walk(ast.parse(conan))
              if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    expect_equal(list(ast.literal_eval(values["COMPONENTS"])), components, "components of conanfile.py")
    expect_equal(ast.literal_eval(values["version"]), version, "version of conanfile.py")
    for option in set(re.findall(r"CREEK_[A-Z_]+", portfile)) | {"CREEK_COMPONENTS"}:
        if option not in project + cmake:
            findings.append(f"portfile.cmake: there is no option {option}")
    print("\n".join([*findings, f"recipes: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
