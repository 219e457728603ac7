#!/usr/bin/env python3
"""Opens the view Ranks of made jobs in headless Chromium, as users do: from a file, without a network.

usage: python3 -m e2e.pages.ranks_test --tbtrace PATH [--screenshots DIR]

It is drawn in both themes and as wide as a phone, says nothing on the console, asks for nothing, and axe-core finds
nothing in it; what is chosen is in the address; keys reach the rank that is slow, and a click its timeline. Fails with
an AssertionError that says what is wrong.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS, check
from e2e.pages.by_hand import Hand, check_columns, check_focus, check_help, check_menu
from e2e.pages.compare_test import Opened, address_of
from e2e.pages.hostile import NAMES
from e2e.pages.first_screen import SMALL
from e2e.pages.page_test import AXE, DESK, PHONE, VIOLATIONS
from e2e.pages.timeline_ranks import check_notes, check_ranks, check_tracks
from jobs import made_jobs


def page_of(tbtrace, traces, file, *options):
    subprocess.run([tbtrace, "report", traces, "-o", file, "-q", *options], check=True)
    return file


def check_looks(browser, file, looks, screenshots):
    for size, theme in looks:
        opened = Opened(browser, file, size, theme)
        page = opened.page
        page.wait_for_selector(".ranks .card, #main .failure")
        where = f"{file.name}, {theme}, {size['width']} px"
        check(page.query_selector("#main .failure") is None, f"{where}: failed")
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        check(wider <= 0, f"{where}: {wider} px wider than the window")
        for choice in page.query_selector_all(".ranks [role=tab], .ranks .choice"):
            choice.click()
        for details in page.query_selector_all(".ranks details:not(.menu) > summary"):
            details.click()
        page.evaluate(AXE)
        found = page.evaluate(VIOLATIONS)
        check(not found, f"{where}: axe: {found}")
        if screenshots:
            page.screenshot(path=screenshots / f"{file.stem}-{theme}-{size['width']}.png", full_page=True)
        opened.close()


def check_use(browser, file, truth):
    slow = truth["causes"][0]["rank"]
    opened = Opened(browser, file, DESK)
    page = opened.page
    press = page.keyboard.press
    page.wait_for_selector(".cell-board")
    check(f"rank {slow} holds up the job" in page.inner_text(".ranks .card").lower(), "the sentence names the rank")
    board = page.locator(".cell-board").first
    # The cursor begins at the cell that is latest.
    check(f"Rank {slow}" in board.get_attribute("aria-valuetext"), board.get_attribute("aria-valuetext"))
    board.focus()
    press("Home")
    check(f"Rank {slow}" in board.get_attribute("aria-valuetext"), "Home stays in the row")
    first = board.get_attribute("aria-valuetext")
    press("ArrowRight")
    check(first != board.get_attribute("aria-valuetext"), "an arrow moves")
    page.select_option(".ranks .tools select >> nth=0", "compute_ns")
    page.select_option(".ranks .tools select >> nth=1", "excess")
    check("ranks.show=compute_ns" in address_of(page) and "ranks.order=excess" in address_of(page), address_of(page))
    chosen = address_of(page)
    again = Opened(browser, file, DESK, fragment=chosen[chosen.index("#"):])
    again.page.wait_for_selector(".cell-board")
    check(again.page.input_value(".ranks .tools select >> nth=0") == "compute_ns", "the address has what is shown")
    again.close()
    # Whom the others wait for.
    waits = page.locator(".cell-board").nth(1)
    check(f"for rank {slow}" in waits.get_attribute("aria-valuetext"), waits.get_attribute("aria-valuetext"))
    # Steps beside each other: the collectives by keys.
    step = page.locator(".step-board")
    step.focus()
    press("ArrowRight")
    check(f"rank {slow} arrived last" in step.get_attribute("aria-valuetext"), step.get_attribute("aria-valuetext"))
    check(page.locator(".step-lines [aria-disabled=true]").count() == 4, "nothing to zoom out of yet")
    press("End")
    for key in ("+", "+", "+"):
        press(key)
        check(page.locator(".step-plot .is-current").count() > 0, "the chosen collective stays in sight")
    check(page.locator(".step-lines [aria-disabled=true]").count() < 4, "and now there is")
    for key in ("-", "0"):
        press(key)
    page.locator(".rank-choices input:checked").first.click()
    check("ranks.lines.ranks=" in address_of(page), f"chosen ranks are in the address: {address_of(page)}")
    # The bandwidths lead to the row of the table.
    page.locator(".scatter-board").focus()
    press("Enter")
    check("collectives.row=" in address_of(page), f"the row is in the address: {address_of(page)}")
    # A cell opens the rank's timeline there.
    page.locator(".cell-board").first.focus()
    words = page.locator(".cell-board").first.get_attribute("aria-valuetext")
    press("Enter")
    page.wait_for_selector(".timeline-board")
    check("view=timeline" in address_of(page) and "timeline.span=" in address_of(page), address_of(page))
    rank = words.split()[1].strip(",")
    check(f"rank {rank}:" in page.inner_text(".top select option:checked"), "of the rank of the cell")
    page.go_back()
    page.wait_for_selector(".ranks .card")
    check("trace=" not in address_of(page), f"back is where it was: {address_of(page)}")
    # The summary of a rank says what is said of the job, and leads back.
    page.click("nav.views a >> text=/^Summary/")
    page.wait_for_selector(".job-line:not([hidden])")
    check(f"rank {slow} holds up the job" in page.inner_text(".job-line").lower(), page.inner_text(".job-line"))
    page.click(".job-line button")
    page.wait_for_selector(".ranks .card")
    opened.close()


def check_step_picture(browser, file):
    """The picture of a step by wheel and drag; its zoom stays with other ranks, and one rank stays chosen."""
    opened = Opened(browser, file, DESK)
    page = opened.page
    page.wait_for_selector(".step-plot .step-rank")
    # The times on the axis say what is in sight.
    shown = lambda: page.locator(".step-plot > text:not(.step-rank)").evaluate_all(
        "(all) => all.map((one) => [one.textContent, Math.round(one.getAttribute('x'))]).filter(([text]) => /s$/.test(text))")
    whole = shown()
    page.locator(".step-board").scroll_into_view_if_needed()
    box = page.locator(".step-plot").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + 30)
    page.mouse.move(*middle)
    page.keyboard.down("Control")
    for _ in range(6):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_selector(".step-lines button:has-text('Whole step'):not([aria-disabled=true])")
    zoomed = shown()
    check(zoomed != whole, f"Ctrl and the wheel zoom: {zoomed}")
    page.mouse.down()
    page.mouse.move(middle[0] + 150, middle[1], steps=4)
    page.mouse.up()
    dragged = shown()
    check(dragged != zoomed, f"a drag pans: {dragged}")
    boxes = page.locator(".rank-choices input:checked")
    ranks = boxes.count()
    boxes.last.click()
    check(boxes.count() == ranks - 1 and shown() == dragged, f"a rank less leaves the zoom: {shown()}, {dragged}")
    while boxes.count() > 1:
        boxes.last.click()
    check(page.locator(".toast").is_hidden(), "nothing to say yet")
    boxes.last.click()
    page.wait_for_selector(".toast:not([hidden])")
    check("At least one rank" in page.inner_text(".toast") and boxes.count() == 1, page.inner_text(".toast"))
    opened.close()


def check_theme(browser, file):
    """Another theme changes the colours of the maps, and nothing else."""
    opened = Opened(browser, file, DESK)
    page = opened.page
    page.wait_for_selector(".cell-board")
    picture = lambda: page.locator(".cell-canvas").evaluate_all("(all) => all.map((one) => one.toDataURL())")
    before = picture()
    for selector in (".cell-board", ".ranks .choice", ".step-board", ".ranks .grid"):
        check_focus(page, file.name, selector, "t")
        page.keyboard.press("t")
    check(picture() == before, "the theme is that of before")
    page.keyboard.press("t")
    check(all(one != other for one, other in zip(picture(), before)), "the maps have the colours of the theme")
    opened.close()


def check_by_hand(browser, file):
    """The choices, the ranks, the menus and the cells, by a mouse and by a finger."""
    for touches in (False, True):
        opened = Opened(browser, file, DESK, has_touch=touches)
        page, where = opened.page, f"{file.name} by {'finger' if touches else 'mouse'}"
        hand = Hand(page, touches)
        page.wait_for_selector(".cell-board")
        check_help(hand, where)
        for choice in page.locator(".ranks .choice").all():
            hand.press(choice)
            check(choice.get_attribute("aria-pressed") == "true", f"{where}: {choice.inner_text()} is chosen")
        before = address_of(page)
        hand.press(page.locator(".rank-choices label").last)
        check(address_of(page) != before, f"{where}: a rank is chosen")
        check_menu(hand, where, "Columns")
        check_columns(hand, where)
        hand.press_middle(page.locator(".cell-board canvas").first)
        if touches:
            check("Rank" in page.locator(".cell-board").first.get_attribute("aria-valuetext"), f"{where}: a cell is read")
        else:
            page.wait_for_selector(".timeline-board")
        opened.close()


def check_timelines(browser, file, slow):
    """Several ranks in one timeline, in both themes."""
    for theme in ("light", "dark"):
        opened = Opened(browser, file, SMALL, theme, fragment="#view=timeline&trace=1")
        page = opened.page
        page.wait_for_selector(".timeline-board")
        if theme == "light":
            check_ranks(page, file.name, slow)
            check_tracks(page, file.name)
            check_notes(page, file.name)
        page.evaluate("location.hash = 'view=timeline&trace=1&timeline.ranks=0,2,3&timeline.panel=notes'")
        page.wait_for_timeout(300)
        page.locator(".tracks-menu > summary").click()
        page.wait_for_function("document.querySelectorAll('.track-choice').length > 8")
        page.evaluate(AXE)
        found = page.evaluate(VIOLATIONS)
        check(not found, f"{file.name}, ranks in the timeline, {theme}: axe: {found}")
        check(set(opened.asked) == {opened.asked[0]}, f"{file.name}: asked for {set(opened.asked)}")
        del opened.asked[1:]  # reloads
        opened.close()


def check_left_out(browser, file):
    """Ranks that do not fit are said."""
    opened = Opened(browser, file, DESK)
    page = opened.page
    page.wait_for_selector(".ranks .card")
    options = page.locator(".top select option").all_inner_texts()
    check(any("(left out)" in option for option in options), f"{options}")
    check(not all("(left out)" in option for option in options), f"{options}")
    place = next(at for at, option in enumerate(options) if "(left out)" in option)
    page.select_option(".top select", index=place)
    page.wait_for_selector(".nothing")
    check("--limit" in page.inner_text(".nothing"), page.inner_text(".nothing"))
    opened.close()


def check_hostile(browser, tbtrace, folder):
    """Names of hosts, groups and operations are texts, whatever they are."""
    made_jobs.make(folder, 41, kind="ddp", world_size=3, steps=3, clean=True)
    for number, path in enumerate(sorted((folder / "jobs").rglob("*.json"))):
        document = json.loads(path.read_text(encoding="utf-8"))
        document["host_name"] = NAMES[number]
        for event in document["traceEvents"]:
            for key in ("Process Group Name", "Process Group Description"):
                if key in event.get("args", {}):
                    event["args"][key] = NAMES[1]
        path.write_text(json.dumps(document), encoding="utf-8")
    file = page_of(tbtrace, folder / "jobs", folder / "hostile.html", "--views", "ranks")
    for size in (DESK, PHONE):
        opened = Opened(browser, file, size)
        page = opened.page
        page.wait_for_selector(".ranks .card")
        for details in page.query_selector_all(".ranks details:not(.menu) > summary"):
            details.click()
        check(not page.title().startswith("run"), "a name ran")
        check(page.query_selector("#main img, #main svg[onload], #app script") is None, "a name is markup")
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        check(wider <= 0, f"hostile names: {wider} px wider than the window")
        opened.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = pathlib.Path(temporary)
        slow = made_jobs.make(folder / "slow", 7, kind="ddp", world_size=4, steps=6, clean=False,
                              cause_names=("compute",))
        made_jobs.make(folder / "many", 9, kind="ddp", world_size=64, steps=5, clean=True)
        made_jobs.make(folder / "pipeline", 10, kind="pp_dp", world_size=8, steps=4)
        pages = {name: page_of(options.tbtrace, folder / name / "jobs", folder / f"{name}.html")
                 for name in ("slow", "many", "pipeline")}
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS)
        check_looks(browser, pages["slow"], [(DESK, "light"), (DESK, "dark"), (PHONE, "dark")], options.screenshots)
        check_looks(browser, pages["many"], [(DESK, "light"), (PHONE, "light")], options.screenshots)
        check_looks(browser, pages["pipeline"], [(DESK, "dark")], options.screenshots)
        check_use(browser, pages["slow"], slow)
        check_by_hand(browser, pages["slow"])
        check_step_picture(browser, pages["slow"])
        check_timelines(browser, pages["slow"], slow["causes"][0]["rank"])
        check_theme(browser, pages["slow"])
        check_left_out(browser, pages["many"])
        check_hostile(browser, options.tbtrace, folder / "hostile")
        browser.close()
    print("the view Ranks: 3 jobs, 6 looks")


if __name__ == "__main__":
    main()
