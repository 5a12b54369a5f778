# SPDX-License-Identifier: Apache-2.0
"""drop_in.py LAUNCHER... -- PROGRAM: runs a ScaLAPACK program with the drop-in, and without its help, and checks which
calls creek served."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "mpi"))
import launch  # noqa: E402

LEFT = ["psgemm_", "psgetrf_"]
SERVED = [name for letter in "sdcz"
          for routine in ("gesv", "getrf", "getrs", "posv", "potrf", "potrs", "geqrf", "gemm")
          if (name := f"p{letter}{routine}_") not in LEFT]
SERVED += ["psormqr_", "pdormqr_", "pcunmqr_", "pzunmqr_"]


def calls(text):
    return {name: (int(all_calls), int(by_creek))
            for name, all_calls, by_creek in re.findall(r"^  (p\w+_) +(\d+) +(\d+) +[\d.]+$", text, re.MULTILINE)}


def main():
    cut = sys.argv.index("--")
    launcher, program = sys.argv[1:cut], sys.argv[cut + 1:]
    launch.skip_unless_it_starts(launcher)
    failures = []
    os.environ["CREEK_SCALAPACK"] = "verbose"
    os.environ["CREEK_WORKERS"] = "3"
    done = launch.run([*launcher, *program])
    found = calls(done.stderr)
    print(done.stdout, done.stderr, flush=True)
    if done.returncode != 0 or "passed" not in done.stdout:
        failures.append(f"exit status {done.returncode}")
    for name in SERVED + LEFT:
        count, by_creek = found.get(name, (0, 0))
        if by_creek == 0 or (by_creek == count) != (name in SERVED):
            failures.append(f"{name}: {by_creek} of {count} calls served by creek")
    workers = 3 if int(launcher[launcher.index("-n") + 1]) <= 2 else 0
    if f"at rank 0, which has {workers} workers" not in done.stderr:
        failures.append(f"rank 0 should have {workers} workers")
    if "parameter number    1 had an illegal value" not in done.stdout + done.stderr:
        failures.append("ScaLAPACK did not report the wrong argument")
    os.environ["CREEK_SCALAPACK"] = "0"
    done = launch.run([*launcher, *program])
    if done.returncode != 0 or "passed" not in done.stdout or calls(done.stderr):
        failures.append(f"without creek: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    os.environ["CREEK_SCALAPACK"] = "1"
    os.environ["CREEK_MPI_SPIN"] = "soon"
    done = launch.run([*launcher, *program])
    if done.returncode == 0 or not re.search(r"^creek: rank \d+: p\w+_: .*CREEK_MPI_SPIN", done.stderr, re.MULTILINE):
        failures.append(f"a wrong setting: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
