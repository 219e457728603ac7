"""Cases that are answered wrongly today, and what is wrong. check.py fails if one of them is answered rightly."""

ONE_REMEDY = "exposed communication has the same remedy, whatever communicates, and does not name it"
FIRST_GAP_ONLY = "a wait is charged only with the gap that follows it, not with the host's lag in later ones"

OPEN = {
    "busy_wait_in_one_backward": "the cause of a straggler cannot be recorded code of its host: unknown",
    "clip_grad_norm_branches": FIRST_GAP_ONLY,
    "collector_of_one_rank": "the waiting of the other rank comes first, with a remedy for communication",
    "first_gather_sets_up_nccl": ONE_REMEDY,
    "five_reductions_for_metrics": FIRST_GAP_ONLY,
    "gathers_and_scatters_on_one_stream": ONE_REMEDY,
    "lengths_fragment_the_cache": "no finding about reserved memory that is not allocated",
    "one_gpu_is_always_late": "the waiting of the other ranks comes first, with a remedy for communication",
    "operator_without_an_end": "a duration of -1 is blamed on the clock, and the operator is not named",
    "sidecar_beside_the_trace": "files of a folder that are not traces are left out without a word",
    "small_batch_is_overhead_bound": "the delay of each launch counts as the device, though the host is what is late",
    "tensor_parallel_over_pcie": ONE_REMEDY,
}
