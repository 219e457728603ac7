"""What Python runs first in a program below `tbtrace record`: it waits until the program imports torch.

It runs the sitecustomize that it hides, imports nothing that the program would not have, and prints nothing.
"""

from __future__ import annotations

import sys


class _TorchFinder:
    """Notices the first `import torch`, and is gone then."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name != "torch":
            return None
        import importlib.util

        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            sys.path.insert(0, self._folder)
            try:
                from _tbtrace_recording import hook  # type: ignore[import-not-found, unused-ignore]

                hook.prepare(self._folder, spec)
            except Exception as problem:  # the program must not notice
                _say(self._folder, "problem", repr(problem))
            finally:
                sys.path.remove(self._folder)
        return spec


def _say(folder: str, kind: str, text: str) -> bool:
    """A line for `tbtrace record`, in the process's own file. Returns whether it can be written."""
    import os

    try:
        with open(os.path.join(folder, "%d.said" % os.getpid()), "a") as file:
            file.write("%s %s\n" % (kind, " ".join(text.split())))
    except OSError:  # the recording has ended, or this is another machine
        return False
    return True


def _run_hidden() -> None:
    """Runs the sitecustomize that this file hides. Python needs an entry of this name in any case."""
    own = sys.modules.pop(__name__)
    try:
        import sitecustomize  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError as problem:
        if problem.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


_folder = __file__[: __file__.rindex("/")]
sys.path[:] = [path for path in sys.path if path != _folder]
if _say(_folder, "python", sys.version.split()[0]):
    sys.meta_path.insert(0, _TorchFinder(_folder))  # type: ignore[arg-type]
_run_hidden()
