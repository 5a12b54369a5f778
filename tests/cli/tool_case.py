# SPDX-License-Identifier: Apache-2.0
"""What all tests of the tool from the outside share: the tool's path, and a folder for each test."""
import os
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
