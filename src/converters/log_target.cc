#include "converters/log_target.h"

#include <filesystem>

#include "converters/event_logs.h"
#include "converters/plugin_logs.h"
#include "writers/log_file_name.h"

namespace tbtrace::converters {
namespace {

std::string default_worker(const std::string& input, const TraceIdentity& identity) {
  if (input == "-") return "stdin";
  const std::string base = std::filesystem::path(input).filename().string();
  if (const auto name = writers::parse_plugin_name(base)) return name->worker;
  if (!identity.host.empty() && identity.rank) {
    return identity.host + "_" + std::to_string(*identity.rank);
  }
  return writers::trace_stem(base);
}

}  // namespace

std::unique_ptr<LogTarget> log_target(RunStaging& staging, const ConvertOptions& options) {
  switch (options.log.format) {
    case LogFormat::plugin:
      return std::make_unique<PluginLogs>(options);
    case LogFormat::event_files:
      return std::make_unique<EventLogs>(staging, options);
  }
  return nullptr;
}

std::string wanted_worker(const std::string& input, const TraceIdentity& identity,
                          const LogDirectoryOptions& options) {
  return writers::worker_name(options.worker.empty() ? default_worker(input, identity)
                                                     : options.worker);
}

std::string run_name(const std::string& wanted) {
  std::string run;
  for (const std::filesystem::path& part : std::filesystem::path(wanted)) {
    if (part.empty() || part == "/" || part == ".") continue;
    if (!run.empty()) run += '/';
    run += writers::safe_name(part.string());
  }
  return run.empty() ? "traces" : run;
}

}  // namespace tbtrace::converters
