#!/usr/bin/env python3
"""Drives the flame graph that `tbtrace flamegraph` draws in headless Chromium.

usage: flame_graph_browser_test.py --tbtrace PATH --trace FILE [--screenshot DIR]

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

from flame_graph_page import (CHROMIUM_ARGUMENTS, SVG, WINDOW, Browser, Picture, check, check_drawn,
                              make_svg, matched_share, type_anew, value_of, write_trace)
from flame_graph_speed import check_many_frames

HOSTILE_NAMES = [
    "</text><script>alert(1)</script>", "</title></g></svg><script>alert(2)</script>",
    "]]><script>alert(3)</script>", "&lt;b&gt; &amp; &#60;", "\"quotes\" and 'apostrophes'",
    "<img src=x onerror=alert(4)>", "javascript:alert(5)", "line\nbreak\r\nand\ttab",
    "control \x01\x08\x1f\x7f end", "nonchar \uffff \ufffe end", "\u202eright to left override",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u6f22\u5b57\u304b\u306a\ud55c\uae00 " * 40,
    "\U0001f525\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji " * 40,
    "\ufdfd\U0001242b wide glyphs " * 20, "a" + "\u0301" * 200, "long " * 1000, " ",
    "${1+1} {{x}} %s %n", "__proto__", "constructor", "all", "\\", "\\\"", "\"],\"totals\":[",
    "</metadata><script>alert(6)</script>", "]]></metadata>", "&quot;],[", "\u2028\u2029 lines",
    "/home/x/<b>\"/a\\b.py(1): </script>f", "/very/long/path/" + "folder/" * 60 + "net.py(7): g",
]


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


def check_narrow_frames(tab, tbtrace, folder):
    """What is narrower than a tenth of a pixel at first is there after zooming."""
    rows = [("wide", 0, 10_000_000), ("narrow", 10_000_000, 100)]
    rows += [(f"op::inside_{index}", 10_000_000 + 10 * index, 10) for index in range(10)]
    picture = Picture(make_svg(tbtrace, write_trace(folder / "narrow.json", rows),
                               folder / "narrow.svg"))
    page = tab.open(picture.svg)
    check(not any("inside" in label for label in tab.state()["labels"]), "too narrow at first")
    narrow = next(box for box in picture.boxes if box.name == "narrow")
    page.evaluate(f"location.hash = 'x={narrow.start}&y=1'")
    page.wait_for_function("!document.querySelector('.reset').disabled")
    state = tab.state()
    check(sum("inside_" in label for label in state["labels"]) == 10, "there after zooming")
    check_drawn(state, picture, narrow)
    tab.check_quiet("narrow frames")


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


def check_hostile_names(tab, tbtrace, folder, shots):
    rows = [("outer", 0, 1000 * len(HOSTILE_NAMES))]
    for index, name in enumerate(HOSTILE_NAMES):
        rows += [(name, 1000 * index, 990), (name + " on itself", 1000 * index, 500)]
    picture = Picture(make_svg(tbtrace, write_trace(folder / "hostile.json", rows),
                               folder / "hostile.svg"))
    boxes = picture.boxes
    check(len(boxes) == 2 + 2 * len(HOSTILE_NAMES), "every name has its boxes")
    page = tab.open(picture.svg)
    shots("hostile", page)
    check(page.locator("script").count() == 1, "no name became a script")
    check(page.locator("img").count() == 0, "no name became an image")
    for box in boxes:
        if box.depth != 2:
            continue
        tab.click(picture, box)
        state = tab.state()
        check(state["around"] == 2 and len(state["boxes"]) >= 4, f"zoom into {box.name[:20]!r}")
        check(not state["overflowing"], f"text wider than its box: {state['overflowing']}")
        if "folder" in box.name:
            shots("long_path", page)
            check(state["name"].startswith("/very/long/path/folder/")
                  and state["name"].endswith("/net.py(7): g"), "the ends of a long path")
        page.keyboard.press("c")
        state = tab.state()
        check(len(state["boxes"]) == 2, f"one caller of {box.name[:20]!r}")
        check(not state["overflowing"], f"text wider than its box: {state['overflowing']}")
        page.reload()
        check(len(tab.state()["boxes"]) == 2, f"a link to the callers of {box.name[:20]!r}")
        page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("script|alert")
    check(f"({sum(1 for box in boxes if re.search('script|alert', box.name, re.I))} frames)"
          in tab.state()["status"], "hostile names are searched")
    tab.check_quiet("hostile names")


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


def check_tall(tab, tbtrace, folder):
    depth = 150
    rows = [(f"op::{level}", level, 1000 - 2 * level) for level in range(depth)]
    trace = write_trace(folder / "tall.json", rows)
    for options in ((), ("--inverted",)):
        picture = Picture(make_svg(tbtrace, trace, folder / "tall.svg", *options))
        page = tab.open(picture.svg)
        check(page.evaluate("document.documentElement.getBoundingClientRect().height") > 2000,
              "taller than the window")
        root = picture.boxes[0]
        check(0 < tab.place(picture, root)[1] < 800, "the root is in the window")
        check("all" in tab.state()["labels"], "and drawn")
        for position in (0, 900, 100_000):
            page.evaluate(f"window.scrollTo(0, {position})")
            page.wait_for_function("""() => ["button.open", ".name"].every((part) => {
              const { top, bottom } = document.querySelector(part).getBoundingClientRect();
              return top >= 0 && bottom <= innerHeight;
            })""")
            check(True, "controls and details stay in the window")
            middle = min(picture.boxes, key=lambda box: abs(tab.place(picture, box)[1] - 400))
            page.wait_for_function(
                "(name) => Array.from(document.querySelectorAll('.labels text'))"
                ".some((text) => text.textContent === name)", arg=middle.name)
            check(tab.hover(picture, middle)["name"] == middle.name, "what is in the window is drawn")
        check_frames_stay_in_window(tab, picture, depth)
        check_paper(tab, picture, depth)
    tab.check_quiet("tall")


def check_frames_stay_in_window(tab, picture, depth):
    """A link, the arrow keys and a search scroll to the frame that they are about."""
    # Between the controls and the details.
    is_seen = """(rect) => {
      const { top, bottom } = rect.getBoundingClientRect();
      const details = document.querySelector(".details .panel").getBoundingClientRect();
      return top >= document.querySelector(".open").getBoundingClientRect().bottom &&
          bottom <= details.top + 1;
    }"""
    current_is_seen = f"({is_seen})(document.querySelector('.current rect'))"
    far = picture.boxes[depth - 10]
    page = tab.open(picture.svg, f"#x={far.start}&y={far.depth}")
    check(page.evaluate(current_is_seen), "a link scrolls to its frame")
    check(far.name in tab.state()["labels"], "and the frame is drawn")
    page = tab.open(picture.svg)
    page.evaluate("document.querySelector('.current').focus()")
    up, down = ("ArrowDown", "ArrowUp") if picture.is_inverted else ("ArrowUp", "ArrowDown")
    for key, count in ((up, 120), (down, 115)):
        for _ in range(count):
            page.keyboard.press(key)
        check(page.evaluate(current_is_seen), f"{key} scrolls to its frame")
    check(tab.state()["name"] == picture.boxes[5].name, "120 up, 115 down")
    page = tab.open(picture.svg)
    page.keyboard.press("/")
    page.keyboard.type(f"op::{depth - 20}$")
    match_is_seen = f"({is_seen})(document.querySelector('.boxes .match'))"
    check(page.evaluate(match_is_seen), "a search scrolls to its match")
    before = page.evaluate("scrollY")
    type_anew(page.get_by_role("textbox", name="Search by regular expression"), "op::1")
    check(page.evaluate("scrollY") == before, "a match in the window needs no scrolling")


def check_paper(tab, picture, depth):
    page = tab.open(picture.svg)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    labels = set(tab.state()["labels"])
    check(all(f"op::{level}" in labels for level in range(depth)), "paper has all levels")
    page.emulate_media(media="print")
    check(not page.locator(".bar").is_visible(), "and no controls")
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    check(len(tab.state()["labels"]) < depth, "and afterwards the window has its levels")


def check_many_callers(tab, tbtrace, folder):
    """Calls at all levels of a deep stack: their callers are as many as the square of its depth."""
    depth = 3000
    rows = [(f"f.py({level}): g{level}", 10 * level, 10 * (3 * depth - 2 * level))
            for level in range(depth)]
    rows += [("leaf", 10 * level + 2, 5) for level in range(depth)]
    picture = Picture(make_svg(tbtrace, write_trace(folder / "callers.json", rows),
                               folder / "callers.svg"))
    page = tab.open(picture.svg, "#c=leaf")
    state = tab.state()
    check(state["name"] == "Callers of leaf", "the callers are shown")
    found = re.search(r"too many to show: the callers of the ([\d,]+) narrowest frames are left out",
                      state["figures"])
    check(found is not None, state["figures"])
    check(0 < int(found[1].replace(",", "")) <= depth, "not more than there are calls")
    check(any("all" != label for label in state["labels"]), "frames are drawn")
    page.keyboard.press("Escape")
    check("c=" not in tab.state()["hash"], "and it goes back")
    tab.check_quiet("many callers")


def check_page_around(tab, picture, folder):
    """In a page of HTML the picture leaves the page's fields, address and scrolling alone."""
    text = picture.svg.read_text(encoding="utf-8")
    page_path = folder / "page.html"
    page_path.write_text("<!doctype html><meta charset=utf-8><h1>Report</h1><input id=title>"
                         "<div id=notes contenteditable>x</div>" + text[text.index("<svg"):]
                         + "<p style='height:3000px'>", encoding="utf-8")
    page = tab.open(page_path, "#s=op&c=op")
    check(page.evaluate("scrollY") == 0, "the page is not scrolled")
    check(page.locator(".matched").text_content() == "", "the page's fragment is its own")
    for field in ("#title", "#notes"):
        page.click(field)
        page.keyboard.type("a/c")
        check("a/c" in page.evaluate(f"document.querySelector('{field}').value ?? "
                                     f"document.querySelector('{field}').textContent"),
              f"{field} takes its keys")
    check(page.evaluate("document.querySelector('.field').hidden"), "no search was opened")
    page.locator(".ground").click(position={"x": 20, "y": 25}, force=True)
    check(page.locator(".reset").is_enabled(), "a click zooms")
    check(page.evaluate("location.hash") == "#s=op&c=op", "the address stays")
    tab.check_quiet("a page around")


def check_nothing(browser, tbtrace, folder):
    trace = write_trace(folder / "nothing.json", [("op::a", 0, 10)])
    svg = make_svg(tbtrace, trace, folder / "nothing.svg", "--weight", "cpu_memory")
    tab = Browser(browser)
    page = tab.open(svg)
    check(page.get_by_text("There is nothing to show").is_visible(), "an empty picture says so")
    tab.check_quiet("nothing")


def check_stacks(tab, tbtrace, folder, shots):
    """Frames that only pass on, recursion and short labels, as the picture has them."""
    files = ["/home/me/project/train.py(3): main", "torch/nn/modules/module.py(1518): "
             "_wrapped_call_impl", "torch/nn/modules/module.py(1527): _call_impl",
             "/home/me/project/models/net.py(42): forward",
             "/home/me/project/models/net.py(42): forward"]
    rows = [(name, 10 * level, 1000 - 20 * level) for level, name in enumerate(files)]
    trace = write_trace(folder / "stacks.json", rows, "python_function")
    names = lambda *options: [box.name for box in Picture(
        make_svg(tbtrace, trace, folder / "stacks.svg", *options)).boxes[1:]]
    check(names("--all-frames") == files, "all frames")
    check(names() == [files[0], files[3], files[3]], "frames that only pass on are left out")
    check(names("--merge-recursion") == [files[0], files[3]], "recursion is merged")
    page = tab.open(make_svg(tbtrace, trace, folder / "stacks.svg"))
    check(tab.state()["labels"] == ["all", "project/train.py(3): main",
                                    "models/net.py(42): forward", "models/net.py(42): forward"],
          f"short labels: {tab.state()['labels']}")
    picture = Picture(folder / "stacks.svg")
    check(tab.hover(picture, picture.boxes[2])["name"] == files[3], "the whole name in the details")
    check(tab.state()["tooltip"].startswith(files[3] + "\n"), "and in the tooltip")
    shots("stacks", page)
    tab.check_quiet("stacks")


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
        check_narrow_frames(tab, options.tbtrace, folder)
        check_stacks(tab, options.tbtrace, folder, shots_as("made"))
        check_hostile_names(tab, options.tbtrace, folder, shots_as("made"))
        check_many_frames(tab, options.tbtrace, folder, shots_as("made"))
        check_window(tab, options.tbtrace, options.trace, folder)
        check_tall(tab, options.tbtrace, folder)
        check_many_callers(tab, options.tbtrace, folder)
        check_page_around(tab, Picture(folder / "tall.svg"), folder)
        check_nothing(browser, options.tbtrace, folder)
        browser.close()
    print(f"{check.count} checks passed in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
