"""Firefox profiler's files, read by Python's json."""
import collections
import decimal
import json


def nanoseconds(milliseconds):
    return int(decimal.Decimal(milliseconds) * 1_000_000)


def rows(table):
    assert sorted(table["schema"].values()) == list(range(len(table["schema"])))
    for row in table["data"]:
        assert len(row) == len(table["schema"])
        yield {key: row[at] for key, at in table["schema"].items()}


def threads(process):
    assert process["meta"]["version"] == 31 and process["meta"]["interval"] > 0
    yield from ((process["meta"], thread) for thread in process["threads"])
    for child in process["processes"]:
        yield from threads(child)


def check(report, where, source, path):
    document = json.loads(path.read_bytes(), parse_float=decimal.Decimal)
    by_name, tids = collections.Counter(), set()
    for meta, thread in threads(document):
        texts, categories = thread["stringTable"], len(meta["categories"])
        tids.add(thread["tid"])
        for marker in rows(thread["markers"]):
            name = texts[marker["name"]]
            if marker["phase"] == 1:
                time = nanoseconds(marker["endTime"]) - nanoseconds(marker["startTime"])
                if time < 0 or not 0 <= marker["category"] < categories or marker["data"]["type"] != "range":
                    report(False, f"{where}: {marker}")
                by_name[name, "count"] += 1
                by_name[name, "time"] += time
        frames = list(rows(thread["frameTable"]))
        stacks = list(rows(thread["stackTable"]))
        report(all(texts[frame["location"]] is not None for frame in frames), f"{where}: frames")
        report(all(stack["prefix"] is None or stack["prefix"] < at for at, stack in enumerate(stacks)), f"{where}: stacks")
        last = -1
        for sample in rows(thread["samples"]):
            if sample["time"] <= last or not 0 <= sample["stack"] < len(stacks):
                report(False, f"{where}: {sample} after {last}")
            last = sample["time"]
    report(len(tids) == sum(1 for _ in threads(document)), f"{where}: ids of threads repeat")
    if source:
        expected = {(key[0], key[-1]): count for key, count in source.by_name.items()}
        report(dict(by_name) == expected, f"{where}: other names: {sorted(dict(by_name).items() ^ expected.items(), key=str)[:6]}")
    return by_name
