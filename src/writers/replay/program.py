def strides_of(sizes):
    """Of a tensor without gaps."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def tensor(sizes, strides, kind, device):
    """Its values are not in the recording: numbers are random, integers 0 or 1."""
    strides = strides if len(strides) == len(sizes) else strides_of(sizes)
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides))
    places = 0 if 0 in sizes else last + 1
    dtype = getattr(torch, TYPES[kind])
    if dtype.is_floating_point or dtype.is_complex:
        values = torch.rand(places, device=device).to(dtype)
    else:
        values = torch.randint(0, 2, (places,), device=device).to(dtype)
    return values.as_strided(sizes, strides)


def value(text):
    """What is recorded as text: `1`, `0.5`, `True`, `[2, 2]`; an empty one is None."""
    if text == "":
        return None
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        pass
    try:
        return float(text)  # `inf`, `nan`
    except ValueError:
        return text


def argument(call, place, device):
    kind = call["types"][place]
    sizes, strides = (call[which][place] if place < len(call[which]) else [] for which in ("dims", "strides"))
    if kind in TYPES:
        return tensor(sizes, strides, kind, device)
    if kind == "TensorList":  # of which type its tensors are is not in the recording
        strides = strides if len(strides) == len(sizes) else [[] for _ in sizes]
        return [tensor(*each, "float", device) for each in zip(sizes, strides)]
    return value(call["values"][place] if place < len(call["values"]) else "")


def fits(schema, inputs):
    if len(schema.arguments) != len(inputs):
        return False
    for wanted, given in zip(schema.arguments, inputs):
        kind = str(wanted.type)
        is_tensor = isinstance(given, torch.Tensor)
        if given is None and not kind.startswith("Optional") and not wanted.has_default_value():
            return False
        if given is not None and is_tensor != (kind in ("Tensor", "Optional[Tensor]")):
            return False
    return True


def prepared(call, device):
    """A function that runs the operator once with these inputs."""
    space, name = OPERATOR.split("::")
    packet = getattr(getattr(torch.ops, space), name)
    inputs = [argument(call, place, device) for place in range(len(call["types"]))]
    problem = f"no overload of {OPERATOR} takes {len(inputs)} inputs of these types"
    for overload in packet.overloads():
        operator = getattr(packet, overload)
        schema = operator._schema
        if not fits(schema, inputs):
            continue
        placed, named = [], {}
        for wanted, given in zip(schema.arguments, inputs):
            if given is None and wanted.has_default_value():
                continue  # texts are not recorded
            if wanted.kwarg_only or len(placed) < schema.arguments.index(wanted):
                named[wanted.name] = given
            else:
                placed.append(given)
        try:
            operator(*placed, **named)
            return functools.partial(operator, *placed, **named)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            problem = f"{overload}: {str(error).splitlines()[0]}"
    raise SystemExit(f"{OPERATOR} {call['dims']}: {problem}")


def seconds_of(run, device, repeats):
    """Of each repetition: on a GPU from the start to the end of its work there."""
    on_gpu = torch.device(device).type == "cuda"
    times = []
    for repetition in range(WARM_UP + repeats):
        if on_gpu:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            run()
            end.record()
            end.synchronize()
            seconds = start.elapsed_time(end) * 1e-3
        else:
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
        if repetition >= WARM_UP:
            times.append(seconds)
    return times


def keep_memory():
    """Lets glibc keep freed memory for the next result as it does in a program that has run for a while."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(-3, 32 << 20)  # M_MMAP_THRESHOLD: it grows by itself, up to this
    mallopt(-1, 64 << 20)  # M_TRIM_THRESHOLD: twice the former


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=DEVICE)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--threads", type=int, default=0, help="of operators on the CPU (default: torch's)")
    options = parser.parse_args()
    if options.threads > 0:
        torch.set_num_threads(options.threads)
    keep_memory()
    print(f"{'least':>12} {'median':>12} {'recorded':>12} {'median':>12} {'calls':>7}  inputs (us)")
    with torch.no_grad():
        for call in CALLS:
            times = seconds_of(prepared(call, options.device), options.device, max(options.repeats, 1))
            print(f"{min(times) * 1e6:12.1f} {statistics.median(times) * 1e6:12.1f} {call['least_us']:12.1f}"
                  f" {call['median_us']:12.1f} {call['calls']:7}  {call['dims']}")


if __name__ == "__main__":
    main()
