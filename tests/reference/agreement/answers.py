"""What each verb says of an input, asked once."""
import csv
import functools
import io
import json
import pathlib
import subprocess

UNREADABLE, WRONG_USAGE = 3, 2  # exit codes


class Refused(Exception):
    """A verb ended with an exit code that has no answer."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Answers:
    """By command: `answers["kernels --group-by family"]` is the JSON object that it prints."""

    def __init__(self, program, path, folder, name=None):
        self.program, self.path, self.folder = program, str(path), pathlib.Path(folder)
        self.name = name or str(path)
        self.asked = 0

    @functools.cache
    def text(self, command, *options):
        done = self.run(command, *options)
        # `check` ends with 1 if it found something.
        if done.returncode not in ((0, 1) if command.startswith("check") else (0,)):
            raise Refused(done.returncode, f"{command}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode(errors="surrogateescape")

    def run(self, command, *options):
        self.asked += 1
        return subprocess.run([self.program, *command.split(), *options, "--progress", "off", self.path],
                              capture_output=True, timeout=300, stdin=subprocess.DEVNULL, check=False)

    @functools.cache
    def __getitem__(self, command):
        return json.loads(self.text(command, "--format", "json"))

    def rows(self, command):
        return self[command]["rows"]

    def totals(self, command):
        return self[command]["totals"]

    def found(self, finding):
        """How often `check` met something."""
        return sum(row["count"] for row in self.rows("check") if row["id"] == finding)

    def has_wrong_times(self):
        """Whether device work is left out of `gpu`, whose times cannot be or were lost."""
        return self.found("misplaced_device_work") + self.found("times_of_zero") > 0

    def stacks(self, command):
        """Of a flame graph: [(frames, weight)]."""
        lines = self.text(command, "--format", "folded").split("\n")
        return [(frames, int(weight)) for frames, _, weight in (line.rpartition(" ") for line in lines if line)]

    def csv(self, command):
        return list(csv.reader(io.StringIO(self.text(command, "--format", "csv"), newline="")))

    def markdown(self, command):
        return [line for line in self.text(command, "--format", "md").split("\n") if line.startswith("|")]

    def of_partial(self):
        """The answers of a partial of the input."""
        path = self.folder / "trace.tbp"
        done = self.run("save --overwrite", "-o", str(path))
        if done.returncode != 0:
            raise Refused(done.returncode, f"save: {done.stderr.decode(errors='replace').strip()}")
        return Answers(self.program, path, self.folder)

    def of_converted(self, dialect):
        """The answers of the trace that `convert` writes."""
        logs = self.folder / f"logs_{dialect}"
        done = self.run(f"convert --to plugin --dialect {dialect}", "-o", str(logs))
        if done.returncode != 0:
            raise Refused(done.returncode, f"convert: {done.stderr.decode(errors='replace').strip()}")
        return Answers(self.program, next(logs.rglob("*.pt.trace.json.gz")), self.folder)
