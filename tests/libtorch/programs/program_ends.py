"""A program may end in any way while it records: the window is on disk, and the program's exit
status is what it would have been.
  program_ends.py PROGRAM FOLDER
"""
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
}


def main() -> None:
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for way, expected in WAYS.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with subprocess.Popen([program, way, folder], stdout=subprocess.PIPE, text=True) as running:
            try:
                if way.startswith("sigterm"):
                    assert running.stdout.readline() == "recording\n", way
                    running.send_signal(signal.SIGTERM)
                status = running.wait(timeout=60)
            finally:
                running.kill()
        assert status == expected, f"{way}: ends with {status}, not with {expected}"
        check = "check_child" if way.startswith("child") else "check"
        found = subprocess.run([program, check, folder], capture_output=True, text=True)
        assert found.returncode == 0, f"{way}: {found.stderr}"
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(WAYS)} ways, each with its window")


if __name__ == "__main__":
    main()
