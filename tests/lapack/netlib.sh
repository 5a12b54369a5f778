#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: netlib.sh SOURCES LIBRARY FOLDER
# Builds Netlib's own test programs of the BLAS (level 3) and LAPACK (linear equations) from SOURCES, an unpacked source package, in FOLDER, for the system's libraries, and
# runs them with LIBRARY preloaded. They must not complain. Exit status 77 where the sources, a
# Fortran compiler or the system's libraries are missing. FC, BLAS and LAPACK may name others.
set -euo pipefail
sources=$1 library=$2 folder=$3
skip() { echo "skipped: $*"; exit 77; }

[[ -f $sources/TESTING/LIN/dchkaa.F || -f $sources/TESTING/LIN/dchkaa.f ]] ||
  skip "no LAPACK sources in '$sources' (set CREEK_NETLIB_LAPACK; Debian: apt-get source lapack)"
fortran=${FC:-$(command -v gfortran || command -v gfortran-12 || true)}
[[ -n $fortran ]] || skip "no Fortran compiler (Debian: gfortran)"
# Those of the machine, whichever it uses.
found() { ldconfig -p | sed -n "s/.*$1 .*=> //p" | head -n 1; }
blas=${BLAS:-$(found libblas.so.3)} lapack=${LAPACK:-$(found liblapack.so.3)}
[[ -n $blas && -n $lapack ]] || skip "no BLAS or LAPACK (Debian: libblas3, liblapack3)"

mkdir -p "$folder/lin" "$folder/blas"
jobs=$(nproc)

# The Makefiles know which files make a program; they build in their own tree, so a copy of it.
build_lin() {
  [[ -x $folder/tree/TESTING/LIN/xlintstd && -x $folder/tree/TESTING/LIN/xlintstz ]] && return
  mkdir -p "$folder/tree"
  cp -R "$sources/TESTING" "$folder/tree/"
  sed "s|^FC = .*|FC = $fortran|; s|^FFLAGS = .*|FFLAGS = -O1 -frecursive|" \
    "$sources/make.inc.example" >"$folder/tree/make.inc"
  make -s -C "$folder/tree/TESTING/MATGEN" -j "$jobs"
  make -s -C "$folder/tree/TESTING/LIN" -j "$jobs" xlintstd xlintstz \
    LAPACKLIB="$lapack" BLASLIB="$blas"
}

# clean NAME FILE PATTERN: FILE says PATTERN, and nothing that failed.
clean() {
  if grep -iE 'fail|illegal|suspect|\*\*\*|error code' "$2" | grep -viE 'error.exits passed|passed'; then
    echo "$1: see $2"
    return 1
  fi
  echo "$1: $(grep -ciE "$3" "$2") times '$3'"
  grep -qiE "$3" "$2"
}

status=0
flags=(-w -O1)
[[ $("$fortran" --version) == *"GNU Fortran"* ]] && flags+=(-fallow-argument-mismatch)
for letter in s d c z; do
  # Their names and error exits; random values against sums written out.
  "$fortran" "${flags[@]}" "$sources/BLAS/TESTING/${letter}blat3.f" -o "$folder/blas/$letter" "$blas"
  (cd "$folder/blas" && LD_PRELOAD=$library ./$letter <"$sources/BLAS/TESTING/${letter}blat3.in")
  clean "${letter}blat3" "$folder/blas/${letter}blat3.out" passed || status=1
done

build_lin
for letter in d z; do
  LD_PRELOAD=$library "$folder/tree/TESTING/LIN/xlintst$letter" \
    <"$sources/TESTING/${letter}test.in" >"$folder/lin/$letter.out" 2>&1 || status=1
  clean "xlintst$letter" "$folder/lin/$letter.out" 'passed the (threshold|tests)' || status=1
  for path in GE PO TR; do
    grep -qi "^ *$letter$path routines passed the tests of the error exits" \
      "$folder/lin/$letter.out" || { echo "$letter$path: error exits did not pass"; status=1; }
  done
done
exit $status
