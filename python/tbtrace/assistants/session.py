"""What is kept from question to question."""

from __future__ import annotations

import threading
from collections import OrderedDict

import tbtrace
from tbtrace.assistants.files import Files
from tbtrace.assistants.opened import Opened
from tbtrace.tab.sql import Sql

_MOST_DIFFS = 8


class Session:
    """For any number of threads."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.sql = Sql(is_quick=True)
        self._lock = threading.Lock()
        self._diffs: OrderedDict[tuple[str, str], tbtrace.Diff] = OrderedDict()

    def diff(self, base: Opened, new: Opened) -> tbtrace.Diff:
        key = base.id, new.id
        with self._lock:
            if key not in self._diffs:
                self._diffs[key] = tbtrace.diff(base.owner, new.owner)
            self._diffs.move_to_end(key)
            if len(self._diffs) > _MOST_DIFFS:
                self._diffs.popitem(last=False)
            return self._diffs[key]
