#include "analyses/attribution/line_places.h"

#include "analyses/attribution/call_stack_frames.h"
#include "analyses/attribution/python_tracks.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {

LinePlaces::LinePlaces(const Trace& trace, bool with_libraries)
    : trace_(trace), has_frames_(tracks_with_frames(trace, call_tree_of(trace))) {
  if (!with_libraries) own_code_.emplace(trace);
}

Place LinePlaces::place_of_stack(StringId stack) {
  const auto [entry, added] = of_stacks_.try_emplace(stack, StackTree::kRoot);
  if (!added) return entry->second;
  const std::vector<std::string_view> frames = call_stack_frames(trace_.string(stack));
  if (frames.empty()) return StackTree::kRoot;
  if (const auto innermost = line_of_frame(frames.front());
      innermost && innermost->function == "__enter__") {
    return StackTree::kRoot;
  }
  Place place = StackTree::kRoot;
  for (std::size_t frame = frames.size(); frame-- > 0;) {
    const auto source = line_of_frame(frames[frame]);
    if (source) place = child(place, line(*source, false));
  }
  return entry->second = place;
}

LinePlaces::Line LinePlaces::line(const SourceLine& source, bool is_function) {
  if (own_code_ && own_code_->is_library(source.file)) return 0;
  const auto [entry, added] = numbers_.try_emplace(
      std::tuple(std::string(source.file), source.line, std::string(source.function), is_function),
      static_cast<Line>(rows_.size()));
  if (added) {
    rows_.push_back(
        {std::string(source.file), source.line, std::string(source.function), is_function});
  }
  return entry->second;
}

Place LinePlaces::child(Place around, Line line) {
  if (line == 0) return around;
  const auto key = static_cast<std::int64_t>(std::uint64_t{around} << 32 | line);
  const auto [place, added] = children_.insert(key, static_cast<std::uint32_t>(parents_.size()));
  if (added) {
    parents_.push_back(around);
    lines_.push_back(line);
  }
  return place;
}

bool LinePlaces::is_call(EventId range) const {
  if (!trace_.events().is_python_frame(range)) return false;
  const auto known = names_.find(trace_.events().name(range));
  return known != names_.end() && known->second != 0;
}

Place LinePlaces::place_in(Place around, EventId range) {
  if (const StringId stack = trace_.argument(Argument::call_stack).text(range);
      stack != StringId::empty && !has_frames_[index(trace_.events().track(range))]) {
    const Place place = place_of_stack(stack);
    if (place != StackTree::kRoot) return place;
  }
  if (!trace_.events().is_python_frame(range)) return around;
  // The line that called the function belongs to the function around it.
  if (const auto caller = line_of_place(trace_.argument_text(range, Argument::call_from))) {
    SourceLine source = *caller;
    const PlaceLine& above = rows_[lines_[around]];
    const std::string function = above.file == source.file ? above.function : "";
    source.function = function;
    around = child(around, line(source, false));
  }
  const auto [entry, added] = names_.try_emplace(trace_.events().name(range), 0);
  if (added) {
    const auto source = line_of_frame(trace_.name(range));
    if (source) entry->second = line(*source, true);
  }
  return child(around, entry->second);
}

std::string line_text(const std::string& file, std::int64_t line, const std::string& function) {
  const std::string text = file + "(" + std::to_string(line) + ")";
  return function.empty() ? text : text + ": " + function;
}

WorkPlaces find_line_places(const Trace& trace, const ForwardOperators& forward,
                            LinePlaces& places) {
  return find_places(trace, forward, [&](Place around, EventId range, bool /*is_backward*/) {
    return places.place_in(around, range);
  });
}

}  // namespace tbtrace::analyses
