#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that read text, on unusual text: a line of CREEK_TEST_LINE_MB megabytes
(64, with sanitizers 8), bytes that are not text, empty files, files that must not be read."""
import gzip
import json
import os
import subprocess
import unittest

from tool_case import TOOL, FolderCase

SANITIZED = bool(os.environ.get("CREEK_TEST_SANITIZE"))
LINE = int(os.environ.get("CREEK_TEST_LINE_MB") or (8 if SANITIZED else 64)) << 20
FEW = 48 << 20  # memory of the tool without its input
ALL = (["wordcount"], ["filter", "x"], ["string-match", "x"], ["inverted-index"],
       ["linear-regression"])


def run(*arguments, stdin=b"", **more):
    return subprocess.run([TOOL, *arguments], input=stdin, capture_output=True, timeout=1000, **more)


class GreatLine(FolderCase):
    """A line with a word of NUL bytes in it, which takes no room on disk; a mapped file counts as
    memory, once."""

    def setUp(self):
        super().setUp()
        self.name = self.path("great")
        with open(self.name, "wb") as file:
            file.write(b"first line\nfind ")
            file.seek(LINE, os.SEEK_CUR)
            file.write(b" find\nlast\n")

    def compress(self):
        block = bytes(1 << 20)
        with gzip.open(self.path("great.gz"), "wb", compresslevel=1) as file:
            file.write(b"first line\nfind ")
            for _ in range(LINE // len(block)):
                file.write(block)
            file.write(b" find\nlast\n")
        return self.path("great.gz")

    def measured(self, memory, *arguments):
        """Runs the command with this limit of memory in bytes."""
        with open(self.path("out"), "w+b") as out, open(self.path("err"), "w+b") as err:
            child = subprocess.Popen([TOOL, *arguments], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.assertLess(out.seek(0, os.SEEK_END), 1 << 20)
            for file in (out, err):
                file.seek(0)
            done = subprocess.CompletedProcess(arguments, child.returncode, out.read(), err.read())
        if not SANITIZED:
            self.assertLess(1024 * usage.ru_maxrss, memory, done)
        return done

    def test_wordcount(self):
        for name, times in ((self.name, 1), (self.compress(), 4)):
            answer = json.loads(self.measured(times * LINE + FEW, "wordcount", "--json", name).stdout)
            self.assertEqual((answer["words"], answer["distinct"]), (6, 5))
            self.assertEqual(answer["top"][0], {"word": "find", "count": 2})
            self.assertEqual(answer["top"][1],
                             {"word": "\0" * (1 << 16), "length": LINE, "count": 1})
        text = self.measured(LINE + FEW, "wordcount", self.name).stdout
        self.assertIn(b"\\x00... (%d bytes)" % LINE, text)

    def test_filter(self):
        for name, times in ((self.name, 1), (self.compress(), 4)):
            memory = times * LINE + FEW
            self.assertEqual(self.measured(memory, "filter", "--count", "find", name).stdout, b"1\n")
            done = self.measured(memory, "filter", "--line-numbers", "last", name)
            self.assertEqual(done.stdout, b"3:last\n")
            done = self.measured(memory, "filter", "--invert", "find", name)
            self.assertEqual(done.stdout, b"first line\nlast\n")

    def test_string_match(self):
        for name, times in ((self.name, 1), (self.compress(), 4)):
            done = self.measured(times * LINE + FEW, "string-match", "--json", "-e", "find", "-e", "i",
                                 "-e", "nowhere", name)
            self.assertEqual([(row["occurrences"], row["lines"])
                              for row in json.loads(done.stdout)["patterns"]],
                             [(2, 1), (4, 2), (0, 0)])

    def test_inverted_index(self):
        # The text, a copy of the word (a word in the file may change while it is sorted), and JSON.
        done = self.measured(3 * LINE + FEW, "inverted-index", "--json", "--top", "5", self.name)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["words"], answer["distinct"], answer["entries"]), (6, 5, 5))
        self.assertEqual(answer["top"][0]["word"], "\0" * (1 << 16))
        self.assertEqual(answer["top"][0]["length"], LINE)

    def test_linear_regression(self):
        done = self.measured(LINE + FEW, "linear-regression", self.name)
        self.fails(done, 1, "great:2: column 1 (first): 'find' is not a number")
        with open(self.name, "r+b") as file:
            file.write(b"1 2       \n3    ")
        done = self.measured(LINE + FEW, "linear-regression", self.name)
        self.fails(done, 1, "great:2: column 2: '\\x00\\x00")
        self.assertLess(len(done.stderr), 1000)

    def test_linear_regression_of_a_great_first_line(self):
        fields = b"1," * (1 << 19)
        with open(self.path("fields"), "wb") as file:
            for _ in range(LINE // len(fields)):
                file.write(fields)
        done = self.measured(LINE + 3 * FEW, "linear-regression", self.path("fields"))
        self.fails(done, 1, "fields:1: more than 1048576 columns")
        with open(self.path("one"), "wb") as file:
            file.truncate(LINE)
        done = self.measured(2 * LINE + FEW, "linear-regression", self.path("one"))
        self.fails(done, 1, "one:1: 1 column, not 2")


class Bytes(FolderCase):
    """Words are bytes: NUL, broken and overlong UTF-8, and characters that only look like white space."""
    WORDS = [b"\x00", b"a\x00b", b"\xff\xfe", b"\xc3", b"\xc3\xa4", b"\xc0\x80", b"\xed\xa0\x80",
             b"\xc2\xa0", b"\x85", b"\x1c"]

    def setUp(self):
        super().setUp()
        self.text = b" ".join(self.WORDS) + b"\n" + b"\t".join(self.WORDS[::2]) + b"\x00"
        self.name = self.write("bytes", self.text)

    def test_words(self):
        counts = {word: 1 + (word in self.WORDS[::2]) for word in self.WORDS}
        counts[b"\x85"] -= 1
        counts[b"\x85\x00"] = 1
        expected = sorted(counts.items())
        self.assertEqual(run("wordcount", "--quiet", "--top", "0", self.name).stdout, b"")
        target = self.path("counts")
        self.assertEqual(run("wordcount", "--output", target, self.name).returncode, 0)
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"".join(b"%s\t%d\n" % item for item in expected))
        done = run("inverted-index", "--quiet", self.name)
        self.assertEqual(done.stdout, b"".join(b"%s\t%s\t%d\n" % (word, self.name.encode(), count)
                                               for word, count in expected))
        for command in ("wordcount", "inverted-index"):
            done = run(command, "--json", "--top", "20", self.name)
            shown = json.loads(done.stdout)["top"]  # JSON is UTF-8, and this checks it
            self.assertEqual(sorted(bytes.fromhex(row["bytes"]) if "bytes" in row
                                    else row["word"].encode() for row in shown), sorted(counts))

    def test_long_words_in_json(self):
        for word, shown in (("\u00e4" * 32768, "\u00e4" * 32768),
                            ("x" + "\u00e4" * 40000, "x" + "\u00e4" * 32767),
                            ("\U00010348" * 16384 + "end", "\U00010348" * 16384)):
            (row,) = json.loads(run("wordcount", "--json", stdin=word.encode()).stdout)["top"]
            self.assertEqual(row["word"], shown)
            self.assertNotIn("bytes", row)
            self.assertEqual(row.get("length"), len(word.encode()) if word != shown else None)
        (row,) = json.loads(run("wordcount", "--json", stdin=b"\xff" * 70000).stdout)["top"]
        self.assertEqual((row["bytes"], row["length"]), ("ff" * 65536, 70000))

    def test_patterns(self):
        for pattern in (b"\xff\xfe", b"\xc3", b"\xa0", b"\x1c"):
            expected = [line for line in self.text.split(b"\n") if pattern in line]
            done = run("filter", pattern, self.name)
            self.assertEqual(done.stdout, b"".join(line + b"\n" for line in expected))
        patterns = [b"\x00", b"b \xff", b"\xc3"]
        name = self.write("patterns", b"\n".join(patterns))
        done = run("string-match", "--json", "--patterns", name, self.name)
        self.assertEqual([row["occurrences"] for row in json.loads(done.stdout)["patterns"]],
                         [self.text.count(pattern) for pattern in patterns])

    def test_columns(self):
        done = run("linear-regression", "--columns", "1,3", "--separator", ",", "--json",
                   stdin=b"0,\xff\x00,1\n1,\xc3,3\n")
        self.assertEqual(json.loads(done.stdout)["slope"], 2)
        self.fails(run("linear-regression", stdin=b"0,1\n1,\xff\n"), 1, ":2: column 2: '\\xff'")


class Files(FolderCase):
    def test_empty(self):
        name = self.write("empty", b"")
        for names in ([name], [name, name]):
            done = run("wordcount", *names)
            self.assertIn(b"0 words, 0 different", done.stdout)
            done = run("inverted-index", *names)
            self.assertIn(b"0 words, 0 different, 0 entries", done.stdout)
            done = run("filter", "x", *names)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
            self.assertEqual(run("filter", "--count", "x", *names).stdout, b"0\n")
            done = run("string-match", "--json", "x", *names)
            row = json.loads(done.stdout)["patterns"][0]
            self.assertEqual((row["occurrences"], row["lines"]), (0, 0))
            self.fails(run("linear-regression", *names), 1, "no line through")

    def test_unreadable(self):
        as_other = self.as_nobody()
        closed = self.write("closed", b"x 1\n")
        os.chmod(closed, 0)
        for command in ALL:
            self.fails(run(*command, closed, **as_other), 1, "closed: Permission denied")

    def test_missing(self):
        for command in ALL:
            self.fails(run(*command, self.path("in/none")), 1, "in/none: No such file")


if __name__ == "__main__":
    unittest.main()
