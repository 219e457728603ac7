#!/usr/bin/env python3
"""Opens the page of `tbtrace report` in headless Firefox, and looks at the picture of two views.

usage: python3 -m e2e.pages.firefox_test --tbtrace PATH FILE
"""
import argparse
import pathlib
import subprocess
import tempfile

from PIL import Image


def picture(firefox, page, view, folder):
    out = folder / f"{view}.png"
    (folder / "profile").mkdir(exist_ok=True)
    subprocess.run([firefox, "--headless", "--profile", folder / "profile", "--window-size", "1200,800", "--screenshot", out,
                    f"{page.as_uri()}#view={view}&theme=light"], check=True, timeout=120, capture_output=True)
    return Image.open(out).convert("RGB")


def coloured(image):
    """The share of pixels below the heading that are of a colour, not grey."""
    part = image.crop((190, 130, image.width, image.height)).resize((300, 200))
    pixels = [part.getpixel((x, y)) for x in range(part.width) for y in range(part.height)]
    return sum(max(pixel) - min(pixel) > 40 for pixel in pixels) / len(pixels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--firefox", default="/usr/bin/firefox-esr")
    parser.add_argument("file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = folder / "report.html"
        subprocess.run([options.tbtrace, "report", options.file, "-o", page, "-q"], check=True)
        for view, least in (("flame_graph", 0.01), ("steps", 0.02)):
            # The picture is taken when the file is loaded, which may be before the view is drawn.
            shares = []
            while not shares or (shares[-1] < least and len(shares) < 8):
                shares.append(coloured(picture(options.firefox, page, view, folder)))
            assert shares[-1] >= least, f"{view} is not drawn: {shares}"
    print("the flame graph and the steps are drawn")


if __name__ == "__main__":
    main()
