#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Standard streams and files that cannot be written: exit codes do not change; a failure is one line."""
import os
import pty
import resource
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=600, **more)


def through_shell(redirection, *arguments):
    return subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirection}', TOOL, *arguments],
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=600)


class StandardError(FolderCase):
    def test_exit_codes_stay_without_it(self):
        for redirection in ("2>&-", "2>/dev/full"):
            for arguments, code in ((("brook",), 2), (("wordcount", "--workers", "0"), 2),
                                    (("lu", "--input", "/no/such/file"), 1), (("--version",), 0)):
                with self.subTest((redirection, arguments)):
                    self.assertEqual(through_shell(redirection, *arguments).returncode, code)

    def test_exit_codes_stay_if_nobody_reads_it(self):
        text = self.write("text", b"a b a\n")
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        for arguments, code in ((("brook",), 2), (("wordcount", self.path("missing")), 1),
                                (("wordcount", "--skip-unreadable", self.path("missing"), text), 0)):
            with self.subTest(arguments):
                done = subprocess.run([TOOL, *arguments], stdout=subprocess.DEVNULL, stderr=writer,
                                      timeout=600)
                self.assertEqual(done.returncode, code)

    def test_notes_that_are_lost_fail_no_run(self):
        text = self.write("text", b"a b a\n")
        done = through_shell("2>/dev/full", "wordcount", "--skip-unreadable", "--json",
                             self.path("missing"), text)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b'"distinct": 2', done.stdout)

    def test_files_do_not_become_it(self):
        """A file opened while standard error is closed gets no messages."""
        text = self.write("text", b"a b a\n")
        for redirection in ("2>&-", ">&- 2>&-"):
            through_shell(redirection, "wordcount", "--skip-unreadable", "--output",
                          self.path("counts"), self.path("missing"), text)
            with open(self.path("counts"), "rb") as file:
                self.assertEqual(file.read(), b"a\t2\nb\t1\n")

    def test_a_progress_bar_that_is_lost_fails_no_run(self):
        master, slave = pty.openpty()
        child = subprocess.Popen([TOOL, "wordcount", "-"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        child.stdin.write(b"word " * 1000)
        child.stdin.flush()
        drawn = b""
        while b"MB/s" not in drawn:  # the bar is shown until the input ends
            drawn += os.read(master, 4096)
        os.close(master)
        output, _ = child.communicate()
        self.assertEqual(child.returncode, 0)
        self.assertIn(b"1000 words, 1 different", output)


class Files(FolderCase):
    def test_a_file_that_is_too_large_is_one_line(self):
        text = self.write("text", b" ".join(b"word%d" % i for i in range(50000)))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        done = run("wordcount", "--output", self.path("counts"), text, preexec_fn=limit)
        self.fails(done, 1, "File too large")
        self.assertFalse(os.path.exists(self.path("counts")))

    def test_outputs_are_written_before_tables_are_printed(self):
        self.fails(run("compare", "fib", "-n", "5", "--runs", "1", "--plot", "/dev/full"), 1,
                   "/dev/full", "No space left")
        for option in ("--json", "--csv"):
            self.fails(run("bench", "schedulers", "--backend", "scc", "--quick", "--cores", "1",
                           "--lengths", "10", "--workload", "spc", option, "/dev/full"), 1,
                       "/dev/full", "No space left")


if __name__ == "__main__":
    unittest.main()
