// Steps of an inference engine by kind and batch: runs whose batches differ are compared by steps
// that do the same work.
// Plain values and pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tbtrace/diff.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// The steps of a trace that do nearly the same work.
struct StepsOfPhase {
  std::string key;  ///< `decode of 57 to 64 requests`
  std::vector<StepTime> steps;
  RunPhaseRank sums;  ///< without the rank
};

/// Those with the most time, at most eight; empty if the trace is not of an engine. Steps that read
/// prompts are together if the number of their tokens is between the same powers of two; those that
/// make tokens if CUDA graphs of vLLM's sizes would pad them to the same batch.
std::vector<StepsOfPhase> steps_of_phases(const Trace& trace, const StepBreakdown& breakdown);

/// Runs with the same batches on both sides.
struct EqualBatches {
  std::vector<RunFigures> base;     ///< empty: all steps are compared as they are
  std::vector<RunFigures> changed;  ///< the same
  std::string note;                 ///< what was done, a sentence for people; may be empty
};

/// If the runs are of engines and their batches differ: only the steps that all runs have, each
/// kind as often as in the base.
EqualBatches with_equal_batches(std::span<const RunFigures> base,
                                std::span<const RunFigures> changed);

/// By the time that the change takes in all steps, the largest first.
std::vector<DiffPhase> phases_of(std::span<const RunFigures> base,
                                 std::span<const RunFigures> changed);

}  // namespace tbtrace::analyses
