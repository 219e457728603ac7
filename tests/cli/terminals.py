"""Pseudo-terminals for tests."""

import os
import pty
import sys


def drained(descriptor):
    """All that comes out of a pseudo-terminal until its other end is closed."""
    text = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says EIO there
            piece = b""
        if not piece:
            os.close(descriptor)
            return text
        text += piece


def have_terminals():
    """Where there are no pseudo-terminals, as in a bare chroot, root gets its own: /dev/pts of this process only."""
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError:
        if os.geteuid() != 0 or "TBTRACE_OWN_TERMINALS" in os.environ:
            raise
        os.environ["TBTRACE_OWN_TERMINALS"] = "1"
        mount = 'mount --make-private /dev && mount -t devpts devpts /dev/pts && exec "$0" "$@"'
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", mount,
                              sys.executable, *sys.argv])
