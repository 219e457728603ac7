"""Takes a trace of `tbtrace merge` apart by the rules of docs/formats/merged_trace.md, with Python's json alone."""
import re
from fractions import Fraction

FIRST_LONG_ID = 10**15
SORT_ROOM = 1 << 32
NO_ID = {  # arguments that are ids, with the values that mean that there is none
    "External id": (0, -1), "external id": (0, -1), "correlation": (0, -1), "wait_on_cuda_event_id": (0, -1),
    "wait_on_cuda_event_record_corr_id": (0, -1), "cuda_event_id": (0, -1), "graph id": (0, -1), "graph node id": (0, -1),
    "Sequence number": (-1,), "Python id": (), "Python parent id": (), "Python module id": (),
}
IDS_OF_EVENT = ("pid", "id", "bind_id")


class Part:
    def __init__(self, merged, entry):
        self.number = entry["number"]
        self.digits = merged["mergedRanks"]["digits"]
        self.step = 10**self.digits
        self.label = entry["label"]
        rest = merged["mergedMetadata"][str(self.number)]
        self.members, self.long_ids = rest["members"], rest.get("long_ids", [])
        self.shift_us = Fraction(entry["shift_ns"], 1000)

    def number_of(self, value):
        """Of an id; None if it is not one of a part."""
        if isinstance(value, str):
            if re.fullmatch(r"-?(0|[1-9]\d*)", value):
                return abs(int(value)) % self.step
            return int(value[-self.digits:])
        return abs(value) % self.step

    def id_before(self, value):
        if isinstance(value, str):
            if re.fullmatch(r"-?(0|[1-9]\d*)", value):
                return str(self.id_before(int(value)))
            if re.fullmatch(r"0[xX][0-9a-fA-F]+", value):
                return value[:-self.digits]
            return value[:-self.digits - 1]
        if value >= FIRST_LONG_ID:
            return self.long_ids[(value - FIRST_LONG_ID) // self.step]
        return value // self.step if value >= 0 else -(-value // self.step)

    def before(self, event):
        """The event as it was in the part; None if the merge added it."""
        args = event.get("args")
        if isinstance(args, dict) and args.get("added_by") == "tbtrace merge":
            return None
        event = dict(event)
        for key in IDS_OF_EVENT:
            if isinstance(event.get(key), (int, str)) and not isinstance(event.get(key), bool):
                event[key] = self.id_before(event[key])
        if isinstance(event.get("ts"), (int, float, Fraction)):
            event["ts"] = event["ts"] - self.shift_us
        if isinstance(args, dict):
            args = dict(args)
            for key in args.keys() & NO_ID.keys():
                is_id = isinstance(args[key], (int, str)) and not isinstance(args[key], bool)
                if is_id and args[key] not in NO_ID[key] and args[key] not in map(str, NO_ID[key]):
                    args[key] = self.id_before(args[key])
            if event.get("name") == "process_name" and "name" in args:
                name = args["name"].removeprefix(self.label + ": ")
                args["name"] = name[:name.rindex("(")].rstrip(" ") if name.endswith(")") and not isinstance(event["pid"], str) else name
            if event.get("name") == "process_sort_index" and args.get("sort_index", 0) >= 0:
                args["sort_index"] -= self.number * SORT_ROOM
            event["args"] = args
        return event


def unmerged(merged):
    """By number of the part: its events as they were, and its other members."""
    parts = {entry["number"]: Part(merged, entry) for entry in merged["mergedRanks"]["parts"]
             if str(entry["number"]) in merged["mergedMetadata"]}
    any_part = next(iter(parts.values()))
    events = {number: [] for number in parts}
    for event in merged["traceEvents"]:
        number = any_part.number_of(event["pid"])
        before = parts[number].before(event)
        if before is not None:
            events[number].append(before)
    return {number: (events[number], part.members) for number, part in parts.items()}
