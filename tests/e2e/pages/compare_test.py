#!/usr/bin/env python3
"""Opens the page and the flame graph of `tbtrace diff` in headless Chromium, as users do: from a file, without a network.

usage: python3 -m e2e.pages.compare_test --tbtrace PATH [--screenshots DIR] BASE NEW [BASE NEW]...

For each pair: the flame graph has what `tbtrace flamegraph` says of both sides, path by path; the page is drawn in both
themes and as wide as a phone, says nothing on the console, asks for nothing, and axe-core finds nothing in it; what is
chosen is in the address. Fails with an AssertionError that says what is wrong.
"""
import argparse
import base64
import collections
import gzip
import json
import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

from playwright.sync_api import sync_playwright

from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS, check
from e2e.pages.by_hand import Hand, check_columns, check_focus, check_help, check_menu
from e2e.pages.hostile import write_hostile_trace
from e2e.pages.page_test import AXE, DESK, PHONE, VIOLATIONS

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = {"cpu": "self_cpu_time_total", "device": "self_device_time_total"}


def address_of(page):
    """As the page has it; what the driver knows of it is older."""
    return page.evaluate("location.href")


def output_of(tbtrace, *arguments):
    return subprocess.run([tbtrace, *arguments, "-q"], check=True, capture_output=True, text=True).stdout


def document_of(page):
    """The document of a page, decoded without tbtrace."""
    found = re.search(r'id="comparison">([^<]*)<', page.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def steps_of(tbtrace, trace):
    """The steps that are compared: their first and last number, and how many."""
    rows = json.loads(output_of(tbtrace, "steps", trace, "--format", "json"))["rows"]
    numbers = [row["step"] for row in rows if row["step"] is not None]
    return (min(numbers), max(numbers), len(numbers)) if numbers else None


def folded(tbtrace, trace, weight, steps):
    """By path, the time of a trace; names of frames as folded stacks have them."""
    chosen = ["--steps", f"{steps[0]}-{steps[1]}"] if steps else []
    lines = output_of(tbtrace, "flamegraph", trace, "--format", "folded", "--weight", weight, *chosen).splitlines()
    return collections.Counter({tuple(path.split(";")): int(time) for path, time in
                                (line.rsplit(" ", 1) for line in lines)})


def in_folded(text):
    return "".join(f"\\x{ord(c):02x}" if c == ";" or ord(c) < 32 or ord(c) == 127 else "\\\\" if c == "\\" else c
                   for c in text)


def check_sides(tbtrace, document, pair):
    """Each side of the stacks against `tbtrace flamegraph`, which knows nothing of comparisons."""
    steps = [steps_of(tbtrace, trace) for trace in pair]
    per_step = all(steps)
    for stacks in document["stacks"]:
        check(stacks["left_out"] == 0 and stacks["is_per_step"] == per_step, f"{pair}: {stacks['name']}")
        paths = []
        for node, parent in enumerate(stacks["parent"]):
            own = () if node == 0 else (in_folded(stacks["texts"][stacks["frame"][node]]),)
            paths.append((paths[node - parent] if node else ()) + own)
        for side, trace, of_side in zip(("base", "new"), pair, steps):
            if of_side and not per_step:
                continue  # of these the command line has no totals
            expected = folded(tbtrace, trace, WEIGHTS[stacks["name"]], of_side)
            divisor = of_side[2] if per_step else 1
            total = sum(expected.values())
            found = collections.Counter()
            for node, time in enumerate(stacks[f"{side}_self"]):
                found[rename(paths[node], stacks, node, side, paths)] += time
            check(abs(sum(found.values()) - total / divisor) <= 0.5 + 1e-6,
                  f"{trace}, {stacks['name']}: {sum(found.values())} of {total / divisor}")
            for path in expected.keys() | found.keys():
                check(abs(found[path] - expected[path] / divisor) <= 1,
                      f"{trace}, {stacks['name']}, {path}: {found[path]}, not {expected[path] / divisor}")


def rename(path, stacks, node, side, paths):
    """The path as the base has it, where lines moved."""
    if side == "new" or all(was < 0 for was in stacks["was"]):
        return path
    names = []
    while node:
        was = stacks["was"][node]
        names.insert(0, in_folded(stacks["texts"][was if was >= 0 else stacks["frame"][node]]))
        node -= stacks["parent"][node]
    return tuple(names)


class Opened:
    """A page, with what it says and asks for."""

    def __init__(self, browser, file, size, theme="light", fragment="", **options):
        self.context = browser.new_context(viewport=size, offline=True, color_scheme=theme, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.said, self.asked, self.file = [], [], file
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri() + fragment)

    def close(self):
        check(not self.said, f"{self.file.name}: on the console: {self.said[:3]}")
        check(len(self.asked) == 1, f"{self.file.name}: asked for {self.asked[1:4]}")
        self.context.close()


def check_page(browser, file, looks, screenshots):
    for size, theme in looks:
        opened = Opened(browser, file, size, theme)
        page = opened.page
        page.wait_for_selector(".comparison .card")
        where = f"{file.name}, {theme}, {size['width']} px"
        check(page.query_selector("#main .failure") is None, f"{where}: failed")
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        check(wider <= 0, f"{where}: {wider} px wider than the window")
        for tab in page.query_selector_all("[role=tab]"):
            tab.click()
        page.evaluate(AXE)
        found = page.evaluate(VIOLATIONS)
        check(not found, f"{where}: axe: {found}")
        if screenshots:
            page.screenshot(path=screenshots / f"{file.stem}-{theme}-{size['width']}.png", full_page=True)
        opened.close()


def check_use(browser, file):
    """A row by keys alone, its frames, a zoom; and all of it again from the address."""
    opened = Opened(browser, file, DESK)
    page = opened.page
    press = page.keyboard.press
    page.wait_for_selector(".comparison .grid-body .row")
    press("/")
    check(page.evaluate("document.activeElement.matches('.tools input')"), "/ goes to the search")
    page.keyboard.type("aten")
    press("ArrowDown")
    press("Enter")
    page.wait_for_selector(".row-sides")
    key = page.inner_text(".row-sides h2")
    sides = page.locator(".row-sides tbody tr").first.locator("td").all_inner_texts()
    found = address_of(page)
    check(len(sides) == 3 and "operator.search" not in found and "search=aten" in found, f"{key}: {sides}, {found}")
    matched = page.inner_text(".flame-matched")
    check(re.match(r"\d+ match(es)?: .* before, .* now, ", matched), f"{key}: {matched}")
    page.click(".row-sides button:has-text('in the flame graph')")
    check(page.evaluate("document.querySelector('.flame').getBoundingClientRect().top < innerHeight"), "the graph is in sight")
    address = address_of(page)
    press("Escape")
    page.focus(".flame-board")
    for name in ("ArrowDown", "ArrowDown", "Enter"):
        press(name)
    check(".zoom=" in address_of(page), f"the zoom is in the address: {address_of(page)}")
    path = page.locator(".flame-path > *").count()
    check(path > 1, "the frames around the zoomed one")
    zoomed = address_of(page)
    press("Escape")
    check(".zoom=" not in address_of(page), "Esc goes back")
    page.fill(".flame-search", "/^aten::.*/")
    check("matches" in page.inner_text(".flame-matched"), page.inner_text(".flame-matched"))
    page.evaluate("document.activeElement.blur()")
    press("t")
    check(page.get_attribute("html", "data-theme") == "dark", "t switches the theme")
    searched = address_of(page)
    opened.close()
    for url, selector in ((address, ".row-sides"), (zoomed, ".flame-path button"), (searched, ".flame-board")):
        again = Opened(browser, file, DESK, fragment=url[url.index("#"):])
        again.page.wait_for_selector(selector)
        if url == searched:
            check("matches" in again.page.inner_text(".flame-matched"), "the search is in the address")
        again.close()


def check_by_hand(browser, file):
    """Its menus, a row and its sides, by a mouse and by a finger."""
    for touches in (False, True):
        opened = Opened(browser, file, DESK, has_touch=touches)
        hand, where = Hand(opened.page, touches), f"{file.name} by {'finger' if touches else 'mouse'}"
        opened.page.wait_for_selector(".comparison .grid-body .row")
        check_help(hand, where)
        check_menu(hand, where, "Columns")
        check_columns(hand, where)
        hand.press(".comparison .grid-body .row")
        opened.page.wait_for_selector(".row-sides")
        hand.press(".row-sides [aria-label=Close]")
        check(opened.page.locator(".row-sides").count() == 0, f"{where}: a row closes")
        opened.close()


def check_flame_focus(browser, file):
    """Keys go on where they were: with another theme, without a zoom, with frames of the path and of the table."""
    opened = Opened(browser, file, DESK)
    page, where = opened.page, file.name
    page.wait_for_selector(".comparison .grid-body .row")
    page.keyboard.press("?")
    keys = page.locator("dialog[open] kbd").all_inner_texts()
    check("t" in keys and not {"1", "h", "f"} & set(keys), f"{where}: the help has the keys of this page alone: {keys}")
    page.keyboard.press("Escape")
    for selector in (".comparison .grid", ".flame-board", ".flame-tools button", ".flame-name", "header.top button >> nth=1"):
        check_focus(page, where, selector, "t")
    page.focus(".flame-board")
    for name in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(name)
    check_focus(page, where, ".flame-path button", "Enter", ".flame-board")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    check_focus(page, where, ".flame-tools button:has-text('Reset zoom')", "Enter")
    check(".zoom=" not in address_of(page), f"{where}: the button resets the zoom")
    check_focus(page, where, ".flame-name", "Enter", ".flame-name")
    opened.close()


def check_double_click(browser, file):
    """A double click zooms as a click does, also where the page ends below the picture, and selects no text."""
    paths = []
    for press in ("click", "dblclick"):
        opened = Opened(browser, file, DESK)
        page = opened.page
        page.wait_for_selector(".flame-board")
        for row, share in ((2, 0.5), (1, 0.9), (2, 0.2), (3, 0.2)):
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            box = page.locator(".flame-canvas").bounding_box()
            place = (box["x"] + box["width"] * share, box["y"] + 19 * row + 9)
            getattr(page.mouse, press)(*place)
            paths.append((press, page.inner_text(".flame-path")))
            check(page.evaluate("getSelection().toString()") == "", f"{file.name}: {press} selects text")
            page.focus(".flame-board")
            page.keyboard.press("Escape")
        opened.close()
    half = len(paths) // 2
    check([path for _, path in paths[:half]] == [path for _, path in paths[half:]], f"{file.name}: {paths}")
    check(any("\u203a" in path for _, path in paths), f"{file.name}: nothing was zoomed")


def check_svg(browser, file):
    """The script says of each frame what the still picture says; what is gone and new is marked."""
    opened = Opened(browser, file, DESK)
    still = [group.find(f"{SVG}title").text for group in ElementTree.parse(file).getroot().iter(f"{SVG}g")
             if group.find(f"{SVG}title") is not None]
    page = opened.page
    page.wait_for_selector(".bar:not([display])")
    check(page.query_selector(".controls .callers:not([hidden])") is None, "callers are not offered")
    seen = set()
    page.focus(".current")
    for key in ["ArrowDown"] * 12 + ["ArrowRight"] * 4 + ["ArrowUp"] * 3 + ["ArrowRight"] * 8:
        seen.add(page.text_content(".current title"))
        page.keyboard.press(key)
    check(len(seen) > 3 and seen <= set(still), f"the script says {sorted(seen - set(still))[:2]}")
    page.keyboard.press("Enter")
    is_root = page.text_content(".current title") == still[0]
    check("#x=" in address_of(page) or is_root, f"a zoom is in the address: {address_of(page)}")
    page.keyboard.press("/")
    page.keyboard.type("aten")
    check(" before, " in page.text_content(".matched"), page.text_content(".matched"))
    opened.close()


def check_hostile(browser, tbtrace, folder):
    """No name of a trace runs or breaks the layout."""
    base = write_hostile_trace(folder / "</script><b>.json".replace("/", "-"))
    events = json.loads(pathlib.Path(base).read_text(encoding="utf-8"))
    changed = folder / "changed.json"
    for event in events["traceEvents"]:
        if event.get("ph") == "X":
            event["dur"] = 2 * float(event.get("dur") or 1)
    changed.write_text(json.dumps(events), encoding="utf-8")
    for name in ("hostile.html", "hostile.svg"):
        subprocess.run([tbtrace, "diff", base, changed, "-o", folder / name, "-q"], check=True)
    for size in (DESK, PHONE):
        opened = Opened(browser, folder / "hostile.html", size)
        opened.page.wait_for_selector(".comparison .card")
        check(not opened.page.title().startswith("run"), "a name ran")
        wider = opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        check(wider <= 0, f"hostile names: {wider} px wider than the window")
        check(opened.page.query_selector("#main img, #main svg[onload], #app script") is None, "a name is markup")
        opened.close()
    opened = Opened(browser, folder / "hostile.svg", DESK)
    opened.page.wait_for_selector(".bar:not([display])")
    opened.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    pairs = list(zip(options.traces[::2], options.traces[1::2]))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        browser = playwright.chromium.launch(executable_path=options.chromium, args=CHROMIUM_ARGUMENTS)
        for number, pair in enumerate(pairs):
            page, svg = folder / f"compare{number}.html", folder / f"compare{number}.svg"
            for file in (page, svg):
                subprocess.run([options.tbtrace, "diff", *pair, "-o", file, "-q"], check=True)
            check(page.stat().st_size <= 2_000_000, f"{page.stat().st_size} bytes")
            check_sides(options.tbtrace, document_of(page), pair)
            looks = [(DESK, "light"), (DESK, "dark"), (PHONE, "light")] if number == 0 else [(PHONE, "dark")]
            check_page(browser, page, looks, options.screenshots)
            if number == 0:
                check_use(browser, page)
                check_by_hand(browser, page)
                check_flame_focus(browser, page)
            check_double_click(browser, page)
            check_svg(browser, svg)
        check_hostile(browser, options.tbtrace, folder)
        browser.close()
    print(f"compare_test: {len(pairs)} pairs")


if __name__ == "__main__":
    main()
