# SPDX-License-Identifier: Apache-2.0
"""Runs a copy of ./bootstrap where dpkg-query, apt-get, sudo, cmake and ctest are stand-ins that
record how they were called."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(sys.argv.pop()) if len(sys.argv) > 1 else Path.cwd()

PACKAGES = """
[required]
alpha++   # a compiler
beta-dev  # a library

[optional]
gamma-dev # a peer
delta     # a tool
"""

WHEELS = """
# a comment
one==1.0
two==2.1
"""

SOURCE = """
# a comment
some-1.0 pool/some.tar.gz 1234
"""

# Each stand-in appends its command line to $CALLS. `world` holds their answers.
STAND_INS = {
    "dpkg-query": 'for name in $(cat $WORLD/installed); do echo "ii $name"; done\n',
    "sudo": '[ "$1" = -n ] && exit 0\nexec "$@"\n',
    "cmake": """
case "$*" in
  --preset*) mkdir -p build/release/bin && touch build/release/build.ninja ;;
  *--build*) [ ! -e $WORLD/does-not-compile ] || exit 1
             for name in creek creek_first creek_demo; do cp $WORLD/creek build/release/bin/$name; done ;;
esac
""",
    "python3": """
[ "$2" = pip ] || exit 0
action=$3
shift $(($# - 2))
if [ "$action" = install ]; then
  for last in "$@"; do case $last in tests/t*) into=oracle ;; tests/c*) into=conan ;; tests/l*) into=scipy ;; bench/*) into=hyper ;; esac; done
  [ ! -e $WORLD/no-network ] && exec mkdir -p build/$into.new; exit 1
fi
! grep -Fqx -e "$2" $WORLD/not-to-be-had || exit 1
mkdir -p "$1" && touch "$1/$2.whl"
""",
    "gfortran": "",
    "apt-helper": """
for last in "$@"; do from=$into into=$sum sum=$last; done
! grep -Fqx -e "$from" $WORLD/not-to-be-had || exit 100
[ "$sum" = SHA256:1234 ] && tar -cf "$into" -C $WORLD some-1.0
""",
    "ctest": "[ ! -e $WORLD/test-fails ]\n",
    "apt-get": """
case "$*" in
  *update*) touch $WORLD/updated; exit 0 ;;
  indextargets*) printf "%s\\n" one/ one/ two/; exit 0 ;;
esac
[ -e $WORLD/updated ] || [ ! -e $WORLD/lists-are-stale ] || exit 100
for last in "$@"; do ! grep -Fqx -e "$last" $WORLD/not-to-be-had || exit 100; done
seen=no
for name in "$@"; do
  [ $seen = yes ] && echo "$name" >> $WORLD/installed
  [ "$name" != --no-install-recommends ] || seen=yes
done
""",
}


class bootstrap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "a checkout"
        self.world = Path(folder.name) / "world"
        programs = Path(folder.name) / "bin"
        for path in (self.root / "cmake", self.root / "bench/peers", self.root / "tests/lapack",
                     self.root / "tests/tpch", self.root / "tests/consumer", self.root / "bench/tpch", self.world / "some-1.0", programs):
            path.mkdir(parents=True)
        shutil.copy(SOURCES / "bootstrap", self.root)
        (self.root / "cmake/packages.txt").write_text(PACKAGES)
        (self.root / "bench/peers/wheels.txt").write_text(WHEELS)
        (self.root / "tests/lapack/netlib.txt").write_text(SOURCE)
        (self.root / "tests/tpch/wheels.txt").write_text(WHEELS)
        (self.root / "tests/consumer/wheels.txt").write_text(WHEELS)
        (self.root / "tests/lapack/wheels.txt").write_text(WHEELS)
        (self.root / "bench/tpch/wheels.txt").write_text(WHEELS)
        self.calls = self.world / "calls"
        for name in ("installed", "not-to-be-had", "calls"):
            (self.world / name).touch()
        for name, body in STAND_INS.items():
            self.program(programs / name, f'printf "%s\\n" "{name} $*" >> $CALLS\n{body}')
        self.program(self.world / "creek", 'printf "%s\\n" "creek $*" >> $CALLS\n')
        self.environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(self.calls),
            "WORLD": str(self.world), "CREEK_JOBS": "3"}

    @staticmethod
    def program(path, body):
        path.write_text(f"#!/bin/sh\n{body}")
        path.chmod(0o755)

    def set(self, name, *lines):
        (self.world / name).write_text("".join(f"{line}\n" for line in lines))

    def all_installed(self):
        self.set("installed", "alpha++", "beta-dev", "gamma-dev", "delta")

    def run_it(self, *arguments, status=0):
        """Returns standard output and error of a run that has to end with that status."""
        self.calls.write_text("")
        result = subprocess.run([self.root / "bootstrap", *arguments], env=self.environment, cwd="/",
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def called(self, program):
        return [line for line in self.calls.read_text().splitlines()
                if line.startswith(f"{program} ")]

    def test_installs_what_is_missing_and_nothing_else(self):
        self.set("installed", "beta-dev", "delta", "alpha")
        self.run_it("packages")
        installs = self.called("apt-get")
        self.assertEqual(len(installs), 2, installs)
        self.assertTrue(installs[0].endswith("--no-install-recommends alpha++"), installs)
        self.assertTrue(installs[1].endswith("--no-install-recommends gamma-dev"), installs)
        self.run_it("packages")
        self.assertEqual(self.called("apt-get"), [])

    def test_updates_lists_once_and_only_if_they_do_not_suffice(self):
        self.set("lists-are-stale")
        self.run_it("packages")
        updates = [call for call in self.called("apt-get") if call.endswith(" update")]
        self.assertEqual(len(updates), 1)

    def test_goes_on_without_an_optional_package_and_asks_for_it_once(self):
        self.set("not-to-be-had", "delta")
        self.assertIn("optional package delta: not to be had", self.run_it("packages"))
        self.assertIn("gamma-dev", (self.world / "installed").read_text())
        self.run_it("packages")
        self.assertEqual(self.called("apt-get"), [])

    def test_stops_without_a_required_package(self):
        self.set("not-to-be-had", "beta-dev")
        self.assertIn("bootstrap: packages: apt-get could not install", self.run_it("build", status=1))
        self.assertEqual(self.called("cmake"), [])

    def test_no_install_names_what_is_missing(self):
        output = self.run_it("--no-install", "build", status=1)
        self.assertIn("bootstrap: packages: missing: alpha++ beta-dev", output)
        self.assertEqual(self.called("apt-get"), [])

    def test_build_makes_the_tool_with_the_jobs_asked_for(self):
        self.all_installed()
        self.run_it("build")
        self.assertEqual(self.called("cmake"), [
            "cmake --preset release", "cmake --build build/release -j 3 --target bin/creek"])
        self.run_it("build", "all")
        self.assertEqual(self.called("cmake"), ["cmake --build build/release -j 3 --target all"])

    def test_demo_counts_words_before_it_builds_the_rest(self):
        self.all_installed()
        self.program(self.world / "creek", 'printf "%s\\n" "$(basename $0) $*" >> $CALLS\n')
        output = self.run_it("demo")
        calls = [line for line in self.calls.read_text().splitlines()
                 if line.startswith(("creek", "cmake --build"))]
        self.assertEqual(calls, [
            "cmake --build build/release -j 3 --target creek_first",
            "creek_first wordcount --top 10 /usr/include /usr/share/doc",
            "creek_first wordcount --top 10 --workers 1 /usr/include /usr/share/doc",
            "cmake --build build/release -j 3 --target creek_demo demo_peers",
            "creek_demo bench tasking --quick --workload fib --peers creek,serial,tbb,libgomp "
            "--peer-dir build/release/demo",
            "creek_demo bench schedulers --quick --peer-dir build/release/demo",
            "creek_demo wordcount --backend scc --top 3 /usr/share/common-licenses"])
        self.assertIn("./bootstrap build ", output[output.index("what next"):])

    def test_bench_of_linear_algebra_fetches_each_wheel_once(self):
        self.all_installed()
        self.set("not-to-be-had", "two==2.1")
        self.assertIn("wheel two==2.1 could not be had", self.run_it("bench", "linalg", "--quick"))
        self.assertEqual(self.called("creek"), ["creek bench linalg --quick"])
        self.assertTrue((self.root / "build/peers/wheels/one==1.0").is_dir())
        self.set("not-to-be-had")
        self.run_it("bench", "linalg")
        downloads = [call for call in self.called("python3") if "pip download" in call]
        self.assertEqual(len(downloads), 1)
        self.assertTrue(downloads[0].endswith(" two==2.1"), downloads)
        self.run_it("bench")
        self.assertEqual(self.called("python3"), [])
        self.assertEqual(self.called("creek"), ["creek bench tasking"])

    def test_bench_of_lapack_builds_its_program_alone(self):
        self.all_installed()
        self.run_it("bench", "lapack", "--quick")
        builds = [call for call in self.called("cmake") if "--build" in call]
        self.assertEqual(builds, ["cmake --build build/release -j 3 --target bin/creek bench_lapack"])
        self.assertEqual(self.called("python3"), [])
        self.assertEqual(self.called("creek"), ["creek bench lapack --quick"])

    def test_bench_takes_folders_of_peers_from_where_it_was_called(self):
        self.all_installed()
        folder = self.world / "a peer"
        folder.mkdir()
        from_here = os.path.relpath(folder, "/")  # run_it calls from /
        self.run_it("bench", "--peer", f"lace={from_here}", "tasking", "--quick", f"--peer=ips4o={folder}")
        self.assertEqual(self.called("cmake")[0], f"cmake --preset release -DCREEK_PEER_LACE={folder} "
                         f"-DCREEK_PEER_IPS4O={folder}")
        self.assertEqual(self.called("creek"), ["creek bench tasking --quick"])
        self.run_it("bench", "--peer", "lace=")
        self.assertEqual(self.called("cmake")[0], "cmake --preset release -DCREEK_PEER_LACE=")
        self.assertEqual(self.called("creek"), ["creek bench tasking"])
        for wrong in (["--peer", "lace=nowhere"], ["--peer", "spider=/"], ["--peer=lace"], ["--peer"]):
            self.assertTrue(self.run_it("bench", *wrong, status=2).startswith("bootstrap: --peer: "))

    def test_bench_of_queries_installs_the_peers_and_runs_beside_them(self):
        self.all_installed()
        self.run_it("bench", "tpch", "--rounds", "2")
        calls = self.called("python3")
        self.assertTrue(calls[0].endswith("--target build/oracle.new -r tests/tpch/wheels.txt"), calls)
        self.assertTrue(calls[1].endswith("--target build/hyper.new -r bench/tpch/wheels.txt"), calls)
        self.assertEqual(calls[2:], ["python3 -B bench/tpch/compare.py --tool build/release/bin/creek --rounds 2"])
        self.assertEqual(self.called("creek"), [])
        self.run_it("bench", "tpch")
        self.assertEqual(len(self.called("python3")), 1)

    def test_test_installs_wheels_once_and_anew_where_the_list_has_changed(self):
        def installs():
            return [call for call in self.called("python3") if "pip install" in call]

        self.all_installed()
        self.set("no-network")
        self.assertIn("wheels of tests/tpch/wheels.txt could not be had", self.run_it("--all", "test"))
        self.assertEqual(len(self.called("ctest")), 1)
        (self.world / "no-network").unlink()
        self.run_it("--no-install", "--all", "test")
        self.assertEqual(installs(), [])
        self.run_it("test")
        self.assertEqual(installs(), [])
        self.run_it("--all", "test")
        calls = installs()
        self.assertEqual(len(calls), 3)
        self.assertTrue(calls[0].endswith("--target build/oracle.new -r tests/tpch/wheels.txt"), calls)
        self.assertTrue(calls[1].endswith("--target build/conan.new -r tests/consumer/wheels.txt"), calls)
        self.assertTrue(calls[2].endswith("--target build/scipy.new -r tests/lapack/wheels.txt"), calls)
        self.assertTrue((self.root / "build/oracle").is_dir())
        self.assertTrue((self.root / "build/conan").is_dir())
        self.run_it("--all", "test")
        self.assertEqual(installs(), [])
        (self.root / "tests/tpch/wheels.txt").write_text("three==3.0\n")
        self.run_it("--all", "test")
        self.assertEqual(len(installs()), 1)

    def test_test_fetches_sources_once_from_the_first_mirror_that_has_them(self):
        self.all_installed()
        self.set("not-to-be-had", "one/pool/some.tar.gz", "two/pool/some.tar.gz")
        self.assertIn("some-1.0 could not be had", self.run_it("--all", "test"))
        self.assertEqual(len(self.called("ctest")), 1)
        self.set("not-to-be-had", "one/pool/some.tar.gz")
        self.run_it("--all", "test")
        self.assertEqual(len(self.called("apt-helper")), 2)
        self.assertEqual([path.name for path in (self.root / "build/netlib").iterdir()], ["some-1.0"])
        self.run_it("--all", "test")
        self.assertEqual(self.called("apt-helper"), [])

    def test_test_passes_arguments_on_and_reports_failure(self):
        self.all_installed()
        self.run_it("test", "-R", "core")
        self.assertTrue(self.called("ctest")[0].endswith("-R core"))
        self.set("test-fails")
        self.assertIn("bootstrap: test: ", self.run_it("test", status=1))

    def test_test_configures_anew_where_the_level_or_the_warnings_changed(self):
        def configured():
            return [call for call in self.called("cmake") if "--preset" in call]

        self.all_installed()
        cache = self.root / "build/release/CMakeCache.txt"
        self.run_it("test")
        self.assertEqual(configured(), ["cmake --preset release -DCREEK_TEST_LEVEL=gate"])
        cache.write_text("CREEK_TEST_LEVEL:STRING=gate\nCREEK_WERROR:BOOL=OFF\n")
        self.run_it("test")
        self.assertEqual(configured(), [])
        self.run_it("--strict", "--all", "test")
        self.assertEqual(configured(),
                         ["cmake --preset release -DCREEK_WERROR=ON -DCREEK_TEST_LEVEL=all"])
        cache.write_text("CREEK_TEST_LEVEL:STRING=all\nCREEK_WERROR:BOOL=ON\n")
        self.run_it("build")  # uses the build as it is
        self.assertEqual(configured(), [])

    def test_keep_going_tests_what_could_be_built_and_still_fails(self):
        self.all_installed()
        self.set("does-not-compile")
        self.run_it("test", status=1)
        self.assertEqual(self.called("ctest"), [])
        self.run_it("--keep-going", "test", status=1)
        self.assertEqual(len(self.called("ctest")), 1)

    def test_dry_run_changes_nothing(self):
        output = self.run_it("--dry-run", "demo")
        self.assertIn("apt-get", output)
        self.assertIn("+ cmake --preset release", output)
        for program in ("apt-get", "cmake", "ctest", "creek"):
            self.assertEqual(self.called(program), [])
        self.assertFalse((self.root / "build").exists())

    def test_clean_removes_the_build_only(self):
        self.all_installed()
        self.run_it("build")
        self.run_it("clean")
        self.assertFalse((self.root / "build").exists())
        self.assertTrue((self.root / "cmake").exists())

    def test_bad_usage_is_one_line_and_status_2(self):
        for arguments in (["frob"], ["--frob"], ["clean", "all"]):
            output = self.run_it(*arguments, status=2)
            self.assertEqual(output.count("\n"), 1, output)
            self.assertTrue(output.startswith("bootstrap: "), output)
        self.environment["CREEK_JOBS"] = "many"
        self.assertIn("bootstrap: CREEK_JOBS: ", self.run_it("build", status=2))
        self.run_it(status=2)

    def test_help_names_every_command(self):
        output = self.run_it("--help")
        for command in ("build", "test", "demo", "bench", "packages", "clean"):
            self.assertIn(f"  {command} ", output)


if __name__ == "__main__":
    unittest.main()
