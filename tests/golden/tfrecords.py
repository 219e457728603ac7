"""Reads the frame of an event file (docs/formats/event_files.md): records with a length and checksums.

Shares nothing with src/wire/, so that a mistake there is not made here as well.
"""

import struct

MASK_DELTA = 0xA282EAD8


def make_table():
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)  # Castagnoli, reflected
        table.append(remainder)
    return table


TABLE = make_table()


def crc32c(data):
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder = TABLE[(remainder ^ byte) & 0xFF] ^ remainder >> 8
    return remainder ^ 0xFFFFFFFF


def masked_crc(data):
    checksum = crc32c(data)
    return ((checksum >> 15 | checksum << 17) + MASK_DELTA) & 0xFFFFFFFF


def records(data):
    """The payloads. A ValueError says what is wrong and where: nothing is skipped, not even a cut end."""
    payloads, at = [], 0
    while at < len(data):
        if len(data) - at < 12:
            raise ValueError(f"byte {at}: the file ends in a record's head")
        length, checksum = struct.unpack_from("<QI", data, at)
        if checksum != masked_crc(data[at:at + 8]):
            raise ValueError(f"byte {at}: the checksum of a record's length is wrong")
        start, end = at + 12, at + 12 + length
        if len(data) < end + 4:
            raise ValueError(f"byte {at}: the file ends in a record of {length} bytes")
        payload = data[start:end]
        if struct.unpack_from("<I", data, end)[0] != masked_crc(payload):
            raise ValueError(f"byte {at}: the checksum of a record's payload is wrong")
        payloads.append(payload)
        at = end + 4
    return payloads
