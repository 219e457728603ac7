"""What a trace holds, read by Python's json: what exported files have to hold."""
import collections
import decimal
import gzip
import json

from e2e.trace_reading import COPIES, KERNELS, is_launch, nanoseconds

# Arguments with their types; others of the name are not what the reader knows them as.
KEYS = {"External id": int, "correlation": int, "grid": list, "stream": int, "Input Dims": list, "Concrete Inputs": list,
        "Sequence number": int, "Call stack": str, "est. achieved occupancy %": (int, decimal.Decimal), "bytes": int}
OLDER_KEYS = {"external id": "External id", "Input dims": "Input Dims"}


def read(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    document = json.loads(data, parse_float=decimal.Decimal)
    return document if isinstance(document, list) else document["traceEvents"]


class Source:
    """Of one or several traces together."""

    def __init__(self, paths):
        self.by_name = collections.Counter()  # (name, "count" or "time")
        self.by_track = collections.Counter()  # (file, process, thread, "count" or "time")
        self.arguments = collections.Counter()
        self.flows = self.ranges = self.memory = self.instants = self.device_time = 0
        self.counters = collections.Counter()
        for number, path in enumerate(paths):
            self.add(number, read(path))

    def add(self, number, events):
        calls, starts = {}, set()
        for event in events:
            args = event.get("args") or {}
            if event["name"] == "[memory]" and (event["ph"] == "i" or event.get("cat") == "cpu_instant_event"):
                self.memory += 1
            elif event["ph"] == "X":
                duration = max(0, nanoseconds(event.get("dur", 0)))
                self.ranges += 1
                if event.get("cat", "").lower() in KERNELS | COPIES:
                    self.device_time += duration
                track = (number, str(event["pid"]), str(event["tid"]))
                for key in ((event["name"],), track):
                    table = self.by_name if len(key) == 1 else self.by_track
                    table[(*key, "count")] += 1
                    table[(*key, "time")] += duration
                for key, value in args.items():
                    key = OLDER_KEYS.get(key, key)
                    if isinstance(value, KEYS.get(key, ())) and value != "" and (key, value) != ("correlation", 0):
                        self.arguments[key] += 1
                if is_launch(event.get("cat", "").lower()) and args.get("correlation"):
                    calls[args["correlation"]] = event
            elif event["ph"] in "iI":
                self.instants += 1
            elif event["ph"] == "s" and event.get("cat") == "fwdbwd":
                starts.add(event["id"])
            elif event["ph"] == "C":
                self.counters.update(f"{event['name']}" for value in args.values())
        for event in events:
            args = event.get("args") or {}
            if event["ph"] == "X" and event.get("cat", "").lower() in KERNELS | COPIES and args.get("correlation") in calls:
                goes_back = nanoseconds(event["ts"]) < nanoseconds(calls[args["correlation"]]["ts"])
                self.flows += not goes_back
            elif event["ph"] == "f" and event.get("cat") == "fwdbwd" and event["id"] in starts:
                self.flows += 1

    def tracks(self):
        """Ranges and time of each track, whatever it is called."""
        counts = {key[:3]: value for key, value in self.by_track.items() if key[3] == "count"}
        return sorted((count, self.by_track[(*key, "time")]) for key, count in counts.items())
