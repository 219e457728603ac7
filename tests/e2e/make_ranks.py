#!/usr/bin/env python3
"""Writes traces of some ranks as today's torch.profiler would write them, with something for every view of the plugin.

    make_ranks.py DIR [--ranks N] [--long-names]

Two steps, each with data loading, a module that calls a module, a backward pass on a thread of its own, an all-reduce,
an optimizer step, kernels launched by the runtime's and the driver's API, and memory that is taken and given back.
Times have nanoseconds and a base, as Kineto's have. With --long-names four more operators launch kernels whose names
have 150 characters and more.
"""
import argparse
import json
import pathlib

MAIN, BACKWARD, GPU_STREAM, NCCL_STREAM = 4000, 4007, 7, 20
BASE = 4_350_000_000_000.125  # us


class Writer:
    def __init__(self, rank, ranks):
        self.rank, self.ranks, self.events = rank, ranks, []
        self.id = self.correlation = self.flow = 0
        self.allocated = 0

    def add(self, cat, name, start, end, tid, pid=None, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 4000 if pid is None else pid, "tid": tid,
                            "ts": round(BASE + start, 3), "dur": round(end - start, 3), "args": args})

    def operator(self, name, start, end, tid=MAIN, cat="cpu_op", **args):
        self.id += 1
        ids = {"External id": self.id, "Record function id": 0, "Ev Idx": self.id}
        self.add(cat, name, start, end, tid, **ids, **args)
        return self.id

    def launch(self, operator, call, start, kernel, device_start, device_end, tid=MAIN, cat="kernel",
               stream=GPU_STREAM, **args):
        self.correlation += 1
        link = {"External id": operator, "correlation": self.correlation}
        api = "cuda_driver" if call.startswith("cu") and not call.startswith("cuda") else "cuda_runtime"
        self.add(api, call, start, start + 4.25, tid, **link)
        self.add(cat, kernel, device_start, device_end, stream, self.rank, device=self.rank, context=1, stream=stream,
                 **link, **args)
        for phase, at, pid, thread in (("s", start, 4000, tid), ("f", device_start, self.rank, stream)):
            self.events.append({"ph": phase, "id": self.correlation, "pid": pid, "tid": thread, "cat": "ac2g",
                                "name": "ac2g", "ts": round(BASE + at, 3), **({"bp": "e"} if phase == "f" else {})})

    def memory(self, at, size, address):
        self.allocated += size
        self.id += 1
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
                            "pid": 4000, "tid": MAIN, "ts": round(BASE + at, 3), "args": {
                                "Device Type": 1, "Device Id": self.rank, "Addr": address, "Bytes": size,
                                "Total Allocated": self.allocated, "Total Reserved": 1 << 20, "Ev Idx": self.id}})

    def frame(self, name, number, parent, start, end, module=None):
        args = {"Python id": number, "Python parent id": parent, "Ev Idx": 0}
        if module is not None:
            args["Python module id"] = module
        self.add("python_function", name, start, end, MAIN, **args)


def kernel_figures(blocks):
    return {"grid": [blocks, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0,
            "blocks per SM": blocks / 108, "warps per SM": blocks * 8 / 108, "est. achieved occupancy %": 50,
            "queued": 0}


def step(writer, number):
    at = (number - 1) * 1000.0
    tensor = {"Input Dims": [[32, 64], [64, 64]], "Input type": ["float", "float"]}
    writer.operator(f"ProfilerStep#{number}", at, at + 990.5, cat="user_annotation")
    writer.operator("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 5, at + 60,
                    cat="user_annotation")
    copy = writer.operator("aten::copy_", at + 70, at + 90, **tensor)
    writer.launch(copy, "cudaMemcpyAsync", at + 75, "Memcpy HtoD (Pageable -> Device)", at + 81.5, at + 91.625,
                  cat="gpu_memcpy", bytes=8192)
    frames = 10 * number
    writer.frame("train.py(10): main", frames, None, at + 100, at + 900)
    writer.frame("nn.Module: Net_0", frames + 1, frames, at + 110, at + 300, module=0)
    writer.frame("nn.Module: Linear_0", frames + 2, frames + 1, at + 120, at + 220, module=1)
    linear = writer.operator("aten::linear", at + 130, at + 215, **tensor)
    addmm = writer.operator("aten::addmm", at + 135, at + 210, **tensor)
    assert linear < addmm
    writer.memory(at + 140.125, 16384, 4096 * number)
    writer.launch(addmm, "cudaLaunchKernel", at + 150, "ampere_s16816gemm_f32_64x64_nn", at + 160.001, at + 210.501,
                  **kernel_figures(64))
    relu = writer.operator("aten::relu", at + 230, at + 290, **tensor)
    writer.launch(relu, "cuLaunchKernel", at + 240, "triton_relu_0", at + 250.003, at + 270.255, **kernel_figures(54))
    writer.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 320, at + 480, BACKWARD)
    writer.operator("AddmmBackward0", at + 325, at + 450, BACKWARD)
    mm = writer.operator("aten::mm", at + 330, at + 440, BACKWARD, **tensor)
    writer.launch(mm, "cudaLaunchKernel", at + 340, "ampere_s16816gemm_f32_64x64_nt", at + 350.5, at + 410.75,
                  tid=BACKWARD, **kernel_figures(64))
    reduce = writer.operator("nccl:all_reduce", at + 500, at + 530, BACKWARD, cat="user_annotation",
                             **{"Input Dims": [[64, 64]], "Input type": ["float"]})
    skew = 51 * writer.rank / writer.ranks
    writer.launch(reduce, "cudaLaunchKernelExC", at + 510, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                  at + 520.25 + skew, at + 640.75, tid=BACKWARD, stream=NCCL_STREAM, **kernel_figures(24))
    writer.operator("Optimizer.step#SGD.step", at + 700, at + 800, cat="user_annotation")
    add = writer.operator("aten::add_", at + 710, at + 780, **tensor)
    writer.launch(add, "cudaLaunchKernel", at + 720, "void at::native::add_kernel<float>(float*)",
                  at + 730, at + 751.125, **kernel_figures(54))
    writer.memory(at + 850.5, -16384, 4096 * number)


# As the compilers and libraries of today name them. Two differ in the middle only, two at the end only.
LONG_NAMES = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, "
    "c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, "
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
    "triton_red_fused__to_copy_add_clone_convolution_backward_div_expand_gelu_mean_mul_native_layer_norm_"
    "native_layer_norm_backward_permute_rsqrt_select_scatter_sum_view_117",
    "triton_red_fused__to_copy_add_clone_convolution_backward_div_expand_gelu_mean_mul_native_layer_norm_"
    "native_layer_norm_backward_permute_rsqrt_select_scatter_sum_view_118",
]


def long_names(writer, at):
    for number, name in enumerate(LONG_NAMES):
        begin = at + 800 + 20 * number
        operator = writer.operator(f"aten::operator_with_a_name_of_its_own_{number}", begin, begin + 18)
        writer.launch(operator, "cudaLaunchKernel", begin + 2, name, begin + 5, begin + 19.5 - writer.rank / 10,
                      **kernel_figures(54))


def trace(rank, world_size, with_long_names):
    writer = Writer(rank, world_size)
    for number in (1, 2):
        step(writer, number)
        if with_long_names:
            long_names(writer, (number - 1) * 1000.0)
    writer.add("Trace", "PyTorch Profiler (0)", 0, 2000, "PyTorch Profiler", "Spans", **{"Op count": 0})
    names = [(4000, "python"), (rank, "python")]
    writer.events += [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}}
                      for pid, name in names]
    device = {"name": "Example GPU", "totalGlobalMem": 85899345920, "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world_size},
            "deviceProperties": [{"id": index, **device} for index in range(world_size)], "host_name": "node-a",
            "displayTimeUnit": "ms", "baseTimeNanoseconds": 1_790_000_000_000_000_000, "traceName": "ranks",
            "traceEvents": writer.events}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--long-names", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for rank in range(options.ranks):
        text = json.dumps(trace(rank, options.ranks, options.long_names), indent=1)
        (options.folder / f"rank{rank}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
