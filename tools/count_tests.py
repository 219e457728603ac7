#!/usr/bin/env python3
"""What a run of ctest did, case by case.

    count_tests.py BUILD...

BUILD is a folder with ctest.xml, of `ctest --output-junit`, and cases/, where each GoogleTest program that ran has left
what its cases did. Prints the 20 slowest, all that failed or were skipped, and as the last line

    PASSED FAILED SKIPPED

A program that ended badly without a failed case (it crashed, or a sanitizer spoke at its end) counts as one failed.
Python's standard library only.
"""

import pathlib
import sys
import typing
import xml.etree.ElementTree as ElementTree


class Case(typing.NamedTuple):
    name: str
    seconds: float
    outcome: str  # passed, failed, skipped


def cases_of_program(file, test):
    """Nothing if the program has left nothing, or only a part of it."""
    try:
        root = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for case in root.iter("testcase"):
        if case.get("status") == "notrun":
            continue
        outcome = "skipped" if case.get("result") == "skipped" else "passed"
        if case.find("failure") is not None:
            outcome = "failed"
        cases.append(Case(f"{test}: {case.get('classname')}.{case.get('name')}", float(case.get("time")), outcome))
    return cases


def cases_of(build):
    outcomes = {"run": "passed", "fail": "failed", "notrun": "skipped", "disabled": "skipped"}
    for test in ElementTree.parse(build / "ctest.xml").getroot().iter("testcase"):
        name, outcome = test.get("name"), outcomes[test.get("status")]
        skipped = test.find("skipped")
        if skipped is not None and not skipped.get("message", "").startswith("SKIP_"):
            outcome = "failed"  # there was no such program, or what it needs has failed
        cases = cases_of_program(build / "cases" / f"{name}.xml", name)
        yield from cases
        has_failed_case = any(case.outcome == "failed" for case in cases)
        if not cases or outcome == "failed" and not has_failed_case:
            yield Case(name, float(test.get("time")), outcome)


def main():
    builds = [pathlib.Path(name) for name in sys.argv[1:]]
    cases = [(build.name, case) for build in builds for case in cases_of(build)]
    print("== slowest tests: seconds, build, name")
    for build, case in sorted(cases, key=lambda each: -each[1].seconds)[:20]:
        print(f"{case.seconds:9.1f}  {build}  {case.name}")
    counts = []
    for outcome in ("passed", "failed", "skipped"):
        found = [(build, case.name) for build, case in cases if case.outcome == outcome]
        counts.append(len(found))
        if outcome != "passed" and found:
            print(f"== {outcome}")
            for build, name in found:
                print(f"  {build}  {name}")
    print(*counts)


if __name__ == "__main__":
    main()
