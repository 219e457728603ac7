#include "libtorch/toolbox/speed/run_costs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <ATen/ATen.h>

#include <tbtrace/profiler.h>

#include "base/bounded_sum.h"
#include "libtorch/toolbox/layers/layer_tree.h"
#include "libtorch/toolbox/layers/recorded_run.h"

namespace tbtrace::libtorch {
namespace {

/// Marks when the callable has returned and its result is still there.
constexpr const char* kReturned = "tbtrace: returned";

/// Of memory on the host, or on GPUs.
void add_memory(RunCosts& costs, const Trace& trace, bool on_cuda) {
  const DeviceType device = on_cuda ? DeviceType::cuda : DeviceType::cpu;
  std::optional<std::int64_t> returned_ns;
  for (const EventId event : trace.by_start()) {
    if (trace.name(event) == kReturned) returned_ns = trace.events().start_ns(event);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // time and bytes
  for (const MemoryRecord& record : trace.memory()) {
    if (record.device_type != device || record.out_of_memory) continue;
    changes.emplace_back(record.time_ns, record.bytes);
  }
  if (changes.empty()) return;
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  std::int64_t now = 0;
  std::int64_t peak = 0;
  std::int64_t kept = 0;
  for (const auto& [time_ns, bytes] : changes) {
    add_bounded(now, bytes);
    peak = std::max(peak, now);
    if (returned_ns && time_ns <= *returned_ns) kept = now;
  }
  costs.peak_bytes = static_cast<std::uint64_t>(peak);
  costs.kept_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(kept, 0));
}

std::uint64_t bytes_of_result(const std::vector<at::Tensor>& tensors) {
  std::unordered_set<const void*> storages;
  std::uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    const void* const storage = storage_of(tensor);
    if (storage != nullptr && storages.insert(storage).second) bytes += tensor.storage().nbytes();
  }
  return bytes;
}

void add_operations(RunCosts& costs, const RecordedRun& run) {
  const LayerTree tree = layer_tree_of(run, nullptr);
  std::uint64_t macs = 0;
  std::uint64_t flops = 0;
  std::uint64_t backward_macs = 0;
  std::uint64_t backward_flops = 0;
  for (const LayerNode& node : tree.nodes) {
    macs = saturating_sum(macs, node.macs);
    flops = saturating_sum(flops, node.flops);
    backward_macs = saturating_sum(backward_macs, node.backward_macs);
    backward_flops = saturating_sum(backward_flops, node.backward_flops);
    costs.uncounted_calls += node.uncounted_calls;
  }
  if (flops == 0 && costs.uncounted_calls > 0) return;
  if (tree.ran_outside_operators) {
    costs.warnings.emplace_back(kRanOutsideOperators);
    return;
  }
  costs.all_macs = macs;
  costs.all_flops = flops;
  costs.forward_macs = macs - backward_macs;
  costs.forward_flops = flops - backward_flops;
}

}  // namespace

RunCosts costs_of_run(const toolbox_detail::Run& run, bool on_cuda) {
  RunCosts costs;
  RunToRecord what;
  what.on_cuda = on_cuda;
  what.with_outputs = false;
  what.with_memory = true;
  what.run = [&] {
    toolbox_detail::ReturnedTensors returned;
    returned.kept = std::make_shared<std::vector<at::Tensor>>();
    run(returned);
    { const record_function mark(kReturned); }
    costs.returned = std::move(*returned.kept);
    costs.result_bytes = bytes_of_result(costs.returned);
  };
  RecordedRun recorded = record_run(what);
  add_memory(costs, *recorded.trace, on_cuda);
  add_operations(costs, recorded);
  costs.warnings.insert(costs.warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
  return costs;
}

std::optional<RunCosts> costs_of_training(const toolbox_detail::Run& run, const ModelParts& model,
                                          bool on_cuda) {
  std::vector<std::pair<at::Tensor, at::Tensor>> gradients;
  for (const ModelTensor& tensor : model.tensors) {
    if (!tensor.is_parameter || !tensor.tensor.is_leaf()) continue;
    gradients.emplace_back(tensor.tensor, tensor.tensor.grad());
    gradients.back().first.mutable_grad() = at::Tensor();
  }
  struct PutBack {
    std::vector<std::pair<at::Tensor, at::Tensor>>& gradients;
    ~PutBack() {
      for (auto& [parameter, gradient] : gradients) parameter.mutable_grad() = gradient;
    }
  } const put_back{gradients};
  bool has_gradients = false;
  const toolbox_detail::Run step = [&](toolbox_detail::ReturnedTensors&) {
    toolbox_detail::ReturnedTensors returned;
    returned.kept = std::make_shared<std::vector<at::Tensor>>();
    run(returned);
    at::Tensor loss;
    for (const at::Tensor& tensor : *returned.kept) {
      if (!tensor.requires_grad()) continue;
      const at::Tensor sum = tensor.sum();
      loss = loss.defined() ? loss + sum : sum;
    }
    if (!loss.defined()) return;
    has_gradients = true;
    loss.backward();
  };
  RunCosts costs = costs_of_run(step, on_cuda);
  return has_gradients ? std::optional(std::move(costs)) : std::nullopt;
}

}  // namespace tbtrace::libtorch
