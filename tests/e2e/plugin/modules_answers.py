"""What torch-tb-profiler shows in its Module and Lightning views, called as a library."""
import logging
import warnings

FIELDS = ["name", "id", "occurences", "operators", "host_duration", "self_host_duration", "device_duration",
          "self_device_duration", "avg_duration"]


def flat(modules, rows=None, parent=None):
    """The view's tree as rows, parents first."""
    rows = [] if rows is None else rows
    for module in modules:
        place = len(rows)
        rows.append({**{field: module[field] for field in FIELDS},
                     "depth": 0 if parent is None else rows[parent]["depth"] + 1, "parent": parent})
        flat(module["children"], rows, place)
    return rows


def plugin_modules(trace):
    """Rows, or the name of the exception with which the plugin gives the file up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_tb_profiler.profiler.data import RunProfileData
        from torch_tb_profiler.profiler.run_generator import RunGenerator
    logging.disable(logging.CRITICAL)
    try:
        data = RunProfileData.from_json("worker", "span", trace)
        view = RunGenerator("worker", "span", data).generate_run_profile().get_module_view()
    except Exception as error:  # as its loader does
        return type(error).__name__
    finally:
        logging.disable(logging.NOTSET)
    return flat(view["data"]) if view else []


def in_one_order(rows):
    """Outermost modules of one name come in random order from the plugin: sorted by all they contain."""
    trees = []
    for row in rows:
        if row["depth"] == 0:
            trees.append([])
        trees[-1].append(tuple(row[field] for field in [*FIELDS, "depth"]))
    return sorted(trees)


def parents_are_rows_before(rows):
    """Whether each parent is the last row one level up."""
    last = {}
    for place, row in enumerate(rows):
        if row["parent"] != (last[row["depth"] - 1] if row["depth"] else None):
            return False
        last[row["depth"]] = place
    return True
