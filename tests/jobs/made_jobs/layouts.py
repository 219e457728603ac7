"""What the ranks do in each kind of job: data, sharded, tensor and mixed parallelism, servers, and jobs without GPU.
Pipelines are in pipelines.py."""
from . import layers
from .pipelines import build_pipeline
from .program import BACKWARD, COMPUTE_STREAM, Program

NCCL_STREAM = 20
TENSOR_STREAM = 24


def build(settings):
    program = Program(settings)
    kind = settings.kind
    if kind.startswith("pp"):
        make_step = build_pipeline(program)
    else:
        make_step = {"ddp": build_ddp, "fsdp": build_fsdp, "tp": build_tensor, "tp_dp": build_tensor,
                     "custom": build_server, "gloo": build_gloo}[kind](program)
    for step in range(settings.steps):
        for rank in program.ranks:
            begin_step(rank, step, settings)
        make_step(step)
        for rank in program.ranks:
            end_step(rank, settings)
    for rank in program.ranks:
        if kind != "gloo":
            rank.synchronize(COMPUTE_STREAM)
    return program


def begin_step(rank, step, settings):
    rank.begin_step(step)
    if settings.pause_ns and step == settings.steps // 2:
        rank.pause(settings.pause_ns, "evaluate")
    if settings.kind != "custom":
        rank.loader(settings.loader_ns)
    if settings.kind != "gloo":
        rank.copy_to_device(90_000, 4 << 20)


def end_step(rank, settings):
    """The host waits for the GPU as the job does, so it never is more than a step ahead."""
    if settings.kind != "gloo":
        if settings.wait == "each":
            rank.synchronize(COMPUTE_STREAM)
        else:
            before, rank.last_event = rank.last_event, rank.record(COMPUTE_STREAM)
            if before is not None:
                rank.wait_event(before)
    rank.end_step()


def world(program):
    return program.group("0", range(program.settings.world_size), "default_pg")


def all_reduce(program, members, group, step, elements, dtype, stream, thread=0, waits=True):
    """Launches an all-reduce on the ranks' `stream`; returns each rank's event of its end, unless the compute stream
    runs it."""
    collective = program.message("allreduce", group, step, elements, dtype)
    ends = {}
    for rank in members:
        if stream == COMPUTE_STREAM:
            rank.collective(collective, stream, thread)
            continue
        if waits:
            rank.wait(stream, rank.record(COMPUTE_STREAM))
        rank.collective(collective, stream, thread)
        ends[rank.rank] = rank.record(stream)
    return ends


def gradient_norm(program, step):
    """The norm of all gradients, for clipping: a small all-reduce of all ranks."""
    ends = all_reduce(program, program.ranks, "0", step, 64, "Float", NCCL_STREAM)
    for rank in program.ranks:
        rank.wait(COMPUTE_STREAM, ends[rank.rank])


def build_ddp(program):
    settings = program.settings
    group = world(program)

    def step_of(step):
        for rank in program.ranks:
            rank.begin("DistributedDataParallel.forward", "user_annotation")
            for _ in range(settings.layers):
                rank.slot(0)
                layers.run(rank, layers.ATTENTION + layers.FEED_FORWARD)
            rank.end()
        events = []
        for _ in range(settings.layers):
            for rank in program.ranks:
                rank.slot(BACKWARD)
                layers.backward_operator(rank, layers.FEED_FORWARD_BACKWARD + layers.ATTENTION_BACKWARD)
            events.append(all_reduce(program, program.ranks, group, step, settings.bucket_elements, "Float",
                                     NCCL_STREAM, BACKWARD))
        for rank in program.ranks:
            for ends in events:
                rank.wait(COMPUTE_STREAM, ends[rank.rank])
        for rank in program.ranks:
            layers.optimizer(rank, settings.layers)
    return step_of


def build_fsdp(program):
    settings = program.settings
    group = world(program)
    elements = settings.bucket_elements * 2 // settings.world_size * settings.world_size

    def gather(step, thread, after):
        """All-gathers a layer's parameters, once the compute stream is through with what used their memory."""
        collective = program.message("_allgather_base", group, step, elements, "BFloat16")
        ends = {}
        for rank in program.ranks:
            if after:
                rank.wait(NCCL_STREAM, after[rank.rank])
            rank.collective(collective, NCCL_STREAM, thread)
            ends[rank.rank] = rank.record(NCCL_STREAM)
        return ends

    def compute(kernels, gathered, thread):
        """One layer; returns each rank's event of its end."""
        ends = {}
        for rank in program.ranks:
            rank.slot(thread)
            rank.wait(COMPUTE_STREAM, gathered[rank.rank])
            if thread == BACKWARD:
                layers.backward_operator(rank, kernels)
            else:
                layers.run(rank, kernels)
            ends[rank.rank] = rank.record(COMPUTE_STREAM)
        return ends

    def pass_of(step, kernels, thread, scatters):
        """Forward or backward: while a layer computes, the next one's parameters are gathered."""
        computed = []
        gathered = gather(step, thread, computed_before.get("last"))
        for layer in range(settings.layers):
            following = None
            if layer + 1 < settings.layers:
                following = gather(step, thread, computed[-1] if computed else None)
            computed.append(compute(kernels, gathered, thread))
            gathered = following
            if scatters:
                collective = program.message("_reduce_scatter_base", group, step, elements, "BFloat16")
                for rank in program.ranks:
                    rank.wait(NCCL_STREAM, computed[-1][rank.rank])
                    rank.collective(collective, NCCL_STREAM, thread)
        computed_before["last"] = computed[-1]
    computed_before = {}

    def step_of(step):
        pass_of(step, layers.ATTENTION + layers.FEED_FORWARD, 0, False)
        pass_of(step, layers.FEED_FORWARD_BACKWARD + layers.ATTENTION_BACKWARD, BACKWARD, True)
        for rank in program.ranks:
            rank.wait(COMPUTE_STREAM, rank.record(NCCL_STREAM))
        if settings.grad_norm:
            gradient_norm(program, step)
        for rank in program.ranks:
            layers.optimizer(rank, settings.layers)
        computed_before["last"] = {rank.rank: rank.record(COMPUTE_STREAM) for rank in program.ranks}
    return step_of


def tensor_groups(program):
    """Neighbours share a layer; ranks in the same place of these groups share its gradients."""
    settings = program.settings
    size, count = settings.tensor_ranks, settings.world_size // settings.tensor_ranks
    tensor = [program.group(str(1 + at), range(at * size, (at + 1) * size), "mesh_tp") for at in range(count)]
    data = [program.group(str(1 + count + at), range(at, settings.world_size, size), "mesh_dp")
            for at in range(size)] if count > 1 else []
    return tensor, data


def build_tensor(program):
    settings = program.settings
    world(program)
    tensor, data = tensor_groups(program)
    stream = COMPUTE_STREAM if settings.tensor_stream == "compute" else TENSOR_STREAM

    def half_layer(step, kernels, thread):
        for group in tensor:
            members = [program.ranks[at] for at in program.groups[group]]
            for rank in members:
                rank.slot(thread)
                if thread == BACKWARD:
                    layers.backward_operator(rank, kernels, 0.7)
                else:
                    layers.run(rank, kernels, 0, 0.7)
            ends = all_reduce(program, members, group, step, settings.activation_elements, "BFloat16", stream, thread)
            for rank in members:
                if ends:
                    rank.wait(COMPUTE_STREAM, ends[rank.rank])

    def step_of(step):
        for _ in range(settings.layers):
            half_layer(step, layers.ATTENTION, 0)
            half_layer(step, layers.FEED_FORWARD, 0)
        events = []
        for _ in range(settings.layers):
            half_layer(step, layers.FEED_FORWARD_BACKWARD, BACKWARD)
            half_layer(step, layers.ATTENTION_BACKWARD, BACKWARD)
            for group in data:
                members = [program.ranks[at] for at in program.groups[group]]
                events.append(all_reduce(program, members, group, step, settings.bucket_elements, "Float", NCCL_STREAM,
                                         BACKWARD))
        for ends in events:
            for rank in program.ranks:
                if rank.rank in ends:
                    rank.wait(COMPUTE_STREAM, ends[rank.rank])
        if settings.grad_norm:
            gradient_norm(program, step)
        for rank in program.ranks:
            layers.optimizer(rank, settings.layers)
    return step_of


def build_server(program):
    """Decoding: small kernels, and after each half of a layer an all-reduce by the server's own kernel, of which torch
    records nothing but its launch."""
    settings = program.settings
    group = world(program)

    def step_of(step):
        for _ in range(settings.layers):
            for kernels in (layers.DECODE_ATTENTION, layers.DECODE_FEED_FORWARD):
                collective = program.message("allreduce", group, step, settings.activation_elements // 64, "BFloat16",
                                             custom="_C_custom_ar::all_reduce")
                for rank in program.ranks:
                    rank.slot(0)
                    layers.run(rank, kernels)
                    rank.collective(collective, COMPUTE_STREAM)
        for rank in program.ranks:
            rank.kernel("aten::_softmax", layers.SOFTMAX, 14_000)
    return step_of


def build_gloo(program):
    """Data parallelism on CPUs: operators take the host's time, and gloo's thread runs the all-reduces."""
    settings = program.settings
    group = world(program)

    def step_of(step):
        for rank in program.ranks:
            for _ in range(settings.layers):
                rank.slot(0)
                for operator, _, nominal in layers.FEED_FORWARD:
                    rank.cpu_operator(operator, nominal * settings.kernel_scale)
        waits = {rank.rank: [] for rank in program.ranks}
        for _ in range(settings.layers):
            collective = program.message("allreduce", group, step, settings.bucket_elements // 8, "Float")
            for rank in program.ranks:
                rank.slot(BACKWARD)
                for operator, _, nominal in layers.FEED_FORWARD_BACKWARD:
                    rank.cpu_operator(operator, nominal * settings.kernel_scale, BACKWARD)
                rank.host_collective(collective)
                waits[rank.rank].append(rank.record(-1))
        for rank in program.ranks:
            for event in waits[rank.rank]:
                rank.wait_event(event)
            rank.begin("Optimizer.step#SGD.step", "user_annotation")
            rank.cpu_operator("aten::_foreach_add_", 400_000 * settings.kernel_scale)
            rank.end()
    return step_of
