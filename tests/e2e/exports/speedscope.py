"""speedscope's files, read by Python's json with the rules of its importer."""
import collections
import json

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def check(report, where, source, path):
    document = json.loads(path.read_bytes())
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    report(document["$schema"] == SCHEMA and len(set(frames)) == len(frames), f"{where}: schema, or a frame twice")
    profiles = document["profiles"]
    report(not profiles or profiles[document["activeProfileIndex"]], f"{where}: no active profile")
    by_name, tracks, device_time = collections.Counter(), collections.Counter(), 0
    for profile in profiles:
        name = profile["name"]
        if profile["type"] == "sampled":
            same = len(profile["samples"]) == len(profile["weights"]) and sum(profile["weights"]) == profile["endValue"]
            report(same and name.endswith("device time by the stack on the host"), f"{where}: {name}: samples and weights")
            device_time += sum(profile["weights"])
            continue
        open_frames, last = [], profile["startValue"]
        for event in profile["events"]:
            at, frame = event["at"], frames[event["frame"]]
            if not (type(at) is int and at >= last):
                report(False, f"{where}: {name}: at {at} after {last}")
            last = at
            if event["type"] == "O":
                open_frames.append((frame, at))
                continue
            begun, start = open_frames.pop()
            if begun != frame:
                report(False, f"{where}: {name}: {frame} ends in {begun}")
            for table, key in ((by_name, frame), (tracks, name.split(", lane ")[0])):
                table[key, "count"] += 1
                table[key, "time"] += at - start
        report(not open_frames and last == profile["endValue"], f"{where}: {name}: {open_frames[-3:]} are open")
    if source:
        expected = {(key[0], key[-1]): count for key, count in source.by_name.items()}
        report(dict(by_name) == expected, f"{where}: other names: {sorted(dict(by_name).items() ^ expected.items(), key=str)[:6]}")
        report(device_time == source.device_time or not source.device_time, f"{where}: {device_time} ns of device time, {source.device_time} in the source")
    return by_name
