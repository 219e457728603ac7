// Steps for traces without `ProfilerStep#N`, from annotations that count them.
// Pure function of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Annotations such as `Iteration 7`, `## step 7 ##` or `train_batch=7`, sorted by event: those of
/// one wording, the most frequent. Nothing where the trace has steps.
std::vector<Step> inferred_steps(const Trace& trace);

}  // namespace tbtrace::analyses
