"""pprof's files, read by protobuf."""
import collections
import gzip


def check(report, where, source, path, message):
    profile = message.FromString(gzip.decompress(path.read_bytes()))
    texts = profile.string_table
    report(texts[0] == "" and len(set(texts)) == len(texts), f"{where}: texts")
    types = [(texts[each.type], texts[each.unit]) for each in profile.sample_type]
    report(types == [("count", "count"), ("cpu_self", "nanoseconds"), ("device", "nanoseconds")], f"{where}: {types}")
    names = {function.id: texts[function.name] for function in profile.function}
    frames = {location.id: names[location.line[0].function_id] for location in profile.location}
    report(0 not in frames and len(frames) == len(profile.location), f"{where}: ids of locations")
    counts, device = collections.Counter(), 0
    for sample in profile.sample:
        count, cpu, of_device = sample.value
        if not sample.location_id or cpu < 0 or of_device < 0 or not count:
            report(False, f"{where}: a sample without a frame, or with {sample.value}")
        counts[frames[sample.location_id[0]]] += count
        device += of_device
        labels = {texts[label.key] for label in sample.label}
        if len(labels) != len(sample.label) or len(labels & {"thread", "stream"}) != 1:
            report(False, f"{where}: labels {labels}")
    if source:
        more = {name: count for name, count in counts.items() if count > source.by_name["" if name == "[unnamed]" else name, "count"]}
        report(not more, f"{where}: more often than in the source: {more}")
        report(device == source.device_time or not source.device_time,
               f"{where}: {device} ns of device time, {source.device_time} in the source")
    return counts
