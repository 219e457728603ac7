// What the name of an iteration says of it: prefill or decode, how many requests and tokens.
// To add an engine, add its row in src/trace/step_names.cc and a function in the list of
// iteration_facts.cc. Pure functions; plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// In the order in which people see them.
/// `draft`: the small model of speculative decoding, which guesses for the others.
enum class IterationKind : std::uint8_t { prefill, mixed, decode, draft, diffusion, idle, unknown };

/// `prefill`, `mixed`, ...
std::string_view iteration_kind_name(IterationKind kind);

/// What a name does not say has no value.
struct IterationFacts {
  IterationKind kind = IterationKind::unknown;
  std::optional<std::int64_t> requests;         ///< of the batch, without padding
  std::optional<std::int64_t> tokens;           ///< that the model processed for them
  std::optional<std::int64_t> padded_requests;  ///< that a CUDA graph was captured for
};

/// Of the name of an annotation: `execute_context_0(0)_generation_64(64)`.
IterationFacts iteration_facts(std::string_view name);

/// Steps of one kind and number of requests do the same work.
using IterationGroup = std::pair<IterationKind, std::optional<std::int64_t>>;
inline IterationGroup group_of(const IterationFacts& facts) { return {facts.kind, facts.requests}; }

/// Of each step: by its own name, else by the iterations of an engine that began in it, as where
/// the engine also calls the profiler's step(). Of several, the tokens are added up, and what
/// differs is unknown. SGLang names steps of its draft model as those of the target: which they are
/// follows from the others.
std::vector<IterationFacts> facts_of_steps(const Trace& trace, std::span<const StepTime> steps);

}  // namespace tbtrace::analyses
