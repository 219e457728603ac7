"""Which files of the repository a branch has changed: for checks of a change rather than of everything.

Python's standard library only.
"""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def git(*arguments):
    """The lines that git prints; none if it fails."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files():
    """Paths that differ from where this branch left main, on main from the commit before the last one; with what is not
    committed and what git does not know yet. None if it is not known where that was."""
    base = git("rev-parse", "HEAD~1")
    for name in ("origin/main", "main"):
        fork = git("merge-base", "HEAD", name)
        if fork:
            base = base if fork == git("rev-parse", "HEAD") else fork
            break
    if not base:
        return None
    return set(git("diff", base[0], "--name-only") + git("ls-files", "--others", "--exclude-standard"))
