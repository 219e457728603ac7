#!/usr/bin/env python3
"""Does event_text.py read event files as their formats are published, and refuse what is not one?

Bytes are put together here by hand, so that neither tbtrace nor a protobuf library has a say in them.
"""

import struct
import unittest
import zlib

from event_text import text_of
from tfrecords import crc32c, masked_crc, records


def varint(number):
    number &= (1 << 64) - 1
    packed = bytearray()
    while number > 0x7F:
        packed.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(packed) + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def nested(field, *parts):
    content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(content)) + content


def record(payload):
    length = struct.pack("<Q", len(payload))
    return (length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload)))


def tensor(dtype, shape, *values):
    return nested(8, number(1, dtype), nested(2, *(nested(2, number(1, size)) for size in shape)), *values)


def metadata(plugin, data_class, *more, content=b""):
    return nested(9, nested(1, nested(1, plugin), nested(2, content)), *more, number(4, data_class))


def event(step, *value, wall_time=1.5):
    return record(double(1, wall_time) + number(2, step) + nested(5, nested(1, *value)))


FIRST = record(double(1, 1.5) + nested(3, "brain.Event:2") + nested(10, nested(1, "us")))
FLOAT, DOUBLE, STRING = 1, 2, 7
SCALAR, TENSOR, BLOBS = 1, 2, 3
LOSS = (nested(1, "loss"), tensor(FLOAT, [], nested(5, struct.pack("<f", 0.1))))
SCALARS = metadata("scalars", SCALAR)


def png(pixels, filters=0, width=2):
    """Of grey rows."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(bytes([filters]) + bytes(row) for row in pixels)
    head = struct.pack(">IIBBBBB", width, len(pixels), 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def picture(data, width="2", height="2"):
    return event(0, nested(1, "p"), tensor(STRING, [3], nested(8, width), nested(8, height), nested(8, data)),
                 metadata("images", BLOBS))


class Frame(unittest.TestCase):
    def test_crc32c_vectors_of_rfc_3720(self):
        command = bytes.fromhex("01c00000000000000000000000000000 14000000000004000000001400000018"
                                "28000000000000000200000000000000")
        for data, checksum in ((bytes(32), "aa36918a"), (b"\xff" * 32, "43aba862"), (bytes(range(32)), "4e79dd46"),
                               (bytes(reversed(range(32))), "5cdb3f11"), (command, "563a96d9")):
            self.assertEqual(struct.pack("<I", crc32c(data)).hex(), checksum)

    def test_a_record_of_tensorflow(self):
        # The head of every event file whose first payload has 24 bytes.
        self.assertEqual(struct.pack("<QI", 24, masked_crc(struct.pack("<Q", 24))).hex(), "1800000000000000a37f4b22")

    def test_every_changed_byte_is_refused(self):
        whole = FIRST + event(3, *LOSS, SCALARS)
        self.assertEqual(len(records(whole)), 2)
        for at in range(len(whole)):
            for flip in (0x01, 0x80, 0xFF):
                damaged = bytearray(whole)
                damaged[at] ^= flip
                with self.assertRaises(ValueError, msg=f"byte {at} with {flip:#x}"):
                    records(bytes(damaged))

    def test_every_cut_is_refused(self):
        whole = FIRST + event(3, *LOSS, SCALARS)
        for end in set(range(1, len(whole))) - {len(FIRST)}:
            with self.assertRaises(ValueError, msg=f"cut at {end}"):
                records(whole[:end])
        self.assertEqual(len(records(FIRST)), 1)


class Text(unittest.TestCase):
    def shown(self, *events):
        lines = text_of(FIRST + b"".join(events)).splitlines()
        self.assertEqual(lines[0], "brain.Event:2 by us, wall time 1.5")
        return lines[1:]

    def refused(self, reason, *events, first=FIRST):
        with self.assertRaises((ValueError, KeyError)) as caught:
            text_of(first + b"".join(events))
        self.assertRegex(str(caught.exception), reason)

    def test_scalars_name_their_plugin_once(self):
        again = (nested(1, "loss"), tensor(FLOAT, [], nested(5, struct.pack("<f", -2e10))))
        self.assertEqual(self.shown(event(3, *LOSS, SCALARS), event(3, *again), event(-1, *again, wall_time=2.25)), [
            "step 3, wall time 1.5", "  loss [scalars] = 0.1", "  loss = -2e+10",
            "step -1, wall time 2.25", "  loss = -2e+10"])
        self.refused("does not say which plugin", event(3, *LOSS))

    def test_display_names_and_descriptions_are_shown(self):
        named = metadata("scalars", SCALAR, nested(2, "Loss"), nested(3, "of all"))
        self.assertEqual(self.shown(event(0, *LOSS, named)),
                         ["step 0, wall time 1.5",
                          "  loss [scalars, display_name Loss, summary_description of all] = 0.1"])

    def test_texts_by_line_with_hidden_characters_made_visible(self):
        value = nested(8, "| a |\n\n\x1b\u00e9\u00a0\u200b ")
        self.assertEqual(self.shown(event(0, nested(1, "t\t"), tensor(STRING, [], value), metadata("text", TENSOR))), [
            "step 0, wall time 1.5", "  t<U+0009> [text]", "    | | a |", "    |",
            "    | <U+001B>\u00e9<U+00A0><U+200B>"])

    def test_histograms_by_bucket(self):
        packed = nested(6, struct.pack("<6d", -1, 0, 2, 0, 0.5, 1e6))
        single = b"".join(varint(6 << 3 | 1) + struct.pack("<d", edge) for edge in (-1, 0, 2, 0, 0.5, 1e6))
        for values in (packed, single):
            self.assertEqual(self.shown(event(0, nested(1, "h"), tensor(DOUBLE, [2, 3], values),
                                              metadata("histograms", TENSOR))),
                             ["step 0, wall time 1.5", "  h [histograms]", "    -1.0 to 0.0: 2",
                              "    0.0 to 0.5: 1e+06"])
        for reason, shape, values in (("shape", [3, 2], packed), ("7 values", [2, 3], packed + nested(6, bytes(8)))):
            self.refused(reason, event(0, nested(1, "h"), tensor(DOUBLE, shape, values),
                                       metadata("histograms", TENSOR)))

    def test_layouts_as_structure(self):
        chart = nested(2, nested(1, "Time"), nested(2, nested(1, "a/.*"), nested(1, "b$")))
        message = nested(2, nested(1, "Ours"), chart, number(3, 1))
        self.assertEqual(self.shown(event(0, nested(1, "c"), tensor(STRING, [], nested(8, message)),
                                          metadata("custom_scalars", TENSOR))), [
            "step 0, wall time 1.5", "  c [custom_scalars]", "    category Ours, closed", "      chart Time",
            "        tag a/.*", "        tag b$"])

    def test_hyperparameters_in_the_order_of_their_names(self):
        entries = [nested(1, nested(1, name), nested(2, value)) for name, value in
                   (("size", double(2, 8)), ("host", nested(3, "a b")), ("on", number(4, 0)))]
        start = nested(3, *entries, double(5, 7.5))
        end = nested(4, number(1, 1), double(2, 9))
        events = [event(0, nested(1, tag), tensor(FLOAT, [0]), metadata("hparams", TENSOR, content=content))
                  for tag, content in (("s", start), ("e", end))]
        self.assertEqual(self.shown(*events), [
            "step 0, wall time 1.5", "  s [hparams]", "    session_start_info", "      hparam host = 'a b'",
            "      hparam on = False", "      hparam size = 8.0", "      start_time_secs 7.5",
            "  e [hparams]", "    session_end_info", "      end_time_secs 9.0", "      status success"])
        twice = nested(3, entries[0], entries[0])
        self.refused("twice", event(0, nested(1, "s"), tensor(FLOAT, [0]), metadata("hparams", TENSOR, content=twice)))

    def test_pictures_by_what_is_in_them(self):
        for data, colours in ((png([[9, 9], [9, 9]]), "a single colour"), (png([[9, 9], [9, 8]]), "several colours"),
                              (png([[9, 9], [8, 8]]), "several colours"),
                              (png([[9, 0], [9, 0]], filters=1), "a single colour"),
                              (png([[9, 9], [0, 0]], filters=2), "a single colour"),
                              (png([[9, 0], [0, 1]], filters=2), "several colours"),
                              (png([[9, 5], [5, 0]], filters=3), "a single colour"),
                              (png([[9, 0], [0, 0]], filters=4), "a single colour"),
                              (png([[9, 0], [0, 1]], filters=4), "several colours")):
            self.assertEqual(self.shown(picture(data))[1:], [f"  p [images]: PNG, 2 wide, 1 channels, {colours}"])
        self.refused("is said to be", picture(png([[9, 9]])))
        good = png([[9, 9], [9, 9]])
        for damaged in (good[1:], good[:-1], good + b"\0", good[:45] + bytes([good[45] ^ 1]) + good[46:]):
            self.refused("PNG|damaged", picture(damaged))
        self.refused("bytes of pixels", picture(png([[9, 9, 9], [9, 9, 9]])))

    def test_unknown_fields_are_refused_in_every_message(self):
        unknown = number(99, 1)
        self.refused("Event has field 99", record(double(1, 1.5) + unknown))
        self.refused("Summary.Value has field 99", event(0, *LOSS, SCALARS, unknown))
        self.refused("SummaryMetadata has field 99", event(0, *LOSS, metadata("scalars", SCALAR, unknown)))
        self.refused("TensorProto has field 99", event(0, nested(1, "l"), tensor(FLOAT, [], unknown), SCALARS))
        self.refused("Layout has field 99", event(0, nested(1, "c"), tensor(STRING, [], nested(8, unknown)),
                                                  metadata("custom_scalars", TENSOR)))
        self.refused("HParamsPluginData has field 99", event(0, nested(1, "s"), tensor(FLOAT, [0]),
                                                             metadata("hparams", TENSOR, content=unknown)))

    def test_messages_that_are_not_well_formed_are_refused(self):
        for reason, payload in (("ends in a number", b"\x80"), ("64 bits", b"\x10" + b"\xff" * 9 + b"\x7f"),
                                ("ends in a field", b"\x09\0"), ("wire type 3", b"\x0b"),
                                ("double has wire type 0", number(1, 1)), ("step once", number(2, 1) * 2)):
            self.refused(reason, record(payload))

    def test_values_that_their_plugin_does_not_take_are_refused(self):
        for reason, value in (("type double", tensor(DOUBLE, [], nested(6, bytes(8)))),
                              ("shape", tensor(FLOAT, [1], nested(5, bytes(4)))),
                              ("2 values", tensor(FLOAT, [], nested(5, bytes(8)))),
                              ("double_val", tensor(FLOAT, [], nested(5, bytes(4)), nested(6, bytes(8)))),
                              ("without a shape", nested(8, number(1, FLOAT), nested(5, bytes(4)))),
                              ("5 is not a DataType", tensor(5, []))):
            self.refused(reason, event(0, nested(1, "loss"), value, SCALARS))
        self.refused("with the class", event(0, *LOSS, metadata("scalars", TENSOR)))
        self.refused("with the class", event(0, *LOSS, metadata("audio", TENSOR)))
        self.refused("bytes for its plugin", event(0, *LOSS, metadata("scalars", SCALAR, content=b"x")))

    def test_files_begin_with_their_version(self):
        self.refused("event 0", event(3, *LOSS, SCALARS), first=b"")
        self.refused("event 1", FIRST)
        self.refused("2 values", record(double(1, 1) + nested(5, nested(1, *LOSS, SCALARS), nested(1, *LOSS))))


if __name__ == "__main__":
    unittest.main()
