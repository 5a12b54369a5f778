#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints `passed failed skipped` of a result that `ctest --output-junit` wrote, and on standard
error the name of each test that failed and what it printed. ctest's own totals call a test skipped that could not be
run because its program or its fixture failed; here it failed. No result: all zeros."""

import sys
import xml.etree.ElementTree as xml

LINES_SHOWN = 60  # of a failed test's output


def outcome(case):
    status = case.get("status")
    if status == "run":
        return "passed"
    reason = case.find("skipped")
    asked_for = reason is not None and reason.get("message", "").startswith("SKIP_")
    return "skipped" if status == "disabled" or asked_for else "failed"


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        for case in xml.parse(sys.argv[1]).getroot().iter("testcase"):
            counts[outcome(case)] += 1
            if outcome(case) == "failed":
                print(f"   failed: {case.get('name')}", file=sys.stderr)
                printed = (case.findtext("system-out") or "").splitlines()
                for line in printed[:LINES_SHOWN]:
                    print("   |", line, file=sys.stderr)
    except (OSError, xml.ParseError):
        pass
    print(*counts.values())


if __name__ == "__main__":
    main()
