#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: netlib.py SOURCES LIBRARY FOLDER

Builds Netlib's own test programs of the BLAS (level 3) and of LAPACK's linear equations and
eigenvalues (the paths below) from SOURCES, an unpacked source package, in FOLDER, for the system's libraries, and runs
them with LIBRARY preloaded. They must not complain. What was compiled is kept. Exit status 77 where
the sources, a Fortran compiler or the system's libraries are missing. FC, BLAS and LAPACK may name
others."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLAS_LETTERS = "sdcz"
# The tested parts, by the letters of Netlib's input and names: general, positive definite and
# triangular matrices, QR, LQ, QR with pivoting, least squares; with the number of types of matrices.
PATHS = {"ge": 11, "po": 9, "tr": 18, "qr": 8, "lq": 8, "qp": 6, "ls": 6}
# Paths by another name in the names of test programs and in what these say; no error exits are tested.
RENAMED = {"qp": "q3"}
# LAPACK's own slatrs3 does not pass the tests of triangular matrices.
LAPACK_PATHS = {"s": "ge po qr lq qp ls".split(), "d": list(PATHS), "z": list(PATHS)}
# Netlib's own inputs for eigenvalues: symmetric, singular values, Hessenberg form, drivers,
# generalized; with what must be said.
EIGEN_INPUTS = {
    "sep": ["{0}st routines passed the tests of the error exits", "{0}st +passed the threshold",
            "{0}st drivers +passed the threshold"],
    "svd": ["{0}gesdd +passed the tests of the error exits", "{0}bd routines passed the threshold",
            "{0}bd drivers +passed the threshold"],
    "nep": ["{0}hs routines passed the tests of the error exits", "{0}hs +passed the threshold"],
    "{0}ed": ["{0}geev +passed the tests of the error exits", "{0}ev +passed the threshold",
              "{0}es +passed the threshold"],
    "{0}sg": ["{0}sg +passed the threshold"],
}
EIGEN_LETTERS = "sdcz"
INPUT = """one line that is not read
6
0 1 2 5 50 {largest}
6
0 1 2 5 50 {largest}
2
1 15
2
1 20
0 5
3
30 50 90
30.0
T
T
T
"""
# The largest size that the programs have room for: two panels and a rest.
LARGEST = 132


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def system_library(name):
    """Returns Netlib's own BLAS and LAPACK where Debian has them, otherwise the ones in use."""
    folder = name[3:].split(".")[0]
    for file in Path("/usr/lib").glob(f"*/{folder}/{name}"):
        return str(file)
    table = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    files = re.findall(rf"^\s*{re.escape(name)} .*=> (\S+)", table, re.MULTILINE)
    return files[0] if files else None


class Programs:
    def __init__(self, sources, folder):
        self.sources, self.folder = sources, folder
        self.compiler = os.environ.get("FC") or shutil.which("gfortran")
        self.libraries = [os.environ.get(name.upper()) or system_library(f"lib{name}.so.3")
                          for name in ("lapack", "blas")]
        if not sources.is_dir():
            skip(f"no LAPACK sources in '{sources}' (./bootstrap test fetches them)")
        if not self.compiler:
            skip("no Fortran compiler (Debian: gfortran)")
        if None in self.libraries:
            skip("no BLAS or LAPACK (Debian: libblas3, liblapack3)")
        folder.mkdir(parents=True, exist_ok=True)
        self.known = {folder: {file.stem: file for part in (folder, "MATGEN")
                               for file in sorted((sources / "TESTING" / part).glob("*.[fF]"))}
                      for folder in ("LIN", "EIG")}

    def named_in(self, known, name):
        """Returns the files of test programs that one of them calls, by the names in its statements."""
        text = known[name].read_text(errors="replace")
        statements = [line for line in text.lower().splitlines() if line[:1] not in ("*", "c", "!")]
        return set(re.findall(r"[a-z]\w+", "\n".join(statements))) & known.keys() - {name}

    def files_of(self, folder, driver, wanted):
        """Returns files of a program of that folder that tests no more than what is wanted."""
        known, letter = self.known[folder], driver[0]
        unwanted = {name for name in self.named_in(known, driver)
                    if re.match(f"{letter}(chk|drv|err)", name) and name not in wanted}
        found, new = {driver}, {driver}
        while new:
            new = set().union(*(self.named_in(known, name) for name in new)) - found - unwanted
            found |= new
        return [known[name] for name in sorted(found)] + [self.stubs(driver, unwanted)]

    def linear(self, letter):
        wanted = {f"{letter}{kind}{RENAMED.get(path, path)}" for kind in ("chk", "drv")
                  for path in LAPACK_PATHS[letter]} | {f"{letter}err{path}" for path in
                                                       LAPACK_PATHS[letter] + ["vx"]}
        return self.files_of("LIN", f"{letter}chkaa", wanted)

    def eigen(self, letter):
        return self.files_of("EIG", f"{letter}chkee", self.known["EIG"])

    def run(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command[-6:]))}: {done.stdout}{done.stderr[-4000:]}")

    def compile(self, file):
        target = self.folder / f"{file.parent.name}_{file.stem}.o"
        if not target.exists() or target.stat().st_mtime < file.stat().st_mtime:
            new = target.with_suffix(".new.o")
            self.run(self.compiler, "-O1", "-frecursive", "-w", "-fallow-argument-mismatch", "-c", file,
                     "-o", new)
            new.rename(target)
        return target

    def link(self, name, objects):
        program = self.folder / name
        self.run(self.compiler, *objects, "-o", program, *self.libraries)
        return program

    def stubs(self, driver, names):
        """Returns stubs for functions that the program would call on other paths."""
        file = self.folder / f"{driver}_stubs.f"
        text = "".join(f"      SUBROUTINE {name.upper()}\n      STOP '{name}'\n      END\n"
                       for name in sorted(names))
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        return file


def run_blas(programs, library, letter, program):
    """Tests their names and error exits; compares random values with explicit sums."""
    with open(programs.sources / f"BLAS/TESTING/{letter}blat3.in") as given:
        subprocess.run([program], stdin=given, cwd=programs.folder, check=True,
                       env=dict(os.environ, LD_PRELOAD=library))
    return (programs.folder / f"{letter}blat3.out").read_text()


def run_lapack(programs, library, letter, program):
    paths = "".join(f"{letter}{path} {PATHS[path]}\n".upper() for path in LAPACK_PATHS[letter])
    done = subprocess.run([program], input=INPUT.format(largest=LARGEST) + paths,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, LD_PRELOAD=library))
    (programs.folder / f"xlintst{letter}.out").write_text(done.stdout)
    return done.stdout + (f"*** exit status {done.returncode}\n" if done.returncode else "")


def run_eigen(programs, library, letter, program):
    """Returns what the program says with the library, but for tests that LAPACK alone does not pass."""
    output = ""
    for name in EIGEN_INPUTS:
        said = {}
        for preloaded in ("", library):
            with open(programs.sources / f"TESTING/{name.format(letter)}.in") as given:
                done = subprocess.run([program], stdin=given, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True,
                                      env=dict(os.environ, LD_PRELOAD=preloaded))
            said[preloaded] = done.stdout
            if done.returncode:
                said[preloaded] += f"*** exit status {done.returncode}\n"
        output += said[library]
        for path in set(re.findall(r"(\w+): .* failed to pass", said[""])):
            output = re.sub(rf"{path}: .* failed to pass", f"{path} passed", output)
            output += f"{path} counts as passed the threshold\n"
    (programs.folder / f"xeigtst{letter}.out").write_text(output)
    return output


def judge(name, output, expected):
    """Prints unexpected lines of a program's output and missing expected ones; returns whether there are none."""
    bad = [line for line in output.splitlines() if "passed" not in line.lower() and
           re.search(r"fail|illegal|suspect|\*\*\*|error code|preload", line, re.IGNORECASE)]
    missing = [each for each in expected if not re.search(each, output, re.IGNORECASE)]
    print(f"{name}: {len(re.findall('passed', output, re.IGNORECASE))} times passed")
    for line in bad[:20] + [f"nothing says: {each}" for each in missing]:
        print("  ", line)
    return not bad and not missing


def expected_of(name):
    letter = name[-1]
    if "blat" in name:
        return ["passed the tests of error-exits", f"{letter}gemm +passed the computational tests"]
    if "eig" in name:
        return [each.format(letter) for said in EIGEN_INPUTS.values() for each in said]
    return [f"{letter}{RENAMED.get(path, path)} (routines|drivers) +passed the {tests}"
            for path in LAPACK_PATHS[letter] for tests in ("threshold", "tests of the error exits")
            if path not in RENAMED or tests == "threshold"]


def main():
    sources, library, folder = sys.argv[1:]
    programs = Programs(Path(sources), Path(folder))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        files = {f"xlintst{letter}": programs.linear(letter) for letter in LAPACK_PATHS}
        files |= {f"xeigtst{letter}": programs.eigen(letter) for letter in EIGEN_LETTERS}
        for letter in BLAS_LETTERS:
            files[f"xblat3{letter}"] = [programs.sources / f"BLAS/TESTING/{letter}blat3.f"]
        every = sorted(set().union(*files.values()))
        objects = dict(zip(every, pool.map(programs.compile, every)))
        built = dict(zip(files, pool.map(lambda name: programs.link(
            name, [objects[file] for file in files[name]]), files)))
        run = {"xblat3": run_blas, "xlintst": run_lapack, "xeigtst": run_eigen}
        runs = {name: pool.submit(run[name[:-1]], programs, library, name[-1], program)
                for name, program in built.items()}
    verdicts = [judge(name, run.result(), expected_of(name)) for name, run in runs.items()]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
