#include "chrome/plugin/frame_stacks.h"

#include <algorithm>
#include <cstddef>

#include "trace/call_tree.h"
#include "trace/nearest_range.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

constexpr std::size_t kMostFrames = 100;
constexpr std::size_t kMostBytes = std::size_t{1}
                                   << 20;  // kept; operators of a frame are close together

}  // namespace

std::string_view FrameStacks::json(EventId event) {
  if (frames_.empty()) return {};
  const CallTree& tree = call_tree_of(trace_);
  const auto frame_above = [&](EventId at) { return entry_of(frames_, tree.parent(at)); };
  const EventId innermost = frame_above(event);
  if (innermost == EventId::none) return {};
  const auto known = by_frame_.find(static_cast<std::uint32_t>(innermost));
  if (known != by_frame_.end()) return known->second;
  std::string frames;
  std::size_t count = 0;
  for (EventId at = innermost; at != EventId::none && count < kMostFrames; at = frame_above(at)) {
    if (count++ > 0) frames += ';';
    std::string frame(trace_.name(at));
    std::replace(frame.begin(), frame.end(), ';', ',');  // `;` separates frames
    frames += frame;
  }
  std::string json;
  wire::append_json_string(json, frames);
  if (bytes_ > kMostBytes) {
    by_frame_.clear();
    bytes_ = 0;
  }
  bytes_ += json.size();
  return by_frame_.emplace(static_cast<std::uint32_t>(innermost), std::move(json)).first->second;
}

}  // namespace tbtrace::chrome
