#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek lu`, `chol`, `qr` and `solve` from the outside: answers in files, reports, bad input."""
import ast
import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
COMMANDS = ("lu", "chol", "qr", "solve")
DESCR = {"s": "<f4", "d": "<f8", "c": "<c8", "z": "<c16"}


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=100, **more)


def npy(type, rows, by_columns=True, descr=None):
    """The bytes of a .npy file with the matrix whose rows these are."""
    shape = (len(rows), len(rows[0]) if rows else 0)
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (
        descr or DESCR[type], by_columns, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    flat = [x for line in (zip(*rows) if by_columns else rows) for x in line]
    if type in "cz":
        flat = [part for x in flat for part in (complex(x).real, complex(x).imag)]
    elements = struct.pack("<%d%s" % (len(flat), "f" if type in "sc" else "d"), *flat)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + elements


def read_npy(name):
    """Type and rows of a file."""
    with open(name, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    rows, cols = head["shape"]
    type = next(key for key, descr in DESCR.items() if descr == head["descr"])
    flat = [x for (x,) in struct.iter_unpack("<f" if type in "sc" else "<d", data[10 + length:])]
    if type in "cz":
        flat = [complex(re, im) for re, im in zip(flat[::2], flat[1::2])]
    assert head["fortran_order"] and len(flat) == rows * cols
    return type, [[flat[i + j * rows] for j in range(cols)] for i in range(rows)]


def random_matrix(seed, rows, cols, type="d"):
    source = random.Random(seed)
    def element():
        x = source.uniform(-1, 1)
        return complex(x, source.uniform(-1, 1)) if type in "cz" else x
    return [[element() for _ in range(cols)] for _ in range(rows)]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def adjoint(a):
    return [[complex(x).conjugate() for x in column] for column in zip(*a)]


def definite(seed, n, type="d"):
    a = random_matrix(seed, n, n, type)
    squared = product(a, adjoint(a))
    return [[(x if type in "cz" else x.real) + (i == j) for j, x in enumerate(row)]
            for i, row in enumerate(squared)]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="creek-cli-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def succeeds(self, *arguments, **more):
        done = run(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), (arguments, done))
        return done.stdout.decode()

    def report(self, *arguments, **more):
        return json.loads(self.succeeds(*arguments, "--json", **more))

    def complains(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("creek: "), lines)
        for part in parts:
            self.assertIn(part, lines[0])

    def fails(self, done, code, *parts):
        self.complains(done, code, *parts)
        self.assertEqual(done.stdout, b"")

    def fails_numerically(self, *arguments):
        """The report is there, and says so; no output file is."""
        target = self.path("not-written.npy")
        done = run(*arguments, "--json", "--output", target)
        report = json.loads(done.stdout)
        self.complains(done, 1, arguments[0] + ": " + report["failure"])
        self.assertEqual(report["output"], [])
        self.assertFalse(any("not-written" in name for name in os.listdir(self.folder.name)))
        return report

    def close(self, a, b, type="d"):
        tolerance = 1e-3 if type in "sc" else 1e-10
        self.assertEqual((len(a), len(a[0])), (len(b), len(b[0])))
        for x, y in zip(itertools.chain(*a), itertools.chain(*b)):
            self.assertLess(abs(x - y), tolerance)


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
            self.assertIsNone(found["block"])  # by the size
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
            self.assertEqual(time["median"], (runs[(count - 1) // 2] + runs[count // 2]) / 2)
            self.assertAlmostEqual(found["gflops"]["median"] * time["median"] * 1e9,
                                   found["flops"], delta=found["flops"] * 1e-9)
            share = found["gflops"]["median"] / found["gemm_gflops"]["median"]
            self.assertAlmostEqual(found["share_of_gemm"], share)

    def test_operations_are_counted_as_lapack_does(self):
        # LAPACK Working Note 41: 2/3 n^3 - n^2/2 + 5/6 n; 1/3 n^3 + n^2/2 + n/6; 4/3 n^3 +
        # 2 n^2 + 14/3 n; of complex numbers products count 6 and sums 2.
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
        self.assertIsNone(self.report("lu", "-n", "0")["activity"])
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
        # Neither is the solution the trivial one of a right-hand side taken from the matrix.
        self.assertGreater(sum(abs(row[0]) > 1e-3 for row in first), 5)

    def test_small_sizes(self):
        for command in COMMANDS:
            for n in ("0", "1", "2", "3"):
                for type in "sz":
                    found = self.report(command, "-n", n, "--type", type, "--check", "--runs", "2")
                    self.assertTrue(found["check"]["passed"])
                    self.assertEqual(found["share_of_gemm"] is None, n == "0")
        self.assertIn("0 x 0", self.succeeds("solve", "-n", "0"))

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
        for n in ("0", "1", "3"):
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
        for form, n in itertools.product(("lu", "qr", "solve"), ("0", "1", "3")):
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


class Files(Case):
    def test_solution_comes_back(self):
        for type, method in itertools.product("sdcz", ("lu", "chol", "qr")):
            make = definite if method == "chol" else random_matrix
            a = make(1, 20, type=type) if method == "chol" else make(1, 20, 20, type)
            for i in range(20):
                a[i][i] += 5
            x = random_matrix(2, 20, 3, type)
            files = ("--input", self.write("a.npy", npy(type, a, by_columns=False)),
                     "--rhs-file", self.write("b.npy", npy(type, product(a, x))))
            found = self.report("solve", *files, "--method", method, "--output", self.path("x.npy"))
            self.assertEqual((found["type"], found["method"], found["rhs"]), (type, method, 3))
            self.assertEqual(found["output"], [self.path("x.npy")])
            self.assertEqual(found["matrix"]["file"], self.path("a.npy"))
            written, solution = read_npy(self.path("x.npy"))
            self.assertEqual(written, type)
            self.close(solution, x, type)

    def test_lu_factors_and_pivots(self):
        for type, (m, n) in itertools.product("dz", ((9, 9), (12, 5), (5, 12))):
            a = random_matrix(3, m, n, type)
            found = self.report("lu", "--input", self.write("a.npy", npy(type, a)),
                                "--output", self.path("lu.npy"))
            self.assertEqual(found["output"], [self.path("lu.npy"), self.path("lu.pivots.npy")])
            factors = read_npy(self.path("lu.npy"))[1]
            k = min(m, n)
            lower = [[1 if i == j else factors[i][j] if i > j else 0 for j in range(k)]
                     for i in range(m)]
            upper = [[factors[i][j] if i <= j else 0 for j in range(n)] for i in range(k)]
            kind, pivots = read_npy(self.path("lu.pivots.npy"))
            self.assertEqual((kind, len(pivots)), ("d", k))
            for i, (pivot,) in enumerate(pivots):
                a[i], a[int(pivot)] = a[int(pivot)], a[i]
            self.close(product(lower, upper), a)

    def test_cholesky_factor(self):
        for type in "dz":
            a = definite(4, 15, type)
            found = self.report("chol", "--input", self.write("a.npy", npy(type, a)),
                                "--output", self.path("l.npy"))
            self.assertEqual(found["output"], [self.path("l.npy")])
            lower = read_npy(self.path("l.npy"))[1]
            self.assertTrue(all(lower[i][j] == 0 for i in range(15) for j in range(i + 1, 15)))
            self.close(product(lower, adjoint(lower)), a)

    def test_factors_by_blocks(self):
        a = definite(4, 15)
        file = ("--input", self.write("a.npy", npy("d", a)))
        blocks = ("--form", "blocks", "--block", "4", "--output", self.path("f.npy"))
        found = self.report("lu", *file, *blocks, "--pivoting", "none")
        self.assertEqual(found["output"], [self.path("f.npy")])  # no pivots
        factors = read_npy(self.path("f.npy"))[1]
        lower = [[float(i == j) if j >= i else factors[i][j] for j in range(15)] for i in range(15)]
        upper = [[factors[i][j] if i <= j else 0 for j in range(15)] for i in range(15)]
        self.close(product(lower, upper), a)
        self.succeeds("chol", *file, *blocks)
        lower = read_npy(self.path("f.npy"))[1]
        self.assertTrue(all(lower[i][j] == 0 for i in range(15) for j in range(i + 1, 15)))
        self.close(product(lower, adjoint(lower)), a)
        self.succeeds("solve", "--method", "chol", *file, *blocks)
        by_blocks = read_npy(self.path("f.npy"))[1]
        self.succeeds("solve", *file, "--output", self.path("x.npy"))
        self.close(by_blocks, read_npy(self.path("x.npy"))[1])

    def test_qr_factors(self):
        for type, (m, n) in itertools.product("dz", ((9, 9), (12, 5), (5, 12))):
            a = random_matrix(5, m, n, type)
            found = self.report("qr", "--input", self.write("a.npy", npy(type, a)),
                                "--output", self.path("qr.npy"))
            self.assertEqual(found["output"], [self.path("qr.npy"), self.path("qr.tau.npy")])
            self.assertTrue(found["check"]["passed"])
            factors = read_npy(self.path("qr.npy"))[1]
            upper = [[factors[i][j] if i <= j else 0 for j in range(n)] for i in range(min(m, n))]
            self.close(product(adjoint(upper), upper), product(adjoint(a), a))
            kind, tau = read_npy(self.path("qr.tau.npy"))
            self.assertEqual((kind, len(tau)), (type, min(m, n)))

    def test_least_squares_and_least_norm(self):
        for type in "sdcz":
            tall = random_matrix(6, 30, 4, type)
            b = random_matrix(7, 30, 2, type)
            files = ("--input", self.write("a.npy", npy(type, tall)),
                     "--rhs-file", self.write("b.npy", npy(type, b)))
            found = self.report("solve", "--method", "qr", *files, "--output", self.path("x.npy"))
            self.assertEqual((found["rows"], found["cols"]), (30, 4))
            x = read_npy(self.path("x.npy"))[1]
            self.close(product(adjoint(tall), product(tall, x)), product(adjoint(tall), b), type)
            self.report("solve", "--method", "qr", *files, "--form", "blocks", "--block", "8",
                        "--tree", "binary", "--output", self.path("x.npy"))
            self.close(read_npy(self.path("x.npy"))[1], x, type)
            wide = adjoint(tall)
            b = random_matrix(8, 4, 1, type)
            self.write("a.npy", npy(type, [[x if type in "cz" else x.real for x in row]
                                           for row in wide]))
            self.write("b.npy", npy(type, b))
            self.report("solve", "--method", "qr", *files, "--output", self.path("x.npy"))
            x = read_npy(self.path("x.npy"))[1]
            self.assertEqual(len(x), 30)
            self.close(product(wide, x), b, type)

    def test_matrix_market_and_standard_input(self):
        a = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 4\n3 1 1\n3 3 4\n"
        b = b"%%MatrixMarket matrix array real general\n3 1\n5\n8\n5\n"
        rhs = ("--rhs-file", self.write("b.mtx", b))
        for method in ("lu", "chol", "qr"):
            self.succeeds("solve", "--input", "-", *rhs, "--method", method,
                          "--output", self.path("x.mtx"), input=a)
            with open(self.path("x.mtx")) as file:
                lines = [line for line in file if not line.startswith("%")]
            self.assertEqual(lines[0].split(), ["3", "1"])
            self.close([[float(line)] for line in lines[1:]], [[1], [2], [1]])
        text = self.succeeds("chol", "--input", self.write("named-anyhow", a))
        self.assertIn("Matrix Market", text)
        self.assertIn(": pass ", text)

    def test_type_is_that_of_the_files_unless_given(self):
        def type_of(a, b, *more):
            files = ["--input", self.write("a.npy", npy(a, random_matrix(1, 4, 4, a)))]
            if b is not None:
                files += ["--rhs-file", self.write("b.npy", npy(b, random_matrix(2, 4, 1, b)))]
            return self.report("solve", *files, *more)["type"]
        self.assertEqual([type_of(a, None) for a in "sdcz"], list("sdcz"))
        pairs = {"ss": "s", "sd": "d", "ds": "d", "sc": "c", "cs": "c", "dc": "z", "zs": "z"}
        for (a, b), both in pairs.items():
            self.assertEqual(type_of(a, b), both)
        self.assertEqual(type_of("s", "s", "--type", "z"), "z")
        self.assertEqual(type_of("z", "d", "--type", "c"), "c")
        only_rhs = self.write("b.npy", npy("s", [[1.0]] * 6))
        self.assertEqual(self.report("solve", "-n", "6", "--rhs-file", only_rhs)["type"], "s")
        self.fails(run("lu", "--type", "d",
                       "--input", self.write("a.npy", npy("z", [[1j]]))), 1, "a.npy")

    def test_check_can_be_left_out(self):
        a = self.write("a.npy", npy("d", random_matrix(1, 4, 4)))
        self.assertTrue(self.report("lu", "--input", a)["check"]["passed"])
        self.assertIsNone(self.report("lu", "--input", a, "--no-check")["check"])

    def test_empty_matrix(self):
        for command in COMMANDS:
            self.report(command, "--input", self.write("a.npy", npy("d", [])))


class NumericalFailures(Case):
    SINGULAR = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [4.0, 8.0, 1.0]]

    def test_singular(self):
        for type in "sdcz":
            a = self.write("a.npy", npy(type, self.SINGULAR))
            for command in ("lu", "solve"):
                found = self.fails_numerically(command, "--input", a, "--runs", "3")
                self.assertEqual((found["info"], len(found["seconds"]["runs"])), (2, 1))
                self.assertEqual(found["failure"], "singular: U(2,2) is exactly zero")
                self.assertEqual(found["gflops"] is None, command == "solve")
            blocks = ("--form", "blocks", "--pivoting", "none", "--block", "2")
            found = self.fails_numerically("lu", "--input", a, *blocks)
            self.assertEqual((found["info"], found["gflops"], found["check"]), (2, None, None))
            found = self.fails_numerically("solve", "--input", a, "--form", "blocks")
            self.assertEqual(found["info"], 2)
            zero = self.write("zero.npy", npy(type, [[0.0] * 3] * 3))
            found = self.fails_numerically("solve", "--method", "qr", "--input", zero,
                                           "--form", "blocks")
            self.assertEqual(found["failure"], "rank deficient: R(1,1) is exactly zero")
            # Of nothing but zeros the least solution is 0, as LAPACK's gels has it.
            gap = self.write("gap.npy", npy(type, [[1.0, 0, 0], [0, 0, 0], [0, 0, 1]]))
            found = self.fails_numerically("solve", "--method", "qr", "--input", gap)
            self.assertEqual(found["failure"], "rank deficient: R(2,2) is exactly zero")
        text = run("lu", "--input", a).stdout.decode()
        self.assertIn("2, singular: U(2,2) is exactly zero", text)

    def test_not_definite(self):
        a = [[2.0, 0, 0], [0, -1, 0], [0, 0, 2]]
        for type in "sdcz":
            file = self.write("a.npy", npy(type, a))
            for command in (("chol",), ("solve", "--method", "chol")):
                found = self.fails_numerically(*command, "--input", file)
                self.assertEqual(found["info"], 2)
                self.assertIn("not positive definite", found["failure"])
                self.assertIsNone(found["check"])

    def test_nan_and_infinity_do_not_pass(self):
        for bad in (float("nan"), float("inf")):
            a = random_matrix(1, 40, 40)
            a[7][3] = a[3][7] = bad
            file = self.write("a.npy", npy("d", a))
            for command in ("lu", "qr", "solve"):
                found = self.fails_numerically(command, "--input", file)
                self.assertFalse(found["check"]["passed"])
                self.assertIn("fail", run(command, "--input", file).stdout.decode())
            a = [[float(i == j) for j in range(9)] for i in range(9)]
            a[4][4] = bad
            run("chol", "--input", self.write("b.npy", npy("d", a)))  # info or residual: no crash

    def test_nearly_singular_is_solved(self):
        hilbert = [[1 / (i + j + 1) for j in range(14)] for i in range(14)]
        a = self.write("a.npy", npy("d", hilbert))
        for method in ("lu", "qr"):
            found = self.report("solve", "--input", a, "--method", method)
            self.assertTrue(found["check"]["passed"])
            self.assertLess(found["rcond"], 1e-15)

    def test_mixed_precision_falls_back(self):
        a = random_matrix(1, 20, 20)
        for change, why in ((lambda: a[3].__setitem__(4, 1e200), "a number is too large for float"),
                            (lambda: a[3].__setitem__(slice(None), [x * 1e-100 for x in a[4]]),
                             "there is no factorization in float")):
            change()
            a[3][5] *= 1.5
            file = self.write("a.npy", npy("d", a))
            found = self.report("solve", "--input", file, "--refine", "mixed")
            self.assertEqual(found["refine"],
                             {"precision": "mixed", "corrections": None, "fell_back": why})
        self.assertIn("fell back to double", self.succeeds("solve", "--input", file,
                                                           "--refine", "mixed"))


class BadInput(Case):
    def test_bad_options(self):
        for arguments, parts in (
                (["lu"], ["-n N", "--input FILE"]),
                (["lu", "-n", "-5"], ["-n -5", "0 or more"]),
                (["lu", "-n", "many"], ["-n"]),
                (["lu", "-n", "5", "--type", "q"], ["--type", "q"]),
                (["lu", "-n", "5", "--type", ""], ["--type"]),
                (["lu", "-n", "5", "--block", "0"], ["--block 0", "1 or more"]),
                (["solve", "-n", "5", "--refine", "double"], ["--refine", "double"]),
                (["solve", "-n", "5", "--refine", "fixed", "--method", "qr"], ["--refine", "LU"]),
                (["solve", "-n", "5", "--refine", "fixed", "--form", "blocks"], ["--refine"]),
                (["solve", "-n", "5", "--refine", "mixed", "--type", "s"], ["--refine mixed"]),
                (["lu", "-n", "5", "--runs", "0"], ["--runs 0", "1 or more"]),
                (["lu", "-n", "5", "--runs", "1000001"], ["--runs 1000001"]),
                (["lu", "-n", "5", "--workers", "0"], ["--workers 0", "1 to"]),
                (["lu", "-n", "5", "--workers", "100000"], ["--workers 100000", "1 to"]),
                (["lu", "-n", "5", "--seed", "-1"], ["--seed"]),
                (["lu", "-n", "5", "--rhs", "2"], ["--rhs"]),
                (["lu", "-n", "5", "--method", "qr"], ["--method"]),
                (["lu", "-n", "5", "--check", "--no-check"], ["--no-check"]),
                (["lu", "-n", "5", "--output", "x.txt"], ["x.txt", ".npy"]),
                (["lu", "-n", "5", "--output", "-"], [".npy"]),
                (["lu", "-n", "5", "--input", "a.npy"], ["-n", "--input"]),
                (["lu", "--input", "a.npy", "--seed", "3"], ["--seed"]),
                (["solve", "-n", "5", "--rhs", "0"], ["--rhs 0", "1 or more"]),
                (["solve", "-n", "5", "--rhs", "2", "--rhs-file", "b.npy"], ["--rhs"]),
                (["solve", "-n", "5", "--method", "svd"], ["svd", "lu", "chol", "qr"]),
                (["solve", "--input", "-", "--rhs-file", "-"], ["standard input"]),
                (["lu", "-n", "5", "--form", "tiles"], ["tiles", "column", "blocks"]),
                (["lu", "-n", "5", "--pivoting", "none"], ["--pivoting none", "--form blocks"]),
                (["lu", "-n", "5", "--pivoting", "incremental"], ["incremental", "--form blocks"]),
                (["lu", "-n", "5", "--form", "blocks", "--pivoting", "partial"], ["partial"]),
                (["lu", "-n", "5", "--form", "blocks", "--output", "x.npy"], ["--output", "column"]),
                (["qr", "-n", "5", "--form", "blocks", "--output", "x.npy"], ["--output", "column"]),
                (["qr", "-n", "5", "--tree", "binary"], ["--tree", "--form blocks"]),
                (["qr", "-n", "5", "--form", "blocks", "--tree", "round"], ["round", "flat"]),
                (["solve", "-n", "5", "--form", "blocks", "--tree", "flat"], ["--tree"]),
                (["chol", "-n", "5", "--pivoting", "none"], ["--pivoting"]),
                (["solve", "-n", "5", "--method", "chol", "--pivoting", "none"], ["--pivoting"]),
                (["qr", "-n", "5", "extra"], ["extra"])):
            self.fails(run(*arguments), 2, *parts)
        self.fails(run("lu", "-n", "5", env={**os.environ, "CREEK_BACKEND": "scc"}), 2, "scc")

    def test_too_large_for_any_machine(self):
        for n in ("4000000", "4294967296", "6000000000", "9223372036854775807"):
            for command in COMMANDS:
                self.fails(run(command, "-n", n), 1, f"{command} of {n} x {n}, type d: needs ",
                           " GiB, machine has ")
        self.fails(run("lu", "-n", "99999999999999999999"), 1, "machine has")  # the largest integer
        self.fails(run("solve", "-n", "1", "--rhs", "9223372036854775807"), 1, "machine has")
        sparse = b"%%MatrixMarket matrix coordinate real general\n5000000 5000000 1\n1 1 1\n"
        self.fails(run("lu", "--input", self.write("a.mtx", sparse)), 1, "needs", "machine has")

    def test_files_that_are_none(self):
        self.fails(run("lu", "--input", self.path("none.npy")), 1, "none.npy: No such file")
        self.fails(run("lu", "--input", self.folder.name), 1, self.folder.name)
        self.fails(run("lu", "--input", self.write("text.npy", b"1 2\n3 4\n")), 1, "text.npy")
        self.fails(run("lu", "--input", self.write("empty", b"")), 1, "empty")
        whole = npy("d", random_matrix(1, 5, 5))
        self.fails(run("lu", "--input", self.write("cut.npy", whole[:-8])), 1, "cut.npy")
        self.fails(run("lu", "--input", self.write("long.npy", whole + b"x")), 1, "long.npy")
        self.fails(run("lu", "--input", self.write("words.npy", npy("d", [[1.0]], descr="<U2"))), 1,
                   "words.npy")
        good = self.write("a.npy", whole)
        self.fails(run("solve", "--input", good, "--rhs-file", self.path("b")), 1, "b: No such file")

    def test_shapes_that_do_not_fit(self):
        wide = self.write("wide.npy", npy("d", random_matrix(1, 3, 5)))
        self.fails(run("chol", "--input", wide), 1, "wide.npy: 3 x 5 is not square")
        self.fails(run("solve", "--input", wide), 1, "wide.npy", "not square", "--method qr")
        self.fails(run("solve", "--input", wide, "--method", "chol"), 1, "not square")
        self.fails(run("lu", "--input", wide, "--form", "blocks"), 1, "not square", "--form column")
        self.fails(run("solve", "--input", wide, "--method", "qr", "--form", "blocks"), 1,
                   "fewer rows", "--form column")
        rhs = self.write("b.npy", npy("d", random_matrix(1, 4, 1)))
        for more in (["--input", wide, "--method", "qr"], ["-n", "7"]):
            self.fails(run("solve", *more, "--rhs-file", rhs), 1, "b.npy: has 4 rows, the matrix")

    def test_cholesky_of_what_is_not_symmetric(self):
        a = definite(1, 6)
        a[4][1] += 0.5
        self.fails(run("chol", "--input", self.write("a.npy", npy("d", a))), 1,
                   "a.npy: not symmetric, see elements (5, 2) and (2, 5)")
        a = definite(1, 6, "z")
        a[3][3] += 1j
        self.fails(run("solve", "--method", "chol", "--input", self.write("a.npy", npy("z", a))), 1,
                   "not hermitian, see elements (4, 4)")
        a = definite(1, 6)
        a[4][1] += 1e-16  # as a program leaves it that computed both
        self.report("chol", "--input", self.write("a.npy", npy("d", a)))

    def test_output_that_cannot_be_written(self):
        for command in COMMANDS:
            self.fails(run(command, "-n", "4", "--output", self.path("no/such/x.npy")), 1,
                       "no/such/x.npy")
        self.assertEqual(os.listdir(self.folder.name), [])
        os.mkdir(self.path("lu.pivots.npy"))
        self.fails(run("lu", "-n", "4", "--output", self.path("lu.npy")), 1, "lu.pivots.npy")
        self.assertEqual(os.listdir(self.folder.name), ["lu.pivots.npy"])

    def test_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "lu", "-n", "4"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"creek: standard output: No space left on device\n"))


if __name__ == "__main__":
    unittest.main()
