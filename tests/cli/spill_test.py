#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--memory` and `--spill` from outside: the same bytes as without, and every kind of failure."""
import json
import os
import random
import resource
import signal
import subprocess
import unittest

from tool_case import TOOL, FolderCase

SANITIZED = bool(os.environ.get("CREEK_TEST_SANITIZE"))


def run(*arguments, stdin=b"", **more):
    return subprocess.run([TOOL, *arguments], input=stdin, capture_output=True, timeout=1000,
                          **more)


def random_text(seed, words):
    source = random.Random(seed)
    return b"".join(b"%x%c" % (source.randrange(100) if source.random() < .5
                               else source.randrange(1 << 40), source.choice(b" \n\t"))
                    for _ in range(words))


class SpillCase(FolderCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("spill"))
        self.texts = [self.write(f"in/{i}", random_text(i, 120000)) for i in range(3)]
        self.limit = ["--memory", "1M", "--spill", self.path("spill")]

    def nothing_left(self):
        self.assertEqual(os.listdir(self.path("spill")), [])

    def lines(self, command, *arguments):
        target = self.path("lines.tsv")
        done = run(command, "--quiet", "--output", target, *arguments, *self.texts)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.nothing_left()
        with open(target, "rb") as file:
            return file.read()


class Answers(SpillCase):
    def test_same_bytes_as_without(self):
        for command in ("wordcount", "inverted-index"):
            expected = self.lines(command)
            self.assertGreater(len(expected), 2 << 20)
            for workers in ("8",) if SANITIZED else ("1", "2", "8"):
                self.assertEqual(self.lines(command, *self.limit, "--workers", workers), expected)
            # Large enough for each mapper of wordcount to have a table of words.
            self.assertEqual(self.lines(command, "--memory", "64M", "--workers", "2"), expected)
        self.assertEqual(self.lines("wordcount", *self.limit, "--no-combine"), self.lines("wordcount"))

    def test_same_answers_and_a_report(self):
        for command, same in (("wordcount", ("words", "distinct", "top")),
                              ("inverted-index", ("words", "distinct", "entries", "top"))):
            plain = json.loads(run(command, "--json", *self.texts).stdout)
            self.assertNotIn("spilled", plain)
            for more in ([], ["--output", self.path("out")]):
                done = run(command, "--json", *self.limit, "--workers", "2", *more, *self.texts)
                answer = json.loads(done.stdout)
                for member in same:
                    self.assertEqual(answer[member], plain[member], (command, member, more))
                self.assertGreater(answer["spilled"]["bytes"], 2 << 20)
                self.assertGreater(answer["spilled"]["runs"], 4)
                self.assertLess(answer["spilled"]["peak_bytes"], 1.2 * (1 << 20))
        text = run("wordcount", *self.limit, *self.texts).stdout.decode()
        self.assertRegex(text, r"spilled [0-9.]+ MB in \d+ runs, at most [0-9.]+ .?B of interm")

    def test_standard_input_and_output(self):
        for command in ("wordcount", "inverted-index"):
            plain = run(command, "--quiet", "--top", "50", stdin=random_text(9, 50000))
            self.assertEqual(plain.returncode, 0)
            done = run(command, "--quiet", "--top", "50", *self.limit, stdin=random_text(9, 50000))
            self.assertEqual((done.stdout, done.stderr), (plain.stdout, b""))
            done = run(command, *self.limit, stdin=b"")
            self.assertIn(b"0 words, 0 different", done.stdout)
        self.nothing_left()

    def test_default_directory_is_that_of_temporary_files(self):
        missing = {**os.environ, "TMPDIR": self.path("missing")}
        self.fails(run("wordcount", "--memory", "1M", stdin=b"a", env=missing), 1,
                   "missing: cannot make a spill file: No such file")
        here = {**os.environ, "TMPDIR": self.path("spill")}
        self.assertEqual(run("wordcount", "--memory", "16M", stdin=b"a", env=here).returncode, 0)


class Failures(SpillCase):
    def test_bad_options(self):
        for command in ("wordcount", "inverted-index"):
            for arguments, parts in (
                    (["--memory", "much"], ["memory"]),
                    (["--memory", "-1"], ["memory"]),
                    (["--memory", "0"], ["0 bytes is too small"]),
                    (["--memory", "1K", "--workers", "3"], ["1024 bytes is too small for 3", "196608"]),
                    (["--spill", self.path("spill")], ["--spill", "--memory"])):
                self.fails(run(command, *arguments, stdin=b"a"), 2, *parts)
        self.fails(run("wordcount", "--backend", "scc", *self.limit, stdin=b"a"), 2, "--memory")

    def test_bad_directories(self):
        plain = self.write("plain", b"")
        for command in ("wordcount", "inverted-index"):
            for directory, why in ((self.path("none"), "No such file"), (plain, "Not a directory"),
                                   ("/proc", "cannot make a spill file")):
                self.fails(run(command, "--memory", "1M", "--spill", directory, stdin=b"a"), 1,
                           directory, why)

    def test_directory_that_is_not_writable(self):
        as_other = self.as_nobody()
        os.chmod(self.path("spill"), 0o555)
        self.fails(run("wordcount", *self.limit, stdin=b"a", **as_other), 1,
                   "spill: cannot make a spill file: Permission denied")

    def test_full_disk(self):
        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

        for command in ("wordcount", "inverted-index"):
            os.makedirs(self.path("out"), exist_ok=True)
            for more in ([], ["--output", self.path("out/lines")]):
                for workers in ("1", "4"):
                    done = run(command, *self.limit, *more, "--workers", workers, *self.texts,
                               preexec_fn=limit_files)
                    self.fails(done, 1, "spill: cannot write a spill file: File too large")
                    self.nothing_left()
            self.assertEqual(os.listdir(self.path("out")), [])

    def test_word_that_does_not_fit(self):
        text = self.write("great", b"small " + b"w" * (24 << 20) + b" end")
        for command in ("wordcount", "inverted-index"):
            for memory in ("1M", "16M"):
                done = run(command, "--memory", memory, "--workers", "1", text)
                self.fails(done, 1, "pair", "%d bytes" % (int(memory[:-1]) << 20))
        # Longer than what could be written at once, but nothing has to be written.
        done = run("wordcount", "--memory", "48M", "--workers", "1", text)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"3 words, 3 different", done.stdout)
        self.fails(run("inverted-index", "--memory", "48M", "--workers", "1", text), 1, "pair", "50331648 bytes")


if __name__ == "__main__":
    unittest.main()
