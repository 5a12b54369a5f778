# SPDX-License-Identifier: Apache-2.0
"""dense.py CREEK LAUNCHER...: `creek lu`, `chol` and `qr` with `--backend mpi`: results, power policies of ranks, and
joules that say what they are of."""

import json
import os
import pathlib
import re
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from json_schema import faults  # noqa: E402
import launch  # noqa: E402

SCHEMA = json.loads((ROOT / "docs/schemas/dense-mpi.json").read_text(encoding="utf-8"))


class Checks:
    def __init__(self, creek, launcher):
        self.creek, self.launcher, self.failures = creek, launcher, []

    def expect(self, found, wanted, what):
        if found != wanted:
            self.failures.append(f"{what}: {found!r}, expected {wanted!r}")

    def on_ranks(self, ranks, arguments, **variables):
        """Runs a command on ranks that may use the same processors."""
        return self.run([*self.launcher, "-n", str(ranks), self.creek, *arguments.split(), "--backend", "mpi"], variables)

    def bound(self, arguments, **variables):
        """Runs a command on two ranks that have a processor each."""
        command = [*self.launcher]
        for number, cpu in enumerate(sorted(os.sched_getaffinity(0))[:2]):
            command += [":"] * number + ["-n", "1", "taskset", "-c", str(cpu), self.creek, *arguments.split(), "--backend",
                                         "mpi"]
        return self.run(command, variables)

    def run(self, command, variables):
        before = dict(os.environ)
        os.environ.update(variables)
        try:
            return launch.run(command)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def report(self, done, what):
        self.expect(done.returncode, 0, f"{what}: exit status ({done.stderr})")
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        self.expect(faults(found, SCHEMA), [], f"{what}: faults by the schema")
        return found

    def fails(self, arguments, why, code=2):
        done = self.on_ranks(2, arguments)
        self.expect((done.returncode, why in done.stderr + done.stdout), (code, True), f"{arguments}: {done.stderr}")


def results(to):
    for command in ("lu", "chol", "qr"):
        for ranks in (1, 2, 3):
            for more in ("", "--policy blocking --workers 2 --runs 2", "--block 1000"):
                what = f"{command} on {ranks} ranks {more}"
                found = to.report(to.on_ranks(ranks, f"{command} -n 130 --check --json {more}"), what)
                to.expect(len(found["ranks"]), ranks, f"{what}: ranks")
                to.expect(found["workers"], 2 * ranks, f"{what}: workers, {more}")
                to.expect(found["residual"] < 30, True, f"{what}: residual {found['residual']}")
                to.expect(found["energy"]["cpu_seconds"] > 0, True, f"{what}: CPU seconds")


def no_meter(to, folder):
    """Counters that cannot be read are a line, not a 0."""
    done = to.on_ranks(2, "lu -n 60 --json", CREEK_SYSFS=folder)
    found = to.report(done, "no counters")
    to.expect((found["energy"]["origin"], found["energy"]["joules"]), ("unavailable", None), "no counters")
    to.expect(found["energy"]["reason"].startswith("rank 0 on "), True, found["energy"]["reason"])
    text = to.on_ranks(2, "lu -n 60", CREEK_SYSFS=folder).stdout
    to.expect(len(re.findall(r"^energy +unavailable: rank 0 on .*: rapl: ", text, re.MULTILINE)), 1, text)


def models(to):
    """Each rank has a figure by the model; what the cores of the machine share counts once."""
    for ranks in (1, 2):
        for policy in ("", "--policy blocking"):
            what = f"the model on {ranks} ranks {policy}"
            found = to.report(to.on_ranks(ranks, f"lu -n 1500 --runs 3 --json {policy}", CREEK_METER="model"), what)
            energy = found["energy"]
            to.expect((energy["origin"], energy["sum_of"], energy["parts"]), ("modelled", "ranks", ranks), what)
            parts = sum(rank["joules"] for rank in found["ranks"])
            to.expect(abs(parts - energy["joules"]) < 1e-9 * parts, True, f"{what}: the sum of the ranks")
            if policy:
                continue
            # 20 W that all share, 6 W for each second of a processor, 0.1 W for each that sleeps.
            wall, cpu = sum(found["seconds"]["runs"]), energy["cpu_seconds"]
            to.expect(20 * wall < parts < 28 * wall + 6 * cpu, True, f"{what}: {parts} J in {wall} s, {cpu} CPU seconds")


def counters(to, folder):
    """One rank reads the counters of the machine, which all ranks share."""
    zone = pathlib.Path(folder, "class/powercap/intel-rapl:0")
    zone.mkdir(parents=True)
    (zone / "name").write_text("package-0\n", encoding="ascii")
    (zone / "max_energy_range_uj").write_text("262143328850\n", encoding="ascii")
    stop, energy = threading.Event(), zone / "energy_uj"
    energy.write_text(f"{0:20}\n", encoding="ascii")

    def count():
        joules = 0
        with open(energy, "r+", encoding="ascii") as file:
            while not stop.wait(0.0005):
                joules += 1
                os.pwrite(file.fileno(), f"{joules * 1000000:20}\n".encode(), 0)
    counting = threading.Thread(target=count)
    counting.start()
    try:
        found = to.report(to.on_ranks(2, "lu -n 700 --json", CREEK_SYSFS=folder), "counters")
    finally:
        stop.set()
        counting.join()
    energy = found["energy"]
    to.expect((energy["origin"], energy["source"], energy["sum_of"], energy["parts"]),
              ("measured", "rapl", "machines", 1), "counters")
    to.expect([rank["joules"] for rank in found["ranks"]], [energy["joules"], None], "only rank 0 reads")
    to.expect(energy["joules"] >= 1, True, "joules")


def lay_out(folder, machine):
    for row in (ROOT / "tests/power/machines" / f"{machine}.txt").read_text(encoding="utf-8").splitlines():
        name, value = row.split(":", 1)
        pathlib.Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(folder, name).write_text(value + "\n", encoding="ascii")


def clocks(to, folder):
    """A rank sets the clocks of its own processors, or says why not; all ranks together say it once."""
    done = to.on_ranks(2, "lu -n 60 --policy frequency --json", CREEK_SYSFS=folder)
    found = to.report(done, "shared processors")
    shared = "ranks share processors"
    if len(os.sched_getaffinity(0)) < 2:
        return
    to.expect([(each["clocks"] or "")[:len(shared)] for each in found["ranks"]], [shared] * 2, "shared processors")
    said = [line for line in done.stderr.splitlines() if "policy 'frequency' runs without control of clocks" in line]
    to.expect(len(said), 1, done.stderr)
    to.expect([each["clocks"] for each in to.report(to.on_ranks(2, "lu -n 60 --policy blocking --json",
                                                                CREEK_SYSFS=folder), "blocking")["ranks"]],
              [None, None], "a policy without clocks")
    lay_out(folder, "intel_pstate_passive")
    setting = [pathlib.Path(folder, f"devices/system/cpu/cpufreq/policy{cpu}/scaling_governor")
               for cpu in sorted(os.sched_getaffinity(0))[:2]]
    if not all(each.exists() for each in setting):
        return
    before = [each.stat().st_mtime_ns for each in setting]
    done = to.bound("lu -n 300 --policy race_to_idle --json", CREEK_SYSFS=folder)
    found = to.report(done, "bound ranks")
    for number, each in enumerate(setting):
        to.expect(each.stat().st_mtime_ns > before[number], True, f"rank {number} sets the clock of its processor")
        to.expect(each.read_text(encoding="ascii").startswith("schedutil\n"), True, "the governor is put back")
        to.expect("share" in (found["ranks"][number]["clocks"] or ""), False, "bound ranks share processors")
    to.expect("without control" in done.stderr, False, done.stderr)


def misuse(to):
    for arguments, why in [
            ("lu -n 9 --policy fast", "unknown power policy 'fast'; valid: polling, blocking"),
            ("lu -n 9 --policy slack-reduction", "--policy slack_reduction: not with --backend mpi, which has no graph"),
            ("lu -n 9 --policy power_cap", "power_cap: say how many watts"),
            ("lu -n 9 --policy power_cap --watts 1", "power_cap: 1 W is not above"),
            ("lu -n 9 --policy blocking --watts 1", "--watts: needs the policy power_cap"),
            ("lu -n 9 --energy", "--energy: not with --backend mpi, which reports the energy of all ranks"),
            ("lu -n 9 --chip scc-800", "--chip: needs --backend scc"),
            ("qr -n 9 --form blocks", "--form: not with --backend mpi"),
            ("chol -n 9 --type s", "--type: not with --backend mpi, which computes in double"),
            ("lu", "-n is required")]:
        to.fails(arguments, why)
    to.fails("lu -n 90000000", "needs", code=1)


def main():
    creek, *launcher = sys.argv[1:]
    launch.skip_unless_it_starts([*launcher, "-n", "1"])
    to = Checks(creek, launcher)
    results(to)
    models(to)
    with tempfile.TemporaryDirectory() as folder:
        no_meter(to, folder)
        counters(to, folder)
    with tempfile.TemporaryDirectory() as folder:
        clocks(to, folder)
    misuse(to)
    for failure in to.failures:
        print(failure)
    sys.exit(1 if to.failures else 0)


if __name__ == "__main__":
    main()
