#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: exports.py LIBRARY INTEGER_BITS: the library exports exactly these names."""

import subprocess
import sys

LAPACK = ("getrf getrs gesv getri laswp potrf potrs posv potri trtrs trtri geqrf geqp3 gelqf "
          "gels gebrd gesdd gesvd gelsd gebal gebak gehrd hseqr geev gees "
          "gecon pocon trcon gerfs porfs").split()
MIXED = "sgesv sposv".split()  # factors in lower precision
OF_Q = "mqr gqr glq mtr gtr ghr mhr".split()  # orthogonal or unitary
OF_TRIDIAGONAL = "stedc steqr".split()
EIGEN = "ev evd evr trd gst gv gvd".split()  # symmetric or Hermitian
BLAS = "gemm symm syrk syr2k trmm trsm".split()
COMPLEX_BLAS = "hemm herk her2k".split()
BATCHES = "gemm_batch gemm_batch_strided".split()
LAPACK_BATCHES = "getrf_batch_strided getrs_batch_strided".split()  # Fortran's form only


def expected(bits):
    names = set()
    for letter in "sdcz":
        blas = BLAS + BATCHES + (COMPLEX_BLAS if letter in "cz" else [])
        lapack = LAPACK + [("un" if letter in "cz" else "or") + name for name in OF_Q]
        lapack += OF_TRIDIAGONAL + ["sterf"] * (letter in "sd") + MIXED * (letter == "d")
        lapack += [("he" if letter in "cz" else "sy") + name for name in EIGEN]
        names |= {f"{letter}{name}_" for name in lapack + blas + LAPACK_BATCHES}
        names |= {f"cblas_{letter}{name}" for name in blas}
        names |= {f"LAPACKE_{letter}{name}{form}" for name in lapack for form in ("", "_work")}
    suffixed = {f"{name}64_" for name in names}
    own = suffixed if bits == "64" else names | suffixed
    return names | own | {f"scipy_{name}" for name in own}


def main():
    library, bits = sys.argv[1:]
    table = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout
    found = {line.split()[-1] for line in table.splitlines()}
    missing, extra = expected(bits) - found, found - expected(bits)
    print(f"{len(found)} names; missing: {sorted(missing)}; extra: {sorted(extra)}")
    return 1 if missing or extra else 0


if __name__ == "__main__":
    sys.exit(main())
