#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture in README.md is the one that the command below it draws, byte for byte."""
import pathlib
import re
import shlex
import subprocess
import unittest

from tool_case import TOOL, FolderCase

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Picture(FolderCase):
    def test_the_command_draws_the_picture(self):
        shown = re.findall(r"!\[[^\]]+\]\((docs/images/[^)]+)\)", README)
        commands = re.findall(r"^ {4}creek (.* --heatmap (\S+) .*)$", README, re.M)
        self.assertEqual([name for _, name in commands], shown)
        self.assertEqual(len(shown), 1)
        arguments = shlex.split(commands[0][0])
        arguments[arguments.index(shown[0])] = self.path("picture.svg")
        done = subprocess.run([TOOL, *arguments], cwd=ROOT, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=250)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        drawn = pathlib.Path(self.path("picture.svg")).read_bytes()
        self.assertTrue(drawn == (ROOT / shown[0]).read_bytes(),
                        f"{shown[0]} is out of date. Draw it again: creek {commands[0][0]}")


if __name__ == "__main__":
    unittest.main()
