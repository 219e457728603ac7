"""What docs/formats/tab.md says about each route."""

from __future__ import annotations

import functools
import gzip
import zlib
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from tbtrace.tab import answers, parameters, sql
from tbtrace.tab.log_directory import LogDirectory
from tbtrace.tab.refusal import Refusal
from tbtrace.tab.scan import TraceFile
from tbtrace.tab.static_files import static_file
from tbtrace.tab.views import View, Views

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_JSON = "application/json"
_BYTES = "application/octet-stream"


class Routes:
    def __init__(self, directory: LogDirectory, views: Views) -> None:
        self._directory = directory
        self._views = views

    def apps(self) -> dict[str, WSGIApplication]:
        script = functools.partial(static_file, "index.js", "text/javascript; charset=utf-8")
        style = functools.partial(static_file, "tab.css", "text/css; charset=utf-8")
        return {
            "/index.js": answers.app(script),
            "/tab.css": answers.app(style),
            "/runs": answers.app(self._runs),
            "/view": answers.app(self._view),
            "/timeline": answers.app(self._timeline),
            "/range": answers.app(self._range),
            "/compare": answers.app(self._compare),
            "/ranks": answers.app(self._ranks),
            "/empty": answers.app(self._empty),
            "/sql": answers.app(self._sql),
        }

    def _runs(self, request: Request) -> Response:
        compressor = zlib.compressobj(1, wbits=31)
        content = compressor.compress(self._directory.runs_json()) + compressor.flush()
        return answers.compressed(request, content, _JSON)

    def _view(self, request: Request) -> Response:
        file = self._file(request)
        name = parameters.view_name(request)
        made = self._views.view(file, self._directory.root, name)
        return _answer(request, made, _BYTES if name == "timeline" else _JSON)

    def _timeline(self, request: Request) -> Response:
        file = self._file(request)
        from_ns = parameters.optional_integer(request, "from_ns")
        to_ns = parameters.optional_integer(request, "to_ns")
        if from_ns is not None and to_ns is not None and from_ns >= to_ns:
            raise Refusal(400, "`from_ns` must be less than `to_ns`.")
        return _answer(request, self._views.timeline(file, self._directory.root, from_ns, to_ns), _BYTES)

    def _range(self, request: Request) -> Response:
        file = self._file(request)
        nth = 0 if "nth" not in request.args else parameters.integer(request, "nth", 0, 2**31 - 1)
        made = self._views.range(
            file,
            self._directory.root,
            track=parameters.integer(request, "track", 0, 2**31 - 1),
            start_ns=parameters.integer(request, "start_ns"),
            duration_ns=parameters.integer(request, "duration_ns", 0),
            name=parameters.text(request, "name"),
            nth=nth,
        )
        return _answer(request, made, _JSON)

    def _compare(self, request: Request) -> Response:
        base, new = self._file(request, "base"), self._file(request, "new")
        return _answer(request, self._views.comparison(base, new, self._directory.root), _JSON)

    def _ranks(self, request: Request) -> Response:
        job = self._directory.job_of(self._file(request))
        if len(job) < 2:
            raise Refusal(400, "The run has one worker: the view of ranks needs the traces of two or more.")
        return _answer(request, self._views.ranks(job, self._directory.root), _JSON)

    def _empty(self, request: Request) -> Response:
        return _answer(request, self._views.empty(self._file(request), self._directory.root), _JSON)

    def _sql(self, request: Request) -> Response:
        if "query" not in request.args:
            return answers.compressed(request, gzip.compress(sql.tables(), mtime=0), _JSON)
        query = parameters.text(request, "query")
        return _answer(request, self._views.sql(self._file(request), self._directory.root, query), _JSON)

    def _file(self, request: Request, parameter: str = "trace") -> TraceFile:
        trace = parameters.text(request, parameter)
        file = self._directory.find(trace)
        if file is None:
            raise Refusal(404, f"The log directory has no trace `{trace[:300]}`.")
        return file


def _answer(request: Request, made: View, kind: str) -> Response:
    is_present = bool(made.version) and request.args.get("version") == made.version
    return answers.compressed(request, made.content, kind, answers.FOR_EVER if is_present else answers.NOT_KEPT)
