#!/usr/bin/env python3
"""How fast the page's timeline is with 1 and with 5 million ranges, in headless Chromium without a GPU.

usage: .venv/bin/python benchmarks/timeline_speed.py

The documents are made here, by an encoder of its own: steps of a training loop with a deep main thread, a thread of
backward calls, two streams, and launches. The page's modules are opened as they are in web/. Measured: from the bytes of
the page to the first picture; the script of each frame while the view is panned and zoomed; a search; the memory of the
renderer beyond that of an empty page. Times are the best of three rounds, because other programs disturb them. Fails
above a limit.
"""
import argparse
import base64
import gzip
import json
import pathlib
import random
import statistics
import sys

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS  # noqa: E402

WEB = pathlib.Path(__file__).parents[1] / "web"
DESK = {"width": 1400, "height": 900}
# By ranges, in ms and MB.
LIMITS = {
    1_000_000: {"load": 1200, "memory": 300, "mean": 8, "p95": 16, "search": 30},
    5_000_000: {"load": 3000, "memory": 600, "mean": 16, "p95": 33, "search": 150},
}
STEP = 20_000  # ranges of a step; a document repeats them
STEP_NS = 200_000_000


def nested(count, deepest, kinds, rng):
    """Ranges of a thread in a step, by start, spread over all of it: (start, duration, name, row)."""
    ranges = []

    def fill(start, end, row, budget):
        children = budget if row == deepest else min(budget, rng.choice((1, 1, 2, 4, 12)))
        each = (end - start) // max(1, children)
        for child in range(children):
            at = start + child * each
            long = max(1, each * rng.randrange(60, 98) // 100)
            ranges.append((at, long, rng.randrange(*kinds), row))
            inner = (budget - children) // children + (child < (budget - children) % children)
            if inner:
                fill(at + 1, at + long - 1, row + 1, inner)

    fill(0, STEP_NS - 5_000_000, 0, count)
    assert len(ranges) == count
    return sorted(ranges, key=lambda range: (range[0], -range[1]))


def flat(count, kinds, rng):
    ranges, at = [], 100
    each = (STEP_NS - 5_000_000) // count
    for _ in range(count):
        long = rng.randrange(each // 10, each)
        ranges.append((at, long, rng.randrange(*kinds), 0))
        at += each
    return ranges


def planes(values):
    most = max(values, default=0)
    count = (most.bit_length() + 7) // 8
    return [bytes(value >> (8 * plane) & 255 for value in values) for plane in range(count)]


def column(name, parts, repeats, *, delta="none", signed=False):
    """parts: one list of values per track for a step; each is repeated for each step."""
    encoded = [planes(part) for part in parts]
    width = max(map(len, encoded), default=0)
    body = b""
    for plane in range(width):
        for part, own in zip(parts, encoded):
            body += (own[plane] if plane < len(own) else bytes(len(part))) * repeats
    count = sum(map(len, parts)) * repeats
    return {"name": name, "count": count, "planes": width, "delta": delta, "signed": signed}, body


def made_document(ranges):
    rng = random.Random(7)
    repeats = ranges // STEP
    names = ([f"aten::operator_{i}" for i in range(900)] + [f"model.py({i}): forward_{i}" for i in range(900)] +
             [f"void at::native::kernel_{i}<float, {i}>(int, float*)" for i in range(500)])
    tracks = [nested(STEP * 55 // 100, 30, (0, 1800), rng), nested(STEP * 25 // 100, 9, (0, 900), rng),
              flat(STEP * 16 // 100, (1800, 2300), rng), flat(STEP * 4 // 100, (1800, 2300), rng)]
    deltas = []
    for track in tracks:
        starts = [start for start, *_ in track]
        # From one step to the next, and from 0 to the first: the same difference.
        first = STEP_NS - starts[-1] + starts[0]
        deltas.append([first] + [b - a for a, b in zip(starts, starts[1:])])
    counts = [len(track) * repeats for track in tracks]
    launches = len(tracks[2])
    stride = max(1, len(tracks[0]) // launches)
    flows_from = [[stride] * launches]
    flows_to = [[2] * launches]
    columns = [
        column("start", deltas, repeats, delta="track"),
        column("duration", [[long for _, long, *_ in track] for track in tracks], repeats),
        column("name", [[name for _, _, name, _ in track] for track in tracks], repeats),
        column("row", [[row for *_, row in track] for track in tracks], repeats),
        column("launch.from", flows_from, repeats, delta="previous"),
        column("launch.to", flows_to, repeats, delta="previous", signed=True),
    ]
    header = {
        "schema": "tbtrace.timeline/1", "view": "timeline", "title": "Timeline", "about": "", "unit_ns": 1,
        "origin_ns": 0, "from_ns": 0, "to_ns": (repeats + 1) * STEP_NS, "window_ns": (repeats + 1) * STEP_NS,
        "part": None, "ranges": sum(counts), "left_out": 0, "left_out_ns": 0, "arguments_left_out": False,
        "names_cut": 0,
        "tracks": [{"name": name, "process": "python (1)", "kind": kind, "device": None, "ranges": count,
                    "rows": 1 + max(row for *_, row in track)}
                   for (name, kind), count, track in zip([("thread 1 (main)", "thread"), ("thread 2", "thread"),
                                                          ("stream 7", "stream"), ("stream 20", "stream")],
                                                         counts, tracks)],
        "names": names, "categories": [0] * 900 + [1] * 900 + [2] * 500,
        "category_list": [{"name": kind, "kind": kind} for kind in ("cpu_op", "python_function", "kernel")],
        "steps": [{"number": step, "start_ns": (step + 1) * STEP_NS, "end_ns": (step + 2) * STEP_NS - 5_000_000}
                  for step in range(repeats)],
        "counters": [], "flows": [{"kind": "launch", "count": launches * repeats}], "arguments": [], "notes": [],
        "empty": None, "columns": [description for description, _ in columns],
    }
    text = json.dumps(header).encode()
    return b"TBTL" + len(text).to_bytes(4, "little") + text + b"".join(body for _, body in columns)


def ranks_document(ranks):
    """What timelines of several ranks need: their numbers, and recordings on one clock."""
    column = {"key": "rank", "type": "number", "unit": "", "meaning": "", "values": list(range(ranks))}
    lists = {"reference": 0, "duration_ns": 10**10, "start_ns": 0, "end_ns": 10**10, "error_ns": 0}
    return {"schema": "tbtrace.ranks/1", "tables": [{"name": "by_rank", "rows": ranks, "columns": [column]}],
            "recordings": {name: [value] * ranks for name, value in lists.items()},
            "matches": {"members": [], "last_rank": [], "ranks": [], "start_ns": [], "left_out": 0}}


def page_html(document, ranks):
    packed = base64.b64encode(gzip.compress(document, 1)).decode()
    of_job = base64.b64encode(gzip.compress(json.dumps(ranks_document(ranks)).encode())).decode()
    index = {"schema": "tbtrace.report/1", "version": "", "title": "speed", "job": {"bytes": 1} if ranks > 1 else None,
             "views": [{"name": "timeline", "title": "Timeline"}],
             "traces": [{"name": "made", "rank": rank, "job_rank": rank, "job_start_ns": 0,
                         "sections": {"timeline": len(document)}} for rank in range(ranks)]}
    sections = "".join(f'<script type="text/plain" id="view-{rank}-timeline">{packed}</script>' for rank in range(ranks))
    styles = "".join((WEB / name).read_text(encoding="utf-8")
                     for name in ("style.css", "style_charts.css", "style_timeline.css"))
    return f"""<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>speed</title><style>{styles}</style>
<script type="text/plain" id="index">{json.dumps(index)}</script>
<script type="text/plain" id="job-ranks">{of_job}</script>{sections}
<div id="app"></div><script>
let spent = 0;
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (act) => frame((time) => {{
  const before = performance.now();
  act(time);
  spent += performance.now() - before;
}});
const waitForFrame = () => new Promise((next) => frame(next));
</script><script type="module" src="/report.js"></script></html>"""


# From the modules' start to the first picture that is not empty.
LOADED = """async () => {
  for (;;) {
    await waitForFrame();
    const canvas = document.querySelector(".timeline-canvas");
    if (canvas && canvas.width > 400) break;
  }
  await waitForFrame();
  return performance.now() - performance.getEntriesByType("navigation")[0].responseEnd;
}"""
FRAMES = """async () => {
  const canvas = document.querySelector(".timeline-canvas");
  const { left, top } = canvas.getBoundingClientRect();
  const times = [];
  const begin = performance.now();
  const act = async (x, options) => {
    spent = 0;
    const before = performance.now();
    canvas.dispatchEvent(new WheelEvent("wheel", { clientX: left + x, clientY: top + 60, bubbles: true,
                                                   cancelable: true, ...options }));
    const own = performance.now() - before;
    await waitForFrame();
    await waitForFrame();
    times.push(own + spent);
  };
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 30; i++) await act(300 + 60 * round, { deltaY: -40, ctrlKey: true });
    for (let i = 0; i < 20; i++) await act(300, { deltaX: 90 });
    for (let i = 0; i < 30; i++) await act(500, { deltaY: 40, ctrlKey: true });
    for (let i = 0; i < 20; i++) await act(300, { deltaX: i % 2 ? 70 : -70 });
  }
  return times;
}"""
SEARCHED = """async (text) => {
  const field = document.querySelector(".flame-search");
  field.value = text;
  const before = performance.now();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const took = performance.now() - before;
  await waitForFrame();
  return took;
}"""


def resident_mb(browser):
    """Memory of all renderers of this browser."""
    session = browser.new_browser_cdp_session()
    pids = [process["id"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"]
            if process["type"] == "renderer"]
    total = 0
    for pid in pids:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        total += next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return total / 1000


def measured(playwright, chromium, ranges, ranks=1):
    """With several ranks beside each other the panel is open, too."""
    html = page_html(made_document(ranges // ranks), ranks)
    others = ",".join(map(str, range(1, ranks)))
    fragment = f"#view=timeline&timeline.panel=slices&timeline.ranks={others}" if ranks > 1 else ""
    browser = playwright.chromium.launch(executable_path=chromium,
                                         args=[*CHROMIUM_ARGUMENTS, "--js-flags=--expose-gc"])
    page = browser.new_page(viewport=DESK)
    trouble = []
    page.on("pageerror", lambda error: trouble.append(str(error)))

    def answer(route):
        path = route.request.url.removeprefix("http://page.test/")
        if path == "":
            route.fulfill(content_type="text/html", body="<!DOCTYPE html><title>empty</title>")
        elif path.startswith("made"):
            route.fulfill(content_type="text/html", body=html)
        else:
            route.fulfill(content_type="text/javascript", body=(WEB / path).read_text(encoding="utf-8"))

    page.route("**/*", answer)
    page.goto("http://page.test/")
    empty = resident_mb(browser)
    loads = []
    for _ in range(3):
        page.goto("about:blank")
        page.goto(f"http://page.test/made{fragment}", wait_until="commit")
        page.wait_for_function("typeof waitForFrame === 'function'")
        loads.append(page.evaluate(LOADED))
    page.wait_for_timeout(1500)
    if ranks > 1:
        page.wait_for_function("document.querySelectorAll('.timeline-heading').length > 1")
    page.evaluate("() => { gc(); gc(); }")
    page.wait_for_timeout(500)
    memory = resident_mb(browser) - empty
    # The round that other programs disturbed least.
    frames = min((sorted(page.evaluate(FRAMES)) for _ in range(3)), key=statistics.mean)
    searches = [page.evaluate(SEARCHED, text) for text in ("operator_7", "/forward_\\d$/", "kernel", "aten", "operator_77")]
    browser.close()
    assert not trouble, trouble
    return {"load": min(loads), "memory": memory, "mean": statistics.mean(frames), "p95": frames[len(frames) * 95 // 100],
            "search": statistics.median(searches), "bytes": len(html) / 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--ranges", type=int, action="append", help="default: 1000000 and 5000000")
    options = parser.parse_args()
    failed = []
    with sync_playwright() as playwright:
        wanted = options.ranges or LIMITS
        for ranges, ranks in [(ranges, 1) for ranges in wanted] + [(ranges, 4) for ranges in wanted if ranges <= 10**6]:
            got = measured(playwright, options.chromium, ranges, ranks)
            of_ranks = f" of {ranks} ranks" if ranks > 1 else ""
            print(f"{ranges:,} ranges{of_ranks}, page of {got['bytes']:.1f} MB: first picture {got['load']:.0f} ms, frame mean "
                  f"{got['mean']:.1f} ms, p95 {got['p95']:.1f} ms, search {got['search']:.0f} ms, {got['memory']:.0f} MB",
                  flush=True)
            failed += [f"{ranges:,} ranges: {name} {got[name]:.1f} is above {limit}"
                       for name, limit in LIMITS.get(ranges, {}).items() if got[name] > limit]
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
