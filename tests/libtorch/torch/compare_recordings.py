#!/usr/bin/env python3
"""Do two recordings of the same steps say the same?

    compare_recordings.py TORCH.json OURS.json

The first is of torch's own profiler, the second of ours, of one process at the same time. Compares rows in the order
of their starts: names, categories, shapes, strides, types, values, sequence numbers, forward threads; arrows from the
forward to the backward; what c10d says of collectives; bytes and addresses of memory; modules and call stacks of TorchScript.

torch notes down modules and stacks of all ranges but the runs of a backward's nodes, and then hands them to all ranges
in that order, so that after the first backward each is some rows too early. What was noted down is compared. It has no
frames of C++, so those behind TorchScript's are left out. Since 2.14 it writes `"` in names as `'`, so these count as
equal. Python 3, nothing besides.
"""

import itertools
import json
import pathlib
import re
import sys

ARGUMENTS = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs", "Sequence number", "Fwd thread id")
COLLECTIVE = ("Collective name", "dtype", "In msg nelems", "Out msg nelems", "In split size", "Out split size",
              "Global rank start", "Global rank stride", "Group size", "Process Group Name",
              "Process Group Description", "Process Group Ranks", "Rank", "Dst Rank", "Src Rank", "Seq", "Comms Id",
              "Is asynchronized op")
EVERYWHERE = {*ARGUMENTS, "External id", "Record function id", "Ev Idx", "Call stack", "Module Hierarchy"}
EVALUATES = "autograd::engine::evaluate_function: "


def load(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    try:
        return json.loads(text)["traceEvents"]
    except json.JSONDecodeError:
        # Until 2.13 torch writes quotes in names as they are: the rest of the line is the name.
        text = re.sub(r'^(\s*"name": ")(.*)(",)$', lambda m: m[1] + m[2].replace('"', '\\"') + m[3], text, flags=re.M)
        return json.loads(text)["traceEvents"]


def script_frames(stack):
    return ";".join(itertools.takewhile(lambda frame: ".py(" in frame, stack.split(";")))


class Recording:
    def __init__(self, path):
        events = load(path)
        rows = [e for e in events if e["ph"] == "X" and e["cat"] in ("cpu_op", "user_annotation")]
        rows.sort(key=lambda e: e["ts"])
        self.rows = [
            (e["name"].replace('"', "'"), e["cat"], *(json.dumps(e["args"].get(a)) for a in ARGUMENTS), e["args"].get("finished"))
            for e in rows
        ]
        # What stands with a range that c10d describes, but for what stands with every range.
        described = [e["args"] for e in rows if e["name"] == "record_param_comms"]
        self.collectives = [{a: json.dumps(args[a]) for a in args if a in COLLECTIVE} for args in described]
        self.undescribed = {a for args in described for a in args} - set(COLLECTIVE) - EVERYWHERE
        nodes = {e["name"][len(EVALUATES):] for e in rows if e["name"].startswith(EVALUATES)}
        self.runs_no_node = [e["name"] not in nodes for e in rows]
        self.contexts = [
            (e["args"].get("Module Hierarchy", ""), script_frames(e["args"].get("Call stack", ""))) for e in rows
        ]
        memory = [e for e in events if e["ph"] == "i" and e["name"] == "[memory]"]
        memory.sort(key=lambda e: e["ts"])
        self.memory = [
            (e["args"]["Bytes"], e["args"]["Addr"], e["args"]["Device Type"], e["args"]["Device Id"],
             e["args"]["Total Reserved"]) for e in memory
        ]
        starts = {(e["ts"], e["tid"]): number for number, e in enumerate(rows)}
        ends = {}
        for e in events:
            if e["ph"] in "sf" and e.get("cat") == "fwdbwd":
                ends.setdefault(e["id"], {})[e["ph"]] = starts[e["ts"], e["tid"]]
        self.arrows = sorted((pair["s"], pair["f"]) for pair in ends.values())


def differences(what, theirs, ours):
    if theirs == ours:
        return []
    for number, (a, b) in enumerate(zip(theirs, ours)):
        if a != b:
            return [f"{what} {number} differs:\n  torch: {a}\n  ours:  {b}"]
    return [f"torch has {len(theirs)} of {what}, ours {len(ours)}"]


def main():
    theirs, ours = (Recording(path) for path in sys.argv[1:3])
    problems = differences("row", theirs.rows, ours.rows)
    noted = list(itertools.compress(ours.contexts, ours.runs_no_node))
    noted += [("", "")] * (len(ours.rows) - len(noted))
    problems += differences("context", theirs.contexts, noted)
    problems += differences("memory", theirs.memory, ours.memory)
    problems += differences("collective", theirs.collectives, ours.collectives)
    problems += differences("other arguments of collectives", sorted(theirs.undescribed), sorted(ours.undescribed))
    if set(COLLECTIVE) != {name for collective in theirs.collectives for name in collective}:
        problems.append("torch recorded no collectives with all arguments")
    problems += differences("arrow", theirs.arrows, ours.arrows)
    if not theirs.rows or not theirs.memory or not theirs.arrows:
        problems.append("torch recorded nothing")
    if not any(modules and stack for modules, stack in theirs.contexts):
        problems.append("torch recorded no TorchScript")
    for problem in problems:
        print(problem)
    print(f"{len(ours.rows)} rows, {len(ours.memory)} of memory, {len(ours.arrows)} arrows,"
          f" {len(ours.collectives)} collectives,"
          f" {len(problems)} differences")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
