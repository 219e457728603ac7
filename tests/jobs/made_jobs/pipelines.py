"""Pipeline parallelism: each stage has some layers, micro-batches pass through all of them and back."""
from . import layers
from .program import BACKWARD, COMPUTE_STREAM

FORWARD_STREAMS, BACKWARD_STREAMS, DATA_STREAM = 24, 44, 20


class Pipeline:
    """The stages of one replica, and the messages between them."""

    def __init__(self, program, ranks, group):
        self.program, self.ranks, self.group = program, ranks, group
        self.elements = program.settings.activation_elements // 2

    def send(self, step, sender, receiver, stream, thread):
        """Returns the receiver's event of the message's end. Each direction between two stages has streams of its own
        on both sides."""
        message = self.program.message("send", self.group, step, self.elements, "BFloat16",
                                       (sender.rank, receiver.rank))
        sender.wait(stream, sender.record(COMPUTE_STREAM))
        sender.collective(message, stream, thread)
        sender.sent.append(sender.record(stream))
        receiver.wait(stream, receiver.record(COMPUTE_STREAM))
        receiver.collective(message, stream, thread)
        return receiver.record(stream)


def compute(rank, count, kernels, thread):
    for _ in range(count):
        if thread == BACKWARD:
            layers.backward_operator(rank, kernels)
        else:
            layers.run(rank, kernels)


def build_pipeline(program):
    settings = program.settings
    stages = settings.stages
    replicas = settings.world_size // stages
    program.group("0", range(settings.world_size), "default_pg")
    groups = [program.group(str(1 + at), range(at, settings.world_size, replicas), "mesh_pp")
              for at in range(replicas)]
    data = [program.group(str(1 + replicas + at), range(at * replicas, (at + 1) * replicas), "mesh_dp")
            for at in range(stages)] if replicas > 1 else []
    pipelines = [Pipeline(program, [program.ranks[at] for at in program.groups[group]], group) for group in groups]
    # Half of a layer's kernels per micro-batch: a pipeline's traces would grow with stages and micro-batches otherwise.
    forward = layers.FEED_FORWARD
    backward = layers.FEED_FORWARD_BACKWARD
    sizes = [1] * stages
    sizes[-1] += settings.extra_layers

    def step_of(step):
        for pipeline in pipelines:
            run_micro_batches(pipeline, step)
        for at, group in enumerate(data):
            members = [program.ranks[rank] for rank in program.groups[group]]
            reduce_gradients(program, group, members, step)
        if settings.grad_norm:
            reduce_gradients(program, "0", program.ranks, step, 64)
        for rank in program.ranks:
            for event in rank.sent:
                rank.wait(COMPUTE_STREAM, event)
            rank.sent = []
            layers.optimizer(rank, 1)

    def run_micro_batches(pipeline, step):
        """All forward passes, then all backward ones."""
        ranks = pipeline.ranks
        for _ in range(settings.micro_batches):
            for stage, rank in enumerate(ranks):
                rank.slot(0)
                compute(rank, sizes[stage], forward, 0)
                if stage + 1 < stages:
                    event = pipeline.send(step, rank, ranks[stage + 1], FORWARD_STREAMS + stage, 0)
                    ranks[stage + 1].wait(COMPUTE_STREAM, event)
        for _ in range(settings.micro_batches):
            for stage in reversed(range(stages)):
                rank = ranks[stage]
                rank.slot(BACKWARD)
                compute(rank, sizes[stage], backward, BACKWARD)
                if stage > 0:
                    event = pipeline.send(step, rank, ranks[stage - 1], BACKWARD_STREAMS + stage, BACKWARD)
                    ranks[stage - 1].wait(COMPUTE_STREAM, event)
    for rank in program.ranks:
        rank.sent = []
    return step_of


def reduce_gradients(program, group, members, step, elements=0):
    collective = program.message("allreduce", group, step, elements or program.settings.bucket_elements, "Float")
    for rank in members:
        rank.wait(DATA_STREAM, rank.record(COMPUTE_STREAM))
        rank.collective(collective, DATA_STREAM, BACKWARD)
        rank.wait(COMPUTE_STREAM, rank.record(DATA_STREAM))
