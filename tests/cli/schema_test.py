#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON of every command against its schema in docs/schemas."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from json_schema import described, faults
from schema_cases import CASES, ELSEWHERE, write_inputs
from tool_case import TOOL
from tool_help import commands

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
HELP = commands()
# These take most of the test's time under a sanitizer, in the simulator, which has its own tests.
LONG = {"bench-scc-primitives", "bench-scc-simulator"} if os.environ.get("CREEK_TEST_SANITIZE") else set()


def schema_named(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def command_of(arguments):
    """Returns the command that a case runs, as a tuple of words."""
    words = tuple(arguments.split())
    return max((path for path in HELP if words[:len(path)] == path), key=len)


class Validator(unittest.TestCase):
    def test_finds_what_is_wrong(self):
        schema = {"type": "object", "required": ["a", "b"], "properties": {
            "a": {"type": "integer", "minimum": 1}, "b": {"type": ["array", "null"],
                                                           "items": {"enum": ["x", "y"]}},
            "c": {"const": 1}}, "additionalProperties": {"type": "string"}}
        self.assertEqual(faults({"a": 1, "b": ["x"], "c": 1, "d": ""}, schema), [])
        self.assertEqual(faults({"a": 1, "b": None}, schema), [])
        for wrong, part in (({"a": 1}, "lacks b"), ({"a": True, "b": []}, ".a is not integer"),
                            ({"a": 0, "b": []}, ".a is below 1"), ([], "is not object"),
                            ({"a": 1.5, "b": []}, ".a is not integer"),
                            ({"a": 1, "b": ["x", "z"]}, ".b[1] is none of"),
                            ({"a": 1, "b": [], "c": True}, ".c is not 1"),
                            ({"a": 1, "b": [], "e": 5}, ".e is not string")):
            self.assertTrue(any(part in fault for fault in faults(wrong, schema)),
                            (wrong, faults(wrong, schema)))
        with self.assertRaises(ValueError):
            faults({}, {"patternProperties": {}})

    def test_follows_references_and_conditions(self):
        schema = {"$defs": {"day": {"type": "string", "pattern": "^[0-9]+$"}},
                  "properties": {"kind": {"enum": ["a", "b"]}, "on": {"$ref": "#/$defs/day"},
                                 "n": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 2}]}},
                  "allOf": [{"if": {"properties": {"kind": {"const": "a"}, "n": False}},
                             "then": {"required": ["on"]}}]}
        for right in ({"kind": "a", "on": "1"}, {"kind": "b"}, {"kind": "a", "n": 2}, {"kind": "b", "n": None}):
            self.assertEqual(faults(right, schema), [], right)
        for wrong, part in (({"kind": "a"}, "lacks on"), ({"kind": "b", "on": "x"}, ".on does not match"),
                            ({"kind": "b", "n": 1}, ".n is")):
            self.assertTrue(any(part in fault for fault in faults(wrong, schema)), faults(wrong, schema))
        with self.assertRaises(ValueError):
            faults(1, {"$ref": "other.json"})

    def test_finds_every_property(self):
        inner = {"type": "object", "properties": {"x": {}}}
        schema = {"$defs": {"d": inner}, "properties": {"a": {"items": inner}, "b": {"anyOf": [{}, inner]}}}
        self.assertEqual({way for way, *_ in described(schema)}, {"#.a", "#.a[].x", "#.b", "#.b|1.x", "#/d.x"})


class Output(unittest.TestCase):
    def output(self, arguments, folder):
        done = subprocess.run([TOOL, *(each.replace("{}", str(folder)) for each in arguments.split())],
                              capture_output=True, timeout=250)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        file = arguments.rsplit(" ", 1)[1].replace("{}", str(folder))
        text = pathlib.Path(file).read_text() if file.endswith(".json") else done.stdout
        return json.loads(text)

    def test_is_as_the_schema_says(self):
        with tempfile.TemporaryDirectory(prefix="creek-schema-") as folder:
            write_inputs(pathlib.Path(folder))
            for name, runs in CASES.items():
                if name in LONG:
                    continue
                schema = schema_named(name)
                for arguments in runs:
                    with self.subTest(arguments):
                        found = self.output(arguments, folder)
                        self.assertEqual(faults(found, schema), [])
                        self.assertEqual(found["command"], " ".join(command_of(arguments)))
                        self.assertEqual("--energy" in arguments, "command_energy" in found)
                        self.assertNotEqual(found.get("answer"), [], "an answer without rows")

    def test_of_a_profile_is_as_the_schema_says(self):
        with tempfile.TemporaryDirectory(prefix="creek-schema-") as folder:
            write_inputs(pathlib.Path(folder))
            file = pathlib.Path(folder) / "profile.json"
            subprocess.run([TOOL, "wordcount", "--workers", "2", "text"], cwd=folder, capture_output=True,
                           check=True, timeout=100, env={**os.environ, "CREEK_PROFILE": str(file)})
            found = json.loads(file.read_text())
            self.assertEqual(faults(found, schema_named("profile")), [])
            self.assertEqual(len(found["workers"]), 2)
            self.assertNotEqual(found["tasks"], [])


class Schemas(unittest.TestCase):
    def test_every_command_has_a_case_and_every_schema(self):
        with_json = {path for path, text in HELP.items() if "\n  --json" in text}
        self.assertGreater(len(with_json), 40)
        self.assertEqual({command_of(arguments) for runs in CASES.values() for arguments in runs}, with_json)
        self.assertEqual({file.stem for file in SCHEMAS.glob("*.json")}, set(CASES) | ELSEWHERE)

    def test_begin_with_the_version_and_the_command(self):
        for name in {*CASES, *ELSEWHERE}:
            schema = schema_named(name)
            self.assertEqual(schema["required"][:2], ["schema_version", "command"], name)
            self.assertIsInstance(schema["properties"]["schema_version"]["const"], int, name)

    def test_describe_every_member_and_are_closed(self):
        for name in {*CASES, *ELSEWHERE}:
            for way, owner, inner in described(schema_named(name)):
                self.assertRegex(inner.get("description", ""), r"^\S.*\.$", f"{name}: {way}: description")
                self.assertIs(owner.get("additionalProperties"), False, f"{name}: {way}: is in an open object")


if __name__ == "__main__":
    unittest.main()
