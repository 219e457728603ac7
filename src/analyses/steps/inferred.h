// Steps for traces without `ProfilerStep#N`, from annotations with step numbers.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Annotations such as `Iteration 7`, `## step 7 ##` or `train_batch=7`, sorted by event: those
/// with the most frequent wording. Empty if the trace has steps.
std::vector<Step> inferred_steps(const Trace& trace);

}  // namespace tbtrace::analyses
