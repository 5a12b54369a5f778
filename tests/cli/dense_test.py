#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek lu`, `chol`, `qr` and `solve` of generated matrices: reports, forms, traces."""
import itertools
import json
import os
import re
import unittest

from dense_cases import COMMANDS, Case, npy, read_npy, run


class Generated(Case):
    def test_every_command_and_type_passes_its_check(self):
        for command in COMMANDS:
            for type in "sdcz":
                found = self.report(command, "-n", "130", "--type", type, "--check")
                self.assertEqual((found["command"], found["type"]), (command, type))
                self.assertEqual((found["info"], found["failure"]), (0, None))
                self.assertTrue(found["check"]["passed"])
                for residual in found["check"]["residuals"]:
                    self.assertTrue(residual["passed"])
                    self.assertLessEqual(residual["value"], residual["threshold"])

    def test_json_has_these_members(self):
        common = ["schema_version", "version", "command", "method", "rows", "cols", "type", "matrix",
                  "form", "block", "workers", "backend", "instructions", "blas", "seconds", "flops",
                  "gflops", "gemm_gflops", "share_of_gemm", "tasks", "activity", "info", "failure",
                  "check", "output"]
        for command in COMMANDS:
            found = self.report(command, "-n", "60", "--workers", "2", "--runs", "4")
            more = ["rhs", "right_hand_sides", "refine", "rcond"] if command == "solve" else []
            more += ["pivoting"] if command in ("lu", "solve") else []
            self.assertEqual(sorted(found), sorted(common + more))
            self.assertEqual((found["schema_version"], found["rows"], found["cols"]), (1, 60, 60))
            self.assertEqual((found["workers"], found["backend"]), (2, "host"))
            self.assertEqual(found["matrix"]["seed"], 1)
            self.assertIsNone(found["block"])  # chosen by the size
            self.assertEqual(self.report(command, "-n", "60", "--block", "9")["block"], 9)
            self.assertEqual(found["gemm_gflops"]["n"], 60)
            self.assertGreater(found["share_of_gemm"], 0)
            self.assertEqual(found["check"] is not None, command == "solve")

    def test_runs_give_median_and_spread(self):
        for count in (1, 4, 5):
            found = self.report("lu", "-n", "50", "--runs", str(count))
            time = found["seconds"]
            runs = sorted(time["runs"])
            self.assertEqual(len(runs), count)
            self.assertEqual((time["min"], time["max"]), (runs[0], runs[-1]))
            middle = (runs[(count - 1) // 2] + runs[count // 2]) / 2
            self.assertAlmostEqual(time["median"], middle, delta=1e-12 * middle)
            self.assertAlmostEqual(found["gflops"]["median"] * time["median"] * 1e9,
                                   found["flops"], delta=found["flops"] * 1e-9)
            share = found["gflops"]["median"] / found["gemm_gflops"]["median"]
            self.assertAlmostEqual(found["share_of_gemm"], share)

    def test_operations_are_counted_as_lapack_does(self):
        # LAPACK Working Note 41: 2/3 n^3 - n^2/2 + 5/6 n; 1/3 n^3 + n^2/2 + n/6; 4/3 n^3 +
        # 2 n^2 + 14/3 n; for complex numbers a product counts as 6 and a sum as 2.
        for command, flops in (("lu", 661750), ("chol", 338350), ("qr", 1353800),
                               ("solve", 661750 + 100 * 199)):
            self.assertAlmostEqual(self.report(command, "-n", "100")["flops"], flops, 3)
        found = self.report("lu", "-n", "100", "--type", "z")
        self.assertAlmostEqual(found["flops"], 6 * 333400 + 2 * 328350, 3)

    def test_text_for_people(self):
        text = self.succeeds("solve", "-n", "40", "--rhs", "3", "--runs", "2", "--workers", "2",
                             "--block", "8")
        for part in ("40 x 40 double (d)", "seed 1", "rhs        3:", "2 (host), ", "block 8",
                     "median of 2 runs", " GFLOP/s (", "of gemm's", ": pass "):
            self.assertIn(part, text)
        self.assertNotIn("residual", self.succeeds("lu", "-n", "40"))
        self.assertEqual(self.succeeds("qr", "-n", "40", "--check").count(": pass "), 2)
        self.assertNotIn("residual", self.succeeds("solve", "-n", "40", "--no-check"))

    def test_solutions_are_refined(self):
        for method, type in itertools.product(("lu", "chol"), "sdcz"):
            solve = ("solve", "-n", "120", "--rhs", "2", "--method", method, "--type", type)
            plain = self.report(*solve)
            self.assertIsNone(plain["refine"])
            for precision in ("fixed", "mixed") if type in "dz" else ("fixed",):
                found = self.report(*solve, "--refine", precision)
                self.assertTrue(found["check"]["passed"])
                refined = found["refine"]
                self.assertEqual((refined["precision"], refined["fell_back"]), (precision, None))
                self.assertIn(refined["corrections"], range(0, 6))
                self.assertAlmostEqual(found["rcond"] / plain["rcond"], 1, 2)
        text = self.succeeds("solve", "-n", "50", "--refine", "mixed", "--runs", "2")
        self.assertRegex(text, r"\nrefine +mixed: \d correction")
        self.assertRegex(text, r"\nrcond +\d\S*, estimate")

    def test_activity_and_trace(self):
        for command in COMMANDS:
            file = self.path("trace.json")
            found = self.report(command, "-n", "200", "--block", "48", "--workers", "2",
                                "--runs", "2", "--trace", file)
            self.assertEqual(found["tasks"], 15)  # 5 panels, 10 updates
            self.assertEqual(len(found["activity"]), 3)
            self.assertAlmostEqual(sum(found["activity"]), 1)
            with open(file) as trace:
                events = json.load(trace)["traceEvents"]
            tasks = [event for event in events if event["ph"] == "B"]
            names = [event["name"] for event in tasks]
            self.assertEqual((names.count("panel"), names.count("update")), (5, 10))
            tracks = {event["args"]["name"] for event in events if event.get("name") == "thread_name"}
            self.assertEqual(tracks, {"worker 0", "worker 1"})
            if command == "qr":
                continue
            found = self.report(command, "-n", "100", "--block", "25", "--form", "blocks",
                                "--trace", file)
            self.assertGreater(found["tasks"], 15)
            with open(file) as trace:
                names = {event.get("name") for event in json.load(trace)["traceEvents"]}
            self.assertGreater(len(names), 4)
        text = self.succeeds("lu", "-n", "200", "--block", "48", "--workers", "2")
        self.assertRegex(text, r"\nactivity   \d\.\d\d of 2 workers on average, 15 tasks; 0 for ")
        self.fails(run("lu", "-n", "9", "--trace", "/no/such/folder/trace.json"), 1, "/no/such/folder")

    def test_activity_and_trace_by_blocks(self):
        # 3 x 3 tiles.
        forms = ((("lu", "--pivoting", "none"), "trsm", 14), (("chol",), "herk", 10),
                 (("lu",), "ssssm", 14), (("qr",), "tsmqr", 14),
                 (("solve", "--pivoting", "none"), "gemm", 26), (("solve", "--method", "qr"), "tsqrt", 14))
        for form, name, count in forms:
            file = self.path("trace.json")
            found = self.report(*form, "-n", "60", "--form", "blocks", "--block", "20", "--trace", file)
            self.assertEqual(found["tasks"], count)
            self.assertAlmostEqual(sum(found["activity"]), 1)
            with open(file) as trace:
                tasks = [event for event in json.load(trace)["traceEvents"] if event["ph"] == "B"]
            self.assertEqual(len(tasks), count)
            self.assertIn(name, [event["name"] for event in tasks])

    def test_instructions_are_those_of_info(self):
        found = json.loads(run("info", "--json").stdout)["linalg"]
        self.assertEqual(self.report("lu", "-n", "2")["instructions"], found["instructions"])
        text = run("info").stdout.decode()
        self.assertRegex(text, r"\nproducts +" + re.escape(found["instructions"]))
        self.assertEqual(sorted(found["tiles"]), list("cdsz"))
        for rows, cols in found["tiles"].values():
            self.assertIn(f"{rows} x {cols}", text)

    def test_info_names_other_libraries(self):
        found = json.loads(run("info", "--json").stdout)["linalg"]["other_blas"]
        text = run("info").stdout.decode()
        for library in found:
            self.assertEqual(sorted(library), ["kernel", "name", "path", "version"])
            self.assertTrue(os.path.isfile(library["path"]))
            self.assertIn("%s)" % library["path"], text)
        if not found:
            self.assertIn("none found", text)
            self.skipTest("no other library")
        blas = found[0]["path"]
        other = {**os.environ, "CREEK_BLAS": blas}
        self.assertIn("by CREEK_BLAS: " + found[0]["name"], run("info", env=other).stdout.decode())
        for type in "sdcz":
            solved = self.report("solve", "-n", "90", "--type", type, env=other)
            self.assertEqual((solved["blas"], solved["check"]["passed"]), (blas, True))

    def test_libraries_that_cannot_be_used(self):
        for name in ("no-such-library.so", "/", "libm.so.6"):
            for command in (("info",), ("lu", "-n", "50")):
                self.fails(run(*command, env={**os.environ, "CREEK_BLAS": name}), 2,
                           "CREEK_BLAS " + name)

    def test_same_seed_same_matrix(self):
        def solution(*arguments):
            self.succeeds("solve", "-n", "30", "--output", self.path("x.npy"), *arguments)
            return read_npy(self.path("x.npy"))[1]
        first = solution()
        self.close(solution("--seed", "1", "--workers", "1", "--block", "5", "--runs", "3"), first)
        self.close(solution("--method", "qr"), first)
        self.assertNotEqual(solution("--seed", "2"), first)
        # In neither case is the solution the trivial one of a right-hand side taken from the matrix.
        self.assertGreater(sum(abs(row[0]) > 1e-3 for row in first), 5)

    def test_small_sizes(self):
        for command in COMMANDS:
            for n in ("1", "2", "3"):
                for type in "sz":
                    found = self.report(command, "-n", n, "--type", type, "--check", "--runs", "2")
                    self.assertTrue(found["check"]["passed"])
                    self.assertIsNotNone(found["share_of_gemm"])

    def test_an_empty_matrix_has_no_rate(self):
        empty = self.write("empty.npy", npy("d", []))
        for command in ("lu", "chol"):
            found = self.report(command, "--input", empty)
            self.assertEqual((found["rows"], found["gflops"], found["share_of_gemm"],
                              found["activity"]), (0, None, None, None))
            text = self.succeeds(command, "--input", empty)
            self.assertIn("rate       none, an empty matrix takes no operations", text)

    def test_blocks_of_all_sizes(self):
        for command in COMMANDS:
            for block in ("1", "7", "64", "75", "76", "9223372036854775807"):
                self.report(command, "-n", "75", "--block", block, "--check", "--workers", "3")

    def test_forms_by_blocks(self):
        forms = (("lu", "--pivoting", "none"), ("chol",), ("solve", "--pivoting", "none"),
                 ("solve", "--method", "chol", "--rhs", "3"))
        for form, type in itertools.product(forms, "sdcz"):
            found = self.report(*form, "-n", "130", "--form", "blocks", "--type", type, "--check",
                                "--block", "40", "--workers", "2")
            self.assertEqual((found["form"], found["info"]), ("blocks", 0))
            self.assertEqual(found.get("pivoting"), None if "chol" in form else "none")
            self.assertTrue(found["check"]["passed"])
        for n in ("1", "3"):
            self.report("chol", "-n", n, "--form", "blocks", "--check")
            self.report("solve", "-n", n, "--form", "blocks", "--pivoting", "none")
        text = self.succeeds("lu", "-n", "9", "--form", "blocks", "--pivoting", "none")
        for part in ("LU factorization without pivoting, by blocks", "diagonally dominant"):
            self.assertIn(part, text)
        self.assertEqual(self.report("lu", "-n", "9", "--form", "column")["pivoting"], "partial")

    def test_factorizations_in_tiles_of_their_own(self):
        forms = ((("lu",), "incremental", None), (("qr",), None, "flat"),
                 (("qr", "--tree", "binary"), None, "binary"), (("solve",), "incremental", None),
                 (("solve", "--method", "qr", "--rhs", "3"), None, "flat"))
        for (form, pivoting, tree), type in itertools.product(forms, "sdcz"):
            found = self.report(*form, "-n", "110", "--form", "blocks", "--type", type, "--check",
                                "--block", "40", "--workers", "2")
            self.assertEqual((found["form"], found["info"]), ("blocks", 0))
            self.assertEqual((found.get("pivoting"), found.get("tree")), (pivoting, tree))
            self.assertTrue(found["check"]["passed"])
        for form, n in itertools.product(("lu", "qr", "solve"), ("1", "3")):
            self.report(form, "-n", n, "--form", "blocks", "--check", "--runs", "2")
        text = self.succeeds("qr", "-n", "9", "--form", "blocks", "--tree", "binary")
        self.assertIn("QR factorization, by blocks, binary tree", text)
        self.assertIn("with incremental pivoting", self.succeeds("lu", "-n", "9", "--form", "blocks"))

    def test_other_backend(self):
        done = run("lu", "-n", "100", "--check", "--json",
                   env={**os.environ, "CREEK_BACKEND": "tbb"})
        if done.returncode == 2:
            self.skipTest("tbb is not in this build")
        self.assertEqual(json.loads(done.stdout)["backend"], "tbb")


if __name__ == "__main__":
    unittest.main()
