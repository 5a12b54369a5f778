#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek filter` from outside."""
import functools
import gzip
import json
import os
import random
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b""):
    return subprocess.run([TOOL, "filter", *arguments], input=stdin, capture_output=True,
                          timeout=1000)


@functools.cache
def random_text(seed, size):
    source = random.Random(seed)
    return bytes(source.choices(b"aaabbc\x00\xff \n", k=size)) + b"\nlast ab"


@functools.cache
def oracle(pattern, text, invert=False):
    """Returns numbers and lines."""
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [(i, line) for i, line in enumerate(lines, 1) if (pattern in line) != invert]


class Answers(FolderCase):
    def setUp(self):
        super().setUp()
        self.texts = [random_text(1, 1200000), random_text(2, 70000), random_text(3, 500), b""]
        self.names = [self.write("in/a", self.texts[0]), self.write("in/b", gzip.compress(self.texts[1])),
                      self.write("in/c", self.texts[2]), self.write("in/d", b"")]

    def output(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        return done.stdout

    def test_lines_in_order_for_all_settings(self):
        for pattern in (b"ab", b"c\xff", b"aaabbc", b"nowhere"):
            for invert in (False, True):
                found = [oracle(pattern, text, invert) for text in self.texts]
                expected = b"".join(line + b"\n" for one in found for _, line in one)
                for settings in ([], ["--workers", "1"], ["--workers", "5"]):
                    more = ["--invert"] if invert else []
                    self.assertEqual(self.output(*more, *settings, pattern, *self.names), expected)
                    self.assertEqual(self.output(*more, *settings, pattern, self.path("in")), expected)
                self.assertEqual(self.output("--count", *more, pattern, *self.names),
                                 b"%d\n" % sum(map(len, found)))

    def test_numbers_and_names(self):
        found = [(name.encode(), *one) for name, text in zip(self.names, self.texts)
                 for one in oracle(b"abc", text)]
        for workers in "14":
            self.assertEqual(
                self.output("--line-numbers", "--workers", workers, "abc", self.path("in")),
                b"".join(b"%d:%s\n" % one[1:] for one in found))
            self.assertEqual(
                self.output("--names", "--line-numbers", "--workers", workers, "abc", *self.names),
                b"".join(b"%s:%d:%s\n" % one for one in found))
        self.assertEqual(self.output("--names", "--count", "abc", self.path("in")),
                         b"".join(b"%s:%d\n" % (name.encode(), len(oracle(b"abc", text)))
                                  for name, text in zip(self.names, self.texts)))

    def test_standard_input_output_and_json(self):
        text = self.texts[0]
        expected = b"".join(line + b"\n" for _, line in oracle(b"ab", text))
        self.assertEqual(run("ab", stdin=text).stdout, expected)
        self.assertEqual(run("--", "-x", stdin=b"a\n-x\n").stdout, b"-x\n")
        target = self.path("found")
        self.assertEqual(run("--output", target, "ab", stdin=text).stdout, b"")
        with open(target, "rb") as file:
            self.assertEqual(file.read(), expected)
        answer = json.loads(run("--json", "--invert", "ab", stdin=text).stdout)
        self.assertEqual((answer["schema_version"], answer["lines"], answer["found"]),
                         (1, len(oracle(b"", text)), len(oracle(b"ab", text, True))))

    def test_great_lines(self):
        great = b"w" * (10 << 20)
        text = b"x\n" + great + b"find" + great + b"\nx\nfind"
        for name in (self.write("plain", text), self.write("packed", gzip.compress(text, 1))):
            self.assertEqual(self.output("find", name), great + b"find" + great + b"\nfind\n")
            self.assertEqual(self.output("--line-numbers", "x", name), b"1:x\n3:x\n")


class BadInput(FolderCase):
    def test_bad_input_prints_nothing(self):
        good = self.write("good", b"ab\n")
        self.fails(run("ab", good, self.path("none")), 1, "none: No such file")
        cut = self.write("cut", gzip.compress(random_text(1, 1200000))[:-9])
        self.fails(run("ab", good, cut), 1, "cut: truncated gzip data")
        os.mkdir(self.path("out"))
        self.fails(run("--output", self.path("out/found"), "ab", good, cut), 1, "cut: truncated")
        self.assertEqual(os.listdir(self.path("out")), [])
        done = run("--skip-unreadable", "ab", self.path("none"), good)
        self.assertEqual((done.returncode, done.stdout), (0, b"ab\n"))
        self.assertIn(b"skipped", done.stderr)

    def test_bad_options(self):
        self.fails(run(), 2, "pattern")
        self.fails(run("", stdin=b""), 2, "pattern: is empty")
        self.fails(run("a\n", stdin=b""), 2, "pattern: contains a line end")
        self.fails(run("--count", "--line-numbers", "a", stdin=b""), 2, "--line-numbers: not with")
        self.fails(run("--workers", "0", "a", stdin=b""), 2, "--workers must be between 1 and 4096, got 0")


if __name__ == "__main__":
    unittest.main()
