"""Rewritings that say the same in another layout: blanks, order of keys, escapes. See rewrite.py."""
from documents import COMPACT, DEFAULT, LINES, LINES_COMPACT, Style, map_strings
from rewriting import ALL, AS_IT_IS, KEY_ORDERS, ROWS, is_object, rewriting

BLANKS = " \t\r\n"


def same(document, _):
    return document


def layout(name, style=None, order=AS_IT_IS, finish=None):
    """The same document in another layout."""
    rewriting(name, ALL, style, order, finish)(same)


layout("default_spaces", DEFAULT)
layout("compact", COMPACT)
layout("indent_1", Style(indent=1, ascii=False))
layout("indent_2", Style(indent=2, ascii=False))
layout("indent_4", Style(indent=4, ascii=False))
layout("indent_tab", Style(indent="\t", ascii=False))
layout("event_per_line", LINES)
layout("event_per_line_compact", LINES_COMPACT)
layout("blanks_everywhere", Style(comma=" \t, ", colon=" :\t "))
layout("ascii_only", Style(comma=",", colon=":"))
for key_order in list(KEY_ORDERS)[1:]:
    layout(f"keys_{key_order}", order=key_order)
layout("name_first_default_spaces", DEFAULT, "name_first")
layout("ph_first_compact", COMPACT, "ph_first")


@rewriting("keys_change_order", order=AS_IT_IS)
def keys_change_order(document, rng):
    """Another order of keys in each event."""
    def shuffled(value):
        return {key: value[key] for key in rng.sample(list(value), len(value))}

    def shuffled_event(event):
        event = shuffled(event)
        if is_object(event.get("args")):
            event["args"] = shuffled(event["args"])
        return event
    return document.with_events([shuffled_event(event) if is_object(event) else event for event in document.events])


# Where the members stand.

@rewriting("members_shuffled", order=AS_IT_IS)
def members_shuffled(document, rng):
    members = list({**document.before, **document.after}.items())
    rng.shuffle(members)
    at = rng.randint(0, len(members))
    return document.replaced(before=dict(members[:at]), after=dict(members[at:]))


@rewriting("events_first")
def events_first(document, _):
    return document.replaced(before={}, after={**document.before, **document.after})


@rewriting("events_last")
def events_last(document, _):
    return document.replaced(before={**document.before, **document.after}, after={})


def bare(document, _):
    return document.replaced(before={}, after={}, bare=True)


rewriting("bare_array", ROWS)(bare)
rewriting("bare_array_indent_2", ROWS, Style(indent=2, ascii=False))(bare)  # alike to Kineto's layout, but bare
rewriting("bare_array_default_spaces", ROWS, DEFAULT)(bare)


# Blanks around and between.

layout("byte_order_mark", finish=lambda text, _: "\ufeff" + text)
layout("leading_blanks", finish=lambda text, rng: "".join(rng.choices(BLANKS, k=500)) + text)
layout("long_leading_blanks", finish=lambda text, _: BLANKS * 25_000 + text)
layout("trailing_blanks", finish=lambda text, rng: text + "".join(rng.choices(BLANKS, k=500)))
layout("crlf", Style(indent=1, ascii=False), finish=lambda text, _: text.replace("\n", "\r\n"))
layout("crlf_event_per_line", LINES, finish=lambda text, _: text.replace("\n", "\r\n"))
layout("blank_lines", LINES, finish=lambda text, _: text.replace("\n", "\n\n \t\n"))


def blanks_after_commas(text, rng):
    """More blanks than any block has bytes after three of the commas, none after the others."""
    pieces = text.split("@blanks@")
    long = set(rng.sample(range(len(pieces)), min(3, len(pieces))))
    return "".join(piece + ("\n" * 300_000 if at in long else "") for at, piece in enumerate(pieces))


layout("runs_of_blanks", Style(comma=",@blanks@", colon=":"), finish=blanks_after_commas)


# Escapes.

def escaped(string):
    """Each character as \\u escapes of UTF-16."""
    units = string.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at:at + 4]}" for at in range(0, len(units), 4))


def some_escaped(string, rng, share):
    """A share of the characters as \\u escapes, and what JSON must escape."""
    return "".join(escaped(c).upper().replace("\\U", "\\u")
                   if c in '"\\' or not c.isprintable() or rng.random() < share else c for c in string)


layout("all_escaped", finish=lambda text, _: map_strings(text, escaped))
layout("keys_all_escaped", finish=lambda text, _: map_strings(text, escaped, keys_only=True))
layout("half_escaped", finish=lambda text, rng: map_strings(text, lambda string: some_escaped(string, rng, 0.5)))
layout("some_keys_escaped", finish=lambda text, rng: map_strings(
    text, lambda string: some_escaped(string, rng, 0.3 if rng.random() < 0.1 else 0), keys_only=True))
layout("slashes_escaped", finish=lambda text, _: text.replace("/", "\\/"))
