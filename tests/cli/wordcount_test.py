#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek wordcount` from outside: answers, options, and every kind of bad input."""
import collections
import gzip
import json
import os
import random
import re
import resource
import signal
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b"", **more):
    return subprocess.run([TOOL, "wordcount", *arguments], input=stdin, capture_output=True,
                          timeout=1000, **more)


def oracle(*texts):
    counts = collections.Counter()
    for text in texts:
        counts.update(word for word in re.split(rb"[ \t\n\v\f\r]+", text) if word)
    return counts


def random_text(seed, words=20000):
    source = random.Random(seed)
    vocabulary = [bytes(source.choice(b"abcd\x00\xff\xc3\xa4") for _ in range(source.randint(1, 24)))
                  for _ in range(500)]
    return b"".join(source.choice(vocabulary) + source.choice([b" ", b"\n", b"\t\t", b"\r\n", b"\v"])
                    for _ in range(words))


class Case(FolderCase):
    def output_of(self, *arguments, **more):
        target = self.path("counts.tsv")
        done = run("--quiet", "--output", target, *arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, b"")
        with open(target, "rb") as file:
            return file.read()


def lines(counts):
    return b"".join(b"%s\t%d\n" % item for item in sorted(counts.items()))


class Answers(Case):
    def test_output_is_sorted_by_bytes_for_all_settings(self):
        texts = [random_text(i) for i in range(3)]
        self.write("in/plain", texts[0])
        self.write("in/below/packed", gzip.compress(texts[1]) + gzip.compress(b" and more"))
        self.write("in/empty", b"")
        large = self.write("large", texts[2] * 40)
        expected = lines(oracle(texts[0], texts[1] + b" and more", texts[2] * 40))
        for settings in ([], ["--workers", "1"], ["--workers", "7"], ["--no-combine"],
                         ["--scheduler", "sharing"], ["--idle", "poll", "--workers", "2"]):
            self.assertEqual(self.output_of(*settings, self.path("in"), large), expected, settings)

    def test_backends_agree(self):
        text = random_text(9)
        name = self.write("text", text)
        for backend in ("host", "tbb"):
            done = run("--backend", backend, "--json", name)
            if backend == "tbb" and done.returncode == 2:
                continue  # not in this build
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["words"], sum(oracle(text).values()))

    def test_unicode_words(self):
        if b"without utf8proc" in run("--words", "unicode", stdin=b"a").stderr:
            self.skipTest("utf8proc is not in this build")
        text = "L'\u00c9T\u00c9, l'e\u0301te\u0301; Stra\u00dfe (STRASSE) \uff21 a'b' x\xb2\n".encode() + b"\xff\xc3 y\xffz\n"
        name = self.write("text", text * 3000)
        split = [self.write("in/" + str(i), text * 1500) for i in range(2)]
        for options, words in (
                ((), {"L'\u00c9T\u00c9": 1, "l'e\u0301te\u0301": 1, "Stra\u00dfe": 1, "STRASSE": 1, "\uff21": 1, "a'b": 1,
                      "x": 1, "y": 1, "z": 1}),
                (("--fold-case", "--normalize", "nfkc"), {"l'\u00e9t\u00e9": 2, "strasse": 2, "a": 1, "a'b": 1, "x": 1,
                                                          "y": 1, "z": 1})):
            expected = lines({word.encode(): 3000 * count for word, count in words.items()})
            for more in (("--workers", "1", name), ("--workers", "5", name), split, ("--no-combine", name),
                         ("--memory", "4M", "--spill", self.path("in"), name)):
                self.assertEqual(self.output_of("--words", "unicode", *options, *more), expected, more)

    def test_options_of_unicode_words_need_them(self):
        for option in (("--fold-case",), ("--normalize", "nfc")):
            done = run(*option, stdin=b"a")
            self.assertEqual((done.returncode, b"needs --words unicode" in done.stderr), (2, True), done.stderr)
        for option in (("--words", "letters"), ("--words", "unicode", "--normalize", "nfd")):
            self.assertEqual(run(*option, stdin=b"a").returncode, 2, option)

    def test_simulated_chip_counts_the_same(self):
        text = random_text(9)
        name = self.write("text", text)
        for cores in ("1", "5", "48"):
            for more in ((), ("--no-combine",), ("--chip", "scc-800", "--seed", "3")):
                counts = self.output_of("--backend", "scc", "--cores", cores, *more, name)
                self.assertEqual(counts, lines(oracle(text)))

    def test_simulated_time_repeats_and_follows_the_seed(self):
        name = self.write("text", random_text(10))
        arguments = ("--backend", "scc", "--cores", "16", "--json", name)
        answers = [json.loads(run(*arguments).stdout)]
        self.assertEqual(run(*arguments).stdout, run(*arguments).stdout)
        answers.append(json.loads(run(*arguments, "--seed", "5").stdout))
        self.assertEqual(answers[0]["schema_version"], 1)
        self.assertEqual(answers[0]["top"], answers[1]["top"])
        self.assertNotEqual(answers[0]["simulated"]["virtual_ms"],
                            answers[1]["simulated"]["virtual_ms"])
        stages = answers[0]["simulated"]["stages_virtual_ms"]
        self.assertGreater(stages["map"]["longest"], 0)
        self.assertGreater(answers[0]["simulated"]["sent_bytes"], 0)
        text = run("--backend", "scc", "--cores", "16", name).stdout.decode()
        self.assertIn("simulated chip scc-533, 16 cores, seed 0", text)

    def test_chosen_by_environment(self):
        done = run("--json", stdin=b"a b a", env={**os.environ, "CREEK_BACKEND": "scc"})
        self.assertEqual(json.loads(done.stdout)["backend"], "scc")

    def test_options_of_another_backend(self):
        for arguments in (("--seed", "1"), ("--chip", "scc-800"),
                          ("--backend", "scc", "--scheduler", "sharing"),
                          ("--backend", "scc", "--workers", "2"),
                          ("--backend", "scc", "--cores", "49"),
                          ("--backend", "scc", "--chip", "none"),
                          ("--workers", "2", "--cores", "2")):
            self.fails(run(*arguments, stdin=b"a"), 2, arguments[-2].strip("-"))

    def test_top_is_by_count_then_bytes(self):
        done = run("--quiet", "--top", "3", stdin=b"b a c c\xff c\xff a b d")
        self.assertEqual(done.stdout, b"a\t2\nb\t2\nc\xff\t2\n")

    def test_json(self):
        done = run("--json", "--top", "2", "-", stdin=b"x y x \xff")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["schema_version"], 1)
        self.assertEqual((answer["words"], answer["distinct"], answer["text_bytes"]), (4, 3, 7))
        self.assertEqual(answer["top"][0], {"word": "x", "count": 2})
        self.assertEqual(set(answer["stages_ms"]),
                         {"map", "combine", "partition", "group", "reduce", "sort", "merge"})
        answer = json.loads(run("--json", stdin=b"\xff\x00").stdout)
        self.assertEqual(answer["top"][0]["bytes"], "ff00")

    def test_text_for_people(self):
        done = run("--top", "1", stdin=b"\x1b[31m \x1b[31m other")
        text = done.stdout.decode()
        self.assertIn("3 words, 2 different", text)
        self.assertIn("stages (ms): map", text)
        self.assertIn("2  \\x1b[31m", text)  # the control character is not sent to a terminal
        self.assertEqual(done.stderr, b"")

    def test_top_zero_and_no_words(self):
        self.assertIn(b"0 words, 0 different", run(stdin=b"").stdout)
        self.assertIn(b"2 words, 1 different", run("--top", "0", stdin=b"q q").stdout)

    def test_trace(self):
        trace = self.path("trace.json")
        done = run("--quiet", "--trace", trace, stdin=b"a b")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(trace) as file:
            json.load(file)


class BadInput(Case):
    def test_missing_file_is_named(self):
        good = self.write("good", b"a")
        self.fails(run(self.path("none"), good), 1, "none: No such file")
        done = run("--skip-unreadable", "--quiet", self.path("none"), good)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"a\t1\n", b""))
        done = run("--skip-unreadable", self.path("none"), good)
        self.assertIn(b"creek: skipped ", done.stderr)

    def test_unreadable_file_and_folder_are_named(self):
        as_other = self.as_nobody()
        self.write("in/readable", b"a")
        os.chmod(self.write("in/closed", b"b"), 0)
        self.fails(run(self.path("in"), **as_other), 1, "closed: Permission denied")
        os.remove(self.path("in/closed"))
        os.mkdir(self.path("in/locked"), 0)
        self.fails(run(self.path("in"), **as_other), 1, "locked: Permission denied")
        done = run("--skip-unreadable", "--quiet", self.path("in"), **as_other)
        self.assertEqual((done.returncode, done.stdout), (0, b"a\t1\n"))

    def test_damaged_gzip(self):
        packed = gzip.compress(random_text(1))
        self.fails(run(self.write("cut", packed[:-20])), 1, "cut: truncated gzip data")

    def test_bad_options(self):
        for arguments, parts in (
                (["--workers", "0"], ["--workers must be between 1 and 4096, got 0"]),
                (["--workers", "100000"], ["--workers must be", "got 100000"]),
                (["--workers", "-3"], ["--workers must be", "got -3"]),
                (["--workers", "two"], ["workers"]),
                (["--scheduler", "fifo"], ["fifo", "random", "last-victim", "latency", "sharing"]),
                (["--idle", "nap"], ["nap", "poll", "backoff", "block"]),
                (["--backend", "cuda"], ["cuda", "host"]),
                (["--top", "-1"], ["top"]),
                (["--frobnicate"], ["--frobnicate"])):
            self.fails(run(*arguments, stdin=b"a"), 2, *parts)

    def test_output_in_a_missing_folder(self):
        self.fails(run("--output", self.path("no/such/out"), stdin=b"a"), 1, "no/such/out")

    def test_full_disk_leaves_no_partial_output(self):
        text = self.write("text", b" ".join(b"word%d" % i for i in range(50000)))
        target = self.write("out/counts", b"old contents")

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, 1 << 17))

        done = run("--output", target, text, preexec_fn=limit_files)
        self.fails(done, 1, "counts")
        self.assertEqual(os.listdir(self.path("out")), ["counts"])
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"old contents")
        self.fails(run("--output", "/dev/full", text), 1, "/dev/full: ", "No space left")

    def test_failed_count_leaves_no_output(self):
        packed = gzip.compress(random_text(1))
        cut = self.write("in/cut", packed[:-20])
        os.mkdir(self.path("out"))
        self.fails(run("--output", self.path("out/counts"), cut), 1, "truncated")
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_socket_and_dangling_link(self):
        import socket
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(self.path("socket"))
            self.fails(run(self.path("socket")), 1, "socket: ")
        os.symlink(self.path("nowhere"), self.path("dangling"))
        self.fails(run(self.path("dangling")), 1, "dangling: No such file")


if __name__ == "__main__":
    unittest.main()
