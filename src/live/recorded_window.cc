#include "live/recorded_window.h"

#include <new>
#include <utility>

#include "base/utf8.h"
#include "chrome/convert/convert_trace.h"
#include "io/rereadable.h"
#include "io/sink.h"
#include "readers/formats/format.h"
#include "recorder/window/head.h"
#include "recorder/window/rows.h"
#include "recorder/window/text.h"
#include "recorder/window/window.h"
#include "trace/trace_builder.h"

namespace tbtrace::live {

namespace {

class RecordedText final : public io::Rereadable {
 public:
  explicit RecordedText(std::shared_ptr<const recorder::Window> window)
      : window_(std::move(window)) {}

  std::unique_ptr<io::ByteSource> source() const override {
    return std::make_unique<recorder::WindowText>(window_);
  }
  bool has_changed() const override { return false; }

 private:
  std::shared_ptr<const recorder::Window> window_;
};

std::unique_ptr<io::Rereadable> recorded_text(
    std::shared_ptr<const recorder::Recording> recording) {
  return std::make_unique<RecordedText>(
      std::make_shared<const recorder::Window>(std::move(recording)));
}

}  // namespace

Result<Trace> read_recording(std::shared_ptr<const recorder::Recording> recording) {
  try {
    const recorder::Window window(std::move(recording));
    TraceBuilder builder;
    for (const auto& [key, json] : recorder::trace_members(window)) {
      builder.set_metadata(is_utf8(key) ? key : to_utf8(key), json);
    }
    recorder::pass_rows(window, builder);
    return std::move(builder).finish();
  } catch (const std::bad_alloc&) {
    return out_of_memory(1);
  }
}

Result<Trace> read_recorded_text(std::shared_ptr<const recorder::Recording> recording,
                                 const ReadOptions& options) {
  try {
    Result<readers::Reading> reading =
        readers::read_source(recorded_text(std::move(recording))->source(), options);
    if (!reading.ok()) return reading.status();
    return std::move(reading->trace);
  } catch (const std::bad_alloc&) {
    return out_of_memory(1);
  }
}

Status write_recording(std::shared_ptr<const recorder::Recording> recording,
                       const std::string& path, Dialect dialect, bool overwrite) {
  if (Status place = io::check_place(path, overwrite); !place.ok()) return place;
  Result<std::unique_ptr<chrome::TraceConverter>> converter =
      chrome::TraceConverter::open(recorded_text(std::move(recording)), {.dialect = dialect});
  if (!converter.ok()) return converter.status();
  return write_converted(**converter, path, path.ends_with(".gz"), overwrite);
}

Result<WrittenWindow> write_log_file(std::shared_ptr<const recorder::Recording> recording,
                                     const LogFileName& name, Dialect dialect,
                                     RecordedSummaries* summaries) {
  Result<std::unique_ptr<chrome::TraceConverter>> converter =
      chrome::TraceConverter::open(recorded_text(std::move(recording)), {.dialect = dialect});
  if (!converter.ok()) return converter.status();
  Result<std::string> path = write_log_file(**converter, name);
  if (!path.ok()) return path.status();
  WrittenWindow written{.path = *std::move(path), .summaries = {}};
  if (summaries != nullptr) written.summaries = summaries->add((*converter)->trace());
  return written;
}

}  // namespace tbtrace::live
