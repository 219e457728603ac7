// How traces name the iterations of serving engines and of training loops that do not call step().
// To add an engine, add a row to kIterations in iteration_names.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tbtrace::analyses {

enum class IterationPlace : std::uint8_t { annotation, python_frame };

/// One way to find iterations. Of ranges inside each other on one thread, the outermost counts.
struct IterationName {
  std::string_view engine = {};  ///< empty: any program
  IterationPlace place = IterationPlace::annotation;
  /// The annotations, or the functions of frames. `#` is any whole number, `*` any text.
  std::array<std::string_view, 3> patterns = {};
  /// Of frames: where the function's file lies, such as `vllm/`; empty: anywhere.
  std::string_view folder = {};
  /// Text before the number of the iteration; empty: the names have no number.
  std::string_view number_after = {};
  /// A word that other ranges may have too: it has to occur twice.
  bool is_common_word = false;
};

/// In the order in which they are looked for.
std::span<const IterationName> iteration_names();

/// Whether an annotation or a frame of the trace is named so. `name` is the whole text of a frame:
/// `vllm/v1/worker/gpu_worker.py(368): execute_model`.
bool is_iteration(const IterationName& iteration, std::string_view name);

/// Whether a text has the form of a pattern.
bool matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace tbtrace::analyses
