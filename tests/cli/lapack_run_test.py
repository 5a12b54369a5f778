#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek lapack-run`: the program's calls arrive, under each of the names; a line says so if none do."""
import os
import subprocess
import sys
import unittest

from tool_case import TOOL, FolderCase

# Solves 2 x = 4 by a routine and an integer of so many bits, from a program that is not linked to any.
SOLVE = """
import ctypes, sys
name, bits = sys.argv[1], int(sys.argv[2])
whole = {32: ctypes.c_int32, 64: ctypes.c_int64}[bits]
one, pivot, info = whole(1), whole(-1), whole(-1)
a, b = ctypes.c_double(2), ctypes.c_double(4)
all = [one, one, a, one, pivot, b, one, info]
getattr(ctypes.CDLL(None), name)(*map(ctypes.byref, all))
assert (info.value, pivot.value, b.value) == (0, 1, 2), (info, pivot, b)
sys.exit(7)
"""
# Solves 2 x = 4 for each of 400 unknowns, which is worth workers.
SOLVE_MANY = """
import ctypes
n = 400
a = (ctypes.c_double * (n * n))(*(2.0 * (i % (n + 1) == 0) for i in range(n * n)))
b, pivots = (ctypes.c_double * n)(*[4.0] * n), (ctypes.c_int32 * n)()
size, one, info = ctypes.c_int32(n), ctypes.c_int32(1), ctypes.c_int32(-1)
whole = ctypes.byref
ctypes.CDLL(None).dgesv_(whole(size), whole(one), a, whole(size), pivots, b, whole(size), whole(info))
assert info.value == 0 and set(b) == {2.0}
"""
BAD = SOLVE.replace("all = [one,", "all = [whole(-1),").replace("assert", "#")


def run(*words, **environment):
    return subprocess.run([TOOL, "lapack-run", *words], capture_output=True, check=False,
                          env=dict(os.environ, **environment))


@unittest.skipIf(os.environ.get("CREEK_TEST_SANITIZE"), "a preloaded sanitizer would watch the interpreter")
class LapackRun(FolderCase):
    def test_calls_arrive_under_each_name(self):
        for name, bits in (("dgesv_", 32), ("scipy_dgesv_", 32), ("dgesv_64_", 64), ("scipy_dgesv_64_", 64)):
            with self.subTest(name):
                done = run(sys.executable, "-c", SOLVE, name, str(bits))
                self.assertEqual((done.returncode, done.stderr), (7, b""))
        done = run("--ilp64", sys.executable, "-c", SOLVE, "dgesv_", "64")
        self.assertEqual((done.returncode, done.stderr), (7, b""))

    def test_reports_the_calls(self):
        done = run("--report", sys.executable, "-c", SOLVE, "dgesv_64_", "64")
        first, titles, routine = done.stderr.decode().splitlines()
        self.assertIn("1 calls of 1 routines", first)
        self.assertEqual(titles.split()[:2], ["routine", "calls"])
        self.assertEqual(routine.split()[:3], ["dgesv_64_", "1", "0"])

    def test_says_so_if_none_arrives(self):
        self.fails(run("true"), 0, "no call of true", "has no library")
        # Another program in its place, which does not have the library.
        self.fails(run("env", "-i", sys.executable, "-c", "pass"), 0, "env", "ended without telling of its calls")

    def test_claims_nothing_of_a_process_that_has_not_told(self):
        done = run(sys.executable, "-c", SOLVE.replace("sys.exit(7)", "import os; os._exit(6)"), "dgesv_", "32")
        self.fails(done, 6, "ended without telling of its calls")

    def test_passes_signals_on_and_leaves_no_files(self):
        script = self.write("script", b"trap 'exit 9' TERM; echo ready; while :; do :; done")
        environment = dict(os.environ, TMPDIR=self.folder.name)
        with subprocess.Popen([TOOL, "lapack-run", "bash", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment) as tool:
            self.assertEqual(tool.stdout.readline(), b"ready\n")
            tool.terminate()
            try:
                tool.communicate(timeout=60)
            finally:
                tool.kill()
            self.assertEqual(tool.returncode, 9)
        run("sh", "-c", "(read line; true) & exit 0", TMPDIR=self.folder.name)
        self.assertEqual(os.listdir(self.folder.name), ["script"])

    def test_a_program_may_have_any_name(self):
        self.write("command", b"#!/bin/sh\necho $1\n")
        os.chmod(self.path("command"), 0o755)
        done = run("command", "-v", PATH=self.folder.name + ":" + os.environ["PATH"])
        self.assertEqual(done.stdout, b"-v\n")

    def test_the_exit_code_is_the_program_s(self):
        self.assertEqual(run("sh", "-c", "exit 5").returncode, 5)
        self.assertEqual(run("sh", "-c", "kill -TERM $$").returncode, 128 + 15)

    def test_arguments_that_look_like_options_are_the_program_s(self):
        done = run("echo", "--report", "-h", "--", "-x")
        self.assertEqual(done.stdout, b"--report -h -- -x\n")

    def test_refuses_what_it_cannot_run(self):
        self.fails(run(), 2, "command is required")
        self.fails(run("--unknown", "true"), 2, "--unknown")
        self.fails(run(self.path("none")), 1, "No such file or directory")

    def test_keeps_what_is_preloaded(self):
        done = run("sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libm.so.6")
        self.assertRegex(done.stdout, rb"libcreek_lapack.*:libm.so.6")


@unittest.skipIf(os.environ.get("CREEK_TEST_SANITIZE"), "a preloaded sanitizer would watch the interpreter")
class Verbose(FolderCase):
    def library(self):
        done = run("sh", "-c", "echo $LD_PRELOAD")
        return done.stdout.decode().strip().split(":")[0]

    def test_prints_to_standard_error(self):
        library = self.library()
        done = subprocess.run([sys.executable, "-c", SOLVE, "dgesv_", "32"], capture_output=True, check=False,
                              env=dict(os.environ, LD_PRELOAD=library, CREEK_LAPACK_VERBOSE="1"))
        self.assertIn(b"1 calls of 1 routines", done.stderr)

    def test_children_of_fork_report_their_own_calls(self):
        library, log = self.library(), self.path("log")
        program = SOLVE.replace("sys.exit(7)", "import os\nif os.fork(): os.wait()\n")
        subprocess.run([sys.executable, "-c", program, "dgesv_", "32"], check=True,
                       env=dict(os.environ, LD_PRELOAD=library, CREEK_LAPACK_VERBOSE=log))
        with open(log, encoding="utf-8") as lines:
            text = lines.read()
        self.assertEqual(text.count("1 calls of 1 routines"), 1, text)
        self.assertEqual(text.count("no calls"), 1, text)

    def solve_many(self, **environment):
        """Returns what the library writes, and the columns about dgesv."""
        done = subprocess.run([sys.executable, "-c", SOLVE_MANY], capture_output=True, check=True, text=True,
                              env=dict(os.environ, LD_PRELOAD=self.library(), CREEK_LAPACK_VERBOSE="1",
                                       CREEK_WORKERS="2", **environment))
        lines = [line.split() for line in done.stderr.splitlines() if "dgesv_" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        return done.stderr, lines[0]

    def test_names_the_energy_of_a_call_and_its_origin(self):
        said, columns = self.solve_many(CREEK_METER="model")
        self.assertRegex(said, "J/call\n")
        self.assertRegex(said, "energy: calls on workers, model.* by model")
        self.assertGreater(float(columns[5]), 0)
        said, columns = self.solve_many(CREEK_METER="none")
        self.assertNotIn("J/call", said)
        self.assertEqual(len(columns), 5)
        self.assertIn("no energy: ", said)

    def test_workers_take_a_policy(self):
        said, columns = self.solve_many(CREEK_POWER="race_to_idle")
        self.assertEqual(columns[2], "1", said)
        self.assertNotIn("calling thread", said)

    def test_a_policy_that_cannot_be_taken_is_named(self):
        for policy, reason in (("fast", "unknown power policy 'fast'"), ("power_cap", "watts")):
            said, columns = self.solve_many(CREEK_POWER=policy)
            self.assertEqual(columns[2], "0", said)
            self.assertRegex(said, f"lapack works in the calling thread: .*{reason}")

    def test_a_bad_argument_is_reported(self):
        done = run(sys.executable, "-c", BAD, "scipy_dgesv_64_", "64")
        self.assertEqual(done.stderr, b" ** On entry to DGESV parameter number  1 had an illegal value\n")


if __name__ == "__main__":
    unittest.main()
