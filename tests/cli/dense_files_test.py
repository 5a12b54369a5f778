#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek lu`, `chol`, `qr` and `solve` from files and to files."""
import itertools
import unittest

from dense_cases import (COMMANDS, Case, adjoint, definite, npy, product,
                         random_matrix, read_npy, run)


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


if __name__ == "__main__":
    unittest.main()
