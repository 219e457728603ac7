"""Pipeline parallelism: each stage has some layers, micro-batches pass through all of them and back."""
from . import layers
from .program import BACKWARD, COMPUTE_STREAM

FORWARD_STREAMS, BACKWARD_STREAMS, DATA_STREAM = 24, 44, 20


def compute(rank, count, kernels, thread):
    for _ in range(count):
        if thread == BACKWARD:
            layers.backward_operator(rank, kernels)
        else:
            layers.run(rank, kernels)


def orders(stage, stages, micro_batches, schedule):
    """What a stage does, in order: ("forward" or "backward", micro-batch). With `gpipe` all forward passes come first;
    with `1f1b` a stage goes back as soon as it can, so that few activations wait for their backward pass."""
    forward = [("forward", at) for at in range(micro_batches)]
    backward = [("backward", at) for at in range(micro_batches)]
    if schedule == "gpipe":
        return forward + backward
    ahead = min(stages - 1 - stage, micro_batches)
    pairs = [item for pair in zip(forward[ahead:], backward) for item in pair]
    return forward[:ahead] + pairs + backward[micro_batches - ahead:]


class Stage:
    """One rank of a pipeline. Each direction between two stages has a stream of its own on both sides."""

    def __init__(self, settings, rank, stage):
        self.settings, self.rank, self.stage = settings, rank, stage
        self.layers = 1 + (settings.extra_layers if stage == settings.stages - 1 else 0)
        self.sent = []

    def run(self, messages):
        settings = self.settings
        for direction, micro_batch in orders(self.stage, settings.stages, settings.micro_batches, settings.schedule):
            thread = BACKWARD if direction == "backward" else 0
            source, target = (self.stage - 1, self.stage) if direction == "forward" else (self.stage, self.stage - 1)
            self.receive(messages.get((direction, source, micro_batch)), direction, source, thread)
            self.rank.slot(thread)
            if direction == "forward":
                compute(self.rank, self.layers, layers.FEED_FORWARD, thread)
            else:
                compute(self.rank, self.layers, layers.FEED_FORWARD_BACKWARD, thread)
            self.send(messages.get((direction, target, micro_batch)), direction, target, thread)
        for event in self.sent:  # what was sent is free for others from here on
            self.rank.wait(COMPUTE_STREAM, event)
        self.sent = []

    @staticmethod
    def stream(direction, boundary):
        return (FORWARD_STREAMS if direction == "forward" else BACKWARD_STREAMS) + boundary

    def receive(self, message, direction, boundary, thread):
        if message is None:
            return
        stream = self.stream(direction, boundary)
        self.rank.wait(stream, self.rank.record(COMPUTE_STREAM))
        self.rank.collective(message, stream, thread)
        self.rank.wait(COMPUTE_STREAM, self.rank.record(stream))

    def send(self, message, direction, boundary, thread):
        if message is None:
            return
        stream = self.stream(direction, boundary)
        self.rank.wait(stream, self.rank.record(COMPUTE_STREAM))
        self.rank.collective(message, stream, thread)
        self.sent.append(self.rank.record(stream))


def build_pipeline(program):
    settings = program.settings
    stages = settings.stages
    replicas = settings.world_size // stages
    program.group("0", range(settings.world_size), "default_pg")
    groups = [program.group(str(1 + at), range(at, settings.world_size, replicas), "mesh_pp")
              for at in range(replicas)]
    data = [program.group(str(1 + replicas + at), range(at * replicas, (at + 1) * replicas), "mesh_dp")
            for at in range(stages)] if replicas > 1 else []
    pipelines = [[Stage(settings, program.ranks[rank], stage) for stage, rank in enumerate(program.groups[group])]
                 for group in groups]

    def messages_of(group, step):
        """By direction, boundary (the stage below it) and micro-batch."""
        ranks = program.groups[group]
        messages = {}
        for boundary in range(stages - 1):
            for direction in ("forward", "backward"):
                ends = ranks[boundary:boundary + 2]
                for micro_batch in range(settings.micro_batches):
                    messages[direction, boundary, micro_batch] = program.message(
                        "send", group, step, settings.activation_elements // 2, "BFloat16",
                        ends if direction == "forward" else ends[::-1])
        return messages

    def step_of(step):
        for group, pipeline in zip(groups, pipelines):
            messages = messages_of(group, step)
            for stage in pipeline:
                stage.run(messages)
        for group in data:
            reduce_gradients(program, group, step, settings.bucket_elements)
        if settings.grad_norm:
            reduce_gradients(program, "0", step, 64)
        for rank in program.ranks:
            layers.optimizer(rank, 1)
    return step_of


def reduce_gradients(program, group, step, elements):
    collective = program.message("allreduce", group, step, elements, "Float")
    for rank in (program.ranks[member] for member in program.groups[group]):
        rank.wait(DATA_STREAM, rank.record(COMPUTE_STREAM))
        rank.collective(collective, DATA_STREAM, BACKWARD)
        rank.wait(COMPUTE_STREAM, rank.record(DATA_STREAM))
