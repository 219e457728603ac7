#include "analyses/steps/iteration_names.h"

#include <algorithm>
#include <cstddef>

#include "analyses/attribution/source_lines.h"
#include "base/characters.h"

namespace tbtrace::analyses {
namespace {

constexpr auto kFrame = IterationPlace::python_frame;

// Sources, besides the files of the engines that are named:
// vLLM: annotate_profile() in vllm/v1/worker/gpu_worker.py, execute_new_ before 0.12; the form with
//   a number in front is that of TraceLens' patches (AMD-AGI/TraceLens).
// SGLang: build_step_span_name() in sglang/srt/utils/profile_utils.py.
// ATOM: build_run_label() in atom/model_engine/run_labels.py; labels with dummy_ have no requests.
// TensorRT-LLM: _forward_step() in tensorrt_llm/_torch/pyexecutor/py_executor.py.
// text-generation-inference: Prefill() and Decode() in text_generation_server/server.py.
constexpr std::array kIterations = {
    IterationName{
        .engine = "vLLM",
        .patterns = {"execute_context_#*", "execute_#_context_#*", "execute_new_#_cached_#"}},
    IterationName{.engine = "SGLang", .patterns = {"step[*]"}},
    IterationName{.engine = "ATOM", .patterns = {"prefill[*]", "decode[*]", "eager_decode[*]"}},
    IterationName{.engine = "TensorRT-LLM",
                  .patterns = {"[Executor] _forward_step #:*", "[Executor] _forward_step:*"},
                  .number_after = "[Executor] _forward_step "},
    IterationName{.engine = "vLLM",
                  .patterns = {"gpu_model_runner: forward", "v2_gpu_model_runner: forward"}},
    IterationName{
        .engine = "vLLM", .place = kFrame, .patterns = {"execute_model"}, .folder = "vllm/"},
    IterationName{.engine = "vLLM",
                  .place = kFrame,
                  .patterns = {"step", "step_with_batch_queue"},
                  .folder = "vllm/v1/engine/"},
    IterationName{.engine = "SGLang",
                  .place = kFrame,
                  .patterns = {"run_batch", "forward_batch_generation"},
                  .folder = "sglang/"},
    IterationName{.engine = "TensorRT-LLM",
                  .place = kFrame,
                  .patterns = {"_forward_step"},
                  .folder = "tensorrt_llm/"},
    IterationName{.engine = "text-generation-inference",
                  .place = kFrame,
                  .patterns = {"generate_token"},
                  .folder = "text_generation_server/"},
    IterationName{.patterns = {"execute_model"}, .is_common_word = true},
    IterationName{.patterns = {"run_batch", "forward_batch_generation"}, .is_common_word = true},
    IterationName{.patterns = {"train_step", "training_step", "train_batch"},
                  .is_common_word = true},
    IterationName{.patterns = {"decode_step", "generate_token"}, .is_common_word = true},
    IterationName{.patterns = {"train"}, .is_common_word = true},
    IterationName{.place = kFrame,
                  .patterns = {"train_step", "training_step", "train_batch"},
                  .is_common_word = true},
    IterationName{
        .place = kFrame, .patterns = {"decode_step", "generate_token"}, .is_common_word = true},
};

bool lies_in(std::string_view file, std::string_view folder) {
  if (folder.empty() || file.starts_with(folder)) return true;
  for (std::size_t at = file.find(folder); at != std::string_view::npos;
       at = file.find(folder, at + 1)) {
    if (at > 0 && (file[at - 1] == '/' || file[at - 1] == '\\')) return true;
  }
  return false;
}

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
  // Where to go on if the text after the latest `*` does not match: that `*` takes one more.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  std::size_t at = 0;
  std::size_t form = 0;
  while (at < text.size() || form < pattern.size()) {
    if (form < pattern.size() && pattern[form] == '*') {
      star = ++form;
      taken = at;
      continue;
    }
    if (at < text.size() && form < pattern.size()) {
      if (pattern[form] == '#' && is_digit(text[at])) {
        while (at < text.size() && is_digit(text[at])) ++at;
        ++form;
        continue;
      }
      if (pattern[form] != '#' && pattern[form] == text[at]) {
        ++at;
        ++form;
        continue;
      }
    }
    if (star == std::string_view::npos || taken >= text.size()) return false;
    at = ++taken;
    form = star;
  }
  return true;
}

std::span<const IterationName> iteration_names() { return kIterations; }

bool is_iteration(const IterationName& iteration, std::string_view name) {
  std::string_view compared = name;
  if (iteration.place == IterationPlace::python_frame) {
    const auto line = line_of_frame(name);
    if (!line || !lies_in(line->file, iteration.folder)) return false;
    compared = line->function;
  }
  return std::ranges::any_of(iteration.patterns, [&](std::string_view pattern) {
    return !pattern.empty() && matches_pattern(compared, pattern);
  });
}

}  // namespace tbtrace::analyses
