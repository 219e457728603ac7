#include "converters/event_logs.h"

#include <utility>

#include "converters/convert_trace.h"
#include "dialects/row_writer.h"
#include "writers/log_file_name.h"

namespace tbtrace::converters {

class EventLogs::Input final : public LogInput {
 public:
  Input(EventLogs& logs, std::string path, std::unique_ptr<TraceConverter> converter)
      : logs_(logs),
        path_(std::move(path)),
        converter_(std::move(converter)),
        window_(converter_->trace(), logs.options_.log.infer_steps) {}

  const Trace& trace() const override { return converter_->trace(); }
  const std::vector<Issue>& issues() const override { return converter_->issues(); }

  LogPlace name(LogFile& file) override {
    file.span = dialects::span_ns(trace());
    const std::string wanted = wanted_worker(path_, trace().identity(), logs_.options_.log);
    for (int number = 1;; ++number) {
      file.worker = number == 1 ? wanted : writers::numbered_worker(wanted, number);
      place_.folder = file.run + "/" + file.worker;
      const std::string key = place_.folder + "/" + std::to_string(file.span);
      if (!logs_.taken_.insert(key).second) continue;
      worker_ = file.worker;
      span_ = file.span;
      place_.name = logs_.run_in(place_.folder).name(worker_, span_);
      return place_;
    }
  }

  LogPlace take_place() override {
    const std::string name = window_.take_place(logs_.run_in(place_.folder), worker_, span_);
    place_.twins = {details_file_name(place_.name)};
    if (name != place_.name) place_.twins.push_back(std::exchange(place_.name, name));
    return place_;
  }

  Result<Changes> write(io::ByteSink& sink) override {
    const bool keeps = window_.keeps_details();
    Result<Changes> changes = window_.write(sink, keeps);
    if (!changes.ok()) return changes;
    LastWindow written = {.name = place_.name, .wall_time = window_.start()};
    if (!keeps) written.details = window_.details();
    logs_.was_written(place_, std::move(written));
    return changes;
  }

 private:
  EventLogs& logs_;
  std::string path_;
  std::unique_ptr<TraceConverter> converter_;
  EventWindow window_;
  LogPlace place_;
  std::string worker_;
  std::int64_t span_ = 0;
};

EventRun& EventLogs::run_in(const std::string& folder) {
  const auto found = runs_.find(folder);
  if (found != runs_.end()) return found->second;
  return runs_.try_emplace(folder, staging_.files(folder)).first->second;
}

void EventLogs::was_written(const LogPlace& place, LastWindow window) {
  const std::lock_guard lock(mutex_);
  LastWindow& last = last_windows_[place.folder];
  if (last.name < window.name) last = std::move(window);
}

Status EventLogs::finish(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto last = last_windows_.find(folder);
  if (last == last_windows_.end() || !last->second.details) return {};
  const std::string name = details_file_name(last->second.name);
  if (!options_.log.overwrite && staging_.exists(folder, name)) return {};
  const Result<std::string> place = staging_.place(folder, name);
  if (!place.ok()) return place.status();
  Result<std::unique_ptr<io::ByteSink>> sink = io::create_file(*place, options_.log.overwrite);
  if (!sink.ok()) return sink.status();
  return write_details(*last->second.details, last->second.wall_time, **sink);
}

Result<std::unique_ptr<LogInput>> EventLogs::open(const std::string& path, int threads) {
  Result<std::unique_ptr<TraceConverter>> converter =
      TraceConverter::open(path, {.strict = options_.strict, .threads = threads});
  if (!converter.ok()) return converter.status();
  return std::unique_ptr<LogInput>(std::make_unique<Input>(*this, path, *std::move(converter)));
}

}  // namespace tbtrace::converters
