#!/usr/bin/env python3
"""Looks at the summaries of many ranks on plain TensorBoard's page, in headless Chromium, at two widths.

    python3 -m e2e.tensorboard.profile_page_test --tbtrace PATH [--output DIR] RANKS

RANKS is a folder of make_ranks.py --ranks N --long-names. All ranks are one run each.

- Text: on all pages of cards each number and each heading of a column stands on as many lines as it was written with,
  and the full text of each name that is shortened is in its title.
- Images: letters of a picture are at least 10 px high in its card.
- Time Series: each quantity has one chart, with all ranks.

--output takes screenshots. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

from e2e.consumers import Report, TensorBoard, launch_chromium
from e2e.tensorboard.event_answers import Answers

check = Report()
WIDTHS = (1600, 1000)
LETTERS = 12  # px, in a picture of the width that it was drawn for
DRAWN_WIDTH = 350

ALL = """(selector) => {
  const found = [];
  (function walk(node) {
    found.push(...node.querySelectorAll(selector));
    for (const each of node.querySelectorAll("*")) if (each.shadowRoot) walk(each.shadowRoot);
  })(document);
  return found;
}"""
PARTS = f"""() => ({ALL})("td pre, th pre").map((part) => {{
  const style = getComputedStyle(part), cell = part.parentNode;
  return {{text: part.textContent, tag: cell.tagName, height: part.getBoundingClientRect().height,
          line: parseFloat(style.lineHeight) || 1.5 * parseFloat(style.fontSize),
          spills: part.scrollWidth - part.clientWidth, wanted: cell.scrollWidth - cell.clientWidth}};
}})"""
TITLES = f"""() => ({ALL})("td a").map((name) => [name.textContent, name.title])"""
PICTURES = f"""() => ({ALL})("img").filter((picture) => picture.naturalWidth > 200)
  .map((picture) => [picture.clientWidth, picture.naturalWidth])"""
CARDS = f"""() => ({ALL})("scalar-card .tag, card-view scalar-card [title]").map((card) => card.textContent.trim())"""
NEXT = f"""() => {{
  const button = ({ALL})("paper-button, button").find((each) => /next page/i.test(each.textContent));
  if (!button || button.disabled || button.hasAttribute("disabled")) return false;
  button.click();
  return true;
}}"""


def evaluated(page, script):
    """What a script finds in any of the page's frames."""
    return next((found for frame in page.frames if (found := frame.evaluate(script))), [])


def waited_for(page, script, what):
    found = []
    for _ in range(150):
        found = evaluated(page, script)
        if found:
            page.wait_for_timeout(700)  # for those that come later
            return evaluated(page, script)
        page.wait_for_timeout(200)
    check(False, f"{what} is shown")
    return found


def check_text(page, width, full_names):
    seen = set()
    for number in range(20):
        parts = waited_for(page, PARTS, f"a table on page {number + 1} of Text")
        for part in parts:
            lines = part["text"].count("\n") + 1
            check(part["height"] < (lines + 0.5) * part["line"] and part["spills"] <= 0 and part["wanted"] <= 0,
                  f"{part['text']!r} stands whole on {lines} lines at {width} px: {part}")
        check(any(part["tag"] == "TD" for part in parts), "there are numbers")
        for shown, title in evaluated(page, TITLES):
            words = re.findall(r"\w+", shown.split(" #")[0])  # a kernel's short name leaves out some between them
            check("\u2026" in shown or words and all(word in title for word in words), f"{shown} is made of {title}")
            seen.add(title)
        if not evaluated(page, NEXT):
            break
        page.wait_for_timeout(1000)
    check(full_names <= seen, f"all long names are in titles: {full_names - seen}")


def check_images(page, width):
    pictures = waited_for(page, PICTURES, "a picture")
    for shown, natural in pictures:
        check(LETTERS * shown / DRAWN_WIDTH >= 10, f"letters of a picture {shown} px wide at {width} px")
        check(natural >= 2 * shown, f"a picture is large at its actual size: {natural} px")


def check_time_series(page, tags):
    shown = waited_for(page, CARDS, "a chart")
    charts = [tag for tag in shown if tag.startswith("profile/")]
    check(len(charts) == len(set(charts)) and set(charts) <= tags, f"a chart for each quantity: {charts}")


def long_names(ranks):
    names = set()
    for path in ranks.glob("*.json"):
        names |= {event["name"] for event in json.loads(path.read_text())["traceEvents"]
                  if event.get("cat") == "kernel" and len(event["name"]) >= 150}
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("ranks", type=pathlib.Path)
    options = parser.parse_args()
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        logdir = pathlib.Path(scratch) / "logs"
        # A file for itself is called like its run.
        alone = pathlib.Path(scratch) / "alone.json"
        row = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
        alone.write_text(json.dumps({"traceEvents": [row]}))
        subprocess.run([options.tbtrace, "convert", "-q", str(options.ranks), "-o", str(logdir)], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([options.tbtrace, "convert", "-q", str(alone), "-o", str(logdir), "--run", "alone"], check=True,
                       stdout=subprocess.DEVNULL)
        count = len(list(options.ranks.glob("*.json")))
        with TensorBoard(logdir, pathlib.Path(scratch) / "log", True) as board, sync_playwright() as playwright:
            answers = Answers(board)
            runs = sorted({str(path.parent.relative_to(logdir)) for path in logdir.rglob("*tfevents*")})
            answers.wait_for(runs)
            check("alone" in runs and len(runs) == count + 1, f"no run says its name twice: {runs}")
            tags = answers.json("plugin/scalars/tags")
            quantities = {tag for run in tags for tag in tags[run] if run != "alone"}
            check("profile/gpu/utilization_pct" in quantities and len(quantities) > 8, f"quantities {sorted(quantities)}")
            for tag in sorted(quantities):
                check(sum(tag in tags[run] for run in runs if run != "alone") == count, f"all ranks have {tag}")
            browser = launch_chromium(playwright, os.environ.get("CHROMIUM", "/usr/bin/chromium"))
            for width in WIDTHS:
                page = browser.new_page(viewport={"width": width, "height": 1000})
                page.set_default_timeout(60_000)
                for dashboard in ("text", "images", "timeseries", "custom_scalars", "scalars"):
                    page.goto(f"{board.url}/#{dashboard}")
                    page.reload()
                    if dashboard == "text":
                        check_text(page, width, long_names(options.ranks))
                    elif dashboard == "images":
                        check_images(page, width)
                    elif dashboard == "timeseries":
                        check_time_series(page, quantities)
                    else:
                        page.wait_for_timeout(3000)
                    if options.output:
                        page.screenshot(path=options.output / f"{dashboard}_{width}.png")
                page.close()
            browser.close()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
