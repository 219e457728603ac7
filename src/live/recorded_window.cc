#include "live/recorded_window.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "chrome/convert/convert_trace.h"
#include "chrome/kineto/rows.h"
#include "io/sink.h"
#include "logdir/profile_summaries.h"
#include "readers/chrome/replay.h"
#include "recorder/window/head.h"
#include "recorder/window/rows.h"
#include "recorder/window/window.h"
#include "trace/step_names.h"
#include "trace/trace_builder.h"

namespace tbtrace::live {

namespace {

template <typename Answer>
Answer within_memory(auto&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return out_of_memory(1);
  }
}

TraceBuilder builder_of(const recorder::Window& window) {
  TraceBuilder builder;
  for (const auto& [key, json] : recorder::trace_members(window)) builder.set_metadata(key, json);
  return builder;
}

Trace trace_of(const recorder::Window& window, const recorder::RowRequest& request) {
  TraceBuilder builder = builder_of(window);
  builder.set_arguments_read(request.arguments | ArgumentSet{ArgumentGroup::steps});
  recorder::pass_rows(window, request, builder);
  return std::move(builder).finish();
}

/// When the last so many seconds began, in the ticks of the process that recorded.
std::uint64_t start_of_last(const recorder::Recording& recording, double seconds) {
  const recorder::ClockSample& start = recording.started();
  const recorder::ClockSample& end = recording.ended();
  const double ns = seconds * 1e9;
  if (end.steady_ns <= start.steady_ns ||
      ns >= static_cast<double>(end.steady_ns - start.steady_ns))
    return start.ticks;
  const double ticks = ns * static_cast<double>(end.ticks - start.ticks) /
                       static_cast<double>(end.steady_ns - start.steady_ns);
  return end.ticks - static_cast<std::uint64_t>(ticks);
}

/// From the begin of the first of the steps to the end of the last one; nothing if the window has
/// none of them.
std::optional<recorder::Window::Part> ticks_of(const recorder::Window& window,
                                               const StepRange& steps) {
  std::optional<recorder::Window::Part> part;
  for (const recorder::Window::Range& range : window.ranges()) {
    const auto number = step_number(window.name(range).text);
    if (!number || *number < steps.first || *number > steps.last) continue;
    if (!part) part = recorder::Window::Part{.from = range.start_ticks, .to = range.end_ticks};
    part->from = std::min(*part->from, range.start_ticks);
    part->to = std::max(*part->to, range.end_ticks);
  }
  return part;
}

/// All rows with their members, as files have them.
Status replay(const recorder::Window& window, readers::BlockSinks& sinks) {
  readers::WholeReplay rows(sinks);
  recorder::pass_rows(window,
                      {.arguments = {},
                       .overloads = false,
                       .members = true,
                       .flow_members = sinks.takes_flows(),
                       .left_out = sinks.left_out()},
                      rows);
  return rows.failure();
}

class WindowRows final : public chrome::RowInput {
 public:
  explicit WindowRows(std::shared_ptr<const recorder::Window> window)
      : window_(std::move(window)) {}

  Result<Trace> read(const ReadOptions& options) override {
    return trace_of(*window_, {.arguments = options.arguments, .overloads = false});
  }
  Status replay(readers::BlockSinks& sinks, int /*threads*/) override {
    return live::replay(*window_, sinks);
  }

 private:
  std::shared_ptr<const recorder::Window> window_;
};

/// A window on its way into a file and summaries: what both need is made once.
class Export {
 public:
  Export(std::shared_ptr<const recorder::Recording> recording, Dialect dialect)
      : Export(std::make_shared<const recorder::Window>(std::move(recording)), dialect) {}
  Export(std::shared_ptr<const recorder::Window> window, Dialect dialect)
      : window_(std::move(window)),
        is_plain_(dialect == Dialect::kineto && !window_->ranges_may_cross()),
        dialect_(dialect) {}

  Status write(io::ByteSink& sink) {
    if (is_plain_) return write_plain(sink);
    if (Status opened = open(); !opened.ok()) return opened;
    return converter_->write(sink).status();
  }

  Status add_to(RecordedSummaries& summaries) {
    if (Status opened = open(); !opened.ok()) return opened;
    return summaries.add(converter_->trace());
  }

 private:
  /// Rows that need no repair are written without a model, which takes more memory than they do.
  Status write_plain(io::ByteSink& sink) const {
    const Trace head = builder_of(*window_).finish();
    chrome::KinetoDocument document(head, sink);
    if (Status begun = document.begin(); !begun.ok()) return begun;
    if (Status written = live::replay(*window_, document); !written.ok()) return written;
    if (Status ended = document.end(); !ended.ok()) return ended;
    return sink.close();
  }

  Status open() {
    if (converter_ != nullptr) return {};
    Result<std::unique_ptr<chrome::TraceConverter>> converter =
        chrome::TraceConverter::open(std::make_unique<WindowRows>(window_),
                                     {.dialect = dialect_, .arguments = logdir::kSummaryArguments});
    if (!converter.ok()) return converter.status();
    converter_ = *std::move(converter);
    return {};
  }

  std::shared_ptr<const recorder::Window> window_;
  bool is_plain_;
  Dialect dialect_;
  std::unique_ptr<chrome::TraceConverter> converter_;
};

}  // namespace

Result<Trace> read_recording(std::shared_ptr<const recorder::Recording> recording,
                             const recorder::RowRequest& request) {
  return within_memory<Result<Trace>>(
      [&] { return trace_of(recorder::Window(std::move(recording)), request); });
}

Status write_recording(std::shared_ptr<const recorder::Recording> recording,
                       const std::string& path, Dialect dialect, bool overwrite) {
  if (Status place = io::check_place(path, overwrite); !place.ok()) return place;
  return within_memory<Status>([&] {
    Export window(std::move(recording), dialect);
    return write_file([&](io::ByteSink& sink) { return window.write(sink); }, path,
                      path.ends_with(".gz"), overwrite);
  });
}

Result<WrittenWindow> write_log_file(std::shared_ptr<const recorder::Recording> recording,
                                     const LogFileName& name, Dialect dialect,
                                     RecordedSummaries* summaries) {
  return within_memory<Result<WrittenWindow>>([&]() -> Result<WrittenWindow> {
    Export window(std::move(recording), dialect);
    Result<std::string> path =
        write_log_file([&](io::ByteSink& sink) { return window.write(sink); }, name);
    if (!path.ok()) return path.status();
    WrittenWindow written{.path = *std::move(path), .summaries = {}};
    if (summaries != nullptr) written.summaries = window.add_to(*summaries);
    return written;
  });
}

Result<RecoveredFile> write_recovered(std::shared_ptr<const recorder::Recording> recording,
                                      LogFileName name, Dialect dialect, const RecoveredPart& part,
                                      bool overwrite) {
  return within_memory<Result<RecoveredFile>>([&]() -> Result<RecoveredFile> {
    auto window = std::make_shared<const recorder::Window>(recording);
    if (part.steps || part.last_seconds > 0) {
      recorder::Window::Part ticks;
      if (part.steps) {
        const auto found = ticks_of(*window, *part.steps);
        if (!found) return RecoveredFile();
        ticks = *found;
      }
      if (part.last_seconds > 0) {
        const std::uint64_t from = start_of_last(*recording, part.last_seconds);
        ticks.from = std::max(ticks.from.value_or(from), from);
      }
      window = std::make_shared<const recorder::Window>(recording, ticks);
    }
    const bool is_part = part.steps || part.last_seconds > 0;
    name.time_ns = window->end_ns() + (is_part ? 1 : 0);
    RecoveredFile file{.path = path_of(name),
                       .start_ns = window->start_ns(),
                       .end_ns = window->end_ns(),
                       .unfinished_ranges = window->unfinished_ranges()};
    std::error_code error;
    const bool is_there = std::filesystem::exists(file.path, error);
    if (is_there && !overwrite && !is_part) {
      file.was_there = true;
      return file;
    }
    Export rows(window, dialect);
    const auto write = [&](io::ByteSink& sink) { return rows.write(sink); };
    if (is_there && overwrite) {
      if (Status written = write_file(write, file.path, name.use_gzip, true); !written.ok()) {
        return Status(written.code(), file.path + ": " + written.message());
      }
      return file;
    }
    Result<std::string> path = write_log_file(write, name);
    if (!path.ok()) return path.status();
    file.path = *std::move(path);
    return file;
  });
}

}  // namespace tbtrace::live
