#!/usr/bin/env python3
"""Reads the counters and instants of a timeline in headless Chromium, with the pointer and with keys.

usage: python3 -m e2e.pages.moments_test --tbtrace PATH [--screenshots DIR] FILE

FILE is tests/data/counters.json. What the page says is compared with the JSON of the file. Fails with an
AssertionError that says what is wrong.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS, check
from e2e.pages.compare_test import Opened
from e2e.pages.page_test import AXE, DESK, PHONE, VIOLATIONS


def label(page, text):
    return page.locator(f".timeline-label button:has(b:text-is('{text}'))")


def tip_at(page, x, y):
    """What the pointer tells at a place of the picture, on the screen."""
    page.mouse.move(x + 30, y + 3)
    page.mouse.move(x, y)
    return page.inner_text(".timeline .flame-tip:not(.is-hidden)")


def check_pointer(page, events):
    """Values between two samples are those of the first one; instants have their names and arguments."""
    window = page.evaluate("Math.max(...Object.values(document.querySelectorAll('.timeline-canvas')).map(c => "
                           "c.getBoundingClientRect().width))")
    box = page.locator(".timeline-canvas").bounding_box()
    # The whole trace is in sight, with a rim of nothing: its 12 steps begin at 0 and end at 12 ms.
    at = lambda time_us: box["x"] + window * time_us / 12000
    curve = label(page, "loss").bounding_box()
    losses = [event for event in events if event["name"] == "loss"]
    for event in losses[:11]:
        said = tip_at(page, at(event["ts"] + 500), curve["y"] + 20)
        check(str(event["args"]["value"]) in said and "python (4711)" in said, f"{said} at {event['ts']}")
    thread = label(page, "thread 4711").bounding_box()
    for event in (event for event in events if event["ph"] == "i" and event["tid"] == 4711):
        said = tip_at(page, at(event["ts"]), thread["y"] + 5)
        check(event["name"] in said and event["args"]["Arguments"]["path"] in said, f"{said} at {event['ts']}")
    other = label(page, "thread 4999").bounding_box()
    check("woke up" in tip_at(page, at(3300), other["y"] + 5), "a thread of instants only")


def check_keys(page, events):
    said = page.locator("[role=status], [aria-live]").all_inner_texts
    for name, wanted in [
            ("loss", [f"loss: {event['args']['value']}" for event in events if event["name"] == "loss"]),
            ("queue: waiting", [f"queue: waiting: {event['args']['waiting']}" for event in events
                                if event["name"] == "queue"]),
            ("thread 4711", [event["name"] for event in events if event["ph"] == "i" and event["tid"] == 4711])]:
        page.mouse.move(2, 2)
        label(page, name).focus()
        for text in wanted:
            page.keyboard.press("ArrowRight")
            check(any(text in one for one in said()), f"{name}: not {text!r} but {said()}")
        for text in reversed(wanted[:-1]):
            page.keyboard.press("ArrowLeft")
            check(any(text in one for one in said()), f"{name}: not {text!r} but {said()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    events = [event for event in json.loads(arguments.file.read_text())["traceEvents"] if event["ph"] != "M"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = pathlib.Path(folder, "report.html")
        subprocess.run([arguments.tbtrace, "report", arguments.file, "-o", file, "-q", "--views", "timeline"],
                       check=True)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS)
        for size, theme in ((DESK, "light"), (DESK, "dark"), (PHONE, "light")):
            opened = Opened(browser, file, size, theme)
            page = opened.page
            page.wait_for_selector(".timeline-board")
            page.evaluate(AXE)
            found = page.evaluate(VIOLATIONS)
            check(not found, f"{theme}, {size['width']} px: axe: {found}")
            if arguments.screenshots:
                page.screenshot(path=arguments.screenshots / f"moments-{theme}-{size['width']}.png", full_page=True)
            if size == DESK:
                check_pointer(page, events)
                check_keys(page, events)
            opened.close()
        browser.close()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
