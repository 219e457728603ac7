"""How versions of torch write collectives: the names of their kernels, and which arguments there are.

Sources: traces of these versions in the folders of HolisticTraceAnalysis; libkineto's output_json.cpp and
torch/csrc/profiler/util.cpp (saveNcclMeta).
"""
from dataclasses import dataclass

TYPES = {"Float": ("f32", "float"), "BFloat16": ("bf16", "__nv_bfloat16"), "Half": ("f16", "half")}


@dataclass(frozen=True)
class Dialect:
    name: str
    torch: str
    kernels: str                 # which names the kernels have: new, middle, old, rccl
    has_param_comms: bool = True
    has_annotations: bool = True
    has_arguments: bool = True   # Collective name, sizes, Group size, Process Group Ranks
    has_group_names: bool = True
    has_sequence: bool = True
    has_base: bool = True        # baseTimeNanoseconds, and times in nanoseconds
    has_groups: bool = True      # pg_config in distributedInfo

    @property
    def resolution_ns(self):
        return 1 if self.has_base else 1000

    def kernel_name(self, collective):
        if collective.custom:
            return ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals, "
                    "vllm::Signal*, __nv_bfloat16*, int, int)")
        short, c_type = TYPES[collective.dtype]
        operation = {"allreduce": "AllReduce", "_allgather_base": "AllGather", "broadcast": "Broadcast",
                     "_reduce_scatter_base": "ReduceScatter", "send": "SendRecv"}[collective.name]
        protocol = "LL" if collective.bytes < 1 << 22 else "SIMPLE"
        if self.kernels == "rccl":
            return "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"
        if self.kernels == "old":
            if operation in ("AllGather", "SendRecv", "Broadcast"):
                c_type = "int8_t"
            return f"ncclKernel_{operation}_RING_{protocol}_Sum_{c_type}(ncclDevComm*, unsigned long, ncclWork*)"
        arguments = "ncclDevKernelArgsStorage<4096ul>" if self.kernels == "new" else \
            "ncclDevComm*, unsigned long, ncclWork*"
        name = "ncclDevKernel_" + operation
        if operation in ("AllReduce", "ReduceScatter"):
            name += "_Sum_" + short
        if operation != "SendRecv":
            name += "_RING_LL"  # of all protocols: NCCL names a function that holds several
        return f"{name}({arguments})"


DIALECTS = {dialect.name: dialect for dialect in (
    Dialect("torch_2_10", "2.10.0", "new"),
    Dialect("torch_2_5", "2.5.1", "middle", has_sequence=False),
    Dialect("torch_2_3", "2.3.0", "middle", has_sequence=False, has_group_names=False),
    Dialect("torch_2_0", "2.0.1", "old", has_sequence=False, has_group_names=False, has_arguments=False,
            has_base=False, has_groups=False),
    Dialect("torch_1_12", "1.12.1", "old", has_sequence=False, has_group_names=False, has_arguments=False,
            has_base=False, has_groups=False, has_param_comms=False, has_annotations=False),
    Dialect("rocm_2_7", "2.7.0+rocm6.3", "rccl"),
)}


def ranks_text(ranks):
    """A list as torch writes it: more than 30 elements are cut."""
    if len(ranks) > 30:
        return "[" + ", ".join(map(str, ranks[:29])) + f", ..., {ranks[-1]}]"
    return "[" + ", ".join(map(str, ranks)) + "]"


def comms_id(collective, group_ranks):
    """An id of this collective that all its ranks give: torch hashes name, number and ranks of the group."""
    text = f"{collective.group}/{collective.recorded_sequence}/{collective.name == 'send'}/{group_ranks}"
    value = 14695981039346656037
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


def collective_arguments(dialect, collective, rank, program, kernel):
    """The members of `args` that describe a collective, as JSON text with a comma before it; maybe none."""
    if not dialect.has_arguments:
        return ""
    ranks = program.groups[collective.group]
    name = collective.name if rank != collective.receiver else "recv"
    sizes = f'"In msg nelems": {collective.in_elements}, "Out msg nelems": {collective.out_elements}'
    splits = '"In split size": "[]", "Out split size": "[]"'
    text = f', "Collective name": "{name}", '
    if kernel:
        text += f'{sizes}, "Group size": {len(ranks)}, "dtype": "{collective.dtype}", {splits}'
    else:
        text += f'"dtype": "{collective.dtype}", {sizes}, {splits}'
        strides = {after - before for before, after in zip(ranks, ranks[1:])}
        if len(strides) == 1 and collective.name != "send":
            text += f', "Global rank start": {ranks[0]}, "Global rank stride": {strides.pop()}'
        text += f', "Group size": {len(ranks)}'
    if dialect.has_group_names:
        text += f', "Process Group Name": "{collective.group}"' \
                f', "Process Group Description": "{program.descriptions[collective.group]}"'
    text += f', "Process Group Ranks": "{ranks_text(ranks)}"'
    peer = collective.receiver if name == "send" else collective.sender if name == "recv" else -1
    if not kernel:
        text += f', "Rank": {ranks.index(peer if peer >= 0 else rank)}'
    if peer >= 0:
        text += f', "{"Dst Rank" if name == "send" else "Src Rank"}": {peer}'
    if dialect.has_sequence:
        text += f', "Seq": {collective.recorded_sequence}, "Comms Id": {comms_id(collective, ranks)}'
    return text


def annotation_name(collective, rank, backend, ranks):
    if collective.name != "send":
        return f"{backend}:{collective.annotation}"
    sender, receiver = ranks.index(collective.sender), ranks.index(collective.receiver)
    if rank == collective.sender:
        return f"{backend}:send {sender}->{receiver}"
    return f"{backend}:recv {receiver}<-{sender}"


def operator_name(collective, rank):
    return "c10d::recv_" if rank == collective.receiver else collective.operator
