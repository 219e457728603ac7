#include "logdir/log_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "inputs/log_file_name.h"
#include "logdir/plugin_logs.h"
#include "logdir/summary_logs.h"

namespace tbtrace::logdir {
namespace {

std::string default_worker(const std::string& input, const TraceIdentity& identity) {
  if (input == "-") return "stdin";
  const std::string base = std::filesystem::path(input).filename().string();
  if (const auto name = inputs::parse_plugin_name(base)) return name->worker;
  if (!identity.host.empty() && identity.rank) {
    return identity.host + "_" + std::to_string(*identity.rank);
  }
  return inputs::trace_stem(base);
}

}  // namespace

Result<std::unique_ptr<LogInput>> LogFiles::open(const std::string& path, int threads) const {
  Result<std::unique_ptr<LogInput>> input = read(path, threads);
  if (!input.ok()) return input;
  for (const auto& kind : kinds_) {
    (*input)->add(kind->output(path, (*input)->trace(), (*input)->converter()));
  }
  return input;
}

std::vector<std::string> LogFiles::folders_left(const std::string& run) const {
  std::vector<std::string> folders;
  for (const auto& kind : kinds_) {
    for (std::string& folder : kind->folders_left(run)) folders.push_back(std::move(folder));
  }
  return folders;
}

Status LogFiles::finish(const std::string& folder) const {
  Status first_failure;
  for (const auto& kind : kinds_) {
    Status finished = kind->finish(folder);
    if (first_failure.ok()) first_failure = std::move(finished);
  }
  return first_failure;
}

Result<std::unique_ptr<LogInput>> LogFiles::read(const std::string& path, int threads) const {
  ArgumentSet arguments;
  for (const auto& kind : kinds_) arguments = arguments | kind->arguments();
  if (std::any_of(kinds_.begin(), kinds_.end(), [](auto& kind) { return kind->rewrites(); })) {
    Result<std::unique_ptr<chrome::TraceConverter>> converter =
        chrome::TraceConverter::open(path, {.dialect = options_.log.dialect,
                                            .infer_steps = options_.log.infer_steps,
                                            .strict = options_.strict,
                                            .threads = threads,
                                            .arguments = arguments});
    if (!converter.ok()) return converter.status();
    if (Status merged = (*converter)->trace().check_not_merged(); !merged.ok()) return merged;
    return std::make_unique<LogInput>(*std::move(converter));
  }
  Result<Trace> trace =
      read_trace(path, {.threads = threads, .strict = options_.strict, .arguments = arguments});
  if (!trace.ok()) return trace.status();
  if (Status merged = trace->check_not_merged(); !merged.ok()) return merged;
  return std::make_unique<LogInput>(*std::move(trace));
}

std::vector<std::unique_ptr<LogKind>> log_kinds(RunStaging& staging,
                                                const ConvertOptions& options) {
  const LogFormat format = options.log.format;
  std::vector<std::unique_ptr<LogKind>> kinds;
  if (format != LogFormat::event_files) kinds.push_back(std::make_unique<PluginLogs>(options));
  if (format != LogFormat::plugin) kinds.push_back(std::make_unique<SummaryLogs>(staging, options));
  return kinds;
}

std::string wanted_worker(const std::string& input, const TraceIdentity& identity,
                          const LogDirectoryOptions& options) {
  return inputs::worker_name(options.worker.empty() ? default_worker(input, identity)
                                                    : options.worker);
}

std::string event_folder(const std::string& run, const std::string& worker) {
  const std::string last = run.substr(run.rfind('/') + 1);
  return last == worker ? run : run + "/" + worker;
}

std::string run_name(const std::string& wanted) {
  std::string run;
  for (const std::filesystem::path& part : std::filesystem::path(wanted)) {
    if (part.empty() || part == "/" || part == ".") continue;
    if (!run.empty()) run += '/';
    run += inputs::safe_name(part.string());
  }
  return run.empty() ? "traces" : run;
}

}  // namespace tbtrace::logdir
