#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek histogram` from outside."""
import collections
import gzip
import os
import random
import struct
import subprocess
import unittest

from tool_case import TOOL, FolderCase


def run(*arguments, stdin=b"", **more):
    return subprocess.run([TOOL, "histogram", *arguments], input=stdin, capture_output=True,
                          timeout=1000, **more)


def random_pixels(seed, count):
    source = random.Random(seed)
    return [bytes([source.randrange(256), source.randrange(9), 255 - source.randrange(3)])
            for _ in range(count)]


def bitmap(width, height, pixels, header=40):
    """`pixels` are red, green, blue."""
    padding = b"\xAA" * (-3 * width % 4)
    rows = b"".join(b"".join(p[::-1] for p in pixels[i * width:(i + 1) * width]) + padding
                    for i in range(abs(height)))
    info = struct.pack("<IiiHHI", header, width, height, 1, 24, 0)
    info += bytes(header - len(info))
    return b"BM" + struct.pack("<IHHI", 0, 0, 0, 14 + header) + info + rows


def oracle(pixels):
    return [[counts[value] for value in range(256)]
            for counts in (collections.Counter(p[c] for p in pixels) for c in range(3))]


class Answers(FolderCase):
    def answer(self, *arguments, **more):
        return self.report_of(run("--json", *arguments, **more))

    def colours(self, *arguments, **more):
        answer = self.answer(*arguments, **more)
        return [answer["red"], answer["green"], answer["blue"]]

    def test_bitmaps_add_up_for_all_settings(self):
        pixels = [random_pixels(seed, count) for seed, count in ((1, 700 * 600), (2, 7 * 5), (3, 40))]
        self.write("in/large.bmp", bitmap(700, 600, pixels[0]))
        self.write("in/below/down.bmp", bitmap(7, -5, pixels[1], header=124))
        self.write("in/packed", gzip.compress(bitmap(5, 8, pixels[2], header=108)))
        expected = oracle(pixels[0] + pixels[1] + pixels[2])
        for settings in ([], ["--workers", "1"], ["--workers", "5"], ["--scheduler", "sharing"],
                         ["--backend", "scc"]):
            self.assertEqual(self.colours(*settings, self.path("in")), expected, settings)

    def test_raw_pixels_and_standard_input(self):
        pixels = random_pixels(4, 500000)
        name = self.write("pixels", b"".join(pixels))
        self.assertEqual(self.colours("--raw", name), oracle(pixels))
        self.assertEqual(self.colours("--raw", stdin=b"".join(pixels)), oracle(pixels))
        self.assertEqual(self.answer("--raw", stdin=b"")["pixels"], 0)

    def test_output_and_bins(self):
        pixels = random_pixels(5, 3000)
        name = self.write("pixels", b"".join(pixels))
        target = self.path("counts.tsv")
        done = run("--raw", "--output", target, "--quiet", name)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        rows = list(zip(range(256), *oracle(pixels)))
        with open(target) as file:
            self.assertEqual(file.read(), "value\tred\tgreen\tblue\n" +
                             "".join("\t".join(map(str, row)) + "\n" for row in rows))
        done = run("--raw", "--bins", "2", "--quiet", name)
        halves = [[sum(row[c] for row in rows if row[0] // 128 == half) for c in (1, 2, 3)]
                  for half in (0, 1)]
        self.assertEqual(done.stdout.decode(), "".join(
            f"{128 * half}\t{a}\t{b}\t{c}\n" for half, (a, b, c) in enumerate(halves)))
        text = run("--raw", name).stdout.decode()
        self.assertIn("3000 pixels in 9.0 kB from 1 file", text)
        self.assertIn("240 - 255", text)


class BadInput(FolderCase):
    def test_what_is_no_bitmap(self):
        good = bitmap(9, 9, random_pixels(1, 81))
        for data, why in ((b"", "not a bitmap"), (b"GIF89a", "not a bitmap"),
                          (good[:30], "ends within the bitmap's header"),
                          (good[:-1], "and its header announces"),
                          (good[:28] + b"\x08" + good[29:], "8 bits a pixel"),
                          (good[:30] + b"\x01" + good[31:], "compression 1"),
                          (good[:18] + b"\xff\xff\xff\x7f" + good[22:], "and its header announces"),
                          (good[:18] + b"\0\0\0\0" + good[22:], "a bitmap of 0 x 9")):
            self.fails(run(self.write("bad.bmp", data)), 1, "bad.bmp: ", why)

    def test_truncated_pixels(self):
        self.fails(run("--raw", self.write("raw", b"12345")), 1, "raw: ends within a record")
        self.fails(run("--raw", stdin=b"12345"), 1, "standard input: ends within a record")

    def test_missing_file_and_bad_options(self):
        self.fails(run(self.path("none")), 1, "none: No such file")
        good = self.write("good", b"123")
        done = run("--raw", "--quiet", "--bins", "1", "--skip-unreadable", self.path("none"), good)
        self.assertEqual((done.returncode, done.stdout), (0, b"0\t1\t1\t1\n"))
        for bins in ("0", "3", "512", "-1"):
            self.fails(run("--bins", bins, stdin=b""), 2, "--bins must be 1, 2, 4, ... or 256, got " + bins)
        self.fails(run("--workers", "0", stdin=b""), 2, "--workers must be between 1 and 4096, got 0")

    def test_failed_run_leaves_no_output(self):
        bad = self.write("in/bad", b"12345")
        os.mkdir(self.path("out"))
        self.fails(run("--raw", "--output", self.path("out/counts"), bad), 1, "bad: ends within")
        self.assertEqual(os.listdir(self.path("out")), [])


if __name__ == "__main__":
    unittest.main()
