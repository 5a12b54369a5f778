#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: alternatives.py FOLDER: programs that load liblapack.so.3 or libblas.so.3 from FOLDER get creek's routines,
and OpenBLAS's where creek has none. Exit status 77 without OpenBLAS."""

import ctypes
import os
import subprocess
import sys

# 2 x = 4 by dgesv, which creek has, and by dgtsv; 2 x by dgemm and by dscal.
PROGRAM = """
import ctypes
lapack, blas = (ctypes.CDLL(f"lib{name}.so.3") for name in ("lapack", "blas"))
one, pivot, info = (ctypes.c_int32(value) for value in (1, -1, -1))
two, zero, x = (ctypes.c_double(value) for value in (2, 0, 4))
call = lambda routine, *all: routine(*(ctypes.byref(each) for each in all))
a = ctypes.c_double(2)
call(lapack.dgesv_, one, one, a, one, pivot, x, one, info)
assert (info.value, x.value) == (0, 2), (info, x)
call(lapack.dgtsv_, one, one, zero, two, zero, x, one, info)
assert (info.value, x.value) == (0, 1), (info, x)
n, product = ctypes.c_char(b"N"), ctypes.c_double(7)
call(blas.dgemm_, n, n, one, one, one, two, two, one, x, one, zero, product, one)
assert product.value == 4, product
call(blas.dscal_, one, two, product, one)
assert product.value == 8, product
"""


def main():
    folder = sys.argv[1]
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError as why:
        print(f"skipped: {why} (Debian: libopenblas0)")
        return 77
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=folder, CREEK_LAPACK_VERBOSE="1"))
    print(done.stdout, done.stderr)
    return 0 if done.returncode == 0 and "2 calls of 2 routines" in done.stderr else 1


if __name__ == "__main__":
    sys.exit(main())
