# SPDX-License-Identifier: Apache-2.0
"""A query in the oracle's SQL, and how to draw its parameters.

The leading comment lines of qN.sql declare the parameters, which the text has as :NAME:

    -- param SEGMENT: choice AUTOMOBILE|BUILDING      one of these
    -- param DATE: date 1993-01-01 1998-12-31         a day, both ends included
    -- param QUANTITY: int 1 50
    -- param DISCOUNT: decimal 0.02 0.09              in hundredths
    -- param BRAND: from part.p_brand                 a value that the column has
    -- differ NATION1 NATION2                         never the same value
"""
import datetime
import re
from decimal import Decimal
from pathlib import Path

PARAMETER = re.compile(r"-- param (\w+): (choice|date|int|decimal|from) (.+)")
PLACEHOLDER = re.compile(r"(?<!:):([A-Z]\w*)")  # not the type of a cast, ::DATE
DIFFER = re.compile(r"-- differ (\w+) (\w+)")


class Parameter:
    """`values_of(table, column)` returns the values of a column in the data at hand."""

    def __init__(self, name, kind, rest):
        self.name, self.kind = name, kind
        if kind == "choice":
            self.choices = rest.split("|")
        elif kind == "from":
            self.table, self.column = rest.split(".")
        else:
            parse = {"date": datetime.date.fromisoformat, "int": int, "decimal": Decimal}[kind]
            self.least, self.greatest = map(parse, rest.split())

    def draw(self, random, values_of):
        """Returns the value in the form that `creek tpch --param` takes."""
        if self.kind == "choice":
            return random.choice(self.choices)
        if self.kind == "from":
            return str(random.choice(values_of(self.table, self.column)))
        if self.kind == "date":
            days = (self.greatest - self.least).days
            return str(self.least + datetime.timedelta(days=random.randint(0, days)))
        if self.kind == "int":
            return str(random.randint(self.least, self.greatest))
        hundredths = random.randint(int(self.least * 100), int(self.greatest * 100))
        return f"{Decimal(hundredths) / 100:.2f}"

    def literal(self, value):
        """Returns the value in SQL; a quoted number counts as a number where it is compared with one."""
        if self.kind == "date":
            return f"DATE '{value}'"
        if self.kind in ("int", "decimal"):
            return value
        return "'" + value.replace("'", "''") + "'"


class QueryFile:
    def __init__(self, path):
        self.name = Path(path).stem
        self.text = Path(path).read_text(encoding="utf-8")
        self.parameters, self.pairs = [], []
        for line in self.text.splitlines():
            if found := PARAMETER.fullmatch(line):
                self.parameters.append(Parameter(*found.groups()))
            elif found := DIFFER.fullmatch(line):
                self.pairs.append(found.groups())
            elif re.match(r"-- (param|differ)\b", line):
                raise ValueError(f"{path}: cannot be read: {line}")
        names = {parameter.name for parameter in self.parameters}
        used = set(PLACEHOLDER.findall(self.statement()))
        if used != names:
            raise ValueError(f"{path}: declared {sorted(names)}, used {sorted(used)}")

    def statement(self):
        return "\n".join(line for line in self.text.splitlines() if not line.startswith("--"))

    def draw(self, random, values_of, tries=1000):
        """Returns {name: value} of all parameters."""
        for _ in range(tries):
            values = {p.name: p.draw(random, values_of) for p in self.parameters}
            if all(values[a] != values[b] for a, b in self.pairs):
                return values
        return None

    def sql(self, values):
        literals = {p.name: p.literal(values[p.name]) for p in self.parameters}
        return PLACEHOLDER.sub(lambda found: literals[found[1]], self.statement())
