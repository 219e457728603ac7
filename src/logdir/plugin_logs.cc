#include "logdir/plugin_logs.h"

#include <utility>

#include "chrome/plugin/row_writer.h"
#include "inputs/log_file_name.h"

namespace tbtrace::logdir {

class PluginLogs::Output final : public LogOutput {
 public:
  Output(PluginLogs& logs, std::string path, chrome::TraceConverter& converter)
      : logs_(logs), path_(std::move(path)), converter_(converter) {}

  LogPlace name(LogFile& file) override {
    const LogDirectoryOptions& log = logs_.options_.log;
    file.span = chrome::span_ns(converter_.trace());
    const std::string wanted = wanted_worker(path_, converter_.trace().identity(), log);
    for (int number = 1;; ++number) {
      file.worker = number == 1 ? wanted : inputs::numbered_worker(wanted, number);
      const auto name = [&](bool use_gzip) {
        return inputs::log_file_name(file.worker, file.span, use_gzip);
      };
      if (!logs_.names_.insert(file.run + "/" + name(false)).second) continue;
      // The plugin takes a file and its compressed twin for the same one.
      place_ = {.folder = file.run,
                .name = name(log.use_gzip),
                .use_gzip = log.use_gzip,
                .twins = {name(!log.use_gzip)}};
      return place_;
    }
  }
  Result<LogPlace> take_place() override { return place_; }

  Result<Changes> write(io::ByteSink& sink) override { return converter_.write(sink); }

 private:
  PluginLogs& logs_;
  std::string path_;
  chrome::TraceConverter& converter_;
  LogPlace place_;
};

std::unique_ptr<LogOutput> PluginLogs::output(const std::string& path, const Trace& /*trace*/,
                                              chrome::TraceConverter* converter) {
  return std::make_unique<Output>(*this, path, *converter);
}

}  // namespace tbtrace::logdir
