"""Perfetto's files, read by protobuf and by Perfetto's own engine."""
import collections
import pathlib
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def message_class(file, name):
    """A message of a .proto of this folder."""
    with tempfile.TemporaryDirectory() as scratch:
        described = pathlib.Path(scratch) / "set"
        folder = pathlib.Path(__file__).parent
        subprocess.run(["protoc", f"--proto_path={folder}", f"--descriptor_set_out={described}", file], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for each in files.file:
        pool.Add(each)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


class Decoded:
    """What is in a file, by its packets. Wrong files raise."""

    def __init__(self, data, message):
        self.by_name, self.by_track = collections.Counter(), collections.Counter()
        self.arguments, self.counters = collections.Counter(), collections.Counter()
        self.tracks, self.instants = {}, 0
        self.texts = collections.defaultdict(dict)  # by sequence and kind
        self.zero = {}  # by sequence
        self.begun, self.last, self.points = collections.defaultdict(list), {}, []
        starts, ends = collections.Counter(), collections.Counter()
        for packet in message.FromString(data).packet:
            sequence = packet.trusted_packet_sequence_id
            if packet.HasField("clock_snapshot"):
                assert packet.sequence_flags == 1 and packet.trace_packet_defaults.timestamp_clock_id == 64
                clocks = {clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks}
                assert clocks[64] == 0
                self.zero[sequence] = clocks
                continue
            assert packet.sequence_flags == 2 and sequence in self.zero
            for kind in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"):
                for entry in getattr(packet.interned_data, kind):
                    assert entry.iid not in self.texts[sequence, kind]
                    self.texts[sequence, kind][entry.iid] = entry.name
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                assert track.uuid not in self.tracks and (not track.parent_uuid or track.parent_uuid in self.tracks)
                self.tracks[track.uuid] = track
            if packet.HasField("track_event"):
                self.add(sequence, packet.timestamp, packet.track_event)
                starts.update(packet.track_event.flow_ids)
                ends.update(packet.track_event.terminating_flow_ids)
        assert not any(self.begun.values()), "a range has no end"
        assert starts == ends and set(starts.values()) <= {1}, "flows without an end, or twice"
        self.flows = len(starts)

    def add(self, sequence, time, event):
        track = event.track_uuid
        assert track in self.tracks
        if event.type in (BEGIN, END):
            assert time >= self.last.get(track, 0), "times go back"
            self.last[track] = time
        if event.type == BEGIN:
            name = self.texts[sequence, "event_names"][event.name_iid]
            assert all(iid in self.texts[sequence, "event_categories"] for iid in event.category_iids)
            self.begun[track].append((name, time))
            for one in event.debug_annotations:
                self.arguments[self.texts[sequence, "debug_annotation_names"][one.name_iid]] += 1
                if one.HasField("string_value_iid"):
                    assert one.string_value_iid in self.texts[sequence, "debug_annotation_string_values"]
        elif event.type == END:
            name, start = self.begun[track].pop()
            for key, table in ((name, self.by_name), (self.whole(track), self.by_track)):
                table[key, "count"] += 1
                table[key, "time"] += time - start
        elif event.type == COUNTER:
            assert self.tracks[track].HasField("counter")
            self.counters[self.tracks[track].name] += 1
        else:
            self.instants += 1

    def whole(self, uuid):
        """The track that a lane is of."""
        track = self.tracks[uuid]
        if track.HasField("thread"):
            return uuid
        parent = self.tracks[track.parent_uuid] if track.parent_uuid else None
        return parent.uuid if parent and parent.HasField("thread") else (track.parent_uuid, track.sibling_merge_key_int)

    def all_tracks(self):
        return sorted((count, self.by_track[key, "time"])
                      for (key, what), count in self.by_track.items() if what == "count")


FIGURES = """select (select count(*) from slice where dur != 0 or name is not null), (select count(*) from flow),
  (select count(*) from counter), (select sum(dur) from slice), (select count(*) from slice where depth > 400)"""


def check(report, where, source, path, message, engine):
    """`engine`: answers a query about a file; None: without it. `source`: None if Python cannot read it."""
    decoded = Decoded(path.read_bytes(), message)
    ranges = sum(count for (_, what), count in decoded.by_name.items() if what == "count")
    time = sum(count for (_, what), count in decoded.by_name.items() if what == "time")
    if source:
        expected = {(key[0], key[-1]): count for key, count in source.by_name.items()}
        report({key: value for key, value in decoded.by_name.items()} == expected,
               f"{where}: other names: {sorted(dict(decoded.by_name).items() ^ expected.items(), key=str)[:6]}")
        report(decoded.all_tracks() == source.tracks(), f"{where}: other tracks: {decoded.all_tracks()[:6]} {source.tracks()[:6]}")
        report(decoded.flows == source.flows, f"{where}: {decoded.flows} flows, {source.flows} in the source")
        report(decoded.instants == source.instants, f"{where}: {decoded.instants} instants, {source.instants} in the source")
        allocated = sum(count for name, count in decoded.counters.items() if name.startswith("allocated on "))
        report(allocated == source.memory, f"{where}: {allocated} values of memory, {source.memory} records")
        for key, count in source.arguments.items():
            report(decoded.arguments[key] == count, f"{where}: {decoded.arguments[key]} x {key}, {count} in the source")
    if engine:
        [[slices, flows, counters, all_time, too_deep]] = engine(path, FIGURES)
        report(slices == ranges + decoded.instants, f"{where}: Perfetto has {slices} slices of {ranges} + {decoded.instants}")
        report(flows == decoded.flows, f"{where}: Perfetto has {flows} flows of {decoded.flows}")
        report(counters == sum(decoded.counters.values()), f"{where}: Perfetto has {counters} counter values")
        report((all_time or 0) == time and too_deep == 0, f"{where}: Perfetto's slices take {all_time} of {time} ns")
        wrong = engine(None, "select name, idx, value from stats where value > 0 and severity in ('error', 'data_loss')")
        report(not wrong, f"{where}: Perfetto reports {wrong}")
    return decoded
