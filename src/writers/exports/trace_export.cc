#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tbtrace/trace_export.h>

#include "base/bounded_sum.h"
#include "io/sink.h"
#include "io/text_sink.h"
#include "trace/event_batch.h"
#include "writers/exports/exported_trace.h"
#include "writers/exports/formats.h"

namespace tbtrace {
namespace {

/// Counts the bytes on their way.
class CountingSink final : public io::ByteSink {
 public:
  explicit CountingSink(std::unique_ptr<io::ByteSink> sink) : sink_(std::move(sink)) {}
  Status write(std::string_view bytes) override {
    bytes_ += bytes.size();
    return sink_->write(bytes);
  }
  Status close() override { return sink_->close(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<io::ByteSink> sink_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

struct TraceExport::Parts {
  Parts(std::unique_ptr<io::ByteSink> output, std::unique_ptr<writers::Exporter> made)
      : sink(std::move(output)), out(sink), exporter(std::move(made)) {}

  CountingSink sink;
  io::TextSink out;
  std::unique_ptr<writers::Exporter> exporter;
  ExportReport report;
  std::optional<std::int64_t> starts_ns;  // the first trace, since 1970
};

TraceExport::TraceExport(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TraceExport::TraceExport(TraceExport&&) noexcept = default;
TraceExport& TraceExport::operator=(TraceExport&&) noexcept = default;
TraceExport::~TraceExport() = default;

Result<TraceExport> TraceExport::create(const std::string& path, ExportFormat format,
                                        bool overwrite) {
  auto output = io::open_output(path, {.overwrite = overwrite});
  if (!output.ok()) return output.status();
  std::unique_ptr<io::ByteSink> sink = *std::move(output);
  if (writers::is_always_compressed(format) && !path.ends_with(".gz")) {
    sink = io::gzip_sink(std::move(sink));
  }
  return TraceExport(std::make_unique<Parts>(std::move(sink), writers::make_exporter(format)));
}

Status TraceExport::add(const Trace& trace, const std::string& name) {
  writers::ExportedTrace exported(trace, name);
  ExportReport& report = parts_->report;
  // Beside others, a trace whose clock is not known begins with the first one.
  if (!exported.wall_ns && parts_->starts_ns) {
    exported.wall_ns = bounded(WideInteger{*parts_->starts_ns} - exported.first_ns);
  }
  if (exported.wall_ns && !parts_->starts_ns) {
    parts_->starts_ns = bounded_sum(*exported.wall_ns, exported.first_ns);
  }
  const std::uint64_t counted = report.counter_values;
  const std::uint64_t instants = report.instants;
  if (Status added = parts_->exporter->add(exported, parts_->out, report); !added.ok()) {
    return added;
  }
  ++report.traces;
  std::uint64_t values = 0;
  for (const writers::ExportedCounter& each : exported.counters) values += each.values.size();
  const auto leave_out = [&](const char* what, std::uint64_t all, std::uint64_t written) {
    if (all > written) report.left_out[what] += all - written;
  };
  leave_out("values of counters and of memory", values, report.counter_values - counted);
  leave_out("instants", instants_of(trace).size(), report.instants - instants);
  // Says whether writing has failed.
  return parts_->out.flow() ? Status() : parts_->out.finish();
}

Result<ExportReport> TraceExport::finish() {
  if (Status ended = parts_->exporter->finish(parts_->out, parts_->report); !ended.ok()) {
    return ended;
  }
  if (Status written = parts_->out.finish(); !written.ok()) return written;
  if (Status closed = parts_->sink.close(); !closed.ok()) return closed;
  parts_->report.bytes = parts_->sink.bytes();
  return std::move(parts_->report);
}

Result<ExportReport> export_trace(const Trace& trace, const std::string& path, ExportFormat format,
                                  bool overwrite) {
  auto file = TraceExport::create(path, format, overwrite);
  if (!file.ok()) return file.status();
  if (Status added = file->add(trace, {}); !added.ok()) return added;
  return file->finish();
}

}  // namespace tbtrace
