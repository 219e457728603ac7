"""What is the same of a PNG file whichever libpng packed it and whichever fonts were there."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by color type, but for palettes


def chunks(data):
    """Each chunk's type and content; a ValueError if one is damaged or bytes are missing or left."""
    if not data.startswith(SIGNATURE):
        raise ValueError("this is not a PNG file")
    at, kind = len(SIGNATURE), b""
    while kind != b"IEND":
        if len(data) - at < 12:
            raise ValueError("the PNG file ends too early")
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 8 + length
        if len(data) < end + 4 or struct.unpack_from(">I", data, end)[0] != zlib.crc32(data[at + 4:end]):
            raise ValueError(f"the chunk {kind} of the PNG file is damaged")
        yield kind, data[at + 8:end]
        at = end + 4
    if at != len(data):
        raise ValueError("there are bytes behind the PNG file")


def paeth(left, above, corner):
    estimate = left + above - corner
    return min(left, above, corner, key=lambda sample: abs(estimate - sample))  # the first of equals


def unfiltered(kind, line, above, pixel):
    """A row's samples, from those of the row above. `pixel`: how many bytes one has."""
    if kind == 0:
        return line
    if kind == 2:
        return bytes(value + up & 0xFF for value, up in zip(line, above))
    row = bytearray(line)
    for at, value in enumerate(line):
        left, corner = (row[at - pixel], above[at - pixel]) if at >= pixel else (0, 0)
        guess = (None, left, None, (left + above[at]) // 2, paeth(left, above[at], corner))[kind]
        row[at] = value + guess & 0xFF
    return bytes(row)


def facts(data):
    """(width, height, channels, whether its pixels are all alike)"""
    parts = list(chunks(data))
    if parts[0][0] != b"IHDR":
        raise ValueError("the PNG file has no head")
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or color not in CHANNELS or interlaced:
        raise ValueError(f"a PNG file of color type {color}, {depth} bits, interlaced {interlaced} is not one of ours")
    pixel = CHANNELS[color]
    packed = b"".join(content for kind, content in parts if kind == b"IDAT")
    samples = zlib.decompress(packed)
    stride = 1 + width * pixel
    if width == 0 or len(samples) != stride * height:
        raise ValueError(f"the PNG file has {len(samples)} bytes of pixels for {width} x {height}")
    above, first = bytes(stride - 1), None
    for at in range(0, len(samples), stride):
        if samples[at] > 4:
            raise ValueError(f"a row of the PNG file has filter {samples[at]}")
        above = unfiltered(samples[at], samples[at + 1:at + stride], above, pixel)
        first = first or above[:pixel]
        if above != first * width:
            return width, height, pixel, False
    return width, height, pixel, True
