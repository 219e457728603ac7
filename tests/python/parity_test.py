#!/usr/bin/env python3
"""Is key_averages().table() the text that torch printed, for all recorded cases?

    parity_test.py FOLDER-OF-CASES...

Each case says in its case.json from which traces and with which arguments torch made each text.
"""

import json
import pathlib
import sys

import tbtrace

passed, failed, not_derivable = 0, 0, 0
for case in sorted(path.parent for folder in sys.argv[1:] for path in pathlib.Path(folder).glob("*/case.json")):
    traces = {}
    described = json.loads((case / "case.json").read_text())
    # The newest version is that of a caller who names none.
    version = {"torch": "2.13"} if described["torch"].startswith("2.13.") else {}
    for name, entry in described["files"].items():
        if entry["kind"] != "table" or entry["call"]["of"] != "key_averages":
            continue
        if entry["comparable"] != "bytes":
            not_derivable += 1
            continue
        for path in entry["from"]:
            if path not in traces:
                traces[path] = tbtrace.read(case / path)
        averages = tbtrace.key_averages([traces[path] for path in entry["from"]], **entry["call"]["group"], **version)
        if averages.table(**entry["call"]["table"]).encode() == (case / name).read_bytes():
            passed += 1
        else:
            failed += 1
            print(f"{case.name}/{name} differs from the text of tbtrace.key_averages(**{entry['call']['group']}).table(**{entry['call']['table']})")
print(f"{passed} passed, {failed} failed, {not_derivable} cannot be derived from a file")
sys.exit(failed > 0 or passed == 0)
