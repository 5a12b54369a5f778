#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vcpkg_port.py ROOT CMAKE COMPILER BUILD WORK FEATURES [OPTION...]: builds the vcpkg port of ROOT without vcpkg and
uses the package.

Selects what `vcpkg install creek[FEATURES]` selects (a comma-separated list, or `default`), runs the port file with
stand-ins for vcpkg's functions (vcpkg/build_port.cmake) in the folders BUILD-rel and, by default, BUILD-dbg, moves the
package, and builds and runs a program for each component against it. Only the libraries of the system whose ports the
manifest requires for these features are visible to the build. OPTION is passed to CMake for creek's build.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from components import HERE, configure, expect, failure, run

# For each port: its CMake package, and its pkg-config modules; the name PORT[FEATURE] marks those of a feature.
PORTS = {
    "boost-context": ("Boost", []),
    "bzip2": ("BZip2", []),
    "fmt": ("fmt", ["fmt"]),
    "highway": ("", ["libhwy"]),
    "highway[contrib]": ("", ["libhwy-contrib"]),
    "hwloc": ("", ["hwloc"]),
    "liblzma": ("LibLZMA", ["liblzma"]),
    "lz4": ("", ["liblz4"]),
    "nlohmann-json": ("nlohmann_json", []),
    "re2": ("", ["re2"]),
    "simdjson": ("", ["simdjson"]),
    "tbb": ("TBB", ["tbb"]),
    "utf8proc": ("", ["libutf8proc"]),
    "xxhash": ("", ["libxxhash"]),
    "zlib": ("ZLIB", ["zlib"]),
    "zstd": ("", ["libzstd"]),
}


class selection:
    """Returns the features, and the ports they require; PORT[FEATURE] for a feature of a port."""

    def __init__(self, manifest, features):
        self.manifest = manifest
        self.features, self.ports, self.host_ports = [], set(), set()
        self.require(manifest["dependencies"])
        for feature in manifest["default-features"] if features == ["default"] else features:
            self.select(feature)

    def select(self, feature):
        if feature != "core" and feature not in self.features:
            self.features.append(feature)
            self.require(self.manifest["features"][feature].get("dependencies", []))

    def require(self, dependencies):
        for dependency in dependencies:
            if isinstance(dependency, str):
                dependency = {"name": dependency}
            port, features = dependency["name"], dependency.get("features", [])
            if port == self.manifest["name"]:
                for feature in features:
                    self.select(feature)
            elif dependency.get("host"):
                self.host_ports.add(port)
            else:
                self.ports |= {port, *(f"{port}[{feature}]" for feature in features)}


def visible(ports, work):
    """Returns environment and options of CMake with which only the libraries of these ports are found."""
    folder = work / "pkgconfig"
    folder.mkdir(parents=True)
    for port in sorted(ports):
        for module in PORTS[port][1]:
            where = run("pkg-config", "--variable=pcfiledir", module).strip()
            (folder / f"{module}.pc").symlink_to(Path(where) / f"{module}.pc")
    packages = {PORTS[port][0] for port in PORTS} - {PORTS[port][0] for port in ports} - {""}
    return ({**os.environ, "PKG_CONFIG_LIBDIR": str(folder), "PKG_CONFIG_PATH": ""},
            [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in sorted(packages)])


def check_package(package, work):
    """Checks what vcpkg checks after a build: where files are, and that no file names a folder of the build."""
    for file in ("share/creek/copyright", "share/creek/usage", "share/creek/creek-config.cmake"):
        expect((package / file).is_file(), f"the package has no {file}")
    for folder in ("lib/cmake", "debug/include", "debug/share", "share/doc"):
        expect(not (package / folder).exists(), f"the package has {folder}")
    for path in package.rglob("*"):
        expect(not path.is_dir() or any(path.iterdir()), f"the package has an empty folder: {path}")
        if path.suffix in (".cmake", ".pc"):
            expect(str(work) not in path.read_text(), f"{path} names {work}")


def use(cmake, compiler, prefix, work, components, environment, hidden):
    """Runs a program per component; with the debug build, too, if the package has it."""
    for build_type in ["Release", "Debug"] if (prefix / "debug").exists() else ["Release"]:
        build = work / f"use-{build_type}"
        configure(cmake, compiler, HERE / "components", build,
                  [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCOMPONENTS={';'.join(components)}",
                   f"-DCMAKE_BUILD_TYPE={build_type}", *hidden], env=environment)
        commands = run(cmake, "--build", build, "--verbose")
        debug = f"{prefix}/debug/lib/" in commands
        expect(debug == (build_type == "Debug"), f"{build_type} links the other build:\n{commands}")
        for component in components:
            run(build / f"use_{component}")
    paths = os.pathsep.join([str(prefix / "lib/pkgconfig"), environment["PKG_CONFIG_LIBDIR"]])
    flags = run("pkg-config", "--cflags", "--libs", "creek-tasking",
                env={**environment, "PKG_CONFIG_PATH": paths}).split()
    program = work / "use_pkg_config"
    run(compiler, "-std=c++20", HERE / "components/tasking.cpp", "-o", program, *flags,
        f"-Wl,-rpath,{prefix / 'lib'}")
    run(program)


def build_port(root, cmake, compiler, build, work, features, *options):
    build, work = Path(build), Path(work)
    port = Path(root) / "packaging/vcpkg/creek"
    chosen = selection(json.loads((port / "vcpkg.json").read_text()), features.split(","))
    unknown = chosen.ports - set(PORTS)
    expect(not unknown, f"vcpkg.json requires ports that this test does not know: {', '.join(sorted(unknown))}")
    shutil.rmtree(work, ignore_errors=True)
    environment, hidden = visible(chosen.ports, work)
    triplet = [option for option in options if option.startswith("VCPKG_")]
    of_cmake = [f"-DCMAKE_CXX_COMPILER={compiler}", *hidden, *(each for each in options if each not in triplet)]
    package = work / "packages/creek"
    variables = {"PORT": "creek", "PORT_DIR": port, "FEATURES": ";".join(["core", *chosen.features]),
                 "HOST_PORTS": ";".join(chosen.host_ports), "CURRENT_BUILDTREES_DIR": build.parent,
                 "TARGET_TRIPLET": build.name, "CURRENT_PACKAGES_DIR": package,
                 "VCPKG_CMAKE_CONFIGURE_OPTIONS": ";".join(of_cmake)}
    run(cmake, *(f"-D{name}={value}" for name, value in variables.items()),
        *(f"-D{option}" for option in triplet), "-P", HERE / "vcpkg/build_port.cmake", env=environment)
    check_package(package, work)
    installed = work / "installed"
    package.rename(installed)
    components = ["core", *chosen.features]
    use(cmake, compiler, installed, work, components, environment, hidden)
    print(f"creek[{','.join(components)}]: built and used")


if __name__ == "__main__":
    try:
        build_port(*sys.argv[1:])
    except failure as what:
        print(what, file=sys.stderr)
        sys.exit(1)
