"""Checks of flame graphs in a browser with traces made for them: hostile names, tall pictures, paper."""
import re

from e2e.flame_graphs.page import (Browser, Picture, check, check_drawn, make_svg, type_anew, write_trace)

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
