"""What is true of a job, in the form that the package's documentation describes."""


def truth_of(name, made, clocks, files):
    program, simulation, settings = made.program, made.result, made.settings
    number = settings.first_step
    visible = {"garbage_collection": settings.records_gc}
    causes = []
    for cause, excess in zip(made.causes, made.excesses):
        per_step = excess // len(cause.steps)
        row = {"rank": cause.rank, "cause": cause.cause, "variant": cause.variant,
               "steps": [number + step for step in cause.steps], "excess_per_step_ns": per_step,
               "excess_share": round(per_step / made.sizes.step_ns, 5), "visible": visible.get(cause.cause, True),
               "candidates": made.candidates(cause)}
        if cause.peer >= 0:
            row["peer"] = cause.peer
        causes.append(row)
    times = simulation.step_times()
    return {
        "job": name, "seed": settings.seed, "kind": settings.kind,
        "layout": {"tensor": settings.tensor_ranks, "pipeline": settings.stages,
                   "data": settings.world_size // (settings.tensor_ranks * settings.stages)},
        "dialect": settings.dialect.name, "resolution_ns": settings.dialect.resolution_ns,
        "world_size": settings.world_size, "gpus_per_node": settings.gpus_per_node,
        "step_numbers": [number + step for step in range(settings.steps)],
        "groups": {name: {"ranks": list(ranks), "description": program.descriptions[name]}
                   for name, ranks in program.groups.items()},
        "clean": not causes, "causes": causes, "excess_total_ns": simulation.duration() - made.without,
        "disturbances": disturbances(settings, made.hiccups),
        "steps": [{"step": number + step, "start_ns": start, "end_ns": end}
                  for step, (start, end) in enumerate(times)],
        "duration_ns": simulation.duration(),
        "clocks": {"reference_ns": clocks[0].reference_ns,
                   "ranks": [{"rank": rank, "offset_ns": clock.offset_ns, "drift_ppb": clock.drift_ppb,
                              "drift_ppm": clock.drift_ppb / 1000, "base_ns": clock.base_ns}
                             for rank, clock in enumerate(clocks)]},
        "end_jitter_ns": settings.end_jitter_ns,
        "collectives": [collective_row(collective, number) for collective in program.collectives],
        "files": files,
    }


def disturbances(settings, hiccups):
    rows = [{"kind": "hiccup", "rank": hiccup.rank, "step": settings.first_step + hiccup.step, "ns": hiccup.ns}
            for hiccup in hiccups]
    if settings.network_factor > 1:
        rows.append({"kind": "slow_network", "factor": round(settings.network_factor, 3)})
    if settings.loader_ns > 1_000_000 and settings.kind != "custom":
        rows.append({"kind": "slow_loader", "ns": settings.loader_ns})
    if settings.imbalance:
        rows.append({"kind": "imbalance", "share": settings.imbalance})
    if settings.extra_layers:
        rows.append({"kind": "last_stage", "extra_layers": settings.extra_layers})
    if settings.pause_ns:
        rows.append({"kind": "pause", "step": settings.first_step + settings.steps // 2, "ns": settings.pause_ns})
    return rows


def collective_row(collective, first_step):
    ranks = list(collective.ranks)
    starts = [collective.starts[rank] for rank in ranks]
    return {"group": collective.group, "name": collective.name, "step": first_step + collective.step,
            "sequence": collective.sequence, "bytes": collective.bytes, "ranks": ranks, "start_ns": starts,
            "end_ns": [collective.ends[rank] for rank in ranks], "last_rank": ranks[starts.index(max(starts))],
            "transfer_ns": collective.actual_transfer}
