#!/usr/bin/env python3
"""Compares the timeline of `tbtrace report` with the JSON of traces, which Python's json module reads.

usage: python3 -m e2e.pages.timeline_test --tbtrace PATH FILE...

Each complete event of the file is a range of the timeline, with its name, start, duration and track, and no other is.
Each value of a counter is on a curve of its process, unless it was thinned, and each instant is a mark.
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
        # torch's Python writer gives records of memory, which are instants, as complete events.
        if event.get("ph") == "X" and event.get("cat") != "cpu_instant_event":
            start, duration = (int(decimal.Decimal(event.get(key, 0)) * 1000) for key in ("ts", "dur"))
            tracks[str(event.get("pid")), str(event.get("tid"))].append((start, duration, text_of(event.get("name"))))
    first = min((one[0] for ranges in tracks.values() for one in ranges), default=0)
    return [sorted((start - first, duration, name) for start, duration, name in ranges) for ranges in tracks.values()]


def is_number(value):
    return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)


def moments_of_file(trace):
    """How many values each counter has, sorted; and the (time, name) of its instants, in ns from the first start."""
    opener = OPENERS.get(pathlib.Path(trace).suffix, open)
    with opener(trace, "rt", encoding="utf-8", errors="replace") as file:
        content = json.load(file, parse_float=decimal.Decimal, strict=False)
    events = content["traceEvents"] if isinstance(content, dict) else content
    first = min((int(decimal.Decimal(event["ts"]) * 1000) for event in events if event.get("ph") == "X"), default=0)
    curves, instants = collections.defaultdict(list), []
    for event in events:
        if event.get("ph") == "C":
            for series, value in event.get("args", {}).items():
                key = str(event.get("pid")), event["name"], str(event.get("id")), series
                if is_number(value):
                    curves[key].append((int(decimal.Decimal(event["ts"]) * 1000) - first, float(value)))
        elif event.get("ph") in ("i", "I") and event["name"] not in ("[memory]", "[OutOfMemory]", "Record Window End"):
            if not event["name"].startswith("Iteration Start: PyTorch Profiler"):
                instants.append((int(decimal.Decimal(event["ts"]) * 1000) - first, text_of(event["name"])[:490]))
    return sorted(sorted(curve) for curve in curves.values()), sorted(instants)


def check_moments(header, trace):
    """Returns how many values and instants there are."""
    curves, instants = moments_of_file(trace)
    found = [one for one in header["counters"] if one["unit"] == ""]
    if header["counters_left_out"] == 0:
        assert sorted(one["samples"] for one in found) == sorted(map(len, curves)), trace
    if all(one["samples"] == len(one["values"]) for one in found) and header["counters_left_out"] == 0:
        values = sorted(sorted((at - header["from_ns"], float(value)) for at, value in
                               zip(one["times_ns"], one["values"])) for one in found)
        assert values == curves, trace
    marks = header["marks"]
    assert len(marks["times_ns"]) + marks["left_out"] == len(instants), trace
    named = sorted((at - header["from_ns"], marks["texts"][name][:490])
                   for at, name in zip(marks["times_ns"], marks["names"]))
    assert named == instants or marks["left_out"] > 0, trace
    return sum(map(len, curves)) + len(instants)


def check(tbtrace, trace):
    header, columns = columns_of(document_of(tbtrace, trace, "900MB"))
    assert header["left_out"] == 0 and header["unit_ns"] == 1, trace
    tracks, at = [], 0
    for track in header["tracks"]:
        rows = range(at, at + track["ranges"])
        at += track["ranges"]
        tracks.append(sorted((columns["start"][row], columns["duration"][row], header["names"][columns["name"][row]])
                             for row in rows))
    tracks = [ranges for ranges in tracks if ranges]  # others have instants only
    expected = ranges_of_file(trace)
    for ranges in tracks + expected:
        for row, (start, duration, name) in enumerate(ranges):
            ranges[row] = (start, duration, name[:490])
    found, wanted = (collections.Counter(map(tuple, each)) for each in (tracks, expected))
    assert found == wanted, f"{trace}: {sum(map(len, tracks))} ranges, and {sum(map(len, expected))} in the file"
    return header["ranges"], check_moments(header, trace)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    counts = []
    for trace in arguments.files:
        try:
            counts.append(check(arguments.tbtrace, trace))
        except json.JSONDecodeError as error:  # Kineto does not escape each name
            print(f"{trace}: left out, is not JSON: {error}")
    ranges, moments = (sum(each) for each in zip(*counts))
    print(f"{ranges:,} ranges, and {moments:,} values of counters and instants, of {len(counts)} traces "
          "are those of the files")
    assert len(counts) > 0.9 * len(arguments.files), f"{len(arguments.files) - len(counts)} are no JSON"


if __name__ == "__main__":
    main()
