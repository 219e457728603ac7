#!/usr/bin/env python3
"""Drives the flame graph that `tbtrace flamegraph` draws in headless Chromium.

usage: python3 -m e2e.flame_graphs.browser_test --tbtrace PATH [--trace FILE] [--screenshot DIR]

Needs PyPI's `playwright` and a Chromium (--chromium, default /usr/bin/chromium). The pictures are
opened by file:// addresses, as users do. Fails with an AssertionError that says what is wrong.
"""
import argparse
import collections
import pathlib
import re
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree

from playwright.sync_api import sync_playwright

from e2e.flame_graphs.made import (check_narrow_frames, check_hostile_names, check_tall, check_many_callers,
                                   check_page_around, check_nothing, check_stacks)
from e2e.flame_graphs.page import (CHROMIUM_ARGUMENTS, SVG, WINDOW, Browser, Picture, check, check_drawn,
                                   make_svg, matched_share, type_anew, value_of)
from e2e.flame_graphs.speed import check_many_frames


def zoom_target(boxes):
    """A box some levels up with others beside it and on it."""
    return next(box for box in boxes
                if box.depth >= 2 and 0.02 < box.total / boxes[0].total < 0.9
                and box.end > box.index + 1 and boxes[box.index + 1].total > 0.3 * box.total)


def check_file(svg):
    text = svg.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    picture = Picture(svg)
    boxes = picture.boxes
    check(len(root.findall(f"{SVG}script")) == 1, "one script")
    without_namespaces = re.sub(r"http://www\.w3\.org/(2000/svg|1999/xhtml)", "", text)
    for word in ("http://", "https://", "eval(", "innerHTML", "window.prompt"):
        check(word not in without_namespaces, f"{word} in the picture")
    check(boxes[0].name == "all" and boxes[0].start == 0, "the root comes first")
    still = root.findall(f"{SVG}g[@class='frames']/{SVG}g[@class='still']/{SVG}g")
    check(f"({boxes[0].total} ns)" in still[0].find(f"{SVG}title").text,
          "the exact total in the root's tooltip")
    check(0 < len(still) <= len(boxes), "a still picture")
    for box in boxes:
        on_it = sum(other.total for other in boxes[box.index + 1:box.end] if other.parent is box)
        check(box.total == box.self_weight + on_it, f"{box.name} is itself and what is on it")
    return picture


def check_without_script(browser, svg):
    still = Browser(browser, java_script_enabled=False)
    page = still.open(svg)
    check(not page.locator(".bar").is_visible(), "no dead controls without script")
    check(page.locator(".still text").first.is_visible(), "labels without script")
    page.close()


def check_zoom(tab, picture, shots):
    page = tab.open(picture.svg)
    boxes = picture.boxes
    before = tab.state()
    check_drawn(before, picture)
    check(not before["overflowing"], f"texts wider than boxes: {before['overflowing'][:3]}")
    shots("normal", page)
    box = zoom_target(boxes)
    hovered = tab.hover(picture, box)
    check(f"({box.total} ns)" in hovered["figures"], "hover shows the figures")
    check(hovered["name"][:20] == box.name[:20], "hover shows the name")
    check(hovered["tooltip"] == f"{box.name}\n{hovered['figures']}", "and so does the tooltip")
    tab.click(picture, box)
    zoomed = tab.state()
    check(page.evaluate("document.activeElement?.closest?.('.frames') == null"),
          "a click focuses no part of the picture")
    check(zoomed["hash"] == f"#x={box.start}&y={box.depth}", f"fragment {zoomed['hash']}")
    check(zoomed["around"] == box.depth, "ancestors stay, dimmed")
    check_drawn(zoomed, picture, box)
    check(not zoomed["overflowing"], f"texts wider than boxes: {zoomed['overflowing'][:3]}")
    inside = tab.hover(picture, boxes[box.index + 1], box)
    check("of the zoomed frame" in inside["figures"], "share of the zoomed frame")
    shots("zoomed", page)

    page.reload()
    check(tab.state()["boxes"] == zoomed["boxes"], "the link reproduces the zoom")
    page.keyboard.press("Escape")
    check(tab.state()["boxes"] == before["boxes"] and tab.state()["hash"] == "", "Escape resets")
    page.go_back()
    page.wait_for_function("location.hash !== ''")
    check(tab.state()["boxes"] == zoomed["boxes"], "the browser's back undoes")
    page.get_by_role("button", name="Reset zoom").click()
    check(tab.state()["boxes"] == before["boxes"], "the button resets")
    check(page.get_by_role("button", name="Reset zoom").is_disabled(), "nothing to reset any more")
    tab.click(picture, box)
    tab.click(picture, boxes[0], box)
    check(tab.state()["boxes"] == before["boxes"], "a click on the root resets")
    page.mouse.move(2, 2)
    check(not tab.state()["pointed"], "no outline outside of the boxes")
    tab.check_quiet("zoom")


def check_search(tab, picture, shots):
    page = tab.open(picture.svg)
    boxes = picture.boxes
    pattern = r"aten::\w*(mm|conv|dropout)|forward"
    share = f"matched: {matched_share(boxes, pattern):.1f} %"
    check(not tab.state()["field"], "the field is closed at first")
    page.get_by_role("button", name="Search").click()
    field = page.get_by_role("textbox", name="Search by regular expression")
    check(field.evaluate("(input) => input === document.activeElement"), "the field has the focus")
    page.keyboard.type(pattern)
    found = tab.state()
    expected = sum(1 for box in boxes[1:] if re.search(pattern, box.name, re.IGNORECASE))
    check(found["status"] == f"{share} ({expected} frames)", f"{found['status']}, expected {share}")
    wide = {box: width for box, (_, width) in picture.widths(found["width"]).items() if width >= 4}
    check(0 < sum(1 for box in wide if box.depth > 0 and re.search(pattern, box.name, re.I))
          <= found["matches"], "matching boxes are marked")
    shots("searched", page)
    page.reload()
    again = tab.state()
    check(again["status"] == found["status"] and again["field"], "the link reproduces the search")
    check(value_of(field) == pattern, "the link fills the field")

    type_anew(field, "(")
    check(tab.state()["status"] == "not a regular expression", "a wrong pattern is told")
    check(tab.state()["matches"] == 0, "a wrong pattern matches nothing")
    type_anew(field, "ATEN::")
    check(tab.state()["status"].startswith(f"matched: {matched_share(boxes, 'ATEN::'):.1f} %"),
          "case does not count")
    check("i=" not in tab.state()["hash"] and "s=ATEN%3A%3A" in tab.state()["hash"], "the fragment")
    page.get_by_role("checkbox", name="match case").click()
    check(tab.state()["status"].startswith("matched: 0.0 % (0"), "unless it is asked for")
    check("s=ATEN%3A%3A&m=1" in tab.state()["hash"], "in the fragment")
    page.reload()
    check(tab.state()["status"].startswith("matched: 0.0 % (0"), "the link restores that")
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
    page.keyboard.press("/")
    page.keyboard.type("c")
    check(value_of(field) == "c" and "c=" not in tab.state()["hash"], "c is a letter there")
    tab.check_quiet("search")


def callers_by_definition(picture, name):
    """{names from the function outwards: weight of all calls that came this way}, and the total."""
    weights, total, covered = collections.Counter(), 0, 0
    for box in picture.boxes[1:]:
        if box.name != name or box.index < covered:
            continue
        covered = box.end
        total += box.total
        outwards = [ancestor.name for ancestor in picture.path_to(box)[1:]][::-1]
        for length in range(1, len(outwards) + 1):
            weights[tuple(outwards[:length])] += box.total
    return weights, total


def check_callers(tab, picture, name, shots):
    """The picture of the callers of a function with several."""
    weights, total = callers_by_definition(picture, name)
    box = max((box for box in picture.boxes[1:] if box.name == name), key=lambda box: box.total)
    page = tab.open(picture.svg)
    before = tab.state()
    tab.click(picture, box, modifiers=["Shift"])
    state = tab.state()
    check(state["hash"] == "#c=" + urllib.parse.quote(name, safe="~()*!'"), state["hash"])
    check(state["name"].startswith("Callers of " + name[:30]), "the details say whose callers")
    check(f"({total} ns)" in state["figures"], f"{state['figures']}: {total} ns in all")
    shots("callers", page)
    if len(weights) > 1:
        y = state["top"] + (17.0 if picture.is_inverted else state["height"] - 34) + 8
        left, top = page.evaluate("""() => {
          const { left, top } = document.documentElement.getBoundingClientRect();
          return [left, top];
        }""")
        page.mouse.move(left + picture.margin + 5, top + y)
        check(" % of its time" in tab.state()["figures"], "shares of callers are of weight")
        page.mouse.move(2, 2)
    heights = collections.defaultdict(list)
    for path, weight in weights.items():
        width = weight * state["width"] / total
        level = len(path) - 1
        y = (state["top"] + 17 * level if picture.is_inverted
             else state["top"] + state["height"] - 17 * (level + 1))
        if width >= 4:
            heights[y].append(round(width - 0.5))
    drawn = collections.defaultdict(list)
    for _, y, width, *_ in state["boxes"]:
        if width >= 3.4:
            drawn[y].append(round(width))
    check(sorted(heights) == sorted(y for y in drawn if drawn[y]), "the levels of the callers")
    for y, widths in heights.items():
        check(all(abs(a - b) <= 1 for a, b in zip(sorted(widths), sorted(drawn[y])))
              and len(widths) == len(drawn[y]), f"callers of {name}: {widths}, {drawn[y]}")
    page.reload()
    check(tab.state()["boxes"] == state["boxes"], "the link reproduces the callers")
    page.keyboard.press("/")
    page.keyboard.type("zzz no such frame")
    check(tab.state()["status"].startswith("matched: 0.0 %"), "callers can be searched")
    page.keyboard.press("Escape")
    check("c=" in tab.state()["hash"], "Escape closes the field first")
    page.keyboard.press("Escape")
    check(tab.state()["boxes"] == before["boxes"] and tab.state()["hash"] == "", "then it goes back")
    page.go_back()
    page.wait_for_function("location.hash !== ''")
    check(tab.state()["boxes"] == state["boxes"], "the browser's back shows them again")
    page.get_by_role("button", name="All frames").click()
    check(tab.state()["boxes"] == before["boxes"], "and the button leaves them")
    tab.hover(picture, box)
    page.keyboard.press("c")
    check(tab.state()["boxes"] == state["boxes"], "c shows the callers of the frame below the mouse")
    page.keyboard.press("Escape")
    check(page.get_by_role("button", name="Callers").is_disabled(), "no frame is chosen")
    tab.click(picture, box)
    page.get_by_role("button", name="Callers").click()
    check(tab.state()["boxes"] == state["boxes"], "the button shows those of the zoomed frame")
    tab.check_quiet("callers")


def called_from_two_places(picture):
    callers = collections.defaultdict(set)
    for box in picture.boxes[1:]:
        callers[box.name].add(box.parent.name)
    wide = {box.name for box in picture.boxes if box.total > 0.02 * picture.boxes[0].total}
    return next((name for name in sorted(wide) if len(callers[name]) > 1), sorted(wide)[-1])


def check_keyboard(tab, picture):
    page = tab.open(picture.svg)
    boxes = picture.boxes
    up, down = ("ArrowDown", "ArrowUp") if picture.is_inverted else ("ArrowUp", "ArrowDown")
    firsts = [box for box in boxes if box.depth == 1]
    parent = next(box for box in firsts if box.end > box.index + 1)
    child = boxes[parent.index + 1]
    page.evaluate("document.querySelector('.current').focus()")
    page.keyboard.press(up)
    for _ in range(firsts.index(parent)):
        page.keyboard.press("ArrowRight")
    is_shown = lambda box: f"{box.total} ns" in tab.state()["figures"] and \
        tab.state()["name"][:20] == box.name[:20]
    check(is_shown(parent), "arrows walk to the right")
    page.keyboard.press(up)
    check(is_shown(child), "and up the stack")
    check(page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(child.name),
          "a screen reader is told")
    page.keyboard.press(down)
    check(is_shown(parent), "and down")
    page.keyboard.press("Enter")
    check(tab.state()["hash"] == f"#x={parent.start}&y=1", "Enter zooms")
    page.keyboard.press(up)
    page.keyboard.press("c")
    check(tab.state()["hash"].startswith("#c="), "c shows the callers of the frame in focus")
    page.keyboard.press("Escape")
    for key in ("ArrowLeft", "ArrowRight", up, "ArrowRight", "ArrowLeft", down, down, down, down):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    last = boxes[-1]
    page.evaluate(f"location.hash = 'x={last.start}&y={last.depth}'")
    page.wait_for_function("!document.querySelector('.reset').disabled")
    page.evaluate("document.activeElement?.blur?.()")
    for _ in range(6):  # the controls and the browser's own are on the way
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.matches?.('.current') === true"):
            break
    check(page.evaluate("document.activeElement?.matches?.('.current') === true"),
          "the Tab key leads to a box that is shown")
    tab.check_quiet("keyboard")


def check_fragments(tab, picture):
    everything = None
    for fragment in ("#", "#x", "#x=1", "#x=&y=", "#x=-1&y=1e9", "#x=__proto__&y=constructor",
                     "#s=%", "#s=%ff&x=%E0%A4%A", "#s=(", "#s=[[[", "#s=<script>alert(1)</script>",
                     "#s=" + "a" * 50_000, "#&&&===&s", "#s=\u0000", "#m=1&s=%00", "#y=0&x=0",
                     "#c=", "#c=all", "#c=%", "#c=no such function", "#c=__proto__", "#x=0.5&y=1",
                     "#x=NaN&y=NaN", "#x=Infinity&y=1", "#y=1.5&x=0", "#c=" + "c" * 50_000):
        page = tab.open(picture.svg, fragment)
        places = [box[:3] for box in tab.state()["boxes"]]
        everything = everything or places
        check(sorted(places) == sorted(everything), f"{fragment[:40]} is not a zoom")
        page.keyboard.press("Escape")
        tab.check_quiet(f"fragment {fragment[:40]}")


def check_window(tab, tbtrace, trace, folder):
    """The picture is as wide as the window, unless it has a width."""
    page = tab.open(make_svg(tbtrace, trace, folder / "fit.svg"))
    for width in (1260, 900, 600, 400, 1900):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(f"Math.abs(Number(document.querySelector('.ground')"
                               f".getAttribute('width')) - {width} + 20) < 18")
        check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
              f"no scroll bar below {width} px")
        state = tab.state()
        check(not state["overflowing"], f"texts wider than boxes at {width} px")
        check_drawn(state, Picture(folder / "fit.svg"))
        check(page.evaluate("""() => {
          const controls = document.querySelector('.controls').getBoundingClientRect();
          return document.querySelector('.boxes').getBoundingClientRect().top
              >= document.querySelector('.open').getBoundingClientRect().bottom;
        }"""), f"controls stay above the boxes at {width} px")
    page.set_viewport_size(WINDOW)
    tab.open(make_svg(tbtrace, trace, folder / "wide.svg", "--width", "700"))
    check(tab.state()["width"] == 680, "a width that was given stays")
    tab.check_quiet("window")


def check_pictures_of(options, browser, folder, shots_as):
    """The flame graphs of one trace."""
    for kind, extra in (("flame", ()), ("icicle", ("--inverted",)),
                        ("time", ("--order", "time")), ("all", ("--all-frames",))):
        svg = make_svg(options.tbtrace, options.trace, folder / f"{kind}.svg", *extra)
        picture = check_file(svg)
        check_without_script(browser, svg)
        tab = Browser(browser)
        check_zoom(tab, picture, shots_as(kind))
        check_search(tab, picture, shots_as(kind))
        check_callers(tab, picture, called_from_two_places(picture), shots_as(kind))
        check_keyboard(tab, picture)
    check_fragments(tab, picture)
    check_window(tab, options.tbtrace, options.trace, folder)


def check_made_pictures(tbtrace, browser, folder, shots):
    """Flame graphs of traces made for the test, and how long large ones take."""
    tab = Browser(browser)
    check_narrow_frames(tab, tbtrace, folder)
    check_stacks(tab, tbtrace, folder, shots)
    check_hostile_names(tab, tbtrace, folder, shots)
    check_many_frames(tab, tbtrace, folder, shots)
    check_tall(tab, tbtrace, folder)
    check_many_callers(tab, tbtrace, folder)
    check_page_around(tab, Picture(folder / "tall.svg"), folder)
    check_nothing(browser, tbtrace, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", required=True, help="the program")
    parser.add_argument("--trace", help="a trace with operators; made ones for the test if none is named")
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
        if options.trace:
            check_pictures_of(options, browser, folder, shots_as)
        else:
            check_made_pictures(options.tbtrace, browser, folder, shots_as("made"))
        browser.close()
    print(f"{check.count} checks passed in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
