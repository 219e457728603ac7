#!/usr/bin/env python3
"""Compares the timeline of `tbtrace report` with the JSON of traces, which Python's json module reads.

usage: python3 -m e2e.pages.timeline_test --tbtrace PATH FILE...

Each complete event of the file is a range of the timeline, with its name, start, duration and track, and no other is.
Times are compared in ns from the first start. Fails with an AssertionError that says what is wrong.
"""
import argparse
import base64
import collections
import decimal
import gzip
import json
import lzma
import pathlib
import re
import subprocess
import tempfile

OPENERS = {".gz": gzip.open, ".xz": lzma.open}


def document_of(tbtrace, trace, limit):
    """The bytes of the view `timeline` in a page of at most `limit`."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "report.html")
        subprocess.run([tbtrace, "report", trace, "-o", page, "--views", "timeline", "--limit", limit], check=True)
        text = page.read_text(encoding="utf-8")
    return gzip.decompress(base64.b64decode(re.search(r'id="view-0-timeline">([^<]*)<', text).group(1)))


def columns_of(document):
    """The header, and by name the columns, undone of planes and differences."""
    assert document[:4] == b"TBTL"
    place = 8 + int.from_bytes(document[4:8], "little")
    header = json.loads(document[8:place])
    columns = {}
    for column in header["columns"]:
        count = column["count"]
        values = [0] * count
        for plane in range(column["planes"]):
            for row, byte in enumerate(document[place:place + count]):
                values[row] |= byte << (8 * plane)
            place += count
        if column["signed"]:
            values = [-(value + 1) // 2 if value % 2 else value // 2 for value in values]
        if column["delta"] == "previous":
            for row in range(1, count):
                values[row] += values[row - 1]
        columns[column["name"]] = values
    assert place == len(document)
    at = 0
    for track in header["tracks"]:
        for row in range(at + 1, at + track["ranges"]):
            columns["start"][row] += columns["start"][row - 1]
        at += track["ranges"]
    assert at == header["ranges"]
    return header, columns


def text_of(value):
    """A name as JSON has it; lone surrogates are not text."""
    return value.encode("utf-8", "replace").decode("utf-8", "replace") if isinstance(value, str) else ""


def ranges_of_file(trace):
    """By track: (start, duration, name) of its complete events, in ns from the first start of any."""
    opener = OPENERS.get(pathlib.Path(trace).suffix, open)
    with opener(trace, "rt", encoding="utf-8", errors="replace") as file:
        content = json.load(file, parse_float=decimal.Decimal, strict=False)
    events = content["traceEvents"] if isinstance(content, dict) else content
    tracks = collections.defaultdict(list)
    for event in events:
        if event.get("ph") == "X":
            start, duration = (int(decimal.Decimal(event.get(key, 0)) * 1000) for key in ("ts", "dur"))
            tracks[str(event.get("pid")), str(event.get("tid"))].append((start, duration, text_of(event.get("name"))))
    first = min((one[0] for ranges in tracks.values() for one in ranges), default=0)
    return [sorted((start - first, duration, name) for start, duration, name in ranges) for ranges in tracks.values()]


def check(tbtrace, trace):
    header, columns = columns_of(document_of(tbtrace, trace, "900MB"))
    assert header["left_out"] == 0 and header["unit_ns"] == 1, trace
    tracks, at = [], 0
    for track in header["tracks"]:
        rows = range(at, at + track["ranges"])
        at += track["ranges"]
        tracks.append(sorted((columns["start"][row], columns["duration"][row], header["names"][columns["name"][row]])
                             for row in rows))
    expected = ranges_of_file(trace)
    for ranges in tracks + expected:
        for row, (start, duration, name) in enumerate(ranges):
            ranges[row] = (start, duration, name[:490])
    found, wanted = (collections.Counter(map(tuple, each)) for each in (tracks, expected))
    assert found == wanted, f"{trace}: {sum(map(len, tracks))} ranges, and {sum(map(len, expected))} in the file"
    return header["ranges"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    count = sum(check(arguments.tbtrace, trace) for trace in arguments.files)
    print(f"{count:,} ranges of {len(arguments.files)} traces are those of the files")


if __name__ == "__main__":
    main()
