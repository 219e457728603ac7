"""Menus, dialogs and links of a page, used by a mouse or a finger: presses at places, as a browser gets them."""
import re

from e2e.flame_graphs.page import check

HEADS = "document.querySelectorAll('#main .grid-header .head').length"


class Hand:
    """A mouse, or a finger where the page's context has a touch screen."""

    def __init__(self, page, touches):
        self.page, self.touches = page, touches

    def press(self, place):
        """Presses the first one in sight."""
        place = self.page.locator(place) if isinstance(place, str) else place
        place = place.locator("visible=true").first
        place.tap() if self.touches else place.click()

    def press_at(self, x, y):
        self.page.touchscreen.tap(x, y) if self.touches else self.page.mouse.click(x, y)

    def press_middle(self, place):
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        self.press_at(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def menu(self, label):
        return self.page.locator("#main details.menu", has=self.page.locator(f"summary:text-is('{label}')")).first


def check_focus(page, where, selector, key, within=None):
    """A key on an element leaves the focus there, or within what is around it."""
    place = page.locator(selector).locator("visible=true").first
    element = place.element_handle()
    place.focus()
    page.keyboard.press(key)
    stays = page.evaluate("([one, around]) => around ? document.activeElement.matches(around) : document.activeElement === one",
                          [element, within])
    now = page.evaluate("document.activeElement.outerHTML.slice(0, 120)")
    check(stays, f"{where}: {key} on {selector} takes the focus away to {now}")


def check_menu(hand, where, label):
    """A press elsewhere closes it, and Esc, which gives the focus back."""
    menu, is_open = hand.menu(label), "(menu) => menu.open"
    hand.press(menu.locator("summary"))
    check(menu.evaluate(is_open), f"{where}: {label} opens")
    hand.press("#main h1")
    check(not menu.evaluate(is_open), f"{where}: {label} closes by a press elsewhere")
    hand.press(menu.locator("summary"))
    hand.page.keyboard.press("Escape")
    check(not menu.evaluate(is_open), f"{where}: {label} closes by Esc")
    has_focus = menu.evaluate("(menu) => document.activeElement === menu.querySelector('summary')")
    check(has_focus, f"{where}: {label} has the focus again")


def check_columns(hand, where):
    """A press on the name beside a box chooses the column, and the menu stays for another one."""
    menu = hand.menu("Columns")
    hand.press(menu.locator("summary"))
    before = hand.page.evaluate(HEADS)
    hand.press_middle(menu.locator("label:has(input:not(:disabled)) span").last)
    hand.page.wait_for_function(f"(before) => {HEADS} !== before", arg=before)
    check(menu.evaluate("(menu) => menu.open"), f"{where}: the menu stays open")
    hand.press(menu.locator("button:text-is('Reset')"))
    hand.page.wait_for_function(f"(before) => {HEADS} === before", arg=before)
    hand.page.keyboard.press("Escape")


def check_help(hand, where):
    """Its button, Esc and a press beside it close it."""
    dialog = hand.page.locator("dialog[open]")
    for close in ("button", "Escape", "beside"):
        hand.press("[aria-label=Help]")
        check("this help" in dialog.inner_text(), f"{where}: the help opens")
        check(dialog.evaluate("(dialog) => dialog.scrollTop") == 0, f"{where}: the help opens at its beginning")
        if close == "button":
            hand.press(dialog.locator("button"))
        elif close == "Escape":
            hand.page.keyboard.press("Escape")
        else:
            box = dialog.bounding_box()
            hand.press_at(box["x"] - 5, box["y"] + box["height"] / 2)
        dialog.wait_for(state="detached")


def check_gap_link(hand, where, gaps):
    """gaps: (start, end) of those of the table."""
    finding = hand.page.locator("#main .finding", has=hand.page.locator(".evidence li", has_text="gap")).first
    hand.press(finding.locator("summary"))
    hand.press(finding.locator(".evidence li").filter(has_text="gap").locator("button.link"))
    hand.page.wait_for_selector("#main .timeline-board")
    address = hand.page.evaluate("decodeURIComponent(location.hash)")
    first = int(re.search(r"timeline\.from=(-?\d+)", address)[1])
    start, end = map(int, re.search(r"timeline\.span=(\d+):(\d+)", address).groups())
    last = int(re.search(r"timeline\.to=(\d+)", address)[1])
    check((start, end) in gaps, f"{where}: {start} to {end} is a gap of the table")
    check(first < start and end < last, f"{where}: all of it is in sight: {address}")
