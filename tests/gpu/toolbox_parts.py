"""What a model costs, and what a training loop says of itself: parts that judge.py judges."""
import json
import subprocess

from traces import Trace

TIME_APART = 0.05  # of a call of a millisecond or more
RECORDED_APART = 0.2  # of two runs that are recorded, each once
# LibTorch's allocator leaves up to 1 MiB of a free block with what it gives (should_split() of CUDACachingAllocator.cpp),
# which depends on what was free; input, output and workspace of a layer are there at once.
UNSPLIT_BYTES = 3 << 20


def apart(got, expected):
    return got / expected - 1 if got and expected else float("inf")


def near(part, what, got, expected, most):
    if not expected:
        return part.check(False, f"{what}: {got}, with nothing to compare it with")
    return part.check(got is not None and abs(apart(got, expected)) <= most,
                      f"{what}: {got}, expected {expected} within {100 * most:.0f} %")


def equal(part, what, got, expected):
    return part.check(got == expected, f"{what}: {got}, expected {expected}")


def read(part, name):
    return json.loads((part.folder / name).read_text())


def resnet18_macs(images):
    """Multiply-adds of a forward pass with 224 x 224 points, from the sizes of its layers."""
    total = 112 * 112 * 49 * 3 * 64
    size, before = 56, 64
    for stage, width in enumerate((64, 128, 256, 512)):
        size = size if stage == 0 else size // 2
        points = size * size
        total += points * 9 * (before * width + 3 * width * width)
        total += points * before * width if stage else 0
        before = width
    return images * (total + 512 * 1000)


def speed(part):
    got = part.run("toolbox_speed", timeout=60)
    model = read(part, "resnet18.json")
    one, batch = model["batches"]
    equal(part, "device", model["device"], "cuda")
    equal(part, "batch sizes", [one["batch_size"], batch["batch_size"]], [1, got["images"]])
    for name in ("device_latency", "latency"):
        near(part, f"{name} of the batch", batch[name]["p50_ns"] * 1e-6, got["event_ms"], TIME_APART)
        # One image takes as long as the host needs to launch it, which is one time and another.
        least, most = (one[name][end] * 1e-6 for end in ("min_ns", "max_ns"))
        part.check(least <= got["event_one_ms"] <= most,
                   f"{name} of one image: {least} to {most}, events {got['event_one_ms']}")
    latency_ms = batch["latency"]["p50_ns"] * 1e-6
    part.check(got["event_ms"] >= 1, f"the batch takes {got['event_ms']} ms, too little to compare")
    for name, figures, reference in (("of the batch", batch, got["peak_bytes"]),
                                     ("of one image", one, got["peak_one_bytes"])):
        near(part, f"peak memory {name}", figures["peak_memory_bytes"], reference, UNSPLIT_BYTES / reference)
    for figures in (one, batch):
        images = figures["batch_size"]
        equal(part, f"multiply-adds of {images}", figures["macs"], resnet18_macs(images))
        part.check(2 * figures["macs"] < figures["training_macs"] < 3 * figures["macs"],
                   f"{figures['training_macs']} multiply-adds of training, {figures['macs']} of a forward pass")
        for key in ("to_device", "to_host", "total"):
            part.check((figures[key] or {}).get("p50_ns", 0) > 0, f"no {key} of {images}")
        seconds = figures["latency"]["p50_ns"] * 1e-9
        near(part, f"FLOP/s of {images}", figures["flops_per_s"], figures["flops"] / seconds, 1e-6)
        near(part, f"MFU of {images}", figures["mfu"],
             2 * figures["macs"] / seconds / (model["peak_flops_per_s"] or float("inf")), 1e-6)
        part.check(0 < (figures["mfu"] or 0) <= 1, f"MFU of {images}: {figures['mfu']} of {model['peak_source']}")
        near(part, f"throughput of {images}", figures["throughput_per_s"], images / seconds, 1e-6)
    part.check((batch["saved_activation_bytes"] or 0) > 0, f"saved activations: {batch['saved_activation_bytes']}")
    copy_ms = batch["to_device"]["p50_ns"] * 1e-6
    near(part, "copy to the GPU", copy_ms, got["copy_ms"], 0.5)
    whole = sum(batch[key]["mean_ns"] for key in ("to_device", "to_host"))
    part.check(batch["total"]["mean_ns"] >= whole, "copies and runs together take less than the copies")
    joules = batch["energy_j"] or 0
    part.check(joules > 0, f"energy: {batch['energy_j']}; {model['notes']}")
    part.check(not got["joules"] or 0.5 <= joules / got["joules"] <= 2,
               f"energy of a run: {joules} J, by power and time {got['joules']} J")
    equal(part, "copies of inputs with gradients", got["wanted_copies"], 1)
    part.check("H200" not in str(model["machine_info"]) or "H200" in model["peak_source"],
               f"peak of {model['peak_source']}")
    for name in ("resnet18.txt", "resnet18.yaml"):
        text = (part.folder / name).read_text()
        part.check("not recorded" not in text, f"{name} has figures that were not recorded")
    part.figure(f"ResNet-18, {got['images']:.0f} images: {latency_ms:.2f} ms, events {got['event_ms']:.2f} ms, "
                f"MFU {100 * (batch['mfu'] or 0):.0f} %, peak {(batch['peak_memory_bytes'] or 0) / 2**20:.0f} MiB, "
                f"{joules:.2f} J, by power {got['joules']:.2f} J")
    part.note(f"one image: {one['latency']['p50_ns'] * 1e-6:.3f} ms, events {got['event_one_ms']:.3f} ms; copies "
              f"{copy_ms:.2f} ms there, {batch['to_host']['p50_ns'] * 1e-6:.3f} ms back; peak of "
              f"{model['peak_source']}; a call returns after {got['launch_ms']:.2f} ms")
    part.note(f"notes: {model['notes']}")
    size = int(got["size"])
    for name in ("bfloat16", "float32"):
        result = read(part, f"{name}.json")
        figures = result["batches"][-1]
        event_ms = got[f"{name}_event_ms"]
        part.check(got[f"{name}_launch_ms"] < 0.5 * event_ms,
                   f"{name}: the call returns after {got[f'{name}_launch_ms']} ms of {event_ms} ms")
        near(part, f"{name}: latency", figures["latency"]["p50_ns"] * 1e-6, event_ms, TIME_APART)
        equal(part, f"{name}: multiply-adds", figures["macs"], size ** 3)
        part.check(name in result["peak_source"], f"{name}: peak of {result['peak_source']}")
        mfu = figures["mfu"] or 0
        part.check(0.3 < mfu <= 1, f"{name}: MFU {figures['mfu']} of {result['peak_source']}")
        equal(part, f"{name}: peak memory", figures["peak_memory_bytes"] or 0, 0)
        part.figure(f"{name} product {figures['latency']['p50_ns'] * 1e-6:.2f} ms, events {event_ms:.2f} ms, MFU "
                    f"{100 * mfu:.0f} %")


def device_ns(trace):
    return sum(row["dur"] for row in trace.kernels + trace.copies + trace.sets) * 1e3


def by_path(summary):
    return {row["path"]: row for row in summary["rows"] if row["kind"] == "module"}


def adds_up(part, name, summary):
    rows = summary["rows"]
    own = sum(row["self_device_time_ns"] or 0 for row in rows)
    part.check(rows[0]["device_time_total_ns"] and own == rows[0]["device_time_total_ns"],
               f"{name}: device time of the layers {own}, of the model {rows[0]['device_time_total_ns']}")
    return own


def layers(part):
    images = int(part.run("toolbox_layers", 16, timeout=60)["images"])
    for name, keys in (("", ("macs", "parameters", "output_shapes", "calls")),
                       ("_step", ("macs", "backward_macs", "parameters", "output_shapes", "calls"))):
        host, gpu = read(part, f"host{name}.json"), read(part, f"gpu{name}.json")
        total = adds_up(part, f"gpu{name}", gpu)
        recorded = device_ns(Trace(part.folder / f"gpu{name}.trace.json"))
        near(part, f"gpu{name}: device time of a recording", total, recorded, RECORDED_APART)
        host_rows, gpu_rows = by_path(host), by_path(gpu)
        equal(part, f"gpu{name}: layers", sorted(gpu_rows), sorted(host_rows))
        for path, row in gpu_rows.items():
            for key in keys:
                equal(part, f"gpu{name}: {key} of {path or 'the model'}", row[key], host_rows.get(path, {}).get(key))
        idle = [path for path, row in gpu_rows.items() if row["parameters"] and not row["device_time_total_ns"]]
        part.check(not idle, f"gpu{name}: no device time of {idle[:5]}")
        backward = gpu["rows"][0]["backward_device_time_ns"] or 0
        part.check(name == "" or backward > 0, f"gpu{name}: no backward device time")
        text = (part.folder / f"gpu{name}.txt").read_text()
        part.check("layer4" in text and "Conv2d" in text, f"gpu{name}.txt has no layers")
        part.figure(f"gpu{name}: {total * 1e-6:.2f} ms in {len(gpu['rows'])} rows, recorded {recorded * 1e-6:.2f} ms, "
                    f"{(gpu['rows'][0]['macs'] or 0) / 1e9:.2f} GMAC")
        part.note(f"gpu{name}: FLOPs {gpu['rows'][0]['flops']}, on the host {host['rows'][0]['flops']}; not counted "
                  f"{[(op['name'], op['calls']) for op in gpu['uncounted_operators']]}, on the host "
                  f"{[(op['name'], op['calls']) for op in host['uncounted_operators']]}; {gpu['notes']}")
    gpu = read(part, "gpu.json")
    equal(part, f"multiply-adds of {images} images", gpu["rows"][0]["macs"], resnet18_macs(images))
    equal(part, "multiply-adds of a callable", read(part, "gpu_callable.json")["rows"][0]["macs"],
          gpu["rows"][0]["macs"])
    script = read(part, "script.json")
    equal(part, "multiply-adds of a script", script["rows"][0]["macs"], 2 * 256 * 512 * 512)
    adds_up(part, "script", script)
    text = (part.folder / "script.trace.json").read_text()
    for path in ("net", "net.first", "net.second"):
        part.check(f'"{path}"' in text, f"the recording of the script has no module {path}")
    done = subprocess.run([part.runner.tbtrace, "modules", part.folder / "script.trace.json", "--format", "json"],
                          capture_output=True, timeout=60)
    part.check(done.returncode == 0, f"tbtrace modules: {done.stderr.decode(errors='replace')[-300:]}")
    rows = json.loads(done.stdout or '{"rows": []}')["rows"]
    halves = [row for row in rows if "Half" in json.dumps(row)]
    part.check(len(halves) == 2 and all(row.get("device_time_total_ns") for row in halves),
               f"modules of the script: {str(rows)[:300]}")


def levels(part):
    part.run("toolbox_levels", timeout=60)
    model, rows = read(part, "model.json"), read(part, "layers.json")
    equal(part, "multiply-adds", rows["rows"][0]["macs"], model["batches"][-1]["macs"])
    equal(part, "parameters", model["parameters"], 25_557_032)
    own = adds_up(part, "layers", rows)
    trace = Trace(part.folder / "operators.trace.json")
    near(part, "device time of layers and operators", own, device_ns(trace), RECORDED_APART)
    table = (part.folder / "operators.txt").read_text()
    part.check("conv" in table and "Self CUDA" in table, f"no convolutions in the table: {table[:200]}")
    part.figure(f"ResNet-50: {model['batches'][-1]['latency']['p50_ns'] * 1e-6:.2f} ms, layers {own * 1e-6:.3f} ms and "
                f"{len(trace.kernels)} kernels {device_ns(trace) * 1e-6:.3f} ms on the device")


def reporter(part):
    got = part.run("toolbox_memory", timeout=60)
    report = read(part, "reporter.json")
    sums = {}
    for row in report["rows"]:
        sums[row["role"]] = sums.get(row["role"], 0) + row["storage_bytes"]
    for role in ("parameter", "buffer", "gradient", "optimizer_state"):
        equal(part, f"bytes of {role}", sums.get(role), got[role])
    gpu = next((device for device in report["devices"] if device["device"].startswith("cuda")), {})
    for key, expected in (("allocated_bytes", got["allocated"]), ("reserved_bytes", got["reserved"]),
                          ("tensor_bytes", got["parameter"] + got["buffer"] + got["gradient"] +
                           got["optimizer_state_on_gpu"])):
        equal(part, f"{key} of the GPU", gpu.get(key), expected)
    equal(part, "bytes of others", gpu.get("other_bytes"), got["allocated"] - gpu.get("tensor_bytes", 0))
    part.check("cuda:0: " in (part.folder / "reporter.txt").read_text(), "the text has no GPU")
    part.figure(f"{gpu.get('tensor_bytes')} bytes of tensors, {got['allocated']:.0f} allocated, "
                f"{got['reserved'] - got['allocated']:.0f} more reserved")


def lines(part):
    got = part.run("toolbox_lines", timeout=60)
    done = subprocess.run([part.runner.tbtrace, "lines", "--view", "memory", "--format", "json",
                           part.folder / "lines.json"], capture_output=True, timeout=60)
    if not part.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}"):
        return
    (part.folder / "lines_memory.json").write_bytes(done.stdout)
    rows = [row for row in json.loads(done.stdout)["rows"] if row["device"] == "cuda:0"]
    part.check(rows, "no lines of cuda:0")
    # Of a build without libbacktrace functions are known, and no lines.
    has_lines = any(row["level"] == "line" for row in rows)
    part.check(has_lines, f"no line of the source is known: {[row['function'] for row in rows][:4]}")
    expected = {}
    for line, allocated, peak in zip(got["lines"], got["allocated"], got["peaks"]):
        before = expected.get(int(line), (0, 0))
        expected[int(line)] = (before[0] + allocated, max(before[1], peak))
    found = {row["line"]: row for row in rows
             if (row["file"] or "").endswith("toolbox_memory.cc") and "step" in (row["function"] or "")}
    for line, (allocated, peak) in expected.items():
        row = found.get(line, {})
        equal(part, f"allocated by line {line}", row.get("allocated_bytes", 0), allocated)
        if allocated:
            equal(part, f"peak during line {line}", row.get("peak_bytes"), peak)
    equal(part, "allocated by all", sum(row["self_allocated_bytes"] or 0 for row in rows), got["all_allocated"])
    equal(part, "freed by all", sum(row["self_freed_bytes"] or 0 for row in rows), got["all_freed"])
    leak = max((row["self_growth_per_step_bytes"] or 0 for row in rows), default=0)
    near(part, "growth per step of the line that leaks", leak, 4 * 300 * 1000, 0.01)
    part.figure(f"{len(found)} lines with {sum(got['allocated']):.0f} bytes, peak "
                f"{max(got['peaks'], default=0):.0f}, {leak} more in each step")


def ranges(part):
    got = part.run("ranges", timeout=60)
    events = json.loads((part.folder / "ranges.json").read_text())["traceEvents"]

    def named(name):
        return [row for row in events if row.get("name") == name and row.get("ph") == "X"
                and str(row.get("cat", "")).lower() != "gpu_user_annotation"]

    for name, least in (("enumerate(DataLoader)#StatelessDataLoader.__next__", 4), ("Optimizer.step#SGD.step", 4),
                        ("Optimizer.zero_grad#SGD.zero_grad", 4), ("forward", 4), ("ProfilerStep#0", 1),
                        ("ProfilerStep#3", 1)):
        part.check(len(named(name)) >= least, f"{len(named(name))} ranges {name}, of {least}")
    texts = [row["args"].get("Arguments") for row in named("forward")]
    expected = [{"batch": number, "share": 0.25, "name": 'a "quoted" \\ name'} for number in range(4)]
    equal(part, "arguments", [json.loads(text) if isinstance(text, str) else text for text in texts], expected)
    losses = [row["args"]["value"] for row in events if row.get("ph") == "C" and row.get("name") == "loss"]
    part.check(len(losses) == len(got["losses"]) == 4 and all(abs(apart(*pair)) < 1e-9 for pair in
                                                              zip(losses, got["losses"])),
               f"counter {losses}, expected {got['losses']}")
    marks = [row["args"].get("Arguments") for row in events if row.get("ph") == "i" and row.get("name") == "done"]
    equal(part, "instants", [json.loads(text) if isinstance(text, str) else text for text in marks],
          [{"batch": number} for number in range(4)])
    trace = Trace(part.folder / "ranges.json")
    spans = [(row["ts"], row["ts"] + row["dur"]) for row in named("Optimizer.step#SGD.step")]
    launched = [row for row in trace.kernels if trace.call(row)
                and any(begin <= trace.call(row)["ts"] <= end for begin, end in spans)]
    part.check(len(launched) >= 4, f"{len(launched)} kernels are launched in the optimizer's steps")
    part.check(not trace.problems(), f"the file says {trace.problems()}")
    steps = subprocess.run([part.runner.tbtrace, "steps", part.folder / "ranges.json", "--format", "json"],
                           capture_output=True, timeout=60)
    part.check(steps.returncode == 0 and len(json.loads(steps.stdout)["rows"]) == 4,
               f"tbtrace steps: {steps.stderr.decode(errors='replace')[-200:]}")
    part.figure(f"{len(losses)} values, {len(marks)} instants, {len(launched)} kernels in steps of the optimizer")
