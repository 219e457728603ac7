"""HTTP answers. TensorBoard's own `Respond` would compress a second time."""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from tbtrace.tab.refusal import Refusal

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

FOR_EVER = "private, max-age=31536000, immutable"
NOT_KEPT = "no-store"
_PART = 256 << 10

_log = logging.getLogger("tbtrace")


def app(answer: Callable[[Request], Response]) -> WSGIApplication:
    def run(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
                response = refused(Refusal(405, "This address is only read, with GET."))
                response.headers["Allow"] = "GET, HEAD"
            else:
                response = answer(Request(environ, populate_request=False))
        except Refusal as refusal:
            response = refused(refusal)
        except MemoryError:
            response = refused(Refusal(500, "TensorBoard's machine does not have enough memory for this trace."))
        except Exception:
            _log.exception("%s failed", environ.get("PATH_INFO"))
            response = refused(Refusal(500, "tbtrace failed to answer; TensorBoard's log says why."))
        body: Iterable[bytes] = response(environ, start_response)
        return body

    return run


def refused(refusal: Refusal) -> Response:
    content = json.dumps({"error": refusal.sentence}).encode()
    return _response(content, "application/json", NOT_KEPT, refusal.status)


def compressed(request: Request, content: bytes, kind: str, keep: str = NOT_KEPT) -> Response:
    """`content` is gzip."""
    if request.accept_encodings["gzip"] > 0:
        response = _response(content, kind, keep)
        response.headers["Content-Encoding"] = "gzip"
    else:
        response = _response(_inflated(content), kind, keep)
    response.headers["Vary"] = "Accept-Encoding"
    return response


def _response(content: bytes | Iterator[bytes], kind: str, keep: str, status: int = 200) -> Response:
    response = Response(content, status, content_type=kind)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = keep
    return response


def _inflated(content: bytes) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=31)
    part = inflater.decompress(content, _PART)
    while part:
        yield part
        part = inflater.decompress(inflater.unconsumed_tail, _PART)
    yield inflater.flush()
