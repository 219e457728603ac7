"""Sixty questions with right answers. The traces are those of tests/cases, rebuilt from public reports, and of
tests/data.

Shares and times are what the authors of the cases meant them to be: see the case's README.md and its expectations, and
the programs that made them. Fifteen are traps: what was not recorded, equal traces, hostile names, wrong premises.
"""

from __future__ import annotations

from grading import Fact, Question

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
ANY = float("inf")
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


def _cause(finding: str, low: float, high: float) -> tuple[Fact, ...]:
    """It is the first finding, with this share of the time."""
    words = OTHER_WORDS.get(finding, ".")
    return (
        Fact(rf"^id=f:{finding}(/\d)?$", other_words=words),
        Fact(rf"findings: id=f:{finding}\b", "share", low, high, other_words=words),
    )


def _why(text: str, case: str, finding: str, low: float, high: float, *more: str, is_trap: bool = False) -> Question:
    said = tuple(Fact(pattern) for pattern in more)
    return Question(WHY, text, _case(case), (*_cause(finding, low, high), *said), is_trap=is_trap)


def _idle(
    text: str, case: str, low: float, high: float, cause: str, least_ns: float, is_trap: bool = False
) -> Question:
    """How busy the GPU is, and that this cause has at least so much of its idle time."""
    words = OTHER_WORDS.get(cause, ".")
    facts = (
        Fact("rows: .*busy_share", "busy_share", low, high, other_words="."),
        Fact("idle_causes", rf"idle_causes\.{cause}_ns", least_ns, ANY, other_words=words),
        Fact(f"why={cause}", other_words=words),
    )
    return Question(IDLE, text, _case(case), facts, is_trap=is_trap)


def _nothing(text: str, case: str, *facts: Fact) -> Question:
    """What the question takes for granted is not there."""
    return Question(IDLE, text, _case(case), (Fact("^findings=none"), Fact("^looked_for: "), *facts), is_trap=True)


def _diff(text: str, case: str, change: tuple[float, float], key: str, ns: tuple[float, float]) -> Question:
    facts = (
        Fact("step: ", "change", *change),
        Fact(f"key=.*{key}", "change_ns", *ns),
        Fact("^verdict=inconclusive"),
        Fact("^why=.* runs a side"),
    )
    return Question(DIFF, text, f"cases/{case}/new.json", facts, base=f"cases/{case}/base.json")


def _rank(text: str, case: str, rank: int, cause: str, low_ns: float, high_ns: float) -> Question:
    facts = (Fact(f"rows: .*rank={rank}; cause={cause}", "excess_per_step_ns", low_ns, high_ns),)
    return Question(RANKS, text, f"cases/{case}", facts)


QUESTIONS = (
    # Why is it slow?
    _why(
        "Training stalls between batches. Why?",
        "loader_before_each_step",
        "data_loader_bound",
        0.17,
        0.26,
        "remedy=.*workers",
    ),
    _why("The GPU is hardly used. Why?", "loader_in_the_main_process", "data_loader_bound", 0.84, 0.91, "workers"),
    _why(
        "Iterations of our decoder have holes. Why?",
        "item_for_each_token",
        "blocking_copies",
        0.35,
        0.55,
        r"remedy=.*\.item|pinned",
    ),
    _why("What costs time in the loss?", "boolean_mask_in_the_loss", "blocking_copies", 0.15, 0.23, "nonzero"),
    _why(
        "Which copy do we wait for?",
        "repeat_interleave_reads_a_length",
        "blocking_copies",
        0.16,
        0.24,
        "repeat_interleave",
    ),
    _why(
        "Input copies look short, but the GPU waits. Why?",
        "staging_of_pageable_memory",
        "blocking_copies",
        0.6,
        0.75,
        "pinned",
    ),
    _why("What happens in each iteration?", "synchronize_in_each_iteration", "device_synchronization", 0.15, 0.22),
    _why("Why is a step so long?", "empty_cache_in_each_step", "allocator_calls", 0.35, 0.47, "empty_cache"),
    _why(
        "What does the host do when the GPU is idle?",
        "pinned_buffer_in_each_iteration",
        "allocator_calls",
        0.28,
        0.45,
        "cudaHostAlloc",
    ),
    _why(
        "Updates are slow between rollouts. Which code?",
        "simulator_between_updates",
        "host_code",
        0.75,
        0.9,
        "_simulate",
    ),
    _why("What runs between the batches?", "schedule_sent_rank_by_rank", "host_code", 0.6, 0.72, "send_schedule_seqs"),
    _why("Which function delays the GPU?", "masks_filled_on_the_event_loop", "host_code", 0.5, 0.65, "fill_bitmap"),
    _why("There is a long pause. What is it?", "checkpoint_stops_the_training", "host_code", 0.4, 0.55, "save"),
    _why("The optimizer takes long. Where?", "optimizer_on_the_cpu", "host_code", 0.5, 0.65, "DeepSpeedCPUAdam"),
    _why(
        "Compiled decoding is slow. Why?",
        "guards_of_a_decode_step",
        "compiler_overhead",
        0.37,
        0.5,
        "guard|cache lookup",
    ),
    _why(
        "Each length takes seconds. Why?",
        "compiled_for_each_length",
        "compiler_overhead",
        0.7,
        0.84,
        "remedy=.*(dynamic|shape)",
    ),
    _why(
        "Why does a decode worker stop at times?",
        "collector_in_a_decode_worker",
        "garbage_collection",
        0.75,
        0.9,
        "freeze",
    ),
    _why("Rounds of evaluation are slow. Why?", "gc_collect_in_each_round", "garbage_collection", 0.5, 0.65, "collect"),
    _why(
        "The optimizer's step leaves the GPU idle. Why?",
        "foreach_adamw_on_dtensors",
        "small_kernels",
        0.23,
        0.36,
        "AdamW|_foreach",
    ),
    _why(
        "Would CUDA graphs help?", "hundreds_of_launches_per_decode", "small_kernels", 0.55, 0.72, "remedy=.*CUDA graph"
    ),
    _why("FP8 layers are slow on the host. How much?", "fp8_linear_forward", "launch_bound", 0.27, 0.37),
    _why("What do we wait for on the CPU?", "metadata_by_gloo", "host_communication", 0.26, 0.38, "gloo:broadcast"),
    _why(
        "Two GPUs, half the speed. Why?",
        "model_split_over_two_gpus",
        "gpus_take_turns",
        0.38,
        0.55,
        "remedy=.*(pipelin|micro)",
    ),
    _why(
        "Attention is slow. Why?",
        "head_dimension_without_flash",
        "math_attention",
        0.62,
        0.76,
        "remedy=.*(flash|backend|fused)",
    ),
    _why(
        "Products are slower than they should be. Why?",
        "hessian_in_single_precision",
        "no_tensor_cores",
        0.7,
        0.8,
        "TF32|bfloat16",
    ),
    _why(
        "What of the communication is not hidden?",
        "buffers_broadcast_in_each_forward",
        "exposed_communication",
        0.3,
        0.38,
        "broadcast",
    ),
    _why("Is offloading worth it?", "offload_of_a_small_model", "exposed_copies", 0.6, 0.7),
    # Why is the GPU idle?
    _idle("Some launches take milliseconds. What is lost?", "some_launches_take_long", 0.5, 0.67, "launches", 1e6),
    _idle("How busy is the GPU, and who is late?", "fp8_linear_forward", 0.63, 0.72, "launches", 1e6),
    _idle(
        "How busy is the GPU, and what does the loader cost?",
        "loader_late_in_every_fourth_step",
        0.64,
        0.72,
        "data",
        10e6,
    ),
    _idle("What does the allocator cost?", "empty_cache_in_each_step", 0.52, 0.64, "allocation", 1e6),
    # Steps, kernels, operators
    Question(
        STEPS,
        "Which steps are slow, and why?",
        _case("loader_late_in_every_fourth_step"),
        (Fact("slowest_step: .*part=data_loader"), Fact("rows: id=step:(0|3|4|7|8|11)", "data_loader_ns", 15e6, ANY)),
    ),
    Question(
        PART,
        "Why is step 0 so long?",
        _case("compiled_in_the_first_step"),
        (Fact("idle_causes: ", "cold_start_ns", 55e6, 65e6), Fact("compile_inner")),
        id="step:0",
    ),
    Question(
        KERNELS,
        "How many all-gathers and reduce-scatters are there, and how long?",
        _case("gathers_of_the_forward_pass"),
        (
            Fact("AllGather", "total_ns", 24 * 780e3, 24 * 820e3),
            Fact("ReduceScatter", "total_ns", 24 * 680e3, 24 * 720e3),
        ),
    ),
    Question(
        KERNELS,
        "What is the device time of the additions?",
        _case("overhead_rows_of_xpu_launches"),
        (Fact("totals: ", "total_ns", 60 * 7274 - 100, 60 * 7274 + 100),),
    ),
    # Ranks
    _rank("Which rank is slow?", "one_gpu_is_always_late", 2, "compute", 2.5e6, 3.5e6),
    _rank("Which rank waits for data?", "loader_of_one_rank", 2, "input", 1e5, ANY),
    _rank("Which rank launches late?", "busy_wait_in_one_backward", 1, "launch", 1e5, ANY),
    Question(
        RANKS,
        "How fast are the all-reduces?",
        "cases/all_reduce_is_short_on_the_host",
        (Fact("rows: .*all_reduce", "transfer_ns", 4.9e6, 5.1e6),),
    ),
    Question(
        RANKS,
        "Who is late in step 3?",
        "cases/collector_of_one_rank",
        (Fact("rows: .*last_rank=1", "wait_max_ns", 55e6, 65e6), Fact("garbage")),
    ),
    # Memory and comparisons
    Question(
        MEMORY,
        "How much more memory does each step keep?",
        _case("losses_kept_with_their_graphs"),
        (Fact("rows: .*cuda:0", "growth_per_step_bytes", 300 * 2**20, 300 * 2**20),),
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
        (0.3, 0.4),
        "TorchDynamo Cache Lookup",
        (1.15e6, 1.25e6),
    ),
    _diff("Which kernels got slower?", "fused_norm_slower_after_upgrade", (0.06, 0.1), "cat_relu_42", (560e3, 580e3)),
    _diff("Which kernels are new?", "layout_conversions_appear", (0.6, 0.72), "nhwcToNchwKernel", (3.4e6, 3.6e6)),
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
        0.58,
        0.64,
        "unknown",
        1e3,
        is_trap=True,
    ),
    # Traps: equal traces, and what cannot be told
    Question(
        DIFF,
        "How much slower is the second run?",
        _case("no_gaps_in_the_stream"),
        (Fact("^verdict=same"), Fact("^same_recording=true"), Fact("step: ", "change", 0, 0)),
        base=_case("no_gaps_in_the_stream"),
        is_trap=True,
    ),
    Question(
        DIFF,
        "Is the job slower since the last recording?",
        "data/gpu_step_later.json",
        (Fact("^verdict=(same|inconclusive)"), Fact("step: ", "change", 0, 0)),
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
            Fact("totals: ", "count", 9, 9),
            Fact("rows: id=k:85a5bd6a", "total_ns", 3e4, 3e4),
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
        Fact("rows: .*busy_share", "busy_share", 0.98, 1),
    ),
    _nothing(
        "Launches take milliseconds. How do we launch less?",
        "launches_wait_for_a_full_queue",
        Fact("rows: .*busy_share", "busy_share", 0.97, 1),
    ),
    _nothing(
        "The host waits in each step. What does that cost?",
        "waits_while_the_next_batch_runs",
        Fact("rows: .*busy_share", "busy_share", 0.98, 1),
    ),
    Question(
        MEMORY,
        "Where does the memory leak?",
        _case("memory_settles_after_two_steps"),
        (
            Fact("^findings=none"),
            Fact("f:memory_growth", is_absent=True),
            Fact("rows: .*peak_bytes", "peak_bytes", 1, ANY),
        ),
        is_trap=True,
    ),
    _why(
        "The copy of the loss takes 45 ms a step. Can we win them?",
        "loss_read_after_a_busy_step",
        "blocking_copies",
        0.11,
        0.17,
        is_trap=True,
    ),
)
