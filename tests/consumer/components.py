#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Components of creek, used by a project that does not need all of them.

    components.py installed CMAKE COMPILER PREFIX WORK COMPONENT...   each installed component, linked alone
    components.py alone CMAKE COMPILER SOURCE WORK BUILD OPTION...    CREEK_COMPONENTS=tasking, and what is missing
    components.py subproject CMAKE COMPILER SOURCE WORK               creek in a project that sets no build type, by
                                                                      add_subdirectory and by FetchContent
    components.py examples CMAKE COMPILER PREFIX WORK EXAMPLES        each folder of examples, built and run
    components.py packages CMAKE COMPILER BUILD WORK VERSION          what `cpack -G DEB` makes, unpacked and used;
                                                                      VERSION is that of the shared libraries. Exit
                                                                      status 77 if a program for it is missing

The first two hide the packages that the components in question do not need, so that asking for one fails.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import launch  # noqa: E402

# A stripped program with one fork_join, linked with a static creek::tasking.
MAX_BYTES = 300_000
MAX_OBJECTS = 8
# CMake packages and pkg-config modules that only components other than core and tasking need.
OTHERS_PACKAGES = ["nlohmann_json", "ZLIB", "LibLZMA", "BZip2", "TBB", "CLI11", "GTest", "benchmark", "Parquet"]
TASKING_MODULES = ["hwloc", "libhwy", "libhwy-contrib", "libxxhash"]
SKIPPED = 77
# Tools that `cpack -G DEB` calls.
PACKAGERS = ["dpkg-deb", "dpkg-shlibdeps", "file"]
# Files that each Debian package has to contain, below the prefix; lib* may have a folder for the architecture, and
# VERSION is that of the shared libraries.
PACKAGED = {
    "libcreekVERSION": ["lib*/libcreek_lapack.so.VERSION", "share/doc/creek/LICENSE"],
    "libcreek-dev": ["include/creek/core/version.hpp", "lib*/cmake/creek/creek-config.cmake", "lib*/pkgconfig/creek.pc"],
    "creek": ["bin/creek", "bin/rccerun", "bin/creek-rcce-cc", "share/man/man1/creek.1.gz",
              "share/man/man1/creek-wordcount.1.gz", "share/man/man1/creek-bench-tasking.1.gz", "share/man/man1/rccerun.1.gz",
              "share/man/man1/creek-rcce-cc.1.gz", "share/bash-completion/completions/creek",
              "share/zsh/vendor-completions/_creek", "share/fish/vendor_completions.d/creek.fish"],
    "creek-lapack": ["lib*/creek-lapack/libblas.so.3", "lib*/creek-lapack/liblapack.so.3"],
    "creek-doc": ["share/doc/creek/README.md", "share/doc/creek/docs/getting-started.md",
                  "share/doc/creek/docs/tasking.md", "share/doc/creek/examples/README.md",
                  "share/doc/creek/examples/fib/fib.cpp", "share/doc/creek/examples/fib/CMakeLists.txt"],
}


class failure(Exception):
    pass


class skip(Exception):
    pass


def run(*command, env=None, status=0):
    """Returns the output of a command that has to end with this status."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=env, check=False)
    if done.returncode != status:
        raise failure(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(truth, message):
    if not truth:
        raise failure(message)


class only_tasking:
    """Returns options and environment in which only the packages of core and tasking are found."""

    def __init__(self, work, modules):
        folder = work / "pkgconfig"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for module in modules:
            where = run("pkg-config", "--variable=pcfiledir", module).strip()
            (folder / f"{module}.pc").symlink_to(Path(where) / f"{module}.pc")
        self.env = {**os.environ, "PKG_CONFIG_LIBDIR": str(folder), "PKG_CONFIG_PATH": ""}
        self.options = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in OTHERS_PACKAGES]


def configure(cmake, compiler, source, build, options, **expected):
    shutil.rmtree(build, ignore_errors=True)
    return run(cmake, "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}",
               "-DCMAKE_BUILD_TYPE=Release", *options, **expected)


def stripped(program):
    """Returns the bytes of the program without symbols, and the shared objects that it loads."""
    copy = program.with_name(program.name + "_stripped")
    run("strip", "-o", copy, program)
    objects = [line.split()[0] for line in run("ldd", program).splitlines()]
    return copy.stat().st_size, objects


def check_small(program):
    size, objects = stripped(program)
    print(f"{program.name}: {size} bytes stripped, {len(objects)} shared objects: {' '.join(objects)}")
    expect(size <= MAX_BYTES, f"{program}: {size} bytes, more than {MAX_BYTES}")
    expect(len(objects) <= MAX_OBJECTS, f"{program}: {len(objects)} shared objects, more than {MAX_OBJECTS}")


def run_without(library, program, work):
    """Returns the output of the program on a machine without the library: an empty file replaces it."""
    folder = work / f"no_{library}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / library).write_text("")
    return run(program, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})


def check_without_hwloc(program, work):
    said = run_without("libhwloc.so.15", program, work)
    expect("topology: flat\n" in said and "install libhwloc15" in said, said)


def check_without_libdw(program, work):
    """The report of the coherence checker has source lines with libdw, and offsets in the program without it."""
    has_libdw = subprocess.call(["pkg-config", "--exists", "libdw"]) == 0
    said = run(program)
    expect("never written" in said and bool(re.search(r"scc\.cpp:\d+ read_unwritten", said)) == has_libdw, said)
    said = run_without("libdw.so.1", program, work)
    expect("never written" in said and "use_scc+0x" in said and "scc.cpp" not in said, said)


def installed(cmake, compiler, prefix, work, *components):
    work, project = Path(work), HERE / "components"
    found = f"-DCMAKE_PREFIX_PATH={prefix}"
    shared = any(Path(prefix).glob("lib*/**/libcreek_core.so"))
    # Builds tasking alone, although the packages of the others are hidden.
    hidden = only_tasking(work, ["libhwy", "libhwy-contrib"])
    build = work / "tasking"
    configure(cmake, compiler, project, build, [found, "-DCOMPONENTS=core;tasking", *hidden.options],
              env=hidden.env)
    run(cmake, "--build", build)
    said = run(build / "use_tasking")
    expect("has host\n" in said and "topology: hwloc\n3 cores\n" in said, said)
    check_without_hwloc(build / "use_tasking", work)
    if shared:
        at_start = [name for name in stripped(build / "use_tasking")[1] if "tbb" in name or "scc" in name]
        expect(not at_start, f"use_tasking loads {at_start} at its start")
        for backend in {"scc", "tbb"} & set(components):
            expect(f"has {backend}\n" in said, said)
            said_by_loader = run(build / "use_tasking",
                                 env={**os.environ, "CREEK_BACKEND": backend, "LD_DEBUG": "files"})
            expect(re.search(rf"file=libcreek_{backend}\.so.*dynamically loaded", said_by_loader), said_by_loader)
    else:
        check_small(build / "use_tasking")
        expect("backend 'scc' is not in this program: link the component creek::scc" in said, said)
        expect("has scc" not in said, said)
        # The packages really are hidden.
        said = configure(cmake, compiler, project, work / "hidden", [found, "-DCOMPONENTS=mapreduce",
                                                                     *hidden.options], env=hidden.env, status=1)
        expect("zstd" in said or "ZLIB" in said or "xxhash" in said, said)
    # Each component alone.
    build = work / "each"
    configure(cmake, compiler, project, build, [found, f"-DCOMPONENTS={';'.join(components)}"])
    run(cmake, "--build", build)
    for component in components:
        program = build / f"use_{component}"
        run(program)
        size, objects = stripped(program)
        print(f"{component}: {size} bytes stripped, {len(objects)} shared objects")
    if "scc" in components:
        check_without_libdw(build / "use_scc", work)


def alone(cmake, compiler, source, work, build, *options):
    work, build = Path(work), Path(build)
    hidden = only_tasking(work / "hidden", TASKING_MODULES)
    prefix = work / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    options = [*hidden.options, *options]
    configure(cmake, compiler, source, build, [*options, "-DCREEK_COMPONENTS=tasking"], env=hidden.env)
    run(cmake, "--build", build)
    run(cmake, "--install", build, "--prefix", prefix)
    libraries = sorted(file.stem for file in prefix.rglob("libcreek*.a"))
    expect(libraries == ["libcreek_core", "libcreek_tasking"], f"installed: {libraries}")
    expect(not (prefix / "include/creek/mapreduce").exists(), "headers of mapreduce were installed")
    configure(cmake, compiler, HERE / "project", work / "user", [f"-DCMAKE_PREFIX_PATH={prefix}"], env=hidden.env)
    # A component whose package is missing, and one that does not exist: each gives one error, which says what to do.
    for component, words in (("mapreduce", "zlib1g-dev"), ("sorting", "unknown component 'sorting'")):
        said = configure(cmake, compiler, source, work / "missing",
                         [*options, f"-DCREEK_COMPONENTS={component}"], env=hidden.env, status=1)
        expect(words in said and said.count("CMake Error") == 1, said)


def subproject(cmake, compiler, source, work):
    build = Path(work)
    options = [f"-DCREEK_SOURCE_DIR={source}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    for fetch in ("OFF", "ON"):
        said = configure(cmake, compiler, HERE / "project", build,
                         [*options, f"-DCREEK_FETCH={fetch}", "-DCMAKE_BUILD_TYPE="])
        expect(said.count("creek: no build type is set") == 1, said)
        commands = {Path(each["file"]).name: each["command"].split()
                    for each in json.loads((build / "compile_commands.json").read_text())}
        expect({"-O2", "-g"} <= set(commands["scheduler.cpp"]), f"creek is compiled by {commands['scheduler.cpp']}")
        expect("-O2" not in commands["main.cpp"], f"the parent's own source is compiled by {commands['main.cpp']}")
    expect("no build type" not in configure(cmake, compiler, HERE / "project", build, options), "a type is set")


def examples(cmake, compiler, prefix, work, folder):
    arguments = {name: [HERE / "project"] for name in ("word_count", "word_count_on_ranks")}
    modules = [module.parent for module in Path(prefix).rglob("creek_mpi_mpich.so")]
    projects = [file.parent for file in sorted(Path(folder).glob("*/CMakeLists.txt"))]
    expect(len(projects) >= 4, f"only {len(projects)} examples in {folder}")
    for project in projects:
        build = Path(work) / project.name
        configure(cmake, compiler, project, build, [f"-DCMAKE_PREFIX_PATH={prefix}"])
        run(cmake, "--build", build)
        started = [build / project.name, *arguments.get(project.name, [])]
        alone = run(*started)
        print(alone, end="")
        if project.name.endswith("_on_ranks") and modules and shutil.which("mpirun.mpich"):
            done = launch.run(["mpirun.mpich", "-n", "2", "-genv", "CREEK_MPI_MODULES", modules[0], *started])
            print(done.stdout, end="")
            expect(done.returncode == 0, f"{project.name} on two ranks: {done.stdout}{done.stderr}")
            expect("word" not in project.name or done.stdout == alone, f"on two ranks:\n{done.stdout}alone:\n{alone}")


def packaged_files(deb):
    """Returns the files and links of a package, with absolute paths."""
    members = (line.split(maxsplit=5)[5] for line in run("dpkg-deb", "-c", deb).splitlines()
               if not line.startswith("d"))
    return {member.split(" -> ")[0].removeprefix(".") for member in members}


def check_contents(files, expected, prefix):
    """Expects every listed file in its package, and no file in two packages."""
    owners = {}
    for package, names in files.items():
        for name in names:
            expect(name not in owners, f"{name} is in {package} and in {owners.get(name)}")
            owners[name] = package
        patterns = [re.escape(f"{prefix}/{wanted}").replace(r"lib\*", "lib(/[^/]+-linux-[^/]+)?")
                    for wanted in [*expected[package], f"share/doc/{package}/copyright"]]
        for pattern in patterns:
            expect(any(re.fullmatch(pattern, name) for name in names),
                   f"{package} has no {pattern}:\n" + "\n".join(sorted(names)))


def packages(cmake, compiler, build, work, version):
    missing = [program for program in PACKAGERS if shutil.which(program) is None]
    if missing:
        raise skip(f"no Debian packages without {', '.join(missing)}")
    expected = {name.replace("VERSION", version): [file.replace("VERSION", version) for file in wanted]
                for name, wanted in PACKAGED.items()}
    # Only a build that found an MPI has this package.
    modules = sorted(module.name for module in (Path(build) / "bin").glob("creek_mpi_*.so"))
    if modules:
        expected["libcreek-mpi"] = [f"lib*/creek/{module}" for module in modules]
    drop_ins = sorted(Path(build).rglob("libcreek_scalapack-*.so"))
    if drop_ins:
        expected["libcreek-scalapack"] = [f"lib*/{drop_in.name}" for drop_in in drop_ins]
    work = Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run(Path(cmake).with_name("cpack"), "--config", Path(build) / "CPackConfig.cmake", "-G", "DEB", "-B", work)
    files = {}
    for deb in work.glob("*.deb"):
        files[run("dpkg-deb", "-f", deb, "Package").strip()] = packaged_files(deb)
        run("dpkg-deb", "-x", deb, work / "root")
    expect(set(expected) == set(files), f"packages: {sorted(files)}")
    tool = next(name for name in files["creek"] if name.endswith("/bin/creek"))
    check_contents(files, expected, tool.removesuffix("/bin/creek"))
    for package in expected:
        for name in files[package]:
            file = work / "root" / name.removeprefix("/")
            expect(file.is_symlink() or file.stat().st_size > 0, f"{package}: {name} is empty")
    where = next((work / "root").rglob("creek-config.cmake")).parent
    user = work / "user"
    configure(cmake, compiler, HERE / "components", user, [f"-Dcreek_DIR={where}", "-DCOMPONENTS=tasking;scc"])
    run(cmake, "--build", user)
    run(user / "use_scc")
    run(next((work / "root").rglob("bin/creek")), "info")


def main():
    actions = {"installed": installed, "alone": alone, "subproject": subproject, "examples": examples,
               "packages": packages}
    try:
        actions[sys.argv[1]](*sys.argv[2:])
    except failure as what:
        print(what, file=sys.stderr)
        return 1
    except skip as why:
        print(f"skipped: {why}")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
