#!/usr/bin/env python3
"""Drives the flame graph that `tbtrace flamegraph` draws in headless Chromium.

usage: flame_graph_browser_test.py --tbtrace PATH --trace FILE [--screenshot DIR]

Needs PyPI's `playwright` and a Chromium (--chromium, default /usr/bin/chromium). The pictures are
opened by file:// addresses, as users do. Fails with an AssertionError that says what is wrong.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from playwright.sync_api import sync_playwright

CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE_NAMES = [
    "</text><script>alert(1)</script>", "</title></g></svg><script>alert(2)</script>",
    "]]><script>alert(3)</script>", "&lt;b&gt; &amp; &#60;", "\"quotes\" and 'apostrophes'",
    "<img src=x onerror=alert(4)>", "javascript:alert(5)", "line\nbreak\r\nand\ttab",
    "control \x01\x08\x1f\x7f end", "nonchar \uffff \ufffe end", "\u202eright to left override",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u6f22\u5b57\u304b\u306a\ud55c\uae00 " * 40,
    "\U0001f525\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji " * 40,
    "\ufdfd\U0001242b wide glyphs " * 20, "a" + "\u0301" * 200, "long " * 1000, " ",
    "${1+1} {{x}} %s %n", "__proto__", "constructor",
]


class Checker:
    def __init__(self):
        self.count = 0

    def __call__(self, condition, message):
        self.count += 1
        assert condition, message


check = Checker()


def make_svg(tbtrace, trace, svg, *options):
    subprocess.run([tbtrace, "flamegraph", str(trace), "-o", str(svg), "--overwrite", *options],
                   check=True)
    return svg


def write_trace(path, rows):
    """rows: (name, start in us, duration in us) of operators on one thread."""
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start,
               "dur": duration} for name, start, duration in rows]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    return path


class Box:
    def __init__(self, group):
        self.depth, self.start, self.total = (
            int(group.get(f"data-{key}")) for key in ("depth", "start", "total"))
        self.name, self.figures = group.find(f"{SVG}title").text.rsplit("\n", 1)


def boxes_of(svg):
    root = ElementTree.parse(svg).getroot()
    frames = root.find(f"{SVG}g[@class='frames']")
    return [Box(group) for group in frames]


def matched_share(boxes, pattern, flags=0):
    """Percent of the root in boxes that match or stand on one that does, each weight once."""
    matched, covered_depth = 0, None
    for box in boxes[1:]:
        if covered_depth is not None and box.depth > covered_depth:
            continue
        covered_depth = None
        if re.search(pattern, box.name, flags):
            matched += box.total
            covered_depth = box.depth
    return 100 * matched / boxes[0].total


class Browser:
    """A page that must not complain, ask or reach for anything but its own file."""

    def __init__(self, browser, **options):
        self.page = browser.new_page(viewport={"width": 1260, "height": 800}, **options)
        self.page.set_default_timeout(10_000)
        self.trouble = []
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {str(error)[:300]}"))
        self.page.on("console", lambda line: self.trouble.append(f"console: {line.text}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)

    def _dialog(self, dialog):
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request):
        if not request.url.startswith("file://"):
            self.trouble.append(f"request: {request.url}")

    def open(self, svg, fragment=""):
        self.page.goto("about:blank")
        self.page.goto(pathlib.Path(svg).resolve().as_uri() + fragment)
        return self.page

    def check_quiet(self, where):
        check(not self.trouble, f"{where}: {self.trouble}")

    def state(self):
        """What is shown, read from the document as the browser lays it out."""
        return self.page.evaluate("""() => {
          const frames = Array.from(document.querySelectorAll(".frames > g"));
          const shown = frames.filter((g) => getComputedStyle(g).display !== "none");
          const wide = (g) => Number(g.querySelector("rect").getAttribute("width"));
          const overflowing = shown.filter((g) => {
            const text = g.querySelector("text");
            if (!text || text.textContent === "") return false;
            return text.getComputedTextLength() > wide(g) + 0.5;
          });
          return {
            hash: location.hash, frames: frames.length, shown: shown.length,
            full: shown.filter((g) => wide(g) > wide(frames[0]) - 1).length,
            around: shown.filter((g) => g.classList.contains("around")).length,
            matches: frames.filter((g) => g.classList.contains("match")).length,
            overflowing: overflowing.map((g) => g.querySelector("text").textContent),
            status: document.querySelector(".matched").textContent,
            field: !document.querySelector(".field").hidden,
            name: document.querySelector(".name").textContent,
            figures: document.querySelector(".figures").textContent,
          };
        }""")


def value_of(field):
    # Playwright's own input_value() and fill() know inputs of HTML documents only.
    return field.evaluate("(input) => input.value")


def type_anew(field, text):
    field.click()
    field.press("Control+a")
    field.press("Delete")
    field.page.keyboard.type(text)


def frame(page, index):
    return page.locator(".frames > g").nth(index)


def zoom_target(boxes):
    """A box some levels up with others beside it and on it."""
    return next(index for index, box in enumerate(boxes)
                if box.depth >= 2 and 0.02 < box.total / boxes[0].total < 0.9
                and index + 1 < len(boxes) and boxes[index + 1].depth > box.depth)


def check_file(svg):
    text = svg.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    boxes = boxes_of(svg)
    check(len(root.findall(f"{SVG}script")) == 1, "one script")
    without_namespaces = re.sub(r"http://www\.w3\.org/(2000/svg|1999/xhtml)", "", text)
    for word in ("http://", "https://", "eval(", "innerHTML", "window.prompt"):
        check(word not in without_namespaces, f"{word} in the picture")
    check(boxes[0].name == "all" and boxes[0].start == 0, "the root comes first")
    check(f"({boxes[0].total} ns)" in boxes[0].figures, "the exact total in the root's tooltip")
    check(all(box.depth <= before.depth + 1 for before, box in zip(boxes, boxes[1:])),
          "boxes come after those they stand on")
    return boxes


def check_without_script(browser, svg):
    still = Browser(browser, java_script_enabled=False)
    page = still.open(svg)
    check(not page.locator(".bar").is_visible(), "no dead controls without script")
    check(frame(page, 0).locator("text").is_visible(), "labels without script")
    page.close()


def check_zoom(tab, svg, boxes, shots):
    page = tab.open(svg)
    before = tab.state()
    check(before["shown"] == len(boxes), "all boxes at first")
    check(not before["overflowing"], f"texts wider than boxes: {before['overflowing'][:3]}")
    shots("normal", page)
    index = zoom_target(boxes)
    box = boxes[index]
    frame(page, index).hover()
    hovered = tab.state()
    check(hovered["figures"] == box.figures, "hover shows the figures")
    check(hovered["name"][:20] == box.name[:20], "hover shows the name")
    frame(page, index).click()
    zoomed = tab.state()
    check(page.evaluate("document.activeElement === document.querySelector('.frames')") is False,
          "a click focuses no more than a box")
    check(zoomed["hash"] == f"#x={box.start}&y={box.depth}", f"fragment {zoomed['hash']}")
    check(zoomed["around"] == box.depth, "ancestors stay, dimmed")
    check(zoomed["full"] >= box.depth + 1, "the box and its ancestors have the full width")
    inside = [b for b in boxes if b.depth > box.depth
              and box.start <= b.start < box.start + box.total]
    check(zoomed["shown"] == box.depth + 1 + len(inside), "the others are hidden")
    check(not zoomed["overflowing"], f"texts wider than boxes: {zoomed['overflowing'][:3]}")
    frame(page, index + 1).hover()
    check("of the zoomed frame" in tab.state()["figures"], "share of the zoomed frame")
    shots("zoomed", page)

    page.reload()
    check(tab.state()["shown"] == zoomed["shown"], "the link reproduces the zoom")
    page.keyboard.press("Escape")
    check(tab.state()["shown"] == len(boxes) and tab.state()["hash"] == "", "Escape resets")
    page.go_back()
    page.wait_for_function("location.hash !== ''")
    check(tab.state()["shown"] == zoomed["shown"], "the browser's back undoes")
    page.get_by_role("button", name="Reset zoom").click()
    check(tab.state()["shown"] == len(boxes), "the button resets")
    check(page.get_by_role("button", name="Reset zoom").is_disabled(), "nothing to reset any more")
    frame(page, index).click()
    frame(page, 0).click()
    check(tab.state()["shown"] == len(boxes), "a click on the root resets")
    tab.check_quiet("zoom")


def check_search(tab, svg, boxes, shots):
    page = tab.open(svg)
    pattern = r"aten::\w*(mm|conv|dropout)|forward"
    share = f"matched: {matched_share(boxes, pattern):.1f} %"
    check(not tab.state()["field"], "the field is closed at first")
    page.get_by_role("button", name="Search").click()
    field = page.get_by_role("textbox", name="Search by regular expression")
    check(field.evaluate("(input) => input === document.activeElement"), "the field has the focus")
    page.keyboard.type(pattern)
    found = tab.state()
    check(found["status"].startswith(share + " ("), f"{found['status']}, expected {share}")
    expected = sum(1 for box in boxes[1:] if re.search(pattern, box.name))
    check(expected > 0 and found["matches"] == expected, "matching boxes are marked")
    shots("searched", page)
    page.reload()
    again = tab.state()
    check(again["status"] == found["status"] and again["field"], "the link reproduces the search")
    check(value_of(field) == pattern, "the link fills the field")

    type_anew(field, "(")
    check(tab.state()["status"] == "not a regular expression", "a wrong pattern is told")
    check(tab.state()["matches"] == 0, "a wrong pattern matches nothing")
    type_anew(field, "ATEN::")
    check(tab.state()["status"].startswith("matched: 0.0 % (0"), "case counts")
    page.get_by_role("checkbox", name="ignore case").click()
    share = f"matched: {matched_share(boxes, 'ATEN::', re.IGNORECASE):.1f} %"
    check(tab.state()["status"].startswith(share), "case can be ignored")
    check("s=ATEN%3A%3A" in tab.state()["hash"] and "i=1" in tab.state()["hash"], "in the fragment")
    type_anew(field, ".")
    check(tab.state()["status"].startswith("matched: 100.0 %")
          or boxes[1].total < boxes[0].total, "nested matches are counted once")
    page.get_by_role("button", name="Clear").click()
    cleared = tab.state()
    check(cleared["matches"] == 0 and cleared["hash"] == "" and not cleared["field"], "cleared")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="Clear").click()
    check(not tab.state()["field"], "Clear closes a field that was not used")
    for key in ("Control+f", "/"):
        page.keyboard.press(key)
        check(tab.state()["field"], f"{key} opens the field")
        check(value_of(field) == "", f"{key} types nothing")
        page.keyboard.press("Escape")
        check(not tab.state()["field"], "Escape closes it")
    tab.check_quiet("search")


def check_keyboard(tab, svg, boxes):
    page = tab.open(svg)
    up, down = ("ArrowDown", "ArrowUp") if "data-inverted=\"true\"" in svg.read_text() else (
        "ArrowUp", "ArrowDown")
    firsts = [index for index, box in enumerate(boxes) if box.depth == 1]
    steps = next(step for step, index in enumerate(firsts) if boxes[index + 1].depth == 2)
    parent, child = boxes[firsts[steps]], boxes[firsts[steps] + 1]
    frame(page, 0).focus()
    page.keyboard.press(up)
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
    check(tab.state()["figures"] == parent.figures, "arrows walk to the right")
    page.keyboard.press(up)
    check(tab.state()["figures"] == child.figures, "and up the stack")
    page.keyboard.press(down)
    check(tab.state()["figures"] == parent.figures, "and down")
    page.keyboard.press("Enter")
    check(tab.state()["hash"] == f"#x={parent.start}&y=1", "Enter zooms")
    for key in ("ArrowLeft", "ArrowRight", up, "ArrowRight", "ArrowLeft", down, down, down, down):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    last = len(boxes) - 1
    page.evaluate(f"location.hash = 'x={boxes[last].start}&y={boxes[last].depth}'")
    page.wait_for_function("!document.querySelector('.reset').disabled")
    for _ in range(5):  # the controls and the browser's own are on the way
        page.keyboard.press("Tab")
        if page.evaluate("Boolean(document.activeElement?.closest('.frames'))"):
            break
    check(page.evaluate("Boolean(document.activeElement?.matches('.frames > g:not(.hidden)'))"),
          "the Tab key leads to a box that is shown")
    tab.check_quiet("keyboard")


def check_fragments(tab, svg, boxes):
    for fragment in ("#", "#x", "#x=1", "#x=&y=", "#x=-1&y=1e9", "#x=__proto__&y=constructor",
                     "#s=%", "#s=%ff&x=%E0%A4%A", "#s=(", "#s=[[[", "#s=<script>alert(1)</script>",
                     "#s=" + "a" * 50_000, "#&&&===&s", "#s=\u0000", "#i=1&s=%00", "#y=0&x=0"):
        page = tab.open(svg, fragment)
        check(tab.state()["shown"] == len(boxes), f"{fragment[:40]} is no zoom")
        page.keyboard.press("Escape")
        tab.check_quiet(f"fragment {fragment[:40]}")


def check_hostile_names(tab, tbtrace, folder):
    rows = [("outer", 0, 1000 * len(HOSTILE_NAMES))]
    for index, name in enumerate(HOSTILE_NAMES):
        rows += [(name, 1000 * index, 990), (name + " on itself", 1000 * index, 500)]
    svg = make_svg(tbtrace, write_trace(folder / "hostile.json", rows), folder / "hostile.svg")
    boxes = boxes_of(svg)
    check(len(boxes) == 2 + 2 * len(HOSTILE_NAMES), "every name has its boxes")
    page = tab.open(svg)
    check(page.locator("script").count() == 1, "no name became a script")
    check(page.locator("img").count() == 0, "no name became an image")
    for index, box in enumerate(boxes):
        if box.depth != 2:
            continue
        frame(page, index).click()
        state = tab.state()
        check(state["around"] == 2 and state["shown"] >= 4, f"zoom into {box.name[:20]!r}")
        check(not state["overflowing"], f"text wider than its box: {state['overflowing']}")
        page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("script|alert")
    check(tab.state()["matches"] == sum(
        1 for box in boxes if re.search("script|alert", box.name)), "hostile names are searched")
    tab.check_quiet("hostile names")


def check_large(tab, tbtrace, folder):
    levels, columns = 40, 500
    rows = [(f"op::level_{level}_{column}", 1000 * column, 900 - 20 * level)
            for column in range(columns) for level in range(levels)]
    rows.append(("step", 0, 1000 * columns))
    trace = write_trace(folder / "large.json", rows)
    svg = make_svg(tbtrace, trace, folder / "large.svg")
    boxes = boxes_of(svg)
    check(len(boxes) > 20_000, f"{len(boxes)} boxes")
    page = tab.open(svg)
    for what, script in (
            ("zoom", "document.querySelectorAll('.frames > g')[2].dispatchEvent("
                     "new MouseEvent('click', {bubbles: true}))"),
            ("reset", "document.querySelector('.reset').click()"),
            ("search", "{ const field = document.querySelector('.pattern'); field.value = '_7';"
                       "field.dispatchEvent(new Event('input')); }")):
        took = page.evaluate("async () => { const start = performance.now(); " + script +
                             "; await new Promise(requestAnimationFrame);"
                             "await new Promise((next) => setTimeout(next, 0));"
                             "return performance.now() - start; }")
        print(f"{what} of {len(boxes)} boxes: {took:.0f} ms")
    tab.check_quiet("large")


def check_tall(tab, tbtrace, folder):
    depth = 150
    rows = [(f"op::{level}", level, 1000 - 2 * level) for level in range(depth)]
    trace = write_trace(folder / "tall.json", rows)
    for options in ((), ("--inverted",)):
        page = tab.open(make_svg(tbtrace, trace, folder / "tall.svg", *options))
        check(page.evaluate("document.documentElement.getBoundingClientRect().height") > 2000,
              "taller than the window")
        root_shown = "document.querySelector('.frames > g').getBoundingClientRect()"
        page.wait_for_function(f"{root_shown}.top > 0 && {root_shown}.bottom < innerHeight")
        for position in (0, 900, 100_000):
            page.evaluate(f"window.scrollTo(0, {position})")
            page.wait_for_function("""() => ["button.open", ".name"].every((part) => {
              const { top, bottom } = document.querySelector(part).getBoundingClientRect();
              return top >= 0 && bottom <= innerHeight;
            })""")
            check(True, "controls and details stay in the window")
    tab.check_quiet("tall")


def check_nothing(browser, tbtrace, folder):
    trace = write_trace(folder / "nothing.json", [("op::a", 0, 10)])
    svg = make_svg(tbtrace, trace, folder / "nothing.svg", "--weight", "cpu_memory")
    tab = Browser(browser)
    page = tab.open(svg)
    check(page.get_by_text("There is nothing to show").is_visible(), "an empty picture says so")
    tab.check_quiet("nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", required=True, help="the program")
    parser.add_argument("--trace", required=True, help="a trace with operators")
    parser.add_argument("--screenshot", type=pathlib.Path, help="a folder for pictures")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()

    def shots_as(kind):
        def shoot(name, page):
            if options.screenshot:
                options.screenshot.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=options.screenshot / f"{kind}_{name}.png")
        return shoot

    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = pathlib.Path(name)
        browser = playwright.chromium.launch(executable_path=options.chromium,
                                             args=CHROMIUM_ARGUMENTS)
        for kind, extra in (("flame", ()), ("icicle", ("--inverted",))):
            svg = make_svg(options.tbtrace, options.trace, folder / f"{kind}.svg", *extra)
            boxes = check_file(svg)
            check_without_script(browser, svg)
            tab = Browser(browser)
            check_zoom(tab, svg, boxes, shots_as(kind))
            check_search(tab, svg, boxes, shots_as(kind))
            check_keyboard(tab, svg, boxes)
        check_fragments(tab, svg, boxes)
        check_hostile_names(tab, options.tbtrace, folder)
        check_large(tab, options.tbtrace, folder)
        check_tall(tab, options.tbtrace, folder)
        check_nothing(browser, options.tbtrace, folder)
        browser.close()
    print(f"{check.count} checks passed in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
