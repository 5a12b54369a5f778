#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints `passed failed skipped` of a result that `ctest --output-junit` wrote, and on standard
error the name of each test that failed and what it printed, and the tests that took longest. A
program that left its own results (RESULTS/NAME.xml, by GoogleTest) counts by its cases. ctest's own
totals call a test skipped that could not be run because its program or its fixture failed; here it
failed. No result: all zeros.

usage: tally.py CTEST.xml RESULTS"""

import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

LINES_SHOWN = 60  # of a failed test's output
SLOWEST_SHOWN = 8  # tests


def outcome(case):
    status = case.get("status")
    if status == "run":
        return "passed"
    reason = case.find("skipped")
    asked_for = reason is not None and reason.get("message", "").startswith("SKIP_")
    return "skipped" if status == "disabled" or asked_for else "failed"


def outcome_of_case(case):
    """By GoogleTest."""
    if case.find("failure") is not None:
        return "failed"
    return "skipped" if case.get("result") in ("skipped", "suppressed") else "passed"


def cases_of(results, name):
    """The outcomes of the program's cases; none if it did not come to its end."""
    try:
        cases = xml.parse(results / f"{name}.xml").getroot().iter("testcase")
        return Counter(outcome_of_case(case) for case in cases)
    except (OSError, xml.ParseError):
        return Counter()


def count(case, results):
    whole = outcome(case)
    cases = cases_of(results, case.get("name"))
    if whole == "failed":  # also where all cases passed, as after a leak or a fault at the exit
        cases["failed"] = max(cases["failed"], 1)
        return cases
    return cases or Counter([whole])


def slowest(cases):
    by_time = sorted(((float(case.get("time", 0)), case.get("name")) for case in cases), reverse=True)
    return ", ".join(f"{name} {seconds:.0f} s" for seconds, name in by_time[:SLOWEST_SHOWN])


def main():
    counts = Counter()
    try:
        all_cases = list(xml.parse(sys.argv[1]).getroot().iter("testcase"))
        for case in all_cases:
            counts += count(case, Path(sys.argv[2]))
            if outcome(case) == "failed":
                print(f"   failed: {case.get('name')}", file=sys.stderr)
                printed = (case.findtext("system-out") or "").splitlines()
                for line in printed[-LINES_SHOWN:]:
                    print("   |", line, file=sys.stderr)
        print(f"   slowest: {slowest(all_cases)}", file=sys.stderr)
    except (OSError, xml.ParseError):
        pass
    print(counts["passed"], counts["failed"], counts["skipped"])


if __name__ == "__main__":
    main()
