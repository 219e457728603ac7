"""Paths as people write them: `~`, and what fsspec knows (`s3://`, `gs://`, `memory://`).

The one place that knows remote paths. Inputs may be remote: they are streamed, or fetched into a
temporary folder that goes with what needs it. Outputs are local.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from tbtrace import _tbtrace

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[^/]+)*://")
_SQUEEZED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/(?!/)")  # what pathlib makes of it
_PIECE = 4 << 20  # bytes that are fetched at a time
_AT_A_TIME = 8  # files that are fetched

# By which file systems tell whether a file has changed.
_CHANGES = (
    "ETag etag LastModified last_modified mtime modified created updated md5 md5Hash crc32c generation checksum "
    "contentHash content_md5 modificationTime"
).split()

MISSING = "there is no such file; check the path"

_UNFINISHED = (
    "has the name of a trace that is not finished; wait for the program that writes it, or delete the file if that "
    "program was stopped; it is read if you name it itself"
)
_ARCHIVE = "is an archive, and those in remote folders are not looked into; copy it to this machine"


def is_remote(path: Any) -> bool:
    """Whether fsspec opens it."""
    return isinstance(path, str) and _SCHEME.match(path) is not None


def local(path: Any) -> Any:
    """A path with a user's home for `~`, unless there is a file of that name."""
    if isinstance(path, os.PathLike):
        text = os.fspath(path)
        if isinstance(text, str) and _SQUEEZED.match(text) and not os.path.lexists(text.split("/")[0]):
            raise ValueError(f"{text}: a pathlib.Path has no room for ://; pass the path as a str")
        path = text
    if isinstance(path, str) and path.startswith("~") and not os.path.lexists(path):
        return os.path.expanduser(path)
    return path


def all_missing(problems: Iterable[tuple[str, str]]) -> bool:
    """Whether inputs of these paths and messages could not be read because there is nothing at the paths."""
    return all(message == MISSING if is_remote(path) else not os.path.lexists(path) for path, message in problems)


def output(path: Any, what: str) -> Any:
    """A local path to write to. ValueError for a remote one; `what`: who writes."""
    if is_remote(path):
        raise ValueError(
            f"{path}: {what} writes to a local path; copy the result from there, for example with "
            "fsspec.core.url_to_fs(url)[0].put(...)"
        )
    return local(path)


def filesystem(path: str) -> tuple[Any, str]:
    """fsspec's file system of a path, and the path in it."""
    try:
        import fsspec
    except ModuleNotFoundError as missing:
        if missing.name != "fsspec":
            raise
        message = f"{path}: paths with :// need fsspec: pip install fsspec"
        raise ModuleNotFoundError(message, name="fsspec") from None
    try:
        return fsspec.core.url_to_fs(path)  # type: ignore[no-any-return]
    except ImportError as missing:  # "Install s3fs to access S3"
        raise ImportError(f"{path}: {missing}", name=missing.name) from missing
    except ValueError as unknown:
        raise ValueError(f"{path}: {unknown}") from unknown
    except OSError as problem:  # of hdfs without Java
        why = str(problem).split("\n")[0]
        raise _tbtrace.TraceError(f"{path}: cannot be opened: {why}; check what its file system needs") from problem


@contextlib.contextmanager
def named(url: str) -> Iterator[None]:
    """What goes wrong with a remote path is a TraceError that names it."""
    try:
        yield
    except _tbtrace.TraceError:
        raise
    except (ImportError, MemoryError):
        raise
    except Exception as problem:
        if (reason := _reason(problem)) is None:
            raise missing_file(url, f"{url}: {MISSING}") from problem
        why = str(reason) or type(reason).__name__
        raise _tbtrace.TraceError(f"{url}: cannot be read: {why}; check the connection and your permissions") from problem


def missing_file(path: str, sentence: str) -> _tbtrace.TraceFileNotFoundError:
    """With the path as `filename`."""
    return _tbtrace.TraceFileNotFoundError(errno.ENOENT, sentence, path)


def _reason(problem: Exception) -> Exception | None:
    """What a file system met with; None: there is no such file. fsspec says that of HTTP also if the
    connection failed, which is then the cause."""
    if not isinstance(problem, FileNotFoundError):
        return problem
    cause = problem.__cause__
    is_answer = cause is None or isinstance(cause, FileNotFoundError) or getattr(cause, "status", 0) in (404, 410)
    return None if is_answer or not isinstance(cause, Exception) else cause


class Remote:
    """The bytes of a remote file. A context manager; one thread at a time."""

    def __init__(self, url: str) -> None:
        self.path = url
        # Of an archive the file system has to stay: without it, the archive is closed.
        self._system, place = filesystem(url)
        with named(url):
            self._file = self._system.open(place, "rb", compression=None)

    def read(self, size: int) -> bytes:
        with named(self.path):
            return self._file.read(size)  # type: ignore[no-any-return]

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(Exception):  # it was read, or the reason why not is on its way
            self._file.close()


def one(source: Any) -> Any:
    """What to read: of a folder, a pattern or a list its only trace. ValueError if there are several."""
    if not isinstance(source, (list, tuple)):
        path = local(source)
        if not isinstance(path, str):
            return source
        if is_remote(path):
            found = matches(path)
            is_other = len(found) != 1 or path.endswith("/")
        else:
            is_other = os.path.isdir(path) or (re.search(r"[*?[]", path) is not None and not os.path.lexists(path))
        if not is_other:
            return source
    paths, not_found = find(source)
    if len(paths) == 1:
        return paths[0]
    if not paths and not_found:
        return not_found[0][0]  # whoever reads it says why not
    if not paths:
        raise ValueError("read() takes a trace, and the list is empty")
    more = ", ..." if len(paths) > 2 else ""
    raise ValueError(
        f"read() takes one trace, and there are {len(paths)}: {', '.join(map(str, paths[:2]))}{more}; "
        "TraceSet.open() and tbtrace.local.summarize() take several"
    )


def opened(path: Any) -> Any:
    """A local path, or an open file, which is a context manager, with the bytes of a remote one."""
    return Remote(path) if is_remote(path) else local(path)


@contextlib.contextmanager
def fetched(path: Any, go_on: Callable[[], bool] = lambda: True) -> Iterator[Any]:
    """A local path with the content of a path. Of a remote one a copy, which is removed in the end.
    Fetching ends, with a TraceError, once `go_on` is false."""
    if not is_remote(path):
        yield local(path)
        return
    import tempfile  # only here: it takes longer to import than all of tbtrace

    with tempfile.TemporaryDirectory(prefix="tbtrace-") as folder:
        place = os.path.join(folder, _base_name(path))
        _fetch(path, place, go_on)
        yield place


@contextlib.contextmanager
def exported(profiler: Any) -> Iterator[str]:
    """The path of the trace that a `torch.profiler.profile` has recorded, which is removed in the end."""
    import tempfile  # only here: it takes longer to import than all of tbtrace

    with tempfile.TemporaryDirectory(prefix="tbtrace-") as folder:
        path = os.path.join(folder, "trace.json")
        advice = "a profiler exports a recording once, after it has stopped; if it did, read that file"
        try:
            profiler.export_chrome_trace(path)
        except Exception as problem:
            why = str(problem).rstrip(".")
            raise _tbtrace.TraceError(f"<profile>: torch could not export its trace: {why}; {advice}") from problem
        if not os.path.exists(path):  # Kineto does not raise, but prints to standard error
            raise _tbtrace.TraceError(f"<profile>: torch exported no trace; {advice}")
        yield path


def facts_of_change(url: str) -> dict[str, Any] | None:
    """The size of a remote file (`size`, None if unknown) and what tells that it has changed
    (`change`); None if its file system does not say that."""
    system, place = filesystem(url)
    with named(url):
        info = system.info(place)
    change = {name: str(info[name]) for name in _CHANGES if info.get(name) is not None}
    return {"size": info.get("size"), "change": change} if change else None


def matches(url: str) -> list[str]:
    """The matches of a remote pattern, in order, perhaps none; else the path itself."""
    is_pattern = re.search(r"[*[]" if _is_http(url) else r"[*?[]", url)  # `?` begins a web page's query
    if not is_pattern:
        return [url]
    system, place = filesystem(url)
    with named(url):
        system.invalidate_cache()
        if system.exists(place):
            return [url]
        found = sorted(system.glob(place))
    if not _base_name(url).startswith("."):  # as a shell does it
        found = [match for match in found if not _base_name(match).startswith(".")]
    return [_url(url, place, match, system) for match in found]


def find(inputs: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """tbtrace.find(). Local paths come first. Of files in remote folders the names decide: they are
    not looked at, which would be a request each."""
    here, remote = _divided(inputs)
    paths, not_found = _tbtrace.find(here) if here else ([], [])
    taken = set()
    for url in {url.split("://")[0]: url for url in remote}.values():
        filesystem(url)  # what is not installed is said here, not by each worker
    for url in remote:
        ones = matches(url)
        if not ones:
            not_found.append((url, "no file matches; check the pattern"))
        for one in ones:
            found = _below(one)
            if found is None:
                found = [(one, "trace")]
            elif not any(kind == "trace" for _, kind in found):
                not_found.append((one, "contains no traces; name a directory or files that do"))
            for file, kind in found:
                if file in taken:
                    continue
                taken.add(file)
                if kind == "trace":
                    paths.append(file)
                else:
                    not_found.append((file, _UNFINISHED if kind == "unfinished" else _ARCHIVE))
    return paths, not_found


def convert(inputs: Any, log_directory: Any, **options: Any) -> dict[str, Any]:
    """tbtrace.convert()."""
    directory = output(log_directory, "convert()")
    here, remote = _divided(inputs)
    if not remote:
        return _tbtrace.convert(here, directory, **options)
    import tempfile  # only here: it takes longer to import than all of tbtrace

    with tempfile.TemporaryDirectory(prefix="tbtrace-") as folder:
        copies = _Copies(folder)
        for url in remote:
            for one in matches(url) or [url]:  # without a match whoever reads it says so
                copies.add(one)
        copies.fetch()
        try:
            result = _tbtrace.convert([*here, *copies.inputs], directory, **options)
        except (_tbtrace.TraceError, OSError, ValueError) as problem:
            sentence = copies.renamed(str(problem))
            if isinstance(problem, _tbtrace.TraceFileNotFoundError):
                raise missing_file(copies.renamed(problem.filename), sentence) from None
            raise type(problem)(sentence) from None
        return copies.renamed(result)  # type: ignore[no-any-return]


class _Copies:
    """Remote files and folders in a local folder, with their names and the name of the folder above,
    which name runs."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}  # by local path
        self._files: list[tuple[str, str]] = []  # (url, local path)
        self.inputs: list[str] = []

    def add(self, url: str) -> None:
        number = str(len(self.inputs))
        found = _below(url)
        if found is None:
            above = _base_name(url[: url.rfind("/")]) if url.count("/") > 2 else "traces"
            place = os.path.join(self._folder, number, above, _base_name(url))
            self._files.append((url, place))
        else:
            place = os.path.join(self._folder, number, _base_name(url))
            os.makedirs(place)
            for file, _ in found:
                below = file[len(url.rstrip("/")) + 1 :].split("/")
                self._files.append((file, os.path.join(place, *map(_safe, below))))
        self._names[place] = url.rstrip("/")
        self.inputs.append(place)

    def fetch(self) -> None:
        from concurrent.futures import ThreadPoolExecutor  # likewise

        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            for _ in pool.map(self._fetch, self._files):
                pass

    @staticmethod
    def _fetch(file: tuple[str, str]) -> None:
        url, place = file
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with contextlib.suppress(_tbtrace.TraceFileNotFoundError):  # which whoever reads it says
            _fetch(url, place, lambda: True)

    def renamed(self, value: Any) -> Any:
        """A text, or all texts in what JSON has, with URLs for local paths."""
        if isinstance(value, str):
            for place, url in self._names.items():
                value = value.replace(place, url)
            return value
        if isinstance(value, list):
            return [self.renamed(each) for each in value]
        if isinstance(value, Mapping):
            return {name: self.renamed(each) for name, each in value.items()}
        return value


def _divided(inputs: Any) -> tuple[list[Any], list[str]]:
    """Local paths and remote ones."""
    is_one = isinstance(inputs, (str, bytes)) or hasattr(inputs, "__fspath__")
    every: Iterable[Any] = [inputs] if is_one else inputs
    here: list[Any] = []
    remote: list[str] = []
    for path in every:
        if is_remote(path):
            remote.append(path)
        else:
            here.append(local(path))
    return here, remote


def _below(url: str) -> list[tuple[str, str]] | None:
    """(url, kind of name) of the files in a remote folder, kinds as those of name_says(); None if it
    is not a folder. What has the name of a trace is not asked."""
    if not url.endswith("/") and _tbtrace.name_says(_base_name(url)) == "trace":
        return None
    if _is_http(url) and not url.endswith("/"):
        return None  # it would be read as a page with links
    system, place = filesystem(url)
    with named(url):
        system.invalidate_cache()
        if not system.isdir(place):
            return None
        files = sorted(system.find(place))
    found = []
    for file in files:
        kind = _tbtrace.name_says(file[len(place.rstrip("/")) :].lstrip("/"))
        if kind:
            found.append((_url(url, place, file, system), kind))
    return found


def _url(url: str, place: str, found: str, system: Any) -> str:
    """Of what was found in the file system of `url`, which calls that `place`."""
    first, *rest = url.split("::", 1) if not url.split("://")[0].count("::") else [url]
    whole = first.rstrip("/")
    place = place.rstrip("/")
    if whole.endswith(place):
        made = whole[: len(whole) - len(place)] + found
        return "::".join([made, *rest])
    return str(system.unstrip_protocol(found))


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _base_name(url: str) -> str:
    first = url.split("::")[0]
    return _safe((first if "://" in first else url).rstrip("/").rsplit("/", 1)[-1])


def _safe(name: str) -> str:
    """A part of a path on this machine: keys of objects may have parts that lead elsewhere."""
    return "_" if name in ("", ".", "..") else name


def _fetch(url: str, place: str, go_on: Callable[[], bool]) -> None:
    with Remote(url) as source, open(place, "wb") as copy:
        while piece := source.read(_PIECE):
            if not go_on():
                raise _tbtrace.TraceError(f"{url}: was interrupted")
            copy.write(piece)
