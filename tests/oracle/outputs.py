#!/usr/bin/env python3
"""Does every verb print the same bytes for every valid JSON text of one document?

    outputs.py --tbtrace PROGRAM [--full] [--traces DIR...] [--originals REGEX] [--rewritings REGEX] [--jobs N]

Python's json reads each original and writes it again in several texts; what each verb prints for such a text has to
be what it prints for `json.dumps(document)`, byte for byte. `convert` copies members in the order and the number forms
of its input, so its log files are compared as documents, without their sizes. Without --full: the repository's own
traces, the largest cut to --max-events events. With it: all originals, uncut. Python 3, nothing besides.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import expected
import originals
from documents import map_strings
from layouts import escaped, some_escaped

JSON = ("--format", "json")
COMMANDS = {
    "summary": ("summary", *JSON),
    "summary text": ("summary",),
    "ops": ("ops", *JSON),
    "ops by shape": ("ops", "--group-by-input-shape", *JSON),
    "ops by stack": ("ops", "--group-by-stack-n", "5", *JSON),
    "ops events": ("ops", "--per-event", *JSON),
    "kernels": ("kernels", *JSON),
    "kernels events": ("kernels", "--per-event", *JSON),
    "gpu": ("gpu", *JSON),
    "critical path": ("whatif", "--critical-path", *JSON),
    "steps": ("steps", *JSON),
    "memory": ("memory", *JSON),
    "modules": ("modules", *JSON),
    "lines": ("lines", *JSON),
    "flops": ("model", "--by", "operator", *JSON),
    "flops by shape": ("model", "--by", "operator", "--group-by-input-shape", *JSON),
    "check": ("check", *JSON),
    "collectives": ("collectives", *JSON),
    "flamegraph": ("flamegraph", "--format", "folded"),
    "ops as the plugin": ("ops", "--compat", "plugin", *JSON),
    "convert": ("convert", "--to", "plugin", "--no-gzip", "-o", "logs"),
    "convert kineto": ("convert", "--to", "plugin", "--dialect", "kineto", "--no-gzip", "-o", "kineto"),
}
FOLDERS = {"convert": "logs", "convert kineto": "kineto"}
STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]]')
SIZE = re.compile(rb"\([0-9.]+ [kMG]?B\)")  # of a log file
SHOWN = 160  # characters around the first difference


# Rewritings: (document, random.Random) -> text.

class Written(float):
    """A number that json.dumps() writes as this text."""

    def __new__(cls, value, text):
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __repr__(self):
        return self.text


class Encoder(json.JSONEncoder):
    """json.dumps() in Python, which asks a float for its text."""

    def iterencode(self, o, _one_shot=False):
        floats = lambda value: value.text if isinstance(value, Written) else json.dumps(value)
        return json.encoder._make_iterencode({}, self.default, json.encoder.encode_basestring_ascii, self.indent, floats,
                                             self.key_separator, self.item_separator, self.sort_keys, self.skipkeys,
                                             False)(o, 0)


def with_numbers(value, change):
    if type(value) in (int, float):
        return change(value)
    if type(value) is list:
        return [with_numbers(item, change) for item in value]
    if type(value) is dict:
        return {key: with_numbers(item, change) for key, item in value.items()}
    return value


def as_double(value):
    """A whole number as a program writes it that holds all numbers as doubles; beyond 2^53 it would be another."""
    return float(value) if type(value) is int and abs(value) < 1 << 53 else value


def with_exponent(value):
    """Its digits with an exponent: 3 as 3e0, 1000 as 1e3, 0.25 as 25e-2."""
    text = repr(value)
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        return value
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, decimals = digits.partition(".")
    mantissa = (whole + decimals).lstrip("0")
    stripped = mantissa.rstrip("0")
    exponent = len(mantissa) - len(stripped) - len(decimals)
    return Written(value, f"{sign}{stripped or '0'}e{exponent if stripped else 0}")


def with_negative_zeros(value):
    return Written(0, "-0") if value == 0 and type(value) is int else -0.0 if value == 0 else value


def shuffled(value, rng):
    """Another order of the members of each object; in arguments, too, but not inside a value of theirs."""
    def members(some):
        return {key: some[key] for key in rng.sample(list(some), len(some))}

    def event(one):
        if type(one) is not dict:
            return one
        one = members(one)
        if type(one.get("args")) is dict:
            one["args"] = members(one["args"])
        return one
    if type(value) is list:
        return [event(one) for one in value]
    return members({**value, "traceEvents": [event(one) for one in value["traceEvents"]]})


def blanks_in_lists(document, _):
    text = json.dumps(document, separators=("\t,\n", "\r\n:\t"))
    return STRING_OR_BRACKET.sub(lambda token: {"[": "[\t", "]": "\n]"}.get(token[0], token[0]), text)


def all_at_once(document, rng):
    document = with_numbers(shuffled(document, rng), as_double)
    return map_strings(json.dumps(document, indent="\t"), lambda string: some_escaped(string, rng, 0.5))


REWRITINGS = {
    "compact": lambda document, _: json.dumps(document, separators=(",", ":"), ensure_ascii=False),
    "indent 2": lambda document, _: json.dumps(document, indent=2),
    "tabs and line breaks in lists": blanks_in_lists,
    "doubles": lambda document, _: json.dumps(with_numbers(document, as_double)),
    "exponents": lambda document, _: json.dumps(with_numbers(document, with_exponent), cls=Encoder),
    "negative zeros": lambda document, _: json.dumps(with_numbers(document, with_negative_zeros), cls=Encoder),
    "escapes": lambda document, _: map_strings(json.dumps(document), escaped),
    "shuffled members": lambda document, rng: json.dumps(shuffled(document, rng)),
    "all at once": all_at_once,
}


# Originals.

VALUES = {
    "id": 77, "integer": 12, "real": 0.25, "dim3": [32, 2, 1], "text": [0, 1, [2]],
    "json": [[3, 4], [], [[5], [6, 7]]],
}


def every_argument(document):
    """Ranges of the document get each argument that it lacks, in turn, with a value of its type."""
    ranges = [event for event in document["traceEvents"] if event.get("ph") == "X" and "args" in event]
    given = {key for event in ranges for key in event["args"]}
    lacking = [(kind, key) for _, kind, *keys in expected.ARGUMENTS for key in keys[:1] if key not in given]
    for at, event in enumerate(ranges):
        kind, key = lacking[at % len(lacking)]
        event["args"][key] = VALUES[kind]
    for key in ("In msg nelems", "Out msg nelems", "Group size"):
        for event in ranges[::7]:
            event["args"][key] = 1 << 20
    for event in ranges[::5]:
        event["args"] |= {"Collective name": "allreduce", "dtype": "Float", "Process Group Ranks": [0, 1, 2, 3]}
    annotation = {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "args": {
        "External id": 1025, "Input Dims": [[321271]], "Input type": ["float"], "Concrete Inputs": [""]}}
    document["traceEvents"].insert(9, {**ranges[0], **annotation})
    document["distributedInfo"] = {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 1,
                                   "pg_config": [{"pg_name": "0", "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}]}
    return document


@dataclasses.dataclass
class Original:
    name: str
    path: pathlib.Path
    change: object = None

    def document(self, most):
        document = json.loads(expected.read(self.path))
        if self.change:
            document = self.change(document)
        events = document if type(document) is list else document["traceEvents"]
        if most:
            events[most:] = []
        return document


def sample():
    """Of the repository: with shapes, strides of inputs, stacks, modules, memory, devices, and all arguments."""
    own = {name: path for folder in originals.OWN for path in folder.rglob("*.json*")
           for name in [str(path.relative_to(folder))]}
    names = ("resnet18_training.json.gz", "transformer_modules.json.gz", "encoder_memory.json.gz",
             "perceptron_stacks.json.gz", "h200/perceptron.json.gz", "gpu_step.json", "old_dialect.json")
    found = [Original(name, own[name]) for name in names]
    return [*found, Original("every_argument", own["h200/streams.json.gz"], every_argument)]


def everything(folders):
    found = [Original(one.name, one.path) for one in originals.find(folders)[0]]
    return [*sample(), *found]


# Comparing.

@dataclasses.dataclass
class Output:
    code: int
    text: bytes
    documents: dict = None  # log files by name

    def problem(self, other):
        if self.code != other.code:
            return f"exit code {self.code}, then {other.code}"
        if self.text != other.text:
            return difference(self.text, other.text)
        if self.documents != other.documents:
            return document_difference(self.documents, other.documents)
        return None


def difference(want, got):
    at = next((at for at, pair in enumerate(zip(want, got)) if pair[0] != pair[1]), min(len(want), len(got)))
    start = max(0, at - SHOWN // 2)
    shown = [text[start:start + SHOWN].decode(errors="replace") for text in (want, got)]
    return f"byte {at} of {len(want)}: {shown[0]!r} became {shown[1]!r}"


def document_difference(want, got):
    if sorted(want) != sorted(got):
        return f"files {sorted(want)} became {sorted(got)}"
    for name, document in want.items():
        other = got[name]
        for key in document:
            if key != "traceEvents" and document[key] != other.get(key):
                return f"{name} {key}: {document[key]!r} became {other.get(key)!r}"
        for one, another in zip(document["traceEvents"], other["traceEvents"]):
            if one != another:
                return f"{name}: {difference(json.dumps(one).encode(), json.dumps(another).encode())}"
    return "another number of events or members"


def outputs(program, folder, text):
    """What each command prints for a text. Files have the same names and places relative to the working directory."""
    folder = folder / "trace"
    folder.mkdir(parents=True)
    (folder / "rank0.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    found = {}
    for name, command in COMMANDS.items():
        run = subprocess.run([program, *command, "-q", "-j", "1", "rank0.json"], cwd=folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300, check=False)
        if run.returncode == 2:
            raise AssertionError(f"{' '.join(command)}: wrong usage")
        found[name] = Output(run.returncode, SIZE.sub(b"(SIZE)", run.stdout))
        if name in FOLDERS:
            logs = folder / FOLDERS[name]
            found[name].documents = {str(path.relative_to(logs)): json.loads(path.read_bytes())
                                     for path in sorted(logs.rglob("*.json"))}
    return found


def compare(program, original, names, most):
    """(number of comparisons, failures)"""
    document = original.document(most)
    failures = []
    compared = 0
    with tempfile.TemporaryDirectory(prefix="tbtrace_outputs.") as folder:
        folder = pathlib.Path(folder)
        want = outputs(program, folder / "original", json.dumps(document))
        for at, name in enumerate(names):
            text = REWRITINGS[name](document, random.Random(f"{original.name}/{name}"))
            got = outputs(program, folder / str(at), text)
            for command in COMMANDS:
                compared += 1
                problem = want[command].problem(got[command])
                if problem:
                    failures.append(f"FAILED {original.name}, {name}, {command}: {problem}")
    return compared, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tbtrace", default="build/tools/tbtrace", help="the program")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--traces", nargs="+", help="folders of originals for --full (default: ../shared, and its own)")
    parser.add_argument("--originals", default="", metavar="REGEX", help="only originals whose name matches")
    parser.add_argument("--rewritings", default="", metavar="REGEX", help="only rewritings whose name matches")
    parser.add_argument("--max-events", type=int, default=600, help="of an original; with --full all")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    program = str(pathlib.Path(options.tbtrace).resolve())
    shared = [folder for folder in originals.SHARED if folder.is_dir()]
    found = everything(options.traces or [*shared, *originals.OWN]) if options.full else sample()
    found = [original for original in found if re.search(options.originals, original.name)]
    names = [name for name in REWRITINGS if re.search(options.rewritings, name)]
    most = 0 if options.full else options.max_events
    compared = failed = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=restore_limits) as pool:
        waiting = {pool.submit(compare, program, original, names, most): original for original in found}
        for future in concurrent.futures.as_completed(waiting):
            count, failures = future.result()
            compared += count
            failed += len(failures)
            for failure in failures:
                print(failure, flush=True)
    print(f"outputs: {len(found)} originals, {len(names)} rewritings, {compared} outputs compared, {failed} differ")
    sys.exit(failed > 0 or compared == 0)


def restore_limits():
    sys.setrecursionlimit(10_000)


if __name__ == "__main__":
    main()
