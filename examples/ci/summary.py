"""Writes the verdicts of JUnit files as a Markdown table, and each failure as an annotation of GitHub Actions on stderr."""
import sys
import xml.etree.ElementTree

print("| property | verdict | |\n|---|---|---|")
for path in sys.argv[1:]:
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        failure, skipped = case.find("failure"), case.find("skipped")
        verdict = "holds" if failure is None and skipped is None else "**violated**" if skipped is None else "undecided"
        message = "" if verdict == "holds" else (failure if skipped is None else skipped).get("message")
        print(f"| {case.get('name')} | {verdict} | {message.replace('|', chr(92) + '|')} |")
        if failure is not None:
            print(f"::error title={case.get('name')}::{message}", file=sys.stderr)
