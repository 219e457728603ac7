// One run of a callable, recorded: its trace, and what the trace lacks, the outputs of operators.
// Owns all its data. For the thread that runs the callable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <tbtrace/model_summary.h>
#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::libtorch {

/// An operator that the calling thread ran.
struct ObservedOperator {
  std::string name;
  std::vector<TensorShape> inputs;   ///< tensors that are not the model's
  std::vector<TensorShape> outputs;  ///< likewise
  std::uint64_t new_elements = 0;    ///< of outputs in memory that none of its inputs is in
  std::uint64_t new_bytes = 0;
};

struct RecordedRun {
  std::shared_ptr<const Trace> trace;
  std::vector<ObservedOperator> operators;  ///< in the order of their starts
  /// By event of the trace: one of `operators`, or kNone.
  Column<std::uint32_t> observed;
  std::vector<std::string> warnings;  ///< what the profiler said
  std::int64_t duration_ns = 0;       ///< of the callable, on the host

  static constexpr std::uint32_t kNone = UINT32_MAX;
};

struct RunToRecord {
  std::function<void()> run;
  const torch::nn::Module* model = nullptr;  ///< whose modules become frames
  std::unordered_set<const void*> storages;  ///< of the model's tensors, which live until it ends
  bool on_cuda = false;
  bool with_outputs = true;
  bool with_memory = false;
};

/// \throws what the callable throws, and std::runtime_error if nothing could be recorded.
RecordedRun record_run(const RunToRecord& what);

}  // namespace tbtrace::libtorch
