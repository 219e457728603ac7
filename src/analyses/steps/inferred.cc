#include "analyses/steps/inferred.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/attribution/source_lines.h"
#include "base/characters.h"
#include "base/decimal.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

constexpr char kEpochNumber = '#';

/// The letters before the last number, in lower case, and that number, if they end in a counting
/// word: `epoch#step` and 7 of `epoch 2 step 7`.
std::optional<std::pair<std::string, std::int64_t>> counted(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWords = {"iteration", "iter", "step", "batch"};
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t start = end;
  while (start > 0 && is_digit(name[start - 1])) --start;
  const bool letters_after =
      std::any_of(name.begin() + static_cast<std::ptrdiff_t>(end), name.end(), is_letter);
  if (start == end || letters_after) return std::nullopt;
  std::string letters;
  for (const char c : name.substr(0, start)) {
    if (is_digit(c) && !letters.ends_with(kEpochNumber)) {
      if (!letters.ends_with("epoch")) return std::nullopt;  // of a layer, a device, a request
      letters += kEpochNumber;
    }
    if (is_letter(c)) letters += static_cast<char>(c | 0x20);
  }
  const bool counts = std::any_of(kWords.begin(), kWords.end(),
                                  [&](std::string_view word) { return letters.ends_with(word); });
  const auto number = parse_integer(name.substr(start, end - start));
  if (!counts || !number || *number < 0) return std::nullopt;
  return std::pair(std::move(letters), *number);
}

/// JAX's annotations (`StepTraceAnnotation("train", step_num=7)`) are ranges without a category.
bool is_annotation(const Trace& trace, EventId event) {
  const EventKind kind = trace.kind(event);
  if (kind == EventKind::user_annotation) return true;
  return kind == EventKind::cpu_op && trace.string(trace.category(event).name).empty();
}

/// Each epoch may begin with 0.
void number_in_order_if_repeated(std::vector<Step>& steps) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(steps.size());
  for (const Step& step : steps) numbers.push_back(step.number);
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) == numbers.end()) return;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    steps[step].number = static_cast<std::int64_t>(step);
  }
}

std::vector<Step> counted_annotations(const Trace& trace) {
  std::map<std::string, std::vector<Step>> wordings;
  for (const EventId event : trace.by_start()) {
    if (!is_annotation(trace, event)) continue;
    if (trace.events().duration_ns(event) == 0) continue;
    auto found = counted(trace.name(event));
    if (found) wordings[std::move(found->first)].push_back({found->second, event});
  }
  std::vector<Step> best;
  bool has_epochs = false;
  for (auto& [wording, steps] : wordings) {
    if (steps.size() <= best.size()) continue;
    best = std::move(steps);
    has_epochs = wording.find(kEpochNumber) != std::string::npos;
  }
  if (has_epochs) number_in_order_if_repeated(best);
  return best;
}

/// Those with a number of their own: StepTraceAnnotation("train", step_num=7) of JAX and
/// TensorFlow. Of several names, the most frequent; of nested ones, the outermost.
std::vector<Step> annotations_with_step_number(const Trace& trace) {
  const ArgumentColumn& numbers = trace.argument(Argument::step_number);
  if (numbers.empty()) return {};
  const Events& events = trace.events();
  std::map<TrackId, std::int64_t> open_until;
  std::map<StringId, std::vector<Step>> names;
  for (const EventId event : trace.by_start()) {
    const auto number = numbers.integer(event);
    if (!number || !is_annotation(trace, event) || events.duration_ns(event) == 0) continue;
    std::int64_t& open = open_until.try_emplace(events.track(event), INT64_MIN).first->second;
    if (events.start_ns(event) < open) continue;
    open = events.end_ns(event);
    names[events.name(event)].push_back({*number, event});
  }
  std::vector<Step> best;
  for (auto& [name, steps] : names) {
    if (steps.size() > best.size()) best = std::move(steps);
  }
  return best;
}

bool is_at(const Trace& trace, IterationPlace place, EventId event) {
  return place == IterationPlace::annotation ? is_annotation(trace, event)
                                             : trace.kind(event) == EventKind::python_function;
}

bool lies_in(std::string_view file, std::string_view folder) {
  if (folder.empty() || file.starts_with(folder)) return true;
  for (std::size_t at = file.find(folder); at != std::string_view::npos;
       at = file.find(folder, at + 1)) {
    if (at > 0 && (file[at - 1] == '/' || file[at - 1] == '\\')) return true;
  }
  return false;
}

/// Whether an annotation or a frame of the trace is named so. `name` is the whole text of a frame:
/// `vllm/v1/worker/gpu_worker.py(368): execute_model`.
bool is_iteration(const IterationName& iteration, std::string_view name) {
  if (iteration.place != IterationPlace::python_frame) return is_named(iteration, name);
  const auto line = line_of_frame(name);
  return line && lies_in(line->file, iteration.folder) && is_named(iteration, line->function);
}

/// The iterations of a trace, by each row of iteration_names().
class Iterations {
 public:
  explicit Iterations(const Trace& trace) : trace_(trace) {}

  /// By start; empty if there are none.
  std::vector<Step> of(const IterationName& iteration) {
    named_.clear();
    std::map<TrackId, std::int64_t> open_until;
    std::vector<Step> steps;
    bool all_numbered = true;
    for (const EventId event : trace_.by_start()) {
      if (!is_at(trace_, iteration.place, event) || !is_one(iteration, event)) continue;
      const Events& events = trace_.events();
      if (events.duration_ns(event) == 0) continue;
      std::int64_t& open = open_until.try_emplace(events.track(event), INT64_MIN).first->second;
      if (events.start_ns(event) < open) continue;  // inside another one
      open = events.end_ns(event);
      const auto number = iteration_number(iteration, trace_.name(event));
      all_numbered = all_numbered && number;
      steps.push_back({number.value_or(0), event});
    }
    if (iteration.is_common_word && steps.size() < 2) return {};
    for (std::size_t step = 0; !all_numbered && step < steps.size(); ++step) {
      steps[step].number = static_cast<std::int64_t>(step);
    }
    return steps;
  }

 private:
  bool is_one(const IterationName& iteration, EventId event) {
    const StringId name = trace_.events().name(event);
    const auto [known, is_new] = named_.try_emplace(name, false);
    if (is_new) known->second = is_iteration(iteration, trace_.string(name));
    return known->second;
  }

  const Trace& trace_;
  std::map<StringId, bool> named_;  // names of ranges, for the current row
};

std::vector<Step> found_steps(const Trace& trace, bool with_frames) {
  if (has_engine_steps(trace)) return {trace.steps().begin(), trace.steps().end()};
  if (!trace.steps().empty()) return {};
  std::vector<Step> steps = annotations_with_step_number(trace);
  if (steps.empty()) steps = counted_annotations(trace);
  Iterations iterations(trace);
  for (const IterationName& iteration : iteration_names()) {
    if (!steps.empty()) break;
    if (!with_frames && iteration.place == IterationPlace::python_frame) continue;
    steps = iterations.of(iteration);
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return index(a.event) < index(b.event); });
  return steps;
}

/// `vLLM (execute_context_#*, execute_model()), ...`, with `()` behind functions.
std::string looked_for() {
  std::vector<std::pair<std::string_view, std::string>> engines;
  for (const IterationName& iteration : iteration_names()) {
    const std::string_view engine = iteration.engine.empty() ? "other loops" : iteration.engine;
    auto found = std::ranges::find(engines, engine, [](const auto& known) { return known.first; });
    if (found == engines.end()) found = engines.insert(found, {engine, ""});
    for (const std::string_view pattern : iteration.patterns) {
      if (pattern.empty()) continue;
      std::string text = "`" + std::string(pattern);
      text += iteration.place == IterationPlace::python_frame ? "()`" : "`";
      if (!found->second.empty()) found->second += ", ";
      found->second += text;
    }
  }
  std::string all;
  for (const auto& [engine, names] : engines) {
    all += (all.empty() ? "" : ", ") + std::string(engine) + " (" + names + ")";
  }
  return all;
}

/// The annotations that occur most often, at most three.
std::string most_frequent_annotations(const Trace& trace) {
  std::map<std::string_view, std::size_t> counts;
  for (const EventId event : trace.by_start()) {
    if (is_annotation(trace, event)) ++counts[trace.name(event)];
  }
  std::vector<std::pair<std::string_view, std::size_t>> names(counts.begin(), counts.end());
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (names.size() > 3) names.resize(3);
  std::string text;
  for (const auto& [name, count] : names) {
    text += (text.empty() ? "`" : ", `") + std::string(name) + "` (" + std::to_string(count) + ")";
  }
  return text;
}

}  // namespace

std::vector<EventId> engine_iterations(const Trace& trace) {
  Iterations iterations(trace);
  std::vector<EventId> events;
  for (const IterationName& iteration : iteration_names()) {
    if (!iteration.is_step) continue;
    for (const Step& step : iterations.of(iteration)) events.push_back(step.event);
  }
  std::ranges::sort(events, {}, [&](EventId event) { return trace.events().start_ns(event); });
  return events;
}

std::vector<Step> inferred_steps(const Trace& trace) { return found_steps(trace, true); }

std::vector<Step> inferred_annotation_steps(const Trace& trace) {
  return found_steps(trace, false);
}

std::string nothing_inferred(const Trace& trace) {
  const std::string there = most_frequent_annotations(trace);
  return "None of these ranges is in the trace: annotations with a number (`Iteration 7`, `step "
         "7`, `batch=7`, JAX's `step_num`); iterations of " +
         looked_for() + ". " +
         (there.empty() ? "The trace has no annotations: call the profiler's step(), or mark each "
                          "iteration with record_function(\"step 7\") and its number."
                        : "The most frequent annotations of the trace are " + there + ".");
}

}  // namespace tbtrace::analyses
