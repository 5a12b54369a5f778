#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`creek mjpeg` from outside. The oracle is djpeg of libjpeg-turbo."""
import os
import random
import re
import shutil
import struct
import subprocess
import unittest
import zlib

from tool_case import TOOL, FolderCase

SAMPLINGS = ["1x1", "2x1", "2x2", "1x2", "4x1", "grey"]


def run(*arguments, stdin=b"", **more):
    return subprocess.run([TOOL, "mjpeg", *arguments], input=stdin, capture_output=True, timeout=1000, **more)


def random_picture(source, width, height):
    if source.random() < 0.5:
        pixels = bytes(source.randrange(256) for _ in range(3 * width * height))
    else:
        pixels = bytes(v & 255 for y in range(height) for x in range(width)
                       for v in (x * 5 + y, 255 - y * 7, x * y // 3))
    return b"P6 %d %d 255\n" % (width, height) + pixels


def encode(picture, sampling="2x2", quality=75, *more):
    how = ["-grayscale"] if sampling == "grey" else ["-sample", sampling]
    return subprocess.run(["cjpeg", "-quality", str(quality), *how, *more], input=picture,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def decode(jpeg):
    """Returns width, height and the bytes red, green, blue."""
    done = subprocess.run(["djpeg", "-dct", "int", "-rgb", "-ppm"], input=jpeg, stdout=subprocess.PIPE, check=True)
    head = re.match(rb"P6\n(\d+) (\d+)\n255\n", done.stdout)
    return int(head[1]), int(head[2]), done.stdout[head.end():]


def line(number, jpeg):
    width, height, pixels = decode(jpeg)
    return f"{number} {width} {height} {zlib.crc32(pixels):08x}"


def frames(seed, count=12, width=None, height=None):
    source = random.Random(seed)
    made = []
    for i in range(count):
        more = ["-restart", source.choice(["1", "1B", "3B"])] if i % 3 == 1 else []
        if i % 4 == 3:
            more.append("-optimize")
        picture = random_picture(source, width or source.randrange(1, 70), height or source.randrange(1, 70))
        made.append(encode(picture, SAMPLINGS[i % len(SAMPLINGS)], source.choice([5, 50, 90, 100]), *more))
    return made


def segments(jpeg):
    """The header's segments by marker, and the rest from SOS on."""
    found, at = [], 2
    while jpeg[at + 1] != 0xDA:
        size = 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
        found.append((jpeg[at + 1], jpeg[at:at + size]))
        at += size
    return found, jpeg[at:]


def without_tables(jpeg):
    found, rest = segments(jpeg)
    return jpeg[:2] + b"".join(text for code, text in found if code != 0xC4) + rest


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def listing(name, kind, *chunks):
    return chunk(name, kind + b"".join(chunks))


def header(codec=b"MJPG", audio_first=False):
    video = listing(b"LIST", b"strl", chunk(b"strh", b"vids" + codec + bytes(48)),
                    chunk(b"strf", struct.pack("<IIIHH4sIIIII", 40, 8, 8, 1, 24, codec, 0, 0, 0, 0, 0)))
    audio = listing(b"LIST", b"strl", chunk(b"strh", b"auds" + bytes(52)), chunk(b"strf", bytes(18)))
    streams = [audio, video] if audio_first else [video, audio]
    return listing(b"LIST", b"hdrl", chunk(b"avih", bytes(56)), *streams)


def avi(all_frames, codec=b"MJPG", audio_first=False, index=True, parts=1):
    """`parts` above 1: as OpenDML does, with more lists of frames behind the first."""
    name = b"01dc" if audio_first else b"00dc"
    sound = b"00wb" if audio_first else b"01wb"
    size = -(-len(all_frames) // parts)
    made = b""
    for part in range(parts):
        chunks = [c for f in all_frames[part * size:(part + 1) * size]
                  for c in (chunk(name, f), chunk(sound, b"sound"), chunk(b"JUNK", b"\xFF\xD8x"))]
        movi = listing(b"LIST", b"movi", chunk(b"ix00", bytes(24)), *chunks, chunk(name, b""))
        if part == 0:
            tail = chunk(b"idx1", bytes(16)) if index else b""
            made += listing(b"RIFF", b"AVI ", header(codec, audio_first), chunk(b"JUNK", bytes(9)), movi, tail)
        else:
            made += listing(b"RIFF", b"AVIX", movi)
    return made


@unittest.skipUnless(shutil.which("cjpeg") and shutil.which("djpeg"), "no libjpeg-turbo-progs")
class Frames(FolderCase):
    def lines(self, *arguments, **more):
        done = run("--checksums", *arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().splitlines()

    def decoders(self):
        return ("library", "own") if self.has_library() else ("own",)

    def has_library(self):
        done = run("--checksums", "--decoder", "library", self.write("one.jpg", encode(b"P6 1 1 255\nabc")))
        if done.returncode != 0:
            self.fails(done, 2, "libjpeg-turbo")
        return done.returncode == 0

    def test_pixels_are_those_of_djpeg(self):
        source = random.Random(7)
        made = []
        for size in [(1, 1), (2, 2), (3, 3), (1, 9), (9, 1), (5, 17), (16, 16), (17, 33), (64, 48), (2, 40)]:
            for sampling in SAMPLINGS:
                for quality in (1, 75, 100):
                    more = source.choice([[], ["-optimize"], ["-restart", "1"], ["-restart", "2B"]])
                    made.append(encode(random_picture(source, *size), sampling, quality, *more))
        file = self.write("all.mjpeg", b"".join(made))
        expected = [line(i, jpeg) for i, jpeg in enumerate(made)]
        for decoder in self.decoders():
            self.assertEqual(self.lines("--decoder", decoder, file), expected)

    def test_larger_pictures(self):
        source = random.Random(8)
        made = [encode(random_picture(source, 333, 251), sampling) for sampling in SAMPLINGS]
        file = self.write("all.mjpeg", b"".join(made))
        for decoder in self.decoders():
            self.assertEqual(self.lines("--decoder", decoder, file), [line(i, f) for i, f in enumerate(made)])

    def test_forms_of_avi(self):
        made = frames(1)
        expected = [line(i, f) for i, f in enumerate(made)]
        for how in ({}, {"index": False}, {"audio_first": True}, {"parts": 3}, {"codec": b"mjpg"}):
            self.assertEqual(self.lines(self.write("a.avi", avi(made, **how))), expected, how)

    def test_an_interrupted_recording_whose_sizes_are_0(self):
        made = frames(2, 3)
        whole = avi(made, index=False)
        movi = whole.index(b"movi") - 4
        broken = whole[:4] + bytes(4) + whole[8:movi] + bytes(4) + whole[movi + 4:]
        self.assertEqual(self.lines(self.write("a.avi", broken)), [line(i, f) for i, f in enumerate(made)])

    def test_frames_without_huffman_tables(self):
        source = random.Random(3)
        made = [encode(random_picture(source, 40, 30), s) for s in SAMPLINGS]
        file = self.write("a.avi", avi([without_tables(f) for f in made]))
        for decoder in self.decoders():
            self.assertEqual(self.lines("--decoder", decoder, file), [line(i, f) for i, f in enumerate(made)])

    def test_any_number_of_workers_and_a_pipe(self):
        made = frames(4, 40)
        expected = [line(i, f) for i, f in enumerate(made)]
        for data in (avi(made), b"".join(made), b"\0\0".join(made) + b"\r\n"):
            file = self.write("v", data)
            for workers in ("1", "2", "3", "8"):
                self.assertEqual(self.lines("--workers", workers, file), expected)
            self.assertEqual(self.lines("-", stdin=data), expected)

    def test_a_thumbnail_is_no_frame(self):
        small, large = frames(5, 2)
        inside = b"\xFF\xE1" + struct.pack(">H", 2 + len(small)) + small
        data = large[:2] + inside + large[2:]
        self.assertEqual(self.lines(self.write("v", data * 2)), [line(0, large), line(1, large)])

    def test_files_of_frames(self):
        made = frames(6, 5)
        done = run("--output-dir", self.path("out"), "--quiet", self.write("v", b"".join(made)))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertEqual(sorted(os.listdir(self.path("out"))), [f"frame-{i:06}.ppm" for i in range(5)])
        for i, jpeg in enumerate(made):
            width, height, pixels = decode(jpeg)
            with open(self.path(f"out/frame-{i:06}.ppm"), "rb") as file:
                self.assertEqual(file.read(), b"P6\n%d %d\n255\n" % (width, height) + pixels)

    def test_json(self):
        made = frames(9, 4)
        made[2] = made[2][:len(made[2]) // 2] + b"\xFF\xD9"
        report = self.report_of(run("--checksums", "--json", self.write("v", b"".join(made))))
        self.assertEqual([f["number"] for f in report["frames"]], [0, 1, 3])
        self.assertEqual((report["decoded"], report["skipped"]), (3, 1))
        self.assertEqual([d["number"] for d in report["damaged"]], [2])

    def test_the_chip_gives_the_same(self):
        made = frames(10, 9)
        file = self.write("v", avi(made))
        expected = [line(i, f) for i, f in enumerate(made)]
        times = []
        for cores in ("1", "2", "8"):
            self.assertEqual(self.lines("--backend", "scc", "--cores", cores, file), expected)
            report = self.report_of(run("--checksums", "--json", "--backend", "scc", "--cores", cores, file))
            self.assertGreater(report["simulated"]["joules"], 0)
            times.append(report["simulated"]["virtual_ms"])
        self.assertGreater(times[0], times[1])
        self.assertGreater(times[1], times[2])

    def test_more_is_charged_for_more_work(self):
        small = encode(random_picture(random.Random(1), 32, 32))
        large = encode(random_picture(random.Random(1), 64, 64))
        spent = [self.report_of(run("--checksums", "--json", "--backend", "scc", "--cores", "1",
                                    self.write("v", f * 3)))["simulated"]["virtual_ms"] for f in (small, large)]
        self.assertGreater(spent[1], 3 * spent[0])


@unittest.skipUnless(shutil.which("cjpeg") and shutil.which("djpeg"), "no libjpeg-turbo-progs")
class Damage(FolderCase):
    def setUp(self):
        super().setUp()
        self.made = frames(11, 6, 48, 40)

    def check(self, data, damaged, *reasons):
        """Frames `damaged` are named and left out, by both decoders, or refused."""
        good = [line(i, f) for i, f in enumerate(self.made) if i not in damaged]
        file = self.write("v", data)
        for more in ([], ["--decoder", "own"], ["--workers", "1"]):
            done = run("--checksums", file, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode().splitlines(), good)
            errors = done.stderr.decode().splitlines()
            self.assertEqual(errors[-2], f"{len(good)} frames decoded, {len(damaged)} skipped")
            self.assertEqual(len(errors), len(damaged) + 2)
            for number, text in zip(damaged, errors):
                self.assertTrue(text.startswith(f"creek: skipped {file}: frame {number}: "), text)
        for reason in reasons:
            self.assertIn(reason, done.stderr.decode())
        done = run("--checksums", "--refuse-damaged", file)
        self.complains(done, 1, f"{file}: frame {damaged[0]}: ")
        self.assertEqual(done.stdout.decode().splitlines(), [t for t in good if int(t.split()[0]) < damaged[0]])

    def test_truncated_frames(self):
        for form in (avi, b"".join):
            short = list(self.made)
            short[1], short[4] = short[1][:-200], short[4][:30]
            self.check(form(short), [1, 4])

    def test_a_file_that_ends_in_a_frame(self):
        self.check(avi(self.made, index=False)[:-150], [5], "the file ends in it")
        self.check(b"".join(self.made)[:-100], [5])

    def test_bytes_that_are_no_frame(self):
        self.check(avi(self.made[:2] + [b"x" * 99] + self.made[3:]), [2], "no JPEG image")
        self.check(b"".join(self.made[:2] + [b"\x80" * 99] + self.made[3:]), [2], "99 bytes that are no JPEG image")

    def test_a_missing_restart_marker(self):
        jpeg = encode(random_picture(random.Random(1), 48, 40), "2x2", 75, "-restart", "1B")
        self.made[3] = jpeg
        broken = jpeg.replace(b"\xFF\xD1", b"\xFF\xD5", 1)
        self.check(avi(self.made[:3] + [broken] + self.made[4:]), [3])

    def test_kinds_that_are_not_supported(self):
        picture = random_picture(random.Random(1), 48, 40)
        progressive = encode(picture, "2x2", 75, "-progressive")
        arithmetic = encode(picture, "2x2", 75, "-arithmetic")
        self.check(avi([progressive, arithmetic] + self.made[2:]), [0, 1], "not baseline: SOF2", "not baseline: SOF9")

    def test_too_many_pixels(self):
        jpeg = self.made[2]
        at = jpeg.index(b"\xFF\xC0") + 5
        huge = jpeg[:at] + b"\xFF\xFF\xFF\xFF" + jpeg[at + 4:]
        self.check(avi(self.made[:2] + [huge] + self.made[3:]), [2], "65535 x 65535 pixels are more than --max-pixels")
        done = run("--checksums", "--max-pixels", str(48 * 40 - 1), self.write("v", avi(self.made)))
        self.assertEqual((done.returncode, done.stdout), (1, b""))

    def test_chunks_that_are_none(self):
        whole = avi(self.made[:4], index=False)
        done = run("--checksums", self.write("v", whole + b"\1\2\3\4" * 9))
        self.assertEqual(done.stdout.decode().splitlines(), [line(i, f) for i, f in enumerate(self.made[:4])])
        self.assertIn(b"frame 4: no chunk at byte", done.stderr)

    def test_random_changes_end_in_a_line(self):
        source = random.Random(12)
        data = [avi(self.made), b"".join(self.made)]
        for i in range(60):
            changed = bytearray(source.choice(data))
            for _ in range(source.choice([1, 5, 50])):
                changed[source.randrange(len(changed))] = source.randrange(256)
            file = self.write("v", bytes(changed))
            done = run("--checksums", "--max-pixels", "100000", "--decoder", "own", file)
            self.assertIn(done.returncode, (0, 1), (i, done.stderr))
            for text in done.stderr.decode().splitlines()[:-2]:
                self.assertTrue(text.startswith("creek: "), text)


class BadInput(FolderCase):
    def test_files_that_are_no_video(self):
        for name, data, why in (("empty", b"", "is empty"), ("text", b"no video at all", "is neither"),
                                ("a.avi", avi([]), "has no frames"),
                                ("b.avi", avi([b"x"], codec=b"H264"), "'H264', not Motion JPEG"),
                                ("c.avi", avi([b"x"], codec=b"H\n\0\xFF"), "'H???'"),
                                ("d.avi", b"RIFF\0\0\0\0AVI ", "has no video stream"),
                                ("e.jpg", b"\xFF\xD8", "no frame could be decoded")):
            file = self.write(name, data)
            done = run("--checksums", file)
            self.assertEqual((done.returncode, done.stdout), (1, b""), done)
            last = done.stderr.decode().splitlines()[-1]
            self.assertTrue(last.startswith(f"creek: {file}: ") and why in last, last)

    def test_names(self):
        self.fails(run("--checksums", self.path("none")), 1, self.path("none"), "No such file")
        self.fails(run("--checksums", self.folder.name), 1, self.folder.name, "directory")
        self.fails(run("--checksums", "-"), 1, "standard input: is empty")

    def test_usage(self):
        file = self.write("v", b"")
        self.fails(run(file), 2, "--checksums or --output-dir")
        self.fails(run("--checksums"), 2, "file")
        self.fails(run("--checksums", "--max-pixels", "0", file), 2, "--max-pixels")
        self.fails(run("--checksums", "--cores", "4", file), 2, "--cores")
        self.fails(run("--checksums", "--backend", "scc", "--decoder", "library", file), 2, "--decoder")

    @unittest.skipUnless(shutil.which("cjpeg"), "no libjpeg-turbo-progs")
    def test_outputs_that_fail(self):
        file = self.write("v", b"".join(frames(13, 3)))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "mjpeg", "--checksums", file], stdout=full, stderr=subprocess.PIPE)
        self.complains(done, 1, "standard output")
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as closed:
            done = subprocess.run([TOOL, "mjpeg", "--checksums", file], stdout=closed, stderr=subprocess.PIPE)
        self.complains(done, 1, "standard output", "pipe")
        self.fails(run("--output-dir", file, file), 1, file)
        os.makedirs(self.path("out/frame-000001.ppm"))
        self.fails(run("--output-dir", self.path("out"), file), 1, "frame-000001.ppm")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["frame-000000.ppm", "frame-000001.ppm"])


if __name__ == "__main__":
    unittest.main()
