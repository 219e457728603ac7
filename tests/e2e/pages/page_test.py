#!/usr/bin/env python3
"""Opens the page of `tbtrace report` in headless Chromium, as users do: from a file, without a network.

usage: python3 -m e2e.pages.page_test --tbtrace PATH [--screenshots DIR] [--slowest MS] FILE...

Each view of each trace, in both themes and as wide as a phone: it is drawn, says nothing on the console, asks for
nothing, is not wider than the window, and axe-core finds nothing in it. Fails with an AssertionError that says what is
wrong.
"""
import argparse
import base64
import gzip
import importlib.resources
import json
import pathlib
import re
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS, check
from e2e.pages.by_hand import Hand, check_focus, check_gap_link, check_help
from e2e.pages.filter_hand import check_filter
from e2e.pages.first_screen import (SMALL, check_all_names, check_figures, check_findings_open, check_in_sight,
                                    check_kernel_switch, check_names, check_phases, check_views_without_data)
from e2e.pages.hostile import write_hostile_trace
from e2e.pages.timeline_hand import check_timeline

DESK, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
ROOT = pathlib.Path(__file__).parents[3]
AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

# Goes to a view as its link does, and returns how long it took until the next picture.
GO = """async (view) => {
  const link = [...document.querySelectorAll("nav.views a")].find((a) => a.getAttribute("href") === `#view=${view}`);
  const before = performance.now();
  link.click();
  const main = document.getElementById("main");
  const title = link.firstChild.textContent;
  while (!(document.title.startsWith(title) && main.querySelector("h1")?.textContent === title &&
           !main.querySelector(".loading"))) {
    await new Promise((next) => setTimeout(next, 0));
    if (performance.now() - before > 20000) return -1;
  }
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)));
  return performance.now() - before;
}"""
VIOLATIONS = """async () => (await axe.run(document)).violations.map(
  (rule) => `${rule.id}: ${rule.nodes.map((node) => node.html.slice(0, 200)).slice(0, 3).join(" | ")}`)"""


class Opened:
    """A page of the report, with what it says and asks for."""

    def __init__(self, browser, file, size, theme, **options):
        self.context = browser.new_context(viewport=size, offline=True, color_scheme=theme, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("#main h1")
        self.file = file

    def views(self):
        return [link[len("#view="):] for link in self.page.eval_on_selector_all(
            "nav.views a", "links => links.map((link) => link.getAttribute('href'))")]

    def check_view(self, name):
        took = self.page.evaluate(GO, name)
        where = f"{self.file.name}, {name}"
        check(took >= 0, f"{where}: is not drawn")
        failure = self.page.query_selector("#main .failure")
        check(failure is None, f"{where}: {failure and failure.inner_text()}")
        check(len(self.page.inner_text("#main")) > 40, f"{where}: is empty")
        wider = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        check(wider <= 0, f"{where}: {wider} px wider than the window")
        return took

    def check_accessible(self, name):
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE)
        found = self.page.evaluate(VIOLATIONS)
        check(not found, f"{self.file.name}, {name}: axe: {found}")

    def close(self):
        check(not self.said, f"{self.file.name}: on the console: {self.said[:3]}")
        check(len(self.asked) == 1, f"{self.file.name}: asked for {self.asked[1:4]}")
        self.context.close()


def check_hostile(browser, tbtrace, folder):
    """No text of a trace runs, breaks the layout or makes a view slow, and no file that it names is read."""
    trace = write_hostile_trace(folder / "</script><b>.json".replace("/", "-"))
    file = folder / "hostile.html"
    subprocess.run([tbtrace, "report", trace, "-o", file, "-q", "--source-root", pathlib.Path(__file__).parent], check=True)
    html = file.read_text(encoding="utf-8")
    text = "".join(gzip.decompress(base64.b64decode(data)).decode(errors="replace")
                   for data in re.findall(r'id="view-0-\w+">([^<]*)<', html))
    for word in ("root:x:0", "somebody"):
        check(word not in text + html, f"{word} is in the page")
    check(len(text) < 440_000, f"names are not cut: {len(text)} bytes")
    for size in (DESK, PHONE):
        opened = Opened(browser, file, size, "light")
        for name in opened.views():
            took = opened.check_view(name)
            check(took < 1000, f"hostile names, {name}: {took:.0f} ms")
            check(not opened.page.title().startswith("run"), f"{name}: a name ran")
        check(opened.page.query_selector("#main img, #main svg[onload], #app script") is None, "a name is markup")
        opened.close()


def check_keys(browser, file):
    """Every view by keys alone: its number, its controls by Tab, a row of a table, a frame of the flame graph."""
    opened = Opened(browser, file, DESK, "light")
    page = opened.page
    press = page.keyboard.press
    keys = page.eval_on_selector_all("nav.views a", """links => links.map((link) =>
      [link.querySelector("kbd")?.textContent, link.getAttribute("href").slice("#view=".length)])""")
    for key, name in keys:
        if key is None:
            continue
        press(key)
        page.wait_for_function("(name) => location.hash.includes(`view=${name}`) && "
                               "document.activeElement?.closest('#main')", arg=name)
        reached = 0
        while reached < 300:
            press("Tab")
            if not page.evaluate("document.activeElement.closest('#main') !== null"):
                break
            reached += 1
        check(reached < 300, f"{name}: Tab does not leave the view")
        page.evaluate("document.activeElement.blur()")
    press("4")
    page.wait_for_function("document.querySelector('#main h1')?.textContent === 'Operators'")
    page.wait_for_selector("#main input[type=search]")
    press("/")
    check(page.evaluate("document.activeElement.matches('input')"), "/ goes to the search")
    page.keyboard.type("aten")
    page.wait_for_selector("#main .count:has-text(' of ')")
    press("Escape")
    page.wait_for_selector("#main .count:not(:has-text(' of '))")
    check("search=" not in page.evaluate("location.hash"), "Esc takes the search out of the address")
    check(page.input_value("#main input[type=search]") == "", "Esc empties the search")
    press("/")
    page.keyboard.type("aten")
    press("ArrowDown")
    press("Enter")
    page.wait_for_selector("#main .detail")
    press("Escape")
    page.wait_for_function("document.querySelector('#main .detail') === null")
    head = "#main .grid-header .sort >> nth=1"
    page.focus(head)
    orders = []
    for _ in range(2):
        press("Enter")
        orders.append(page.evaluate("document.activeElement.closest('[aria-sort]')?.getAttribute('aria-sort')"))
    check(sorted(map(str, orders)) == ["ascending", "descending"], f"the focus stays at the column that was sorted: {orders}")
    page.evaluate("document.querySelector('nav.views a[href=\"#view=modules\"]').click()")
    page.wait_for_selector("#main .grid-header .sort")
    check_focus(page, "modules", "#main .grid-header .sort", "Enter", ".sort")
    page.evaluate("document.querySelector('nav.views a[href=\"#view=flame_graph\"]').click()")
    page.wait_for_selector("#main .flame-board")
    for selector in ("#main .flame-tools button", "#main .flame-name", "#main .choice", "#main .flame-board"):
        check_focus(page, "flame graph", selector, "t")
    page.locator("#main .flame-name").first.click()
    page.keyboard.press("c")
    check_focus(page, "callers", "#main .flame-tools button:has-text('Back to all frames')", "Enter")
    page.focus("#main .flame-board")
    before = page.evaluate("location.hash")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        press(key)
    page.wait_for_function("(before) => location.hash !== before", arg=before)
    press("Escape")
    opened.close()


def check_without_steps(browser, tbtrace, folder):
    """What a recording without steps would gain is not per step."""
    events = json.loads(gzip.decompress((ROOT / "tests/data/h200/perceptron.json.gz").read_bytes()))
    events["traceEvents"] = [event for event in events["traceEvents"] if not event["name"].startswith("ProfilerStep#")]
    trace, file = folder / "no_steps.json", folder / "no_steps.html"
    trace.write_text(json.dumps(events), encoding="utf-8")
    subprocess.run([tbtrace, "report", trace, "-o", file, "-q"], check=True)
    opened = Opened(browser, file, DESK, "light")
    text = opened.page.inner_text("#main")
    check("saves at most" in text and "All of it, without steps" in text, f"without steps: {text[:300]}")
    check("per step" not in text, f"without steps: {text[:600]}")
    opened.close()


def check_pointer(browser, file, touch):
    """Lists, panels and rows by real presses of a mouse or a finger, which move the focus before they click."""
    opened = Opened(browser, file, DESK, "light", has_touch=touch)
    page = opened.page
    where = f"{file.name}, by {'touch' if touch else 'mouse'}"

    def press(selector, **chosen):
        target = page.locator(selector, **chosen).first
        target.tap() if touch else target.click()

    def is_open(selector):
        return page.locator(f"{selector}[open]").count() > 0

    press("nav.views a", has_text="Operators")
    page.wait_for_selector("#main .grid-body .row")
    shown = page.locator("#main .grid-header .head").count()
    for expected in (shown + 1, shown):
        press("#main .menu > summary", has_text="Columns")
        box = page.locator("#main .menu label:has(input:enabled)").last
        # The text beside the box, which has no focus of its own.
        text = box.locator("span").first
        text.tap() if touch else text.click()
        check(is_open("#main .menu"), f"{where}: the menu closes before a column is chosen")
        count = page.locator("#main .grid-header .head").count()
        check(count == expected, f"{where}: {count} columns, expected {expected}")
        press("#main h1")
        check(not is_open("#main .menu"), f"{where}: a press elsewhere does not close the menu")
    press("#main .grid-body .row")
    page.wait_for_selector("#main .detail")
    press("#main .detail [aria-label=Close]")
    check(page.locator("#main .detail").count() == 0, f"{where}: a row does not close")
    press("nav.views a", has_text="Timeline")
    page.wait_for_selector("#main .timeline canvas")
    for close in (lambda: page.keyboard.press("Escape"), lambda: press("#main .timeline canvas"), lambda: press("#main h1")):
        press("#main .menu > summary", has_text="Shortcuts")
        check(is_open("#main .menu"), f"{where}: the keys do not open")
        press("#main .menu .sheet dd")
        check(is_open("#main .menu"), f"{where}: a press on the keys closes them")
        close()
        check(not is_open("#main .menu"), f"{where}: the keys stay open")
    page.keyboard.press("?")
    check("measure a span" in page.inner_text("dialog[open]"), f"{where}: the help has the timeline's keys")
    press("dialog[open] button", has_text="Close")
    check(not is_open("dialog"), f"{where}: the help stays open")
    opened.close()


def check_bars(browser, file):
    """Enter on a bar opens its step, Esc closes it. False if the trace has no bars."""
    opened = Opened(browser, file, DESK, "light")
    page, bars = opened.page, opened.page.locator("#main .steps .bars-board")
    opened.check_view("steps")
    if has_bars := bars.count() > 0:
        for key, state in (("Enter", "attached"), ("Escape", "detached")):
            bars.focus()
            page.keyboard.press(key)
            page.wait_for_selector("#main .detail", state=state)
    opened.close()
    return has_bars


def check_sheets(browser, file):
    """What a menu opens is in the window, also where that is narrow or ends below the button."""
    for size in (PHONE, {"width": 1280, "height": 420}):
        opened = Opened(browser, file, size, "light")
        page = opened.page
        for name in opened.views():
            opened.check_view(name)
            for menu in page.locator("#main details.menu >> visible=true").all():
                menu.scroll_into_view_if_needed()
                menu.locator("summary").click()
                box, (wide, tall) = menu.locator(".sheet").bounding_box(), page.evaluate("[innerWidth, innerHeight]")
                where = f"{file.name}, {name} at {size}: {menu.locator('summary').inner_text()}"
                check(box["x"] >= 0 and box["x"] + box["width"] <= wide, f"{where}: {box}")
                check(box["y"] + min(box["height"], 160) <= tall + 160, f"{where}: {box}")
                page.keyboard.press("Escape")
        opened.close()


def check_gaps(browser, tbtrace, file, trace):
    """The link of a finding's gap frames a gap of the table; the help by a mouse and by a finger."""
    rows = json.loads(subprocess.run([tbtrace, "gpu", "--gaps", trace, "--format", "json", "-q"], check=True, capture_output=True).stdout)
    gaps = {(row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in rows["rows"]}
    for touches in (False, True):
        opened = Opened(browser, file, DESK, "light", has_touch=touches)
        hand, where = Hand(opened.page, touches), f"{file.name} by {'finger' if touches else 'mouse'}"
        opened.page.set_viewport_size({"width": 1280, "height": 500})
        check_help(hand, where)
        opened.page.set_viewport_size(DESK)
        check_gap_link(hand, where, gaps)
        opened.close()
    for size in (SMALL, DESK):
        opened = Opened(browser, file, size, "light")
        opened.check_view("timeline")
        check_timeline(opened.page, f"{file.name} at {size}", gaps)
        check(len(opened.asked) == 2, "only the reload asked for anything")
        opened.asked.pop()
        opened.close()


def check_first_screen(browser, tbtrace, file, trace):
    """What the summary shows before anybody scrolls, by a mouse and by a finger."""
    for touches in (False, True):
        opened = Opened(browser, file, SMALL, "light", has_touch=touches)
        hand, where = Hand(opened.page, touches), f"{file.name} by {'finger' if touches else 'mouse'}"
        check_figures(opened.page, tbtrace, trace)
        check_in_sight(opened.page, where)
        check_findings_open(hand, where)
        check_names(hand, where)
        check_kernel_switch(hand, where)
        opened.close()


def check_serving(browser, tbtrace, folder):
    """The page of an inference engine has its prefills and decodes."""
    trace, file = ROOT / "tests/data/serving.json", folder / "serving.html"
    subprocess.run([tbtrace, "report", trace, "-o", file, "-q"], check=True)
    opened = Opened(browser, file, DESK, "light")
    opened.check_view("summary")
    check_phases(opened.page, tbtrace, trace)
    opened.check_accessible("summary")
    opened.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--slowest", type=float, help="fails if a view takes longer than this, in ms")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    slowest = (0, "")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=CHROMIUM_ARGUMENTS)
        pages = []
        for number, trace in enumerate(options.files):
            pages.append(pathlib.Path(folder) / f"{number}-{pathlib.Path(trace).name.split('.')[0]}.html")
            subprocess.run([options.tbtrace, "report", trace, "-o", pages[-1], "-q"], check=True)
            check(pages[-1].stat().st_size <= 2_000_000, f"{trace}: {pages[-1].stat().st_size} bytes")
        for file in pages:
            for size, theme in ((DESK, "light"), (DESK, "dark"), (PHONE, "light")):
                opened = Opened(browser, file, size, theme)
                for name in opened.views():
                    took = opened.check_view(name)
                    if size is DESK and theme == "light":
                        slowest = max(slowest, (took, f"{file.name}, {name}"))
                    if options.screenshots:
                        options.screenshots.mkdir(parents=True, exist_ok=True)
                        opened.page.screenshot(
                            path=options.screenshots / f"{file.stem}-{name}-{size['width']}-{theme}.png")
                    if size is DESK:
                        opened.check_accessible(name)
                opened.close()
        of_traces = [(file, trace) for file, trace in zip(pages, options.files) if not trace.endswith(".pickle")]
        last, last_trace = of_traces[-1]
        check_hostile(browser, options.tbtrace, pathlib.Path(folder))
        check_without_steps(browser, options.tbtrace, pathlib.Path(folder))
        check_serving(browser, options.tbtrace, pathlib.Path(folder))
        check_keys(browser, pages[0])
        opened = Opened(browser, pages[0], DESK, "light")
        check_views_without_data(opened.page, pages[0].name)
        check(check_all_names(opened.page, pages[0].name) > 10, f"{pages[0].name}: names on the summary")
        opened.close()
        check_sheets(browser, pages[0])
        opened = Opened(browser, last, SMALL, "light")
        opened.check_view("kernels")
        check_filter(opened.page, last.name)
        check(len(opened.asked) == 2, "only the reload asked for anything")
        opened.asked.pop()
        opened.close()
        check(any([check_bars(browser, file) for file, _ in of_traces]), "a trace has steps")
        for touch in (False, True):
            check_pointer(browser, pages[0], touch)
        check_gaps(browser, options.tbtrace, last, last_trace)
        check_first_screen(browser, options.tbtrace, last, last_trace)
        browser.close()
    print(f"{check.count} checks; the slowest view: {slowest[1]}, {slowest[0]:.0f} ms")
    check(options.slowest is None or slowest[0] <= options.slowest, f"slower than {options.slowest} ms")


if __name__ == "__main__":
    main()
