#include "analyses/findings/idle_remedies.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "analyses/attribution/idle_threads.h"
#include "analyses/findings/event_text.h"

namespace tbtrace::analyses {
namespace {

/// Where the host was for most of it; empty if that is not known.
std::string_view mostly_in(const IdlePart& part) {
  return part.ranges.empty() ? std::string_view() : std::string_view(part.ranges.front().name);
}

bool has(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

bool is_of_intel(const FindingFacts& facts) { return facts.trace.device() == DeviceType::xpu; }

/// `torch.cuda`, also of AMD's devices.
std::string torch_module(const FindingFacts& facts) {
  return is_of_intel(facts) ? "torch.xpu" : "torch.cuda";
}

std::string of_data(const FindingFacts& facts, const IdlePart& part, std::string_view usual) {
  constexpr std::size_t kStepsForPattern = 3;
  const bool is_mostly_one =
      facts.steps.steps.size() >= kStepsForPattern && part.largest.ns > part.ns - part.largest.ns;
  if (!is_mostly_one) return std::string(usual);
  return "one of these waits has most of it: keep the workers from one epoch to the next "
         "(persistent_workers=True), or look for what made that batch slow";
}

std::string of_garbage(const IdlePart& part, std::string_view usual) {
  if (!has(mostly_in(part), "function collect")) return std::string(usual);
  std::string who = part.largest.line.empty() ? "the program" : name_text(part.largest.line);
  return who + " calls gc.collect(): do so less often, or not at all";
}

std::string of_compiler(const IdlePart& part, std::string_view usual) {
  const bool are_guards =
      !part.ranges.empty() && std::ranges::all_of(part.ranges, [](const IdlePart::Range& range) {
        return range.name == "TorchDynamo Cache Lookup";
      });
  if (!are_guards) return std::string(usual);
  return "these are checks of guards, not compilation: compile fewer and larger regions, with "
         "fewer modules and attributes in them, or skip the checks once shapes are known "
         "(torch.compiler.set_stance(skip_guard_eval_unsafe=True))";
}

std::string of_allocation(const FindingFacts& facts, const IdlePart& part, std::string_view usual) {
  // The caching allocator of the device has no part in page-locked memory.
  if (has(mostly_in(part), "Host")) {
    return "keep page-locked memory instead of allocating it again: pin_memory=True of the data "
           "loader, or a buffer of your own that copies use again";
  }
  constexpr std::int64_t kNotable = 10;  // a tenth
  if (part.outside_operators_ns > part.ns / kNotable) {
    return "memory is freed outside of operators, as " + torch_module(facts) +
           ".empty_cache() does, and has to be allocated again: take that out of the loop";
  }
  // The library times the algorithms that it tries, with events.
  const bool waits_for_events = std::ranges::any_of(part.ranges, [](const IdlePart::Range& range) {
    return has(range.name, "EventSynchronize");
  });
  for (const std::string_view search : {"cudnn_convolution", "miopen_convolution"}) {
    if (has(part.largest.op, search) && waits_for_events) {
      return "the library tries algorithms for each new size of a convolution, and needs memory "
             "for that: keep sizes the same, or set torch.backends.cudnn.benchmark = False";
    }
  }
  if (has(mostly_in(part), "Async")) {
    return "the allocator is the driver's own (backend:cudaMallocAsync): use PyTorch's caching "
           "allocator, or keep memory instead of allocating it again";
  }
  for (const std::string_view segment : {"MemCreate", "MemMap", "MemUnmap", "MemSetAccess"}) {
    if (has(mostly_in(part), segment)) {
      return "segments grow and shrink in the loop (expandable_segments): the memory is nearly "
             "full, so use a smaller batch, and no empty_cache() in the loop";
    }
  }
  if (is_of_intel(facts)) {
    return "the caching allocator runs out of memory: use a smaller batch, and no " +
           torch_module(facts) + ".empty_cache() in the loop";
  }
  return std::string(usual);
}

std::string of_waits(const FindingFacts& facts, std::string_view usual) {
  if (facts.has_blocking_launches) {
    return "each launch waits for its kernel, as with CUDA_LAUNCH_BLOCKING=1: unset that, it is "
           "for finding errors";
  }
  if (is_of_intel(facts)) {
    return "take synchronizations out of the loop: torch.xpu.synchronize(), timers that call it; "
           "measure with events instead";
  }
  return std::string(usual);
}

/// The host ran something after the wait, which could also be made cheaper.
std::string after_wait(const IdlePart& part, std::string remedy) {
  constexpr double kMost = 0.5;
  const IdleGap& gap = part.largest;
  if (static_cast<double>(gap.host_ns) < kMost * static_cast<double>(gap.ns)) return remedy;
  return remedy + "; or make cheaper what runs after it: " + name_text(gap.host);
}

std::string of_copies(const FindingFacts& facts, const IdlePart& part, std::string_view usual) {
  const std::string& op = part.largest.op;
  std::string remedy(usual);
  if (op == "aten::_local_scalar_dense" || op == "aten::item" || op == "aten::is_nonzero") {
    if (facts.checks_gradients) {
      return "anomaly detection reads whether each gradient has a NaN: leave out "
             "torch.autograd.set_detect_anomaly() and detect_anomaly() unless you look for one";
    }
    remedy =
        "avoid .item(), print() and if of tensors in the loop: keep such values on the GPU, and "
        "read them once in many steps";
  } else if (op == "aten::nonzero" || op == "aten::masked_select") {
    remedy =
        "the host reads how many values a mask selects: use torch.where() or multiply by the mask "
        "instead of indexing with it";
  } else if (op == "aten::repeat_interleave") {
    remedy = "pass output_size to repeat_interleave(), or the host has to read it";
  }
  return after_wait(part, remedy);
}

/// The class of `Optimizer.step#AdamW.step`.
std::string_view optimizer_of(std::string_view range) {
  constexpr std::string_view kStep = "Optimizer.step#";
  if (!range.starts_with(kStep)) return {};
  range.remove_prefix(kStep.size());
  return range.substr(0, range.find('.'));
}

std::string of_code(const FindingFacts& facts, const IdlePart& part, std::string_view usual) {
  const std::string_view range = mostly_in(part);
  const std::string_view optimizer = optimizer_of(range);
  constexpr auto kFused = std::to_array<std::string_view>({"Adam", "AdamW", "SGD", "Adagrad"});
  if (has(optimizer, "CPU")) {
    return "the optimizer computes on the CPU: keep its state on the GPU if that fits, give it "
           "more threads, or let it run beside the next micro batch";
  }
  const bool can_be_fused = std::ranges::find(kFused, optimizer) != kFused.end();
  if (can_be_fused && !facts.has_fused_optimizer) {
    return facts.has_foreach_optimizer
               ? "use the optimizer's fused implementation (fused=True), or compile its step"
               : "use the optimizer's fused implementation (fused=True, else foreach=True)";
  }
  if (has(range, "search_unused_parameters")) {
    return "DistributedDataParallel looks for parameters without a gradient in each step: leave "
           "out "
           "find_unused_parameters=True, or set static_graph=True";
  }
  if (is_wait(range)) {
    return "the host waits in \"" + name_text(range) +
           "\", and not for the GPU: for a request, a lock, another thread or process, or "
           "time; let there be other work meanwhile, or look at what it waits for";
  }
  if (are_many_and_short(part)) {
    std::string short_gaps = "most of it is in many short gaps between operators: " +
                             without_what_is_done(facts, "larger batches, fused operators");
    if (facts.has_frames) {
      short_gaps += "; the recording of Python stacks (with_stack=True) makes them longer";
    }
    return short_gaps;
  }
  std::string remedy = "make \"" + name_text(range) + "\" cheaper, or " + std::string(usual);
  if (!facts.has_frames) {
    remedy += "; Python stacks (with_stack=True) show what it does";
  }
  return remedy;
}

}  // namespace

std::string without_what_is_done(const FindingFacts& facts, std::string_view first) {
  std::string remedy(first);
  if (!facts.is_compiled) remedy += ", torch.compile";
  if (facts.can_use_graphs) remedy += ", CUDA graphs";
  return remedy;
}

bool are_many_and_short(const IdlePart& part) {
  constexpr std::uint64_t kMany = 20;
  return part.gaps >= kMany && part.short_gaps_ns > part.ns / 2;
}

bool computes_on_cpu(const IdlePart& launches) {
  return launches.cpu_operators_ns > launches.ns - launches.cpu_operators_ns;
}

std::string idle_remedy(const FindingFacts& facts, const IdlePart& part, std::string_view usual) {
  switch (part.cause) {
    case IdleCause::data:
      return of_data(facts, part, usual);
    case IdleCause::garbage_collection:
      return of_garbage(part, usual);
    case IdleCause::compiler:
      return of_compiler(part, usual);
    case IdleCause::allocation:
      return of_allocation(facts, part, usual);
    case IdleCause::copies:
      return of_copies(facts, part, usual);
    case IdleCause::synchronization:
      return after_wait(part, of_waits(facts, usual));
    case IdleCause::code:
      return of_code(facts, part, usual);
    default:
      return std::string(usual);
  }
}

std::string launch_remedy(const FindingFacts& facts, const IdlePart& part) {
  const std::string_view range = mostly_in(part);
  if (has(range, "GraphInstantiate") || has(range, "GraphExecUpdate")) {
    return "graphs are recorded again and again: give them few shapes (pad, or bucket by length), "
           "and keep what changes its shape out of them";
  }
  if (has(range, "ModuleLoad") || has(range, "LibraryLoad") || has(range, "BinaryLoad")) {
    return "code is loaded again and again, as for each new size: keep sizes the same (pad, or "
           "bucket "
           "by length), or let the kernels take any size (dynamic shapes)";
  }
  if (computes_on_cpu(part)) {
    return "these operators compute on the CPU: move their tensors to the GPU, or do that work "
           "while the GPU is busy";
  }
  if (part.long_views_ns > part.ns / 2) {
    return "operators that only make views or empty tensors take long, so the launching thread "
           "does "
           "not run all the time: give it more processor cores (limits of the container, "
           "OMP_NUM_THREADS, other processes), and look for other Python threads";
  }
  const bool is_in_calls = has(range, "Launch") && part.ranges.front().ns > part.ns / 2;
  if (is_in_calls) {
    return "most of it is in the launch calls themselves: look for few that take long (first use "
           "of a kernel, another thread in the driver, a full queue), else use larger batches or "
           "fused operators";
  }
  std::string remedy = without_what_is_done(
      facts, "take work off the launching thread: less Python between operators");
  // DistributedDataParallel sends its buffers as one tensor, which it then takes apart.
  if (facts.has_ddp && part.largest.op == "aten::unflatten_dense_tensors") {
    remedy.insert(0,
                  "broadcast buffers less often (DistributedDataParallel does before each "
                  "forward pass; broadcast_buffers=False); ");
  }
  return remedy;
}

std::string device_remedy(const FindingFacts& facts, const IdlePart& part) {
  const GpuUse& device = *facts.device;
  constexpr std::int64_t kDelayOfStart = 100'000;  // ns; longer waits are for something else
  const bool are_launched_late = device.idle_host_wait_ns > device.idle_ns / 2 &&
                                 part.ns < kDelayOfStart * static_cast<std::int64_t>(part.gaps);
  if (are_launched_late) {
    return "most launches come when the GPU is idle already, so that each pays the delay of its "
           "start: let the host run ahead (" +
           without_what_is_done(facts, "fewer waits, larger batches, fused operators") + ")";
  }
  // HolisticTraceAnalysis calls gaps below 30 us the device's own delay.
  const bool are_short =
      part.ns < GpuOptions().kernel_wait_limit_ns * static_cast<std::int64_t>(part.gaps);
  if (are_short) {
    return "the host is in time, but the GPU takes a while to begin each of its short kernels: " +
           without_what_is_done(facts, "use larger batches, fused operators");
  }
  if (facts.streams > 1 || device.communication_ns > 0) {
    return "the host is in time: look for what its streams wait for, such as events, other "
           "streams and other ranks";
  }
  return "the host is in time, and there is one stream only: look for another process on this "
         "GPU, for a profiler or debugger that lets one kernel run at a time, and for low clocks";
}

}  // namespace tbtrace::analyses
