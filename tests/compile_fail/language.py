#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""language.py COMPILER -IFOLDER...: compiles headers of creek with options that creek does not support and
expects one #error, which says what to do, and then only the end of the compilation."""

import subprocess
import sys
import unittest

COMMAND = []
HEADERS = ["creek/tasking.hpp", "creek/host.hpp", "creek/scc.hpp", "creek/tbb.hpp", "creek/mapreduce.hpp",
           "creek/linalg.hpp", "creek/power/meter.hpp", "creek/core/topology.hpp"]


def errors_of(header, *options):
    done = subprocess.run([*COMMAND, "-fsyntax-only", *options, "-x", "c++", "-"], input=f"#include <{header}>\n",
                          capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False)
    return done.returncode, [line for line in done.stderr.splitlines() if "error:" in line]


class language(unittest.TestCase):
    def expect_one_message(self, message, *options):
        for header in HEADERS:
            with self.subTest(header=header):
                status, errors = errors_of(header, *options)
                self.assertNotEqual(status, 0)
                self.assertEqual(len(errors), 2, errors)
                self.assertIn(message, errors[0])
                self.assertIn("creek_stops_this_compilation", errors[1])

    def test_older_standard(self):
        self.expect_one_message("creek needs C++20: compile with -std=c++20", "-std=c++17")

    def test_no_exceptions(self):
        self.expect_one_message("compile without -fno-exceptions", "-std=c++20", "-fno-exceptions")

    def test_compiles_otherwise(self):
        self.assertEqual(errors_of("creek/core/topology.hpp", "-std=c++20"), (0, []))


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
