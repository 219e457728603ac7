"""What tests of programs that record themselves share: their options, the recorded files, and TensorBoard with the run."""
import argparse
import contextlib
import pathlib
import subprocess
import tempfile

from e2e.consumers import TensorBoard
from e2e.plugin.log_directory_test import check_log


def read_options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--program", required=True)
    return parser.parse_args()


@contextlib.contextmanager
def log_directory():
    """A folder `logs` that is not there yet, in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        yield pathlib.Path(scratch) / "logs"


def recorded(report, program, folder, *arguments):
    """Runs a program that records into `folder`: what it printed."""
    done = subprocess.run([program, str(folder), *arguments], capture_output=True, timeout=300, text=True)
    report(done.returncode == 0, f"{program} {arguments}: exit {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def files_in(folder):
    return sorted(folder.glob("*.pt.trace.json*"))


@contextlib.contextmanager
def on_tensorboard(report, logdir, run):
    """Serves `logdir` and asks the plugin for the views of `run`; checks in the end what TensorBoard logged."""
    run.folder = str(logdir / run.name)
    log = logdir.parent / "tensorboard.log"
    with TensorBoard(logdir, log) as server:
        report(run.name in server.wait_for([run.name], 240), f"TensorBoard did not load {run.name}")
        run.ask(server)
        yield
    check_log(report, log, [run])
