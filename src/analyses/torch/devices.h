// Assigns kernels to the operators that launched them, in torch's event list.
// Steps on TorchRows. Not synchronised.
// Source: torch/autograd/profiler.py (_parse_kineto_results), profiler_util.py (device_time_total).
#pragma once

#include <cstdint>
#include <memory>

#include <tbtrace/trace.h>

#include "analyses/torch/names.h"
#include "analyses/torch/rows.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// Kernels go to the operator or annotation with their `External id`, and runtime calls to its
/// thread; those without an id stay separate. If the file's ids do not name operators, the operator
/// is the one that contains the launch.
class TorchDevices {
 public:
  /// Of sorted rows, which must outlive it.
  explicit TorchDevices(TorchRows& list);
  ~TorchDevices();

  /// Sets the threads of runtime calls.
  void move_calls();

  /// Sets the kernels. Reads no rows, so that others may change them meanwhile, but not their
  /// order.
  void list_kernels(TorchNames& names);

 private:
  class Operators;

  void list_by_id(TorchNames& names);
  void list_by_containment(TorchNames& names);
  void add_kernel(std::uint32_t op, EventId event, TorchNames& names);

  TorchRows& list_;
  const Trace& trace_;
  std::unique_ptr<const Operators> operators_;  // if ids name them
  Column<std::uint32_t> row_of_;                // else: operators and annotations by event
};

/// Device time of each row including everything below it, added in torch's order.
void add_up_device_time(TorchRows& list, std::size_t threads);

}  // namespace tbtrace::analyses
