#include "live/cycle_log.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/threads.h"
#include "chrome/convert/convert_trace.h"
#include "chrome/plugin/row_writer.h"
#include "inputs/log_file_name.h"
#include "io/remedies.h"
#include "live/log_file.h"
#include "live/recorded_summaries.h"
#include "writers/events/event_file.h"

namespace tbtrace {

struct CycleLog::Parts {
  std::string directory;
  std::string worker;
  bool use_gzip = false;
  std::unique_ptr<live::RecordedSummaries> summaries;  ///< nullptr before the first cycle

  Status sum_up(const Trace& cycle) {
    if (!writers::can_write_events().ok()) return {};
    if (summaries == nullptr || summaries->is_forked()) {
      summaries = std::make_unique<live::RecordedSummaries>(directory, worker);
    }
    return summaries->add(cycle);
  }
};

CycleLog::CycleLog(std::string directory, const std::string& worker, bool use_gzip)
    : parts_(new Parts{std::move(directory), inputs::worker_name(worker), use_gzip, nullptr}) {}

CycleLog::~CycleLog() = default;

Result<std::string> CycleLog::add(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(parts_->directory, error);
  if (error && !std::filesystem::is_directory(parts_->directory)) {
    return Status(StatusCode::unwritable_output, "cannot create " + parts_->directory + ": " +
                                                     error.message() + "; " +
                                                     std::string(io::kChooseWritablePlace));
  }
  Result<std::unique_ptr<chrome::TraceConverter>> converter = chrome::TraceConverter::open(
      path, {.threads = thread_count(0), .arguments = logdir::kSummaryArguments});
  if (!converter.ok()) {
    return Status(converter.status().code(), path + ": " + converter.status().message());
  }
  const Trace& cycle = (*converter)->trace();
  Result<std::string> written = live::write_log_file(
      [&](io::ByteSink& sink) { return (*converter)->write(sink).status(); },
      {parts_->directory, parts_->worker, chrome::span_ns(cycle), parts_->use_gzip});
  const Status summed_up = parts_->sum_up(cycle);
  return written.ok() && !summed_up.ok() ? Result<std::string>(summed_up) : written;
}

Status CycleLog::finish() {
  if (parts_->summaries == nullptr || parts_->summaries->is_forked()) return {};
  return parts_->summaries->finish();
}

}  // namespace tbtrace
