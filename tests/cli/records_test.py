#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces and heatmaps that cannot be written: exit code 1, one line, and no result."""
import json
import os
import resource
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=100,
                          stdin=subprocess.DEVNULL, **more)


class Records(FolderCase):
    SCHEDULERS = ("bench", "schedulers", "--backend", "scc", "--quick", "--workload", "spc",
                  "--scheduler", "random", "--cores", "1", "--lengths", "10", "--tasks", "100")

    def cases(self):
        """Commands without their last argument, the name of the record."""
        text = self.write("text", b"a b a\n")
        chip = ("--backend", "scc", "-n", "64", "--block", "8", "--cores", "4", "--trace")
        tbb = (("wordcount", text, "--workers", "2", "--backend", "tbb", "--trace"),)
        return (*(tbb if b"tbb" in run("info").stdout else ()),
                ("wordcount", text, "--workers", "2", "--trace"),
                ("wordcount", text, "--backend", "scc", "--cores", "2", "--trace"),
                ("wordcount", text, "--backend", "scc", "--cores", "2", "--heatmap"),
                ("lu", "-n", "10", "--trace"),
                ("lu", *chip), ("chol", *chip), ("qr", *chip),
                ("lu", "--policy", "slack-reduction", *chip),
                ("lu", "--memory", "messages", *chip),
                (*self.SCHEDULERS, "--trace"), (*self.SCHEDULERS, "--heatmap"))

    def test_bad_names(self):
        for arguments in self.cases():
            for name, why in (("/dev/full", "No space left"), (self.folder.name, "Is a directory"),
                              (self.path("no/such/folder"), "No such file")):
                with self.subTest((arguments, name)):
                    self.fails(run(*arguments, name), 1, name, why)

    def test_good_names(self):
        for arguments in self.cases():
            with self.subTest(arguments):
                done = run(*arguments, self.path("record"))
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                with open(self.path("record")) as file:
                    text = file.read()
                if arguments[-1] == "--trace":
                    json.loads(text)
                else:
                    self.assertTrue(text.startswith("<svg"))
                os.unlink(self.path("record"))

    def test_no_output_is_left_behind(self):
        text = self.write("text", b"a b a\n")
        for more in ((), ("--memory", "64M", "--spill", self.folder.name)):
            self.fails(run("wordcount", text, "--output", self.path("counts"), *more,
                           "--trace", "/dev/full"), 1, "/dev/full")
            self.assertFalse(os.path.exists(self.path("counts")))
        self.fails(run(*self.SCHEDULERS, "--json", self.path("json"), "--trace", self.path("trace"),
                       "--heatmap", "/dev/full"), 1, "/dev/full")
        self.assertEqual(os.listdir(self.folder.name), ["text"])

    def test_a_trace_of_a_comparison_that_is_too_large(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
        for arguments in (("fib", "-n", "5", "--runs", "1"),
                          ("lu", "--backend", "scc", "-n", "32", "--block", "8"),
                          ("lu", "--backend", "scc", "-n", "32", "--block", "8", "--memory",
                           "messages")):
            with self.subTest(arguments):
                self.fails(run("compare", *arguments, "--workers", "2", "--trace",
                               self.path("t.json"), preexec_fn=limit), 1, "t.polling.json",
                           "File too large")
                self.assertEqual(os.listdir(self.folder.name), [])


if __name__ == "__main__":
    unittest.main()
