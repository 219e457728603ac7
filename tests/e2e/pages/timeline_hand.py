"""The timeline by a mouse: it fills the window, the wheel zooms at the pointer, the strip and the panel are dragged."""
import re

from e2e.flame_graphs.page import check


def address(page):
    """What the address has of the timeline, as text."""
    page.wait_for_timeout(300)  # it follows when people stop
    return dict(re.findall(r"timeline\.(\w+)=([^&]*)", page.evaluate("decodeURIComponent(location.hash)")))


def part(page, whole):
    now = address(page)
    return float(now.get("from", whole[0])), float(now.get("to", whole[1]))


def middle(page, selector):
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, begin, end):
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def check_fills(page, where):
    """All of the view is in the window, and the tracks have most of it."""
    sizes = page.evaluate("""() => [innerHeight, document.documentElement.scrollHeight,
      document.querySelector(".timeline").getBoundingClientRect().bottom,
      document.querySelector(".timeline-frame").clientHeight]""")
    check(sizes[1] <= sizes[0] and sizes[2] <= sizes[0], f"{where}: the timeline ends in the window: {sizes}")
    check(sizes[3] > sizes[0] * 0.6, f"{where}: the tracks have room: {sizes}")


def check_wheel(page, where):
    """The time at the pointer stays there; without the setting the wheel scrolls the tracks."""
    box = page.locator(".timeline-canvas").bounding_box()
    x, y = box["x"] + box["width"] * 0.3, box["y"] + 40
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    first = part(page, (0, 0))
    page.mouse.wheel(0, -100)
    second = part(page, (0, 0))
    at = [begin + 0.3 * (end - begin) for begin, end in (first, second)]
    check(second[1] - second[0] < 0.8 * (first[1] - first[0]), f"{where}: the wheel zooms: {first}, {second}")
    check(abs(at[0] - at[1]) < 0.01 * (second[1] - second[0]), f"{where}: at the pointer: {at}")
    page.locator(".menu > summary", has_text="Shortcuts").click()
    page.locator(".menu label", has_text="wheel zooms").click()
    page.keyboard.press("Escape")
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    check(part(page, (0, 0)) == second, f"{where}: without the setting the wheel does not zoom")
    page.locator(".menu > summary", has_text="Shortcuts").click()
    page.locator(".menu label", has_text="wheel zooms").click()
    page.keyboard.press("Escape")
    return second


def check_strip(page, where, before):
    """The window is dragged from inside, and by an edge."""
    x, y = middle(page, ".overview-window")
    drag(page, (x, y), (x + 60, y))
    moved = part(page, before)
    long = before[1] - before[0]
    is_as_long = abs(moved[1] - moved[0] - long) < 0.01 * long
    check(moved[0] > before[0] and is_as_long, f"{where}: the window moves: {before}, {moved}")
    box = page.locator(".overview-window").bounding_box()
    drag(page, (box["x"] + box["width"] - 1, y), (box["x"] + box["width"] - 41, y))
    less = part(page, moved)
    check(abs(less[0] - moved[0]) < 0.01 * long and less[1] < moved[1], f"{where}: an edge moves: {moved}, {less}")
    page.keyboard.press("e")
    check("from" not in address(page), f"{where}: e shows all again")


def check_panel(page, where):
    """A slice opens it, its edge is dragged, its height and tab are in the address and survive a reload."""
    canvas = page.locator(".timeline-canvas").bounding_box()
    host = page.locator(".timeline-label b", has_text="thread").first.bounding_box()
    check(not page.locator(".dock-body").is_visible(), f"{where}: the panel is closed at first")
    page.mouse.click(canvas["x"] + canvas["width"] / 2, host["y"] + host["height"] / 2)
    page.wait_for_selector(".dock-body .timeline-panel")
    tall = page.locator(".dock-body").bounding_box()["height"]
    x, y = middle(page, ".dock-edge")
    drag(page, (x, y), (x, y - 60))
    now = page.locator(".dock-body").bounding_box()["height"]
    check(abs(now - tall - 60) <= 1 and address(page)["dock"] == f"{now:.0f}", f"{where}: from {tall} to {now} px")
    page.locator(".dock-bar [role=tab]", has_text="Visible slices").click()
    page.wait_for_selector(".dock-body .grid-body .row")
    page.reload()
    page.wait_for_selector(".dock-body .grid-body .row")
    check(page.locator(".dock-body").bounding_box()["height"] == now, f"{where}: the height is remembered")
    is_in = page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    check(is_in, f"{where}: with the panel all is in the window")
    page.locator(".dock-bar [role=tab]", has_text="Visible slices").click()
    check(not page.locator(".dock-body").is_visible(), f"{where}: another press closes it")
    page.locator(".timeline-board").focus()
    page.keyboard.press("Escape")


def check_idle(page, where, gaps):
    """A press on the track `idle: why` frames a gap of the table and says why."""
    label = page.locator(".timeline-idle").first.bounding_box()
    canvas = page.locator(".timeline-canvas").bounding_box()
    found = None
    for x in range(5, int(canvas["width"]), 9):
        page.mouse.move(canvas["x"] + x, label["y"] + 7)
        if page.locator(".flame-tip:not(.is-hidden)", has_text=" idle: ").count():
            found = x
            break
    check(found is not None, f"{where}: the pointer shows a gap")
    page.mouse.click(canvas["x"] + found, label["y"] + 7)
    page.wait_for_selector(".dock-body :text('was idle')")
    span = tuple(map(int, address(page)["span"].split(":")))
    check(span in gaps, f"{where}: {span} is a gap of the table")


def check_groups(page, where):
    """The device is above the host, and its lines are taller."""
    names = page.eval_on_selector_all(".timeline-heading", "(all) => all.map((one) => one.innerText)")
    check(names[0].startswith("GPU") and names[1] == "HOST", f"{where}: {names}")


def check_shown(page, where, key):
    """A slice of a stream that the address names is in sight, not below the panel with its details."""
    page.evaluate("(key) => { location.hash = `view=timeline&timeline.range=${key}`; }", key)
    page.wait_for_selector(".dock-body .timeline-panel")
    page.wait_for_timeout(300)
    check(page.evaluate("document.querySelector('.timeline-board').scrollTop") == 0, f"{where}: {key} is in sight")
    page.keyboard.press("Escape")


def check_timeline(page, where, gaps):
    page.wait_for_selector(".timeline-idle")
    page.wait_for_timeout(200)
    check_fills(page, where)
    check_groups(page, where)
    before = check_wheel(page, where)
    check_strip(page, where, before)
    check_panel(page, where)
    check_idle(page, where, gaps)
    check_shown(page, where, "0:790442:12223:1")
