# SPDX-License-Identifier: Apache-2.0
"""A validator of the part of JSON Schema (draft 2020-12) that docs/schemas uses."""
import re

ANNOTATIONS = {"$schema", "title", "description", "$defs"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Check:
    """Checks values against one schema file, to whose `$defs` references point."""

    def __init__(self, whole):
        self.whole = whole
        self.checks = {
            "$ref": self.reference, "type": self.type, "enum": self.enum, "const": self.const,
            "minimum": self.minimum, "pattern": self.pattern, "required": self.required,
            "properties": self.properties, "additionalProperties": self.additional,
            "items": self.items, "allOf": self.all_of, "anyOf": self.any_of, "if": self.condition,
            "then": lambda *_: []}  # checked with `if`

    def faults(self, value, schema):
        if schema is True:
            return []
        if schema is False:
            return [" must not be there"]
        unknown = set(schema) - set(self.checks) - ANNOTATIONS
        if unknown:
            raise ValueError(f"unknown keywords in the schema: {sorted(unknown)}")
        found = [fault for key, check in self.checks.items() if key in schema
                 for fault in check(value, schema[key], schema)]
        return [fault if fault[0] in ".[" else f" {fault.strip()}" for fault in found]

    def reference(self, value, to, schema):
        start, defs, name = to.split("/")
        if (start, defs) != ("#", "$defs"):
            raise ValueError(f"{to}: references must be to #/$defs/NAME")
        return self.faults(value, self.whole["$defs"][name])

    def type(self, value, names, schema):
        names = [names] if isinstance(names, str) else names
        return [] if any(is_of_type(value, name) for name in names) else [f"is not {' or '.join(names)}"]

    def enum(self, value, allowed, schema):
        return [] if value in allowed else [f"is none of {allowed}"]

    def const(self, value, expected, schema):
        same = value == expected and type(value) is type(expected)
        return [] if same else [f"is not {expected!r}"]

    def minimum(self, value, least, schema):
        return [f"is below {least}"] if is_of_type(value, "number") and value < least else []

    def pattern(self, value, expression, schema):
        matches = not isinstance(value, str) or re.search(expression, value)
        return [] if matches else [f"does not match {expression}"]

    def required(self, value, names, schema):
        return [f"lacks {name}" for name in names if isinstance(value, dict) and name not in value]

    def properties(self, value, known, schema):
        if not isinstance(value, dict):
            return []
        return [f".{name}{fault}" for name, inner in known.items() if name in value
                for fault in self.faults(value[name], inner)]

    def additional(self, value, inner, schema):
        if not isinstance(value, dict):
            return []
        others = [name for name in value if name not in schema.get("properties", {})]
        if inner is False:
            return [f" has {name}, which is not in the schema" for name in others]
        return [f".{name}{fault}" for name in others for fault in self.faults(value[name], inner)]

    def items(self, value, inner, schema):
        if not isinstance(value, list):
            return []
        return [f"[{i}]{fault}" for i, item in enumerate(value) for fault in self.faults(item, inner)]

    def all_of(self, value, schemas, schema):
        return [fault for each in schemas for fault in self.faults(value, each)]

    def any_of(self, value, schemas, schema):
        """Returns the faults of the alternative that has the fewest."""
        return min((self.faults(value, each) for each in schemas), key=len)

    def condition(self, value, when, schema):
        return [] if self.faults(value, when) else self.faults(value, schema["then"])


def faults(value, schema):
    """Returns what is wrong with a value, each fault with its path; empty if none. Raises ValueError for
    a keyword that this validator does not know."""
    return Check(schema).faults(value, schema)


def described(schema, way="#"):
    """Yields (path, property, its schema) for every property of the objects that a schema describes.
    Conditions (`allOf`) are skipped: they only narrow what `properties` describes."""
    if not isinstance(schema, dict):
        return
    for name, inner in schema.get("properties", {}).items():
        yield f"{way}.{name}", schema, inner
        yield from described(inner, f"{way}.{name}")
    for name, inner in schema.get("$defs", {}).items():
        yield from described(inner, f"{way}/{name}")
    for place, inner in enumerate(schema.get("anyOf", [])):
        yield from described(inner, f"{way}|{place}")
    yield from described(schema.get("items"), f"{way}[]")
