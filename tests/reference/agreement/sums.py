"""Sums over rows."""
from collections import Counter


def added(rows, key):
    return sum(row[key] or 0 for row in rows)


def grouped(rows, keys, values):
    """{values of `keys`: {value: sum}}"""
    sums = {}
    for row in rows:
        sums.setdefault(tuple(row[key] for key in keys), Counter()).update({value: row[value] or 0 for value in values})
    return {group: dict(sum_) for group, sum_ in sums.items()}


def chosen(row, keys):
    return {key: row[key] for key in keys}


def covered_ns(ranges):
    """The time in which at least one of the (start, end) is open."""
    covered, last = 0, None
    for start, end in sorted(ranges):
        if last is None or start > last:
            last = start
        covered += max(0, end - last)
        last = max(last, end)
    return covered


def device_time(kernels):
    """Of the totals of `kernels`: time of kernels, memcpys and memsets."""
    return kernels["total_ns"] + kernels["memcpy_ns"] + kernels["memset_ns"]


def device_count(kernels):
    return kernels["count"] + kernels["memcpys"] + kernels["memsets"]
