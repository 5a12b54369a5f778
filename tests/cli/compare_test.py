#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek compare`: paired runs of power policies, as text, JSON, SVG and traces."""
import json
import os
import unittest
import xml.etree.ElementTree as xml

from dense_cases import Case, run

METRICS = ("seconds", "joules", "joule_seconds", "cpu_seconds", "idle_cpu_seconds")
# Uses no meter, so that the machine's meters do not matter.
BLIND = {**os.environ, "CREEK_METER": "none"}
MODEL = {**os.environ, "CREEK_METER": "model"}


class OnHost(Case):
    def compared(self, *arguments, env=BLIND):
        return self.report("compare", *arguments, "--workers", "2", env=env)

    def test_json_has_these_members(self):
        found = self.compared("lu", "-n", "200", "--runs", "3")
        self.assertEqual(sorted(found), sorted(
            ["schema_version", "version", "command", "problem", "baseline", "method", "seed", "runs",
             "warmup", "sizes"]))
        self.assertEqual((found["schema_version"], found["problem"], found["runs"]), (1, "lu", 3))
        of = found["sizes"][0]
        self.assertEqual(sorted(of), sorted(
            ["n", "about", "backend", "simulated", "machine", "workers", "energy", "order",
             "policies"]))
        self.assertEqual((of["backend"], of["simulated"], of["workers"]), ("host", False, 2))
        for each in of["policies"]:
            self.assertEqual(sorted(each), sorted(
                METRICS + ("policy", "activity", "tasks", "without_control")))
            self.assertEqual(len(each["seconds"]["runs"]), 3)
            self.assertAlmostEqual(sum(each["activity"]), 1)
        self.assertEqual([each["policy"] for each in of["policies"]], ["polling", "blocking"])
        self.assertEqual(found["baseline"], "polling")

    def test_differences_are_of_the_runs_of_a_round(self):
        of = self.compared("chol", "-n", "150", "--runs", "7", "--warmup", "0")["sizes"][0]
        base, other = of["policies"]
        self.assertIsNone(base["seconds"]["difference"])
        shares = [b / a - 1 for a, b in zip(base["seconds"]["runs"], other["seconds"]["runs"])]
        averages = sorted((shares[i] + shares[j]) / 2 for i in range(7) for j in range(i, 7))
        found = other["seconds"]["difference"]
        self.assertAlmostEqual(found["relative"], (averages[13] + averages[14]) / 2)
        # 7 pairs: P(W <= 2) = 3/128, so the third of 28 averages from either end.
        self.assertAlmostEqual(found["interval"]["low"], averages[2])
        self.assertAlmostEqual(found["interval"]["high"], averages[25])
        self.assertAlmostEqual(found["interval"]["confidence"], 1 - 6 / 128)
        low, high = found["interval"]["low"], found["interval"]["high"]
        self.assertEqual(found["interval"]["excludes_zero"], low > 0 or high < 0)

    def test_order_is_drawn_from_the_seed(self):
        def order(seed, *more):
            found = self.compared("fib", "-n", "12", "--runs", "12", "--seed", seed, *more)
            return found["sizes"][0]["order"]
        self.assertEqual(order("3"), order("3"))
        self.assertNotEqual(order("3"), order("4"))
        self.assertEqual({tuple(round) for round in order("3")}, {(0, 1), (1, 0)})
        text = self.succeeds("compare", "fib", "-n", "12", "--runs", "12", "--seed", "3", env=BLIND)
        digits = " ".join("".join(str(place + 1) for place in round) for round in order("3"))
        self.assertIn("order by seed 3: " + digits, text)

    def test_without_a_meter_there_is_a_reason_and_no_joule(self):
        found = self.compared("lu", "-n", "100", "--runs", "2")["sizes"][0]
        self.assertEqual(found["energy"]["origin"], "unavailable")
        self.assertTrue(found["energy"]["reason"])
        for each in found["policies"]:
            self.assertIsNone(each["joules"])
            self.assertIsNone(each["joule_seconds"])
        text = self.succeeds("compare", "lu", "-n", "100", "--runs", "2", env=BLIND)
        self.assertEqual(text.count("energy: unavailable: "), 1)
        self.assertNotIn("energy, J", text)
        self.assertIn("no intervals: they need 6 runs", text)

    def test_modelled_energy_names_its_origin(self):
        found = self.compared("lu", "-n", "300", "--runs", "2", "--meter", "model", env=BLIND)["sizes"][0]
        self.assertEqual(found["energy"]["origin"], "modelled")
        for each in found["policies"]:
            for joules, seconds, both in zip(*(each[name]["runs"] for name in
                                               ("joules", "seconds", "joule_seconds"))):
                self.assertGreater(joules, 0)
                self.assertAlmostEqual(joules * seconds, both)
        text = self.succeeds("compare", "lu", "-n", "300", "--runs", "2", env=MODEL)
        self.assertIn("energy, J (modelled", text)

    def test_several_sizes_forms_and_problems(self):
        found = self.compared("qr", "-n", "60,90", "--runs", "1", "--form", "blocks", "--block", "30")
        self.assertEqual([of["n"] for of in found["sizes"]], [60, 90])
        self.assertIn("form blocks, block 30", found["sizes"][0]["about"])
        for problem in ("fib", "sort"):
            of = self.compared(problem, "-n", "20", "--runs", "1")["sizes"][0]
            for each in of["policies"]:
                self.assertIsNone(each["activity"])
                self.assertIsNone(each["seconds"]["difference"] and
                                  each["seconds"]["difference"]["interval"])

    def test_plot_has_a_panel_a_metric(self):
        file = self.path("power.svg")
        self.compared("lu", "-n", "200", "--runs", "6", "--plot", file, "--meter", "model")
        root = xml.parse(file).getroot()
        headings = [each.text for each in root.iter() if each.get("class") == "heading"]
        for part in ("time, s", "energy, J (modelled", "CPU time, s", "workers in tasks",
                     "energy over time"):
            self.assertTrue(any(part in heading for heading in headings), (part, headings))
        self.assertTrue(list(root.iter("{http://www.w3.org/2000/svg}polyline")))

    def test_trace_of_each_policy(self):
        file = self.path("run.json")
        self.compared("lu", "-n", "300", "--runs", "1", "--trace", file, "--meter", "model")
        for policy in ("polling", "blocking"):
            with open(self.path("run.%s.json" % policy)) as trace:
                events = json.load(trace)["traceEvents"]
            self.assertIn("panel", [event.get("name") for event in events])
            counters = {event["name"] for event in events if event["ph"] == "C"}
            self.assertIn("power (modelled), mW", counters)
        self.assertFalse(os.path.exists(file))

    def test_help_has_examples(self):
        text = self.succeeds("compare", "--help")
        for part in ("creek compare lu --policy polling,blocking --runs 15", "--backend scc", "--watts"):
            self.assertIn(part, text)

    def test_bad_usage(self):
        for arguments, parts in (
                (("lu", "--policy", "polling,sloth"), ("sloth", "valid: polling, blocking")),
                (("lu", "--policy", "polling,polling"), ("--policy: the list contains 'polling' twice",)),
                (("lu", "--runs", "0"), ("--runs must be between 1 and 2000, got 0",)),
                (("lu", "-n", "-3"), ("-n must be 1 or more, got -3",)),
                (("lu", "--meter", "sundial"), ("sundial",)),
                (("lu", "--backend", "tbb"), ("--backend tbb", "host and scc")),
                (("lu", "--bound", "7"), ("--bound must be between 0 and 1, got 7",)),
                (("fib", "--block", "3"), ("--block", "fib")),
                (("fib", "--form", "blocks"), ("--form", "fib")),
                (("fib", "--backend", "scc"), ("fib", "host only")),
                (("trace",), ("trace not in {lu,chol,qr,fib,sort}",)),
                ((), ("problem",)),
                (("lu", "--workers", "0"), ("--workers must be between 1 and 4096, got 0",))):
            self.fails(run("compare", *arguments, env=BLIND), 2, *parts)

    def test_failed_runs(self):
        for option in ("--plot", "--trace"):
            self.fails(run("compare", "lu", "-n", "9", option, "/no/such/folder/x.svg"), 1,
                       "/no/such/folder")
        self.fails(run("compare", "lu", "-n", "1000000"), 1, "needs", "GiB")


SIMULATED = ("simulated_seconds", "joules", "joule_seconds", "awake_core_seconds",
             "idle_awake_core_seconds")


class OnChip(Case):
    def compared(self, *arguments):
        return self.report("compare", *arguments, "--backend", "scc")["sizes"][0]

    def test_figures_are_exact_and_of_simulated_time(self):
        command = ("lu", "-n", "128", "--block", "16", "--workers", "8")
        of = self.compared(*command)
        self.assertEqual((of["backend"], of["simulated"], of["workers"]), ("scc", True, 8))
        self.assertEqual(of["energy"]["origin"], "simulated")
        for each in of["policies"]:
            self.assertNotIn("seconds", each)
            for name in SIMULATED:
                self.assertGreater(each[name]["value"], 0)
            self.assertLess(each["idle_awake_core_seconds"]["value"],
                            each["awake_core_seconds"]["value"])
            self.assertAlmostEqual(sum(each["activity"]), 1)
            self.assertEqual(len(each["activity"]), 9)
        base, other = of["policies"]
        for name in SIMULATED:
            found = other[name]["difference"]
            self.assertEqual(found["exact"], True)
            self.assertNotIn("interval", found)
            self.assertAlmostEqual(found["relative"], other[name]["value"] / base[name]["value"] - 1)
        self.assertLess(other["joules"]["value"], base["joules"]["value"])
        self.assertEqual(self.compared(*command), of)

    def test_text_says_that_it_is_simulated(self):
        text = self.succeeds("compare", "chol", "-n", "96", "--block", "16", "--workers", "6",
                             "--backend", "scc")
        for part in ("simulated, exact: one run per policy", "simulated time, s", "6 of 48 cores",
                     "blocks in shared memory, moved word by word"):
            self.assertIn(part, text)
        self.assertNotIn("95 %", text)
        self.assertNotIn("\ntime, s", text)

    def test_blocks_in_messages(self):
        for problem in ("lu", "chol", "qr"):
            of = self.compared(problem, "-n", "96", "--block", "16", "--workers", "6",
                               "--memory", "messages")
            self.assertIn("sent in messages", of["about"])
            for each in of["policies"]:
                self.assertIsNone(each["activity"])
                for name in SIMULATED:
                    self.assertGreater(each[name]["value"], 0)

    def test_slack_reduction_plans_for_itself(self):
        for command in (("lu",), ("chol",), ("qr",), ("chol", "--form", "blocks")):
            of = self.compared(*command, "-n", "96", "--block", "16", "--workers", "6", "--policy",
                               "blocking,slack_reduction")
            self.assertGreater(of["policies"][1]["joules"]["value"], 0)

    def test_trace_and_plot(self):
        trace, plot = self.path("chip.json"), self.path("chip.svg")
        self.compared("lu", "-n", "128", "--block", "16", "--workers", "8", "--trace", trace,
                      "--plot", plot)
        with open(self.path("chip.polling.json")) as file:
            names = {event.get("name", "") for event in json.load(file)["traceEvents"]
                     if event["ph"] == "C"}
        for part in ("island 0 frequency (kHz)", "island 0 voltage (mV)", "island 0 power (mW)"):
            self.assertIn(part, names)
        headings = [each.text for each in xml.parse(plot).getroot().iter()
                    if each.get("class") == "heading"]
        for part in ("simulated time, s", "energy, J (simulated", "energy over time"):
            self.assertTrue(any(part in heading for heading in headings), (part, headings))

    def test_bad_usage(self):
        for arguments, parts in (
                (("--workers", "49"), ("48 cores",)),
                (("--chip", "abacus"), ("abacus",)),
                (("--meter", "model"), ("--meter", "simulated")),
                (("--memory", "messages", "--form", "blocks"), ("--memory messages",)),
                (("--memory", "messages", "--moves", "combined"), ("--moves",)),
                (("--memory", "messages", "--policy", "slack_reduction"), ("slack_reduction", "graph")),
                (("--policy", "power_cap", "--watts", "1"), ("power_cap", "1 W"))):
            self.fails(run("compare", "lu", "-n", "64", "--backend", "scc", *arguments), 2, *parts)
        for option in (("--memory", "messages"), ("--chip", "scc-800"), ("--moves", "combined")):
            self.fails(run("compare", "lu", *option), 2, option[0], "--backend scc")


if __name__ == "__main__":
    unittest.main()
