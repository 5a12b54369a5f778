# SPDX-License-Identifier: Apache-2.0
"""Plants one comment or name after another in a small tree and expects the comment check to report it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = sys.argv.pop() if len(sys.argv) > 1 else "cmake/comment_check.py"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

# Text that the check accepts: other first words, such words later in a block, code and strings.
CLEAN = """/// Number of workers.
/// Of these one is the root.
int workers;  ///< one per core
              ///< As many as the machine has.
/// `What()` is code, Whatever and Offset are other words, What() and As_is are names.
const char* text = "// Of a string";
const char* raw = R"(
// Of a raw string
)";
const auto million = 1'000'000;  // digits
const char quote = '"';          // a quote
int offset = 3;                  // not the name `forsaken`
"""


def check(text, name="core/src/lock.cpp"):
    """Returns exit status and output of the check on a tree of one file."""
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / name
        path.parent.mkdir(parents=True)
        path.write_text(LICENCE + text)
        result = subprocess.run([sys.executable, "-B", CHECK, root], capture_output=True, text=True)
        return result.returncode, result.stdout


class planted(unittest.TestCase):
    def expect(self, text, line, finding):
        status, output = check(text)
        self.assertEqual(status, 1, output)
        self.assertIn(f"core/src/lock.cpp:{line}: {finding}", output)
        self.assertIn("1 findings", output)

    def expect_opening(self, text, line, word):
        self.expect(text, line, f'comment opens with "{word}": name the thing first')

    def test_nothing_is_found_in_clean_text(self):
        status, output = check(CLEAN)
        self.assertEqual(status, 0, output)

    def test_every_opening(self):
        for word in ("Of", "What", "As", "Who", "That", "Where"):
            self.expect_opening(f"int x;\n/// {word} so many workers.\n", 3, word)

    def test_opening_below_the_licence(self):
        self.expect_opening("// What a lock does.\n", 2, "What")

    def test_opening_behind_code(self):
        self.expect_opening("int x;  ///< Of the worker.\n", 2, "Of")
        self.expect_opening("int x = 1;  // one\nint y = 2;  // Who waits.\n", 3, "Who")

    def test_opening_of_a_block_comment(self):
        self.expect_opening("int f(int /* As it is. */);\n", 2, "As")

    def test_opening_after_quotes(self):
        self.expect_opening(CLEAN + "\n// That is all.\n", 2 + CLEAN.count("\n") + 1, "That")

    def test_opening_with_nothing_behind_it(self):
        self.expect_opening("// What\n// is here.\n", 2, "What")

    def test_banned_name(self):
        self.expect("/* two\nlines */ int roused = 0;\n", 3, 'name "roused": write woken')
        self.expect("int roused_ = 0;\n", 2, 'name "roused": write woken')
        self.expect("unsigned owed_hires_ = 0;\n", 2, 'name "owed_hires": write pending_spawns')

    def test_other_rooms_and_languages_are_left_alone(self):
        for name in ("docs/lock.cpp", "core/CMakeLists.txt"):
            status, output = check("// Of all.\n", name)
            self.assertEqual(status, 2, output)


if __name__ == "__main__":
    unittest.main()
