// torch.profiler's names for the ranges of steps, `ProfilerStep#5`, and how traces name the
// iterations of inference engines and of training loops that do not call step().
// To add an engine, add a row to kIterations in step_names.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "base/decimal.h"

namespace tbtrace {

inline constexpr std::string_view kStepPrefix = "ProfilerStep#";

/// Begins like a step's name, whatever follows.
constexpr bool is_step_name(std::string_view name) { return name.starts_with(kStepPrefix); }

/// The text in place of the number. `name` must be a step's name.
constexpr std::string_view step_number_text(std::string_view name) {
  return name.substr(kStepPrefix.size());
}

/// nullopt if the text after the prefix is not a number, or if the name is not a step's.
inline std::optional<std::int64_t> step_number(std::string_view name) {
  if (!is_step_name(name)) return std::nullopt;
  return parse_integer(step_number_text(name));
}

inline std::string step_name(std::int64_t number) {
  return std::string(kStepPrefix) + std::to_string(number);
}

enum class IterationPlace : std::uint8_t { annotation, python_frame };

/// One way to find iterations. Of ranges inside each other on one thread, the outermost counts.
struct IterationName {
  std::string_view engine = {};  ///< empty: any program
  IterationPlace place = IterationPlace::annotation;
  /// The annotations, or the functions of frames. `#` is any whole number, `*` any text.
  std::array<std::string_view, 4> patterns = {};
  /// Of frames: where the function's file lies, such as `vllm/`; empty: anywhere.
  std::string_view folder = {};
  /// Text before the number of the iteration; empty: the names have no number.
  std::string_view number_after = {};
  /// A word that other ranges may have too: it has to occur twice.
  bool is_common_word = false;
  /// Only iterations of the engine are named so: they are the steps of a trace without steps of
  /// torch.profiler (Trace::steps()).
  bool is_step = false;
};

/// In the order in which they are looked for.
std::span<const IterationName> iteration_names();

/// Whether one of its patterns is that of the name of an annotation, or of the function of a frame.
bool is_named(const IterationName& iteration, std::string_view name);

/// The number of the iteration in a name, if it has one.
std::optional<std::int64_t> iteration_number(const IterationName& iteration, std::string_view name);

/// The row of the engine whose iterations are annotated so and are steps; null if there is none.
const IterationName* step_of_engine(std::string_view annotation);

/// Whether the steps of a trace are iterations of an engine, not `ProfilerStep#N`.
bool has_engine_steps(const Trace& trace);

/// Whether an annotation is a step of torch.profiler or of an engine.
inline bool is_step_range(std::string_view annotation) {
  return is_step_name(annotation) || step_of_engine(annotation) != nullptr;
}

/// Whether a text has the form of a pattern.
bool matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace tbtrace
