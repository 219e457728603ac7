"""Trace documents that rewritings change and write again. Python 3; orjson, if present, makes plain texts faster.

A document is changed as Python objects. Numbers with a fraction or an exponent are marked texts, which splice() copies
into the JSON, so that no double changes them. splice() also lets an object hold a key twice.
"""
import dataclasses
import json
import pathlib
import re
import sys

try:
    import orjson
except ImportError:
    packages = ".venv/lib/python%d.%d/site-packages" % sys.version_info[:2]
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / packages))
    try:
        import orjson
    except ImportError:
        orjson = None

NUMBER = re.compile(r'"@number:([^"@]*)@"')
SURROGATE = re.compile("[\ud800-\udfff]")
AGAIN = re.compile(r'@again:\d+@(?=")')
# How today's reader recognises Kineto's own line layout, in which other rules than JSON's hold.
KINETO_LAYOUT = re.compile(r'"traceEvents"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*\n  \{\n    "')
STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"([ \t\r\n]*:)?')


def number(text):
    """A value that is written as `text`, without quotes."""
    return f"@number:{text}@"


def number_text(value):
    """The decimal text of a number; None if the value is not one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.startswith("@number:"):
        return value[8:-1]
    return None


def again(key, count):
    """`key`, for the second and further times in one object."""
    return f"{key}@again:{count}@"


def splice(text):
    if "@number:" in text:
        text = NUMBER.sub(r"\1", text)
    return AGAIN.sub("", text) if "@again:" in text else text


def parse_integer(text):
    return number(text) if text == "-0" else int(text)


@dataclasses.dataclass
class Document:
    """`{before, "traceEvents": [events], after}`, or the events alone as a bare array."""
    before: dict
    events: list
    after: dict
    bare: bool = False

    @staticmethod
    def parse(text):
        document = json.loads(text, parse_float=number, parse_constant=number, parse_int=parse_integer)
        if isinstance(document, list):
            return Document({}, document, {}, True)
        if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
            raise KeyError("traceEvents")
        keys = list(document)
        at = keys.index("traceEvents")
        return Document({key: document[key] for key in keys[:at]}, document["traceEvents"],
                        {key: document[key] for key in keys[at + 1:]})

    def replaced(self, **changes):
        return dataclasses.replace(self, **changes)

    def with_events(self, events):
        return self.replaced(events=events)

    def value(self):
        return self.events if self.bare else {**self.before, "traceEvents": self.events, **self.after}

    def sliced(self, most):
        """At most about `most` events, 0 for all: the first of each phase, and a run from the middle."""
        if most == 0 or len(self.events) <= most:
            return self
        kept = set()
        counts = {}
        for at, event in enumerate(self.events):
            phase = event.get("ph") if isinstance(event, dict) else None
            counts[phase] = counts.get(phase, 0) + 1
            if counts[phase] <= max(1, most // 20):
                kept.add(at)
        start = len(self.events) // 2
        kept.update(range(start, min(start + most - len(kept), len(self.events))))
        return self.with_events([self.events[at] for at in sorted(kept)])


@dataclasses.dataclass(frozen=True)
class Style:
    """How a document becomes text. `indent`: blanks a level, or a tab; None: no line breaks. `lines`: each event on a
    line of its own, instead. `ascii`: other characters as \\u escapes."""
    indent: object = None
    comma: str = ", "
    colon: str = ": "
    ascii: bool = True
    lines: bool = False

    def text(self, document):
        text = splice(self.lines_text(document) if self.lines else self.dump(document.value()))
        # UTF-8 cannot hold half of a pair, an escape can.
        return text if text.isascii() else SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)

    def dump(self, value):
        if self.indent is None:
            if orjson and self.compact and not self.ascii:
                return dumped_by_orjson(value, 0) or self.encoder().encode(value)
            return self.encoder().encode(value)
        text = dumped_by_orjson(value, orjson.OPT_INDENT_2) if orjson and not self.ascii else None
        if text is None:
            return json.dumps(value, indent=self.indent, ensure_ascii=self.ascii)
        unit = self.indent if isinstance(self.indent, str) else " " * self.indent
        return text if unit == "  " else re.sub("(?m)^ +", lambda blanks: unit * (len(blanks[0]) // 2), text)

    @property
    def compact(self):
        return (self.comma, self.colon) == (",", ":")

    def encoder(self):
        return json.JSONEncoder(separators=(self.comma, self.colon), ensure_ascii=self.ascii)

    def lines_text(self, document):
        encode = self.encoder().encode
        events = ",\n".join(map(encode, document.events))
        if document.bare:
            return f"[\n{events}\n]\n"
        def members(some):
            return [f"{encode(key)}{self.colon}{encode(value)}" for key, value in some.items()]
        array = f'"traceEvents"{self.colon}[\n{events}\n]'
        return "{\n" + ",\n".join([*members(document.before), array, *members(document.after)]) + "\n}\n"


def dumped_by_orjson(value, option):
    """None for what orjson refuses: integers above 64 bits, lone surrogates, other depths."""
    try:
        return orjson.dumps(value, option=option).decode()
    except (TypeError, ValueError, RecursionError):
        return None


DEFAULT = Style()
COMPACT = Style(comma=",", colon=":", ascii=False)
LINES = Style(lines=True, ascii=False)
LINES_COMPACT = Style(comma=",", colon=":", lines=True, ascii=False)
STYLES = (DEFAULT, COMPACT, LINES, LINES_COMPACT, Style(indent=1, ascii=False), Style(indent=2, ascii=False),
          Style(indent=4, ascii=False), Style(indent="\t", ascii=False), Style(comma=" , ", colon=" : "))


def map_strings(text, change, keys_only=False):
    """The JSON text with change(string) in place of the text between the quotes of each string, or of each key."""
    def changed(token):
        colon = token[1] or ""
        if keys_only and not colon:
            return token[0]
        string = token[0][:len(token[0]) - len(colon)]
        return f'"{change(json.loads(string, strict=False))}"{colon}'
    return STRING.sub(changed, text)


def arguments_of(event):
    arguments = event.get("args")
    return arguments if isinstance(arguments, dict) else {}
