#!/usr/bin/env python3
"""An event file as text, an entry for each summary value.

    event_text.py FILE...

Nothing is left out or masked but the compressed bytes of pictures, which differ between versions of libpng, cairo
and fonts; what `tbtrace convert` writes holds no time of day, host or process of its own. What TensorBoard could not
show is a ValueError: a value of a type or shape that its plugin does not take, or of a tag without a plugin.
"""

import pathlib
import struct
import sys
import unicodedata

from event_messages import decoded
from png_facts import facts
from tfrecords import records


def visible(text):
    """With a sign for each character that a terminal or diff might hide."""
    return "".join(c if c == " " or unicodedata.category(c)[0] not in "CZ" else f"<U+{ord(c):04X}>" for c in text)


def shortest(number):
    """The fewest digits that are this float of 32 bits."""
    bits = struct.pack("<f", number)
    shown = next(text for text in (f"{number:.{digits}g}" for digits in range(1, 10))
                 if struct.pack("<f", float(text)) == bits)
    return f"{float(shown):.9g}"  # 80 rather than 8e+01


def tensor_values(tensor, dtype, shape):
    """The tensor's values, which must be of this type and shape."""
    if "tensor_shape" not in tensor:
        raise ValueError("a tensor without a shape")
    dims = [dim.get("size", 0) for dim in tensor["tensor_shape"].get("dim", [])]
    if tensor.get("dtype") != dtype or dims != shape:
        raise ValueError(f"a tensor of type {tensor.get('dtype')}, shape {dims} in the place of {dtype}, {shape}")
    if tensor.keys() - {"dtype", "tensor_shape", f"{dtype}_val"}:
        raise ValueError(f"a tensor of type {dtype} with {sorted(tensor)}")
    return tensor.get(f"{dtype}_val", [])


def only(values):
    if len(values) != 1:
        raise ValueError(f"{len(values)} values in the place of one")
    return values[0]


def scalar(tensor):
    return " = " + shortest(only(tensor_values(tensor, "float", []))), []


def text(tensor):
    value = only(tensor_values(tensor, "string", [])).decode()
    return "", [f"| {visible(line)}".rstrip() for line in value.split("\n")]


def histogram(tensor):
    values = tensor.get("double_val", [])
    tensor_values(tensor, "double", [len(values) // 3, 3])
    if len(values) % 3:
        raise ValueError(f"{len(values)} values of buckets")
    return "", [f"{left!r} to {right!r}: {count:g}" for left, right, count in zip(*[iter(values)] * 3)]


def image(tensor):
    width, height, png = tensor_values(tensor, "string", [3])
    across, down, channels, alike = facts(png)
    if (width, height) != (b"%d" % across, b"%d" % down):
        raise ValueError(f"a picture of {across} x {down} is said to be {width} x {height}")
    # Its height follows from the machine's fonts.
    return f": PNG, {across} wide, {channels} channels, {'a single colour' if alike else 'several colours'}", []


def layout(tensor):
    message = decoded("Layout", only(tensor_values(tensor, "string", [])))
    lines = [f"version {message['version']}"] if "version" in message else []
    for category in message.get("category", []):
        lines.append(f"category {visible(category['title'])}" + (", closed" if category.get("closed") else ""))
        for chart in category.get("chart", []):
            lines.append(f"  chart {visible(chart['title'])}")
            lines.extend(f"    tag {visible(tag)}" for tag in chart["multiline"].get("tag", []))
    return "", lines


def hparams(tensor, content):
    tensor_values(tensor, "float", [0])
    message = decoded("HParamsPluginData", content)
    lines = [f"version {message.pop('version')}"] if "version" in message else []
    kind, info = only(list(message.items()))
    lines.append(kind)
    given = info.pop("hparams", [])
    # The entries of a map have no order.
    for entry in sorted(given, key=lambda entry: entry["key"]):
        lines.append(f"  hparam {visible(entry['key'])} = {only(list(entry['value'].values()))!r}")
    if len({entry["key"] for entry in given}) != len(given):
        raise ValueError("a hyperparameter is there twice")
    return "", lines + [f"  {name} {value}" for name, value in sorted(info.items())]


PLUGINS = {"scalars": ("scalar", scalar), "text": ("tensor", text), "histograms": ("tensor", histogram),
           "images": ("blob sequence", image), "custom_scalars": ("tensor", layout), "hparams": ("tensor", hparams)}


def value_lines(value, plugins):
    """A value's entry. `plugins`: of the tags before it, which later values do not repeat."""
    tag, about, metadata = value["tag"], "", value.get("metadata")
    content = b""
    if metadata is not None:
        plugin = plugins[tag] = metadata["plugin_data"]["plugin_name"]
        content = metadata["plugin_data"].get("content", b"")
        data_class = metadata.get("data_class")
        if plugin not in PLUGINS or data_class != PLUGINS[plugin][0]:
            raise ValueError(f"{tag} is for a plugin {plugin} with the class {data_class}")
        about = "".join(f", {name} {visible(metadata[name])}" for name in ("display_name", "summary_description")
                        if name in metadata)
        about = f" [{plugin}{about}]"
    elif tag not in plugins:
        raise ValueError(f"{tag} does not say which plugin it is for")
    if plugins[tag] == "hparams":
        shown, lines = hparams(value["tensor"], content)
    elif content:
        raise ValueError(f"{tag} has {len(content)} bytes for its plugin, which does not read any")
    else:
        shown, lines = PLUGINS[plugins[tag]][1](value["tensor"])
    return [f"  {visible(tag)}{about}{shown}", *(f"    {line}" for line in lines)]


def text_of(data):
    """The text of an event file's bytes. A ValueError or KeyError says why it cannot be one."""
    lines, plugins, moment = [], {}, None
    for number, payload in enumerate(records(data)):
        event = decoded("Event", payload)
        wanted = {"wall_time", "summary"} if number > 0 else {"wall_time", "file_version", "source_metadata"}
        if event.keys() - {"step"} != wanted:
            raise ValueError(f"event {number} has {sorted(event)}")
        wall_time = f"wall time {event['wall_time']!r}"
        if number == 0:
            lines.append(f"{event['file_version']} by {event['source_metadata']['writer']}, {wall_time}")
            continue
        if moment != (event.get("step", 0), wall_time):
            moment = (event.get("step", 0), wall_time)
            lines.append(f"step {moment[0]}, {wall_time}")
        lines.extend(value_lines(only(event["summary"].get("value", [])), plugins))
    return "".join(f"{line}\n" for line in lines)


def main():
    for path in sys.argv[1:]:
        sys.stdout.write(text_of(pathlib.Path(path).read_bytes()))


if __name__ == "__main__":
    main()
