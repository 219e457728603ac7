#!/usr/bin/env python3
"""What bash, zsh and fish offer, asked of the shells themselves.

    completions_test.py PROGRAM DOCUMENTS HOSTILE [NAME...]

DOCUMENTS is the folder with what the build made, HOSTILE the program that writes such a folder from hostile texts.
Each method is a CTest test cli.NAME.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import described
from terminals import drained, have_terminals

PROGRAM = HOSTILE = ""
DOCUMENTS = pathlib.Path()
SHAPES = pathlib.Path(__file__).resolve().parents[2] / "examples/traces/resnet18_training.json.gz"
SOUND = pathlib.Path(__file__).resolve().parents[1] / "data/stacks.json"
PARTIAL = SOUND.with_name("two_ranks.tbp")
# Options that need others.
SNAPSHOTS = [str(SOUND.parent / name) for name in ("failed_training.pickle", "memory_snapshot.pickle")]
GOES_WITH = {("ops", "--stack-source"): ("--group-by-stack-n", "3"), ("diff", "--weight"): ("--format", "svg")}
VALUES = {
    ("ops", "--format"): ["text", "csv", "json", "md"],
    ("ops", "--compat"): ["torch", "plugin"],
    ("ops", "--time-unit"): ["s", "ms", "us"],
    ("ops", "--progress"): ["auto", "on", "off"],
    ("flamegraph", "--format"): ["svg", "png", "folded"],
    ("convert", "--to"): ["both", "plugin", "tensorboard", "perfetto", "speedscope", "pprof", "firefox", "folded"],
    ("convert", "--dialect"): ["plugin", "kineto"],
    ("--version", "--color"): ["auto", "always", "never"],
}
FILES = ["ranks", "trace one.json", "trace.json"]


def ran(*command, **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **more)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(f"{command}: {result.returncode} {result.stderr}")
    return result.stdout


def bash(*words, documents=None):
    """What the completion of the last word offers by itself. `=` is a word of its own, as bash has it."""
    script = ('source "$0"; COMP_WORDS=(tbtrace "$@"); COMP_CWORD=$#; _tbtrace; '
              'if ((${#COMPREPLY[@]})); then printf "%s\\n" "${COMPREPLY[@]}"; fi')
    file = (documents or DOCUMENTS) / "tbtrace.bash"
    return ran("bash", "--norc", "--noprofile", "-c", script, file, *words).splitlines()


def fish(line, folder, documents=None):
    """What is offered, with its descriptions."""
    script = f'source {(documents or DOCUMENTS) / "tbtrace.fish"}; complete -C "$TBTRACE_LINE"'
    text = ran("fish", "--no-config", "-c", script, cwd=folder,
               env=os.environ | {"HOME": str(folder), "TBTRACE_LINE": line})
    return dict((entry + "\t").split("\t")[:2] for entry in text.splitlines())


def prompted(terminal):
    """What a shell shows until its next prompt; zsh asks for pasted text to be marked after it."""
    shown = b""
    while not re.search(rb"(^|[\r\n])> (\x1b\[\?2004h)?$", shown):
        if not select.select([terminal], [], [], 60)[0]:
            raise AssertionError(f"no prompt: {shown!r}")
        shown += os.read(terminal, 65536)
    return shown


def typed(shell, lines, folder, documents=None):
    """The words that a shell gives to tbtrace for each line; a tab in it asks for completion."""
    documents = documents or DOCUMENTS
    start = {
        "bash": ("bash --norc --noprofile -i", f"source {documents}/tbtrace.bash"),
        "zsh": ("zsh -f -i", f"fpath=({documents} $fpath); autoload -Uz compinit; compinit -u -D"),
    }[shell]
    commands = [start[1], "tbtrace() { printf '\\n'; printf '<<%s>>' \"$@\"; printf '\\n'; }", *lines, "exit"]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 1000, 0, 0))  # one line each
    # While the shell runs a command, the terminal would echo what arrives, into the middle of the command's output.
    # Without that bash shows no line break after what is typed; tbtrace() below prints one.
    settings = termios.tcgetattr(theirs)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    process = subprocess.Popen(start[0].split(), stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
                               start_new_session=True,
                               env=os.environ | {"HOME": str(folder), "TERM": "dumb", "PS1": "> ", "INPUTRC": "/dev/null"})
    os.close(theirs)
    # Line by line: what is typed before a shell has its prompt meets a terminal that is not yet the shell's.
    shown = prompted(ours)
    for command in commands[:-1]:
        os.write(ours, f"{command}\n".encode())
        shown += prompted(ours)
    os.write(ours, f"{commands[-1]}\n".encode())
    shown = (shown + drained(ours)).decode()
    process.wait(timeout=60)
    return [re.findall(r"<<(.*?)>>", line) for line in shown.splitlines() if line.startswith("<<")], shown


class Completions(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.work = self.folder / "work"
        (self.work / "ranks").mkdir(parents=True)
        for name in FILES[1:]:
            (self.work / name).touch()

    def hostile(self):
        ran(HOSTILE, self.folder)
        return self.folder

    def test_completions_are_valid_scripts(self):
        for documents in (DOCUMENTS, self.hostile()):
            ran("bash", "-n", documents / "tbtrace.bash")
            ran("zsh", "-n", documents / "_tbtrace")
            ran("fish", "-n", documents / "tbtrace.fish", env=os.environ | {"HOME": str(self.folder)})

    def test_bash_offers_verbs_and_options(self):
        verbs = list(described.verbs(PROGRAM))
        self.assertEqual(sorted(bash("")), sorted([*verbs, "-h", "--help"]))
        self.assertEqual(bash("co"), ["collectives", "convert"])
        for verb in verbs:
            wanted = [word for option in described.options(PROGRAM, verb)
                      for word in (option.letter, option.name) if word]
            self.assertEqual(bash(verb, "-"), wanted)
        self.assertEqual(bash("ops", "trace.json", "--f"), ["--format"])
        self.assertEqual(bash("ops", "--", "--f"), [], "it is a file's name")

    def test_bash_offers_values(self):
        for (verb, option), values in VALUES.items():
            self.assertEqual(bash(verb, option, ""), values)
            self.assertEqual(bash(verb, option, "="), values)
            self.assertEqual(bash(verb, option, "=", values[0]), [value for value in values if value.startswith(values[0])])
        self.assertEqual(bash("ops", "--row-limit", ""), [])

    def test_bash_completes_what_is_typed(self):
        lines = ["tbtrace fla\t", "tbtrace ops --row-l\t 5", "tbtrace ops --format=js\t", "tbtrace ops tr\t.j\t",
                 "tbtrace ops -o ra\t", "tbtrace ops trace\\ \t", "tbtrace convert --files-from=trace.\t",
                 "tbtrace ops --row-limit tr\t", "tbtrace --version --verbose tr\t"]
        words, shown = typed("bash", lines, self.work)
        self.assertEqual(words, [["flamegraph"], ["ops", "--row-limit", "5"], ["ops", "--format=json"],
                                 ["ops", "trace.json"], ["ops", "-o", "ranks/"], ["ops", "trace one.json"],
                                 ["convert", "--files-from=trace.json"], ["ops", "--row-limit", "tr"],
                                 ["--version", "--verbose", "tr"]], shown)

    def test_zsh_completes_what_is_typed(self):
        lines = ["tbtrace fla\t", "tbtrace ops --row-l\t 5", "tbtrace ops --format=js\t", "tbtrace ops --format js\t",
                 "tbtrace ops trace.\t", "tbtrace ops -o ra\t", "tbtrace ops trace\\ \t",
                 "tbtrace ops --row-limit tr\t", "tbtrace --version --verbose tr\t"]
        words, shown = typed("zsh", lines, self.work)
        self.assertEqual(words, [["flamegraph"], ["ops", "--row-limit", "5"], ["ops", "--format=json"],
                                 ["ops", "--format", "json"], ["ops", "trace.json"], ["ops", "-o", "ranks"],
                                 ["ops", "trace one.json"], ["ops", "--row-limit", "tr"], ["--version", "--verbose", "tr"]], shown)

    def test_zsh_knows_every_option(self):
        for verb in described.verbs(PROGRAM):
            names = [option.name for option in described.options(PROGRAM, verb)]
            words, shown = typed("zsh", [f"tbtrace {verb} {name[:-1]}\t" for name in names], self.work)
            common = [os.path.commonprefix([other for other in names if other.startswith(name[:-1])]) for name in names]
            self.assertEqual(words, [[verb, name] for name in common], shown)

    def test_fish_offers_verbs_and_options(self):
        verbs = described.verbs(PROGRAM)
        self.assertEqual(fish("tbtrace ", self.work), verbs)
        self.assertEqual(list(fish("tbtrace co", self.work)), ["collectives", "convert"])
        for verb in verbs:
            wanted = {word for option in described.options(PROGRAM, verb)
                      for word in (option.letter, option.name) if word}
            offered = fish(f"tbtrace {verb} -", self.work).keys() | fish(f"tbtrace {verb} --", self.work).keys()
            self.assertEqual(offered, wanted)

    def test_fish_offers_values_and_files(self):
        for (verb, option), values in VALUES.items():
            self.assertEqual(sorted(fish(f"tbtrace {verb} {option} ", self.work)), sorted(values))
            self.assertEqual(sorted(fish(f"tbtrace {verb} {option}=", self.work)),
                             sorted(f"{option}={value}" for value in values))
        files = ["ranks/", "trace one.json", "trace.json"]
        for line in ("ops ", "convert -o ", "convert --files-from "):
            self.assertEqual(sorted(fish(f"tbtrace {line}", self.work)), files, line)
        for line in ("ops --row-limit ", "--version "):
            self.assertEqual(fish(f"tbtrace {line}", self.work), {}, line)

    def test_every_value_that_is_offered_is_taken(self):
        tried = 0
        for verb in described.verbs(PROGRAM):
            if verb in ("tensorboard", "mcp", "recover"):
                continue  # become servers; takes journals (recover_test.py)
            inputs = {"--version": [], "add": [PARTIAL], "diff": [str(SOUND)] * 2, "record": ["true"],
                      "slice": [str(SOUND), "--time", "0-1000s"],
                      "whatif": [str(SOUND), "--set", "launch x0"],
                      "replay": [str(SHAPES), "--operator", "aten::mm"]}.get(verb, [str(SOUND)])
            for option in described.options(PROGRAM, verb):
                for value in bash(verb, option.name, "") if option.value else []:
                    is_of_snapshots = verb in ("memory", "diff", "flamegraph") and (
                        option.name in ("--at", "--by") or value in ("oom", "segments", "growth", "blocks", "bands"))
                    chosen = SNAPSHOTS[:len(inputs)] if is_of_snapshots else inputs
                    output = self.folder / f"output{tried}"
                    tried += 1
                    others = GOES_WITH.get((verb, option.name), ())
                    result = subprocess.run([PROGRAM, verb, *chosen, option.name, value, *others, "-o", output],
                                            capture_output=True, text=True, timeout=60)
                    if not re.search("it was built without (cairo|protobuf)|libcairo|nothing is left", result.stderr):
                        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(tried, 60)

    def test_completions_show_hostile_texts_as_they_are(self):
        documents = self.hostile()
        hostile = r"""'single' "double" \fBback\slash $HOME $(id) `id` [brackets] {a,b} a:b %s * ~ ^ # ; -x"""
        self.assertEqual(fish("tbtrace ", self.work, documents), {"odd": hostile, "even": "harmless"})
        self.assertEqual(fish("tbtrace odd --ho", self.work, documents), {"--hostile": hostile})
        self.assertEqual(fish("tbtrace odd --va", self.work, documents), {"--value": f"{hostile} (default: $HOME')"})
        self.assertEqual(bash("odd", "--value", "", documents=documents), ["one", "two"])
        lines = ["tbtrace \t", "tbtrace odd --\t", "tbtrace odd --value tw\t"]
        words, shown = typed("zsh", lines, self.work, documents)
        self.assertEqual(words[-1], ["odd", "--value", "two"], shown)
        for name, text in ("odd", hostile), ("--hostile", hostile), ("--value", f"{hostile} (default: $HOME')"):
            self.assertRegex(shown, rf"(?m)^{name} +-- {re.escape(text)} *\r$")


if __name__ == "__main__":
    have_terminals()
    PROGRAM, DOCUMENTS, HOSTILE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), str(pathlib.Path(sys.argv[3]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"Completions.test_{name}" for name in sys.argv[4:])])
