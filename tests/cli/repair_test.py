#!/usr/bin/env python3
"""What `tbtrace repair` makes of damaged traces, and what it says of them.

    repair_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. tests/reference/damaged_traces.py damages traces at random.
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 10, "dur": 5}


def run(*words, text=None):
    done = subprocess.run([PROGRAM, *map(str, words)], input=text, capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def refused(text):
    raise ValueError(f"{text} is not JSON")


def strict(text):
    return json.loads(text.decode("utf-8"), parse_constant=refused)


class Repairs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "out.json"

    def repaired(self, text, name="trace.json"):
        """The document, its receipt, and what was said."""
        path = self.folder / name
        path.write_bytes(text)
        code, said, errors = run("repair", path, "-o", self.out, "--overwrite")
        self.assertEqual((code, said), (0, b""), errors)
        document = strict(self.out.read_bytes())
        return document["traceEvents"], document["tbtrace_repair"], errors

    def test_files_with_nothing_to_repair_are_copied(self):
        for text in (json.dumps({"traceEvents": [EVENT], "a": 1e3, "b": "\\"}).encode(), b'[{"ph":"M"}]\n', b"[]",
                     b'{"traceEvents": []}', b'{"traceEvents":[{"ph":"B","ts":1,"name":"open"}]}'):
            path = self.folder / "whole.json"
            path.write_bytes(text)
            code, _, errors = run("repair", path, "-o", self.out, "--overwrite", "--receipt", self.folder / "receipt.json")
            self.assertEqual(code, 0, errors)
            self.assertEqual(self.out.read_bytes(), text)
            self.assertIn("there was nothing to repair", errors)
            receipt = strict((self.folder / "receipt.json").read_bytes())
            self.assertEqual((receipt["lost_bytes"], receipt["damages"], receipt["changes"]), (0, [], {}))
            compressed = self.folder / "whole.json.gz"
            self.assertEqual(run("repair", path, "-o", compressed, "--overwrite")[0], 0)
            self.assertEqual(gzip.decompress(compressed.read_bytes()), text)
            self.assertEqual(run("repair", "-", "-o", "-", text=text)[1], text)

    def test_strict_repairs_copy_what_is_whole(self):
        # An argument of another type, a repeated key of a wrong kind: issues of readers, but valid JSON.
        for args in ({"Sequence number": "soon"}, {"Input Dims": 7}, {"External id": 1.5}):
            path = self.folder / "whole.json"
            path.write_text(json.dumps({"traceEvents": [EVENT | {"args": args}, EVENT | {"dur": -5}]}))
            code, _, errors = run("repair", path, "-o", self.out, "--overwrite", "--strict")
            self.assertEqual(code, 0, errors)
            self.assertEqual(self.out.read_bytes(), path.read_bytes())

    def test_values_that_are_not_json_become_text(self):
        text = (b'{"traceEvents": [{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2,"args":{"x":NaN,"y":[1,-Infinity],'
                b'"z":N/A,"blocks per SM":inf,"Input Dims":[[1]]}}], "m": Infinity, "n": {"o": [NaN]}}')
        events, receipt, errors = self.repaired(text)
        self.assertEqual(events[0]["args"], {"x": "NaN", "y": "[1,-Infinity]", "z": "N/A", "Input Dims": [[1]]})
        self.assertEqual((receipt["read_events"], receipt["lost_bytes"]), (1, 0))
        self.assertEqual(receipt["changes"]["values_left_out"], 1)
        self.assertEqual(strict(self.out.read_bytes())["m"], "Infinity")
        self.assertIn("has 1 event; no byte is lost", errors)

    def test_texts_without_escapes_are_escaped(self):
        for name, meant in ((b'say "hi" now', 'say "hi" now'), (b"C:\\Users\\x", "C:\\Users\\x"), (b"a\tb\x01", "a\tb\x01"),
                            (b"a\xff", "a\ufffd"), (b"\\ud800", "\ufffd")):
            event = b'{"ph":"X","name":"' + name + b'","pid":1,"tid":2,"ts":1,"dur":2,"args":{"k":"' + name + b'"}}'
            events, receipt, _ = self.repaired(b'{"traceEvents": [' + event + b"]}")
            self.assertEqual((events[0]["name"], events[0]["args"]["k"]), (meant, meant))
            self.assertEqual(receipt["damages"], [])
            self.assertTrue(receipt["issues"] and receipt["changes"], name)
        # Where no result reads it, too.
        for part in (b'"args":{"k":"\\q"}', b'"args":{"\\q":1}', b'"k":"\\q"', b'"\\q":1', b'"id":"\\q"'):
            events, receipt, _ = self.repaired(b'{"traceEvents": [{"ph":"X","name":"a","ts":1,' + part + b"}]}")
            self.assertEqual(receipt["changes"], {"texts_escaped": 1}, part)

    def test_control_characters_outside_of_texts_are_not_copied(self):
        text = b'[{"ph":"X","name":"a","pid":7,"ts":1.5 ,"dur":2,"args":{"x":null,"y":[1],"z":{} }}]'
        path = self.folder / "control.json"
        for at in range(len(text) + 1):
            for control in (b"\x00", b"\x0b", b"\x1f"):
                path.write_bytes(text[:at] + control + text[at:])
                code, _, errors = run("repair", path, "-o", self.out, "--overwrite")
                if code == 3:
                    continue  # what is left of it has no array
                self.assertEqual(code, 0, errors)
                strict(self.out.read_bytes())

    def test_the_receipt_says_what_is_lost_and_where(self):
        start = b'{"traceEvents": ['
        event = json.dumps(EVENT).encode()
        for between, kind in ((b"writes this", "event_unreadable"), (b"17", "event_incomplete"), (b"{}", "event_incomplete"),
                              (b'{"ph":"X","name":"a","ts":"soon"}', "time_unreadable"),
                              (b'{"ph":"s","cat":"ac2g","ts":1}', "event_incomplete")):
            text = start + event + b"," + between + b"," + event + b"]}"
            events, receipt, errors = self.repaired(text)
            self.assertEqual(events, [EVENT, EVENT])
            self.assertEqual((receipt["read_events"], receipt["issues"]), (2, {kind: 1}))
            damage, = receipt["damages"]
            self.assertEqual((damage["at_byte"], damage["kind"]), (len(start) + len(event) + 1, kind))
            self.assertIn(damage["bytes"], (len(between), len(between) + 1), between)
            self.assertIn(f"at byte {damage['at_byte']}, {damage['bytes']} bytes are lost ({kind})", errors)
        text = start + event + b"]}" + start + event + b"]}"
        events, receipt, _ = self.repaired(text)
        self.assertEqual((events, receipt["damages"]), (
            [EVENT], [{"at_byte": len(text) // 2, "kind": "trailing_text", "bytes": len(text) // 2}]))
        text = start + event + b'], "traceEvents": [' + event + b"," + event + b"]}"
        events, receipt, _ = self.repaired(text)
        self.assertEqual((events, receipt["damages"]), (
            [EVENT, EVENT], [{"at_byte": 1, "kind": "events_replaced", "bytes": len(start) - 1 + len(event) + 1}]))
        self.assertEqual(self.repaired(b"\xef\xbb\xbf" + start + event + b"]}")[1]["changes"], {"document_rewritten": 1})
        self.assertEqual(self.repaired(b"[" + event + b",")[1]["changes"], {"document_rewritten": 1})

    def test_stray_brackets_lose_one_event_at_most(self):
        rows = [json.dumps(EVENT | {"name": f"a{number}"}).encode() for number in range(6)]
        for start, end in ((b'{"traceEvents": [', b"]}"), (b'{"traceEvents":[', b'],\n"traceName":"x"}'), (b"[", b"]")):
            for bracket in (b"[", b"]", b"{", b"}"):
                for place in range(1, 5):
                    for piece in ((bracket + rows[place],), (rows[place] + bracket,), (bracket, rows[place])):
                        text = start + b",\n ".join([*rows[:place], *piece, *rows[place + 1:]]) + end
                        events, receipt, _ = self.repaired(text)
                        names = [event["name"] for event in events]
                        others = [f"a{number}" for number in range(6) if number != place]
                        self.assertEqual([name for name in names if name in others], others, text)
                        # One stretch, unless an event follows it that is whole.
                        lost = [damage["bytes"] for damage in receipt["damages"]]
                        self.assertEqual(len(lost), 1, (text, receipt))
                        self.assertEqual(sum(lost), receipt["lost_bytes"])

    def test_very_many_damages_add_up(self):
        event = json.dumps(EVENT).encode()
        broken = 10_500 * (event + b",17,")
        text = b'{"traceEvents": [' + broken + event + b"]}" + b" after\n" * 500_000
        receipt = self.repaired(text)[1]
        self.assertEqual(len(receipt["damages"]), 10_001)
        self.assertEqual((receipt["damages_left_out"], receipt["damages"][-1]["kind"]), (500, "trailing_text"))
        lost = sum(damage["bytes"] for damage in receipt["damages"])
        self.assertEqual(receipt["damages"][-1]["bytes"], len(b" after\n" * 500_000) - 1)
        self.assertEqual(receipt["lost_bytes"] - lost, 500 * receipt["damages"][0]["bytes"])
        text = b'{"traceEvents": [' + broken + event + b'], "traceEvents": [' + event + b"]}"
        receipt = self.repaired(text)[1]
        damage, = receipt["damages"]
        self.assertEqual((receipt["damages_left_out"], receipt["lost_bytes"]), (0, damage["bytes"]))

    def test_compressed_data_that_are_cut_lose_an_unknown_part(self):
        text = json.dumps({"traceEvents": [EVENT | {"ts": number * 7919 % 65537} for number in range(3000)]}).encode()
        stored = gzip.compress(text)
        events, receipt, errors = self.repaired(stored[:len(stored) // 2], "cut.json.gz")
        self.assertEqual(events, json.loads(text)["traceEvents"][:len(events)])
        self.assertGreater(len(events), 1000)
        self.assertEqual([damage["kind"] for damage in receipt["damages"]], ["input_truncated", "input_damaged"])
        self.assertIsNone(receipt["damages"][1]["bytes"])
        self.assertIn("an unknown number of bytes is lost (input_damaged)", errors)

    def test_recorded_traces_that_are_damaged_become_valid(self):
        for name in ("damaged.json", "cut.json.gz", "cut.json.zst", "hostile_names.json", "twice.json.gz", "bare_array.json"):
            code, _, errors = run("repair", DATA / name, "-o", self.out, "--overwrite")
            if code == 3 and "libzstd" in errors:
                continue
            self.assertEqual(code, 0, errors)
            strict(self.out.read_bytes())
            tables = [json.loads(run("ops", path, "--strict-totals", "--format", "json")[1]) for path in (DATA / name, self.out)]
            self.assertEqual(tables[0]["rows"], tables[1]["rows"], name)
        # What another value replaces may be no JSON, too.
        for text in (b'{"a":[NaN],"a":1,"traceEvents":[]}', b'{"traceEvents":[{"ph":"M","args":{"x":NaN},"args":{}}]}',
                     b'{"traceEvents":[{"ph":"M","x":"\\q","x":1}]}'):
            self.assertTrue(self.repaired(text)[1]["changes"], text)
        # A repaired trace is whole, and one that is damaged again keeps its first receipt.
        self.repaired((DATA / "damaged.json").read_bytes())
        first = self.out.read_bytes()
        self.assertEqual(run("repair", self.out, "-o", "-")[1], first)
        again = self.repaired(first.replace(b'"traceEvents"', b'"x": NaN, "traceEvents"'))[1]
        self.assertEqual(again["repaired_before"]["schema"], "tbtrace.repair/1")

    def test_wrong_repairs_are_refused(self):
        path = self.folder / "broken.json"
        path.write_bytes(b'{"traceEvents": [' + json.dumps(EVENT).encode())
        self.assertEqual(run("repair", path, "-o", self.out, "--strict")[0], 1)
        self.assertFalse(self.out.exists())
        self.out.write_text("mine")
        self.assertEqual(run("repair", path, "-o", self.out)[0], 5)
        self.assertEqual(self.out.read_text(), "mine")
        self.assertEqual(run("repair", path, path, "-o", self.out)[0], 2)
        # A receipt that has no place: before the work, and nothing is written.
        new = self.folder / "new.json"
        for receipt, code in ((f"{self.folder}/./new.json", 2), (self.out, 5), (self.folder / "none/receipt.json", 5)):
            got, _, errors = run("repair", path, "-o", new, "--receipt", receipt)
            self.assertEqual(got, code, errors)
            self.assertFalse(new.exists())
        self.assertEqual(run("repair", path, "-o", new, "--receipt", new, "--overwrite")[0], 2)
        path.write_text("no trace")
        self.assertEqual(run("repair", path, "-o", self.out, "--overwrite")[0], 3)
        self.assertEqual(self.out.read_text(), "mine")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    sys.argv[1:] = [f"Repairs.test_{name}" for name in sys.argv[1:]]
    unittest.main()
