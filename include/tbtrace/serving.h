// What the iterations of an inference engine did: how long prefill and decode took, and on what.
// Results own all their data; plain values. Times are whole nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct ServingOptions {
  /// Only steps of the same kind and number of requests are together; else all of a kind.
  bool by_batch = true;
  /// Only the longest run of six steps or more whose batches have at least 90 % of the requests of
  /// the largest batch; if there is none, 80 %; if there is none either, all steps.
  bool only_steady = false;
  std::optional<StepRange> steps = {};  ///< only these
};

/// Steps of one kind.
struct ServingPhase {
  /// `prefill`: all requests read their prompts; `decode`: all make tokens; `mixed`; `draft`:
  /// the draft model of speculative decoding; `diffusion`; `idle`: a batch without requests;
  /// `unknown`: the name does not say it.
  std::string kind;
  std::optional<std::int64_t> requests;         ///< by batch: of each step, without padding
  std::optional<std::int64_t> padded_requests;  ///< the most that a step was padded to
  std::uint64_t steps = 0;
  std::int64_t duration_ns = 0;  ///< of all, each from when the one before has ended on the device
  /// Medians are, of an even number, the lower one of the two in the middle, as in StepBreakdown's
  /// table.
  std::int64_t duration_median_ns = 0;
  double duration_p90_ns = 0;  ///< as numpy.percentile() has it
  double duration_p99_ns = 0;
  /// That the model processed; nullopt unless the names of all steps say it. Of speculative
  /// decoding, also those that were rejected.
  std::optional<std::int64_t> tokens;
  std::int64_t kernel_ns = 0;         ///< a kernel ran, as a mean over the devices; of all steps
  std::int64_t communication_ns = 0;  ///< communication, while no other kernel and no memcpy ran
  std::int64_t gap_ns = 0;  ///< from the ends of the steps before, of any kind, to these; in all
  /// The median of these gaps; nullopt if there is no step before these.
  std::optional<std::int64_t> gap_median_ns;
  std::int64_t host_median_ns = 0;  ///< the step's range on the host
  std::uint64_t launches = 0;       ///< calls that launched work; a graph is launched by one call
  std::int64_t launch_ns = 0;       ///< in these calls
  std::string kernel;               ///< the one with the most time, by its short name; may be empty
  std::int64_t kernel_total_ns = 0;   ///< its time
  std::int64_t kernels_total_ns = 0;  ///< of all kernels, each counted

  /// `tokens` by `duration_ns` and `gap_ns`, in which the engine prepares these steps; nullopt
  /// without tokens or time.
  std::optional<double> tokens_per_s() const;
  double gpu_utilization() const;  ///< `kernel_ns` by `duration_ns`, 0 to 1
};

struct ServingPhases {
  std::vector<ServingPhase> phases;  ///< by kind, then by requests; empty without iterations
  std::size_t steps = 0;             ///< of the whole recording
  /// The steps that were taken, if it is not all: the numbers of the first and the last one.
  std::optional<StepRange> steady;
};

/// Steps whose names, or the names of iterations in them, are those of vLLM, SGLang, ATOM or
/// TensorRT-LLM; a trace without them has no phases. Pure; takes O(n log n) time for n events.
/// Source of the rule for steady steps: TraceLens (AMD-AGI/TraceLens).
ServingPhases serving_phases(const Trace& trace, const ServingOptions& options = {});
/// The same of steps that are known already.
ServingPhases serving_phases(const Trace& trace, const StepBreakdown& breakdown,
                             const ServingOptions& options = {});

}  // namespace tbtrace
