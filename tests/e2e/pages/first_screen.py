"""The summary's first screen: its figures are the command line's, all is in sight, and names lead to their rows."""
import json
import re
import subprocess

from e2e.flame_graphs.page import check

UNITS = {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "FLOP/s": 1, "kFLOP/s": 1e3, "MFLOP/s": 1e6, "GFLOP/s": 1e9, "TFLOP/s": 1e12}
SMALL = {"width": 1280, "height": 720}


def asked(tbtrace, verb, trace, *options):
    done = subprocess.run([tbtrace, verb, trace, *options, "-q"], check=True, capture_output=True)
    return json.loads(done.stdout)


def number_of(text):
    """`1.92 s` in ns, `40.1 %` as a share."""
    found = re.match(r"([\u2212\d.\u202f]+)\u00a0(\S+)", text)
    return float(found[1].replace("\u202f", "").replace("\u2212", "-")) * UNITS[found[2]]


def check_number(where, shown, expected):
    near = abs(number_of(shown) - expected) <= max(abs(expected) * 0.006, 0.0006 if "%" in shown else 0)
    check(near, f"{where}: the page has {shown}, the command line {expected}")


def check_figures(page, tbtrace, trace):
    """Each tile's figure; returns how many were compared."""
    summary = asked(tbtrace, "summary", trace, "--format", "json")
    model = {row["figure"]: row["value"] for row in asked(tbtrace, "model", trace, "--format", "json")["rows"]}
    page.wait_for_function("() => document.querySelector('.figures').innerText.includes('FLOP/s')")
    tiles = dict(page.eval_on_selector_all(".figure-tile:not([hidden])", """(tiles) => tiles.map((tile) => [
      tile.querySelector(".figure-label").innerText,
      [...tile.querySelectorAll("b, .figure-detail")].map((one) => one.innerText)])"""))
    where, (steps,), (gpu,) = str(trace), summary["steps"], summary["gpu"]
    check_number(where, tiles["Mean step"][0], steps["duration_ns"])
    least, most = tiles["Mean step"][1].split(" in ")[0].split(" to ")
    check_number(where, least, model["latency_min_ns"])
    check_number(where, most, model["latency_max_ns"])
    check_number(where, tiles["GPU busy"][0], gpu["busy_ns"] / gpu["window_ns"])
    check_number(where, tiles["MFU"][0], model["mfu"])
    check_number(where, tiles["MFU"][1], model["achieved_flops_per_s"])
    peak = max(row["peak_bytes"] for row in summary["memory"] if row["device"] is not None)
    check_number(where, tiles["Peak memory"][0], peak)
    (device,) = summary["run"][0]["devices"]
    check_number(where, tiles["Peak memory"][1].removeprefix("of "), device["memory_bytes"])
    check(tiles["Device"][0] == device["name"], f"{where}: {tiles['Device']}")
    shares = page.eval_on_selector_all(".finding", """(all) => all.map((one) =>
      [one.querySelector("h3").innerText, one.querySelector(".figure").innerText])""")
    found = {row["title"]: row["share"] for row in summary["findings"]}
    check(len(shares) == len(found) > 1, f"{where}: {len(shares)} findings of {len(found)}")
    for title, share in shares:
        check_number(f"{where}, {title}", share, found[title])


def check_phases(page, tbtrace, trace):
    """Prefill and decode of an inference engine have the command line's figures."""
    rows = page.eval_on_selector_all("table[aria-label='Steps of an inference engine by kind'] tbody tr",
                                     "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")
    phases = asked(tbtrace, "serving", trace, "--group-by", "kind", "--format", "json")["rows"]
    check([row[0] for row in rows] == [phase["kind"] for phase in phases] != [], f"{trace}: kinds {rows}")
    for row, phase in zip(rows, phases):
        where = f"{trace}, {phase['kind']}"
        check(int(row[1]) == phase["steps"], f"{where}: steps {row[1]}")
        check_number(where, row[2], phase["duration_median_ns"])
        check_number(where, row[3], phase["duration_p99_ns"])
        tokens = "".join(char for char in row[4] if char.isdigit())
        check(int(tokens) == round(phase["tokens_per_s"]), f"{where}: tokens {row[4]}")
        check_number(where, row[5], phase["gpu_utilization"])


def check_in_sight(page, where):
    """What answers is on the screen before anybody scrolls."""
    lowest = page.evaluate("""() => Math.max(...[".figures", ".missing-line", ".bar-track", ".finding:last-of-type",
      "table[aria-label^='Kernels'] tbody tr"].map((one) =>
        document.querySelector(one)?.getBoundingClientRect().bottom ?? 0))""")
    check(lowest <= SMALL["height"], f"{where}: ends at {lowest} px")


def check_findings_open(hand, where):
    """A press opens a finding with its evidence and remedy, the address has it, another press closes it."""
    page, line = hand.page, hand.page.locator("#main .finding").first
    check(not line.locator(".evidence").is_visible(), f"{where}: a finding is a line")
    hand.press(line.locator("summary"))
    check(line.locator(".evidence").is_visible() and "What to do" in line.inner_text(), f"{where}: a finding opens")
    page.wait_for_function("() => location.hash.includes('summary.finding=')")
    hand.press(line.locator("summary"))
    page.wait_for_function("() => !location.hash.includes('summary.finding=')")
    check(not line.locator(".evidence").is_visible(), f"{where}: a finding closes")


def check_names(hand, where):
    """From a kernel to its operator and back to the summary; from a tile to its view."""
    page = hand.page

    def title(text):
        page.wait_for_function("(text) => document.querySelector('#main h1')?.innerText === text", arg=text)

    kernels = page.locator("#main table[aria-label^='Kernels'] tbody tr").first
    name = kernels.locator("button").first.get_attribute("title").split("\n")[0]
    operator = kernels.locator("small button").first.inner_text()
    hand.press(kernels.locator("button").first)
    title("Kernels")
    page.wait_for_selector("#main .detail")
    check(name in page.inner_text("#main .detail"), f"{where}: the row of {name} is open")
    hand.press(page.locator("#main .detail dd button", has_text=operator))
    title("Operators")
    page.wait_for_selector("#main .detail")
    check(operator in page.inner_text("#main .detail dd"), f"{where}: the row of {operator} is open")
    page.go_back()
    title("Kernels")
    page.wait_for_selector("#main .detail")
    page.go_back()
    title("Summary")
    hand.press(page.locator("#main .figure-tile", has_text="GPU busy"))
    title("GPU")
    page.go_back()
    title("Summary")


def check_views_without_data(page, where):
    """They are in the list, in grey, with the reason at the pointer; those with data have none."""
    links = dict(page.eval_on_selector_all("nav.views a", """(links) => links.map((link) =>
      [link.getAttribute("href"), [link.classList.contains("absent"), link.title]])"""))
    check(links["#view=kernels"][0] and "kernel" in links["#view=kernels"][1], f"{where}: {links['#view=kernels']}")
    check(links["#view=operators"] == [False, ""], f"{where}: {links['#view=operators']}")


def check_kernel_switch(hand, where):
    """Kernels are rows of the operators only if people ask for them."""
    page, switch = hand.page, hand.page.locator("#main label.switch")
    hand.press(page.locator("nav.views a", has_text="Operators"))
    switch.first.wait_for()
    counts = []
    for _ in range(3):
        counts.append(page.inner_text("#main .count"))
        hand.press(switch)
    is_part = [" of " in count for count in counts]
    check(counts[0] == counts[2] and is_part == [True, False, True], f"{where}: {counts}")
    hand.press(switch)
    page.go_back()


def check_all_names(page, where):
    """Each name on the summary opens its row, by a click; returns how many there were."""
    selector = "#main .summary .name-link"
    count = page.locator(selector).count()
    for number in range(count):
        link = page.locator(selector).nth(number)
        name = link.get_attribute("title").split("\n")[0]
        link.click()
        page.wait_for_selector("#main .detail", timeout=20_000)
        check(name in page.inner_text("#main .detail"), f"{where}: {name} is not the row that is open")
        page.go_back()
        page.wait_for_function("() => document.querySelector('#main h1')?.innerText === 'Summary'")
        page.wait_for_function("([all, least]) => document.querySelectorAll(all).length >= least",
                               arg=[selector, count])
    return count
