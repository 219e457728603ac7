#include "logdir/summary_logs.h"

#include <utility>

#include "chrome/plugin/row_writer.h"
#include "inputs/log_file_name.h"

namespace tbtrace::logdir {

class SummaryLogs::Output final : public LogOutput {
 public:
  Output(SummaryLogs& logs, std::string path, const Trace& trace)
      : logs_(logs),
        path_(std::move(path)),
        trace_(trace),
        window_(trace, logs.options_.log.infer_steps) {}

  LogPlace name(LogFile& file) override {
    file.span = chrome::span_ns(trace_);
    const std::string wanted = wanted_worker(path_, trace_.identity(), logs_.options_.log);
    for (int number = 1;; ++number) {
      file.worker = number == 1 ? wanted : inputs::numbered_worker(wanted, number);
      place_.folder = event_folder(file.run, file.worker);
      const std::string key = place_.folder + "/" + std::to_string(file.span);
      if (!logs_.taken_.insert(key).second) continue;
      worker_ = file.worker;
      span_ = file.span;
      SummaryRun& run = logs_.run_in(place_.folder);
      place_.name = run.name(worker_, span_);
      lacks_details_ = run.needs_details_beside(place_.name) &&
                       !logs_.staging_.exists(place_.folder, details_file_name(place_.name));
      if (lacks_details_) window_.take_steps_of(run, place_.name);
      return place_;
    }
  }

  Result<LogPlace> take_place() override {
    if (Status free = logs_.staging_.check_lock(place_.folder); !free.ok()) return free;
    const std::string name = window_.take_place(logs_.run_in(place_.folder), worker_, span_);
    if (window_.bears_layout()) logs_.layout_is_due(place_.folder);
    place_.twins = {details_file_name(place_.name)};
    if (name != place_.name) place_.twins.push_back(std::exchange(place_.name, name));
    return place_;
  }

  // A killed call may have written the last window without its details.
  void left_alone() override {
    LastWindow window = {.name = place_.name, .wall_time = window_.start()};
    if (lacks_details_) window.details = window_.details();
    logs_.was_written(place_, std::move(window), false);
  }

  Result<Changes> write(io::ByteSink& sink) override {
    const bool keeps = window_.keeps_details();
    Result<Changes> changes = window_.write(sink, keeps);
    if (!changes.ok()) return changes;
    LastWindow written = {
        .name = place_.name, .about_run = window_.about_run(), .wall_time = window_.start()};
    if (!keeps) written.details = window_.details();
    logs_.was_written(place_, std::move(written), window_.bears_layout());
    return changes;
  }

 private:
  SummaryLogs& logs_;
  std::string path_;
  const Trace& trace_;
  SummaryWindow window_;
  LogPlace place_;
  std::string worker_;
  std::int64_t span_ = 0;
  bool lacks_details_ = false;  // the file exists, but its details file does not
};

ArgumentSet SummaryLogs::arguments() const { return kSummaryArguments; }

std::unique_ptr<LogOutput> SummaryLogs::output(const std::string& path, const Trace& trace,
                                               chrome::TraceConverter* /*converter*/) {
  return std::make_unique<Output>(*this, path, trace);
}

SummaryRun& SummaryLogs::run_in(const std::string& folder) {
  const auto found = runs_.find(folder);
  if (found != runs_.end()) return found->second;
  return runs_.try_emplace(folder, staging_.files(folder)).first->second;
}

void SummaryLogs::layout_is_due(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  folders_[folder].layout = Layout::due;
}

void SummaryLogs::was_written(const LogPlace& place, LastWindow window, bool bears_layout) {
  const std::lock_guard lock(mutex_);
  Folder& folder = folders_[place.folder];
  if (bears_layout) folder.layout = Layout::written;
  if (folder.last.name < window.name) folder.last = std::move(window);
}

SummaryLogs::Folder SummaryLogs::take_folder(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  auto found = folders_.extract(folder);
  return found.empty() ? Folder() : std::move(found.mapped());
}

Status SummaryLogs::finish(const std::string& folder) {
  const Folder of_call = take_folder(folder);
  const LastWindow& last = of_call.last;
  // The window that should contain the layout may have failed.
  std::string records = of_call.layout == Layout::due ? last.about_run : std::string();
  if (last.details) records += last.details->records();
  if (records.empty()) return {};
  const std::string name = details_file_name(last.name);
  if (!options_.log.overwrite && staging_.exists(folder, name)) return {};
  const Result<std::string> place = staging_.place(folder, name);
  if (!place.ok()) return place.status();
  Result<std::unique_ptr<io::ByteSink>> sink =
      io::create_file(*place, {.overwrite = options_.log.overwrite, .durable = true});
  if (!sink.ok()) return sink.status();
  return write_beside(records, last.wall_time, **sink);
}

}  // namespace tbtrace::logdir
