"""count_tests.py EVENTS[:TAG]... [NAME=CODE]...: counts the test cases in event files of `bazel test`, and ends with
"N passed, N failed". It does not expect targets with the TAG to run. NAME=CODE is one more case: a command and its exit
code.

A case is one <testcase> of a target's test.xml. A target that did not build, did not run, timed out, or ran no case
counts as one failure. Exit code 1 if anything failed.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree


def cases(report):
    """Returns how many cases of a test.xml passed, and the names of the others. A skipped case has not passed."""
    passed, failed = 0, []
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        outcome = {child.tag for child in case}
        skipped = case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed")
        if skipped or outcome & {"failure", "error", "skipped"}:
            failed.append(f"{case.get('classname', '')}.{case.get('name')}")
        else:
            passed += 1
    return passed, failed


def report_of(result):
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.xml":
            return urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
    return None


def count(events, tag):
    """Returns (passed, failures) of a run of `bazel test`, which does not run targets with the tag."""
    passed, failures, targets, ran = 0, [], set(), set()
    for line in events:
        event = json.loads(line)
        target = event.get("configured", {})
        if "testSize" in target and tag not in target.get("tag", []):
            targets.add(event["id"]["targetConfigured"]["label"])
        if "testResult" not in event["id"]:
            continue
        label, result = event["id"]["testResult"]["label"], event["testResult"]
        ran.add(label)
        report = report_of(result)
        good, bad = cases(report) if report else (0, [])
        if result["status"] != "PASSED" and not bad:
            bad = [result["status"].lower()]
        elif not good and not bad:
            bad = ["ran no test"]
        passed += good
        failures += [f"{label} {name}" for name in bad]
    failures += [f"{label} did not run" for label in sorted(targets - ran)]
    if not targets:
        failures.append("no test was found")
    return passed, failures


def main(paths):
    passed, failures = 0, []
    for argument in paths:
        name, equals, code = argument.partition("=")
        if equals and "/" not in name:
            passed += code == "0"
            failures += [] if code == "0" else [f"{name} ended with {code}"]
            continue
        path, _, tag = argument.partition(":")
        try:
            with open(path, encoding="utf-8") as events:
                good, bad = count(events, tag)
        except OSError as error:
            good, bad = 0, [f"bazel test left no events: {error.strerror}"]
        passed += good
        failures += bad
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
