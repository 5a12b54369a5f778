#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""creek compress: its files are read by Python's bz2 and by bunzip2."""
import bz2
import json
import os
import pty
import random
import resource
import shutil
import subprocess
import unittest

from tool_case import TOOL, FolderCase

BLOCK = 100_000 - 19  # of --block-size 1


def run(*arguments, **more):
    return subprocess.run([TOOL, "compress", *arguments], capture_output=True, timeout=250, **more)


def words(size):
    """Returns text that repeats words, not lines."""
    some = random.Random(7)
    known = ["".join(some.choices("etaoinshrdlu", k=some.randint(1, 9))) for _ in range(3000)]
    return " ".join(some.choices(known, k=size // 5)).encode()[:size]


def inputs():
    some = random.Random(11)
    return {
        "empty": b"", "byte": b"x", "line": b"to be or not to be\n",
        "block": some.randbytes(BLOCK), "block and byte": some.randbytes(BLOCK + 1),
        "block less byte": some.randbytes(BLOCK - 1), "random": some.randbytes(650_001),
        "words": words(730_000), "zeros": bytes(3_000_000), "runs of four": b"aaaabbbb" * 30_000,
        "periods": b"abcdefghijklm" * 50_000, "all bytes": bytes(range(256)) * 1500,
    }


class Compress(FolderCase):
    def compressed(self, data, *arguments, **more):
        done = run(*arguments, input=data, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stderr)
        return done.stdout

    def test_files_are_read_by_others(self):
        for name, data in inputs().items():
            for level in ("-1", "-9"):
                with self.subTest((name, level)):
                    file = self.write("in", data)
                    done = run(level, file, "-o", self.path("out.bz2"), "--workers", "2")
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    with open(self.path("out.bz2"), "rb") as out:
                        self.assertEqual(bz2.decompress(out.read()), data)
                    if shutil.which("bunzip2"):
                        found = subprocess.run(["bunzip2", "-c", self.path("out.bz2")], capture_output=True,
                                               check=True)
                        self.assertEqual(found.stdout, data)

    def test_bytes_do_not_depend_on_workers_or_backend(self):
        for name, data in inputs().items():
            with self.subTest(name):
                one = self.compressed(data, "-1", "--workers", "1")
                # Each piece as libbz2 compresses it.
                pieces = [data[at:at + BLOCK] for at in range(0, len(data), BLOCK)] or [b""]
                self.assertEqual(one, b"".join(bz2.compress(piece, 1) for piece in pieces))
                for how in (("--workers", "2"), ("--workers", "5"), ("--backend", "tbb"),
                            ("--backend", "scc", "--cores", "1"), ("--backend", "scc", "--cores", "7")):
                    self.assertEqual(self.compressed(data, "-1", *how), one, how)

    def test_a_block_is_one_block_of_the_format(self):
        data = random.Random(5).randbytes(BLOCK)
        self.assertEqual(len(self.compressed(data, "-1")), len(bz2.compress(data, 1)))
        done = run(self.write("in", data), "--block-size", "1", "-o", self.path("out"), "--json")
        self.assertEqual(self.report_of(done)["blocks"], 1)
        done = run(self.write("in", data + b"x"), "--block-size", "1", "-o", self.path("out"), "--json")
        self.assertEqual(self.report_of(done)["blocks"], 2)

    def test_levels(self):
        data = words(400_000)
        for level in range(1, 10):
            out = self.compressed(data, f"-{level}")
            self.assertEqual(out[:4], b"BZh%d" % level)
            self.assertEqual(out, self.compressed(data, "--block-size", str(level)))
        self.assertEqual(self.compressed(data), self.compressed(data, "-9"))

    def test_reports(self):
        data = words(400_000)
        file = self.write("in", data)
        done = run(file, "-1", "-o", self.path("out"), "--workers", "2", "--json")
        report = self.report_of(done)
        self.assertEqual(report["bytes"], len(data))
        self.assertEqual(report["compressed_bytes"], os.path.getsize(self.path("out")))
        self.assertEqual((report["blocks"], report["block_bytes"], report["workers"]), (5, BLOCK, 2))
        done = run(file, "-o", self.path("out"))
        self.assertIn(b"400.0 kB to ", done.stdout)
        self.assertEqual(run(file, "-o", self.path("out"), "--quiet").stdout, b"")

    def test_on_the_chip_more_cores_take_less_time(self):
        file = self.write("in", words(800_000))
        times = {}
        for cores in (1, 2, 8):
            run_on = ("-1", "--backend", "scc", "--cores", str(cores), "-o", self.path("out"), "--json")
            report = self.report_of(run(file, *run_on))
            again = self.report_of(run(file, *run_on))
            self.assertEqual(report["simulated"], again["simulated"])
            times[cores] = report["simulated"]["virtual_ms"]
            self.assertGreater(report["simulated"]["joules"], 0)
        self.assertGreater(times[1], 1.5 * times[2])
        self.assertGreater(times[1], 5 * times[8])

    def test_pipes_and_names(self):
        file = self.write("in", b"text")
        self.assertEqual(bz2.decompress(self.compressed(None, file)), b"text")
        self.assertEqual(bz2.decompress(self.compressed(b"text", "-", "-o", "-")), b"text")
        os.mkfifo(self.path("fifo"))
        reader = subprocess.Popen(["cat", self.path("fifo")], stdout=subprocess.PIPE)
        self.assertEqual(run(file, "-o", self.path("fifo")).returncode, 0)
        self.assertEqual(bz2.decompress(reader.communicate(timeout=60)[0]), b"text")
        os.symlink("out.bz2", self.path("link"))
        self.write("out.bz2", b"old")
        os.chmod(self.path("out.bz2"), 0o640)
        self.assertEqual(run(file, "-o", self.path("link")).returncode, 0)
        self.assertEqual(os.stat(self.path("out.bz2")).st_mode & 0o777, 0o640)
        with open(self.path("out.bz2"), "rb") as out:
            self.assertEqual(bz2.decompress(out.read()), b"text")

    def test_a_file_may_replace_itself(self):
        file = self.write("in", words(300_000))
        self.assertEqual(run(file, "-1", "-o", file).returncode, 0)
        with open(file, "rb") as out:
            self.assertEqual(bz2.decompress(out.read()), words(300_000))

    def test_input_in_small_pieces(self):
        child = subprocess.Popen([TOOL, "compress", "-1", "--workers", "1"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        data = words(250_000)
        first = b""
        for at in range(0, len(data), 1009):
            child.stdin.write(data[at:at + 1009])
            child.stdin.flush()
            if at > 2 * BLOCK and not first:
                first = child.stdout.read(10)  # blocks leave before the input ends
        child.stdin.close()
        self.assertEqual(first[:4], b"BZh1")
        self.assertEqual(bz2.decompress(first + child.stdout.read()), data)
        child.stdout.close()
        self.assertEqual(child.wait(60), 0)

    def test_memory_is_bounded_however_slow_the_reader_is(self):
        os.mkfifo(self.path("fifo"))
        file = self.write("in", random.Random(3).randbytes(8_000_000))
        child = subprocess.Popen([TOOL, "compress", "-1", file, "--workers", "2", "--json", "-o", self.path("fifo")],
                                 stdout=subprocess.PIPE)
        with open(self.path("fifo"), "rb") as fifo:
            # All blocks that the bound allows are read and compressed before the next byte is taken.
            before = None
            while (spent := self.processor_time(child.pid)) != before or spent == 0:
                before = spent
                os.sched_yield()
                for _ in range(2000):
                    self.processor_time(child.pid)
            data = fifo.read()
        report = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 0)
        self.assertEqual(len(bz2.decompress(data)), 8_000_000)
        self.assertLessEqual(json.loads(report)["max_blocks_in_memory"], 2 * 2 + 8)
        self.assertGreater(json.loads(report)["max_blocks_in_memory"], 2)

    @staticmethod
    def processor_time(process):
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def test_progress_is_shown_on_a_terminal_only(self):
        master, slave = pty.openpty()
        child = subprocess.Popen([TOOL, "compress", "-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        child.stdin.write(b"words " * 100)
        child.stdin.flush()
        drawn = b""
        while b"MB/s" not in drawn:  # shown until the input ends
            drawn += os.read(master, 4096)
        self.assertNotIn(b"%", drawn)  # as a pipe has no size
        os.close(master)
        output, _ = child.communicate()
        self.assertEqual(child.returncode, 0)
        self.assertEqual(bz2.decompress(output), b"words " * 100)


class Failures(FolderCase):
    def nothing_but(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder.name)), sorted(names))

    def test_files_that_cannot_be_read_or_written(self):
        out = self.path("out.bz2")
        self.fails(run(self.path("missing"), "-o", out), 1, "missing", "No such file or directory")
        os.mkdir(self.path("folder"))
        self.fails(run(self.path("folder"), "-o", out), 1, "folder", "Is a directory")
        file = self.write("in", b"text")
        self.fails(run(file, "-o", self.path("folder")), 1, "folder", "Is a directory")
        self.fails(run(file, "-o", self.path("none/out")), 1, "none/out", "No such file or directory")
        self.fails(run(file, "-o", "/dev/full"), 1, "/dev/full", "No space left")
        self.nothing_but("folder", "in")

    def test_a_file_that_is_too_large_leaves_what_was_there(self):
        file = self.write("in", random.Random(1).randbytes(500_000))
        self.write("out", b"old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.fails(run(file, "-1", "-o", self.path("out"), preexec_fn=limit), 1, "out", "File too large")
        with open(self.path("out"), "rb") as out:
            self.assertEqual(out.read(), b"old")
        self.nothing_but("in", "out")

    def test_standard_output_that_is_full_or_closed(self):
        file = self.write("in", random.Random(1).randbytes(500_000))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "compress", "-1", file], stdout=full, stderr=subprocess.PIPE, timeout=60)
            done.stdout = b""
            self.fails(done, 1, "standard output", "No space left")
        for data in (b"", b"x"):
            done = subprocess.run(["sh", "-c", 'exec "$0" compress "$1" > /dev/full', TOOL, self.write("small", data)],
                                  capture_output=True, timeout=60)
            self.fails(done, 1, "standard output", "No space left")

    def test_a_pipe_that_its_reader_has_closed(self):
        file = self.write("in", random.Random(1).randbytes(500_000))
        for arguments in ((file,), ("-",)):
            reader, writer = os.pipe()
            os.close(reader)
            # Standard input stays open and dry after the first blocks: the failure ends the run all the same.
            source, feed = os.pipe()
            child = subprocess.Popen([TOOL, "compress", "-1", *arguments], stdin=source, stdout=writer,
                                     stderr=subprocess.PIPE)
            os.close(writer)
            os.close(source)
            if arguments == ("-",):
                os.write(feed, bytes(BLOCK))
            done = subprocess.CompletedProcess(arguments, None, b"", child.communicate(timeout=60)[1])
            done.returncode = child.returncode
            os.close(feed)
            self.fails(done, 1, "standard output", "Broken pipe")

    def test_bad_usage(self):
        file = self.write("in", b"text")
        out = ("-o", self.path("out"))
        for arguments, parts in (
                ((file, *out, "--block-size", "0"), ("--block-size",)),
                ((file, *out, "--block-size", "10"), ("--block-size",)),
                ((file, *out, "-3", "--block-size", "4"), ("--block-size",)),
                ((file, *out, "-0"), ("-0",)),
                ((file, *out, "--workers", "0"), ("--workers",)),
                ((file, file, *out), (file,)),
                ((file, "--json"), ("--json", "--output")),
                ((file, *out, "--cores", "4"), ("--cores", "--backend scc")),
                ((file, *out, "--heatmap", "t"), ("--heatmap", "--backend scc")),
                ((file, *out, "--backend", "scc", "--workers", "4"), ("--workers", "--cores")),
                ((file, *out, "--backend", "scc", "--cores", "49"), ("48 cores",)),
                ((file, *out, "--backend", "moon"), ("moon",))):
            with self.subTest(arguments):
                self.fails(run(*arguments), 2, *parts)
        self.nothing_but("in")

    def test_a_terminal_gets_no_file(self):
        master, slave = pty.openpty()
        done = subprocess.run([TOOL, "compress"], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE,
                              timeout=60)
        os.close(slave)
        os.close(master)
        done.stdout = b""
        self.fails(done, 2, "terminal")


if __name__ == "__main__":
    unittest.main()
