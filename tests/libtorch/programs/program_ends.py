"""A program may end in many ways while it records: the window is on disk, and the program's exit
status is what it would have been. Other ways lose the window,
unless there is a journal: then it is recovered from there.
  program_ends.py PROGRAM FOLDER
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys

WAYS = {  # and the exit status
    "static": 0,
    "static_before_torch": 0,
    "never_destroyed": 0,
    "exit": 3,
    "exit_on_another_thread": 3,
    "exit_in_handler": 3,
    "child_by_sigterm": 0,
    "sigterm": -signal.SIGTERM,
    "sigterm_with_handler": 7,
    "sigterm_after_another": 7,
    "sigint": -signal.SIGINT,
    "sighup": -signal.SIGHUP,
    "sighup_in_step": -signal.SIGHUP,
    "sigterm_while_ignored": 0,
    "two_signals": -signal.SIGTERM,
    "exception": -signal.SIGABRT,
    "exception_in_step": -signal.SIGABRT,
    "exception_on_another_thread": -signal.SIGABRT,
    "exception_with_handler": 7,
    "exceptions_on_many_threads": -signal.SIGABRT,
}
LOSE = {  # the open window, as docs/recording.md says
    "abort": -signal.SIGABRT,
    "segmentation_fault": -signal.SIGSEGV,
    "quick_exit": 3,
    "at_once": 3,
    "killed": -signal.SIGKILL,
    "out_of_memory": -signal.SIGKILL,
    "exec": 0,
    "sigint_twice": -signal.SIGINT,
    "sigint_twice_in_destructor": -signal.SIGINT,
    "exception_in_handler": -signal.SIGABRT,
}
LEAVE_NOTHING = ("static_before_torch", "never_destroyed", "exit_on_another_thread", "sigterm", "exception")
SENT = {"sigterm": signal.SIGTERM, "sigint": signal.SIGINT, "sighup": signal.SIGHUP,
        "sigterm_with_handler": signal.SIGTERM, "sigterm_after_another": signal.SIGTERM, "sigint_twice": signal.SIGINT}


MEMORY = 1 << 30  # that a program may have which takes all there is


@contextlib.contextmanager
def memory_group():
    """A cgroup with MEMORY; None where none can be made."""
    of_both = {"memory": {"memory.limit_in_bytes": MEMORY, "memory.memsw.limit_in_bytes": MEMORY},
               "": {"memory.max": MEMORY, "memory.swap.max": 0}}  # version 1 and 2
    for controller, limits in of_both.items():
        group = pathlib.Path("/sys/fs/cgroup", controller, f"tbtrace_{os.getpid()}")
        try:
            if not (group.parent / "cgroup.procs").exists():
                continue
            group.mkdir()
        except OSError:
            continue
        try:
            is_limited = False
            with contextlib.suppress(OSError):  # not ours to limit
                for name, limit in limits.items():
                    if (group / name).exists():
                        (group / name).write_text(str(limit))
                        is_limited = True
            yield group if is_limited else None
            return
        finally:
            with contextlib.suppress(OSError):  # the kernel may not be done with it
                group.rmdir()
    yield None


def kill_if_too_large(running: subprocess.Popen) -> None:
    """What the kernel does to a cgroup, where none can be made."""
    pages = pathlib.Path(f"/proc/{running.pid}/statm")
    while int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") < MEMORY:
        pass
    running.kill()


def status_of(program: str, way: str, folder: pathlib.Path) -> int:
    if not way.endswith("out_of_memory"):
        return status_in(program, way, folder, None)
    with memory_group() as group:
        return status_in(program, way, folder, group)


def status_in(program: str, way: str, folder: pathlib.Path, group: pathlib.Path | None) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    join = None if group is None else lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    with subprocess.Popen([program, way, folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, preexec_fn=join) as running:
        try:
            if way.endswith("out_of_memory") and group is None:
                kill_if_too_large(running)
            sent = SENT.get(way.removeprefix("journal_"))
            if sent is not None:
                assert running.stdout.readline() == "recording\n", way
                running.send_signal(sent)
            if way.endswith("sigint_twice"):
                assert running.stdout.readline() == "closing\n", way
                running.send_signal(sent)
            return running.wait(timeout=60)
        finally:
            running.kill()


def run(program: str, what: str, folder: pathlib.Path) -> None:
    found = subprocess.run([program, what, folder], capture_output=True, text=True)
    assert found.returncode == 0, f"{what}: {found.stderr}"


def check_window(program: str, way: str, folder: pathlib.Path) -> None:
    run(program, "check_child" if way.startswith("child") else "check", folder)


def main() -> None:
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for way, expected in WAYS.items():
        status = status_of(program, way, folder)
        assert status == expected, f"{way}: ends with {status}, not with {expected}"
        check_window(program, way, folder)
    for way, expected in LOSE.items():
        status = status_of(program, way, folder)
        assert status == expected, f"{way}: ends with {status}, not with {expected}"
        assert not any(folder.glob("**/*.pt.trace.json")), f"{way}: a window was written"
    # A journal is the same whatever is recorded, but for the GPU's part of it.
    has_gpu = "fake_gpu" in program
    for way in () if has_gpu else LEAVE_NOTHING:
        expected = WAYS[way]
        status = status_of(program, f"journal_{way}", folder)
        assert status == expected, f"{way} with a journal: ends with {status}, not with {expected}"
        check_window(program, way, folder)
        assert not any((folder / "journal").glob("*")), f"{way}: the journal is left"
    for number, (way, expected) in enumerate(LOSE.items()):
        if has_gpu and way not in ("abort", "killed"):
            continue
        status = status_of(program, f"journal_{way}", folder)
        assert status == expected, f"{way} with a journal: ends with {status}, not with {expected}"
        assert not any(folder.glob("**/*.pt.trace.json")), f"{way}: a window was written"
        if number % 2 == 0:
            run(program, "recover", folder)
            check_window(program, way, folder)
        else:
            run(program, "next", folder)
            assert len(list(folder.glob("*.pt.trace.json"))) == 2, f"{way}: not both windows are there"
        assert not any((folder / "journal").glob("*")), f"{way}: the journal is left"
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(WAYS)} ways, each with its window")


if __name__ == "__main__":
    main()
