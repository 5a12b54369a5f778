#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: json_test.py RCCERUN PROGRAM.so: what `rccerun --json FILE` writes against its schema."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from json_schema import faults  # pylint: disable=wrong-import-position

PROGRAM = sys.argv.pop(2)
RCCERUN = sys.argv.pop(1)


class Output(unittest.TestCase):
    def test_is_as_the_schema_says(self):
        schema = json.loads((ROOT / "docs/schemas/rccerun.json").read_text())
        with tempfile.TemporaryDirectory(prefix="creek-rcce-") as folder:
            file = pathlib.Path(folder) / "run.json"
            for backend in ("scc", "host"):
                subprocess.run([RCCERUN, "-nue", "2", "--backend", backend, "--json", file, PROGRAM],
                               capture_output=True, check=True, timeout=100)
                found = json.loads(file.read_text())
                self.assertEqual(faults(found, schema), [], backend)
                self.assertEqual("chip" in found, backend == "scc")


if __name__ == "__main__":
    unittest.main()
