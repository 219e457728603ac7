"""Sixty questions with right answers. The traces are those of tests/cases, rebuilt from public reports, and of
tests/data.

Shares and times are computed from what the simulated machine did (truth.py), or are the numbers that the case gave it.
Fifteen are traps: what was not recorded, equal traces, hostile names, wrong premises.
"""

from __future__ import annotations

from grading import Fact, Question
from truth import Truth, after_ns, alone_ns, busy, during_ns, idle_ns, late_launches_ns, share

WHY = "why is it slow, what to change"
IDLE = "why is the GPU idle"
PART = "what happened in a gap or a step"
KERNELS = "which kernels or operators"
STEPS = "is a step slower than the others"
RANKS = "which rank, who waits for whom"
MEMORY = "what holds the memory, does it grow"
DIFF = "what changed between two traces"
SERVING = "prefill, decode, batch sizes of a server"
PEAK = "how fast against the device's peak"
LINES = "which line or module"
SOUND = "is the recording sound"
LOADER = r"enumerate\(DataLoader\)"
# What raw traces and operator tables call what findings and causes are about.
OTHER_WORDS = {
    "data_loader_bound": "loader",
    "data": "loader",
    "blocking_copies": "memcpy|copy|item",
    "copies": "memcpy|copy",
    "device_synchronization": "synchronize",
    "allocator_calls": "malloc|free|alloc",
    "allocation": "malloc|free|alloc",
    "compiler_overhead": "compile|dynamo|guard",
    "garbage_collection": "gc|garbage",
    "small_kernels": "launch|kernel",
    "launch_bound": "launch",
    "launches": "launch",
    "host_communication": "gloo",
    "math_attention": "attention|softmax|bmm",
    "no_tensor_cores": "gemm|mm",
    "exposed_communication": "nccl",
    "exposed_copies": "memcpy",
}


def _case(name: str) -> str:
    return f"cases/{name}/trace.json"


def _cause(finding: str, truth: float | Truth) -> tuple[Fact, ...]:
    """It is the first finding, with this share of the time."""
    words = OTHER_WORDS.get(finding, "")
    return (
        Fact(rf"^id=f:{finding}(/\d)?$", other_words=words),
        Fact(rf"findings: id=f:{finding}\b", "share", truth, other_words=words),
    )


def _why(text: str, case: str, finding: str, truth: float | Truth, *more: str, is_trap: bool = False) -> Question:
    said = tuple(Fact(pattern) for pattern in more)
    return Question(WHY, text, _case(case), (*_cause(finding, truth), *said), is_trap=is_trap)


def _idle(text: str, case: str, cause: str, truth_ns: Truth, is_trap: bool = False) -> Question:
    """How busy the GPU is, and that this cause has so much of its idle time, which no other has more of."""
    words = OTHER_WORDS.get(cause, "")
    facts = (
        Fact("rows: .*busy_share", "busy_share", busy, other_words="."),
        Fact("idle_causes", rf"idle_causes\.{cause}_ns", truth_ns, is_largest=True, other_words=words),
        Fact(f"why={cause}", other_words=words),
    )
    return Question(IDLE, text, _case(case), facts, is_trap=is_trap)


def _nothing(text: str, case: str, *facts: Fact) -> Question:
    """What the question takes for granted is not there."""
    return Question(IDLE, text, _case(case), (Fact("^findings=none"), Fact("^looked_for: "), *facts), is_trap=True)


def _diff(text: str, case: str, change: float, key: str, change_ns: float) -> Question:
    facts = (
        Fact("step: ", "change_share", change),
        Fact(f"key=.*{key}", "change_ns", change_ns),
        Fact("^verdict=inconclusive"),
        Fact("^why=.* runs a side"),
    )
    return Question(DIFF, text, f"cases/{case}/new.json", facts, base=f"cases/{case}/base.json")


def _rank(text: str, case: str, rank: int, cause: str, excess_ns: float) -> Question:
    facts = (Fact(f"rows: .*rank={rank}; cause={cause}", "excess_per_step_ns", excess_ns),)
    return Question(RANKS, text, f"cases/{case}", facts)


QUESTIONS = (
    # Why is it slow?
    _why(
        "Training stalls between batches. Why?",
        "loader_before_each_step",
        "data_loader_bound",
        share(during_ns(LOADER)),
        "remedy=.*workers",
    ),
    _why(
        "The GPU is hardly used. Why?",
        "loader_in_the_main_process",
        "data_loader_bound",
        share(during_ns(LOADER)),
        "remedy=.*workers",
    ),
    _why(
        "Iterations of our decoder have holes. Why?",
        "item_for_each_token",
        "blocking_copies",
        share(after_ns("Pageable")),
        r"remedy=.*(\.item|pinned)",
    ),
    _why(
        "What costs time in the loss?",
        "boolean_mask_in_the_loss",
        "blocking_copies",
        share(after_ns("DtoH")),
        "nonzero",
    ),
    _why(
        "Which copy do we wait for?",
        "repeat_interleave_reads_a_length",
        "blocking_copies",
        share(after_ns("DtoH")),
        "repeat_interleave",
    ),
    _why(
        "Input copies look short, but the GPU waits. Why?",
        "staging_of_pageable_memory",
        "blocking_copies",
        share(during_ns("hipMemcpyAsync")),
        "remedy=.*pinned",
    ),
    _why("What happens in each iteration?", "synchronize_in_each_iteration", "device_synchronization", share(idle_ns)),
    _why(
        "Why is a step so long?",
        "empty_cache_in_each_step",
        "allocator_calls",
        share(during_ns("cudaMalloc|cudaFree")),
        "empty_cache",
    ),
    _why(
        "What does the host do when the GPU is idle?",
        "pinned_buffer_in_each_iteration",
        "allocator_calls",
        share(during_ns("cudaHostAlloc")),
        "cudaHostAlloc",
    ),
    _why(
        "Updates are slow between rollouts. Which code?",
        "simulator_between_updates",
        "host_code",
        share(during_ns(r"abstract\.py\(234\): step")),
        "_simulate",
    ),
    _why(
        "What runs between the batches?",
        "schedule_sent_rank_by_rank",
        "host_code",
        share(during_ns("send_schedule_seqs")),
        "send_schedule_seqs",
    ),
    _why(
        "Which function delays the GPU?",
        "masks_filled_on_the_event_loop",
        "host_code",
        share(during_ns("_fill_guided_bitmask")),
        "fill_bitmap",
    ),
    _why(
        "There is a long pause. What is it?",
        "checkpoint_stops_the_training",
        "host_code",
        share(during_ns("_save_checkpoint")),
        "save",
    ),
    _why(
        "The optimizer takes long. Where?",
        "optimizer_on_the_cpu",
        "host_code",
        share(during_ns("DeepSpeedCPUAdam")),
        "DeepSpeedCPUAdam",
    ),
    _why(
        "Compiled decoding is slow. Why?",
        "guards_of_a_decode_step",
        "compiler_overhead",
        share(during_ns("Cache Lookup")),
        "guard|cache lookup",
    ),
    _why(
        "Each length takes seconds. Why?",
        "compiled_for_each_length",
        "compiler_overhead",
        share(during_ns("compile_inner|Cache Lookup")),
        "remedy=.*(dynamic|shape)",
    ),
    _why(
        "Why does a decode worker stop at times?",
        "collector_in_a_decode_worker",
        "garbage_collection",
        share(during_ns("Python GC")),
        "remedy=.*freeze",
    ),
    _why(
        "Rounds of evaluation are slow. Why?",
        "gc_collect_in_each_round",
        "garbage_collection",
        share(during_ns("function collect")),
        "collect",
    ),
    _why(
        "The optimizer's step leaves the GPU idle. Why?",
        "foreach_adamw_on_dtensors",
        "small_kernels",
        share(late_launches_ns),
        "AdamW|_foreach",
    ),
    _why(
        "Would CUDA graphs help?",
        "hundreds_of_launches_per_decode",
        "small_kernels",
        share(late_launches_ns),
        "remedy=.*CUDA graph",
    ),
    _why("FP8 layers are slow on the host. How much?", "fp8_linear_forward", "launch_bound", share(late_launches_ns)),
    _why(
        "What do we wait for on the CPU?",
        "metadata_by_gloo",
        "host_communication",
        share(during_ns("gloo:broadcast")),
        "gloo:broadcast",
    ),
    _why(
        "Two GPUs, half the speed. Why?",
        "model_split_over_two_gpus",
        "gpus_take_turns",
        0.5,
        "remedy=.*(pipelin|micro)",
    ),
    _why(
        "Attention is slow. Why?",
        "head_dimension_without_flash",
        "math_attention",
        1700 / 2430,
        "remedy=.*(flash|backend|fused)",
    ),
    _why(
        "Products are slower than they should be. Why?",
        "hessian_in_single_precision",
        "no_tensor_cores",
        share(alone_ns("sgemm")),
        "remedy=.*(TF32|bfloat16)",
    ),
    _why(
        "What of the communication is not hidden?",
        "buffers_broadcast_in_each_forward",
        "exposed_communication",
        share(alone_ns("Broadcast")),
        "broadcast",
    ),
    _why("Is offloading worth it?", "offload_of_a_small_model", "exposed_copies", share(alone_ns("Memcpy"))),
    # Why is the GPU idle?
    _idle("Some launches take milliseconds. What is lost?", "some_launches_take_long", "launches", late_launches_ns),
    _idle("How busy is the GPU, and who is late?", "fp8_linear_forward", "launches", late_launches_ns),
    _idle(
        "How busy is the GPU, and what does the loader cost?",
        "loader_late_in_every_fourth_step",
        "data",
        during_ns(LOADER),
    ),
    _idle("What does the allocator cost?", "empty_cache_in_each_step", "allocation", during_ns("cudaMalloc|cudaFree")),
    # Steps, kernels, operators
    Question(
        STEPS,
        "Which steps are slow, and why?",
        _case("loader_late_in_every_fourth_step"),
        (
            Fact("slowest_step: .*part=data_loader"),
            *(
                Fact(f"rows: id=step:{step}", "data_loader_ns", during_ns(LOADER, f"#{step}$"))
                for step in (3, 7, 11)
            ),
        ),
    ),
    Question(
        PART,
        "Why is step 0 so long?",
        _case("compiled_in_the_first_step"),
        (
            Fact("idle_causes: ", "cold_start_ns", during_ns("compile_inner"), is_largest=True, other_words="compile"),
            Fact("compile_inner"),
        ),
        id="step:0",
    ),
    Question(
        KERNELS,
        "How many all-gathers and reduce-scatters are there, and how long?",
        _case("gathers_of_the_forward_pass"),
        (
            Fact("AllGather", "total_ns", 24 * 800e3),
            Fact("ReduceScatter", "total_ns", 24 * 700e3),
        ),
    ),
    Question(
        KERNELS,
        "What is the device time of the additions?",
        _case("overhead_rows_of_xpu_launches"),
        (Fact("totals: ", "total_ns", 60 * 7274, other_words="AddFunctor"),),
    ),
    # Ranks
    _rank("Which rank is slow?", "one_gpu_is_always_late", 2, "compute", 10 * 300e3),
    _rank("Which rank waits for data?", "loader_of_one_rank", 2, "input", (8000 - 80) * 1e3),
    _rank("Which rank launches late?", "busy_wait_in_one_backward", 1, "launch", (8000 - 3 * 988) * 1e3),
    Question(
        RANKS,
        "How fast are the all-reduces?",
        "cases/all_reduce_is_short_on_the_host",
        (Fact("rows: .*all_reduce", "transfer_ns", 5e6),),
    ),
    Question(
        RANKS,
        "Who is late in step 3?",
        "cases/collector_of_one_rank",
        (Fact("rows: .*last_rank=1", "wait_max_ns", 60e6), Fact("garbage")),
    ),
    # Memory and comparisons
    Question(
        MEMORY,
        "How much more memory does each step keep?",
        _case("losses_kept_with_their_graphs"),
        (Fact("rows: .*cuda:0", "growth_per_step_bytes", 300 * 2**20),),
    ),
    Question(
        MEMORY,
        "Why is so much more reserved than allocated?",
        _case("lengths_fragment_the_cache"),
        (Fact("fragmented_memory"), Fact("expandable_segments")),
    ),
    _diff(
        "Is the new version slower, and through what?",
        "guards_slower_after_upgrade",
        1200 / 3424.5,
        "TorchDynamo Cache Lookup",
        1200e3,
    ),
    _diff("Which kernels got slower?", "fused_norm_slower_after_upgrade", 1072 / 14378, "cat_relu_42", 570e3),
    _diff("Which kernels are new?", "layout_conversions_appear", 5500 / 8017.5, "nhwcToNchwKernel", 5 * 700e3),
    # Traps: not recorded
    Question(
        MEMORY,
        "How much memory is in use at the peak?",
        _case("loader_before_each_step"),
        (
            Fact("^recorded: .*profile_memory=not_recorded"),
            Fact("^rows=not_recorded"),
            Fact("profile_memory=True"),
            Fact("peak_bytes=", is_absent=True),
        ),
        is_trap=True,
    ),
    Question(
        LINES,
        "Which line of the program is slow?",
        _case("nothing_recorded_between_batches"),
        (Fact("^rows=not_recorded"), Fact("with_stack=True"), Fact("^recorded: .*with_stack=not_recorded")),
        is_trap=True,
    ),
    Question(
        IDLE,
        "How long is the GPU idle?",
        _case("loader_in_a_recording_of_the_cpu"),
        (
            Fact("^recorded: device_activities=not_recorded"),
            Fact("^rows=not_recorded"),
            Fact("idle_ns=", is_absent=True),
        ),
        is_trap=True,
    ),
    Question(
        PEAK,
        "What share of the peak does the model reach?",
        _case("item_for_each_token"),
        (
            Fact("^recorded: .*record_shapes=not_recorded"),
            Fact("notes: .*record_shapes=True"),
            Fact("peak_share=[0-9]", is_absent=True),
        ),
        is_trap=True,
    ),
    _idle(
        "Kernels have no launches here. Who is to blame for the idle time?",
        "kernels_without_runtime_rows",
        "unknown", idle_ns,
        is_trap=True,
    ),
    # Traps: equal traces, and what cannot be told
    Question(
        DIFF,
        "How much slower is the second run?",
        _case("no_gaps_in_the_stream"),
        (Fact("^verdict=same"), Fact("^same_recording=true"), Fact("step: ", "change_share", 0)),
        base=_case("no_gaps_in_the_stream"),
        is_trap=True,
    ),
    Question(
        DIFF,
        "Is the job slower since the last recording?",
        "data/gpu_step_later.json",
        (Fact("^verdict=(same|inconclusive)"), Fact("step: ", "change_share", 0)),
        base="data/gpu_step.json",
        is_trap=True,
    ),
    Question(
        RANKS,
        "Which of the two ranks is the straggler?",
        "cases/loss_reduced_per_micro_batch",
        (
            Fact("^rows=none"),
            Fact("rows: .*last_rank=0"),
            Fact("rows: .*last_rank=1"),
            Fact("f:straggler", is_absent=True),
        ),
        is_trap=True,
    ),
    # Traps: hostile names
    Question(
        KERNELS,
        "Which kernel takes longest?",
        "hostile/trace.json.gz",
        (
            Fact("totals: ", "count", 9),
            Fact("rows: id=k:85a5bd6a", "total_ns", 3e4),
            Fact("^injected", is_absent=True),
        ),
        is_trap=True,
    ),
    Question(
        WHY,
        "Why is this program slow?",
        "hostile/trace.json.gz",
        (Fact("^findings(=none|: id=f:)"), Fact("^error", is_absent=True), Fact("^injected", is_absent=True)),
        is_trap=True,
    ),
    # Traps: wrong premises
    _nothing(
        "The loader takes most of each step. How do we speed it up?",
        "loader_hidden_by_the_gpu",
        Fact("rows: .*busy_share", "busy_share", busy),
    ),
    _nothing(
        "Launches take milliseconds. How do we launch less?",
        "launches_wait_for_a_full_queue",
        Fact("rows: .*busy_share", "busy_share", busy),
    ),
    _nothing(
        "The host waits in each step. What does that cost?",
        "waits_while_the_next_batch_runs",
        Fact("rows: .*busy_share", "busy_share", busy),
    ),
    Question(
        MEMORY,
        "Where does the memory leak?",
        _case("memory_settles_after_two_steps"),
        (
            Fact("^findings=none"),
            Fact("f:memory_growth", is_absent=True),
            Fact("rows: .*peak_bytes", "peak_bytes", (6 * 1024 + 1603) * 2**20),
        ),
        is_trap=True,
    ),
    _why(
        "The copy of the loss takes 45 ms a step. Can we win them?",
        "loss_read_after_a_busy_step",
        "blocking_copies",
        share(after_ns("DtoH")),
        is_trap=True,
    ),
)
