#include "analyses/attribution/lines_around.h"

#include <algorithm>
#include <span>

#include "analyses/attribution/call_stack_frames.h"
#include "analyses/attribution/source_lines.h"
#include "trace/call_tree.h"
#include "trace/nearest_range.h"

namespace tbtrace::analyses {
namespace {

/// `model.py(12): forward`, unlike `<built-in method ...>` and `nn.Module: Linear_0`.
bool names_line(std::string_view frame) { return line_of_frame(frame).has_value(); }

}  // namespace

LinesAround::LinesAround(const Trace& trace) : trace_(trace) {
  const auto is_frame = [&](EventId event) {
    return trace.events().is_python_frame(event) && names_line(trace.name(event));
  };
  const std::span<const EventId> ranges = call_tree_of(trace).ranges();
  if (std::any_of(ranges.begin(), ranges.end(), is_frame)) {
    frames_ = nearest_ranges(trace, is_frame);
  }
  const ArgumentColumn& stacks = trace.argument(Argument::call_stack);
  if (!stacks.empty()) {
    with_stack_ = nearest_ranges(trace, [&](EventId event) { return stacks.has(event); });
  }
}

std::string_view LinesAround::of(EventId range) const {
  if (const EventId frame = entry_of(frames_, range); frame != EventId::none) {
    return trace_.name(frame);
  }
  const EventId op = entry_of(with_stack_, range);
  if (op == EventId::none) return {};
  for (const std::string_view frame :
       call_stack_frames(trace_.argument_text(op, Argument::call_stack))) {
    if (names_line(frame)) return frame;
  }
  return {};
}

}  // namespace tbtrace::analyses
