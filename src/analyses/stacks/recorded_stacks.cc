#include "analyses/stacks/recorded_stacks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "analyses/attribution/call_stack_frames.h"
#include "analyses/attribution/python_tracks.h"
#include "symbols/names/class_name.h"
#include "symbols/names/code_place.h"

namespace tbtrace::analyses {

namespace {

constexpr std::string_view kModule = "nn.Module: ";

/// `file(line): function` in two parts around the line; else the text and nothing.
std::pair<std::string_view, std::string_view> without_line(std::string_view frame) {
  const CodePlace place = code_place(frame);
  if (place.line.empty()) return {frame, {}};
  return {place.file, place.function};
}

/// `Linear` of `nn.Module: Linear_3`; empty if it is not a module's name.
std::string_view class_of_module(std::string_view name) {
  if (!name.starts_with(kModule)) return {};
  name.remove_prefix(kModule.size());
  return name.substr(0, name.rfind('_'));
}

}  // namespace

RecordedStacks::RecordedStacks(const Trace& trace, const CallTree& tree) {
  const std::vector<bool> has_frames = tracks_with_frames(trace, tree);
  const ArgumentColumn& stacks = trace.argument(Argument::call_stack);
  std::unordered_map<StringId, std::uint32_t> known;
  stacks.for_each([&](EventId event) {
    if (has_frames[index(trace.events().track(event))]) return;
    const auto [stack, is_new] = known.try_emplace(stacks.text(event));
    if (is_new) stack->second = stack_of(trace.string(stack->first));
    const auto length = static_cast<std::uint32_t>(stacks_[stack->second].size());
    own_.emplace(event, Outer{stack->second, length});
  });
  if (own_.empty()) return;
  share(trace, tree);
  places_.resize(trace.events().size());
  for (const EventId range : tree.ranges()) place(trace, range, tree.parent(range));
}

std::span<const RecordedStacks::Frame> RecordedStacks::before(EventId range) const {
  if (places_.empty()) return {};
  const Place& place = places_[index(range)];
  return std::span(stacks_[place.stack_before])
      .subspan(place.first_before, place.last_before - place.first_before);
}

std::uint32_t RecordedStacks::stack_of(std::string_view text) {
  std::vector<Frame> frames;
  for (const std::string_view frame : call_stack_frames(text)) frames.push_back(frame_of(frame));
  std::reverse(frames.begin(), frames.end());
  stacks_.push_back(std::move(frames));
  return static_cast<std::uint32_t>(stacks_.size() - 1);
}

RecordedStacks::Frame RecordedStacks::frame_of(std::string_view text) {
  const auto [found, is_new] = frame_numbers_.try_emplace(text, static_cast<Frame>(frames_.size()));
  if (!is_new) return found->second;
  const auto [file, name] = without_line(text);
  const auto function = functions_.try_emplace(std::string(file) + '\0' + std::string(name),
                                               static_cast<std::uint32_t>(functions_.size()));
  frames_.push_back({.text = text, .function = function.first->second, .name = name});
  return found->second;
}

/// Gives each module without a stack one of its own, and leaves annotations what they share with
/// their parts, inner ones first.
void RecordedStacks::share(const Trace& trace, const CallTree& tree) {
  std::unordered_map<EventId, Shared> of_parts;
  const auto ranges = tree.ranges();
  for (std::size_t row = ranges.size(); row-- > 0;) {
    const EventId range = ranges[row];
    const auto own = own_.find(range);
    const auto parts = of_parts.find(range);
    std::optional<Shared> shared;
    if (own != own_.end()) {
      shared = {.outer = own->second};
      if (parts != of_parts.end() && is_annotation(trace, range)) {
        shared = shared_by(*shared, parts->second);
        own->second = shared->outer;
      }
    } else if (parts != of_parts.end()) {
      shared = parts->second;
      if (trace.events().is_module(range)) {
        shared = {.outer = outside_of(*shared, class_of_module(trace.name(range)))};
        own_.emplace(range, shared->outer);
      }
    }
    if (parts != of_parts.end()) of_parts.erase(parts);
    const EventId parent = tree.parent(range);
    if (!shared || parent == EventId::none) continue;
    const auto [others, is_first] = of_parts.try_emplace(parent, *shared);
    if (!is_first) others->second = shared_by(*shared, others->second);
  }
}

/// Files of 2021 give annotations the category of operators; what a `with` statement opened has the
/// stack of `__enter__`.
bool RecordedStacks::is_annotation(const Trace& trace, EventId range) const {
  if (trace.kind(range) == EventKind::user_annotation) return true;
  if (trace.kind(range) != EventKind::cpu_op) return false;
  const auto own = own_.find(range);
  if (own == own_.end() || own->second.length == 0) return false;
  const std::vector<Frame>& stack = stacks_[own->second.stack];
  return frames_[stack.back()].name == "__enter__";
}

std::uint32_t RecordedStacks::common_length(Outer a, Outer b) const {
  if (a.stack == b.stack) return std::min(a.length, b.length);
  const auto first = frames(a);
  const auto second = frames(b);
  const auto [end, other] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  return static_cast<std::uint32_t>(end - first.begin());
}

RecordedStacks::Shared RecordedStacks::shared_by(Shared a, Shared b) const {
  const std::uint32_t common = common_length(a.outer, b.outer);
  const auto with_next = [](Shared shared) {
    return Outer{shared.outer.stack, shared.outer.length + (shared.has_next ? 1 : 0)};
  };
  return {.outer = {a.outer.stack, common},
          .has_next = continues_in(with_next(a), with_next(b), common)};
}

/// Of the frames that a module's parts share, those outside of its call: up to the innermost one of
/// the class's forward, or of another member of the class.
RecordedStacks::Outer RecordedStacks::outside_of(Shared shared, std::string_view class_name) const {
  const auto [stack, length] = shared.outer;
  // A program without a function around all parts has them on several lines of its main().
  std::uint32_t outside = length == 0 && shared.has_next ? 1 : length;
  if (class_name.empty()) return {stack, outside};
  bool is_found = false;
  for (std::uint32_t frame = length + (shared.has_next ? 1 : 0); frame-- > 0;) {
    const std::string_view function = frames_[stacks_[stack][frame]].name;
    const std::string_view scope = scope_of(function);
    if (scope.empty() || short_class_name(scope) != class_name) continue;
    if (last_part(function) == "forward") return {stack, frame};
    if (!std::exchange(is_found, true)) outside = frame;
  }
  return {stack, outside};
}

/// Whether the next frame of both is the same call of a function, on whichever line it was.
bool RecordedStacks::continues_in(Outer around, Outer own, std::uint32_t common) const {
  return common < around.length && common < own.length &&
         frames_[stacks_[around.stack][common]].function ==
             frames_[stacks_[own.stack][common]].function;
}

void RecordedStacks::place(const Trace& trace, EventId range, EventId parent) {
  Place& place = places_[index(range)];
  if (parent != EventId::none) {
    place.around = places_[index(parent)].around;
    place.is_moment = places_[index(parent)].is_moment;
  }
  const auto found = own_.find(range);
  if (found == own_.end() || found->second.length == 0) return;
  const Outer own = found->second;
  std::uint32_t common = common_length(place.around, own);
  const bool is_whole = common == place.around.length;
  if (!is_whole && place.is_moment && continues_in(place.around, own, common)) ++common;
  if (is_whole || (place.is_moment && common > 0)) {
    place.stack_before = own.stack;
    place.first_before = common;
    place.last_before = own.length;
  }
  const bool is_module = trace.events().is_module(range);
  // A module within the frames around says nothing new about them.
  if (is_module && common == own.length) return;
  place.around = own;
  place.is_moment = is_module || is_annotation(trace, range);
}

}  // namespace tbtrace::analyses
