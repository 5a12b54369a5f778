#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files whose names the user did not choose: links are not followed, only regular files are replaced
and read."""
import os
import resource
import subprocess
import unittest

from tool_case import TOOL, FolderCase

SCC = ("--backend", "scc")


class DerivedNames(FolderCase):
    def run_tool(self, *arguments, **more):
        return subprocess.run([TOOL, *arguments], capture_output=True, timeout=100,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "XDG_CONFIG_HOME": self.path("config")}, **more)

    def all_files(self):
        return sorted(os.path.relpath(os.path.join(folder, file), self.folder.name)
                      for folder, _, files in os.walk(self.folder.name) for file in files)

    def cases(self):
        """Returns the name that each command derives from the given name."""
        schedulers = ("bench", "schedulers", *SCC, "--quick", "--workload", "spc", "--cores", "1",
                      "--lengths", "10", "--tasks", "100", "--svg")
        return {
            "man/creek.1": ("generate", "man", "--folder", self.path("man")),
            "svg/scc-spc-random.svg": (*schedulers, self.path("svg")),
            "t/t.polling.json": ("compare", "fib", "-n", "5", "--runs", "1",
                                 "--trace", self.path("t/t.json")),
            "c/t.polling.json": ("compare", "lu", *SCC, "-n", "32", "--block", "8", "--workers",
                                 "2", "--trace", self.path("c/t.json")),
            "lu/f.pivots.npy": ("lu", "-n", "10", "--output", self.path("lu/f.npy")),
            "qr/f.tau.npy": ("qr", "-n", "10", "--output", self.path("qr/f.npy")),
            "config/creek/clock.json": ("scc", "calibrate", "--seconds", "0.02"),
        }

    def make_folder_of(self, name):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)

    def test_a_link_is_not_followed(self):
        for name, arguments in self.cases().items():
            with self.subTest(name):
                self.make_folder_of(name)
                victim = self.write("victim", b"precious")
                os.symlink(victim, self.path(name))
                self.fails(self.run_tool(*arguments), 1, name, "a symbolic link, not followed")
                with open(victim, "rb") as file:
                    self.assertEqual(file.read(), b"precious")
                self.assertEqual(self.all_files(), sorted([name, "victim"]))
                os.unlink(self.path(name))

    def test_a_pipe_is_not_waited_for(self):
        for name, arguments in self.cases().items():
            with self.subTest(name):
                self.make_folder_of(name)
                os.mkfifo(self.path(name))
                self.fails(self.run_tool(*arguments), 1, name, "not a regular file")
                self.assertEqual(self.all_files(), [name])
                os.unlink(self.path(name))

    def test_a_regular_file_is_replaced(self):
        for name, arguments in self.cases().items():
            with self.subTest(name):
                self.write(name, b"old")
                done = self.run_tool(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(os.path.getsize(self.path(name)), 3)

    def test_a_link_that_the_user_names_is_followed(self):
        self.write("real.npy", b"old")
        os.symlink("real.npy", self.path("link.npy"))
        done = self.run_tool("lu", "-n", "10", "--output", self.path("link.npy"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertGreater(os.path.getsize(self.path("real.npy")), 3)

    def test_the_calibration_is_read_from_a_regular_file(self):
        name, text = "config/creek/clock.json", self.write("text", b"a b a\n")
        count = ("wordcount", *SCC, "--cores", "2", "--clock", "measured", text)
        self.fails(self.run_tool(*count), 2, name, "creek scc calibrate")
        self.make_folder_of(name)
        os.mkfifo(self.path(name))
        self.fails(self.run_tool(*count), 1, name, "not a regular file")
        os.unlink(self.path(name))
        os.symlink("/dev/zero", self.path(name))
        self.fails(self.run_tool(*count), 1, name, "not a regular file")
        os.unlink(self.path(name))
        self.write("elsewhere.json", b'{"cycles_a_host_second": 1e9}')
        os.symlink(self.path("elsewhere.json"), self.path(name))
        self.assertEqual(self.run_tool(*count).returncode, 0)
        os.unlink(self.path(name))
        with open(self.path(name), "wb") as file:
            file.truncate(1 << 40)  # does not fit into memory as a whole
        self.fails(self.run_tool(*count), 2, name, "has no calibration")
        os.unlink(self.path(name))
        self.write(name, b"[" * 30000 + b"]" * 30000)  # JSON that is nested too deeply for recursion
        self.fails(self.run_tool(*count), 2, name, "has no calibration")
        self.write(name, b'{"cycles_a_host_second": 1e9}')
        self.assertEqual(self.run_tool(*count).returncode, 0)

    def test_two_files_appear_together_or_not_at_all(self):
        # The matrix of one float has 132 bytes; its pivots, one double, have 136.
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (134, 134))
        lu = ("lu", "-n", "1", "--type", "s", "--output", self.path("f.npy"))
        self.fails(self.run_tool(*lu, preexec_fn=limit), 1, "f.pivots.npy", "File too large")
        self.assertEqual(self.all_files(), [])
        self.write("f.npy", b"old")
        self.fails(self.run_tool(*lu, preexec_fn=limit), 1, "f.pivots.npy", "File too large")
        with open(self.path("f.npy"), "rb") as file:
            self.assertEqual(file.read(), b"old")
        self.assertEqual(self.run_tool(*lu).returncode, 0)
        self.assertEqual(self.all_files(), ["f.npy", "f.pivots.npy"])


if __name__ == "__main__":
    unittest.main()
