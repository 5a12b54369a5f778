# SPDX-License-Identifier: Apache-2.0
"""Shared parts of all tests of the tool from outside: the tool's path, a folder per test, and the
form of a failure."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)


class FolderCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="creek-cli-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def as_nobody(self):
        """Returns arguments of subprocess.run() for a user with restricted rights; the test is skipped
        if root cannot become one."""
        if os.geteuid() != 0:
            return {}
        other = {"user": 65534, "group": 65534, "extra_groups": []}
        os.chmod(self.folder.name, 0o755)
        try:
            subprocess.run([TOOL, "--version"], capture_output=True, check=True, **other)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("nobody may not run the tool here")
        return other

    def complains(self, done, code, *parts):
        """Expects one line on standard error that has all the parts."""
        self.assertEqual(done.returncode, code, done)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("creek: "), lines)
        for part in parts:
            self.assertIn(part, lines[0])

    def fails(self, done, code, *parts):
        """Expects the same, and nothing on standard output."""
        self.complains(done, code, *parts)
        self.assertEqual(done.stdout, b"")

    def report_of(self, done, version=1):
        """Returns the JSON that a command has printed, which must have that version."""
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["schema_version"], version)
        return report
