#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completion that `creek generate` makes say what --help says."""
import os
import re
import shutil
import subprocess
import unittest

from tool_case import TOOL, FolderCase
from tool_help import commands, options_in, output

HELP = commands()


class Manual(FolderCase):
    def setUp(self):
        super().setUp()
        output("generate", "man", "--folder", self.path("man"))

    def page(self, path):
        with open(self.path("man/" + "-".join(("creek", *path)) + ".1"), encoding="utf-8") as file:
            return file.read()

    def test_every_command_has_a_page_with_its_options(self):
        names = {"-".join(("creek", *path)) + ".1" for path in HELP}
        self.assertEqual(set(os.listdir(self.path("man"))), names)
        for path, text in HELP.items():
            with self.subTest(path):
                page = self.page(path)
                self.assertEqual(output("generate", "man", *path), page)
                said = re.findall(r"^\.TP\n\\fB(\\-.*?)\\fR", page, re.M)
                said = sorted(name.replace("\\", "") for names in said for name in names.split(", "))
                self.assertEqual(said, options_in(text))

    def test_pages_have_sections_and_nothing_raw(self):
        for path in HELP:
            page = self.page(path)
            title = "\\-".join(("creek", *path)).replace("-", "\\-").replace("\\\\", "\\")
            self.assertTrue(page.startswith(".TH "), path)
            self.assertIn(f".SH NAME\n{title} \\- ", page)
            self.assertIn(".SH SYNOPSIS\n.B creek", page)
            for line in page.splitlines():
                self.assertNotRegex(line, r"(?<!\\)-", path)
                if line.startswith("."):
                    self.assertRegex(line, r"^\.(TH|SH|TP|B|BR|nf|fi)( |$)", path)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_takes_them(self):
        for path, text in HELP.items():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-P-cbou"],
                                  input=self.page(path).encode(), capture_output=True, check=True)
            self.assertEqual(done.stderr, b"", path)
            for name in options_in(text):
                self.assertIn(name.encode(), done.stdout.replace("\u2010".encode(), b"-"), path)


class Completion(FolderCase):
    def complete(self, *words):
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _creek; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        file = self.write("creek.bash", output("generate", "bash").encode())
        done = subprocess.run(["bash", "-uc", script, "bash", file, *words], capture_output=True,
                              check=True)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split()

    def test_bash_completes(self):
        names = sorted(path[0] for path in HELP if len(path) == 1)
        self.assertEqual(sorted(self.complete("creek", "")), names)
        self.assertEqual(self.complete("creek", "wordc"), ["wordcount"])
        self.assertEqual(self.complete("creek", "wordcount", "--sch"), ["--scheduler"])
        self.assertEqual(self.complete("creek", "wordcount", "--scheduler", ""),
                         ["random", "last-victim", "latency", "sharing"])
        self.assertEqual(self.complete("creek", "lu", "-n", "9", "--type", "d"), ["d"])
        self.assertEqual(self.complete("creek", "lu", "--output", ""), [])  # bash takes files
        self.assertEqual(self.complete("creek", "compare", "f"), ["fib"])
        self.assertIn("scc-power", self.complete("creek", "bench", "scc-p"))
        self.assertEqual(self.complete("creek", "bench", "schedulers", "--workload", "b"), ["bpc"])

    def test_bash_knows_every_option(self):
        for path, text in HELP.items():
            with self.subTest(path):
                self.assertEqual(sorted(self.complete("creek", *path, "-")), options_in(text))

    def check_syntax(self, shell, text):
        if shutil.which(shell):
            file = self.write("creek." + shell, text.encode())
            done = subprocess.run([shell, "-n", file], capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_zsh_has_every_command_and_option(self):
        text = output("generate", "zsh")
        self.check_syntax("zsh", text)
        self.assertTrue(text.startswith("#compdef creek\n"))
        self.assertEqual(len(re.findall(r"^ *case ", text, re.M)),
                         len(re.findall(r"^ *esac$", text, re.M)))
        for path, help_text in HELP.items():
            at = re.escape(" ".join(("creek", *path)))
            options = re.search(rf"^    '{at}'\)\n      options=\((.*)\)$", text, re.M)[1]
            self.assertEqual(options.replace("'\\''", "").count("'") % 2, 0, path)
            for name in set(options_in(help_text)) - {"-h"}:
                self.assertIn(f"'{name}:", options, path)
        self.assertIn("'creek wordcount:--idle') compadd -- poll backoff block; return ;;", text)
        self.assertIn("'creek wordcount:--output') _files; return ;;", text)

    def test_fish_has_every_command_and_option(self):
        text = output("generate", "fish")
        self.check_syntax("fish", text)
        lines = [line for line in text.splitlines() if line.startswith("complete ")]
        for line in lines:
            self.assertEqual(line.replace("\\'", "").count("'") % 2, 0, line)
        for path, help_text in HELP.items():
            at = f"complete -c creek -n '__creek_at {' '.join(('creek', *path))}' "
            own = [line[len(at) - 1:] for line in lines if line.startswith(at)]
            for name in options_in(help_text):
                form = f" -l {name[2:]} " if name.startswith("--") else f" -s {name[1:]} "
                self.assertTrue(any(form in line for line in own), (path, name))
        self.assertIn("-x -a 'poll backoff block'", text)


class Errors(FolderCase):
    def test_bad_usage(self):
        for arguments in (("generate",), ("generate", "tcsh"), ("generate", "man", "brook"),
                          ("generate", "bash", "wordcount")):
            self.fails(subprocess.run([TOOL, *arguments], capture_output=True), 2)
        self.assertNotIn("generate", HELP[()])


if __name__ == "__main__":
    unittest.main()
