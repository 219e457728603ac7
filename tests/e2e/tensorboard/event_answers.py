"""What TensorBoard says of event files: the answers of its dashboards, and their pages in headless Chromium."""
import io
import json
import os
import time

from PIL import Image

from e2e.consumers import TensorBoard, launch_chromium

# With what is in shadow trees.
TEXT_OF_PAGE = """() => {
  const texts = [];
  (function walk(node) {
    if (node.shadowRoot) walk(node.shadowRoot);
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) texts.push(child.data);
      else if (!["SCRIPT", "STYLE"].includes(child.nodeName)) walk(child);
    }
  })(document.body);
  return texts.join(" ");
}"""


class Answers:
    """What a TensorBoard says of one directory of runs."""

    def __init__(self, board):
        self.board = board

    def json(self, route, posted=None, **query):
        status, body = self.board.fetch(route, query, posted)
        if status != 200:
            raise RuntimeError(f"{route} {query}: {status} {body[:300]}"[:1000])
        return json.loads(body)

    def wait_for(self, runs):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if set(runs) <= set(self.json("runs")):
                    return
            except (OSError, RuntimeError, ValueError):
                pass
            time.sleep(0.2)
        raise RuntimeError(f"TensorBoard does not load {set(runs) - set(self.json('runs'))}")

    def scalars(self, run, tag):
        return [(step, float(value), wall) for wall, step, value in
                self.json("plugin/scalars/scalars", run=run, tag=tag)]

    def texts(self, run, tag):
        return [(row["step"], row["text"]) for row in self.json("plugin/text/text", run=run, tag=tag)]

    def histograms(self, run, tag):
        return [(step, buckets) for _, step, buckets in self.json("plugin/histograms/histograms", run=run, tag=tag)]

    def images(self, run, tag):
        found = []
        for row in self.json("plugin/images/images", run=run, tag=tag):
            _, body = self.board.fetch("plugin/images/individualImage?" + row["query"])
            picture = Image.open(io.BytesIO(body))
            found.append((row["step"], *picture.size, picture.tobytes()))
        return found

    def curve(self, run, tag):
        return [{key: row[key] for key in ("step", "true_positives", "false_positives", "precision", "recall")}
                for row in self.json("plugin/pr_curves/pr_curves", run=run, tag=tag)[run]]

    def sessions(self):
        answer = self.json("plugin/hparams/session_groups", posted={
            "startIndex": 0, "sliceSize": 100, "colParams": [],
            "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]})
        return {group["sessions"][0]["name"]: (
            group["hparams"], [(value["name"]["tag"], value["value"]) for value in group["metricValues"]])
                for group in answer["sessionGroups"]}

    def layout(self):
        return self.json("plugin/custom_scalars/layout")


def take_pictures(check, logs, runs, dashboards, output, log):
    """Every dashboard shows its signs, texts without blanks, and asks the network for nothing."""
    from playwright.sync_api import sync_playwright
    output.mkdir(parents=True, exist_ok=True)
    with TensorBoard(logs, log, True) as board, sync_playwright() as playwright:
        Answers(board).wait_for(runs)
        browser = launch_chromium(playwright, os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        for dashboard, signs in dashboards.items():
            signs = {signs} if isinstance(signs, str) else set(signs)
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            errors, outside = [], []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("request", lambda request: None if request.url.startswith((board.url, "data:", "blob:"))
                    else outside.append(request.url))
            page.goto(f"{board.url}/#{dashboard}")
            missing = signs
            for _ in range(300):
                # Parts of a tag are elements of their own.
                text = "".join(" ".join(frame.evaluate(TEXT_OF_PAGE) for frame in page.frames).split())
                missing = {sign for sign in signs if sign not in text}
                if not missing:
                    break
                page.wait_for_timeout(200)
            page.wait_for_timeout(1500)
            page.screenshot(path=output / f"{dashboard}.png")
            check(not missing and not errors and not outside,
                  f"{dashboard}: does not show {missing}, errors {errors}, asked for {outside}")
            page.close()
        browser.close()
