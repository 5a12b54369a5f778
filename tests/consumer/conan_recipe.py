#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conan_recipe.py ROOT CMAKE COMPILER WORK [OPTION=VALUE...]: `conan create` on packaging/conan, which builds the
sources of ROOT and runs the recipe's test_package; then a program is built with what pkg-config says of the package.

Conan comes from the wheels of tests/consumer/wheels.txt, which PYTHONPATH names; without it the test is skipped. The
Conan home is below WORK, and nothing is fetched: stand-ins with the names and versions of Conan Center's packages
(conan/) point to the system's libraries, and the profile names the system's CMake and pkg-config.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# Versions that Conan Center's index had in August 2026.
CENTER = {"boost": "1.84.0", "bzip2": "1.0.8", "fmt": "9.1.0", "highway": "1.1.0", "hwloc": "2.14.0",
          "lz4": "1.10.0", "nlohmann_json": "3.11.3", "onetbb": "2023.1.0", "re2": "20230301",
          "simdjson": "3.2.0", "utf8proc": "2.8.0", "xxhash": "0.8.2", "xz_utils": "5.8.3", "zlib": "1.3.2",
          "zstd": "1.5.7"}


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def profile(cmake, compiler):
    """Returns the text of the profile: the compiler and the tools of this machine."""
    name = "clang" if "clang" in output(compiler, "--version").splitlines()[0] else "gcc"
    major = output(compiler, "-dumpversion").split(".")[0].strip()
    c_compiler = compiler.replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
    version = re.search(r"version (\S+)", output(cmake, "--version"))[1]
    return f"""\
[settings]
os=Linux
arch=x86_64
build_type=Release
compiler={name}
compiler.version={major}
compiler.libcxx=libstdc++11
compiler.cppstd=20
[platform_tool_requires]
cmake/{version}
pkgconf/2.2.0
[conf]
tools.cmake.cmaketoolchain:generator=Ninja
tools.cmake.cmaketoolchain:extra_variables={{"CMAKE_UNITY_BUILD": "ON"}}
tools.build:compiler_executables={{"c": "{c_compiler}", "cpp": "{compiler}"}}
"""


def use_pkg_config(compiler, folder):
    """Builds and runs a program with the modules that Conan's generator PkgConfigDeps wrote to the folder."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}

    def pkg_config(*arguments):
        return subprocess.run(["pkg-config", *arguments, "creek-tasking"], env=environment, stdout=subprocess.PIPE,
                              text=True, check=True).stdout.split()

    program = folder / "use_pkg_config"
    libraries = pkg_config("--variable=libdir")[0]
    subprocess.run([compiler, "-std=c++20", HERE / "components/tasking.cpp", "-o", program,
                    *pkg_config("--cflags", "--libs"), f"-Wl,-rpath,{libraries}"], check=True)
    subprocess.run([program], check=True)


def main():
    root, cmake, compiler, work, *options = sys.argv[1:]
    work = Path(work)
    wheels = next((Path(folder) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep)
                   if (Path(folder) / "bin/conan").exists()), None)
    if not wheels:
        print("skipped: Conan is not installed; `./bootstrap --all test` installs it below build/conan")
        return SKIPPED
    shutil.rmtree(work, ignore_errors=True)
    (work / "home/profiles").mkdir(parents=True)
    (work / "home/profiles/default").write_text(profile(cmake, compiler))
    environment = {**os.environ, "CONAN_HOME": str(work / "home"), "PATH": f"{Path(cmake).parent}:{os.environ['PATH']}"}

    def conan(*arguments):
        subprocess.run([sys.executable, "-B", str(wheels / "bin/conan"), *arguments], env=environment, check=True)

    chosen = [word for option in options for word in ("-o", f"creek/*:{option}")]
    try:
        conan("remote", "disable", "*")
        for name, version in CENTER.items():
            conan("export", str(HERE / "conan"), "--name", name, "--version", version)
        conan("create", f"{root}/packaging/conan", "--build=missing", "-c",
              f"tools.cmake.cmake_layout:test_folder={work / 'test_package'}", *chosen)
        conan("install", "--requires=creek/[*]", "--generator=PkgConfigDeps", f"--output-folder={work / 'modules'}",
              *chosen)
        use_pkg_config(compiler, work / "modules")
    except subprocess.CalledProcessError as failure:
        print(f"{' '.join(map(str, failure.cmd))}: exit status {failure.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
