#!/usr/bin/env python3
"""Opens the TensorBoard tab in headless Chromium, as users do, with all but TensorBoard itself out of reach.

    python3 -m e2e.tensorboard.tab_page_test --tbtrace PATH --package FOLDER [--screenshots DIR]

FOLDER has the Python package with the tab, and its entry point. One TensorBoard has the tab alone and a thousand runs:
every view for logs of a training in Python and of one in C++ on a GPU, and of `tbtrace convert`; both themes with
axe-core; what the address keeps; two traces side by side; a file that is not a trace; a server that stops. Another one has
PyTorch's plugin, too, and an empty log directory, to which runs come. Prints a line for each failure and 'N passed, M
failed'.
"""
import argparse
import os
import pathlib
import sys
import tempfile

from playwright.sync_api import sync_playwright

from e2e.consumers import launch_chromium
from e2e.tensorboard.tab_page import (CPP, DESK, EXAMPLES, JOB, MARKUP, NARROW, PYTHON, Board, Tab, address, check, copy_trace,
                                      duckdb_beside, write_logs)


def check_views(tab, options):
    """Every view of each log; both themes; axe."""
    traces = {"python": (f"{PYTHON}/host_4711.1700000060000000000.pt.trace.json.gz", "dark"),
              "cpp": (f"{CPP}/node-1_99.1700000000000000000.pt.trace.json.gz", "light"), "converted": (None, "light")}
    for log, (trace, theme) in traces.items():
        tab.page.emulate_media(color_scheme=theme)
        if trace:
            tab.open(address(trace=trace))
            tab.reload()  # the browser's own theme is read then
        else:
            tab.pick("Run", "converted")
        tab.frame.wait_for_selector(f":root[data-theme={theme}]", state="attached")
        titles = tab.titles()
        check(len(titles) >= 12, f"{log}: views {titles}")
        for title in titles:
            wrong = tab.go(title)
            check(not wrong, f"{log}, {title}: {wrong}")
            wider = tab.frame.evaluate("document.documentElement.scrollWidth - innerWidth")
            check(wider <= 0, f"{log}, {title}: {wider} px wider than the frame")
            check(len(tab.frame.inner_text("#main .trace")) > 40, f"{log}, {title}: is empty")
            tab.shot(options.screenshots, f"{log}-{title}-{theme}".replace(" ", "_"))
            if trace:
                tab.check_accessible(f"{log}, {title}, {theme}")


def check_ranks(tab, options):
    """The ranks of a run are compared; one of them is looked at."""
    tab.pick("Run", "trainings job")
    check("Ranks" in tab.titles(), f"views of a run of four ranks: {tab.titles()}")
    wrong = tab.go("Ranks")
    check(not wrong, f"ranks: {wrong}")
    text = tab.frame.inner_text("#main")
    check("Rank 2 holds up the job" in text, f"the slow rank is named: {text[:300]}")
    tab.check_accessible("ranks")
    tab.shot(options.screenshots, "ranks")
    wrong = tab.go("Steps")
    check(not wrong, f"steps of a rank: {wrong}")
    tab.close("ranks")


def check_grey(tab):
    """Views without data are grey and say why, once it is known."""
    tab.pick("Run", "trainings python")
    tab.frame.wait_for_selector("nav.views a.absent")
    grey = tab.frame.eval_on_selector_all("nav.views a.absent", "(all) => all.map((one) => one.title)")
    check(all(len(why) > 10 for why in grey), f"each says why: {grey}")
    tab.close("grey views")


def check_job_in_timeline(tab):
    """Other ranks of a run stand in the timeline of one."""
    tab.pick("Run", "trainings job")
    wrong = tab.go("Timeline")
    check(not wrong, f"timeline of a rank: {wrong}")
    tab.frame.click(".tracks-menu > summary")
    tab.frame.locator(".rank-choice button", has_text="All ranks").click()
    tab.frame.wait_for_function("document.querySelectorAll('.rank-boxes input:checked').length === 4")
    tab.check_state(lambda state: state.get("timeline.ranks", "").count(",") == 2, "the ranks are in the address")
    groups = tab.frame.locator(".track-choice i").all_inner_texts()
    check(any(group.startswith("Rank") for group in groups), f"tracks of other ranks: {groups}")
    tab.page.keyboard.press("Escape")
    tab.close("ranks in a timeline")


def check_sql(tab, duckdb):
    """A query has an answer that is a table; a wrong one a sentence; without DuckDB the view says what is missing."""
    tab.pick("Run", "trainings python")
    wrong = tab.go("SQL")
    check(not wrong, f"SQL: {wrong}")
    missing = tab.frame.locator(".sql .notes").count() == 1
    check(missing == (duckdb is None), f"DuckDB is {'not ' if duckdb is None else ''}there: {tab.frame.inner_text('#main')[:300]}")
    if duckdb is None:
        return
    tab.frame.fill(".sql-query", "select name, kind, duration_ns from events order by duration_ns desc limit 7")
    tab.frame.locator(".sql button", has_text="Run").click()
    tab.frame.wait_for_selector(".sql .grid-body .row")
    check("7 rows" in tab.frame.inner_text(".sql .count"), tab.frame.inner_text(".sql .count"))
    tab.check_state(lambda state: "limit 7" in state.get("sql.query", ""), "the query is in the address")
    tab.check_accessible("an answer in SQL")
    tab.frame.focus(".sql-query")
    tab.frame.fill(".sql-query", "select * from read_text('/etc/hostname')")
    tab.page.keyboard.press("Control+Enter")
    failure = tab.frame.wait_for_selector(".sql .failure").inner_text()
    check("no files" in failure, f"no file is read: {failure}")
    tab.said = [line for line in tab.said if "400" not in line]  # the browser's own line about the answer
    tab.reload()
    check("read_text" in tab.frame.input_value(".sql-query"), "the query after a reload")
    check(tab.frame.locator(".sql .row, .sql .failure").count() == 0, "it is not asked again by itself")
    tab.close("SQL")


def check_choosers(tab):
    """By keys alone, among a thousand runs; names are texts."""
    tab.pick("Run", "run_777")
    check(not tab.wait(tab.titles()[-1]), "a run of a thousand is drawn")
    tab.check_state(lambda state: state.get("trace", "").startswith("sweep/run_777/"), "run_777 is chosen")
    tab.pick("Run", "trainings python")
    tab.check_state(lambda state: state.get("trace", "").startswith(f"{PYTHON}/host_47"), "both words are searched")
    tab.pick("Worker", "4711")
    tab.frame.click("[aria-label='Next window']")
    tab.check_state(lambda state: "4711.1700000060" in state["trace"], "the next window")
    check(tab.frame.get_attribute("[aria-label='Next window']", "aria-disabled") == "true", "no window follows")
    tab.frame.click("[aria-label='Previous window']")
    tab.check_state(lambda state: "4711.1700000000" in state["trace"], "the window before")
    tab.frame.locator(".picker-button", has_text="Run").click()
    tab.page.keyboard.type("img")
    check(MARKUP in tab.frame.inner_text(".picker-sheet:not([hidden])"), "a name is text")
    check(tab.frame.query_selector("#app img") is None, "a name is markup")
    tab.page.keyboard.press("Enter")
    wrong = tab.wait(tab.titles()[-1])
    check(not wrong, f"a run with such a name {wrong}")
    tab.pick("Run", "run_5")
    tab.frame.locator(".picker-button", has_text="Worker").focus()
    tab.page.keyboard.press("ArrowDown")
    check(not tab.wait(tab.titles()[-1]), "a view is drawn while somebody chooses")
    check(tab.frame.evaluate("document.activeElement.closest('.picker-sheet') !== null"), "the list keeps the focus")
    tab.page.keyboard.press("Escape")
    tab.frame.click("text=1 problem")
    check("outside" in tab.frame.inner_text("dialog[open]"), "problems of the log directory are shown")
    tab.page.keyboard.press("Escape")


def check_pointer(tab, where):
    """Every list and panel by real presses of a mouse or a finger, which move the focus before they click."""
    tab.pick_by_pointer("Run", "trainings cpp")
    tab.check_state(lambda state: state.get("trace", "").startswith(f"{CPP}/"), f"{where}: a run")
    tab.pick_by_pointer("Run", "trainings python")
    tab.pick_by_pointer("Worker", "4712")
    tab.check_state(lambda state: state["trace"].startswith(f"{PYTHON}/host_4712"), f"{where}: a worker")
    tab.pick_by_pointer("Worker", "4711")
    windows = tab.state()["trace"]
    tab.press(tab.frame.locator(".picker-button", has_text="Window"))
    tab.press(".picker-sheet:not([hidden]) [role=option][aria-selected=false]")
    tab.check_state(lambda state: state["trace"] != windows and "host_4711" in state["trace"], f"{where}: a window")
    tab.press(tab.frame.locator(".picker-button", has_text="Run"))
    tab.press("nav.views a")
    check(tab.frame.locator(".picker-sheet:not([hidden])").count() == 0, f"{where}: a press elsewhere closes the list")
    check(not tab.go("Operators"), f"{where}: a table")
    tab.press(tab.frame.locator("#main .menu > summary", has_text="Columns"))
    tab.press_around()
    tab.frame.wait_for_selector("#main .menu:not([open])")
    tab.press(tab.frame.locator("button", has_text="Compare"))
    check(not tab.wait("Operators", 2), f"{where}: two traces")
    tab.pick_by_pointer("Run", "trainings cpp", nth=1)
    tab.check_state(lambda state: state.get("beside", "").startswith(f"{CPP}/"), f"{where}: a run of the second trace")
    tab.press("[aria-label='Close trace B']")
    tab.check_state(lambda state: "beside" not in state, f"{where}: the second trace closes")
    tab.press(tab.frame.locator("text=1 problem"))
    tab.press(tab.frame.locator("dialog[open] button", has_text="Close"))
    check(tab.frame.locator("dialog[open]").count() == 0, f"{where}: the problems close")
    tab.close(where)


def check_no_trace(tab):
    """An address without a trace means the newest one, also when it is typed over another."""
    check(not tab.wait("Summary"), "the newest trace")
    newest = tab.state()["trace"]
    tab.page.evaluate("location.hash = '#tbtrace'")
    tab.check_state(lambda state: state.get("trace") == newest, "#tbtrace means the newest trace")
    check(not tab.wait("Summary"), "#tbtrace draws the newest trace")
    check(tab.frame.locator(".nothing").count() == 0, "#tbtrace is not a trace that is gone")
    tab.page.evaluate("location.hash = '#tbtrace&p.tbtrace.trace=gone%2Fa.pt.trace.json'")
    tab.frame.locator("button", has_text="Show the newest trace").click()
    tab.check_state(lambda state: state.get("trace") == newest, "from a trace that is gone to the newest one")
    tab.close("an address without a trace")


def check_address(tab, browser, board):
    """The state outlives a reload and other tabs; the back button; links."""
    tab.open(address(trace=f"{PYTHON}/host_4711.1700000000000000000.pt.trace.json.gz"))
    tab.reload()
    tab.go("Operators")
    tab.frame.locator(".head .sort", has_text="Count").click()
    tab.check_state(lambda state: state.get("operators.sort", "").endswith("count"), "the order is in the address")
    before = tab.state()
    tab.reload()
    check(not tab.wait("Operators"), "the view after a reload")
    tab.check_state(lambda state: state == before, "after a reload")
    check(tab.frame.locator(".head.sorted", has_text="Count").count() == 1, "the table is in the order of the address")
    tab.tab("scalars")
    tab.page.wait_for_url("**#scalars*")
    tab.tab(r"profile \(tbtrace")
    tab.page.wait_for_url("**#tbtrace*")
    tab.check_state(lambda state: state == before, "after another tab")
    tab.page.go_back()
    tab.page.wait_for_url("**#scalars*")
    tab.page.go_back()
    tab.page.wait_for_url("**#tbtrace*")
    tab.check_state(lambda state: state == before, "after going back from another tab")
    tab.page.go_back()
    check(not tab.wait("Summary"), "the back button goes to the view before")
    tab.page.go_forward()
    check(not tab.wait("Operators"), "and forward")
    href = tab.frame.get_attribute("nav.views a >> text=/^Memory/", "href")
    other = Tab(browser, board, href[len(board.url) + 1:])
    check(not other.wait("Memory"), f"{href} leads to the view")
    other.check_state(lambda state: state["trace"] == before["trace"], f"{href} leads to the trace")
    other.close("a link's page")
    tab.frame.evaluate("navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false")
    tab.frame.click("text=Copy link")
    field = tab.frame.wait_for_selector("dialog[open] input")
    check(field.input_value() == tab.page.url, "the link is in a field where there is no clipboard")
    check(field.evaluate("(field) => field.selectionEnd - field.selectionStart") == len(tab.page.url), "it is selected")
    tab.page.keyboard.press("Escape")


def check_beside(tab, options):
    """Two traces; each has its own order."""
    tab.frame.click("text=Compare")
    check(not tab.wait("Operators", 2), "two traces")
    tab.check_state(lambda state: state.get("b.operators.sort") == state["operators.sort"], "in the same order at first")
    traces = tab.frame.locator(".trace")
    traces.nth(1).locator(".head .sort", has_text="Name").click()
    tab.check_state(lambda state: "b.operators.sort" in state and state["b.operators.sort"] != state["operators.sort"]
                    and state["beside"], "each has its order")
    state = tab.state()
    check("Compare" in tab.titles(), f"two traces can be compared: {tab.titles()}")
    for title in (title for title in tab.titles() if title != "Compare"):
        wrong = tab.go(title, 2)
        check(not wrong, f"beside, {title}: {wrong}")
        tab.shot(options.screenshots, f"beside-{title}".replace(" ", "_"))
    check_comparison(tab, options)
    tab.go("Operators", 2)
    tab.check_accessible("two traces")
    tab.reload()
    check(not tab.wait("Operators", 2), "two traces after a reload")
    tab.check_state(lambda now: now == state, "the state of two traces after a reload")
    tab.page.set_viewport_size(NARROW)
    boxes = [tab.frame.locator(".trace").nth(place).bounding_box() for place in (0, 1)]
    check(boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1, "one below the other where it is narrow")
    check(tab.frame.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, "two traces fit a narrow frame")
    tab.shot(options.screenshots, "beside-narrow")
    tab.page.set_viewport_size(DESK)
    tab.frame.click("text=What changed?")
    check(not tab.wait("Compare"), "the comparison again")
    tab.frame.click("[aria-label='Close trace B']")
    check(not tab.wait("Operators"), "one trace is left, in the view that it was in")
    tab.check_state(lambda state: not any(key.startswith("b") for key in state), "closed")


def check_comparison(tab, options):
    """What changed from the first trace to the second one, and both still can be chosen."""
    tab.frame.click("text=What changed?")
    check(not tab.wait("Compare"), "the comparison of two traces")
    check(tab.frame.locator(".both-bars .picker").count() >= 2, "both traces can be chosen")
    check(tab.frame.locator(".comparison .card .figure").inner_text().startswith("Step:"), "the step of both")
    state = tab.state()
    worker, other = (state[key].rsplit("/", 1)[-1].split(".")[0:2] for key in ("trace", "beside"))
    check(worker[0] != other[0] or worker[1] < other[1], f"the earlier window of a worker is the first side: {state}")
    runs = tab.frame.locator(".comparison .runs dd").all_inner_texts()
    check(runs == [tab.state()["trace"], tab.state()["beside"]], f"the names of both: {runs}")
    tab.frame.locator(".grid-body .row").first.click()
    tab.frame.wait_for_selector(".row-sides")
    tab.check_state(lambda state: state.get("compare.row") == "0", "the row is in the address")
    tab.check_accessible("a comparison")
    tab.shot(options.screenshots, "compare")
    tab.reload()
    check(not tab.wait("Compare") and tab.frame.wait_for_selector(".row-sides"), "the comparison after a reload")
    tab.frame.click(".row-sides [aria-label=Close]")
    tab.check_state(lambda state: "compare.row" not in state, "the row is closed")


def check_long_search(tab):
    """A log directory that is not looked through yet."""
    waiting = ["none", "some"]

    def answer(route):
        found = route.fetch().json()
        if waiting:
            found["is_complete"] = False
            if waiting.pop(0) == "none":
                found["runs"] = []
        route.fulfill(json=found)

    tab.page.route("**/plugin/tbtrace/runs", answer)
    tab.page.goto("about:blank")
    tab.page.goto(f"{tab.url}/#tbtrace")
    tab.page.wait_for_selector("iframe[src*='name=tbtrace']", state="attached")
    tab.frame = tab.page.query_selector("iframe[src*='name=tbtrace']").content_frame()
    tab.frame.wait_for_selector("#main >> text=Looking through the log directory")
    check(not tab.wait("Summary") and not waiting, "the search ends, and the newest trace is drawn")
    tab.page.unroute("**/plugin/tbtrace/runs")


def check_failures(tab, board):
    """Sentences instead of a trace: a file that is none, a file that is gone, a server that is gone."""
    tab.pick("Run", "damaged")
    failure = tab.frame.wait_for_selector("#main .failure")
    check("is not a trace" in failure.inner_text(), f"a file that is not a trace: {failure.inner_text()}")
    tab.said = [line for line in tab.said if "422" not in line]  # the browser's own line about the answer
    check(not tab.said, f"before the server stops: {tab.said[:3]}")
    tab.open(address(trace="gone/host_1.1.pt.trace.json"))
    tab.reload()
    text = tab.frame.inner_text("#main")
    check("does not have gone/host_1.1.pt.trace.json any more" in text, f"a file that is gone: {text}")
    tab.pick("Run", "trainings cpp")
    check(not tab.wait("Summary"), "another trace after that")
    board.process.terminate()
    board.process.wait(20)
    tab.frame.click("nav.views a >> text=/^Flame graph/")
    failure = tab.frame.wait_for_selector("#main .failure")
    check("TensorBoard does not answer" in failure.inner_text(), f"a server that stopped: {failure.inner_text()}")
    tab.frame.click("text=Try again")
    tab.frame.wait_for_selector("#main .failure")
    tab.said.clear()


def check_first_traces(tab, board, options):
    """An empty log directory; the first run appears, the second one with the reload button."""
    text = tab.frame.inner_text("#app")
    for way in ("tensorboard_trace_handler", "tbtrace::Profiler", "tbtrace convert", str(board.logdir)):
        check(way in text, f"the empty page speaks of {way}")
    tab.check_accessible("the empty page")
    tab.shot(options.screenshots, "empty")
    copy_trace(EXAMPLES / "perceptron_stacks.json.gz", board.logdir / "first" / "host_1.1700000000000.pt.trace.json.gz")
    check(not tab.wait("Summary"), "the first trace appears by itself")
    tab.go("Operators")
    copy_trace(EXAMPLES / "encoder_memory.json.gz", board.logdir / "second" / "host_1.1700000000000.pt.trace.json.gz")
    tab.page.click(".reload-button")
    toast = tab.frame.wait_for_selector(".toast:not([hidden])")
    check("second" in toast.inner_text(), f"the reload button: {toast.inner_text()}")
    tab.check_state(lambda state: state == {"trace": "first/host_1.1700000000000.pt.trace.json.gz", "view": "operators"},
                    "the view stays")
    copy_trace(EXAMPLES / "encoder_memory.json.gz", board.logdir / "first" / "host_1.1700000000000.pt.trace.json.gz")
    rows = tab.frame.inner_text("#main .count")
    tab.page.click(".reload-button")
    tab.frame.wait_for_function("(rows) => document.querySelector('#main .count')?.textContent !== rows", arg=rows)
    check("pytorch_profiler" in board.fetch("plugins_listing")[1].decode(), "both plugins are there")
    for theme in ("dark", "light"):
        tab.page.click("[aria-label='Menu for changing light or dark theme']")
        tab.page.click(f"[title='Force {theme} TensorBoard theme.']")
        tab.frame.wait_for_selector(f":root[data-theme={theme}]", state="attached")
    tab.close("the tab beside PyTorch's plugin")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_logs(folder / "logs", options.tbtrace)
        (folder / "empty").mkdir()
        duckdb = duckdb_beside(folder / "duckdb")
        with Board(folder / "logs", options.package, folder / "log", False, duckdb) as board, \
                Board(folder / "empty", options.package, folder / "log_torch", True) as other, sync_playwright() as playwright:
            for each in (board, other):
                check(each.wait_until_up(60), f"TensorBoard is up: {each.log.read_text(errors='replace')[-600:]}")
            browser = launch_chromium(playwright, os.environ.get("CHROMIUM", "/usr/bin/chromium"))
            check_first_traces(Tab(browser, other), other, options)
            tab = Tab(browser, board)
            check_views(tab, options)
            check_ranks(Tab(browser, board), options)
            check_grey(Tab(browser, board))
            check_job_in_timeline(Tab(browser, board))
            check_sql(Tab(browser, board), duckdb)
            check_choosers(tab)
            check_pointer(Tab(browser, board), "mouse")
            check_pointer(Tab(browser, board, has_touch=True), "touch")
            check_no_trace(Tab(browser, board))
            check_address(tab, browser, board)
            check_beside(tab, options)
            check_long_search(tab)
            check_failures(tab, board)
            tab.close("the tab")
            browser.close()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
