#include "converters/batch.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "io/sink.h"

namespace tbtrace::converters {
namespace {

namespace fs = std::filesystem;

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

Batch::Batch(const std::vector<FoundInput>& found, const std::string& directory,
             RunStaging& staging, LogTarget& target, const ConvertOptions& options)
    : found_(found),
      directory_(directory),
      staging_(staging),
      target_(target),
      options_(options),
      folders_(found.size()) {
  results_.resize(found_.size());
  for (std::size_t input = 0; input < found_.size(); ++input) {
    results_[input].input = found_[input].path;
    results_[input].file.run =
        run_name(options_.log.run.empty() ? found_[input].run : options_.log.run);
    ++left_of_run_[results_[input].file.run];
  }
  for (const auto& [run, left] : left_of_run_) {
    for (const std::string& folder : target_.folders_left(run)) {
      folders_of_run_[run].insert(folder);
    }
  }
}

Conversion Batch::run(int threads) {
  if (options_.on_progress) options_.on_progress(0, found_.size());
  const auto most = std::min<std::size_t>(static_cast<std::size_t>(threads), found_.size());
  // Several inputs take a thread each; a single one is read with all of them.
  reading_threads_ = found_.size() == 1 ? threads : 1;
  no_memory_.assign(found_.size(),
                    out_of_memory(found_.size() == 1 ? threads : static_cast<int>(most)));
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t thread = 1; thread < most; ++thread) others.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads; those that there are do the work.
    } catch (const std::bad_alloc&) {
      // Likewise.
    }
    work();
  }
  // What was written before it was stopped shall be seen.
  for (const auto& [run, left] : left_of_run_) {
    if (left > 0) finish(run);
  }
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  Conversion conversion;
  conversion.inputs = std::move(results_);
  conversion.failed_runs = std::move(failed_runs_);
  return conversion;
}

void Batch::work() noexcept {
  try {
    convert_inputs();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (failure_ == nullptr) failure_ = std::current_exception();
  }
}

void Batch::convert_inputs() {
  for (;;) {
    std::size_t input = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || next_ == found_.size()) return;
      input = next_++;
    }
    ConvertedInput& result = results_[input];
    try {
      result.status = convert(input, result);
    } catch (const std::bad_alloc&) {
      result.status = std::move(no_memory_[input]);
    } catch (const std::length_error&) {
      result.status = std::move(no_memory_[input]);
    }
    if (!result.status.ok()) result.state = ConvertedInput::State::failed;
    done(input);
  }
}

/// Names are given in the order of the inputs, so that they do not depend on threads. A turn waits
/// for those before it and, whatever happens in it, lets the next one go on.
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
  return target_.open(found_[input].path, reading_threads_);
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
  LogPlace place;
  {
    const NamingTurn turn(*this, input);
    if (not_opened != nullptr) std::rethrow_exception(not_opened);
    if (log != nullptr) {
      status = take_name(*log, place, result);
      folders_[input] = place.folder;
      folders_of_run_[result.file.run].insert(place.folder);
    }
  }
  if (!status.ok() || result.state == ConvertedInput::State::skipped) return status;
  return write(*log, place, result);
}

Status Batch::take_name(LogInput& log, LogPlace& place, ConvertedInput& result) {
  place = log.name(result.file);
  result.ranges = log.trace().events().size();
  result.issues = log.issues();
  result.file.path = (fs::path(directory_) / place.folder / place.name).string();
  const bool is_there = staging_.exists(place.folder, place.name);
  const auto twin =
      std::find_if(place.twins.begin(), place.twins.end(),
                   [&](const std::string& name) { return staging_.exists(place.folder, name); });
  const bool has_twin = twin != place.twins.end();
  if (options_.skip_existing && (has_twin || is_there)) {
    result.state = ConvertedInput::State::skipped;
    return {};
  }
  if ((has_twin || is_there) && !options_.log.overwrite) {
    return {StatusCode::unwritable_output,
            place.folder + "/" + (is_there ? place.name : *twin) +
                " exists already; --overwrite replaces it, --skip-existing leaves it"};
  }
  place = log.take_place();
  result.file.path = (fs::path(directory_) / place.folder / place.name).string();
  return {};
}

Status Batch::write(LogInput& log, const LogPlace& place, ConvertedInput& result) {
  const Result<std::string> path = staging_.place(place.folder, place.name);
  if (!path.ok()) return path.status();
  Result<std::unique_ptr<io::ByteSink>> file = io::create_file(*path, options_.log.overwrite);
  if (!file.ok()) return file.status();
  const std::unique_ptr<io::ByteSink> sink =
      target_.use_gzip() ? io::gzip_sink(*std::move(file)) : *std::move(file);
  Result<Changes> changes = log.write(*sink);
  if (!changes.ok()) return changes.status();
  result.file.changes = *std::move(changes);
  result.file.bytes = size_of(*path);
  std::error_code error;
  for (const std::string& twin : place.twins) {
    fs::remove(fs::path(directory_) / place.folder / twin, error);
  }
  result.state = ConvertedInput::State::written;
  return {};
}

void Batch::done(std::size_t input) {
  const std::lock_guard lock(mutex_);
  ConvertedInput& result = results_[input];
  ++done_;
  if (options_.fail_fast && !result.status.ok()) stopped_ = true;
  if (options_.on_input) options_.on_input(result);
  if (--left_of_run_[result.file.run] == 0) finish(result.file.run);
  if (options_.on_progress) options_.on_progress(done_, found_.size());
}

/// Makes a run visible. If that fails, so have its inputs.
void Batch::finish(const std::string& run) {
  for (const std::string& folder : folders_of_run_[run]) {
    Status finished = target_.finish(folder);
    const Status shown = staging_.finish(folder);
    if (finished.ok()) finished = shown;
    if (finished.ok()) continue;
    for (std::size_t input = 0; input < results_.size(); ++input) {
      ConvertedInput& result = results_[input];
      if (folders_[input] != folder || result.state != ConvertedInput::State::written) continue;
      result.state = ConvertedInput::State::failed;
      result.status = finished;
    }
    failed_runs_.emplace_back(folder, finished);
  }
}

}  // namespace tbtrace::converters
