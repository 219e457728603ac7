#include "logdir/summary_run.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "wire/tfrecord.h"
#include "writers/events/messages.h"

namespace tbtrace::logdir {
namespace {

constexpr std::string_view kWindowEnding = ".0";
constexpr std::string_view kDetailsEnding = ".1";

std::string with_ending(std::string_view name, std::string_view ending, std::string_view other) {
  name.remove_suffix(ending.size());
  return std::string(name).append(other);
}

std::string first_record(double wall_time) {
  std::string records;
  wire::append_record(records, writers::file_version_event(wall_time));
  return records;
}

Status write_all(io::ByteSink& sink, std::string_view records) {
  Status written = sink.write(records);
  return written.ok() ? sink.close() : written;
}

}  // namespace

SummaryRun::SummaryRun(const std::map<std::string, std::filesystem::path>& files) {
  for (const auto& [name, path] : files) {
    // A file with the last window's details belongs to the window's file.
    const bool belongs = name.ends_with(kDetailsEnding) &&
                         files.contains(with_ending(name, kDetailsEnding, kWindowEnding));
    if (writers::is_event_file(name) && !belongs) files_.emplace(name, File{path, {}, {}});
  }
}

std::string SummaryRun::name(const std::string& worker, std::int64_t span) const {
  const std::string ending = "." + worker + "." + std::to_string(span) + std::string(kWindowEnding);
  for (const auto& [existing, file] : files_) {
    if (existing.ends_with(ending)) return existing;
  }
  return writers::event_file_name(static_cast<double>(span) / 1e9,
                                  files_.empty() ? std::string() : files_.rbegin()->first, worker,
                                  span, "");
}

bool SummaryRun::needs_details_beside(const std::string& name) const {
  return !files_.empty() && files_.rbegin()->first == name &&
         !logdir::keeps_details(static_cast<std::int64_t>(files_.size()));
}

const writers::StepRange& SummaryRun::steps(File& file) {
  if (!file.steps) file.steps = writers::steps_in(file.path.string(), logdir::kProfileTags);
  return *file.steps;
}

bool SummaryRun::has_layout(File& file) {
  if (!file.has_layout) {
    file.has_layout = !writers::steps_in(file.path.string(), writers::kLayoutTag).empty();
  }
  return *file.has_layout;
}

bool SummaryRun::has_layout() {
  return std::any_of(files_.begin(), files_.end(),
                     [](auto& file) { return has_layout(file.second); });
}

std::int64_t SummaryRun::next_step_before(Files::iterator place) {
  while (place != files_.begin()) {
    const writers::StepRange& before = steps((--place)->second);
    if (!before.empty()) return before.last + 1;
  }
  return 0;
}

std::optional<std::int64_t> SummaryRun::first_step_after(Files::iterator place) {
  for (++place; place != files_.end(); ++place) {
    const writers::StepRange& after = steps(place->second);
    if (!after.empty()) return after.first;
  }
  return std::nullopt;
}

std::string SummaryWindow::take_place(SummaryRun& run, const std::string& worker,
                                      std::int64_t span) {
  std::string name = run.name(worker, span);
  auto place = run.files_.try_emplace(name).first;
  std::int64_t next = events_.place_at(run.next_step_before(place));
  if (next > run.first_step_after(place).value_or(next)) {
    run.files_.erase(place);
    name = run.name(worker, span);
    place = run.files_.try_emplace(name).first;
    next = events_.place_at(run.next_step_before(place));
  }
  place->second.steps = writers::StepRange{events_.first_step(), next - 1};
  number_ = 1;
  number_ += std::distance(run.files_.begin(), place);
  // This file may replace the one with the layout.
  place->second.has_layout = false;
  has_layout_ = !run.has_layout();
  place->second.has_layout = has_layout_;
  return name;
}

void SummaryWindow::take_steps_of(SummaryRun& run, const std::string& name) {
  const auto file = run.files_.find(name);
  if (file == run.files_.end()) return;
  const writers::StepRange& steps = SummaryRun::steps(file->second);
  events_.place_at(steps.empty() ? 0 : steps.first);
}

Result<Changes> SummaryWindow::write(io::ByteSink& sink, bool with_details) const {
  std::string records = first_record(events_.start());
  if (has_layout_) records += events_.about_run();
  records += events_.steps();
  if (with_details) records += details().records();
  if (Status closed = write_all(sink, records); !closed.ok()) return closed;
  Changes changes;
  if (events_.moved_steps() > 0) changes["steps_moved"] = events_.moved_steps();
  if (events_.devices_left_out() > 0) changes["devices_left_out"] = events_.devices_left_out();
  return changes;
}

std::string details_file_name(const std::string& window_file) {
  return with_ending(window_file, kWindowEnding, kDetailsEnding);
}

Status write_beside(const std::string& records, double wall_time, io::ByteSink& sink) {
  return write_all(sink, first_record(wall_time) + records);
}

}  // namespace tbtrace::logdir
