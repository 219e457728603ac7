#!/usr/bin/env python3
"""Asks plain TensorBoard for the summaries of profiles: of converted traces, and of a program that records itself.

    python3 -m e2e.tensorboard.profile_summaries_test --tbtrace PATH [--program train_resnet18] [--output DIR] TRACE...

A TRACE is a file or a folder of ranks.

- `convert --to tensorboard` gives a run for each rank, in one call, with a line for each.
- With both of TensorBoard's loaders every scalar, text, histogram, picture, hyperparameter and layout comes back as it
  stands in the files, which TensorBoard's own messages read here; step times are those of the traces.
- A thousand windows of a worker are within what the loaders keep of a tag.
- The trainer's runs are beside its traces. --output takes screenshots of the dashboards in headless Chromium.

Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import collections
import gzip
import html
import html.parser
import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

from PIL import Image
from tensorboard.compat.proto import event_pb2
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util

from e2e.consumers import Report, TensorBoard
from e2e.tensorboard.event_answers import Answers, take_pictures

check = Report()
LAYOUT = "custom_scalars__config__"
SESSION = "_hparams_/session_start_info"
DASHBOARDS = {"timeseries": "peak_mib", "text": "aten::", "images": "flame_graph", "histograms": "log10_operator_us",
              "distributions": "log10_operator_us", "hparams": "record_shapes", "custom_scalars": "Step",
              "scalars": "step_time_ms"}


def events(file):
    data, at = file.read_bytes(), 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        yield event_pb2.Event.FromString(data[at + 12:at + 12 + size])
        at += 16 + size
    check(at == len(data), f"{file} ends with a whole record")


class Written:
    """What stands in the event files of a directory: by run and tag the events, in the order of the loaders."""

    def __init__(self, logdir):
        self.tags = collections.defaultdict(lambda: collections.defaultdict(list))
        self.plugins = {}  # of tags
        self.sessions = {}  # hyperparameters of runs
        for file in sorted(path for path in logdir.rglob("*tfevents*") if path.is_file()):
            run = str(file.parent.relative_to(logdir))
            for event in events(file):
                for value in event.summary.value:
                    self.tags[run][value.tag].append((event.step, event.wall_time, value.tensor))
                    if value.metadata.plugin_data.plugin_name:
                        self.plugins[value.tag] = value.metadata.plugin_data.plugin_name
                    if value.tag == SESSION:
                        session = plugin_data_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)
                        self.sessions[run] = {key: getattr(hparam, hparam.WhichOneof("kind")) for key, hparam
                                              in session.session_start_info.hparams.items()}
        for run, tags in self.tags.items():
            for tag, found in tags.items():
                steps = [step for step, _, _ in found]
                check(all(a < b for a, b in zip(steps, steps[1:])), f"steps of {tag} in {run} grow: {steps}")

    def of(self, plugin):
        return [(run, tag, found) for run, tags in self.tags.items() for tag, found in tags.items()
                if self.plugins[tag] == plugin]


def wait_until_read(answers, written):
    """Runs are listed before they are read."""
    answers.wait_for(written.tags)
    end = time.monotonic() + 60
    left = None
    while time.monotonic() < end:
        tags = answers.json("plugin/scalars/tags")
        images = answers.json("plugin/images/tags")
        texts = answers.json("plugin/text/tags")
        seen = {"scalars": tags, "images": images, "text": texts}
        left = [(run, tag) for plugin, has in seen.items() for run, tag, _ in written.of(plugin)
                if tag not in has.get(run, {})]
        left += [(run, tag) for run, tag, found in written.of("scalars") if not left
                 and answers.scalars(run, tag)[-1][0] != found[-1][0]]
        left += [(run, tag) for run, tag, found in written.of("images") if not left
                 and answers.images(run, tag)[-1][0] != found[-1][0]]
        if not left:
            return
        time.sleep(0.3)
    raise RuntimeError(f"TensorBoard does not read {left[:5]}")


class Cells(html.parser.HTMLParser):
    """Texts of a card's cells, and the titles in them."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.titles, self.tags, self.inside = [], [], set(), False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.inside = True
            self.cells.append("")
        if tag == "a":
            self.titles.append(dict(attributes).get("title"))

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


class Words(html.parser.HTMLParser):
    """Letters and digits of a page, and its tags."""

    def __init__(self, page):
        super().__init__()
        self.text, self.tags = "", set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def check_sentences(card, page, what):
    """A card without a table, which says what was found: its words arrive, and no name is markup."""
    def letters(text):
        return re.sub(r"[\W_]+", "", text)

    rendered = Words(page)
    check(letters(rendered.text) == letters(html.unescape(card)),
          f"{what}: words {rendered.text[:200]!r} of {card[:200]!r}")
    check(rendered.tags <= {"p", "ul", "li", "strong", "code"},
          f"{what}: nothing of a name is markup: {rendered.tags}")


def check_texts(shown, found, what):
    """TensorBoard's Markdown and its filter of HTML leave the table as it was written."""
    check([step for step, _ in shown] == [step for step, _, _ in found], f"{what}: steps")
    for (_, page), (_, _, tensor) in zip(shown, found):
        card = tensor.string_val[0].decode()
        check(re.match(r"(Steps? |The whole recording)", card), f"{what}: says what it covers: {card[:60]}")
        if "<table>" not in card:
            check_sentences(card, page, what)
            continue
        written, rendered = Cells(card[card.index("<table>"):]), Cells(page)
        check(len(written.cells) > 2 and rendered.cells == written.cells,
              f"{what}: cells {rendered.cells[:8]} and {written.cells[:8]}")
        check(rendered.titles == written.titles, f"{what}: titles {rendered.titles} and {written.titles}")
        check(rendered.tags <= {"p", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "a"},
              f"{what}: nothing of a name is markup: {rendered.tags}")


def check_answers(answers, written):
    for run, tag, found in written.of("scalars"):
        check(answers.scalars(run, tag) == [(step, tensor.float_val[0], wall) for step, wall, tensor in found],
              f"{tag} of {run}")
    for run, tag, found in written.of("text"):
        check_texts(answers.texts(run, tag), found, f"{tag} of {run}")
    for run, tag, found in written.of("histograms"):
        check(answers.histograms(run, tag) == [(step, tensor_util.make_ndarray(tensor).tolist())
                                               for step, _, tensor in found], f"{tag} of {run}")
    for run, tag, found in written.of("images"):
        expected = []
        for step, _, tensor in found:
            picture = Image.open(io.BytesIO(tensor.string_val[2]))
            check([str(size).encode() for size in picture.size] == list(tensor.string_val[:2]), f"size of {tag}")
            check(picture.size[0] >= 1200, f"{tag} has a high resolution: {picture.size}")
            expected.append((step, *picture.size, picture.tobytes()))
        check(answers.images(run, tag) == expected, f"{tag} of {run}")
    shown = answers.sessions()
    for run, hparams in written.sessions.items():
        check(shown[run][0] == hparams and hparams, f"hyperparameters of {run}: {shown[run][0]} and {hparams}")
        check("profile/step_time_ms" in dict(shown[run][1]), f"metrics of {run}")
    # Those of all runs, joined by their titles.
    layout = answers.layout()
    shown = {category["title"]: {(chart["title"], *chart["multiline"]["tag"]) for chart in category["chart"]}
             for category in layout["category"]}
    expected = collections.defaultdict(set)
    for run, tags in written.tags.items():
        [(_, _, tensor)] = tags[LAYOUT]
        for category in layout_pb2.Layout.FromString(tensor.string_val[0]).category:
            for chart in category.chart:
                expected[category.title].add((chart.title, *chart.multiline.tag))
                drawn = [tag for tag in tags if any(re.match(pattern, tag) for pattern in chart.multiline.tag)]
                check(drawn, f"the chart {chart.title} of {run} has curves")
    check(shown == expected and list(shown) == ["Profile"], f"layout {shown}")


def check_both_loaders(logdir, folder):
    written = Written(logdir)
    for load_fast in True, False:
        log = folder / f"log_{load_fast}"
        with TensorBoard(logdir, log, load_fast) as board:
            answers = Answers(board)
            wait_until_read(answers, written)
            runs = answers.json("runs")
            check(sorted(runs) == sorted(written.tags), f"runs {runs} and {sorted(written.tags)}")
            check_answers(answers, written)
        text = log.read_text(errors="replace")
        # Of the loaders: the plugin's readers complain when they are ended in their work.
        check(not re.search("panic|DataLoss|DecodeError|data_server.*rror", text), f"a loader's log: {text[-500:]}")
    return written


def trace_rows(path):
    data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def check_against_trace(written, run, rows):
    """Without devices a step is its range, and every operator has one duration."""
    tags = written.tags[run]
    on_device = any(row.get("cat") in ("kernel", "Kernel", "gpu_memcpy", "gpu_memset") for row in rows)
    steps = sorted((row["ts"], row["name"], row["dur"]) for row in rows
                   if row.get("ph") == "X" and str(row.get("name", "")).startswith("ProfilerStep#")
                   and row.get("cat") in ("cpu_op", "user_annotation"))
    if steps and not on_device:
        found = [(step, tensor.float_val[0]) for step, _, tensor in tags["profile/step_time_ms"]]
        expected = [(int(name.split("#")[1]), duration / 1e3) for _, name, duration in steps]
        check(len(found) == len(expected) and all(
            a[0] == b[0] and abs(a[1] - b[1]) < 1e-3 for a, b in zip(found, expected)),
              f"step times of {run}: {found} and {expected}")
    operators = [row for row in rows if row.get("ph") == "X" and row.get("cat") == "cpu_op" and row["dur"] > 0
                 and not str(row["name"]).startswith("ProfilerStep#")]
    durations = tags["profile_durations/log10_operator_us"][-1][2]
    count = sum(bucket[2] for bucket in tensor_util.make_ndarray(durations).tolist())
    check(count == len(operators), f"operators of {run}: {count} and {len(operators)}")


def check_converted(tbtrace, inputs, folder, logdir):
    ranks = [path for path in inputs if path.is_dir()]
    for path in [*ranks, [path for path in inputs if not path.is_dir()]]:
        paths = path if isinstance(path, list) else [path]
        done = subprocess.run([tbtrace, "convert", "--to", "tensorboard", "-o", str(logdir), *map(str, paths),
                               "--format", "json"], capture_output=True, check=True, timeout=300)
        entries = json.loads(done.stdout)["inputs"]
        files = [(entry["run"], file) for entry in entries for file in entry["files"]]
        check(len({file["path"].rsplit("/", 1)[0] for _, file in files}) ==
              len({(run, file["worker"]) for run, file in files}) > 0, f"a run for each rank of {paths}")
    check_both_loaders(logdir, folder)
    done = subprocess.run([tbtrace, "convert", "--to", "tensorboard", "-o", str(folder / "again"), *map(str, inputs)],
                          capture_output=True, check=True, timeout=300, text=True)
    lines = [line for line in done.stdout.splitlines() if " -> " in line]
    check(len(lines) == sum(len(list(path.glob("*.json"))) if path.is_dir() else 1 for path in inputs),
          f"a line for each trace: {lines}")
    files_of_run = collections.Counter(line.split(" -> ")[1].rsplit("/", 1)[0] for line in lines)
    written = Written(folder / "again")
    for line in lines:
        source, file = re.match(r"(\S+) \(\d+ ranges?\) -> (\S+) \(\d+ k?B\)$", line).groups()
        run = str(pathlib.Path(file).parent.relative_to(folder / "again"))
        if files_of_run[file.rsplit("/", 1)[0]] == 1 and "hostile" not in source:  # which is no strict JSON
            check_against_trace(written, run, trace_rows(pathlib.Path(source)))


def check_thousand_windows(tbtrace, folder):
    windows, logdir = folder / "windows", folder / "thousand"
    windows.mkdir()
    for number in range(1000):
        start = 1_790_857_026_000_000_000 + number * 60_000_000_000
        rows = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number * 50 + 9}", "pid": 1, "tid": 1,
                 "ts": 0, "dur": 1000 + number},
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 500}]
        trace = {"schemaVersion": 1, "baseTimeNanoseconds": start, "traceEvents": rows}
        (windows / f"node_0.{start}.pt.trace.json").write_text(json.dumps(trace))
    subprocess.run([tbtrace, "convert", "--to", "tensorboard", "-q", "-o", str(logdir), str(windows)], check=True,
                   timeout=300, stdout=subprocess.DEVNULL)
    written = check_both_loaders(logdir, folder)
    check(list(written.tags) == ["windows/node_0"], f"one run: {list(written.tags)}")
    tags = written.tags["windows/node_0"]
    check(len(tags["profile/step_time_ms"]) == 1000, "a value for each window")
    for run, tag, found in [*written.of("text"), *written.of("images"), *written.of("histograms")]:
        check(len(found) == 10 and found[-1][0] == 999 * 50 + 9, f"{len(found)} of {tag}")


def check_recorded(program, folder):
    logdir = folder / "recorded"
    subprocess.run([program, str(logdir / "resnet18")], check=True, timeout=300, stdout=subprocess.DEVNULL)
    traces = sorted((logdir / "resnet18").glob("*.pt.trace.json"))
    written = check_both_loaders(logdir, folder)
    worker = re.sub(r"\.\d+\.pt\.trace\.json$", "", traces[0].name)
    check(list(written.tags) == [f"resnet18/{worker}"], f"a run beside the traces: {list(written.tags)}")
    tags = written.tags[f"resnet18/{worker}"]
    steps = [int(row["name"].split("#")[1]) for path in traces for row in trace_rows(path)
             if str(row.get("name", "")).startswith("ProfilerStep#") and row.get("ph") == "X"]
    check([step for step, _, _ in tags["profile/step_time_ms"]] == steps and len(steps) == 6, f"steps {steps}")
    for tag in ("profile/operators/text_summary", "profile/memory/text_summary", "profile_flame_graph/cpu"):
        check(len(tags[tag]) == len(traces), f"{tag} of each window")
    for tag in ("data_loader", "cpu_op", "other"):
        check(sum(tensor.float_val[0] for _, _, tensor in tags[f"profile/step_part/{tag}_ms"]) > 0, f"{tag} takes time")
    check(len(tags["profile/memory/cpu/peak_mib"]) == len(steps), "peaks of memory")
    return logdir


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--program")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        logdir = folder / "converted"
        check_converted(options.tbtrace, options.traces, folder, logdir)
        check_thousand_windows(options.tbtrace, folder)
        if options.program:
            logdir = check_recorded(options.program, folder)
        if options.output:
            runs = [str(path.parent.relative_to(logdir)) for path in logdir.rglob("*tfevents*")]
            take_pictures(check, logdir, runs, DASHBOARDS, options.output, folder / "pictures_log")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
