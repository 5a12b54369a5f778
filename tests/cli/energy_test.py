#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--energy` from outside: the same line and the same JSON for every command."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
LU = ("lu", "-n", "200", "--no-check", "--energy")


def run(*arguments, **variables):
    environment = dict(os.environ, **variables)
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=1000, env=environment,
                          text=True, errors="replace")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="creek-cli-")
        self.addCleanup(self.folder.cleanup)
        self.tree = os.path.join(self.folder.name, "sys")
        os.makedirs(self.tree)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def package(self, joules):
        zone = "sys/class/powercap/intel-rapl:0/"
        self.write(zone + "name", "package-0\n")
        self.write(zone + "max_energy_range_uj", "262143328850\n")
        return self.write(zone + "energy_uj", f"{joules * 1000000}\n")

    def succeeds(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def line(self, output):
        lines = [each for each in output.splitlines() if each.startswith("energy: ")]
        self.assertEqual(len(lines), 1, output)
        self.assertEqual(output.splitlines()[-1], lines[0])
        return lines[0]


class Text(Case):
    def test_nobody_asked(self):
        self.assertNotIn("energy:", self.succeeds(run("lu", "-n", "100", "--no-check")))

    def test_unavailable_says_why_and_gives_cpu_seconds(self):
        line = self.line(self.succeeds(run(*LU, CREEK_SYSFS=self.tree)))
        self.assertTrue(line.startswith("energy: unavailable: rapl: " + self.tree), line)
        self.assertTrue(line.endswith(" CPU seconds"), line)

    def test_a_counter_that_stands_still_is_no_zero(self):
        self.package(7)
        line = self.line(self.succeeds(run(*LU, CREEK_SYSFS=self.tree)))
        self.assertIn("unavailable: the counters of rapl did not move", line)

    def test_model_when_asked(self):
        for command in ("lu", "chol", "qr", "solve"):
            done = run(command, "-n", "100", "--energy", CREEK_METER="model")
            self.assertRegex(self.line(self.succeeds(done)),
                             r"^energy: [0-9.e+-]+ J modelled \(model\), mean [0-9.e+-]+ W in "
                             r"[0-9.e+-]+ s, [0-9.e+-]+ CPU seconds$")

    def test_quiet_leaves_standard_output_alone(self):
        text = self.write("text", "b a b\n")
        done = run("wordcount", "--quiet", "--energy", text, CREEK_METER="model")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("energy", done.stdout)
        self.assertTrue(done.stderr.startswith("energy: "), done.stderr)

    def test_simulated(self):
        text = self.write("text", "a b a\n" * 50)
        done = run("wordcount", "--backend", "scc", "--cores", "4", "--energy", text,
                   CREEK_SYSFS=self.tree)
        self.assertRegex(self.line(self.succeeds(done)),
                         r"^energy: [0-9.e+-]+ J simulated, mean [0-9.e+-]+ W in [0-9.e+-]+ virtual "
                         r"seconds, [0-9.e+-]+ CPU seconds here$")


class Json(Case):
    def energy(self, done):
        found = json.loads(self.succeeds(done))["command_energy"]
        self.assertEqual(list(found), ["origin", "source", "joules", "mean_watts", "seconds",
                                       "cpu_seconds", "domains", "reason"])
        self.assertGreater(found["cpu_seconds"], 0)
        return found

    def test_absent_unless_asked_for(self):
        self.assertNotIn("command_energy", json.loads(self.succeeds(run("lu", "-n", "100", "--json"))))

    def test_unavailable_is_null(self):
        found = self.energy(run(*LU, "--json", CREEK_SYSFS=self.tree))
        self.assertEqual(found["origin"], "unavailable")
        self.assertIsNone(found["joules"])
        self.assertIsNone(found["mean_watts"])
        self.assertIn("powercap", found["reason"])

    def test_modelled(self):
        found = self.energy(run(*LU, "--json", CREEK_METER="model"))
        self.assertEqual((found["origin"], found["source"]), ("modelled", "model"))
        self.assertGreater(found["joules"], 0)
        self.assertAlmostEqual(found["mean_watts"], found["joules"] / found["seconds"], delta=1e-6)
        self.assertIsNone(found["reason"])

    def test_simulated_is_that_of_the_chip(self):
        text = self.write("text", "a b a\n" * 50)
        done = run("wordcount", "--backend", "scc", "--cores", "4", "--json", "--energy", text)
        whole = json.loads(self.succeeds(done))
        self.assertEqual(whole["command_energy"]["origin"], "simulated")
        self.assertAlmostEqual(whole["command_energy"]["joules"], whole["simulated"]["joules"],
                               delta=1e-6 * whole["command_energy"]["joules"])


    def test_takes_no_other_members_name(self):
        plain = json.loads(self.succeeds(run("bench", "scc-power", "--json")))
        found = json.loads(self.succeeds(run("bench", "scc-power", "--json", "--energy")))
        self.assertEqual(set(found) - set(plain), {"command_energy"})
        self.assertEqual(found["command_energy"]["origin"], "simulated")


class Info(Case):
    def test_lists_meters(self):
        self.package(7)
        found = json.loads(self.succeeds(run("info", "--json", CREEK_SYSFS=self.tree)))["energy"]
        self.assertEqual(found["chosen"], "auto")
        self.assertEqual([each["source"] for each in found["meters"]], ["rapl", "perf", "nvml"])
        self.assertEqual(found["meters"][0],
                         {"source": "rapl", "usable": True, "domains": "package-0"})
        self.assertIn("reason", found["meters"][1])
        text = self.succeeds(run("info", CREEK_SYSFS=self.tree))
        self.assertIn("rapl: package-0", text)
        self.assertIn("no perf: ", text)


class BadInput(Case):
    def fails(self, done, part):
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_meter_and_tree(self):
        self.fails(run(*LU, CREEK_METER="mains"), "CREEK_METER: unknown meter 'mains'; valid: auto")
        self.fails(run(*LU, CREEK_SYSFS="/nowhere"), "CREEK_SYSFS='/nowhere' is not a folder")

    def test_info_has_no_energy_to_tell(self):
        self.fails(run("info", "--energy"), "--energy")


if __name__ == "__main__":
    unittest.main()
