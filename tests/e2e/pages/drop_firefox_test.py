#!/usr/bin/env python3
"""Opens the page of tools/page.sh from disk in headless Firefox, and chooses traces.

usage: python3 -m e2e.pages.drop_firefox_test --page INDEX.html [--screenshot PNG]

A report, a comparison and a file that is not a trace.
"""
import argparse
import base64
import pathlib
import tempfile

from e2e.pages.marionette import Firefox

DATA = pathlib.Path(__file__).parents[3] / "tests/data"


def choose(firefox, *files):
    firefox("WebDriver:ElementSendKeys", id=firefox.find("input[multiple]"), text="\n".join(map(str, files)))


def check_frame(firefox, heading):
    firefox.find("a[download]")  # the whole report is there, and takes the place of the summary
    firefox("WebDriver:SwitchToFrame", element=firefox.find("iframe.report:only-of-type:not(.waiting)"))
    found = firefox("WebDriver:GetElementText", id=firefox.find("#main h1"))
    assert found == heading, f"the page begins with {found}"
    firefox("WebDriver:SwitchToFrame", element=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", required=True, type=pathlib.Path)
    parser.add_argument("--firefox", default="/usr/bin/firefox-esr")
    parser.add_argument("--screenshot", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile:
        firefox = Firefox(options.firefox, profile)
        try:
            firefox("WebDriver:Navigate", url=options.page.resolve().as_uri())
            choose(firefox, DATA / "h200/perceptron.json.gz")
            check_frame(firefox, "Summary")
            if options.screenshot:
                options.screenshot.write_bytes(base64.b64decode(firefox("WebDriver:TakeScreenshot", full=False, hash=False)))
            firefox("WebDriver:ElementClick", id=firefox.find("header button"))
            choose(firefox, DATA / "text.txt")
            said = firefox("WebDriver:GetElementText", id=firefox.find(".failure"))
            assert "text.txt" in said, said
            choose(firefox, DATA / "compare/before.json.gz", DATA / "compare/after.json.gz")
            firefox("WebDriver:ElementClick", id=firefox.find(".pair button"))
            check_frame(firefox, "Compare")
        finally:
            firefox.close()
    print("a report, a comparison and a sentence in Firefox")


if __name__ == "__main__":
    main()
