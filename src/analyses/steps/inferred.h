// Steps for traces without `ProfilerStep#N`: annotations with step numbers, else the iterations of
// inference engines and training loops (step_names.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Annotations such as `Iteration 7`, `## step 7 ##` or `train_batch=7`, sorted by event: those
/// with the most frequent wording. If there are none, the ranges of the first of iteration_names()
/// that occurs, numbered from 0 by start if their names have no number. Empty if the trace has
/// steps.
std::vector<Step> inferred_steps(const Trace& trace);

/// The same without Python frames, for what rewrites a range as a step.
std::vector<Step> inferred_annotation_steps(const Trace& trace);

/// The iterations of inference engines whose names nothing else has (IterationName::is_step), on
/// all threads, by start; of those inside each other the outermost.
std::vector<EventId> engine_iterations(const Trace& trace);

/// What inferred_steps() looks for, and the most frequent annotations of the trace: a sentence for
/// people whose trace has no such ranges.
std::string nothing_inferred(const Trace& trace);

}  // namespace tbtrace::analyses
