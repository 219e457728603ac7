#!/usr/bin/env python3
"""Takes the pictures of the pages of `tbtrace report` and `tbtrace diff` in docs/pictures/page/.

usage: .venv/bin/python docs/pictures/make_page_pictures.py [--tbtrace build/tools/tbtrace]

Of traces that torch recorded: two steps of a perceptron on a GPU, one with Python stacks, two of a transformer, and a network before and after
a change; and of the job of four ranks in tests/data. Needs `tools/setup.sh --tests`.
"""
import argparse
import pathlib
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).parents[2]
GPU = ROOT / "tests/data/h200/perceptron.json.gz"
STACKS = ROOT / "examples/traces/perceptron_stacks.json.gz"
MODULES = ROOT / "examples/traces/transformer_modules.json.gz"
# The forward pass of a step, and a kernel with the call that launched it.
TIMELINE = "timeline&timeline.from=400000&timeline.to=1250000&timeline.range=0:790442:12223:1"
PICTURES = [("summary", GPU, "light"), (TIMELINE, GPU, "light"), ("steps", GPU, "light"), ("operators", GPU, "light"),
            ("kernels", GPU, "dark"), ("gpu", GPU, "light"), ("memory", GPU, "light"), ("modules", STACKS, "light"),
            ("lines", STACKS, "dark"), ("flops", GPU, "light"), ("model", MODULES, "light"), ("flame_graph", STACKS, "light"),
            ("threads", GPU, "light"), ("checks", GPU, "light")]
COMPARED = [f"tests/data/compare/{side}.json.gz" for side in ("before", "after")]


def take_comparison(browser, tbtrace, folder, scratch):
    """The page of a comparison from its top, and its flame graph alone."""
    page_file, picture = scratch / "compare.html", scratch / "change.svg"
    for file in (page_file, picture):
        subprocess.run([tbtrace, "diff", *COMPARED, "--run-noise", "5%", "-o", file, "-q"], check=True, cwd=ROOT)
    for file, name, height in ((page_file, "compare", 820), (picture, "compare_flame_graph", 330)):
        page = browser.new_page(viewport={"width": 1200, "height": height}, color_scheme="light")
        page.goto(file.as_uri())
        page.wait_for_timeout(600)
        page.screenshot(path=folder / f"{name}.png")
        page.close()


def take_ranks(browser, tbtrace, folder, scratch):
    """The view of a job from its top, and a step of its ranks."""
    page_file = scratch / "job.html"
    subprocess.run([tbtrace, "report", "tests/data/slow_loader_job", "-o", page_file, "-q"], check=True, cwd=ROOT)
    page = browser.new_page(viewport={"width": 1200, "height": 1000}, color_scheme="light")
    page.goto(page_file.as_uri())
    page.wait_for_selector(".ranks .step-board")
    page.wait_for_timeout(600)
    page.screenshot(path=folder / "ranks.png")
    page.locator(".step-board").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    page.locator("section.section:has(.step-board)").screenshot(path=folder / "ranks_step.png")
    page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", default=ROOT / "build/tools/tbtrace")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    names = [view.split("&")[0] for view, _, _ in PICTURES]
    parser.add_argument("--only", choices=[*names, "compare", "ranks"], nargs="+", default=[*names, "compare", "ranks"],
                        help="leave the other pictures as they are")
    options = parser.parse_args()
    folder = ROOT / "docs/pictures/page"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for view, trace, theme in PICTURES:
            if view.split("&")[0] not in options.only:
                continue
            page_file = pathlib.Path(scratch) / f"{trace.name}.html"
            if not page_file.exists():
                subprocess.run([options.tbtrace, "report", trace, "-o", page_file, "-q"], check=True)
            page = browser.new_page(viewport={"width": 1200, "height": 760}, color_scheme=theme)
            page.goto(f"{page_file.as_uri()}#view={view}&theme={theme}")
            page.wait_for_selector("#main h1")
            page.wait_for_timeout(400)
            page.screenshot(path=folder / f"{view.split('&')[0]}.png")
            page.close()
        if "compare" in options.only:
            take_comparison(browser, pathlib.Path(options.tbtrace).resolve(), folder, pathlib.Path(scratch))
        if "ranks" in options.only:
            take_ranks(browser, pathlib.Path(options.tbtrace).resolve(), folder, pathlib.Path(scratch))
        browser.close()


if __name__ == "__main__":
    main()
