#!/usr/bin/env python3
"""Joins the page that traces are dropped on: one file, which needs no server and no network.

    make_page.py OUTPUT MODULE.wasm MODULE.js WORKER.js SCRIPT STYLE [MORE_SCRIPT MORE_STYLE]...

SCRIPT and STYLE are the page's own. Its policy lets run these and the others, which are those of the pages that it shows
in a frame: a frame has the policy of the page around it besides its own. Python's standard library only.
"""

import base64
import gzip
import hashlib
import pathlib
import re
import sys

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>tbtrace</title>
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript; it runs without a network.</noscript>
<script type="text/plain" id="module">{module}</script>
<script type="text/plain" id="worker">{worker}</script>
<script>{script}</script>
</body>
</html>
"""


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(scripts, styles):
    """Nothing is fetched or sent: what is not named is forbidden, and connections are so by name."""
    return "; ".join((
        "default-src 'none'", "connect-src 'none'", "form-action 'none'", "base-uri 'none'",
        "script-src 'wasm-unsafe-eval' " + " ".join(map(hash_of, scripts)), "style-src " + " ".join(map(hash_of, styles)),
        "worker-src blob:", "frame-src blob:"))


def main():
    output, module, *texts = map(pathlib.Path, sys.argv[1:])
    program, worker, script, style, *more = (text.read_text(encoding="utf-8") for text in texts)
    for text in (script, program + worker):
        if re.search(r"</script|<!--", text, re.IGNORECASE):
            sys.exit(f"make_page: a script of {output.name} has a text that ends or changes it: </script or <!--")
    packed = base64.b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode()
    page = PAGE.format(policy=policy([script, *more[::2]], [style, *more[1::2]]), style=style, module=packed,
                       worker=program + worker, script=script)
    made = output.with_name(output.name + ".new")
    made.write_text(page, encoding="utf-8")
    made.replace(output)


if __name__ == "__main__":
    main()
