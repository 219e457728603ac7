"""One table in all its forms: JSON, CSV, Markdown, from a partial, of a converted trace."""
import json
import re

TABLES = ("kernels", "kernels --group-by launch", "kernels --per-event", "gpu", "gpu --group-by stream", "steps",
          "modules", "lines", "model --by operator", "memory", "memory --view alive", "memory --view curve",
          "memory --view allocations", "check", "ops --sort-by none", "ops --strict-totals --sort-by none")
OF_PARTIALS = ("ops --strict-totals", "ops --strict-totals --group-by-input-shape", "kernels",
               "kernels --group-by launch", "kernels --group-by operator", "kernels --group-by family",
               "kernels --group-by label", "modules", "modules --group-by layer", "modules --group-by type", "lines",
               "lines --all-code", "steps", "gpu", "gpu --group-by stream", "memory", "memory --view alive")
WEIGHTS = ("self_cpu_time_total", "self_device_time_total", "cpu_memory")


def is_cell(cell, value):
    """Whether the text of a cell is the value in JSON."""
    if value is None or value == []:
        return cell in ("", "[]")
    if isinstance(value, bool):
        return cell == str(value).lower()
    if isinstance(value, int):
        return cell == str(value)
    if isinstance(value, float):
        return float(cell) == value
    return cell == value or cell in (json.dumps(value), "\n".join(map(str, value)))


def csv(answers, same):
    for command in TABLES:
        rows = answers.rows(command)
        header, *lines = answers.csv(command)
        lines = [line for line in lines if line]
        same(f"{command}: rows of CSV = of JSON", len(lines), len(rows))
        for line, row in zip(lines, rows):
            same(f"{command}: columns of CSV = of JSON", header, list(row))
            wrong = [(key, cell, value) for cell, (key, value) in zip(line, row.items())
                     if not isinstance(value, (str, list)) and not is_cell(cell, value)
                     or isinstance(value, str) and plain(value) != plain(cell)]
            same(f"{command}: cells of CSV = of JSON", wrong, [])


def plain(text):
    """Its letters and digits: writers escape other characters in their own ways."""
    return re.sub(r"[^0-9A-Za-z]", "", text)


def markdown(answers, same):
    """Its numbers, in the columns that it has: those of which all cells are empty or 0 are left out."""
    for command in TABLES:
        rows = answers.rows(command)
        lines = answers.markdown(command)
        if not lines:
            same(f"{command}: rows of Markdown = of JSON", 0, len(rows))
            continue
        header = cells_of(lines[0])
        lines = [cells_of(line) for line in lines[2:]]
        same(f"{command}: rows of Markdown = of JSON", len(lines), len(rows))
        for line, row in zip(lines, rows):
            cells = dict(zip(header, line))
            wrong = [(key, value) for key, value in row.items()
                     if isinstance(value, (int, float)) and key in cells and not is_cell(cells[key], value)]
            same(f"{command}: numbers of Markdown = of JSON", wrong, [])


def cells_of(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def summary(answers, same):
    """CSV has the numbers of JSON one by one."""
    header, *lines = answers.csv("summary")
    cells = {}
    for line in lines:
        row = dict(zip(header, line))
        cells.setdefault((row["part"], row["quantity"]), []).append(row["value"])
    for part, entries in answers["summary"].items():
        for key in dict.fromkeys(key for entry in entries for key in entry) if isinstance(entries, list) else ():
            numbers = [entry[key] for entry in entries if isinstance(entry[key], (int, float))]
            if key not in ("trace", "rank") and numbers:
                same(f"summary: {part}, {key}: CSV = JSON", [number_of(cell) for cell in cells[part, key] if cell],
                     numbers)


def number_of(cell):
    return {"true": True, "false": False}[cell] if cell in ("true", "false") else json.loads(cell)


def partial(answers, same):
    partial_ = answers.of_partial()
    for command in OF_PARTIALS:
        for member in ("rows", "totals", "window_ns", "threads"):
            same(f"{command} of a partial: {member} = of the trace", partial_[command].get(member),
                 answers[command].get(member))
    for weight in WEIGHTS:
        command = f"flamegraph --weight {weight}"
        same(f"{command} of a partial = of the trace", partial_.stacks(command), answers.stacks(command))


def converted(answers, same):
    """Device work stays, whatever the dialect changes on the host."""
    for dialect in ("plugin", "kineto"):
        other, after = answers.of_converted(dialect), f"after convert --dialect {dialect}"
        for command in ("kernels", "gpu"):
            same(f"{command} {after}: totals = before", other.totals(command), answers.totals(command))
        for command in ("ops --strict-totals", "lines"):
            key = "self_device_time_total_ns" if command.startswith("ops") else "device_time_total_ns"
            same(f"{command} {after}: device time = before", other.totals(command)[key], answers.totals(command)[key])


CHECKS = (csv, markdown, summary, partial, converted)
