#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek inverted-index` from outside."""
import collections
import gzip
import json
import os
import random
import re
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b""):
    return subprocess.run([TOOL, "inverted-index", *arguments], input=stdin, capture_output=True,
                          timeout=1000)


def random_text(seed, words):
    source = random.Random(seed)
    vocabulary = [bytes(source.choices(b"abcd\x00\xff\xc3\xa4", k=source.randint(1, 20)))
                  for _ in range(300)]
    return b"".join(source.choice(vocabulary) + source.choice([b" ", b"\n", b"\t\t", b"\r\n"])
                    for _ in range(words))


def oracle(files):
    """Returns (word, file, count) in order; `files` are pairs of name and text."""
    entries = []
    for number, (name, text) in enumerate(files):
        counts = collections.Counter(word for word in re.split(rb"[ \t\n\v\f\r]+", text) if word)
        entries += [(word, number, name.encode(), count) for word, count in counts.items()]
    return [(word, name, count) for word, _, name, count in sorted(entries)]


def lines(entries):
    return b"".join(b"%s\t%s\t%d\n" % entry for entry in entries)


class Answers(FolderCase):
    def test_index_for_all_settings(self):
        files = []
        for i, words in enumerate((200000, 0, 700, 30000)):
            text = random_text(i, words)
            name = f"in/{i}"
            files.append((self.write(name, gzip.compress(text) if i == 3 else text), text))
        expected = lines(oracle(files))
        for settings in ([], ["--workers", "1"], ["--workers", "5"], ["--scheduler", "sharing"]):
            self.assertEqual(run("--quiet", *settings, self.path("in")).stdout, expected)
            target = self.path("index.tsv")
            done = run("--quiet", "--output", target, *settings, *(name for name, _ in files))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
            with open(target, "rb") as file:
                self.assertEqual(file.read(), expected)

    def test_json_and_text(self):
        a, b = self.write("a", b"x y x"), self.write("b", b"y \xff y\n")
        answer = json.loads(run("--json", "--top", "2", a, b).stdout)
        self.assertEqual((answer["schema_version"], answer["words"], answer["distinct"],
                          answer["entries"]), (1, 6, 3, 4))
        self.assertEqual(answer["top"], [
            {"word": "y", "occurrences": 3, "in": [{"file": a, "count": 1}, {"file": b, "count": 2}]},
            {"word": "x", "occurrences": 2, "in": [{"file": a, "count": 2}]}])
        text = run("--top", "1", a, b).stdout.decode()
        self.assertIn("6 words, 3 different, 4 entries, in 11 B of text from 2 files", text)
        self.assertIn("       2            3  y\n", text)
        self.assertEqual(run("--quiet", stdin=b"q").stdout, b"q\tstandard input\t1\n")
        self.assertIn(b"0 words, 0 different", run(stdin=b"").stdout)


class BadInput(FolderCase):
    def test_bad_input(self):
        good = self.write("good", b"a")
        self.fails(run(good, self.path("none")), 1, "none: No such file")
        cut = self.write("cut", gzip.compress(random_text(1, 9000))[:-9])
        os.mkdir(self.path("out"))
        self.fails(run("--output", self.path("out/index"), cut), 1, "cut: truncated gzip data")
        self.assertEqual(os.listdir(self.path("out")), [])
        self.fails(run("--output", self.path("no/index"), good), 1, "no/index")
        self.fails(run("--top", "-1", good), 2, "--top must be 0 or more, got -1")


if __name__ == "__main__":
    unittest.main()
