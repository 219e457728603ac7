// The times of many runs.
// For the thread that runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tbtrace/benchmark.h>

namespace tbtrace::libtorch {

struct RunTimes {
  std::vector<double> host_ns;    ///< until the GPU is done, if there is one
  std::vector<double> device_ns;  ///< between two events; empty: not measured
};

/// The options have been checked. `on_cuda`: waits for the GPU after each run.
RunTimes timed_runs(const toolbox_detail::TimedCall& call, const BenchmarkOptions& options,
                    bool on_cuda);

/// The median time of an empty callable, measured in the same way.
double harness_ns();

/// Until the GPUs have done what they were given.
void wait_for_devices();

/// Times of one call on the host, until the GPU is done.
double time_of_call(const std::function<void()>& call);

/// \throws std::invalid_argument for options that make no sense.
void check_options(const BenchmarkOptions& options);

}  // namespace tbtrace::libtorch
