# SPDX-License-Identifier: Apache-2.0
"""The commands of the tool, from its own --help."""
import re
import subprocess

from tool_case import TOOL


def output(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, timeout=100, check=True)
    assert done.stderr == b"", done.stderr
    return done.stdout.decode()


def commands(path=()):
    """Returns all commands, as tuples of words, with the --help text of each."""
    text = output(*path, "--help")
    found = {path: text}
    below = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    for name in re.findall(r"^  (\S+)", below[1], re.M) if below else ():
        found.update(commands((*path, name)))
    return found


def options_in(help_text):
    lists = re.findall(r"^ {2,4}(-[-a-zA-Z,0-9]+)", help_text, re.M)
    return sorted(name for names in lists for name in names.split(","))
