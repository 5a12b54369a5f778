# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of `creek lu`, `chol`, `qr` and `solve`: matrices, files, expected reports."""
import ast
import itertools
import json
import os
import random
import struct
import subprocess

from tool_case import TOOL, FolderCase

COMMANDS = ("lu", "chol", "qr", "solve")
DESCR = {"s": "<f4", "d": "<f8", "c": "<c8", "z": "<c16"}


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=100, **more)


def npy(type, rows, by_columns=True, descr=None):
    """Returns the bytes of a .npy file with the matrix of these rows."""
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
    """Returns the type and the rows of a file."""
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


class Case(FolderCase):
    def succeeds(self, *arguments, **more):
        done = run(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), (arguments, done))
        return done.stdout.decode()

    def report(self, *arguments, **more):
        return json.loads(self.succeeds(*arguments, "--json", **more))

    def fails_numerically(self, *arguments):
        """Expects a report with this content, and no output file."""
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
