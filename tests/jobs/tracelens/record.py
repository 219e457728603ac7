#!/usr/bin/env python3
"""Records what TraceLens says of the collectives of made jobs, for collectives_test.py beside this file.

    python3 record.py TRACELENS > answers.json     needs pandas

TRACELENS is a checkout of github.com/AMD-AGI/TraceLens; the answers on file are those of commit 171dd747.
"""
import json
import logging
import pathlib
import sys
import tempfile
import types
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from jobs import JOBS, files_by_rank, make_job  # noqa: E402


def analyser_of(checkout):
    """Its class, without the packages that the rest of TraceLens needs."""
    for name in ("TraceLens", "TraceLens.NcclAnalyser"):
        package = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(checkout, *name.split(".")))]
        sys.modules[name] = package
    from TraceLens.NcclAnalyser.nccl_analyser import NcclAnalyser
    return NcclAnalyser


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    analyser = analyser_of(sys.argv[1])
    answers = {}
    for name in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            files = files_by_rank(folder, make_job(folder, name))
            rows = analyser(files, len(files)).build_df_nccl_implicit_sync_cat(detailed=True)
        answers[name] = [[row["collective_id"], round(row["Full msg size (MB)"] * 2**20), row["comm_latency"],
                          row["bus bw (GB/s)"]] for _, row in rows.iterrows()]
    text = json.dumps(answers)
    print(text.replace('": [[', '": [\n[').replace("], [", "],\n["))


if __name__ == "__main__":
    main()
