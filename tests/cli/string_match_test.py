#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek string-match` from outside."""
import gzip
import json
import random
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b""):
    return subprocess.run([TOOL, "string-match", *arguments], input=stdin, capture_output=True,
                          timeout=1000)


def random_text(seed, size):
    source = random.Random(seed)
    return bytes(source.choices(b"aaabbc\x00\xff \n", k=size))


def oracle(pattern, *texts):
    occurrences = lines = 0
    for text in texts:
        for line in text.split(b"\n"):
            here = sum(line.startswith(pattern, i) for i in range(len(line)))
            occurrences += here
            lines += here > 0
    return occurrences, lines


class Answers(FolderCase):
    def test_counts_for_all_settings(self):
        texts = [random_text(1, 1500000), random_text(2, 70000), b"ab\nab"]
        self.write("in/large", texts[0])
        self.write("in/below/packed", gzip.compress(texts[1]))
        self.write("in/small", texts[2])
        patterns = [b"a", b"aa", b"ab c", b"\xff", b"nowhere"]
        expected = b"".join(b"%s\t%d\t%d\n" % (p, *oracle(p, *texts)) for p in patterns)
        given = [part for p in patterns for part in ("-e", p)]
        for settings in ([], ["--workers", "1"], ["--workers", "5"], ["--scheduler", "sharing"]):
            done = run("--quiet", *settings, *given, self.path("in"))
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)

    def test_the_string_as_first_argument_and_from_a_file(self):
        self.assertEqual(run("--quiet", "ab", "-", stdin=b"ab ab\nx\n").stdout, b"ab\t2\t1\n")
        self.assertEqual(run("--quiet", "ab", stdin=b"ab ab\nx\n").stdout, b"ab\t2\t1\n")
        many = self.write("patterns", b"ab\nx y\nz")
        self.assertEqual(run("--quiet", "--patterns", many, "-e", "b", stdin=b"ab x y\n").stdout,
                         b"b\t1\t1\nab\t1\t1\nx y\t1\t1\nz\t0\t0\n")

    def test_json_and_text(self):
        answer = json.loads(run("--json", "-e", "a", "-e", b"\xff", stdin=b"aa\n\xff\n").stdout)
        self.assertEqual(answer["schema_version"], 1)
        self.assertEqual(answer["patterns"][0], {"pattern": "a", "occurrences": 2, "lines": 1})
        self.assertEqual(answer["patterns"][1]["bytes"], "ff")
        text = run("-e", "a\x1b", stdin=b"a\x1b\n").stdout.decode()
        self.assertIn("1 string in 3 B from 1 file", text)
        self.assertIn("           1            1  a\\x1b\n", text)


class BadInput(FolderCase):
    def test_bad_patterns_and_files(self):
        self.fails(run(stdin=b""), 2, "a string to search for is required")
        self.fails(run("", stdin=b""), 2, "pattern: is empty")
        self.fails(run("-e", "a\nb", stdin=b""), 2, "pattern: contains a line end")
        self.fails(run("--patterns", self.path("none"), stdin=b""), 1, "none: No such file")
        empty = self.write("empty", b"")
        self.fails(run("--patterns", empty, stdin=b""), 2, "empty: contains no strings")
        self.fails(run("--patterns", "/dev/zero", stdin=b""), 2, "--patterns /dev/zero: larger than 16 MiB")
        self.fails(run("a", self.path("none")), 1, "none: No such file")
        cut = self.write("cut", gzip.compress(random_text(1, 9000))[:-9])
        self.fails(run("a", cut), 1, "cut: truncated gzip data")


if __name__ == "__main__":
    unittest.main()
