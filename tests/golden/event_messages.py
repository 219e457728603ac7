"""Decodes the protobuf messages in event files, as far as `tbtrace convert` writes them.

Numbers and types are those of tensorboard/compat/proto and tensorboard/plugins of TensorBoard 2.21, not read from
proto/, so that a wrong number there is seen. A field that is not listed is an error: it would not be compared.
"""

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
NUMBERS = {"double": (FIXED64, "<d"), "float": (FIXED32, "<f")}
VARINTS = ("int32", "int64", "bool")

# {message: {number: (name, type, repeated)}}
MESSAGES = {
    "Event": {1: ("wall_time", "double", False), 2: ("step", "int64", False), 3: ("file_version", "string", False),
              5: ("summary", "Summary", False), 10: ("source_metadata", "SourceMetadata", False)},
    "SourceMetadata": {1: ("writer", "string", False)},
    "Summary": {1: ("value", "Summary.Value", True)},
    "Summary.Value": {1: ("tag", "string", False), 8: ("tensor", "TensorProto", False),
                      9: ("metadata", "SummaryMetadata", False)},
    "SummaryMetadata": {1: ("plugin_data", "PluginData", False), 2: ("display_name", "string", False),
                        3: ("summary_description", "string", False), 4: ("data_class", "DataClass", False)},
    "PluginData": {1: ("plugin_name", "string", False), 2: ("content", "bytes", False)},
    "TensorProto": {1: ("dtype", "DataType", False), 2: ("tensor_shape", "TensorShapeProto", False),
                    5: ("float_val", "float", True), 6: ("double_val", "double", True),
                    8: ("string_val", "bytes", True)},
    "TensorShapeProto": {2: ("dim", "Dim", True)},
    "Dim": {1: ("size", "int64", False)},
    "Layout": {1: ("version", "int32", False), 2: ("category", "Category", True)},
    "Category": {1: ("title", "string", False), 2: ("chart", "Chart", True), 3: ("closed", "bool", False)},
    "Chart": {1: ("title", "string", False), 2: ("multiline", "MultilineChartContent", False)},
    "MultilineChartContent": {1: ("tag", "string", True)},
    "HParamsPluginData": {1: ("version", "int32", False), 3: ("session_start_info", "SessionStartInfo", False),
                          4: ("session_end_info", "SessionEndInfo", False)},
    "SessionStartInfo": {1: ("hparams", "HParam", True), 4: ("group_name", "string", False),
                         5: ("start_time_secs", "double", False)},
    "HParam": {1: ("key", "string", False), 2: ("value", "Value", False)},  # an entry of a map
    "Value": {2: ("number_value", "double", False), 3: ("string_value", "string", False),
              4: ("bool_value", "bool", False)},
    "SessionEndInfo": {1: ("status", "Status", False), 2: ("end_time_secs", "double", False)},
}
ENUMS = {
    "DataClass": ("unknown", "scalar", "tensor", "blob sequence"),
    "DataType": {1: "float", 2: "double", 7: "string"},
    "Status": ("unknown", "success", "failure", "running"),
}


def varint(data, at):
    number = shift = 0
    while True:
        if at == len(data):
            raise ValueError("the message ends in a number")
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            break
    if number >= 1 << 64:
        raise ValueError("a number has more than 64 bits")
    return number, at


def part(data, at, length):
    if len(data) - at < length:
        raise ValueError("the message ends in a field")
    return data[at:at + length], at + length


def fields(data):
    """Each field's number, wire type and value, undecoded."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire_type = key & 7
        if wire_type == VARINT:
            value, at = varint(data, at)
        elif wire_type == BYTES:
            length, at = varint(data, at)
            value, at = part(data, at, length)
        elif wire_type in (FIXED64, FIXED32):
            value, at = part(data, at, 8 if wire_type == FIXED64 else 4)
        else:
            raise ValueError(f"field {key >> 3} has wire type {wire_type}")
        yield key >> 3, wire_type, value


def varint_value(kind, value):
    if kind == "bool":
        return bool(value)
    if kind in VARINTS:
        return value - (1 << 64) if value >= 1 << 63 else value
    names = ENUMS[kind]
    if value not in (names if isinstance(names, dict) else range(len(names))):
        raise ValueError(f"{value} is not a {kind}")
    return names[value]


def values_of(kind, wire_type, value):
    """The values of one field: several of a packed one."""
    wanted, layout = NUMBERS.get(kind, (None, None))
    if wanted is not None and wire_type in (wanted, BYTES):  # the latter are packed
        if len(value) % struct.calcsize(layout):
            raise ValueError(f"a row of {kind}s has {len(value)} bytes")
        return [number for number, in struct.iter_unpack(layout, value)]
    if wire_type == VARINT and (kind in VARINTS or kind in ENUMS):
        return [varint_value(kind, value)]
    if wire_type == BYTES and kind == "string":
        return [value.decode()]
    if wire_type == BYTES and kind == "bytes":
        return [value]
    if wire_type == BYTES and kind in MESSAGES:
        return [decoded(kind, value)]
    raise ValueError(f"a {kind} has wire type {wire_type}")


def decoded(message, data):
    """{field: value, or values where repeated}, without those that are not in the bytes."""
    found = {}
    for number, wire_type, value in fields(data):
        if number not in MESSAGES[message]:
            raise ValueError(f"{message} has field {number}, which this reader does not know")
        name, kind, repeated = MESSAGES[message][number]
        values = values_of(kind, wire_type, value)
        if repeated:
            found.setdefault(name, []).extend(values)
        elif name in found or len(values) != 1:
            raise ValueError(f"{message} does not have {name} once")
        else:
            found[name] = values[0]
    return found
