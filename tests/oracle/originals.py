"""The real traces that are written again: where they are, and their documents. Python 3, nothing besides."""
import dataclasses
import pathlib

import expected
from rewrite import load
from rewriting import REWRITINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = (ROOT.parent / "shared/traces", ROOT.parent / "shared/parity/visible")
OWN = (ROOT / "examples/traces", ROOT / "tests/data")
LARGE = 3_000_000  # bytes of text: looking into it costs seconds
LARGE_FILE = 300_000  # bytes on disk; what a cut gzip file says about its size is not true
# Beside the traces lie what other programs said about them.
ANSWERS = ("case.json", "events.json.gz", "key_averages.json", "timeline.json", "timeline.raw.json.gz", "views.json.gz")


@dataclasses.dataclass
class Original:
    name: str
    path: pathlib.Path
    size: int  # bytes of text
    document: object = None
    rows: list = None  # that are expected

    def load(self, most_events):
        if self.document is None:
            self.document = load(self.path).sliced(most_events)
            text = REWRITINGS["compact"].text(self.document, self.name, 0)
            self.rows = expected.rows(expected.parse(text.data))


def find(folders):
    """The traces below the folders, and the names of files that should be traces but are not valid JSON."""
    originals, invalid = [], []
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.json*")):
            size = text_size(path)
            if not path.name.endswith((".json", ".json.gz")) or size == 0 or path.name.endswith(ANSWERS):
                continue
            original = Original(str(path.relative_to(folder)), path, size)
            found = (size > LARGE and path.stat().st_size > LARGE_FILE) or is_trace(path)
            if found:
                originals.append(original)
            elif found is None:
                invalid.append(original.name)
    return originals, invalid


def text_size(path):
    """Of gzip, what its last four bytes say."""
    with open(path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        if not compressed:
            return path.stat().st_size
        file.seek(-4, 2)
        return int.from_bytes(file.read(4), "little")


def is_trace(path):
    """None if the file is not valid JSON."""
    try:
        document = load(path)
    except KeyError:
        return False  # no traceEvents
    except (ValueError, EOFError, OSError):
        return None
    return bool(document.events) and all(isinstance(event, dict) and "ph" in event for event in document.events)
