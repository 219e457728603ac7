"""Perfetto's engine and Catapult in a browser, with the server that gives them files."""
import contextlib
import http.server
import threading

from e2e.viewers.viewers_test import Handler, Viewers


@contextlib.contextmanager
def opened_viewers(browser):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Viewers(browser, server)
    finally:
        server.shutdown()
