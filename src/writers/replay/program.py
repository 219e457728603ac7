def strides_of(sizes):
    """Of a tensor without gaps."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def tensor(sizes, strides, kind, device, below=2):
    """Its values are not in the recording: numbers are random, integers from 0 on and less than `below`."""
    if not sizes:
        device = "cpu"  # so torch calls with a number
    strides = strides if len(strides) == len(sizes) else strides_of(sizes)
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides))
    places = 0 if 0 in sizes else last + 1
    dtype = getattr(torch, TYPES[kind])
    if dtype.is_floating_point or dtype.is_complex:
        values = torch.rand(places, device=device).to(dtype)
    else:
        values = torch.randint(0, below, (places,), device=device).to(dtype)
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


def argument(call, place, device, below=2):
    kind = call["types"][place]
    sizes, strides = (call[which][place] if place < len(call[which]) else [] for which in ("dims", "strides"))
    if kind in TYPES:
        return tensor(sizes, strides, kind, device, below)
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


def places_of(schema, inputs):
    """How many places an index may name: those of the first input along `dim`."""
    of = inputs[0] if inputs and isinstance(inputs[0], torch.Tensor) else None
    if of is None or of.dim() == 0:
        return 1
    dims = [given for wanted, given in zip(schema.arguments, inputs) if wanted.name == "dim" and isinstance(given, int)]
    return max(of.size(dims[0] if dims else 0), 1)


def prepared(call, device):
    """A function that runs the operator once with these inputs, and what is unlike the recording."""
    space, name = OPERATOR.split("::")
    packet = getattr(getattr(torch.ops, space), name)
    inputs = [argument(call, place, device) for place in range(len(call["types"]))]
    problem = f"no overload takes {len(inputs)} inputs of these types, as far as they are recorded"
    for overload in packet.overloads():
        operator = getattr(packet, overload)
        schema = operator._schema
        if not fits(schema, inputs):
            continue
        placed, named, notes = [], {}, []
        for place, (wanted, given) in enumerate(zip(schema.arguments, inputs)):
            if isinstance(given, torch.Tensor) and not given.dtype.is_floating_point and not given.dtype.is_complex:
                if wanted.name in ("index", "indices"):
                    given = argument(call, place, device, places_of(schema, inputs))
                notes.append(f"values of `{wanted.name}` are not recorded")
            if call["types"][place] == "TensorList":
                notes.append(f"types in `{wanted.name}` are not recorded")
            if given is None and wanted.has_default_value():  # texts, devices, and values of older recordings
                if call["types"][place] or "str" in str(wanted.type):
                    notes.append(f"`{wanted.name}` is not recorded")
                if wanted.name == "device":
                    named["device"] = device
                continue
            if wanted.kwarg_only or len(placed) < place:
                named[wanted.name] = given
            else:
                placed.append(given)
        try:
            operator(*placed, **named)
            return functools.partial(operator, *placed, **named), notes
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            problem = f"{overload}: {str(error).splitlines()[0]}"
    raise ValueError(problem)


def seconds_of(run, device, repeats):
    """Of each repetition: on a GPU from the start to the end of its work there.

    The GPU is kept waiting until the work has been launched, so that gaps in which it waits for the CPU do not count.
    """
    on_gpu = torch.device(device).type == "cuda"
    times = []
    for repetition in range(WARM_UP + repeats):
        if on_gpu:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(1_000_000)  # clock cycles
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
    failed = False
    with torch.no_grad():
        for call in CALLS:
            recorded = f"{call['least_us']:12.1f} {call['median_us']:12.1f} {call['calls']:7}  {call['dims']}"
            try:
                run, notes = prepared(call, options.device)
                times = seconds_of(run, options.device, max(options.repeats, 1))
            except Exception as error:
                failed = True
                print(f"{'-':>12} {'-':>12} {recorded}\n{'':28}cannot run: {error}")
                continue
            print(f"{min(times) * 1e6:12.1f} {statistics.median(times) * 1e6:12.1f} {recorded}")
            for note in notes:
                print(f"{'':28}{note}")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
