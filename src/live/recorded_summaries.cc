#include "live/recorded_summaries.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "base/forks.h"
#include "inputs/log_file_name.h"
#include "io/append_file.h"
#include "recorder/process/process.h"

namespace tbtrace::live {
namespace {

/// Most bytes kept while the disk stays full.
constexpr std::size_t kMostUnwritten = std::size_t{64} << 20;

/// The step after the values of the last event file in a directory that has any: steps increase
/// from file to file.
std::int64_t next_step_in(const std::filesystem::path& directory) {
  const auto files = writers::event_files(directory);
  for (auto file = files.end(); file != files.begin();) {
    --file;
    const writers::StepRange steps = writers::steps_in(file->second.string(), logdir::kProfileTags);
    if (!steps.empty()) return steps.last + 1;
  }
  return 0;
}

/// cairo has locks for the whole process. A child of a fork within a drawing would find them locked
/// for ever, so that a fork waits for it, some milliseconds.
std::mutex& drawing() { return recorder::process_mutex<recorder::PartOrder::pictures>(); }

}  // namespace

RecordedSummaries::RecordedSummaries(std::string directory, std::string_view worker)
    : directory_(std::move(directory)), worker_(inputs::safe_name(worker)), forks_(fork_count()) {}

RecordedSummaries::~RecordedSummaries() {
  if (is_forked()) static_cast<void>(file_.release());  // the file and its lock are the parent's
}

bool RecordedSummaries::is_forked() const { return forks_ != fork_count(); }

Status RecordedSummaries::open() {
  if (file_ != nullptr && file_->is_there()) return {};
  file_.reset();
  for (int number = 1;; ++number) {
    const std::string worker = number == 1 ? worker_ : inputs::numbered_worker(worker_, number);
    const std::filesystem::path run = std::filesystem::path(directory_) / worker;
    Result<std::unique_ptr<writers::EventFile>> file =
        writers::EventFile::try_create(run.string(), "", wall_time_, io::create_append_file);
    if (!file.ok()) return file.status();
    if (*file == nullptr) continue;
    file_ = *std::move(file);
    next_step_ = std::max(next_step_, next_step_in(run));
    rest_.clear();  // belonged to a file that is gone
    unwritten_.push_front(about_run_);
    return {};
  }
}

Status RecordedSummaries::add(const Trace& window) {
  logdir::ProfileSummaries events(window);
  wall_time_ = events.start();
  if (about_run_.empty()) about_run_ = events.about_run();
  if (Status opened = open(); !opened.ok()) return opened;
  next_step_ = events.place_at(next_step_);
  std::string records = events.steps();
  last_details_ = events.details();
  if (logdir::keeps_details(++windows_)) records += take_details();
  return write(std::move(records));
}

Status RecordedSummaries::finish() {
  if (!last_details_ && unwritten_.empty()) return {};
  if (Status opened = open(); !opened.ok()) return opened;
  return write(take_details());
}

std::string RecordedSummaries::take_details() {
  const std::lock_guard lock(drawing());
  std::string records = last_details_ ? last_details_->records() : std::string();
  last_details_.reset();
  return records;
}

Status RecordedSummaries::write(std::string records) {
  std::size_t waiting = 0;
  for (const std::string& window : unwritten_) waiting += window.size();
  if (waiting >= kMostUnwritten) {
    if (Status written = write_waiting(); !written.ok()) return written;
  }
  unwritten_.push_back(std::move(records));
  return write_waiting();
}

Status RecordedSummaries::write_waiting() {
  while (!unwritten_.empty()) {
    if (rest_.empty()) rest_ = unwritten_.front();
    if (Status written = file_->write(rest_); !written.ok()) return written;
    unwritten_.pop_front();
  }
  return {};
}

}  // namespace tbtrace::live
