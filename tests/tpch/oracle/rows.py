# SPDX-License-Identifier: Apache-2.0
"""Compares the rows of two engines."""
import datetime
from decimal import Decimal


def same_value(got, wanted):
    """`got` is creek's, from JSON; `wanted` the oracle's. Text, whole numbers and decimals must be equal. Where
    the oracle computes in binary floating point, creek's decimal may be off by that and by its last digit."""
    if isinstance(wanted, float):
        if not isinstance(got, str):
            return False
        exact = Decimal(got)
        last_digit = 10.0 ** exact.as_tuple().exponent
        return abs(float(exact) - wanted) <= 1e-9 * abs(wanted) + 0.5000001 * last_digit
    if isinstance(wanted, Decimal):
        return isinstance(got, str) and Decimal(got) == wanted
    if isinstance(wanted, datetime.date):
        wanted = str(wanted)
    return type(got) is type(wanted) and got == wanted


def difference(got, columns, rows):
    """Returns what is wrong with the answer `got`, a list of objects; None if nothing is."""
    if len(got) != len(rows):
        return f"{len(got)} rows, not {len(rows)}"
    for index, (mine, other) in enumerate(zip(got, rows)):
        if list(mine) != columns:
            return f"columns {list(mine)}, not {columns}"
        for name, wanted in zip(columns, other):
            if not same_value(mine[name], wanted):
                return f"row {index + 1}: {name} is {mine[name]!r}, not {wanted!r}"
    return None
