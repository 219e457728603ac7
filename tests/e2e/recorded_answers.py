"""What pinned consumers answer to originals, kept in the user's cache: it changes only where the trace, the consumer or
the asking does. TBTRACE_ASK_AGAIN=1 in the environment asks again all the same, and an answer that is not the recorded
one raises."""
import gzip
import hashlib
import json
import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
MOST_BYTES = 500_000_000


class RecordedAnswers:
    def __init__(self, consumer, *asking):
        """`asking`: names of the files here that ask, the pinned packages among them."""
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.folder = pathlib.Path(cache) / "tbtrace" / "answers" / consumer
        self.asking = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in asking)).digest()
        self.ask_again = os.environ.get("TBTRACE_ASK_AGAIN") == "1"

    def file(self, inputs):
        key = hashlib.sha256(self.asking)
        for path in inputs:
            key.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return self.folder / f"{key.hexdigest()}.json.gz"

    def of(self, inputs):
        """As recorded; None if there is nothing, or it is to be asked for again."""
        file = self.file(inputs)
        if self.ask_again or not file.exists():
            return None
        os.utime(file)  # in use
        return json.loads(gzip.decompress(file.read_bytes()))

    def record(self, inputs, answers):
        file = self.file(inputs)
        text = json.dumps(answers, sort_keys=True).encode()
        if file.exists():
            if gzip.decompress(file.read_bytes()) != text:
                raise ValueError(f"the answers are not those on file; if they are right, remove {file}")
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(gzip.compress(text, mtime=0))
        unfinished.rename(file)
        self.remove_oldest()

    def remove_oldest(self):
        files = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        size = 0
        for file in files:
            size += file.stat().st_size
            if size > MOST_BYTES:
                file.unlink(missing_ok=True)
