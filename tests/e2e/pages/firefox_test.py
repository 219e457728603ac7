#!/usr/bin/env python3
"""Opens the page of `tbtrace report` in headless Firefox, and looks at the picture of two views.

usage: python3 -m e2e.pages.firefox_test --tbtrace PATH FILE

Firefox takes a picture when a page is loaded, but views are drawn a moment later. So the page is in a frame, beside a
picture that this test's own server sends late.
"""
import argparse
import http.server
import pathlib
import subprocess
import tempfile
import threading
import time

from PIL import Image

LATE_S = 2


def server_of(html):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            kind, body = "text/html; charset=utf-8", html
            if self.path.startswith("/around/"):
                view = self.path.removeprefix("/around/")
                body = (f'<iframe src="/page#view={view}&theme=light" width="1190" height="780"></iframe>'
                        '<img src="/late">').encode()
            elif self.path == "/late":
                time.sleep(LATE_S)
                kind, body = "image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>'
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def coloured(path):
    """The share of the picture below the heading that is of a colour, not grey."""
    image = Image.open(path).convert("RGB")
    part = image.crop((200, 140, image.width, image.height)).resize((300, 200))
    pixels = [part.getpixel((x, y)) for x in range(part.width) for y in range(part.height)]
    return sum(max(pixel) - min(pixel) > 40 for pixel in pixels) / len(pixels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--firefox", default="/usr/bin/firefox-esr")
    parser.add_argument("file")
    options = parser.parse_args()
    html = subprocess.run([options.tbtrace, "report", options.file, "-o", "-", "-q"], check=True, capture_output=True).stdout
    server = server_of(html)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for view, least in (("flame_graph", 0.01), ("steps", 0.02)):
            picture = folder / f"{view}.png"
            subprocess.run([options.firefox, "--headless", "--profile", folder, "--window-size", "1200,800", "--screenshot",
                            picture, f"http://127.0.0.1:{server.server_port}/around/{view}"],
                           check=True, timeout=120, capture_output=True)
            share = coloured(picture)
            assert share >= least, f"{view} is not drawn: {share}"
    server.shutdown()
    print("the flame graph and the steps are drawn")


if __name__ == "__main__":
    main()
