"""The box above a table: conditions and groups, by keys and by its menu."""
import re

from e2e.flame_graphs.page import check


def address(page):
    return page.evaluate("decodeURIComponent(location.hash).replaceAll('+', ' ')")


def count(page):
    page.wait_for_timeout(120)
    return page.locator("#main .tools .count").first.inner_text()


def check_filter(page, where):
    """On the view of kernels: what is asked for is in the address, groups have their own table, Esc and Clear bring all rows back."""
    page.wait_for_selector("#main .grid-body .row")
    whole = count(page)
    box = page.locator("#main .tools input[type=search]").first
    box.focus()
    page.keyboard.type("total>1us count>=1")
    filtered = count(page)
    check(re.match(r"\d+ of \d+ rows", filtered), f"{where}: {filtered}")
    box.fill("total>5")
    check("unit" in count(page), f"{where}: without a unit: {count(page)}")
    box.fill("")
    page.locator("#main .menu > summary:text-is('Filter')").first.click()
    page.locator(".query-examples button").last.click()
    page.keyboard.press("Escape")
    page.wait_for_selector("#main .groups .grid-body .row")
    check("| by" in address(page), f"{where}: {address(page)}")
    heads = page.locator("#main .groups .grid-header .head").all_inner_texts()
    check(any("rows" in head.lower() for head in heads) and any("p90" in head.lower() for head in heads), f"{where}: {heads}")
    check(page.locator("#main .with-detail >> visible=true").count() == 1, f"{where}: only the groups are shown")
    kept = page.locator("#main .groups .grid-body").inner_text()
    page.reload()
    page.wait_for_selector("#main .groups .grid-body .row")
    check(page.locator("#main .groups .grid-body").inner_text() == kept, f"{where}: the address has the groups")
    page.locator("#main .menu > summary:text-is('Filter')").first.click()
    page.get_by_label("Figure").first.select_option("max")
    page.locator(".query-group button", has_text="Group").first.focus()
    page.keyboard.press("Enter")
    check("max(" in address(page), f"{where}: grouped by the menu: {address(page)}")
    page.locator(".query-group button", has_text="Clear").first.click()
    page.keyboard.press("Escape")
    check(count(page) == whole and page.locator("#main .groups .row").count() == 0, f"{where}: all rows again: {count(page)}, {whole}")
