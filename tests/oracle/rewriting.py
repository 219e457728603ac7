"""What a rewriting is, and the list of them. Modules of rewritings add to it; rewrite.py joins them."""
import dataclasses
import random

from documents import KINETO_LAYOUT, STYLES, Style

# What a rewriting keeps of the rows of the original.
ALL = "all"
ROWS = "rows"  # all but the base time and the members
NONE = "none"

# What a reader must not say of a valid text: that something of it was unreadable, lost or damaged.
DAMAGE = frozenset({"input_truncated", "input_damaged", "event_unreadable", "event_too_large", "member_unreadable",
                    "unescaped_text"})

REWRITINGS = {}


@dataclasses.dataclass
class Text:
    """A document that was written again."""
    data: bytes
    keeps: str
    allowed: frozenset  # issues of DAMAGE that may be counted


@dataclasses.dataclass
class Rewriting:
    name: str
    change: object  # (Document, random.Random) -> Document
    keeps: str
    style: Style  # None: any, by the seed
    order: str  # of keys, one of KEY_ORDERS; None: any, by the seed
    finish: object  # (text, random.Random) -> text, or None
    size: int  # bytes that it adds, about
    allowed: frozenset

    def text(self, document, source, seed):
        """The text of the document that has the name `source`; the same for the same seed."""
        rng = random.Random(f"{seed}/{source}/{self.name}")
        changed = self.change(document, rng)
        style = self.style or rng.choice(STYLES)
        changed = reorder(changed, self.order or rng.choice(list(KEY_ORDERS)), rng)
        text = style.text(changed)
        if self.finish:
            text = self.finish(text, rng)
        if not changed.bare and KINETO_LAYOUT.search(text):
            raise AssertionError(f"{self.name} of {source} has Kineto's own line layout")
        return Text(text.encode(), self.keeps, self.allowed)


def rewriting(name, keeps=ALL, style=None, order=None, finish=None, size=0, allowed=()):
    """Adds the function that it decorates, which changes a document, to the list."""
    def add(change):
        if name in REWRITINGS:
            raise ValueError(f"there are two rewritings {name}")
        REWRITINGS[name] = Rewriting(name, change, keeps, style, order, finish, size, frozenset(allowed))
        return change
    return add


def is_object(value):
    return isinstance(value, dict)


# Orders of keys: (keys, random.Random) -> keys. `events` and their arguments have the same one.
AS_IT_IS = "as_it_is"
KEY_ORDERS = {
    AS_IT_IS: lambda keys, rank: keys,
    "sorted": lambda keys, rank: sorted(keys),
    "reversed": lambda keys, rank: list(reversed(keys)),
    "shuffled": lambda keys, rank: sorted(keys, key=rank),
    **{f"{first}_first": lambda keys, rank, first=first: sorted(keys, key=lambda key: key != first)
       for first in ("name", "ph", "ts", "cat", "args")},
    "args_last": lambda keys, rank: sorted(keys, key=lambda key: key == "args"),
}


def reorder(document, order, rng):
    """The document with the keys of events, arguments and, where all keys are moved, members in another order."""
    if order == AS_IT_IS:
        return document
    ranks = {}

    def rank(key):
        return ranks.setdefault(key, rng.random())

    def moved(value):
        return {key: value[key] for key in KEY_ORDERS[order](list(value), rank)}

    def moved_event(event):
        event = moved(event)
        if is_object(event.get("args")):
            event["args"] = moved(event["args"])
        return event

    document = document.with_events([moved_event(event) if is_object(event) else event for event in document.events])
    return document.replaced(before=moved(document.before), after=moved(document.after))
