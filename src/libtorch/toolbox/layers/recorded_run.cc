#include "libtorch/toolbox/layers/recorded_run.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/nn/module.h>

#include <tbtrace/profiler.h>

#include "libtorch/toolbox/layers/model_parts.h"
#include "trace/call_tree.h"

namespace tbtrace::libtorch {
namespace {

template <typename Visit>
void visit_tensors(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (tensor.defined()) visit(tensor);
  } else if (value.isTensorList()) {
    for (const c10::IValue& part : value.toListRef()) visit_tensors(part, visit);
  }
}

/// Watches the operators of the thread that made it, until its end.
class OutputObserver {
 public:
  explicit OutputObserver(const std::unordered_set<const void*>& storages) : storages_(storages) {
    current_ = this;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(&OutputObserver::begin, &OutputObserver::end)
            .needsInputs(true)
            .needsOutputs(true));
  }
  ~OutputObserver() {
    at::removeCallback(handle_);
    current_ = nullptr;
  }
  OutputObserver(const OutputObserver&) = delete;
  OutputObserver& operator=(const OutputObserver&) = delete;

  std::vector<ObservedOperator> take() { return std::move(operators_); }

 private:
  /// From the beginning of an operator to its end.
  struct Open : at::ObserverContext {
    std::size_t number = 0;
    std::vector<const void*> storages;  // of all its inputs
  };

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    // Threads of autograd have the callback, but no observer.
    if (current_ == nullptr || function.scope() == at::RecordScope::USER_SCOPE) return nullptr;
    return current_->begin_operator(function);
  }

  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    if (current_ == nullptr || context == nullptr) return;
    current_->end_operator(function, static_cast<const Open&>(*context));
  }

  std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& function) {
    auto open = std::make_unique<Open>();
    open->number = operators_.size();
    ObservedOperator& op = operators_.emplace_back();
    op.name = function.name();
    for (const c10::IValue& input : function.inputs()) {
      visit_tensors(input, [&](const at::Tensor& tensor) {
        const void* const storage = storage_of(tensor);
        open->storages.push_back(storage);
        if (!storages_.contains(storage)) op.inputs.push_back(shape_of(tensor));
      });
    }
    return open;
  }

  void end_operator(const at::RecordFunction& function, const Open& open) {
    ObservedOperator& op = operators_[open.number];
    for (const c10::IValue& output : function.outputs()) {
      visit_tensors(output, [&](const at::Tensor& tensor) {
        const void* const storage = storage_of(tensor);
        if (storages_.contains(storage)) return;
        op.outputs.push_back(shape_of(tensor));
        const bool is_old =
            std::find(open.storages.begin(), open.storages.end(), storage) != open.storages.end();
        if (is_old) return;
        op.new_elements += elements_of(tensor);
        op.new_bytes += bytes_of(tensor);
      });
    }
  }

  static inline thread_local OutputObserver* current_ = nullptr;

  const std::unordered_set<const void*>& storages_;
  at::CallbackHandle handle_ = 0;
  std::vector<ObservedOperator> operators_;
};

/// The operators of a track, in the order of their starts.
std::vector<EventId> operators_of(const Trace& trace, TrackId track) {
  std::vector<EventId> operators;
  for (const EventId range : call_tree_of(trace).ranges()) {
    if (trace.events().track(range) == track && trace.kind(range) == EventKind::cpu_op) {
      operators.push_back(range);
    }
  }
  return operators;
}

/// Of one thread the trace has the same operators in the same order.
void join(RecordedRun& run) {
  run.observed.resize(run.trace->events().size(), RecordedRun::kNone);
  for (std::size_t track = 0; track < run.trace->tracks().size(); ++track) {
    const std::vector<EventId> operators =
        operators_of(*run.trace, static_cast<TrackId>(static_cast<std::uint32_t>(track)));
    const bool is_it = std::equal(operators.begin(), operators.end(), run.operators.begin(),
                                  run.operators.end(), [&](EventId event, const auto& observed) {
                                    return run.trace->name(event) == observed.name;
                                  });
    if (!is_it || operators.empty()) continue;
    for (std::size_t at = 0; at < operators.size(); ++at) {
      run.observed[index(operators[at])] = static_cast<std::uint32_t>(at);
    }
    return;
  }
  if (run.operators.empty()) return;
  run.operators.clear();
  run.warnings.emplace_back(
      "outputs and activations were not recorded, because another recording changed the order of "
      "the operators; run the summary alone");
}

}  // namespace

RecordedRun record_run(const RunToRecord& what) {
  RecordedRun recorded;
  std::mutex mutex;
  ProfilerOptions options;
  options.activities = {Activity::cpu};
  if (what.on_cuda) options.activities.push_back(Activity::cuda);
  options.record_shapes = true;
  options.with_modules = true;
  options.profile_memory = what.with_memory;
  options.experimental.on_warning = [&](std::string_view sentence) {
    const std::lock_guard lock(mutex);
    recorded.warnings.emplace_back(sentence);
  };
  Profiler profiler(options);
  if (what.model != nullptr) profiler.attach(*what.model, "model");
  {
    const Profiler::Recording recording(profiler);
    std::optional<OutputObserver> observer;
    if (what.with_outputs) observer.emplace(what.storages);
    const auto start = std::chrono::steady_clock::now();
    what.run();
    recorded.duration_ns =
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    if (observer) recorded.operators = observer->take();
  }
  recorded.trace = profiler.trace();
  const std::lock_guard lock(mutex);
  if (recorded.trace == nullptr) {
    throw std::runtime_error("the run could not be recorded" +
                             (recorded.warnings.empty() ? "" : ": " + recorded.warnings.back()));
  }
  if (what.with_outputs) join(recorded);
  return recorded;
}

}  // namespace tbtrace::libtorch
