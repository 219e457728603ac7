#!/usr/bin/env python3
"""The oracle's own parts, on documents and rows that are written by hand.

    oracle_test.py --rows PROGRAM [unittest's arguments]

PROGRAM is tbtrace_rows. Python 3, nothing besides.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import expected
import originals
import rewrite
from documents import KINETO_LAYOUT, Document, Style, again, number, splice
from rewriting import ALL, NONE, REWRITINGS, ROWS

PROGRAM = None

# Texts and the rows in them, and whether a reader that takes all of them is asked too.
RANGES = r'''{"schemaVersion": 1, "baseTimeNanoseconds": 1000, "record \u0073hapes": [1, {"a" : "é\u00e9\n"}],
"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 8, "ts": 10.5, "dur": 2,
 "args": {"External id": 3, "Sequence number": 4, "Fwd thread id": 1, "Input Dims": [[2, 3], [ ]], "Input type": ["float", ""],
          "Concrete Inputs": ["", "[1, 2]"], "Call stack": "a \"b\";c\\d;", "Ev Idx": 0}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 7, "tid": 8, "ts": 11.0004, "dur": 1.0005,
 "args": {"Python id": 5, "Python module id": 0, "finished": false}},
{"ph": "X", "cat": "user_annotation", "name": "open", "pid": 7, "tid": 8, "ts": 12, "dur": 900, "args": {"finished": "false"}},
{"ph": "X", "cat": "kernel", "name": "void k<int>()", "pid": 0, "tid": "stream 7", "ts": 13, "dur": -1,
 "args": {"correlation": 18446744073709551615, "External id": 0}},
{"ph": "X", "name": "no category, no thread, no duration", "pid": 7, "ts": 14, "args": {"asynchronous": "true"}},
{"ph": "X", "name": "no time", "pid": 7},
{"ph": "n", "name": "another phase", "pid": 7, "tid": 8, "ts": 1},
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}},
{"ph": "M", "name": "thread_name", "pid": 7, "tid": 9, "args": {"name": "idle"}},
{"ph": "M", "name": "process_sort_index", "pid": 7, "tid": 0, "args": {"sort_index": 1}}
], "traceName": "a\/b"}'''
RANGE_ROWS = r'''["base",1000]
["member","baseTimeNanoseconds",1000]
["member","record shapes",[1,{"a":"éé\n"}]]
["member","schemaVersion",1]
["member","traceName","a/b"]
["name",7,7,"python",""]
["name",7,8,"python",""]
["name",7,9,"python","idle"]
["range","aten::add","cpu_op",7,8,10500,2000,{"external_id":3,"sequence_number":4,"forward_thread":1,"input_dims":[[2,3],[]],"input_types":["float",""],"concrete_inputs":["","[1, 2]"],"call_stack":"a \"b\";c\\d;"}]
["range","nn.Module: Linear_0","python_function",7,8,11000,0,{"python_id":5,"python_module_id":0,"python_frame":true,"module":true}]
["range","open","user_annotation",7,8,12000,900000,{"unfinished":true}]
["range","void k<int>()","kernel",0,"stream 7",13000,0,{"correlation":-1}]
["range","no category, no thread, no duration",null,7,7,14000,0,{"asynchronous":true}]'''

RECORDS = r'''[
{"ph": "i", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5, "args": {"Bytes": -64, "Device Type": 1, "Device Id": 0, "Total Allocated": 0, "Addr": 16, "Total Reserved": 128, "Ev Idx": 9}},
{"ph": "X", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5, "dur": 7, "args": {"Bytes": 64, "Ev Idx": 3}},
{"ph": "X", "cat": "user_annotation", "name": "[memory]", "pid": 1, "tid": 2, "ts": 6, "dur": 7},
{"ph": "i", "name": "[OutOfMemory]", "pid": 1, "tid": 2, "ts": 4, "args": {"Bytes": 1, "Device Type": 70000}},
{"ph": "i", "name": "another", "pid": 1, "tid": 2, "ts": 4},
{"ph": "s", "id": 3, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2, "ts": 1.25},
{"ph": "t", "id": 3, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2, "ts": 2},
{"ph": "f", "id": "3", "cat": "async_gpu", "name": "ac2g", "pid": 0, "tid": 7, "ts": 3, "bp": "e"},
{"ph": "f", "id": 4, "cat": "fwdbwd", "pid": 1, "tid": 2, "ts": 3},
{"ph": "f", "id": 5, "cat": "of another tool", "pid": 1, "tid": 2, "ts": 3},
{"ph": "f", "cat": "fwdbwd", "pid": 1, "tid": 2, "ts": 3}
]'''
RECORD_ROWS = r'''["base",0]
["range","[memory]","user_annotation",1,2,6000,7000,{}]
["memory",4000,1,-1,-1,-1,-1,-1,1,2,true]
["memory",5000,64,0,-1,-1,-1,-1,1,2,false]
["memory",5000,-64,1,0,0,16,128,1,2,false]
["flow","s","launch",3,1250,1,2]
["flow","f","launch",3,3000,0,7]
["flow","f","forward_backward",4,3000,1,2]'''

BEGUN = r'''[
{"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 1, "args": {"stream": 1, "device": 0}},
{"ph": "E", "pid": 1, "tid": 1, "ts": 9, "args": {"stream": 2, "grid": [4, 2], "est. achieved occupancy %": 0.5}},
{"ph": "B", "name": "inner", "cat": "c", "pid": 1, "tid": 1, "ts": 2},
{"ph": "B", "name": "other thread", "pid": 1, "tid": 2, "ts": 3},
{"ph": "E", "name": "inner", "pid": 1, "tid": 1, "ts": 5},
{"ph": "E", "name": "inner", "pid": 1, "tid": 1, "ts": 6},
{"ph": "X", "name": "whole", "pid": 1, "tid": 3, "ts": 4, "dur": 6}
]'''
BEGUN_ROWS = r'''["base",0]
["range","outer",null,1,1,1000,8000,{"stream":2,"device":0,"grid":[4,2,1],"occupancy":0.5}]
["range","inner","c",1,1,2000,3000,{}]
["range","other thread",null,1,2,3000,7000,{"unfinished":true}]
["range","whole",null,1,3,4000,6000,{}]'''

WRITERS = r'''{"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 3, "args": {"name": "Ascend Hardware"}},
{"ph": "M", "name": "process_name", "pid": 4, "args": {"name": "Python"}},
{"ph": "X", "name": "MatMul", "pid": 3, "tid": 1, "ts": "1.5", "dur": "2"},
{"ph": "X", "name": "queue", "pid": 5, "tid": 1, "ts": 2, "dur": 1},
{"ph": "X", "name": "aten::mm", "pid": 4, "tid": 1, "ts": 2, "dur": 1},
{"ph": "X", "name": "Memcpy HtoD", "pid": "CUDA functions", "tid": 0, "ts": 2, "dur": 1},
{"ph": "X", "name": "gemm", "pid": "CUDA functions", "tid": 0, "ts": 3, "dur": 1, "cat": null}]}'''
WRITER_ROWS = r'''["base",0]
["name",3,1,"Ascend Hardware",""]
["name",4,1,"Python",""]
["range","MatMul","ascend_hardware",3,1,1500,2000,{}]
["range","queue","ascend_host",5,1,2000,1000,{}]
["range","aten::mm",null,4,1,2000,1000,{}]
["range","Memcpy HtoD","gpu_memcpy","CUDA functions",0,2000,1000,{}]
["range","gemm","kernel","CUDA functions",0,3000,1000,{}]'''

NESTED = r'''[{"ph": "X", "name": "aten::conv2d", "pid": "CUDA functions", "tid": 0, "ts": 10, "dur": 100},
{"ph": "X", "name": "aten::cudnn_convolution", "pid": "CUDA functions", "tid": 0, "ts": 11, "dur": 98},
{"ph": "X", "name": "aten::empty", "pid": "CUDA functions", "tid": 0, "ts": 12, "dur": 3},
{"ph": "X", "name": "aten::add", "pid": "CUDA functions", "tid": 0, "ts": 120, "dur": 5},
{"ph": "X", "name": "aten::conv2d", "pid": "CUDA functions", "tid": 1, "ts": 11, "dur": 98}]'''
NESTED_ROWS = r'''["base",0]
["range","aten::conv2d","device_line","CUDA functions",0,10000,100000,{}]
["range","aten::cudnn_convolution","kernel","CUDA functions",0,11000,98000,{}]
["range","aten::empty","device_line","CUDA functions",0,12000,3000,{}]
["range","aten::add","kernel","CUDA functions",0,120000,5000,{}]
["range","aten::conv2d","kernel","CUDA functions",1,11000,98000,{}]'''

REPEATED = r'''{"traceEvents": [{"ph": "X", "name": "earlier", "ts": 1}], "base\u0054imeNanoseconds": 5, "a": 1, "a": [NaN, -Infinity, 1E5],
"trace\u0045vents": [
{"ph": "M", "\u0070h": "X", "name": "x", "name": "\u0061\ud83d\ude00\ud83d", "pid": 1, "tid": 1, "ts": 0, "ts": 1e3, "dur": 0.5e-2,
 "args": {"External id": 5, "correlation": 6}, "args": {"External id": 1, "External id": 7}},
null, 5, [{"ph": "X", "name": "inside", "ts": 1}], {},
{"ph": "X", "name": "args without an object", "pid": 1, "tid": 1, "ts": 2, "args": {"External id": 5}, "args": null}]}'''
REPEATED_ROWS = r'''["base",5]
["member","a",[NaN,-Infinity,100000]]
["member","baseTimeNanoseconds",5]
["range","a😀�",null,1,1,1000000,5,{"external_id":7}]
["range","args without an object",null,1,1,2000,0,{}]'''

NUMBERS = r'''[
{"ph": "X", "name": "float ids", "pid": 5.0, "tid": 5e0, "ts": 1, "args": {"External id": 1.2e1, "correlation": "7"}},
{"ph": "X", "name": "text ids", "pid": "5", "tid": "-5", "ts": 1, "args": {"External id": 1.5, "correlation": true}},
{"ph": "X", "name": "large ids", "pid": 18446744073709551615, "tid": -9223372036854775808, "ts": 1},
{"ph": "X", "name": "NaN", "pid": 1, "tid": 1, "ts": NaN},
{"ph": "X", "name": "Infinity", "pid": 1, "tid": 1, "ts": 1, "dur": Infinity},
{"ph": "X", "name": "text", "pid": 1, "tid": 1, "ts": "soon"},
{"ph": "X", "name": "too far", "pid": 1, "tid": 1, "ts": 4611686018427387.904},
{"ph": "X", "name": "ends too far", "pid": 1, "tid": 1, "ts": 4611686018427387, "dur": 0.904},
{"ph": "X", "name": "just not", "pid": 1, "tid": 1, "ts": 4611686018427387, "dur": 0.903},
{"ph": "X", "name": "rounded", "pid": 1, "tid": 1, "ts": 0.0005, "dur": 0.00049999999999999999999999999},
{"ph": "X", "name": "rounded away", "pid": 1, "tid": 1, "ts": -0.0005, "dur": null}]'''
NUMBER_ROWS = r'''["base",0]
["range","float ids",null,5,5,1000,0,{"external_id":12,"correlation":7}]
["range","text ids",null,5,-5,1000,0,{}]
["range","large ids",null,18446744073709551615,-9223372036854775808,1000,0,{}]
["range","just not",null,1,1,4611686018427387000,903,{}]
["range","rounded",null,1,1,1,0,{}]
["range","rounded away",null,1,1,-1,0,{}]'''


class ExpectedRows(unittest.TestCase):
    maxDiff = None

    def check(self, text, rows):
        self.assertEqual("\n".join(expected.rows(expected.parse(text.encode()))), rows)

    def test_ranges_members_and_names(self):
        self.check(RANGES, RANGE_ROWS)

    def test_byte_order_mark(self):
        self.check("\ufeff" + RANGES, RANGE_ROWS)

    def test_memory_and_flows(self):
        self.check(RECORDS, RECORD_ROWS)

    def test_ranges_of_two_events(self):
        self.check(BEGUN, BEGUN_ROWS)

    def test_writers_without_categories(self):
        self.check(WRITERS, WRITER_ROWS)

    def test_nested_rows_of_devices(self):
        self.check(NESTED, NESTED_ROWS)

    def test_repeated_and_escaped_keys(self):
        self.check(REPEATED, REPEATED_ROWS)

    def test_numbers(self):
        self.check(NUMBERS, NUMBER_ROWS)

    def test_what_is_not_json(self):
        for text in ("", "{", '{"traceEvents": [}', '[{"a": "\t"}]', "[1,]", "[01]", "{'a': 1}"):
            with self.assertRaises(ValueError):
                expected.parse(text.encode())


class PrintedRows(unittest.TestCase):
    """tbtrace_rows prints rows and digests in the same form."""
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace_oracle.")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "a trace.json"

    def test_rows(self):
        for text, rows in ((RECORDS, RECORD_ROWS), (RANGES, RANGE_ROWS), (BEGUN, BEGUN_ROWS)):
            self.path.write_text(text, encoding="utf-8")
            printed = subprocess.run([PROGRAM, self.path, "--threads", "2", "--block", "64"], capture_output=True, check=True)
            self.assertEqual(printed.stdout.decode(), rows + "\n")

    def test_digests(self):
        self.path.write_text(RECORDS, encoding="utf-8")
        asked = f"{self.path} 1 0\n{self.path}.missing 1 0\nnothing\n{self.path} 8 64\n"
        answers = subprocess.run([PROGRAM, "--batch"], input=asked.encode(), capture_output=True, check=True).stdout
        first, missing, wrong, last = map(json.loads, answers.splitlines())
        self.assertEqual(first, last)
        self.assertEqual(first, {"digest": expected.digest(RECORD_ROWS.split("\n")), "issues": {},
                                 "rows": {"base": 1, "range": 1, "memory": 3, "flow": 3}} | {"issues": first["issues"]})
        self.assertEqual(set(missing), {"error"})
        self.assertEqual(set(wrong), {"error"})


class Documents(unittest.TestCase):
    def test_numbers_keep_their_text(self):
        text = '{"traceEvents":[1700000000123456.789,1e400,-0,NaN,0.10]}'
        document = Document.parse(text)
        self.assertEqual(Style(comma=",", colon=":", ascii=False).text(document), text)

    def test_splice(self):
        value = {again("a", 1): 1, again("a", 2): number("5.0"), "a": "5.0"}
        self.assertEqual(splice(json.dumps(value)), '{"a": 1, "a": 5.0, "a": "5.0"}')

    def test_slice_keeps_phases(self):
        events = [{"ph": "X", "name": str(at)} for at in range(1000)] + [{"ph": "s"}, {"ph": "M"}]
        sliced = Document({}, events, {}).sliced(100)
        self.assertEqual({event["ph"] for event in sliced.events}, {"X", "s", "M"})
        self.assertLessEqual(len(sliced.events), 110)

    def test_kineto_layout(self):
        kineto = '{\n  "traceEvents": [\n  {\n    "ph": "X"\n  }\n]}'
        self.assertTrue(KINETO_LAYOUT.search(kineto))
        document = Document.parse(kineto)
        for indent in (1, 2, 3, 4, "\t"):
            self.assertFalse(KINETO_LAYOUT.search(Style(indent=indent).text(document)))


class Rewritings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = rewrite.load(originals.ROOT / "tests/data/gpu_step.json")
        cls.rows = expected.rows(expected.parse(REWRITINGS["compact"].text(cls.document, "a", 1).data))
        cls.small = [one for one in REWRITINGS.values() if one.size < 1_000_000]

    def test_there_are_enough(self):
        self.assertGreater(len(REWRITINGS), 100)

    def test_valid_json_with_the_rows_that_are_promised(self):
        for rewriting in self.small:
            for seed in (1, 2):
                with self.subTest(rewriting=rewriting.name, seed=seed):
                    text = rewriting.text(self.document, "a", seed)
                    json.loads(text.data.decode("utf-8-sig"))
                    rows = expected.rows(expected.parse(text.data))
                    if rewriting.keeps == ALL:
                        self.assertEqual(rows, self.rows)
                    elif rewriting.keeps == ROWS:
                        self.assertEqual([row for row in rows if not row.startswith(('["base"', '["member"'))],
                                         [row for row in self.rows if not row.startswith(('["base"', '["member"'))])

    def test_what_keeps_nothing_changes_something(self):
        for rewriting in self.small:
            if rewriting.keeps == NONE and not rewriting.name.startswith("joined"):
                rows = expected.rows(expected.parse(rewriting.text(self.document, "a", 1).data))
                self.assertNotEqual(rows, self.rows, rewriting.name)

    def test_the_same_seed_gives_the_same_text(self):
        for rewriting in self.small:
            state = random.getstate()
            self.assertEqual(rewriting.text(self.document, "a", 3).data, rewriting.text(self.document, "a", 3).data,
                             rewriting.name)
            self.assertEqual(random.getstate(), state, rewriting.name)

    def test_documents_are_not_changed(self):
        before = json.dumps(self.document.value())
        for rewriting in self.small:
            rewriting.text(self.document, "a", 4)
            self.assertEqual(json.dumps(self.document.value()), before, rewriting.name)

    def test_sizes(self):
        for name, least in (("event_of_300kB_numbers_last", 300_000), ("event_of_1MB_objects_first", 1_000_000),
                            ("large_member_after_string", 2_000_000), ("event_of_40MB_string_middle", 40_000_000)):
            text = REWRITINGS[name].text(self.document, "a", 1)
            self.assertGreater(len(text.data), least, name)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--rows":
        sys.exit("usage: oracle_test.py --rows PROGRAM")
    PROGRAM = sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
