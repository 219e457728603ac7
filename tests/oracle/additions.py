"""Rewritings that add what a reader has to skip without losing its place: nested values, large values, members,
repeated keys, elements that are not events. See rewrite.py."""
from documents import COMPACT, again, arguments_of, number
from rewriting import AS_IT_IS, ALL, NONE, ROWS, is_object, rewriting
from values import change_some, is_range, some_of

EVENT = {"ph": "X", "cat": "cpu_op", "name": "not an event", "pid": 1, "tid": 2, "ts": 3.5, "dur": 4,
         "args": {"External id": 5, "correlation": 6, "name": "no name", "Call stack": "not;a;stack;"}}
SHOULD_NOT_COUNT = {"External id": 999_001, "external id": 999_002, "correlation": 999_003, "Ev Idx": 999_004,
                    "Sequence number": 999_005, "Fwd thread id": 999_006, "Call stack": "no;", "Python id": 9,
                    "Python module id": 9, "finished": False, "asynchronous": "true", "Input Dims": [[9]],
                    "Input type": ["no"], "Concrete Inputs": ["no"], "Bytes": 9, "Device Type": 9, "Device Id": 9,
                    "Total Allocated": 9, "name": "no"}
OPTIONAL_ARGUMENTS = tuple(SHOULD_NOT_COUNT)


def with_arguments(document, rng, added, most=20_000):
    """The document with more arguments in its events, before or after the others; `added` may depend on the event's
    number."""
    first = rng.random() < 0.5
    numbers = some_of(document, rng, most)

    def changed(at, event):
        more = added(at) if callable(added) else added
        arguments = arguments_of(event)
        return {**event, "args": {**more, **arguments} if first else {**arguments, **more}}
    return document.with_events([changed(at, event) if at in numbers else event
                                 for at, event in enumerate(document.events)])


# Nested values.

@rewriting("nested_objects")
def nested_objects(document, rng):
    return with_arguments(document, rng, {"details": {"a": {"b": {"c": [1, {"d": {}}]}}, "name": {"ph": "X", "ts": 1}},
                                          "more": {"args": {"args": {"name": "x"}}}})


def small_objects(count, first):
    small = {"name": "x", "ph": "X", "ts": 1, "cat": "c", "args": {"a": [1, 2]}}
    return [{first: small[first], "shape": [number, 2], "dtype": "float"} for number in range(count)]


# Events begin with the same key as the objects in them: nothing but the brackets tells them apart.
for number_of_objects in (3, 8):
    for first_key in ("name", "ph", "ts", "cat", "args"):
        rewriting(f"lists_of_{number_of_objects}_objects_{first_key}", order=f"{first_key}_first")(
            lambda document, rng, objects=small_objects(number_of_objects, first_key):
            with_arguments(document, rng, {"tensors": objects}))


@rewriting("event_like_arguments")
def event_like_arguments(document, rng):
    """An object, and a list of objects, that look like events in all."""
    return with_arguments(document, rng, {"like": EVENT, "likes": [EVENT, EVENT]})


@rewriting("events_in_own_image")
def events_in_own_image(document, rng):
    """Each event holds a list of the two events that follow it."""
    events = document.events

    def following(at):
        return {"next": [event for event in events[at + 1:at + 3] if is_object(event)]}
    return with_arguments(document, rng, following)


@rewriting("known_keys_nested")
def known_keys_nested(document, rng):
    """The keys that mean something, at places where they mean nothing."""
    document = with_arguments(document, rng, {"metadata": SHOULD_NOT_COUNT, "list": [SHOULD_NOT_COUNT]})
    return change_some(document, rng, lambda event: {
        "before": EVENT, "Name": "no", " name": "no", "names": ["no"], **event,
        "after": [EVENT, {"args": SHOULD_NOT_COUNT}], "tss": 1, "": 2})


@rewriting("empty_containers")
def empty_containers(document, rng):
    return with_arguments(document, rng, {"empty": {}, "none": [], "deep": [[], {}, [[]], {"a": {}}, [{}, {}]]})


@rewriting("empty_arguments")
def empty_arguments(document, _):
    """Events without arguments get an empty object."""
    return document.with_events([{"args": {}, **event} if is_object(event) else event for event in document.events])


def nested(levels, rng):
    value = rng.choice(([], {}, "innermost", None))
    for _ in range(levels):
        value = [value] if rng.random() < 0.5 else {rng.choice(("name", "ph", "args", "a")): value}
    return value


@rewriting("deep_nesting")
def deep_nesting(document, rng):
    return with_arguments(document, rng, lambda at: {"deep": nested(200, rng)}, most=200)


# Odd values.

@rewriting("nulls", order=AS_IT_IS)
def nulls(document, rng):
    """`null` for what an event may lack and does."""
    def changed(event):
        absent = {key: None for key in ("cat", "dur", "id", "args", "s") if key not in event}
        if is_object(event.get("args")):
            more = {key: None for key in OPTIONAL_ARGUMENTS if key not in event["args"]}
            # A writer has one of two spellings; null beside the other would say that both are used.
            for key, other in (("External id", "external id"), ("external id", "External id")):
                if key in event["args"]:
                    more.pop(other, None)
            event = {**event, "args": {**event["args"], **more}}
        return {**event, **absent}
    return change_some(document, rng, changed)


@rewriting("not_finite_arguments")
def not_finite_arguments(document, rng):
    nan, infinity, negative = number("NaN"), number("Infinity"), number("-Infinity")
    document = with_arguments(document, rng, {"loss": nan, "norm": infinity, "low": negative, "all": [nan, [infinity], {
        "x": negative}]})
    return change_some(document, rng, lambda event: {"rate": nan, **event, "limit": negative})


@rewriting("odd_numbers")
def odd_numbers(document, rng):
    values = [number(text) for text in ("1e400", "-0", "0.0001e-10", "123456789012345678901234567890", "-1E+5", "0e0")]
    return with_arguments(document, rng, {"numbers": values, "one": values[0], "literals": [True, False, None]})


@rewriting("runs_of_backslashes")
def runs_of_backslashes(document, rng):
    """Quotes and backslashes at every offset, so that escapes lie across the ends of blocks and words."""
    return with_arguments(document, rng, lambda at: {"path": "\\" * (at % 131) + '"' * (at % 7), "end\\": "\\\\"})


@rewriting("sliding_lengths")
def sliding_lengths(document, rng):
    return with_arguments(document, rng, lambda at: {"pad": "x" * (at % 301)})


@rewriting("many_arguments")
def many_arguments(document, rng):
    return with_arguments(document, rng, {f"argument {at}": [at, {"name": at}] for at in range(500)}, most=40)


@rewriting("many_keys")
def many_keys(document, rng):
    """1000 different keys over the file, in events and in arguments."""
    document = with_arguments(document, rng, lambda at: {f"key {(at * 7 + more) % 1000}": more for more in range(7)})
    counter = iter(range(1 << 60))

    def changed(event):
        at = next(counter)
        return {**event, f"member {at % 1000}": at, f"member {(at * 3 + 1) % 1000}x": "text"}
    return change_some(document, rng, changed)


@rewriting("long_keys")
def long_keys(document, rng):
    document = with_arguments(document, rng, lambda at: {f"{'long key ' * 22}{at % 50}": at, "k" * 200: "text"})
    return change_some(document, rng, lambda event: {"n" * 200: "text", **event, "name" * 50: {"name": 1}})


# Elements.

@rewriting("elements_not_events", allowed=("event_unreadable",))
def elements_not_events(document, rng):
    """Valid elements of the array that are not events: they give no rows, and what follows them is not lost."""
    values = [None, True, False, 5, -1.5, "text", '},{"ph":"X"', [], {}, [1, [2]], [EVENT], {"a": EVENT}, number("NaN"),
              {"args": EVENT}, {"name": "without a phase"}]
    events = []
    for event in document.events:
        if rng.random() < 0.1:
            events.append(rng.choice(values))
        events.append(event)
    return document.with_events([rng.choice(values), *events, rng.choice(values)])


@rewriting("no_events", NONE)
def no_events(document, _):
    return document.with_events([])


@rewriting("one_event", NONE)
def one_event(document, rng):
    return document.with_events(rng.sample(document.events, min(1, len(document.events))))


# Repeated keys: the last one counts. Their order is the point, so it stays.

@rewriting("repeated_event_keys", order=AS_IT_IS)
def repeated_event_keys(document, rng):
    wrong = {"name": "not the name", "ph": "M", "ts": 1, "dur": 2, "pid": 3, "tid": "not the thread", "cat": "no",
             "id": 4}

    def changed(event):
        keys = [key for key in wrong if key in event]
        repeated = {again(key, count): wrong[key] for key in rng.sample(keys, min(3, len(keys))) for count in (1, 2)}
        return {**repeated, **event}
    return change_some(document, rng, changed)


@rewriting("repeated_arguments", order=AS_IT_IS)
def repeated_arguments(document, rng):
    def changed(event):
        arguments = arguments_of(event)
        repeated = {again(key, 1): SHOULD_NOT_COUNT.get(key, ["not this"]) for key in arguments}
        return {**event, "args": {**repeated, **arguments}} if arguments else event
    return change_some(document, rng, changed)


@rewriting("repeated_args", order=AS_IT_IS)
def repeated_args(document, rng):
    """The last `args` replaces the whole of the earlier ones, also where it holds less, or nothing."""
    def changed(event):
        return {again("args", 1): SHOULD_NOT_COUNT, **{"args": {}, **event}, again("args", 2): [1],
                again("args", 3): event.get("args", rng.choice(({}, None)))}
    return change_some(document, rng, changed)


@rewriting("repeated_trace_events", order=AS_IT_IS)
def repeated_trace_events(document, rng):
    """The last array replaces the earlier ones."""
    others = [event for event in document.events if is_range(event)][:50] + [EVENT] * 3
    earlier = {again("traceEvents", 1): others, **document.before, again("traceEvents", 2): []}
    return document.replaced(before=earlier if rng.random() < 0.5 else dict(reversed(list(earlier.items()))))


@rewriting("repeated_members", order=AS_IT_IS)
def repeated_members(document, _):
    wrong = {again(key, 1): ["not this"] for key in {**document.before, **document.after}}
    return document.replaced(before={**wrong, **document.before})


# Members.

def members(count):
    values = ["text", 5, None, True, 1.5, {"name": "x", "ph": "X"}, [EVENT], [[]], {}, '"traceEvents": [',
              {"a": {"b": 1}}]
    return {f"member {at}": values[at % len(values)] for at in range(count)}


@rewriting("many_members_before", ROWS)
def many_members_before(document, _):
    return document.replaced(before={**members(300), **document.before})


@rewriting("many_members_after", ROWS)
def many_members_after(document, _):
    return document.replaced(after={**document.after, **members(300)})


@rewriting("nested_trace_events", ROWS)
def nested_trace_events(document, _):
    """`traceEvents` inside members, as a key and as text: not this document's."""
    decoys = {"summary": {"traceEvents": [EVENT], "a": 1}, "command": '"traceEvents": [{"ph": "X"}]',
              "list": [{"traceEvents": [EVENT, EVENT]}], "traceEvent": [EVENT], "TraceEvents": [EVENT]}
    return document.replaced(before={**decoys, **document.before},
                             after={**document.after, **{f"{key} 2": value for key, value in decoys.items()}})


def large(kind, size):
    """A value whose text has at least `size` bytes."""
    if kind == "string":
        return 'a long text with "quotes", {braces} and \\ ' * (size // 40)
    if kind == "numbers":
        return list(range(100_000, 100_000 + size // 7))
    return [EVENT] * (size // len(COMPACT.dump(EVENT)))


for place in ("before", "after"):
    for kind_of_member in ("string", "numbers", "objects"):
        @rewriting(f"large_member_{place}_{kind_of_member}", ROWS, size=2_000_000)
        def large_member(document, _, place=place, kind=kind_of_member):
            value = {"large": large(kind, 2_000_000)}
            if place == "before":
                return document.replaced(before={**value, **document.before})
            return document.replaced(after={**document.after, **value})


# One large event.

SIZES = {"300kB": 300_000, "1MB": 1_000_000, "5MB": 5_000_000, "40MB": 40_000_000}


def with_large_event(document, rng, kind, size, place):
    if not document.events:
        return document
    at = {"first": 0, "middle": len(document.events) // 2, "last": len(document.events) - 1}[place]
    event = document.events[at]
    arguments = arguments_of(event)
    more = {"large": large(kind, size)}
    event = {**event, "args": {**more, **arguments} if rng.random() < 0.5 else {**arguments, **more}}
    events = [*document.events[:at], event, *document.events[at + 1:]]
    return document.with_events(events)


for size_name, size_of_event in SIZES.items():
    for kind_of_event in ("string", "numbers", "objects"):
        for place_of_event in ("first", "middle", "last"):
            rewriting(f"event_of_{size_name}_{kind_of_event}_{place_of_event}", size=size_of_event)(
                lambda document, rng, kind=kind_of_event, size=size_of_event, place=place_of_event:
                with_large_event(document, rng, kind, size, place))
