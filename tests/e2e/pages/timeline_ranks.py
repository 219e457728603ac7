"""Several ranks in one timeline, its menu of tracks, and notes on spans, by mouse and keys."""
from e2e.flame_graphs.page import check
from e2e.pages.timeline_hand import address


def tracks(page):
    """By group, the names of the tracks that are in sight, from top to bottom."""
    page.wait_for_timeout(150)
    all_labels = page.locator(".timeline-label").evaluate_all(
        "(all) => all.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((one) => "
        "[one.querySelector('.timeline-heading')?.innerText ?? '', one.querySelector('b').innerText])")
    groups = {}
    for heading, name in all_labels:
        if heading:
            groups[heading] = []
        groups[list(groups)[-1]].append(name)
    return groups


def open_menu(page):
    page.locator(".tracks-menu > summary").click()
    page.wait_for_selector(".track-choice")


def check_ranks(page, where, slow):
    """All ranks stand below the own one on its clock; the parts of a collective are named, and lead to each other."""
    page.wait_for_selector(".timeline-board")
    check("RANK" not in "".join(tracks(page)), f"{where}: one rank at first")
    open_menu(page)
    page.wait_for_selector(".rank-boxes input")
    page.locator(".rank-choice button", has_text="All ranks").click()
    page.locator(".track-choice").nth(8).wait_for()
    check(page.locator(".rank-boxes input:checked").count() == 4, f"{where}: four ranks are chosen")
    clocks = page.inner_text(".rank-choice p")
    check("The clocks of the others are known to" in clocks, f"{where}: {clocks}")
    page.keyboard.press("Escape")
    shown = tracks(page)
    others = [group for group in shown if group.startswith("RANK") and ":" not in group]
    check(len(others) >= 1 and all(shown[group][0] == "steps" for group in others), f"{where}: {shown}")
    check(list(shown)[0].startswith("RANK") and ":" in list(shown)[0], f"{where}: the own device is first: {shown}")
    # A collective by keys: the search goes from one to the next.
    page.fill(".flame-search", "ncclDev")
    page.keyboard.press("Enter")
    page.wait_for_selector(".collective-parts")
    matches = page.inner_text(".flame-matched")
    check("on 4 ranks" in matches, f"{where}: whose matches: {matches}")
    text = page.inner_text(".collective-parts")
    check("One collective of 4 ranks" in text and f"rank {slow} arrived last" in text, f"{where}: {text}")
    first = page.inner_text(".collective-parts a, .collective-parts button")
    before = address(page)["range"]
    page.locator(".collective-parts button", has_text=f"rank {slow}").click()
    check(address(page)["range"] != before, f"{where}: from {first} to the part of rank {slow}")
    check(page.inner_text(".collective-parts") == text, f"{where}: it is the same collective")
    # The address brings all of it back.
    page.reload()
    page.wait_for_selector(".collective-parts")
    check(page.inner_text(".collective-parts") == text, f"{where}: after a reload: {page.inner_text('.collective-parts')}")
    # The launch of another rank's kernel is on its host, which is in its own timeline.
    if page.locator(".timeline-detail p", has_text="Of rank").count():
        page.locator(".timeline-panel dd button", has_text="cudaLaunch").last.click()
        page.wait_for_function("!location.hash.includes('timeline.ranks')")
        page.wait_for_selector(".timeline-panel h2:has-text('cudaLaunch')")
        page.go_back()
        page.wait_for_selector(".collective-parts")
    open_menu(page)
    page.wait_for_selector(".rank-boxes input")
    page.locator(".rank-choice button", has_text="This rank alone").click()
    page.wait_for_function("!location.hash.includes('timeline.ranks')")
    page.keyboard.press("Escape")
    check("RANK" not in "".join(tracks(page)), f"{where}: alone again")


def check_tracks(page, where):
    """Tracks are pinned, moved and hidden by mouse and keys; the address remembers it."""
    first = tracks(page)
    names = [name for group in first.values() for name in group]
    open_menu(page)
    last = page.locator(".track-choice").last
    name = last.locator("b").inner_text().split(",")[0]
    last.get_by_role("button", name="Pin").click()
    check(list(tracks(page).items())[0] == ("PINNED", [name]), f"{where}: {name} is pinned: {tracks(page)}")
    pressed = "document.activeElement.getAttribute('aria-pressed') === 'true'"
    check(page.evaluate(pressed), f"{where}: the focus stays at its button")
    page.keyboard.press("Enter")
    check("PINNED" not in tracks(page), f"{where}: not any more")
    page.locator(".track-choice").nth(1).get_by_role("button", name="Move up").focus()
    page.keyboard.press("Enter")
    now = [name for group in tracks(page).values() for name in group]
    check(now[:2] == [names[1], names[0]], f"{where}: {names[:2]} are swapped: {now[:2]}")
    page.locator(".track-choice input").first.focus()
    page.keyboard.press("Space")
    check(names[1] not in [name for group in tracks(page).values() for name in group][:1], f"{where}: {names[1]} is hidden")
    kept = tracks(page)
    page.reload()
    page.wait_for_selector(".timeline-label")
    page.wait_for_timeout(300)
    check(tracks(page) == kept, f"{where}: remembered: {kept}, {tracks(page)}")
    open_menu(page)
    page.locator(".track-list > button", has_text="As at first").click()
    page.keyboard.press("Escape")
    check(tracks(page) == first, f"{where}: as at first: {tracks(page)}")
    page.locator(".timeline-label").first.hover()
    page.locator(".timeline-label .track-hide").first.click()
    check("hidden" in address(page), f"{where}: hidden at its name")
    # The same track of another rank is another one.
    if page.locator(".top select").count():
        one = page.locator(".top select").input_value()
        page.select_option(".top select", index=0 if one != "0" else 1)
        page.wait_for_selector(".timeline-label")
        count = [sum(map(len, groups.values())) for groups in (tracks(page), first)]
        check(count[0] == count[1], f"{where}: another rank has all of its tracks: {count}")
        page.go_back()
        page.wait_for_url(f"**trace={one}*")
        page.wait_for_selector(".timeline-label")
        check(tracks(page) != first, f"{where}: and the first one does not: {tracks(page)}")
    open_menu(page)
    page.locator(".track-list > button", has_text="As at first").click()
    page.keyboard.press("Escape")


def check_notes(page, where):
    """A note on a span is in the address, in the list and in what another person sees; its text is only a text."""
    box = page.locator(".timeline-canvas").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 100, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 20, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    text = "<img src=x onerror=alert(1)> & why?"
    page.fill(".note-field", text)
    page.keyboard.press("Enter")
    check(page.locator(".dock-bar [role=tab]", has_text="Notes (1)").count() == 1, f"{where}: one note")
    span = address(page)["span"]
    page.keyboard.press("Escape")
    page.reload()
    page.locator(".dock-bar [role=tab]", has_text="Notes (1)").click()
    check(page.inner_text(".note-list button") == text, f"{where}: {page.inner_text('.note-list')}")
    page.locator(".note-list button").click()
    check(address(page).get("span") == span, f"{where}: the note leads to its span")
    page.locator(".dock-bar [role=tab]", has_text="Details").click()
    page.locator(".timeline-detail button", has_text="Remove note").click()
    check("notes" not in "".join(address(page)), f"{where}: and is removed")
    page.locator(".timeline-board").focus()
    page.keyboard.press("Escape")
    page.locator(".dock-bar [role=tab][aria-selected=true]").click()
