#include "trace/step_names.h"

#include <algorithm>
#include <cstddef>

#include "base/characters.h"
#include "base/decimal.h"

namespace tbtrace {
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
    IterationName{.engine = "vLLM",
                  .patterns = {"execute_context_#*", "execute_#_context_#*",
                               "execute_new_#_cached_#", "execute_diffusion_#_#x#"},
                  .is_step = true},
    IterationName{.engine = "SGLang", .patterns = {"step[* bs=#*]"}, .is_step = true},
    IterationName{.engine = "ATOM",
                  .patterns = {"prefill[bs=#*]", "decode[bs=#*]", "eager_decode[bs=#*]"},
                  .is_step = true},
    IterationName{.engine = "TensorRT-LLM",
                  .patterns = {"[Executor] _forward_step #:*", "[Executor] _forward_step:*"},
                  .number_after = "[Executor] _forward_step ",
                  .is_step = true},
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

bool is_named(const IterationName& iteration, std::string_view name) {
  return std::ranges::any_of(iteration.patterns, [&](std::string_view pattern) {
    return !pattern.empty() && matches_pattern(name, pattern);
  });
}

std::optional<std::int64_t> iteration_number(const IterationName& iteration,
                                             std::string_view name) {
  const std::string_view before = iteration.number_after;
  if (before.empty() || !name.starts_with(before)) return std::nullopt;
  const std::string_view rest = name.substr(before.size());
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  return parse_integer(rest.substr(0, digits));
}

const IterationName* step_of_engine(std::string_view annotation) {
  const auto found = std::ranges::find_if(kIterations, [&](const IterationName& iteration) {
    return iteration.is_step && is_named(iteration, annotation);
  });
  return found == kIterations.end() ? nullptr : &*found;
}

bool has_engine_steps(const Trace& trace) {
  return !trace.steps().empty() && !is_step_name(trace.name(trace.steps().front().event));
}

}  // namespace tbtrace
