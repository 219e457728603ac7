"""Answers of torch-tb-profiler, made comparable: what may differ between two log directories of one recording."""
import json
import math


def without_stacks(table):
    """Call stacks come of Python frames where the original has none of its own."""
    return {**table, "data": [{**row, "has_call_stack": None} for row in table["data"]]}


def renamed(answer, run):
    """Workers by number: their names differ."""
    text = json.dumps(answer)
    for number, worker in enumerate(sorted({span.query["worker"] for span in run.spans})):
        text = text.replace(json.dumps(worker), f'"worker {number}"')
    return json.loads(text)


def from_first(tree):
    """A tree with its times relative to the first one in it, and threads as numbers."""
    def firsts(node):
        if isinstance(node, dict):
            if isinstance(node.get("start_time"), (int, float)):
                yield node["start_time"]
            for value in node.values():
                yield from firsts(value)
        elif isinstance(node, list):
            for value in node:
                yield from firsts(value)

    def shifted(node, base):
        if isinstance(node, dict):
            return {key: value - base if key in ("start_time", "end_time") and isinstance(value, (int, float))
                    else int(value) if key == "tid" else shifted(value, base) for key, value in node.items()}
        return [shifted(value, base) for value in node] if isinstance(node, list) else node

    return shifted(tree, min(firsts(tree), default=0))


def alike(left, right):
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right or math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-6)
    return left == right


def first_difference(left, right, path=""):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in left.keys() | right.keys():
            if not alike(left.get(key), right.get(key)):
                return first_difference(left.get(key), right.get(key), f"{path}.{key}")
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, pair in enumerate(zip(left, right)):
            if not alike(*pair):
                return first_difference(*pair, f"{path}[{index}]")
    return f"at {path or '.'}: {str(left)[:150]}, now {str(right)[:150]}"
