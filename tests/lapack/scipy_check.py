#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scipy_check.py LIBRARY [WHEELS]: NumPy and SciPy, of this Python or in the folder WHEELS, give correct
answers with the library preloaded, and call it for them. Exit status 77 if they are not installed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# The binding that the dynamic linker must have chosen, by the caller.
BINDINGS = {
    "dgetrf_": "_flapack", "zgetrf_": "_flapack", "dpotrf_": "_flapack", "cpotrs_": "_flapack",
    "dgesv_": "_umath_linalg", "cblas_dgemm": "_multiarray_umath",
    "dgetri_": "_flapack", "zpotri_": "_flapack", "dtrtri_": "_flapack", "dgeqrf_": "_flapack",
    "dormqr_": "_flapack", "zunmqr_": "_flapack", "dorgqr_": "_flapack", "cungqr_": "_flapack",
    "sgels_": "_flapack", "zungqr_": "_umath_linalg",
}


def compute():
    import numpy as np
    import scipy.linalg as sl
    random = np.random.default_rng(1)

    def check(what, got, wanted, scale):
        error = np.abs(got - wanted).max() / scale
        assert error < 1e-4 if got.dtype.char in "fF" else error < 1e-12, (what, got.dtype, error)

    def check_qr(square):
        n = square.shape[0]
        for a in (square, square[:, :(n + 1) // 2], square[:(n + 1) // 2]):
            m, b = a.shape[0], a @ np.ones((a.shape[1], 2), a.dtype)
            for q, r in (np.linalg.qr(a), sl.qr(a, mode="economic"), sl.qr(a)):
                check("qr", q @ r, a, n)
                check("q", q.conj().T @ q, np.eye(q.shape[1]), n)
            adjoint = a.conj().T
            check("qr_multiply", sl.qr_multiply(a, adjoint)[0] @ sl.qr(a, mode="economic")[1],
                  adjoint @ a, n * n)
            q, r, p = sl.qr(a, mode="economic", pivoting=True)
            check("qr with pivots", q @ r, a[:, p], n)
            for x in (np.linalg.lstsq(a, b, rcond=None)[0],
                      *(sl.lstsq(a, b, lapack_driver="gels" + d)[0] for d in "dsy")):
                check("lstsq", a @ x, b, n)
            gels = sl.get_lapack_funcs("gels", (a,))
            both = np.zeros((max(a.shape), 2), a.dtype)
            both[:m] = b
            check("gels", a @ gels(a, both)[1][:a.shape[1]], b, n)

    for dtype in "fdFD":
        for n in (1, 7, 100, 500):  # the last one with workers
            a = random.standard_normal((n, n)) + n * np.eye(n)
            if dtype in "FD":
                a = a + 1j * random.standard_normal((n, n))
            a = a.astype(dtype)
            b = random.standard_normal((n, 3)).astype(dtype)
            spd = a @ a.conj().T
            p, l, u = sl.lu(a)
            check("lu", p.astype(dtype) @ l @ u, a, n)
            check("lu_solve", a @ sl.lu_solve(sl.lu_factor(a), b), b, n)
            check("lu_solve^H", a.conj().T @ sl.lu_solve(sl.lu_factor(a), b, trans=2), b, n)
            check("solve", a @ np.linalg.solve(a, b), b, n)
            check("scipy solve", a @ sl.solve(a, b), b, n)
            check("inv", a @ sl.inv(a), np.eye(n), n)
            check("numpy inv", a @ np.linalg.inv(a), np.eye(n), n)
            check_qr(a)
            for lower in (False, True):
                c = sl.cholesky(spd, lower=lower)
                check("cholesky", c @ c.conj().T if lower else c.conj().T @ c, spd, n * n)
                check("cho_solve", spd @ sl.cho_solve(sl.cho_factor(spd, lower=lower), b), b, n * n)
                check("triangular", c @ sl.solve_triangular(c, b, lower=lower), b, n)
                potri, trtri = sl.get_lapack_funcs(("potri", "trtri"), (c,))
                inverse = potri(c, lower=lower)[0]
                both = inverse + np.tril(inverse, -1).conj().T + np.triu(inverse, 1).conj().T
                check("potri", spd @ both, np.eye(n), n * n)
                check("trtri", c @ trtri(c, lower=lower)[0], np.eye(n), n)
            check("matmul", a.T @ a, np.einsum("ki,kj->ij", a, a), n * n)
    try:
        np.linalg.solve(np.zeros((300, 300)), np.ones(300))
        raise AssertionError("a singular matrix was solved")
    except np.linalg.LinAlgError:
        pass


def bindings(library, folder, environment):
    """Returns which library called which function, in a second process that does the same."""
    environment = dict(environment, LD_PRELOAD=library, LD_DEBUG="bindings", LD_DEBUG_OUTPUT=str(Path(folder, "log")))
    subprocess.run([sys.executable, "-B", __file__, library, "compute"], env=environment, check=True)
    found = set()
    for log in Path(folder).iterdir():
        for line in log.read_text(errors="replace").splitlines():
            if f" to {library} " in line and "symbol `" in line:
                caller = Path(line.split("binding file ")[1].split(" ")[0]).name.split(".")[0]
                found.add((line.split("symbol `")[1].split("'")[0], caller))
    return found


def of_wheels(name, caller):
    """Returns the name in wheels: NumPy's have 64-bit integers, SciPy's have not."""
    return f"scipy_{name}64_" if "umath" in caller else f"scipy_{name}"


def main():
    library, *more = sys.argv[1:]
    if more == ["compute"]:
        compute()
        return 0
    environment = dict(os.environ)
    if more:
        environment["PYTHONPATH"] = more[0]
    versions = "import numpy, scipy; print('NumPy', numpy.__version__, 'SciPy', scipy.__version__)"
    if subprocess.run([sys.executable, "-c", versions], env=environment, check=False).returncode != 0:
        print("skipped: no NumPy and SciPy" + (f" in {more[0]}" if more else " (Debian: python3-scipy)"))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        found = bindings(library, folder, environment)
    wanted = {(of_wheels(name, caller) if more else name, caller) for name, caller in BINDINGS.items()}
    missing = wanted - found
    print(f"{len(found)} names bound to creek; missing: {sorted(missing)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
