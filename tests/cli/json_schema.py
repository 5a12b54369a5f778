# SPDX-License-Identifier: Apache-2.0
"""A validator of the part of JSON Schema (draft 2020-12) that docs/schemas uses."""

ANNOTATIONS = {"$schema", "title", "description"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check_type(value, names, schema):
    names = [names] if isinstance(names, str) else names
    return [] if any(is_of_type(value, name) for name in names) else [f"is not {' or '.join(names)}"]


def check_enum(value, allowed, schema):
    return [] if value in allowed else [f"is none of {allowed}"]


def check_const(value, expected, schema):
    return [] if value == expected and type(value) is type(expected) else [f"is not {expected!r}"]


def check_minimum(value, least, schema):
    return [f"is below {least}"] if is_of_type(value, "number") and value < least else []


def check_required(value, names, schema):
    return [f"lacks {name}" for name in names if isinstance(value, dict) and name not in value]


def check_properties(value, known, schema):
    if not isinstance(value, dict):
        return []
    return [f".{name}{fault}" for name, inner in known.items() if name in value
            for fault in faults(value[name], inner)]


def check_additional(value, inner, schema):
    if not isinstance(value, dict):
        return []
    others = [name for name in value if name not in schema.get("properties", {})]
    if inner is False:
        return [f" has {name}, which is not in the schema" for name in others]
    return [f".{name}{fault}" for name in others for fault in faults(value[name], inner)]


def check_items(value, inner, schema):
    if not isinstance(value, list):
        return []
    return [f"[{i}]{fault}" for i, item in enumerate(value) for fault in faults(item, inner)]


CHECKS = {"type": check_type, "enum": check_enum, "const": check_const, "minimum": check_minimum,
          "required": check_required, "properties": check_properties,
          "additionalProperties": check_additional, "items": check_items}


def faults(value, schema):
    """What is wrong with a value, each with the way to it; empty if nothing is. Raises ValueError for
    a keyword that this validator does not know."""
    if schema is True:
        return []
    unknown = set(schema) - set(CHECKS) - ANNOTATIONS
    if unknown:
        raise ValueError(f"unknown keywords in the schema: {sorted(unknown)}")
    found = [fault for key, check in CHECKS.items() if key in schema
             for fault in check(value, schema[key], schema)]
    return [fault if fault[0] in ".[" else f" {fault.strip()}" for fault in found]
