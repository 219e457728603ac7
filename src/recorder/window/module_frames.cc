#include "recorder/window/module_frames.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
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
    if (map_.has_scripts()) has_script_frame_.resize(window_.ranges().size());
    for (std::size_t row = 0; row < window_.ranges().size(); ++row) {
      const Window::Range range = window_.ranges()[row];
      if (!range.is_async && visit(range)) has_script_frame_[row] = true;
    }
    // Ranges that a program does not end in the reverse order do not nest.
    for (ModuleFrame& frame : frames_) {
      if (frame.parent < 0) continue;
      const ModuleFrame& around = frames_[static_cast<std::size_t>(frame.parent)];
      frame.end_ticks = std::min(frame.end_ticks, around.end_ticks);
    }
    return {.modules = map_.modules(),
            .frames = std::move(frames_),
            .has_script_frame = std::move(has_script_frame_)};
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
    bool is_range;      // the module opened it itself, or it is a call of TorchScript
    bool is_script;
    std::string_view first_name;
    std::uint64_t first_tensor;
  };
  struct Thread {
    std::vector<OpenRange> ranges;
    std::vector<OpenFrame> frames;
  };

  /// Whether it is in a frame that was found by its TorchScript modules.
  bool visit(const Window::Range& range) {
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
    bool is_script = false;
    if (record.scope == Scope::module) {
      visit_forward(thread, range, record);
      open.is_module_work = false;
    } else if (record.scope == Scope::torchscript_function) {
      if (record.module != 0 && !open.is_backward) visit_script(thread, range, record);
      is_script = is_in_script(thread);
    } else if (is_in_script(thread) && !open.is_backward &&
               record.script_modules != NameNumber::none) {
      is_script = true;
      if (!open.is_module_work)
        open_path(thread, script_path(thread, range, record), range, record);
      open.is_module_work = true;
    } else if (!open.is_backward && is_of_backward(record, window_.name(range))) {
      open.is_backward = true;
      thread.frames.resize(first_found(thread));
    } else if (record.module != 0 && !open.is_backward && !open.is_module_work) {
      open_path(thread, path_to(map_.module_of(record.module, window_.name(range).text)), range,
                record);
      open.is_module_work = true;
    }
    thread.ranges.push_back(open);
    return is_script;
  }

  void visit_forward(Thread& thread, const Window::Range& range, const BeginRecord& record) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it tells modules apart, and nothing is read there
    const auto* const instance = reinterpret_cast<const void*>(record.module);
    const std::uint32_t module = map_.add(instance, window_.name(range).text, "");
    open_call(thread, module, range, record);
  }

  /// A call of a module makes ranges within each other.
  void visit_script(Thread& thread, const Window::Range& range, const BeginRecord& record) {
    const auto module = static_cast<std::uint32_t>(record.module - 1);
    if (is_in_script(thread) && thread.frames[first_found(thread) - 1].module == module) return;
    open_call(thread, module, range, record);
    thread.frames.back().is_script = true;
  }

  /// The frame of the module is the range.
  void open_call(Thread& thread, std::uint32_t module, const Window::Range& range,
                 const BeginRecord& record) {
    std::vector<std::uint32_t> path = path_to(module);
    path.pop_back();
    open_path(thread, path, range, record);
    open_frame(thread, module, range, record);
    OpenFrame& own = thread.frames.back();
    own.is_range = true;
    ++own.depth;  // its own range
    frames_[own.row].end_ticks = range.end_ticks;
  }

  static bool is_in_script(const Thread& thread) {
    const std::size_t first = first_found(thread);
    return first > 0 && thread.frames[first - 1].is_script;
  }

  /// By what the interpreter says of the operator, `TOP(Net)::forward.conv(Conv2d)::forward.`,
  /// where `TOP` is the module that is called.
  const std::vector<std::uint32_t>& script_path(const Thread& thread, const Window::Range& range,
                                                const BeginRecord& record) {
    const std::uint32_t called = thread.frames[first_found(thread) - 1].module;
    const auto [known, is_new] =
        script_paths_.try_emplace({called, range.log, record.script_modules});
    if (is_new) {
      known->second = path_to(part_of(called, window_.text(range, record.script_modules).text));
    }
    return known->second;
  }

  std::uint32_t part_of(std::uint32_t module, std::string_view text) {
    while (!text.empty()) {
      int depth = 0;
      std::size_t end = 0;
      for (; end < text.size() && (text[end] != '.' || depth > 0); ++end) {
        if (text[end] == '(') ++depth;
        if (text[end] == ')' && depth > 0) --depth;
      }
      const std::string_view level = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::size_t open = level.find('(');
      const std::size_t close = level.find(')', std::min(open, level.size()));
      // Functions have no class; SELF is another method of the same module.
      if (close == std::string_view::npos) continue;
      const std::string_view name = level.substr(0, open);
      const std::string_view type = level.substr(open + 1, close - open - 1);
      if (name.empty() || name == "TOP" || name == "SELF") continue;
      module = map_.part(module, std::string(name), std::string(type));
    }
    return module;
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
      const bool begins_again = record.module != 0 && frame.first_tensor == record.module &&
                                frame.first_name == window_.name(range).text;
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
                             .is_script = false,
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
  std::vector<bool> has_script_frame_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, NameNumber>, std::vector<std::uint32_t>>
      script_paths_;  // by the module that is called, the log and its text
};

}  // namespace

ModuleFrames find_module_frames(const Window& window) { return ModuleFrameFinder(window).find(); }

}  // namespace tbtrace::recorder
