#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Meaningless numbers, lists and options are refused before any work, in one line that says
what is allowed; --help lists the choices."""
import pathlib
import re
import subprocess
import unittest

from tool_case import TOOL, FolderCase

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=600)


class Numbers(FolderCase):
    def test_are_of_their_type_and_range(self):
        for arguments, line in (
                ("wordcount --backend scc --seed -1",
                 "--seed must be between 0 and 18446744073709551615, got -1"),
                ("kmeans --clusters 1 --seed 18446744073709551616",
                 "--seed must be between 0 and 18446744073709551615, got 18446744073709551616"),
                ("wordcount --workers 0", "--workers must be between 1 and 4096, got 0"),
                ("wordcount --workers 4294967297",
                 "--workers must be between 1 and 4096, got 4294967297"),
                ("wordcount --workers two", "--workers must be a whole number, got 'two'"),
                ("wordcount --workers 2.5", "--workers must be a whole number, got '2.5'"),
                ("wordcount --top -1", "--top must be 0 or more, got -1"),
                ("wordcount --memory -1", "--memory must be a size, such as 64M or 2G, got '-1'"),
                ("wordcount --memory 4E", "--memory must be a size, such as 64M or 2G, got '4E'"),
                ("lu -n 0", "-n must be 1 or more, got 0"),
                ("lu -n 9223372036854775808",
                 "-n must be between 1 and 9223372036854775807, got 9223372036854775808"),
                ("lu -n 5 --runs 1000001", "--runs must be between 1 and 1000000, got 1000001"),
                ("solve -n 5 --seed -1", "--seed must be 0 or more, got -1"),
                ("compare lu --watts -1", "--watts must be more than 0, got -1"),
                ("compare lu --bound nan", "--bound must be a number, got 'nan'"),
                ("compare lu --bound inf", "--bound must be a number, got 'inf'"),
                ("compare lu --bound 7", "--bound must be between 0 and 1, got 7"),
                ("lu --backend scc -n 64 --bound -0.5", "--bound must be between 0 and 1, got -0.5"),
                ("kmeans --clusters 1 --tolerance -1", "--tolerance must be 0 or more, got -1"),
                ("kmeans --clusters 1 --dimensions 0 --format floats",
                 "--dimensions must be between 1 and 1048576, got 0"),
                ("bench stages --runs 0", "--runs must be between 1 and 10000, got 0"),
                ("bench scc-linalg --runs 0", "--runs must be 1 or more, got 0"),
                ("scc calibrate --seconds 1e9", "--seconds must be between 0.01 and 600, got 1e9")):
            with self.subTest(arguments):
                self.fails(run(*arguments.split()), 2, "creek: " + line)

    def test_what_is_in_range_is_taken(self):
        name = self.write("text", b"a b a\n")
        for arguments in (("--seed", "18446744073709551615", "--backend", "scc", "--cores", "0x2"),
                          ("--workers", "1", "--top", "0"), ("--memory", "1m"),
                          ("--memory", "2KiB", "--memory", "3GB")[2:]):
            done = run("wordcount", *arguments, name)
            self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)


class Lists(FolderCase):
    def test_have_no_empty_items(self):
        for arguments, option, word in (
                (("compare", "fib", "-n", "9,"), "-n", "9,"),
                (("compare", "lu", "--policy", ",polling"), "--policy", ",polling"),
                (("bench", "mapreduce", "--workers", "1,,2"), "--workers", "1,,2"),
                (("kmeans", "--clusters", "1", "--columns", "a,b,"), "--columns", "a,b,")):
            with self.subTest(arguments):
                self.fails(run(*arguments), 2,
                           f"creek: {option}: the list '{word}' has an empty item")

    def test_of_what_is_measured_have_no_item_twice(self):
        for arguments, line in (
                ("bench tasking --workers 2,1,2", "--workers: the list contains '2' twice"),
                ("bench linalg -n 100,64,100", "-n: the list contains '100' twice"),
                ("compare lu --policy power-cap,polling,power_cap",
                 "--policy: the list contains 'power_cap' twice")):
            with self.subTest(arguments):
                self.fails(run(*arguments.split()), 2, "creek: " + line)


class WithoutEffect(FolderCase):
    def test_is_refused(self):
        for arguments, line in (
                ("compare lu --watts 40", "--watts: needs the policy power_cap"),
                ("compare lu --bound 0.1", "--bound: needs the policy slack_reduction"),
                ("lu --backend scc -n 64 --policy blocking --watts 40",
                 "--watts: needs the policy power_cap"),
                ("bench scc-linalg --policy polling --bound 0.1",
                 "--bound: needs the policy slack_reduction"),
                ("tpch q6 --data . --cores 4", "--cores: needs --backend scc"),
                ("tpch q5 --data . --backend mpi", "--backend mpi: q5 runs in one process; ranks answer q1, q3, q6, q12, q18"),
                ("tpch q6 --data . --backend mpi --form paper", "--backend mpi: not with --form paper"),
                ("bench tpch-paper --data . --chip scc-800", "--chip: needs --backend scc"),
                ("bench tpch-paper --data . --backend scc --repeat 9", "--repeat: needs --backend host"),
                ("wordcount --cores 4", "--cores: needs --backend scc"),
                ("wordcount --backend host --seed 0", "--seed: needs --backend scc"),
                ("compare lu --backend scc -n 32 --runs 3", "--runs: needs --backend host"),
                ("compare lu --backend scc -n 32 --warmup 3", "--warmup: needs --backend host"),
                ("lu --backend mpi -n 32 --cores 4", "--cores: needs --backend scc"),
                ("lu -n 32 --policy blocking", "--policy needs --backend mpi or scc; see also creek compare"),
                ("lu --backend scc -n 32 --form column", "--form has no effect with --backend scc"),
                ("filter be --json --names", "--names: needs --output with --json"),
                ("filter be --json --line-numbers", "--line-numbers: needs --output with --json")):
            with self.subTest(arguments):
                self.fails(run(*arguments.split()), 2, "creek: " + line)


    def test_of_onetbb(self):
        if b"tbb" not in run("info").stdout:
            self.skipTest("this build has no oneTBB")
        for option, word in (("--scheduler", "latency"), ("--idle", "poll")):
            self.fails(run("wordcount", "--backend", "tbb", option, word), 2,
                       f"creek: {option}: not with --backend tbb")


class EmptyWords(FolderCase):
    def test_are_no_values(self):
        for command, options in (("wordcount", "--output --spill --backend --scheduler --idle --trace"),
                                 ("string-match", "--patterns"), ("compare fib", "--plot --meter"),
                                 ("lu -n 8", "--output --backend")):
            for option in options.split():
                with self.subTest((command, option)):
                    self.fails(run(*command.split(), option, ""), 2, f"creek: {option}: ")


class Help(unittest.TestCase):
    def help_of(self, *command):
        done = run(*command, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def test_lists_the_values(self):
        for command in (("wordcount",), ("bench", "tasking")):
            text = " ".join(self.help_of(*command).split())
            self.assertIn("random, last-victim, latency, sharing", text)
            self.assertIn("poll, backoff, block", text)

    def test_lists_the_workloads_of_the_programs(self):
        """Compares with the names in the sources of bench/, by the command that runs them."""
        found = {}
        for file in BENCH.glob("*/*.[ch]pp"):
            source = file.read_text()
            groups_of = {}
            for variable, body in re.findall(r"description\s+(\w+)\s*\{(.*?)\};", source, re.S):
                name = re.search(r'\.name = "([^"]+)"', body)
                groups = re.search(r'\.groups =\s*"([^"]+)"', body)
                groups_of[variable] = (groups[1] if groups else "tasking").split()
                for group in groups_of[variable] if name else ():
                    found.setdefault(group, set()).add(name[1])
            for other, name in re.findall(r'\blike\((\w+), "([^"]+)"', source):
                for group in groups_of.get(other, ()):
                    found.setdefault(group, set()).add(name)
        for group in ("tasking", "invoke", "linalg", "stream"):
            text = " ".join(self.help_of("bench", group).split())
            said = re.search(r"Workloads to run, of ([a-z0-9_, ]*?) \(default", text)[1].split(", ")
            self.assertEqual(set(said), found[group], group)

    def test_examples_are_of_the_command(self):
        """No command prints examples of another command."""
        commands = [line.split()[0] for line in
                    re.search(r"Subcommands:\n((?:  .*\n)+)", self.help_of())[1].splitlines()]
        for group in ((), ("bench",), ("scc",), ("tpch",)):
            below = re.search(r"Subcommands:\n((?:  .*\n)+)", self.help_of(*group))[1]
            for name in re.findall(r"^  (\S+)", below, re.M):
                path = (*group, name)
                examples = re.findall(r"^  (?:\S.*\| )?creek ([a-z][a-z0-9-]*)", self.help_of(*path),
                                      re.M)
                with self.subTest(path):
                    self.assertLessEqual(set(examples) & set(commands), {path[0]})
                    if group == () or group == ("bench",) and not name.startswith("scc-simul"):
                        self.assertTrue(examples or name == "scc-primitives", path)


if __name__ == "__main__":
    unittest.main()
