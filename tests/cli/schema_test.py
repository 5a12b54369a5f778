#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON of every command against its schema in docs/schemas."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from json_schema import faults
from schema_cases import CASES, write_inputs
from tool_case import TOOL

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"


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


class Output(unittest.TestCase):
    def output(self, arguments, folder):
        done = subprocess.run([TOOL, *(each.replace("{}", str(folder))
                                       for each in arguments.split())],
                              capture_output=True, timeout=250)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        file = arguments.rsplit(" ", 1)[1].replace("{}", str(folder))
        text = pathlib.Path(file).read_text() if file.endswith(".json") else done.stdout
        return json.loads(text)

    def test_is_as_the_schema_says(self):
        with tempfile.TemporaryDirectory(prefix="creek-schema-") as folder:
            write_inputs(pathlib.Path(folder))
            for name, runs in CASES.items():
                schema = json.loads((SCHEMAS / f"{name}.json").read_text())
                for arguments in runs:
                    with self.subTest(arguments):
                        found = self.output(arguments, folder)
                        self.assertEqual(faults(found, schema), [])
                        self.assertIsInstance(found["schema_version"], int)

    def test_schemas_are_complete(self):
        """Every schema has a case, and asks for its version."""
        self.assertEqual({file.stem for file in SCHEMAS.glob("*.json")}, set(CASES))
        for name in CASES:
            schema = json.loads((SCHEMAS / f"{name}.json").read_text())
            self.assertIn("schema_version", schema["required"])
            self.assertEqual(list(schema["properties"]["schema_version"]), ["const"])


if __name__ == "__main__":
    unittest.main()
