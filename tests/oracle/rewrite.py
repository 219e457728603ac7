#!/usr/bin/env python3
"""Writes a trace again in another valid JSON text.

    rewrite.py --list
    rewrite.py FILE REWRITING [--seed N] [--max-events N] > TEXT

The same file, rewriting and seed give the same text. layouts.py, values.py and additions.py hold the rewritings, this
file those that join several. A text is valid JSON and never in Kineto's own line layout, in which other rules than
JSON's hold. Python 3, nothing besides.
"""
import argparse
import gzip
import sys

import additions
import layouts
import values
from documents import Document
from rewriting import AS_IT_IS, NONE, REWRITINGS, rewriting

MODULES = (layouts, values, additions)

# What can be done one after the other and leaves something to read.
ALONE = ("no_events", "one_event", "named_like_rocprof", "members_like_rocprof")
CHANGES = [one for one in REWRITINGS.values() if one.size == 0 and one.order != AS_IT_IS and one.name not in ALONE]


def joined(document, rng, most=4):
    """Two to four changes, then a layout and an order of keys."""
    for change in rng.sample(CHANGES, rng.randint(2, most)):
        document = change.change(document, rng)
    return document


for count in range(4):
    # Nothing is promised of what is kept: the rows are those that are expected of the text itself.
    rewriting(f"joined_{count}", NONE, allowed=("event_unreadable",))(joined)
    rewriting(f"joined_{count}_escaped", NONE, finish=REWRITINGS["half_escaped"].finish, allowed=("event_unreadable",))(
        joined)


def load(path):
    """The document of a file, plain or gzip. ValueError or EOFError if it is not whole and valid JSON."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    return Document.parse(data.decode("utf-8-sig"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?")
    parser.add_argument("rewriting", nargs="?", choices=REWRITINGS, metavar="rewriting")
    parser.add_argument("--list", action="store_true", help="print the names of all rewritings")
    parser.add_argument("--source", help="the name of the document that grid.py printed (default: FILE)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-events", type=int, default=0)
    options = parser.parse_args()
    if options.list:
        print("\n".join(REWRITINGS))
        return
    if not options.rewriting:
        parser.error("name a FILE and a REWRITING, or --list")
    document = load(options.file)
    text = REWRITINGS[options.rewriting].text(document.sliced(options.max_events), options.source or options.file,
                                              options.seed)
    sys.stdout.buffer.write(text.data)


if __name__ == "__main__":
    main()
