#include "recorder/window/module_frames.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "recorder/log/record.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

namespace {

class ModuleFrameFinder {
 public:
  explicit ModuleFrameFinder(const Window& window)
      : window_(window), threads_(window.recording().logs().size()) {
    if (const auto& known = window.recording().options().modules) map_ = *known;
  }

  ModuleFrames find() {
    for (const Window::Range& range : window_.ranges()) {
      if (!range.is_async) visit(range);
    }
    // Ranges that a program does not end in the reverse order do not nest.
    for (ModuleFrame& frame : frames_) {
      if (frame.parent < 0) continue;
      const ModuleFrame& around = frames_[static_cast<std::size_t>(frame.parent)];
      frame.end_ticks = std::min(frame.end_ticks, around.end_ticks);
    }
    return {.modules = map_.modules(), .frames = std::move(frames_)};
  }

 private:
  struct OpenRange {
    std::uint64_t end_ticks;
    bool is_backward;
    bool is_module_work;
  };
  struct OpenFrame {
    std::size_t row;  // of frames_
    std::uint32_t module;
    std::size_t depth;  // how many ranges must be open that it is
    bool is_range;      // the module opened it itself
    std::string_view first_name;
    std::uint64_t first_tensor;
  };
  struct Thread {
    std::vector<OpenRange> ranges;
    std::vector<OpenFrame> frames;
  };

  void visit(const Window::Range& range) {
    Thread& thread = threads_[range.log];
    while (!thread.ranges.empty() && thread.ranges.back().end_ticks <= range.start_ticks) {
      thread.ranges.pop_back();
    }
    while (!thread.frames.empty() && thread.frames.back().depth > thread.ranges.size()) {
      thread.frames.pop_back();
    }
    const BeginRecord record = begin_record(range.record);
    OpenRange open{.end_ticks = range.end_ticks, .is_backward = false, .is_module_work = false};
    if (!thread.ranges.empty()) {
      open.is_backward = thread.ranges.back().is_backward;
      open.is_module_work = thread.ranges.back().is_module_work;
    }
    if (record.scope == Scope::module) {
      visit_forward(thread, range, record);
      open.is_module_work = false;
    } else if (!open.is_backward && is_of_backward(record, window_.name(range))) {
      open.is_backward = true;
      thread.frames.resize(first_found(thread));
    } else if (record.module != 0 && !open.is_backward && !open.is_module_work) {
      open_path(thread, path_to(map_.module_of(record.module)), range, record);
      open.is_module_work = true;
    }
    thread.ranges.push_back(open);
  }

  void visit_forward(Thread& thread, const Window::Range& range, const BeginRecord& record) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it tells modules apart, and nothing is read there
    const auto* const instance = reinterpret_cast<const void*>(record.module);
    const std::uint32_t module = map_.add(instance, window_.name(range).text, "");
    std::vector<std::uint32_t> path = path_to(module);
    path.pop_back();
    open_path(thread, path, range, record);
    open_frame(thread, module, range, record);
    OpenFrame& own = thread.frames.back();
    own.is_range = true;
    ++own.depth;  // its own range
    frames_[own.row].end_ticks = range.end_ticks;
  }

  /// From the outermost module inwards.
  std::vector<std::uint32_t> path_to(std::uint32_t module) const {
    std::vector<std::uint32_t> path;
    for (std::int64_t at = module; at >= 0;
         at = map_.modules()[static_cast<std::size_t>(at)].parent) {
      path.push_back(static_cast<std::uint32_t>(at));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  /// Of the thread's frames, the first within the innermost one that is a range.
  static std::size_t first_found(const Thread& thread) {
    std::size_t first = thread.frames.size();
    while (first > 0 && !thread.frames[first - 1].is_range) --first;
    return first;
  }

  /// The frames of the path are open then, and last to the end of the range at least.
  void open_path(Thread& thread, const std::vector<std::uint32_t>& path, const Window::Range& range,
                 const BeginRecord& record) {
    const std::size_t first = first_found(thread);
    auto next = path.begin();
    if (first > 0) {
      const auto around = std::find(path.begin(), path.end(), thread.frames[first - 1].module);
      if (around != path.end()) next = around + 1;
    }
    std::size_t kept = first;
    while (kept < thread.frames.size() && next != path.end()) {
      const OpenFrame& frame = thread.frames[kept];
      const bool begins_again =
          frame.first_name == window_.name(range).text && frame.first_tensor == record.module;
      if (frame.module != *next || begins_again) break;
      ++kept;
      ++next;
    }
    thread.frames.resize(kept);
    for (; next != path.end(); ++next) open_frame(thread, *next, range, record);
    for (std::size_t at = first; at < thread.frames.size(); ++at) {
      const OpenFrame& frame = thread.frames[at];
      // A range that began within the frame ends within it.
      const std::uint64_t end = frame.depth < thread.ranges.size()
                                    ? thread.ranges[frame.depth].end_ticks
                                    : range.end_ticks;
      frames_[frame.row].end_ticks = std::max(frames_[frame.row].end_ticks, end);
    }
  }

  void open_frame(Thread& thread, std::uint32_t module, const Window::Range& range,
                  const BeginRecord& record) {
    const std::int64_t parent =
        thread.frames.empty() ? -1 : static_cast<std::int64_t>(thread.frames.back().row);
    thread.frames.push_back({.row = frames_.size(),
                             .module = module,
                             .depth = thread.ranges.size(),
                             .is_range = false,
                             .first_name = window_.name(range).text,
                             .first_tensor = record.module});
    frames_.push_back({.start_ticks = range.start_ticks,
                       .end_ticks = range.start_ticks,
                       .log = range.log,
                       .module = module,
                       .parent = parent});
  }

  const Window& window_;
  ModuleMap map_;  // those that the recording's map does not know are added
  std::vector<Thread> threads_;
  std::vector<ModuleFrame> frames_;
};

}  // namespace

ModuleFrames find_module_frames(const Window& window) { return ModuleFrameFinder(window).find(); }

}  // namespace tbtrace::recorder
