#!/usr/bin/env python3
"""The rows that a trace reader has to make of a valid JSON text, from Python's own JSON module.

    expected.py FILE        prints the rows as JSON lines, as `tbtrace_rows FILE` does

The rules come from docs/formats/chrome_json.md, from what torch's writers do (each place says which) and from JSON
itself; no code is shared with the reader. Python 3, nothing besides.

What holds everywhere:
- Keys and texts are compared after unescaping. A lone surrogate is U+FFFD: UTF-8 cannot hold it.
- Of a repeated key the last value counts, as in json.loads: a repeated `args` or `traceEvents` replaces the earlier
  one.
- `null` is the same as not given.
- A number is its decimal text, never a double.
- Ids are 64 bits wide. `5.0`, `5e0`, `"5"` and `"5.0"` are the id 5: writers that pass through doubles or texts give
  these.
"""
import dataclasses
import decimal
import gzip
import itertools
import json
import math
import re
import sys
import zlib

FARTHEST_NS = 1 << 62  # 146 years: times from here on are unreadable, so that differences fit 64 bits
# Numbers as JSON has them, also in strings: no leading zeros or `+`, and digits around a point.
INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")
PLAIN_TIME = re.compile(r"(-?)(0|[1-9][0-9]{0,15})(?:\.([0-9]{1,3}))?")
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
UNBOUNDED = decimal.Context(prec=100_000, Emax=99999, Emin=-99999)
EXACT = decimal.Context(prec=400, Emax=99999, Emin=-99999)
SIZE = re.compile("[0-9]+")
SURROGATE = re.compile("[\ud800-\udfff]")
MEMORY_NAMES = ("[memory]", "[OutOfMemory]")

quoted = json.encoder.encode_basestring  # a str as a JSON string, escaping only what JSON must


class Number(str):
    """The text of a number, NaN and the infinities included."""


class Object(list):
    """The members of an object as (key, value) in their order, repeated keys included."""


def parse(data):
    """The document of a UTF-8 text with or without a byte order mark; ValueError if it is not JSON."""
    return json.loads(data.decode("utf-8-sig"), parse_float=Number, parse_int=Number, parse_constant=Number,
                      object_pairs_hook=Object)


def clean(text):
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def string(text):
    return quoted(clean(text))


def canonical_number(text):
    """The one text of a number's value, to its last digit: without an exponent or needless zeros, up to 40 digits."""
    if not DECIMAL.fullmatch(text):
        return text
    sign, digits, exponent = UNBOUNDED.create_decimal(text).normalize(UNBOUNDED).as_tuple()
    if not any(digits):
        return "0"
    digits = "".join(map(str, digits))
    point = len(digits) + exponent
    if point > 40 or exponent < -40:
        text = digits[0] + ("." if digits[1:] else "") + f"{digits[1:]}e{point - 1}"
    elif point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = digits[:point].ljust(point, "0") + ("." if digits[point:] else "") + digits[point:]
    return "-" * sign + text


def compact(value, number=canonical_number):
    """A parsed value as JSON without blanks; numbers in one form, repeated keys kept."""
    kind = type(value)
    if kind is Number:
        return number(value)
    if kind is str:
        return string(value)
    if kind is list:
        return "[" + ",".join(compact(item, number) for item in value) + "]"
    if kind is Object:
        return "{" + ",".join(f"{string(key)}:{compact(item, number)}" for key, item in value) + "}"
    return {None: "null", True: "true", False: "false"}[value]


def text_of(value):
    """A value where text is expected: the content of a string, the JSON text of anything else. None if not given."""
    if value is None:
        return None
    return clean(value) if type(value) is str else compact(value)


def json_of(value, number=canonical_number):
    """An argument that is kept as text. Writers give the same list as JSON or as a string that holds JSON, and the
    model keeps the text alone; so a string that is JSON counts as what it says. None if not given or empty."""
    if value is None or value == "":
        return None
    if type(value) is not str:
        return compact(value)
    try:
        return compact(parse(value.encode()), number)
    except (ValueError, UnicodeEncodeError, RecursionError):
        return string(value)


def json_of_text(value):
    """An argument that is a text: numbers in it stay as they are."""
    return json_of(value, str)


def integer_of(value, absent=None):
    """A whole number of 64 bits. Values from 2^63 on keep their bits: ids of 2^64-1 and -1 are equal."""
    number = None
    if type(value) is Number or type(value) is str:
        if INTEGER.fullmatch(value):
            number = int(value)
        elif re.search("[.eE]", value) and DECIMAL.fullmatch(value):
            exact = EXACT.create_decimal(value)
            if exact.adjusted() < 20 and exact == exact.to_integral_value():
                number = int(exact)
    if number is None or not -(1 << 63) <= number < 1 << 64:
        return absent
    return number - (1 << 64) if number >= 1 << 63 else number


def time_of(value, farthest=FARTHEST_NS):
    """Nanoseconds of a number of microseconds, which may stand in a string. Decimals beyond the third round to the
    nearest, half away from 0. None if it is not a number, not finite, or too far away."""
    if type(value) is not Number and type(value) is not str:
        return None
    plain = PLAIN_TIME.fullmatch(value)
    if plain:
        ns = int(plain[2]) * 1000 + (int(plain[3].ljust(3, "0")) if plain[3] else 0)
        ns = -ns if plain[1] else ns
    else:
        if not DECIMAL.fullmatch(value):
            return None
        exact = EXACT.create_decimal(value)
        if exact.adjusted() > 30:
            return None
        ns = int(exact.scaleb(3).quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP, context=EXACT))
    return ns if -farthest < ns < farthest else None


def small(number):
    """Device types and numbers have 16 bits in the model; what does not fit is -1, unknown."""
    return number if -(1 << 15) <= number < 1 << 15 else -1


def id_of(value):
    """A process or thread: a number, or text where the value is not a whole number. An empty text counts as 0."""
    if value is None or value == "":
        return 0
    number = integer_of(value)
    if number is None:
        return text_of(value)
    return number + (1 << 64) if number < 0 and not value.startswith("-") else number


def id_json(value):
    return str(value) if isinstance(value, int) else string(value)


def first_given(arguments, *spellings):
    """The value of an argument that two generations of writers spell differently. A file has one of them."""
    for spelling in spellings:
        if arguments.get(spelling) is not None:
            return arguments[spelling]
    return None


# Arguments of ranges that are kept: name, type and the keys that writers have used, in the order in which
# include/tbtrace/arguments.h has them.
ARGUMENTS = (
    ("external_id", "id", "External id", "external id"), ("correlation", "id", "correlation"),
    ("python_id", "integer", "Python id"), ("python_parent_id", "integer", "Python parent id"),
    ("python_module_id", "integer", "Python module id"), ("python_thread", "integer", "Python thread"),
    ("call_from", "text", "CallFrom"),
    ("sequence_number", "integer", "Sequence number"), ("forward_thread", "integer", "Fwd thread id"),
    ("input_dims", "json", "Input Dims", "Input dims"), ("input_types", "json", "Input type"),
    ("concrete_inputs", "json", "Concrete Inputs"), ("input_strides", "json", "Input Strides"),
    ("call_stack", "text", "Call stack"), ("module_hierarchy", "text", "Module Hierarchy"),
    ("module_path", "text", "Module path"), ("module_parameters", "integer", "Module parameters"),
    ("stream", "integer", "stream"), ("device", "integer", "device"), ("context", "integer", "context"),
    ("grid", "dim3", "grid"), ("block", "dim3", "block"),
    ("registers_per_thread", "integer", "registers per thread"), ("shared_memory", "integer", "shared memory"),
    ("blocks_per_sm", "real", "blocks per SM"), ("warps_per_sm", "real", "warps per SM"),
    ("occupancy", "real", "est. achieved occupancy %"), ("copied_bytes", "integer", "bytes"),
    ("bandwidth", "real", "memory bandwidth (GB/s)"), ("graph_id", "integer", "graph id"),
    ("graph_node_id", "integer", "graph node id"), ("label", "text", "name"),
    ("module_label", "text", "module_fqn"), ("annotation", "text", "annotation"),
    ("annotated_stream", "integer", "annotated_stream"), ("original_stream", "integer", "original_stream"),
    ("collective_name", "text", "Collective name"),
    ("collective_type", "text", "dtype"), ("collective_sequence", "integer", "Seq"),
    ("communicator", "integer", "Comms Id"), ("in_elements", "integer", "In msg nelems"),
    ("out_elements", "integer", "Out msg nelems"), ("in_split", "text", "In split size"),
    ("out_split", "text", "Out split size"), ("group_name", "text", "Process Group Name"),
    ("group_description", "text", "Process Group Description"), ("group_ranks", "text", "Process Group Ranks"),
    ("group_size", "integer", "Group size"), ("source_rank", "integer", "Src Rank"),
    ("destination_rank", "integer", "Dst Rank"), ("synchronization_kind", "text", "cuda_sync_kind"),
    ("waited_stream", "integer", "wait_on_stream"), ("waited_event", "integer", "wait_on_cuda_event_id"))


def real_of(value):
    """A number in the range of doubles; Kineto writes "N/A" and "inf" where there is none."""
    if type(value) is not Number:
        return None
    real = float(value) + 0.0  # -0.0 is 0
    in_range = math.isfinite(real) and (real != 0 or decimal.Decimal(value) == 0)
    return f"{real:.17g}" if in_range else None


def dim3_of(value):
    """One to three whole numbers, or a string that holds them as JSON; those that are not given are 1."""
    if type(value) is str:
        try:
            value = parse(value.encode())
        except ValueError:
            return None
    if type(value) is not list or not 1 <= len(value) <= 3:
        return None
    sizes = [canonical_number(size) if type(size) is Number else "" for size in value]
    if not all(SIZE.fullmatch(size) and int(size) < 1 << 32 for size in sizes):
        return None
    return "[" + ",".join(sizes + ["1"] * (3 - len(value))) + "]"


def integer_json(value):
    number = integer_of(value)
    return None if number is None else str(number)


JSON_OF_TYPE = {"id": integer_json, "integer": integer_json, "json": json_of,
                "text": json_of_text, "real": real_of, "dim3": dim3_of}


def values_of(arguments, rows):
    """The JSON of each argument that is given, by its name."""
    values = {}
    for name, kind, *keys in rows:
        value = JSON_OF_TYPE[kind](first_given(arguments, *keys))
        if value is not None:
            values[name] = value
    return values


def is_set(arguments, key, value):
    """Whether a mark is `value`, which some writers give as a text."""
    given = arguments.get(key)
    return type(given) in (bool, str) and given in (value, str(value).lower())


@dataclasses.dataclass
class Range:
    name: str
    category: str  # or None
    process: object
    thread: object
    start: int
    duration: int
    arguments: dict  # JSON by name
    flags: dict = None
    is_nested: bool = False  # of a process of torch.autograd.profiler, where rows lie inside one another

    def arguments_json(self):
        given = [(name, self.arguments[name]) for name, kind, *_ in ARGUMENTS
                 if name in self.arguments and (kind, self.arguments[name]) != ("id", "0")]
        given += [(flag, "true") for flag, is_set in self.flags.items() if is_set]
        return "{" + ",".join(f'"{name}":{value}' for name, value in given) + "}"


class Rows:
    """Takes the events of one document and gives its lines."""

    def __init__(self):
        self.ranges = []
        self.moments = []  # (track, time, number, the Range that begins or None, (name, arguments) of what ends)
        self.last = -FARTHEST_NS  # time at which a range begins or ends
        self.memory = []
        self.flows = []
        self.tracks = {}  # to whether they have rows
        self.process_names = {}
        self.thread_names = {}

    def add(self, element):
        if type(element) is not Object:
            return  # a valid element of the array, but not an event
        event = dict(element)
        phase, name = event.get("ph"), text_of(event.get("name"))
        arguments = event.get("args")
        arguments = dict(arguments) if type(arguments) is Object else {}
        if phase == "X":
            # torch's Python writer gives memory records a length, which means nothing.
            if text_of(event.get("cat")) == "cpu_instant_event" and name in MEMORY_NAMES:
                self.add_memory(event, name, arguments)
            elif name is not None:
                self.add_range(event, name, arguments)
        elif phase == "B":
            if name is not None:
                self.add_range(event, name, arguments, begun=True)
        elif phase == "E":
            self.add_range_end(event, arguments)
        elif phase in ("i", "I"):
            if name in MEMORY_NAMES:
                self.add_memory(event, name, arguments)
        elif phase in ("s", "f"):  # `t` is on the way of a flow, not an end of it
            self.add_flow(event, phase)
        elif phase == "M":
            self.add_label(event, name, arguments)

    def track(self, event, has_row=True):
        """The process and thread. A writer that gives no thread means the process itself."""
        process = id_of(event.get("pid"))
        track = process, process if event.get("tid") is None else id_of(event["tid"])
        self.tracks[track] = has_row or self.tracks.get(track, False)
        return track

    def add_range(self, event, name, arguments, begun=False):
        start = time_of(event.get("ts"))
        duration = 0 if begun or event.get("dur") is None else time_of(event["dur"], 1 << 63)
        if start is None or duration is None:
            return
        duration = max(duration, 0)
        if start + duration >= FARTHEST_NS:
            return
        row = Range(name, self.category(event, name), *self.track(event), start, duration,
                    values_of(arguments, ARGUMENTS))
        row.is_nested = text_of(event.get("cat")) is None and text_of(event.get("pid")) == "CUDA functions"
        python_frame = arguments.get("Python id") is not None
        # An open range is marked by `false`, which writers of 2025 also gave as a string. Python frames always end:
        # Kineto marks those of no length by mistake and lengthens them to the end of the window.
        row.flags = {"unfinished": is_set(arguments, "finished", False), "python_frame": python_frame,
                     "module": arguments.get("Python module id") is not None,
                     "asynchronous": is_set(arguments, "asynchronous", True)}
        if python_frame and row.flags["unfinished"]:
            row.flags["unfinished"] = False
            row.duration = 0
        if begun:
            self.moments.append(((row.process, row.thread), start, len(self.moments), row, None))
        self.ranges.append(row)
        self.last = max(self.last, start + duration)

    def add_range_end(self, event, arguments):
        time = time_of(event.get("ts"))
        if time is not None:
            ended = text_of(event.get("name")), values_of(arguments, ARGUMENTS)
            self.moments.append((self.track(event, has_row=False), time, len(self.moments), None, ended))
            self.last = max(self.last, time)

    def end_ranges(self):
        """An end belongs to the range of its name, or to any if it has none, that began last on its thread and is
        open. (Trace Event Format, "Duration Events".) Its arguments replace those of the beginning. What never ends
        lasts until the trace does."""
        open_ranges = {}
        for track, time, _, begun, ended in sorted(self.moments, key=lambda moment: moment[1:3]):
            stack = open_ranges.setdefault(track, [])
            if begun:
                stack.append(begun)
                continue
            name, arguments = ended
            for at in range(len(stack) - 1, -1, -1):
                if not name or stack[at].name == name:
                    row = stack.pop(at)
                    row.duration = time - row.start
                    row.arguments.update(arguments)
                    break
        for row in itertools.chain(*open_ranges.values()):
            row.duration = self.last - row.start
            row.flags["unfinished"] = True

    @staticmethod
    def category(event, name):
        """None if the file gives none. torch.autograd.profiler put what ran on GPUs into a process of this name."""
        category = text_of(event.get("cat"))
        if category is None and text_of(event.get("pid")) == "CUDA functions":
            copies = name.startswith("Memcpy")
            return "gpu_memcpy" if copies else "gpu_memset" if name.startswith("Memset") else "kernel"
        return category or None

    def leave_out_repeated_work(self):
        """A nested row counts once: a row whose contents fill at least half of it groups them; any other counts with
        all that is inside it. Rows that only overlap count each."""
        tracks = {}
        for row in self.ranges:
            if row.is_nested:
                tracks.setdefault((row.process, row.thread), []).append(row)
        for rows in tracks.values():
            rows.sort(key=lambda row: (row.start, -row.duration))  # equal ones stay in the order of the file
            inside = {id(row): [] for row in rows}
            roots, open_rows = [], []
            for row in rows:
                end = row.start + row.duration
                while open_rows and open_rows[-1].start + open_rows[-1].duration < end:
                    open_rows.pop()
                outer = open_rows[-1] if open_rows else None
                is_inside = outer is not None and outer.start + outer.duration > row.start
                (inside[id(outer)] if is_inside else roots).append(row)
                open_rows.append(row)
            waiting = [(row, False) for row in roots]
            while waiting:
                row, counts_outside = waiting.pop()
                filled, until = 0, row.start
                for child in inside[id(row)]:
                    end = child.start + child.duration
                    filled += max(0, end - max(child.start, until))
                    until = max(until, end)
                groups = filled > 0 and 2 * filled >= row.duration
                if counts_outside or groups:
                    row.category = "device_line"
                waiting += [(child, counts_outside or not groups) for child in inside[id(row)]]

    def add_memory(self, event, name, arguments):
        time = time_of(event.get("ts"))
        if time is None:
            return
        process, thread = self.track(event)
        order = integer_of(first_given(arguments, "Ev Idx", "Profiler Event Index"), -1)
        if not 0 <= order < (1 << 32) - 1:
            order = -1
        numbers = (time, integer_of(arguments.get("Bytes"), 0), small(integer_of(arguments.get("Device Type"), 0)),
                   small(integer_of(arguments.get("Device Id"), -1)),
                   max(integer_of(arguments.get("Total Allocated"), -1), -1),
                   integer_of(arguments.get("Addr"), -1), integer_of(arguments.get("Total Reserved"), -1))
        failed = "true" if name == "[OutOfMemory]" else "false"
        self.memory.append((time, order, f'["memory",{",".join(map(str, numbers))},{id_json(process)},'
                                         f"{id_json(thread)},{failed}]"))

    def add_flow(self, event, phase):
        category = text_of(event.get("cat")) or ""
        if category in ("fwdbwd", "forward_backward"):
            kind = "forward_backward"
        elif category == "ac2g" or category.startswith(("async", "cpu_to_")):
            kind = "launch"
        else:
            return  # flows of others say nothing that the model needs
        time = time_of(event.get("ts"))
        if time is None or event.get("id") is None:
            return
        process, thread = self.track(event)
        number = integer_of(event["id"])
        if number is None:
            raise NotImplementedError("flow ids that are text are hashed by the reader; no rewriting makes them")
        self.flows.append(f'["flow","{phase}","{kind}",{number},{time},{id_json(process)},{id_json(thread)}]')

    def add_label(self, event, name, arguments):
        label = text_of(arguments.get("name"))
        if label is None or name not in ("process_name", "thread_name"):
            return
        if name == "process_name":  # for all its threads, whatever `tid` the row has
            self.process_names[id_of(event.get("pid"))] = label
        else:
            self.thread_names[self.track(event, has_row=False)] = label

    def category_json(self, category, process):
        """Ascend's profiler gives categories to torch's own rows only; its processes tell the rest."""
        if category is None and self.is_ascend:
            process_name = self.process_names.get(process)
            if process_name != "Python":
                category = "ascend_hardware" if process_name == "Ascend Hardware" else "ascend_host"
        return "null" if category is None else string(category)

    def lines(self):
        self.is_ascend = any(self.process_names.get(process) == "Ascend Hardware" for process, _ in self.tracks)
        names = []
        for (process, thread), has_row in self.tracks.items():
            label = self.process_names.get(process, ""), self.thread_names.get((process, thread), "")
            if label[1] or (has_row and label[0]):
                names.append(f'["name",{id_json(process)},{id_json(thread)},{string(label[0])},{string(label[1])}]')
        # torch orders its events by time, at equal times by `Ev Idx`; records without one come first.
        memory = [line for _, _, line in sorted(self.memory, key=lambda record: record[:2])]
        self.end_ranges()
        self.leave_out_repeated_work()
        ranges = [f'["range",{string(row.name)},{self.category_json(row.category, row.process)},'
                  f"{id_json(row.process)},{id_json(row.thread)},{row.start},{row.duration},{row.arguments_json()}]"
                  for row in self.ranges]
        return sorted(names) + ranges + memory + self.flows


def rows(document):
    """The lines of a parsed document."""
    bare = type(document) is list
    members = {} if bare else dict(document)
    events = document if bare else members.pop("traceEvents")
    base = integer_of(members.get("baseTimeNanoseconds"), 0)
    lines = [f'["base",{base}]']
    cleaned = {clean(key): value for key, value in members.items()}
    lines += [f'["member",{string(key)},{member_json(cleaned[key])}]' for key in sorted(cleaned, key=str.encode)]
    made = Rows()
    for element in events:
        made.add(element)
    return lines + made.lines()


def member_json(value):
    """Members are kept as JSON, so a string stays one."""
    return compact(value)


def digest(lines):
    return zlib.crc32("".join(line + "\n" for line in lines).encode())


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    print("\n".join(rows(parse(read(sys.argv[1])))))
