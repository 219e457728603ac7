"""A flame graph's SVG in a browser: its frames, where they are on the page, and what is drawn."""
import collections
import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]
SVG = "{http://www.w3.org/2000/svg}"
WINDOW = {"width": 1260, "height": 800}


class Checker:
    def __init__(self):
        self.count = 0

    def __call__(self, condition, message):
        self.count += 1
        assert condition, message


check = Checker()


def make_svg(tbtrace, trace, svg, *options):
    subprocess.run([tbtrace, "flamegraph", str(trace), "-o", str(svg), "--overwrite", *options],
                   check=True)
    return svg


def write_trace(path, rows, category="cpu_op"):
    """rows: (name, start in us, duration in us) of ranges on one thread."""
    events = [{"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start,
               "dur": duration} for name, start, duration in rows]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    return path


class Box:
    def __init__(self, index, name, depth, start, total, self_weight):
        self.index, self.name, self.depth = index, name, depth
        self.start, self.total, self.self_weight = start, total, self_weight
        self.parent, self.end = None, index + 1


class Picture:
    """The frames of an SVG, read from its data by rules of this test's own."""

    def __init__(self, svg):
        self.svg = svg
        root = ElementTree.parse(svg).getroot()
        self.is_inverted = root.get("data-inverted") == "true"
        self.margin = float(root.get("data-margin"))
        data = json.loads(root.find(f"{SVG}metadata").text)
        names = [re.sub(r"\\[\\n]", lambda escape: "\n" if escape[0] == "\\n" else "\\", line)
                 for line in data["texts"].split("\n")]
        self.boxes, path, next_start = [], [], collections.defaultdict(int)
        for index, (depth, text, total, own) in enumerate(zip(
                data["depths"], data["frames"], data["totals"], data["selves"])):
            box = Box(index, names[text], depth, next_start[depth], int(total), int(own))
            next_start[depth] += box.total
            next_start[depth + 1] = box.start
            del path[depth:]
            box.parent = path[-1] if path else None
            path.append(box)
            for ancestor in path:
                ancestor.end = index + 1
            self.boxes.append(box)

    def path_to(self, box):
        path = []
        while box is not None:
            path.append(box)
            box = box.parent
        return path[::-1]

    def widths(self, width, zoomed=None):
        """Of the frames that a zoom shows, in px: {box: (x, width)}."""
        zoomed = zoomed or self.boxes[0]
        shown = {box: (0, width) for box in self.path_to(zoomed)}
        for box in self.boxes[zoomed.index + 1:zoomed.end]:
            shown[box] = ((box.start - zoomed.start) * width / zoomed.total,
                          box.total * width / zoomed.total)
        return shown


def matched_share(boxes, pattern, flags=re.IGNORECASE):
    """Percent of the root in boxes that match or stand on one that does, each weight once."""
    matched, covered = 0, 0
    for box in boxes[1:]:
        if box.index >= covered and re.search(pattern, box.name, flags):
            matched += box.total
            covered = box.end
    return 100 * matched / boxes[0].total


class Browser:
    """A page that must not complain, ask or reach for anything but its own file."""

    def __init__(self, browser, **options):
        self.page = browser.new_page(viewport=WINDOW, **options)
        self.page.set_default_timeout(60_000)
        self.trouble = []
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {str(error)[:300]}"))
        self.page.on("console", lambda line: self.trouble.append(f"console: {line.text}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)

    def _dialog(self, dialog):
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request):
        if not request.url.startswith("file://"):
            self.trouble.append(f"request: {request.url}")

    def open(self, svg, fragment=""):
        self.page.goto("about:blank")
        self.page.goto(pathlib.Path(svg).resolve().as_uri() + fragment)
        return self.page

    def check_quiet(self, where):
        check(not self.trouble, f"{where}: {self.trouble}")

    def state(self):
        """What is shown, read from the document as the browser lays it out."""
        state = self.page.evaluate(r"""() => {
          const ground = document.querySelector(".ground");
          const number = (name) => Number(ground.getAttribute(name));
          const boxes = [];
          for (const path of document.querySelectorAll(".boxes path")) {
            for (const [, x, y, width] of
                path.getAttribute("d").matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)/g)) {
              boxes.push([Number(x), Number(y), Number(width), path.getAttribute("class"),
                          path.getAttribute("fill")]);
            }
          }
          const rows = new Map(boxes.map(([x, y, width]) => [x.toFixed(2) + " " + y, width]));
          const padding = Number(document.documentElement.dataset.padding);
          const rise = Number(document.documentElement.dataset.rise);
          const labels = [], overflowing = [];
          for (const text of document.querySelectorAll(".labels text")) {
            const x = Number(text.getAttribute("x")) - padding;
            const width = rows.get(x.toFixed(2) + " " + (Number(text.getAttribute("y")) - rise));
            if (!(text.getComputedTextLength() <= width + 0.5)) overflowing.push(text.textContent);
            labels.push(text.textContent);
          }
          return {
            window_top: -document.documentElement.getBoundingClientRect().top,
            hash: location.hash, boxes, labels, overflowing, top: number("y"),
            width: number("width"), height: number("height"),
            status: document.querySelector(".matched").textContent,
            field: !document.querySelector(".field").hidden,
            name: document.querySelector(".name").textContent,
            figures: document.querySelector(".figures").textContent,
            tooltip: document.querySelector(".pointed title").textContent,
            pointed: document.querySelector(".pointed").getAttribute("display") !== "none",
          };
        }""")
        state["around"] = sum("around" in box[3] for box in state["boxes"])
        state["matches"] = sum("match" in box[3] for box in state["boxes"])
        return state

    def place(self, picture, box, zoomed=None):
        """The middle of a box in the window."""
        state = self.state()
        x, width = picture.widths(state["width"], zoomed)[box]
        level = box.depth + 0.5
        y = (state["top"] + 17 * level if picture.is_inverted
             else state["top"] + state["height"] - 17 * level)
        left, top = self.page.evaluate("""() => {
          const { left, top } = document.documentElement.getBoundingClientRect();
          return [left, top];
        }""")
        return left + picture.margin + x + min(width / 2, 200), top + y

    def click(self, picture, box, zoomed=None, modifiers=()):
        for key in modifiers:
            self.page.keyboard.down(key)
        self.page.mouse.click(*self.place(picture, box, zoomed))
        for key in modifiers:
            self.page.keyboard.up(key)

    def hover(self, picture, box, zoomed=None):
        self.page.mouse.move(*self.place(picture, box, zoomed))
        return self.state()


def value_of(field):
    # Playwright's own input_value() and fill() know inputs of HTML documents only.
    return field.evaluate("(input) => input.value")


def type_anew(field, text):
    field.click()
    field.press("Control+a")
    field.press("Delete")
    field.page.keyboard.type(text)


def check_drawn(state, picture, zoomed=None):
    """Every frame of some pixels in the window has its box, and there are no other such boxes."""
    drawn = collections.Counter((round(x), round(y), round(width)) for x, y, width, *_
                                in state["boxes"] if width >= 3)
    window = range(int(state["window_top"]), int(state["window_top"]) + WINDOW["height"])
    expected = collections.Counter()
    for box, (x, width) in picture.widths(state["width"], zoomed).items():
        y = (state["top"] + 17 * box.depth if picture.is_inverted
             else state["top"] + state["height"] - 17 * (box.depth + 1))
        if width >= 3.5:
            expected[(round(round(x, 2)), round(y), round(round(width - 0.5, 2)))] += 1
    missing = sum(count for place, count in (expected - drawn).items()
                  if place[1] in window and not any((place[0] + dx, place[1], place[2] + dw) in drawn
                             for dx in (-1, 0, 1) for dw in (-1, 0, 1)))
    check(missing == 0, f"{missing} of {sum(expected.values())} boxes are not drawn")
    check(sum(drawn.values()) <= sum(expected.values()) + 2, "no boxes but those of frames")
