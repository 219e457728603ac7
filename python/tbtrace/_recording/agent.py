"""Recordings of a program that already runs: another process of the same user asks for each of them."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading
import time
from typing import Optional

from . import processes
from .options import Options
from .schedule import Schedule

_LONGEST = 1 << 16  # bytes of a request
_TRIES = 3  # windows in which no operator ran
_POLL_MS = 100  # while a recording runs


class Agent:
    """A socket `<pid>.socket` in a folder that only this user can enter. A request is one message, the text of Options;
    the answers are what Schedule says, one message each, and the end of the connection.

    Its thread waits in accept(), so a program that is not asked runs as without it. Requests that come at the same time
    are answered one after the other.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._listener: Optional[socket.socket] = None
        self._connection: Optional[socket.socket] = None

    def start(self) -> None:
        os.register_at_fork(after_in_child=self._on_fork)
        self._start()

    def _start(self) -> None:
        self._listener = self._listen()
        threading.Thread(target=self._answer, name="tbtrace", daemon=True).start()

    def _listen(self) -> socket.socket:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            # A socket's path may have 107 bytes; this one is short, however long the folder's is.
            place = f"/proc/self/fd/{folder}/{os.getpid()}.socket"
            unready = place + ".new"
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unready)  # of a dead process
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.bind(unready)
            listener.listen(8)
            os.rename(unready, place)
            return listener
        finally:
            os.close(folder)

    def _answer(self) -> None:
        listener = self._listener
        assert listener is not None
        own = os.fstat(listener.fileno()).st_ino
        while True:
            try:
                if os.fstat(listener.fileno()).st_ino != own:  # the program closed all files, and has other ones now
                    listener.detach()
                    return
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                self._connection = connection
                if _is_allowed(connection):
                    with contextlib.suppress(Exception):  # such as that who asked is gone
                        _serve(connection)

    def _on_fork(self) -> None:
        for inherited in (self._listener, self._connection):
            if inherited is not None:
                inherited.close()
        with contextlib.suppress(OSError):  # `tbtrace record` has ended
            self._start()


def _is_allowed(connection: socket.socket) -> bool:
    """Only this user and root can ask."""
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return user in (0, os.geteuid())


def _serve(connection: socket.socket) -> None:
    connection.settimeout(5)
    request = connection.recv(_LONGEST)
    connection.setblocking(False)  # the program does not wait for who asks
    failures = 0
    is_done = threading.Event()

    def say(kind: str, text: str) -> None:
        nonlocal failures
        failures += kind in ("empty", "problem")
        with contextlib.suppress(OSError):
            connection.send(f"{kind} {' '.join(text.split())}".encode("utf-8", "surrogateescape"))
        if kind == "trace" or failures >= _TRIES:
            is_done.set()

    if processes.is_loader_worker():
        return
    try:
        options = Options.of(os.fsdecode(request))
        schedule = Schedule(options, say)
        schedule.watch()
    except Exception as problem:  # the program must not notice
        say("problem", f"cannot record this process: {problem!r}")
        return
    hangup = select.poll()
    hangup.register(connection, select.POLLIN)  # who asked has nothing to add but its end
    while not is_done.is_set() and not schedule.is_over and not hangup.poll(_POLL_MS):
        pass
    while not schedule.is_over and not schedule.give_up():
        time.sleep(_POLL_MS / 1000)
    schedule.finish()
