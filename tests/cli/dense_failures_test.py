#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek lu`, `chol`, `qr` and `solve` on problems without an answer, and on bad input."""
import os
import subprocess
import unittest

from dense_cases import COMMANDS, Case, TOOL, definite, npy, random_matrix, run


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
            # The least solution for a zero matrix is 0, as in LAPACK's gels.
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
            run("chol", "--input", self.write("b.npy", npy("d", a)))  # reports info or a residual, and does not crash

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
                (["lu", "-n", "-5"], ["-n must be 1 or more, got -5"]),
                (["lu", "-n", "many"], ["-n"]),
                (["lu", "-n", "5", "--type", "q"], ["--type", "q"]),
                (["lu", "-n", "5", "--type", ""], ["--type"]),
                (["lu", "-n", "5", "--block", "0"], ["--block must be 1 or more, got 0"]),
                (["solve", "-n", "5", "--refine", "double"], ["--refine", "double"]),
                (["solve", "-n", "5", "--refine", "fixed", "--method", "qr"], ["--refine", "LU"]),
                (["solve", "-n", "5", "--refine", "fixed", "--form", "blocks"], ["--refine"]),
                (["solve", "-n", "5", "--refine", "mixed", "--type", "s"], ["--refine mixed"]),
                (["lu", "-n", "5", "--runs", "0"], ["--runs must be between 1 and 1000000, got 0"]),
                (["lu", "-n", "5", "--runs", "1000001"], ["--runs must be", "got 1000001"]),
                (["lu", "-n", "5", "--workers", "0"], ["--workers must be between 1 and 4096, got 0"]),
                (["lu", "-n", "5", "--workers", "100000"], ["--workers must be", "got 100000"]),
                (["lu", "-n", "5", "--seed", "-1"], ["--seed"]),
                (["lu", "-n", "5", "--rhs", "2"], ["--rhs"]),
                (["lu", "-n", "5", "--method", "qr"], ["--method"]),
                (["lu", "-n", "5", "--check", "--no-check"], ["--no-check"]),
                (["lu", "-n", "5", "--output", "x.txt"], ["x.txt", ".npy"]),
                (["lu", "-n", "5", "--output", "-"], [".npy"]),
                (["lu", "-n", "5", "--input", "a.npy"], ["-n", "--input"]),
                (["lu", "--input", "a.npy", "--seed", "3"], ["--seed"]),
                (["solve", "-n", "5", "--rhs", "0"], ["--rhs must be 1 or more, got 0"]),
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
                           " GiB, the machine has ")
        self.fails(run("lu", "-n", "99999999999999999999"), 2, "-n must be between 1 and")
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
        self.fails(run("chol", "--input", wide), 1, "wide.npy: the matrix is not square (3 x 5)")
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
        a[4][1] += 1e-16  # as written by a program that computed both
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
