#include "converters/plugin_logs.h"

#include <utility>

#include "converters/convert_trace.h"
#include "dialects/row_writer.h"
#include "writers/log_file_name.h"

namespace tbtrace::converters {

class PluginLogs::Input final : public LogInput {
 public:
  Input(PluginLogs& logs, std::string path, std::unique_ptr<TraceConverter> converter)
      : logs_(logs), path_(std::move(path)), converter_(std::move(converter)) {}

  const Trace& trace() const override { return converter_->trace(); }
  const std::vector<Issue>& issues() const override { return converter_->issues(); }

  LogPlace name(LogFile& file) override {
    const LogDirectoryOptions& log = logs_.options_.log;
    file.span = dialects::span_ns(trace());
    const std::string wanted = wanted_worker(path_, trace().identity(), logs_.options_.log);
    for (int number = 1;; ++number) {
      file.worker = number == 1 ? wanted : writers::numbered_worker(wanted, number);
      const auto name = [&](bool use_gzip) {
        return writers::log_file_name(file.worker, file.span, use_gzip);
      };
      if (!logs_.names_.insert(file.run + "/" + name(false)).second) continue;
      // The plugin takes a file and its compressed twin for one.
      place_ = {.folder = file.run, .name = name(log.use_gzip), .twins = {name(!log.use_gzip)}};
      return place_;
    }
  }
  LogPlace take_place() override { return place_; }

  Result<Changes> write(io::ByteSink& sink) override { return converter_->write(sink); }

 private:
  PluginLogs& logs_;
  std::string path_;
  std::unique_ptr<TraceConverter> converter_;
  LogPlace place_;
};

Result<std::unique_ptr<LogInput>> PluginLogs::open(const std::string& path, int threads) {
  Result<std::unique_ptr<TraceConverter>> converter =
      TraceConverter::open(path, {.dialect = options_.log.dialect,
                                  .infer_steps = options_.log.infer_steps,
                                  .strict = options_.strict,
                                  .threads = threads});
  if (!converter.ok()) return converter.status();
  return std::unique_ptr<LogInput>(std::make_unique<Input>(*this, path, *std::move(converter)));
}

}  // namespace tbtrace::converters
