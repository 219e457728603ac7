#!/usr/bin/env python3
"""What `tbtrace anonymise` leaves of names, and of figures.

    anonymise_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME.
"""

import base64
import json
import os
import pathlib
import random
import re
import string
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
# Builds for sanitizers take some of what others take all of.
EVERY = max(1, 100 // int(os.environ.get("TBTRACE_RANDOM_PERCENT", "100")))
SHARED = ROOT.parent / "shared/traces"  # more recordings, if they are there
NO_TRACES = {"empty.json", "execution_trace.json", "model_costs.json", "no_trace.json", "tracelens_answers.json",
             "tables.json"}
DAMAGED = {"cut.json.gz", "cut.json.zst", "damaged.json", "hostile_names.json", "twice.json.gz"}
TABLES = [["ops"], ["ops", "--strict-totals"], ["kernels"], ["kernels", "--group-by", "family"], ["lines"], ["modules"],
          ["gpu"], ["steps"], ["summary"], ["check"], ["memory"], ["occupancy"], ["model", "--by", "operator"],
          ["serving"]]
REPLACEMENT = re.compile("[bcdfghjkpqrstvwzBCDFGHJKPQRSTVWZ][bcdfghjkpqrstvwz]{11}")


def run(*words, text=None):
    done = subprocess.run([PROGRAM, *map(str, words)], input=text, capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def planted_names(chance):
    """200 of people, machines, customers, projects, addresses and tokens; none is a word of torch's."""
    names = []
    while len(names) < 200:
        word = "".join(chance.choice("aeiou" if at % 2 else "bdfglmnprstvz") for at in range(chance.randint(6, 11)))
        names.append(chance.choice([word, word.capitalize(), word.upper(), word + str(chance.randint(10, 99)), word + "é",
                                    "x" + word.capitalize() + "Qu", f"{word}.{word[::-1]}.com",
                                    ".".join(str(chance.randint(100, 255)) for _ in range(4)),
                                    "ghp" + "".join(chance.choices(string.ascii_letters + string.digits, k=24))]))
    return names


def planted_trace(chance, names):
    """Each name once, plain or encoded, somewhere where a trace has text."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 1, "dur": 2}]
    members = {"schemaVersion": 1, "distributedInfo": {"rank": 3, "backend": "nccl", "pg_config": []}}
    for number, name in enumerate(names):
        encoded = chance.choice([name, name, base64.b64encode(name.encode()).decode(), urllib.parse.quote("/" + name, safe="")])
        row = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 10 * number, "dur": 5,
               "args": {"External id": number}}
        args = row["args"]
        place = number % 20
        if place == 0:
            row["name"] = f"{name}::add"
        elif place == 1:
            row |= {"cat": "user_annotation", "name": f"## {name} step {number} ##"}
        elif place == 2:
            row |= {"cat": "kernel", "name": f"void at::native::{name}_kernel<{name}, 4>(int)", "pid": 0, "tid": 7}
        elif place == 3:
            row |= {"cat": "python_function", "name": f"nn.Module: {name}_0"}
        elif place == 4:
            row |= {"cat": "python_function", "name": f"/home/{name}/{name}/train_{name}.py(12): run_{name}"}
        elif place == 5:
            row |= {"cat": "python_function", "name": f"C:\\Users\\{name}\\lib\\site-packages\\{name}\\x.py(1): {name}"}
        elif place == 6:
            args["Call stack"] = f"/srv/{name}/a.py(1): {name};<built-in method {name} of {name} object>"
        elif place == 7:
            args["Module Hierarchy"] = f"Net.{name}.0.{name}"
        elif place == 8:
            args["Concrete Inputs"] = ["1", encoded, "[1, 2]"]
        elif place == 9:
            args[chance.choice(["owner", "environment"])] = {"HOME": f"/home/{name}", "TOKEN": encoded}
        elif place == 10:
            args[name] = number
        elif place == 11:
            args["Process Group Name"] = encoded
        elif place == 12:
            row = {"ph": "M", "name": "process_name", "pid": number, "tid": 0, "args": {"name": f"python {encoded} 17"}}
        elif place == 13:
            row = {"ph": "C", "name": name, "pid": 1, "ts": number, "args": {name: 3}}
        elif place == 14:
            row["pid"], row["tid"] = name, encoded
        elif place == 15:
            row["cat"] = name
        elif place == 16:
            members[name] = {name: [encoded]}
        elif place == 17:
            members["distributedInfo"]["pg_config"].append({"pg_name": name, "pg_desc": encoded, "ranks": [0, 1]})
        elif place == 18:
            row[name] = encoded
            args["kernel_file"] = f"/tmp/torchinductor_{name}/ab/{name}.py"
        else:
            args["Input type"] = [["float", encoded], name]
        events.append(row)
    return json.dumps(members | {"traceEvents": events}, ensure_ascii=chance.random() < 0.5)


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)


def recorded():
    for folder in (ROOT / "examples/traces", DATA, SHARED):
        for path in sorted(folder.rglob("*.json*")):
            if path.name not in NO_TRACES | DAMAGED and "plugin_out" not in path.parts and path.suffix != ".zst":
                yield path


def comparable(value):
    """Without names of files and machines, and without order."""
    if isinstance(value, dict):
        left_out = ("input", "host", "issues", "short_name")
        return {key: comparable(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list):
        return sorted((comparable(each) for each in value), key=json.dumps)
    return value


class Anonymised(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "out.json"
        self.key = self.folder / "job.key"
        self.key.write_bytes(bytes(range(32)))

    def anonymised(self, path, *options):
        code, said, errors = run("anonymise", path, "-o", self.out, "--overwrite", *options)
        self.assertEqual((code, said), (0, b""), errors)
        return json.loads(self.out.read_text())

    def test_planted_names_are_not_in_anonymised_traces(self):
        for seed in range(3):
            chance = random.Random(seed)
            names = planted_names(chance)
            path = self.folder / "trace.json"
            path.write_text(planted_trace(chance, names))
            trace = self.anonymised(path, "--names", self.folder / "names.json")
            text = self.out.read_text().lower() + "\n".join(texts_of(trace)).lower()
            for name in names:
                forms = [name, base64.b64encode(name.encode()).decode(), urllib.parse.quote(name), json.dumps(name)[1:-1]]
                for form in forms:
                    self.assertNotIn(form.lower(), text, (seed, form))
            self.assertEqual(len(trace["traceEvents"]), 201)
            self.assertEqual(run("anonymise", "--check", self.out)[0], 0)
            code, _, errors = run("anonymise", "--check", path)
            self.assertEqual(code, 1)
            self.assertIn("words are not known to be public", errors)
            (self.folder / "names.json").unlink()

    def compare(self, path, tables):
        """All of the tables, with the words back that were replaced."""
        names = self.folder / "names.json"
        names.unlink(missing_ok=True)
        self.anonymised(path, "--names", names)
        words = {replacement: word for word, replacement in json.loads(names.read_text())["names"].items()}
        for table in tables:
            code, whole, _ = run(*table, path, "--format", "json")
            again, public, errors = run(*table, self.out, "--format", "json")
            self.assertEqual(code, again, (path, table, errors))
            if not whole:
                continue
            back = REPLACEMENT.sub(lambda found: json.dumps(words.get(found.group(), found.group()))[1:-1],
                                   public.decode())
            self.assertEqual(comparable(json.loads(whole)), comparable(json.loads(back)), (path, table))

    def test_tables_of_anonymised_recordings_are_the_same(self):
        paths = list(recorded())
        self.assertGreater(len(paths), 25)
        for path in paths[::EVERY]:
            few = [["ops"], ["kernels"], ["lines"], ["summary"], ["check"]]
            self.compare(path, few if SHARED in path.parents else TABLES)

    def test_devices_keep_their_peaks(self):
        for name in ("NVIDIA GeForce RTX 4090", "NVIDIA A100 80GB PCIe", "NVIDIA H100 PCIe", "NVIDIA GH200 480GB",
                     "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
                     "NVIDIA Thor", "Tesla T4", "Tesla V100-DGXS-32GB", "Zebra H100 PCIe lion",
                     "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA GeForce RTX 4090 Laptop GPU"):
            path = self.folder / "device.json"
            launch = {"External id": 1, "correlation": 1}
            matrices = {"Input Dims": [[1024, 1024], [1024, 1024]], "Input type": ["float", "float"]}
            host = {"ph": "X", "pid": 1, "tid": 1}
            path.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": name, "numSms": 100}], "traceEvents": [
                host | {"cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 20, "args": {"External id": 1} | matrices},
                host | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 5, "dur": 5, "args": launch},
                {"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64_tn", "pid": 0, "tid": 7, "ts": 30, "dur": 400,
                 "args": launch | {"stream": 7, "device": 0}}]}))
            self.compare(path, [["kernels"], ["model", "--by", "operator"]])
            self.assertNotRegex(self.out.read_text(), "Zebra|lion")
            self.assertEqual(run("anonymise", "--check", self.out)[0], 0, name)

    def test_kernels_of_ones_own_keep_their_family(self):
        names = ("zebragemm_v2", "zebraflashattn", "Zebra_layernorm", "zebramma_s16816_thing", "zebra", "zebrasgemm",
                 "void zebrareduction<float>(int)", "_ZN5zebra4gemmEv", "zebrawmma", "zebra_f64gemm",
                 "void " + 2000 * "zebra::" + "sgemm()")
        path = self.folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at, "dur": at + 1}
            for at, name in enumerate(names)]}))
        self.anonymised(path)
        self.assertNotIn("zebra", self.out.read_text())
        said = []
        for each in (path, self.out):
            rows = json.loads(run("kernels", each, "--format", "json")[1])["rows"]
            said.append(sorted((row["total_ns"], row["family"], str(row["tensor_cores_used"])) for row in rows))
        self.assertEqual(len(said[0]), len(names))
        self.assertEqual(said[0], said[1])

    def test_ranks_with_one_key_get_the_same_names(self):
        ranks = []
        for rank in range(2):
            ranks.append(self.folder / f"zebra{rank}.json")
            ranks[-1].write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": [
                {"ph": "X", "cat": "cpu_op", "name": "zebra::lion", "pid": 1, "tid": 2, "ts": 1, "dur": 2}]}))
        code, _, errors = run("anonymise", *ranks, "-o", self.folder / "public", "--key-file", self.key)
        self.assertEqual(code, 0, errors)
        outs = sorted((self.folder / "public").iterdir())
        self.assertEqual([each.name for each in outs], ["trace1.json.gz", "trace2.json.gz"])
        names = [json.loads(run("ops", each, "--format", "json")[1])["rows"][0]["key"] for each in outs]
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], self.anonymised(ranks[0])["traceEvents"][0]["name"])
        self.assertEqual(names[0], self.anonymised(ranks[0], "--key-file", self.key)["traceEvents"][0]["name"])

    def test_wrong_calls_of_anonymise_are_refused(self):
        path = self.folder / "trace.json"
        path.write_text('{"traceEvents": []}')
        self.key.write_bytes(b"short")
        code, _, errors = run("anonymise", path, "-o", self.out, "--key-file", self.key)
        self.assertEqual(code, 3)
        self.assertIn("is not a key of at least 16 bytes", errors)
        self.assertEqual(run("anonymise", path, path)[0], 2)
        self.out.write_text("mine")
        self.assertEqual(run("anonymise", path, "-o", self.out)[0], 5)
        self.assertEqual(self.out.read_text(), "mine")
        new = self.folder / "new.json"
        for names, code in ((self.out, 5), (new, 2), (self.folder / "none/names.json", 5)):
            self.assertEqual(run("anonymise", path, "-o", new, "--names", names)[0], code)
            self.assertFalse(new.exists())
        path.write_text("no trace")
        self.assertEqual(run("anonymise", path, "-o", self.out, "--overwrite")[0], 3)

    def test_damaged_traces_are_anonymised_as_far_as_they_go(self):
        for name in ("damaged.json", "hostile_names.json", "cut.json.gz"):
            trace = self.anonymised(DATA / name)
            self.assertGreater(len(trace["traceEvents"]), 0)
            self.assertEqual(run("anonymise", "--check", self.out)[0], 0, name)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    sys.argv[1:] = [f"Anonymised.test_{name}" for name in sys.argv[1:]]
    unittest.main()
