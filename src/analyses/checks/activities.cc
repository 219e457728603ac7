// Checks for kinds of activities that were not recorded, though other events show that there were
// some.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analyses/attribution/graph_labels.h"
#include "analyses/checks/list.h"
#include "base/bounded_sum.h"
#include "trace/links.h"
#include "trace/self_times.h"

namespace tbtrace::analyses {
namespace {

enum class OperatorDevice : std::uint8_t { unknown, gpu, mps };

/// Operators whose names say on which device they run.
OperatorDevice device_named(std::string_view op) {
  if (!op.starts_with("aten::")) return OperatorDevice::unknown;
  const auto has = [&](std::string_view part) { return op.find(part) != std::string_view::npos; };
  if (has("_for_cpu") || op.ends_with("is_acceptable")) return OperatorDevice::unknown;
  if (has("_mps_") || has("::mps_") || op.ends_with("_mps")) return OperatorDevice::mps;
  constexpr auto kParts = std::to_array<std::string_view>(
      {"cudnn", "miopen", "_flash_attention_", "_efficient_attention_", "_cufft_", "_thnn_fused_"});
  return std::ranges::any_of(kParts, has) ? OperatorDevice::gpu : OperatorDevice::unknown;
}

/// Operators that wait for the device, because the host needs its values.
bool waits_for_device(std::string_view op) {
  constexpr auto kWaits = std::to_array<std::string_view>(
      {"aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero"});
  return std::ranges::find(kWaits, op) != kWaits.end();
}

std::string milliseconds(std::int64_t ns) {
  const std::int64_t tenths = (ns + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

bool has_device_rows(const Trace& trace) {
  return std::ranges::any_of(trace.by_start(), [&](EventId event) {
    return is_device_work(trace.kind(event)) || trace.kind(event) == EventKind::runtime;
  });
}

}  // namespace

void find_unrecorded_device(const Trace& trace, CheckHits& hits) {
  if (has_device_rows(trace)) return;
  bool is_mps = false;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::cpu_op) continue;
    const OperatorDevice device = device_named(trace.name(event));
    if (device == OperatorDevice::unknown) continue;
    is_mps = is_mps || device == OperatorDevice::mps;
    hits.add(event);
  }
  if (!is_mps) return;
  std::int64_t waited = 0;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) == EventKind::cpu_op && waits_for_device(trace.name(event))) {
      add_bounded(waited, self_times_of(trace).ns(event));
    }
  }
  hits.cause =
      "operators ran on MPS, whose kernels torch.profiler does not record, so their times are "
      "those of the host";
  if (waited > 0) {
    hits.cause += "; " + milliseconds(waited) +
                  " in aten::_local_scalar_dense (.item()) and the like are waits for the GPU";
  }
  hits.remedy =
      "record the GPU with Instruments, to which torch.mps.profiler.profile() passes "
      "operators and kernels; call .item() and .cpu() less often";
}

void find_unrecorded_operators(const Trace& trace, CheckHits& hits) {
  // Other writers have kernels alone by design; this member is Kineto's.
  if (!trace.metadata().contains("schemaVersion")) return;
  const bool has_operators = std::ranges::any_of(trace.by_start(), [&](EventId event) {
    return trace.kind(event) == EventKind::cpu_op || trace.events().is_python_frame(event);
  });
  if (has_operators) return;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (trace.kind(link.activity) != EventKind::kernel) continue;
    // A program that replays graphs runs no operators meanwhile.
    const bool is_of_graph =
        link.launch != EventId::none && is_graph_launch(trace.name(link.launch));
    if (!is_of_graph) hits.add(link.activity);
  }
}

}  // namespace tbtrace::analyses
