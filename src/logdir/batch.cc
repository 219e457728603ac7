#include "logdir/batch.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/threads.h"
#include "io/sink.h"

namespace tbtrace::logdir {
namespace {

namespace fs = std::filesystem;

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// The outermost run in `runs` that contains `run`, or the run itself.
std::string outermost(const std::string& run, const std::set<std::string>& runs) {
  for (std::size_t slash = run.find('/'); slash != std::string::npos;
       slash = run.find('/', slash + 1)) {
    std::string outer = run.substr(0, slash);
    if (runs.contains(outer)) return outer;
  }
  return run;
}

}  // namespace

int threads_per_input(int threads, std::size_t inputs) {
  const std::size_t at_once = std::min(static_cast<std::size_t>(threads), inputs);
  return std::max(1, threads / static_cast<int>(std::max<std::size_t>(1, at_once)));
}

Batch::Batch(const std::vector<inputs::FoundInput>& found, const std::string& directory,
             RunStaging& staging, const LogFiles& files, const ConvertOptions& options)
    : found_(found),
      directory_(directory),
      staging_(staging),
      files_(files),
      options_(options),
      is_done_(found.size()),
      waits_for_(found.size()) {
  std::set<std::string> runs;
  results_.resize(found_.size());
  for (std::size_t input = 0; input < found_.size(); ++input) {
    results_[input].input = found_[input].path;
    results_[input].run = run_name(options_.log.run.empty() ? found_[input].run : options_.log.run);
    runs.insert(results_[input].run);
  }
  for (const ConvertedInput& result : results_) {
    groups_.push_back(outermost(result.run, runs));
    ++group_[groups_.back()].inputs_left;
  }
  for (const std::string& run : runs) {
    for (std::string& folder : files_.folders_left(run)) {
      group_[outermost(run, runs)].folders.insert(std::move(folder));
    }
  }
}

Conversion Batch::run(int threads) {
  if (options_.on_progress && !options_.on_progress(0, found_.size())) stopped_ = true;
  const auto most = std::min<std::size_t>(static_cast<std::size_t>(threads), found_.size());
  reading_threads_ = threads_per_input(threads, found_.size());
  no_memory_.assign(found_.size(),
                    out_of_memory(found_.size() == 1 ? threads : static_cast<int>(most)));
  run_on_threads(most, [this] { work(); });
  // If the batch was stopped early, the files written so far become visible.
  for (const auto& [name, group] : group_) {
    if (group.is_shown) continue;
    for (const std::string& folder : group.folders) complete(folder);
    show_group(name);
  }
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  Conversion conversion;
  conversion.inputs = std::move(results_);
  conversion.failed_runs = std::move(failed_runs_);
  return conversion;
}

void Batch::work() noexcept {
  try {
    for (Task task = next_task(); task.kind != Task::Kind::none; task = next_task()) {
      if (task.kind == Task::Kind::input) convert_input(task.input);
      if (task.kind == Task::Kind::folder) complete_folder(task);
      const std::lock_guard lock(mutex_);
      --under_way_;
      more_to_do_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    more_to_do_.notify_all();
    stopped_ = true;
    if (failure_ == nullptr) failure_ = std::current_exception();
  }
}

/// Waits if nothing is left to do, but another thread's task may still add work.
Batch::Task Batch::next_task() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (failure_ != nullptr) return {};
    if (!folders_to_complete_.empty()) {
      ++under_way_;
      Task task = std::move(folders_to_complete_.back());
      folders_to_complete_.pop_back();
      return task;
    }
    if (!stopped_ && next_ < found_.size()) {
      ++under_way_;
      return {.kind = Task::Kind::input, .input = next_++};
    }
    if (under_way_ == 0) return {};
    more_to_do_.wait(lock);
  }
}

void Batch::convert_input(std::size_t input) {
  ConvertedInput& result = results_[input];
  try {
    result.status = convert(input, result);
  } catch (const std::bad_alloc&) {
    result.status = Status(StatusCode::out_of_memory, {});
  } catch (const std::length_error&) {
    result.status = Status(StatusCode::out_of_memory, {});
  }
  if (result.status.code() == StatusCode::out_of_memory) {
    result.status = std::move(no_memory_[input]);  // its message mentions the number of threads
  }
  if (!result.status.ok()) result.state = ConvertedInput::State::failed;
  done(input);
}

/// Names are assigned in input order, so that they do not depend on thread timing. A turn waits for
/// the previous ones and, whatever happens in it, lets the next one continue.
class Batch::NamingTurn {
 public:
  NamingTurn(Batch& batch, std::size_t input) : batch_(batch), lock_(batch.mutex_) {
    batch.turn_.wait(lock_, [&] { return batch.next_to_name_ == input; });
  }
  NamingTurn(const NamingTurn&) = delete;
  NamingTurn& operator=(const NamingTurn&) = delete;
  ~NamingTurn() {
    ++batch_.next_to_name_;
    batch_.turn_.notify_all();
  }

 private:
  Batch& batch_;
  std::unique_lock<std::mutex> lock_;
};

Result<std::unique_ptr<LogInput>> Batch::open(std::size_t input) const {
  if (!found_[input].problem.ok()) return found_[input].problem;
  return files_.open(found_[input].path, reading_threads_);
}

Status Batch::convert(std::size_t input, ConvertedInput& result) {
  std::unique_ptr<LogInput> log;
  Status status;
  std::exception_ptr not_opened;
  try {
    Result<std::unique_ptr<LogInput>> opened = open(input);
    status = opened.status();
    if (opened.ok()) log = *std::move(opened);
  } catch (...) {
    not_opened = std::current_exception();
  }
  std::vector<Output> outputs;
  {
    const NamingTurn turn(*this, input);
    if (not_opened != nullptr) std::rethrow_exception(not_opened);
    if (log != nullptr) status = take_names(*log, input, outputs);
  }
  if (!status.ok()) return status;
  try {
    status = write_all(outputs, result);
  } catch (...) {
    discard(outputs, result);
    throw;
  }
  if (!status.ok()) discard(outputs, result);
  return status;
}

Status Batch::write_all(std::vector<Output>& outputs, ConvertedInput& result) {
  result.state = ConvertedInput::State::skipped;
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (outputs[at].skip) {
      outputs[at].output->left_alone();
      continue;
    }
    if (Status written = write(outputs[at], result.files[at]); !written.ok()) return written;
    result.state = ConvertedInput::State::written;
  }
  return {};
}

/// Removes the files of an input that failed.
void Batch::discard(const std::vector<Output>& outputs, ConvertedInput& result) {
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    if (!result.files[at].written) continue;
    staging_.discard(outputs[at].place.folder, outputs[at].place.name);
    result.files[at].written = false;
    result.files[at].bytes = 0;
  }
}

Status Batch::take_names(LogInput& log, std::size_t input, std::vector<Output>& outputs) {
  ConvertedInput& result = results_[input];
  result.ranges = log.trace().events().size();
  result.issues = log.issues();
  for (const auto& output : log.outputs()) {
    LogFile& file = result.files.emplace_back();
    file.run = result.run;
    outputs.push_back({.output = output.get(), .place = {}});
    if (Status taken = take_name(outputs.back(), file); !taken.ok()) return taken;
    const std::string& folder = outputs.back().place.folder;
    group_[groups_[input]].folders.insert(folder);
    waits_for_[input].insert(folder);
  }
  return {};
}

Status Batch::take_name(Output& output, LogFile& file) const {
  LogPlace& place = output.place;
  place = output.output->name(file);
  file.path = (fs::path(directory_) / place.folder / place.name).string();
  const bool is_there = staging_.exists(place.folder, place.name);
  const auto twin =
      std::find_if(place.twins.begin(), place.twins.end(),
                   [&](const std::string& name) { return staging_.exists(place.folder, name); });
  const bool has_twin = twin != place.twins.end();
  if (options_.skip_existing && (has_twin || is_there)) {
    output.skip = true;
    return {};
  }
  if ((has_twin || is_there) && !options_.log.overwrite) {
    return {StatusCode::output_exists,
            place.folder + "/" + (is_there ? place.name : *twin) + " exists already"};
  }
  Result<LogPlace> taken = output.output->take_place();
  if (!taken.ok()) return taken.status();
  place = *std::move(taken);
  file.path = (fs::path(directory_) / place.folder / place.name).string();
  return {};
}

Status Batch::write(Output& output, LogFile& log_file) {
  const LogPlace& place = output.place;
  const Result<std::string> path = staging_.place(place.folder, place.name, place.twins);
  if (!path.ok()) return path.status();
  Result<std::unique_ptr<io::ByteSink>> file =
      io::create_file(*path, {.overwrite = options_.log.overwrite, .durable = true});
  if (!file.ok()) return file.status();
  const std::unique_ptr<io::ByteSink> sink =
      place.use_gzip ? io::gzip_sink(*std::move(file)) : *std::move(file);
  Result<Changes> changes = output.output->write(*sink);
  if (!changes.ok()) return changes.status();
  log_file.changes = *std::move(changes);
  log_file.bytes = size_of(*path);
  log_file.written = true;
  return {};
}

void Batch::done(std::size_t input) {
  const std::lock_guard lock(mutex_);
  ConvertedInput& result = results_[input];
  ++done_;
  if (!result.status.ok()) waits_for_[input].clear();
  if (options_.fail_fast && !result.status.ok()) stopped_ = true;
  is_done_[input] = true;
  Group& group = group_[groups_[input]];
  if (--group.inputs_left == 0) {
    group.folders_left = group.folders.size();
    for (const std::string& folder : group.folders) {
      folders_to_complete_.push_back(
          {.kind = Task::Kind::folder, .group = groups_[input], .folder = folder});
    }
  }
  tell_finished_inputs();
  if (options_.on_progress && !options_.on_progress(done_, found_.size())) stopped_ = true;
}

/// Adds the files that are due once all files of a folder are written.
void Batch::complete(const std::string& folder) {
  Status completed = files_.finish(folder);
  if (completed.ok()) return;
  const std::lock_guard lock(mutex_);
  failed_runs_.emplace_back(folder, std::move(completed));
}

void Batch::complete_folder(const Task& task) {
  complete(task.folder);
  {
    const std::lock_guard lock(mutex_);
    if (--group_[task.group].folders_left > 0) return;
  }
  show_group(task.group);
}

/// Makes the files of a group's folders visible.
void Batch::show_group(const std::string& name) {
  // Nothing is added to the group any more.
  Group& group = group_.at(name);
  for (const std::string& folder : group.folders) show_folder(folder);
  group.is_shown = true;
}

/// An input whose file cannot be moved is marked as failed.
void Batch::show_folder(const std::string& folder) {
  RunStaging::Finished finished = staging_.finish(folder);
  const std::lock_guard lock(mutex_);
  for (std::size_t input = 0; input < results_.size(); ++input) {
    if (waits_for_[input].erase(folder) == 0) continue;
    ConvertedInput& result = results_[input];
    for (LogFile& file : result.files) {
      const fs::path path = file.path;
      if (path.parent_path() != fs::path(directory_) / folder ||
          !finished.not_moved.contains(path.filename().string())) {
        continue;
      }
      file.written = false;
      file.bytes = 0;
      result.state = ConvertedInput::State::failed;
      result.status = finished.status;
    }
  }
  if (!finished.status.ok()) failed_runs_.emplace_back(folder, std::move(finished.status));
  if (failure_ == nullptr) tell_finished_inputs();
}

/// Reports inputs in input order, each once its files are at their final place.
void Batch::tell_finished_inputs() {
  while (next_to_tell_ < results_.size() && is_done_[next_to_tell_] &&
         waits_for_[next_to_tell_].empty()) {
    const ConvertedInput& result = results_[next_to_tell_++];
    if (options_.on_input) options_.on_input(result);
  }
}

}  // namespace tbtrace::logdir
