#!/usr/bin/env python3
"""Damages traces in a known way and holds what `tbtrace repair` makes of them against what is still there.

    damaged_traces.py --tbtrace PATH [--traces N] [--seed N] [--keep FOLDER]

It knows where each event stands in the text, and shares no code with tbtrace. What is written has to be JSON for Python's
parser without NaN; every event before the damage has to be in it, as it was; after it, each event that is not there has to
lie in a stretch that the receipt names; no event may appear that was not there; the receipt has to add up. The last line is
'N passed, N failed'. There are 300 traces, or as many as TBTRACE_RANDOM_PERCENT says.
"""
import gzip
import json
import subprocess

from rounds import run_rounds

NAMES = ["aten::mm", "aten::addmm", "nn.Module: Linear_0", "train.py(12): step", "Größe π", "a \"quoted\" name", "back\\slash",
         "void gemm<float, 128>(float const*, int)", "], {\"ph\": \"X\"", "line\nbreak", "\U0001f600", "ProfilerStep#3"]
GARBAGE = [b"\0", b"\xff\xfe", b"\"", b"{", b"}", b"[", b"]", b",", b"\\", b":", b"\n", b"NaN", b"INFO: written by another program",
           b"{\"ph\": \"X\", \"name\": \"", b"Traceback (most recent call last):\n", b"\x1b[31m", b"\x80", b"\"args\": {"]


def refused(text):
    raise ValueError(f"{text} is not JSON")


def strict(text):
    return json.loads(text.decode("utf-8"), parse_constant=refused)


def made_event(rng, number):
    """No two are equal."""
    kind = rng.choice("XXXXXXiMCsfBE")
    event = {"ph": kind, "cat": rng.choice(["cpu_op", "kernel", "user_annotation", "python_function"]),
             "name": rng.choice(NAMES), "pid": rng.choice([7, 7, "Spans", 0]), "tid": rng.choice([11, 12, "stream 7"]),
             "ts": round(1000 + number * 10 + rng.random(), 3), "number": number}
    if kind == "X":
        event["dur"] = round(rng.random() * 9, 3)
    if kind in "sf":
        event |= {"cat": "ac2g", "id": number}
    if kind == "C":
        event["args"] = {"value": number}
    elif rng.random() < 0.7:
        event["args"] = {key: value for key, value in (
            ("External id", number), ("Input Dims", [[rng.randrange(64), 3], []]), ("stack", rng.choice(NAMES)),
            ("nested", {"a": [1, {"b": None}], "c": "x" * rng.choice([0, 3, 300])}), ("share", rng.random()),
            ("big", 2**63 + number)) if rng.random() < 0.5}
    return event


class Text:
    """A trace as text, with where each event stands in it."""

    def __init__(self, rng, first=0):
        count = rng.choice([0, 1, 2, 5, 20, 60, 60, 200]) if rng.random() < 0.95 else 3000
        self.events = [made_event(rng, first + number) for number in range(count)]
        self.places = []
        self.bare = rng.random() < 0.15
        layout = rng.choice([{"separators": (",", ":")}, {}, {"indent": 2}, {"ensure_ascii": False}, {"indent": 1}])
        gap = rng.choice([",", ", ", ",\n", ",\n  "])
        members = [{"schemaVersion": 1}, {"traceName": "a\\b \"c\""}, {"distributedInfo": {"rank": 3, "pg": [[1, 2]]}},
                   {"deviceProperties": [{"id": 0, "name": "H200"}]}]
        rng.shuffle(members)
        before = rng.randint(0, len(members))
        self.members = {}
        text = "["
        if not self.bare:
            text = "{"
            for member in members[:before]:
                text += json.dumps(member, **layout)[1:-1].strip() + gap
            text += "\"traceEvents\": ["
            for member in members:
                self.members |= member
        self.start = len(text.encode())
        pieces = [text.encode()]
        size = self.start
        for number, event in enumerate(self.events):
            piece = json.dumps(event, **layout).encode()
            between = (gap if number else "\n").encode()
            self.places.append((size + len(between), size + len(between) + len(piece)))
            pieces += [between, piece]
            size += len(between) + len(piece)
        pieces.append(b"\n]")
        self.array_end = size + 2
        if not self.bare:
            for member in members[before:]:
                pieces.append((gap + json.dumps(member, **layout)[1:-1].strip()).encode())
            pieces.append(b"}\n")
        self.text = b"".join(pieces)


class Damage:
    """`text` after it: up to `at` it is that of before, from `end` on it is that of `end + shift` before."""

    def __init__(self, rng, whole):
        size = len(whole.text)
        self.kind = rng.choice(["cut", "cut", "cut", "overwritten", "overwritten", "removed", "twice", "inserted", "none"])
        self.at = self.place(rng, whole)
        length = rng.choice([0, 1, 1, 2, 5, 40, 400, 5000])
        before = whole.text[:self.at]
        if self.kind == "cut":
            self.text, self.end, self.shift = before, self.at, 0
            return
        if self.kind == "none":
            self.text, self.at, self.end, self.shift = whole.text, size, size, 0
            return
        if self.kind == "overwritten":
            new = (rng.choice(GARBAGE) * (length + 1))[:length]
            rest = self.at + len(new)
        elif self.kind == "removed":
            new, rest = b"", min(size, self.at + length)
        elif self.kind == "twice":
            new, rest = whole.text[self.at:self.at + length], self.at
        else:
            new, rest = rng.choice(GARBAGE), self.at
        self.text = before + new + whole.text[rest:]
        self.end = self.at + len(new)
        self.shift = rest - self.end

    @staticmethod
    def place(rng, whole):
        """Everywhere, but more often at the edges of events."""
        if whole.places and rng.random() < 0.4:
            at = rng.choice(rng.choice(whole.places)) + rng.choice([-2, -1, 0, 1, 2])
        elif rng.random() < 0.1:
            at = whole.array_end + rng.randint(-3, 8)
        else:
            at = rng.randrange(whole.start, len(whole.text) + 1)
        return min(max(at, whole.start), len(whole.text))


def problem_of_receipt(receipt, out, size):
    damages = receipt["damages"]
    if receipt["read_events"] != len(out["traceEvents"]):
        return "the receipt counts other events than there are"
    if receipt["lost_bytes"] != sum(damage["bytes"] or 0 for damage in damages):
        return "lost_bytes is not the sum of the damages"
    if receipt["damages_left_out"]:
        return "damages were left out"
    end = 0
    for damage in damages:
        if damage["at_byte"] < end:
            return f"damages overlap at {end}"
        end = damage["at_byte"] + (damage["bytes"] or 0)
    return "a damage is outside of the file" if end > size else None


def problem_of(tbtrace, folder, rng, number):
    whole = Text(rng)
    damage = Damage(rng, whole)
    name = "trace.json"
    stored = damage.text
    if rng.random() < 0.1:
        name, stored = "trace.json.gz", gzip.compress(damage.text, 1)
    (folder / name).write_bytes(stored)
    done = subprocess.run([tbtrace, "repair", folder / name, "-o", folder / "out.json", "--receipt", folder / "receipt.json"],
                          capture_output=True, timeout=60)
    context = f"{damage.kind} at {damage.at} to {damage.end}: "
    kept_before = sum(end <= damage.at for _, end in whole.places)
    if done.returncode != 0:
        if done.returncode == 3 and not kept_before:
            return None  # nothing in it is an event
        return context + f"exit code {done.returncode}: {done.stderr.decode()[-300:]}"
    text = (folder / "out.json").read_bytes()
    receipt = strict((folder / "receipt.json").read_bytes())
    try:
        out = strict(text)
    except ValueError as error:
        return context + f"the output is not valid: {error}"
    try:
        was_valid = isinstance(strict(damage.text), (dict, list))
    except (ValueError, RecursionError):
        was_valid = False
    if damage.kind == "none" and text != damage.text:
        return context + "a whole file was not copied as it is"
    if text == damage.text:
        return None if was_valid and not receipt["damages"] else context + "was copied though it is damaged"
    if problem := problem_of_receipt(receipt, out, len(damage.text)):
        return context + problem
    if out["tbtrace_repair"] != receipt:
        return context + "the receipt in the file is another one"
    got = out["traceEvents"]
    if got[:kept_before] != whole.events[:kept_before]:
        return context + f"not all of {kept_before} events before it are kept"
    if damage.kind == "cut":
        if len(got) != kept_before:
            return context + f"{len(got)} events instead of {kept_before}"
        edge = whole.places[kept_before - 1][1] if kept_before else whole.start
        lost = receipt["damages"][-1]["bytes"] if receipt["damages"] else 0
        if damage.at < whole.array_end and not whole.bare and not edge <= damage.at - lost <= edge + 6:
            return context + f"{lost} bytes are said to be lost after {edge}"
        return None
    if len(whole.places) < 6 and whole.places and damage.at < whole.places[0][1]:
        return None  # what stands between two events is not known then
    # Each event after it, too, or the receipt says where it was.
    written = {json.dumps(event) for event in got}
    lost = [(each["at_byte"], each["at_byte"] + each["bytes"]) for each in receipt["damages"]]
    for event, (start, end) in zip(whole.events, whole.places):
        start, end = start - damage.shift, end - damage.shift
        if start <= damage.end + 1 or json.dumps(event) in written:
            continue
        if not any(first <= start and end <= last for first, last in lost):
            return context + f"the event at {start} is neither there nor lost"
    # Nothing is new but what stands in or beside the damage.
    known = {json.dumps(event) for event in whole.events}
    touched = 3 + sum(start < damage.end + damage.shift and damage.at < end for start, end in whole.places)
    new = [event for event in got if json.dumps(event) not in known]
    if len(new) > touched:
        return context + f"{len(new)} events are new, {touched} are in the damage: {new[0]}"
    longest = max((end - start for start, end in whole.places), default=0)
    if whole.array_end < damage.end + damage.shift + longest:
        return None  # a member may be lost as a whole, or what follows be taken for events
    if {"member_unreadable", "trailing_text"} & receipt["issues"].keys() or b"[" in damage.text[damage.at:damage.end]:
        return None  # a bracket ended the array, or began one that holds the rest
    if receipt["lost_bytes"] > damage.end - damage.at + 4 * longest + 100 and "events_replaced" not in receipt["issues"]:
        return context + f"{receipt['lost_bytes']} bytes are lost"
    return None


run_rounds(__doc__, "trace", 300, problem_of)
