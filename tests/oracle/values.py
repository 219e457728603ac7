"""Rewritings of numbers and texts: the same value in other words, and values that are hard to read. See rewrite.py."""
import decimal

from documents import DEFAULT, Style, arguments_of, number, number_text
from rewriting import NONE, ROWS, is_object, rewriting

INTEGER_ARGUMENTS = ("External id", "external id", "correlation", "Sequence number", "Fwd thread id", "Ev Idx",
                     "Profiler Event Index", "Bytes", "Device Type", "Device Id", "Total Allocated", "Total Reserved",
                     "Addr", "Python id", "Python parent id", "Python module id", "Python thread", "stream", "device",
                     "context", "registers per thread", "shared memory", "bytes", "graph id", "graph node id", "Seq",
                     "annotated_stream", "original_stream",
                     "Comms Id", "In msg nelems", "Out msg nelems", "Group size", "wait_on_stream",
                     "wait_on_cuda_event_id", "Module parameters")
OTHER_ARGUMENTS = ("Input Dims", "Input dims", "Input type", "Concrete Inputs", "Input Strides", "Call stack",
                   "Module Hierarchy", "Module path", "CallFrom", "grid", "block", "blocks per SM",
                   "warps per SM", "est. achieved occupancy %", "memory bandwidth (GB/s)", "Collective name", "dtype",
                   "In split size", "Out split size",
                   "Process Group Name", "Process Group Description", "Process Group Ranks", "cuda_sync_kind",
                   "finished", "asynchronous", "name", "module_fqn", "annotation")
MOST = 20_000  # events of one document that are changed


def some_of(document, rng, most=MOST, wanted=is_object):
    """Numbers of events to change: all, or as many of them as may be changed."""
    numbers = [at for at, event in enumerate(document.events) if wanted(event)]
    return set(numbers if len(numbers) <= most else rng.sample(numbers, most))


def change_some(document, rng, change, most=MOST, wanted=is_object):
    """The document with change(event) in place of some of its events."""
    numbers = some_of(document, rng, most, wanted)
    return document.with_events([change(event) if at in numbers else event for at, event in enumerate(document.events)])


def is_range(event):
    return is_object(event) and event.get("ph") == "X"


# Whole numbers.

def with_integers(document, change):
    """change(number) for each id, process, thread and whole number of the arguments that the model holds."""
    def changed(value, keys):
        return {key: change(item) if key in keys and type(item) is int else item for key, item in value.items()}

    def changed_event(event):
        event = changed(event, ("pid", "tid", "id"))
        if is_object(event.get("args")):
            event["args"] = changed(event["args"], INTEGER_ARGUMENTS)
        return event
    return document.with_events([changed_event(event) if is_object(event) else event for event in document.events])


def exact_in_double(value):
    return -(1 << 53) < value < 1 << 53


def with_exponent(value, rng):
    """5 as 5e0, 0.5e1, 50e-1, 5.0E+0."""
    digits = str(abs(value))
    sign = "-" if value < 0 else ""
    if value == 0:
        return number(rng.choice(("0e0", "0.0", "0E+5", "0.00e-3")))
    return number(sign + rng.choice((f"{digits}e0", f"0.{digits}e{len(digits)}", f"{digits}0e-1", f"{digits}.0E+0",
                                     f"{digits[0]}.{digits[1:] or 0}e{len(digits) - 1}")))


@rewriting("ids_float")
def ids_float(document, _):
    """As JavaScript and pandas write them where a column has gaps."""
    return with_integers(document, lambda value: number(f"{value}.0") if exact_in_double(value) else value)


@rewriting("ids_exponent")
def ids_exponent(document, rng):
    return with_integers(document, lambda value: with_exponent(value, rng) if exact_in_double(value) else value)


@rewriting("ids_string")
def ids_string(document, _):
    return with_integers(document, str)


@rewriting("ids_extreme", NONE)
def ids_extreme(document, rng):
    values = [(1 << 63) - 1, 1 << 63, (1 << 64) - 1, -(1 << 63), -1, 0, (1 << 53) + 1, number("9007199254740993.0"),
              number("1.8446744073709551615e19"), number("-0"), number("-0.0"), number("5.5"), number("1e300"),
              number("1e-300"), (1 << 64) - 2, "18446744073709551615", "-5"]
    in_flows = [value for value in values if number_text(value) not in ("5.5", "1e300", "1e-300")]

    def changed(event):
        keys = [key for key in INTEGER_ARGUMENTS if key in arguments_of(event)]
        if keys:
            event = {**event, "args": {**event["args"], rng.choice(keys): rng.choice(values)}}
        for key in ("pid", "tid", "id"):
            if key in event and rng.random() < 0.3:
                event = {**event, key: rng.choice(in_flows)}
        return event
    return change_some(document, rng, changed)


@rewriting("arguments_of_any_type", NONE)
def arguments_of_any_type(document, rng):
    """Each known argument with values of all types, those that are right and those that no writer gives."""
    values = [None, True, False, "", "text", "5", "5.0", "05", "-05.0", "5.0e0", "+5", "5.", ".5e1", "5e", "0x5", " 5",
              "5 ", "N/A", "inf", "true", "false", 0, 1, -1, 5, 1 << 31, 1 << 32, 1 << 40, number("0.0"), number("5.5"),
              number("1e400"), number("-1e-400"), number("NaN"), number("Infinity"), [], {}, [1], [1, 2, 3], [1, 2, 3, 4],
              [0, 0, 0], [(1 << 32) - 1, 1, 1], [1 << 32], [-1], [number("1.0")], ["1"], [None], [[1]], "[1,2,3]",
              "[ 1 , 2 ]", "[1", "[[2], []]", {"a": {"b": [1]}}, "a;b;", "\u0031", "é"]
    older = ("external id", "Profiler Event Index", "Input dims")  # a file has one of two spellings
    keys = [key for key in INTEGER_ARGUMENTS + OTHER_ARGUMENTS if key not in older]

    def changed(event):
        if any(key in arguments_of(event) for key in older):
            return event
        added = {rng.choice(keys): rng.choice(values) for _ in range(rng.randrange(1, 6))}
        if type(added.get("name")) in (list, dict):  # a thread would be called by its text, blanks and all
            del added["name"]
        return {**event, "args": {**arguments_of(event), **added}}
    return change_some(document, rng, changed)


@rewriting("begun_and_ended", NONE)
def begun_and_ended(document, rng):
    """Ranges as two events, in order or not, with and without the name at the end, some without an end or a
    beginning; arguments at either."""
    events = []
    for event in document.events:
        if not is_range(event) or not number_text(event.get("ts")) or rng.random() < 0.2:
            events.append(event)
            continue
        begin = {**event, "ph": "B"}
        duration = decimal.Decimal(number_text(begin.pop("dur", 0)) or 0)
        end = {"ph": "E", "ts": number(f"{decimal.Decimal(number_text(event['ts'])) + duration:f}")}
        end |= {key: event[key] for key in ("pid", "tid") if key in event}
        if rng.random() < 0.7:
            end["name"] = event["name"]
        if rng.random() < 0.3 and "args" in begin:
            end["args"] = begin.pop("args")
        elif rng.random() < 0.3:
            end["args"] = {"stream": 5, "correlation": 7, "Call stack": "ended;"}
        some = [each for each in (begin, end) if rng.random() < 0.97]
        events += reversed(some) if rng.random() < 0.1 else some
    if rng.random() < 0.5:
        events.sort(key=lambda event: is_object(event) and event.get("ph") == "E")  # all ends are last
    return document.with_events(events)


# Times.

def with_times(document, change, keys=("ts", "dur")):
    """change(text) for the decimal text of each finite time; it gives the new value."""
    def changed_time(value):
        text = number_text(value)
        return change(text) if text and decimal.Decimal(text).is_finite() else value

    def changed(event):
        return {key: changed_time(value) if key in keys else value for key, value in event.items()}
    return document.with_events([changed(event) if is_object(event) else event for event in document.events])


def time_with_exponent(text, rng):
    exact = decimal.Decimal(text)
    sign, digits, exponent = exact.as_tuple()
    if not exact:
        return number(rng.choice(("0e0", "0.0E+3", "0e-3")))
    whole = "".join(map(str, digits))
    scientific = f"{whole[0]}.{whole[1:] or 0}e{exponent + len(whole) - 1:+d}"
    return number(("-" if sign else "") + rng.choice((f"{whole}e{exponent}", scientific, f"{whole}000E{exponent - 3}",
                                                      f"0.{whole}e{exponent + len(whole)}")))


@rewriting("times_exponent")
def times_exponent(document, rng):
    return with_times(document, lambda text: time_with_exponent(text, rng))


@rewriting("times_string")
def times_string(document, _):
    return with_times(document, str)


@rewriting("times_many_decimals")
def times_many_decimals(document, rng):
    """Decimals that round to the same nanosecond."""
    def longer(text):
        whole, _, decimals = text.partition(".")
        if len(decimals) > 3 or "e" in text.lower():
            return number(text)
        return number(f"{whole}.{decimals.ljust(3, '0')}{rng.choice(('0', '4', '49999', '0' * 20 + '1'))}")
    return with_times(document, longer)


@rewriting("times_not_finite", NONE)
def times_not_finite(document, rng):
    """Some events without a readable time: they are left out, and nothing else is."""
    values = [number("NaN"), number("Infinity"), number("-Infinity"), number("1e400"), number("1e30"), "soon", "", True,
              [], {}, [1], {"ts": 1}, "NaN", "1e", None]
    wrong = some_of(document, rng, max(1, len(document.events) // 10))
    return document.with_events([
        {**event, rng.choice(("ts", "dur")): rng.choice(values)} if at in wrong else event
        for at, event in enumerate(document.events)])


@rewriting("times_negative", NONE)
def times_negative(document, rng):
    values = [-1, number("-0.001"), number("-1e3"), number("-0.0"), number("-0.0004"), number("-12345.678"), 0]
    return change_some(document, rng, lambda event: {**event, rng.choice(("ts", "dur")): rng.choice(values)},
                       max(1, len(document.events) // 3))


@rewriting("times_far", NONE)
def times_far(document, rng):
    """About 146 years from 0, where the model's range ends, and the digits that a double loses."""
    values = [number(text) for text in ("4611686018427387.903", "4611686018427387.904", "-4611686018427387.903",
                                        "-4611686018427387.904", "4611686018427000", "1700000000123456.789",
                                        "1700000000123456.7885", "99999999999999999999", "0.0005", "0.0004999")]
    return change_some(document, rng, lambda event: {**event, "ts": rng.choice(values)},
                       max(1, len(document.events) // 3))


# Texts.

HOSTILE = ('},{"ph":"X"', '}, {"ph": "X", "name": "', "]}", "]", "}", "},", "{", "[{", '"', '""', "\\", '\\"',
           '\\\\"', "\\\\", '"},{"name":"x","ph":"X","ts":0,"dur":1,"pid":1,"tid":1}', '"traceEvents": [',
           '{"traceEvents": [{', '\n  {\n    "ph": "X"', '", "pid": 7', '",\n    "pid": ', "\\u0041", "\\n", "//",
           "a/b", "null", "5", "5.0", "", " ", "\t", "</script>", ",", ":", "[memory] ", "/*", "' OR 1", "a,b:c;d",
           '"args": {', "\\\\\\\\\\\"")


def texts_changed(document, rng, texts):
    """Names, categories, threads, stacks and concrete inputs of ranges, and labels, become such texts."""
    def changed(event):
        arguments = arguments_of(event)
        text = rng.choice(texts)
        if event.get("ph") == "M":
            return {**event, "args": {**arguments, "name": text}} if "name" in arguments else event
        if event.get("ph") != "X":
            return event
        event = {**event, "name": text}
        where = rng.randrange(12)
        if where == 0:
            event["cat"] = text
        elif where == 1:
            event["tid"] = text
        elif where == 2:
            event["pid"] = text
        elif where == 3:
            event["args"] = {**arguments, "Call stack": f"{text};{rng.choice(texts)};"}
        elif where == 4:
            event["args"] = {"Input Dims": [[2], []], "Input type": ["float", text], **arguments,
                             "Concrete Inputs": [text, rng.choice(texts), {text: [text]}]}
        elif where == 5:
            event["args"] = {text: text, **arguments}
        return event
    return change_some(document, rng, changed)


@rewriting("hostile_names", NONE)
def hostile_names(document, rng):
    return texts_changed(document, rng, HOSTILE)


@rewriting("hostile_names_default_spaces", NONE, DEFAULT)
def hostile_names_default_spaces(document, rng):
    return texts_changed(document, rng, HOSTILE)


@rewriting("control_characters", NONE)
def control_characters(document, rng):
    characters = [chr(code) for code in (*range(32), 127)]
    return texts_changed(document, rng, [f"a{c}b" for c in characters] + characters + ["".join(characters)])


UNICODE = ("é", "日本語", "😀", "a😀b", "\u2028", "\ufeff", "\uffff", "\U0010ffff", "ÿ\u0800", "\u0000é",
           "\u007f\u0080")


@rewriting("unicode_raw", NONE, Style(comma=",", colon=":", ascii=False))
def unicode_raw(document, rng):
    return texts_changed(document, rng, UNICODE)


@rewriting("surrogate_pairs", NONE, DEFAULT)
def surrogate_pairs(document, rng):
    return texts_changed(document, rng, UNICODE)


@rewriting("lone_surrogates", NONE, DEFAULT)
def lone_surrogates(document, rng):
    """Valid by JSON's grammar though no text: U+FFFD."""
    return texts_changed(document, rng, ("\ud83d", "a\udc00", "\ud83d\ud83d\udc00", "\udc00\ud83d", "\ud83dx",
                                         "\ud83d\\u"))


@rewriting("named_like_rocprof", NONE)
def named_like_rocprof(document, rng):
    """The name of another tool, whose own files are refused, at the start of the file."""
    numbers = some_of(document, rng, wanted=is_range)
    first = min(numbers, default=0)
    return document.with_events([{**event, "name": "rocprofiler-sdk-tool"} if at == first else event
                                 for at, event in enumerate(document.events)])


@rewriting("members_like_rocprof", ROWS)
def members_like_rocprof(document, _):
    return document.replaced(before={"tool": "rocprofiler-sdk-tool", **document.before})
