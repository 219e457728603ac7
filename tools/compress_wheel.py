#!/usr/bin/env python3
"""Compresses the files in a wheel again, by libdeflate: 4 % smaller than by zlib, and any unzip reads it.

    compress_wheel.py WHEEL OUTPUT

Names, order, times and rights stay. Needs the package deflate.
"""

import pathlib
import sys
import unittest.mock
import zipfile

import deflate

LEVEL = 12  # the best of libdeflate


class Compressor:
    """What zipfile compresses a file with, which it does piece by piece."""

    def __init__(self) -> None:
        self.content = bytearray()

    def compress(self, piece: bytes) -> bytes:
        self.content += piece
        return b""

    def flush(self) -> bytes:
        return bytes(deflate.deflate_compress(bytes(self.content), LEVEL))


def compress(wheel: pathlib.Path, output: pathlib.Path) -> None:
    with (
        unittest.mock.patch.object(zipfile, "_get_compressor", lambda *_: Compressor()),
        zipfile.ZipFile(wheel) as old,
        zipfile.ZipFile(output, "w") as new,
    ):
        for entry in old.infolist():
            content = old.read(entry)
            if not entry.is_dir():
                entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, content)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(output) as new:
        for entry in old.infolist():
            if new.read(entry.filename) != old.read(entry):
                sys.exit(f"compress_wheel: {entry.filename} in {output} differs from that in {wheel}")


if __name__ == "__main__":
    compress(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
