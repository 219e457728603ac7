#include "recorder/log/recording.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "base/forks.h"
#include "base/hash.h"
#include "recorder/log/active.h"

namespace tbtrace::recorder {

std::atomic<std::int64_t> watched_bytes = 0;
std::atomic<std::uint64_t> lost_without_log = 0;

namespace {

/// What readers of a file go by, and what only the recording knows.
constexpr std::array<std::string_view, 9> kReservedMembers = {
    "schemaVersion",    "deviceProperties", "displayTimeUnit",      "baseTimeNanoseconds",
    "traceEvents",      "traceName",        "tbtrace_lost_records", "tbtrace_unreadable_chunks",
    "tbtrace_recovered"};

/// Without texts, of which there are few.
std::size_t bytes_of(const DeviceTrace& trace) {
  const auto rows = [](const auto& list) {
    return list.size() * sizeof(typename std::decay_t<decltype(list)>::value_type);
  };
  return trace.activities.bytes() + trace.calls.size() * sizeof(ApiCall) + rows(trace.launches) +
         rows(trace.peers) + rows(trace.synchronizations) + rows(trace.events) +
         rows(trace.overheads) + rows(trace.markers) + rows(trace.checks);
}

}  // namespace

Recording::Recording(RecordingOptions options, std::shared_ptr<WindowJournal> journal)
    : options_(std::make_shared<const RecordingOptions>(std::move(options))),
      journal_(std::move(journal)),
      trace_id_(fmt::format("{:016X}{:016X}", random_seed(), random_seed())),
      forks_(fork_count()) {}

Recording::Recording(IsRestored, RestoredRecording parts)
    : options_(std::move(parts.options)),
      other_(std::move(parts.process)),
      trace_id_(std::move(parts.trace_id)),
      started_(parts.started),
      ended_(parts.ended),
      bytes_at_start_(parts.bytes_at_start),
      lost_at_end_(parts.lost),
      unreadable_parts_(parts.unreadable_parts),
      device_memory_(std::move(parts.device_memory)),
      forks_(fork_count()),
      closed_(true),
      logs_(std::move(parts.logs)),
      metadata_(std::move(parts.metadata)),
      known_tensors_(std::move(parts.known_tensors)) {
  if (parts.device_trace == nullptr) return;
  std::promise<std::shared_ptr<const DeviceTrace>> promise;
  promise.set_value(std::move(parts.device_trace));
  device_trace_ = promise.get_future().share();
}

std::shared_ptr<Recording> Recording::restored(RestoredRecording parts) {
  return std::shared_ptr<Recording>(new Recording(IsRestored(), std::move(parts)));
}

Recording::~Recording() {
  close();
  forget_journal();                    // before the first of its chunks is given back
  std::int64_t late = -bytes_at_end_;  // what threads wrote while the next recording began
  for (const std::shared_ptr<ThreadLog>& log : logs_) {
    log->close();
    late += log->memory_bytes();
    log->drop_chunks();
  }
  watched_bytes.fetch_add(late);
}

void Recording::start() { start(alive_bytes()); }

void Recording::start(std::int64_t bytes_at_start) {
  bytes_at_start_ = bytes_at_start;
  lost_at_start_ = lost_at_end_ = lost_without_log.load();
  started_ = sample_clocks();
  if (journal_ == nullptr) return;
  journal_->start({.options = *options_,
                   .trace_id = trace_id_,
                   .started = started_,
                   .bytes_at_start = bytes_at_start_});
  const std::lock_guard lock(mutex_);
  for (const auto& [key, json] : metadata_) journal_->add_metadata(key, json);
}

void Recording::close() { end(true); }

void Recording::end_for_next() { end(false); }

void Recording::end(bool closes_logs) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  for (const std::shared_ptr<ThreadLog>& log : logs_) {
    if (closes_logs) log->close();
    bytes_at_end_ += log->memory_bytes();
  }
  watched_bytes.fetch_add(bytes_at_end_);
  lost_at_end_ = std::max(lost_at_start_, lost_without_log.load());
  ended_ = sample_clocks();
  if (journal_ != nullptr) journal_->close(ended_, lost_at_end_ - lost_at_start_);
}

void Recording::forget_journal() const {
  if (journal_ != nullptr) journal_->forget();
}

void Recording::keep_journal() const {
  if (journal_ != nullptr) journal_->keep();
}

std::int64_t Recording::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::int64_t bytes = 0;
  if (closed_) return bytes;
  for (const std::shared_ptr<ThreadLog>& log : logs_) bytes += log->memory_bytes();
  return bytes;
}

bool Recording::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::shared_ptr<ThreadLog> Recording::add_thread(ThreadIdentity identity) {
  const std::lock_guard lock(mutex_);
  if (closed_) return nullptr;
  const std::uint64_t began = ticks();
  const auto number = static_cast<std::uint32_t>(logs_.size());
  std::shared_ptr<LogHome> home;
  if (journal_ != nullptr) home = journal_->add_log(number, identity, began);
  return logs_.emplace_back(
      std::make_shared<ThreadLog>(std::move(identity), options_, began, std::move(home), number));
}

Status Recording::add_metadata(const std::string& key, std::string value_json) {
  if (std::count(kReservedMembers.begin(), kReservedMembers.end(), key) > 0) {
    return {StatusCode::invalid_argument, "metadata '" + key +
                                              "' was dropped, since the file has a member of its "
                                              "own of that name; choose another name"};
  }
  const std::lock_guard lock(mutex_);
  if (closed_) {
    return {StatusCode::invalid_argument, "metadata '" + key +
                                              "' was dropped, since the recording has ended; add "
                                              "it before stop()"};
  }
  std::string& json = metadata_[key] = std::move(value_json);
  if (journal_ != nullptr) journal_->add_metadata(key, json);
  return {};
}

void Recording::add_known_tensors(std::vector<KnownTensor> tensors) {
  const std::uint64_t now = ticks();
  const std::lock_guard lock(mutex_);
  for (KnownTensor& tensor : tensors) {
    tensor.ticks = now;
    known_tensors_.push_back(tensor);
  }
  if (journal_ != nullptr) journal_->add_known_tensors(tensors);
}

std::shared_ptr<DeviceJournal> Recording::device_journal() const {
  return journal_ == nullptr ? nullptr : journal_->devices();
}

std::shared_ptr<DeviceMemoryJournal> Recording::device_memory_journal() const {
  return journal_ == nullptr ? nullptr : journal_->device_memory();
}

void Recording::set_device_trace(PendingDeviceTrace trace) { device_trace_ = std::move(trace); }

void Recording::add_device_memory(DeviceMemory memory) {
  if (memory.events().empty() && memory.lost() == 0) return;  // such as without a GPU
  device_memory_.push_back(std::move(memory));
}

std::shared_ptr<const DeviceTrace> Recording::device_trace() const {
  if (!device_trace_.valid() || forks_ != fork_count()) return nullptr;
  try {
    return device_trace_.get();
  } catch (const std::exception&) {
    // Never destroyed: windows may be read while the program ends.
    static const auto& none = *new std::shared_ptr(std::make_shared<const DeviceTrace>(
        DeviceTrace{.problem = "there was not enough memory for the activities of the GPU"}));
    return none;
  }
}

std::uint64_t Recording::lost() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t lost = lost_at_end_ - lost_at_start_;
  for (const std::shared_ptr<ThreadLog>& log : logs_) lost += log->lost();
  for (const DeviceMemory& memory : device_memory_) lost += memory.lost();
  return lost;
}

std::size_t Recording::bytes() const {
  using std::chrono::seconds;
  std::size_t bytes = 0;
  if (device_trace_.valid() && device_trace_.wait_for(seconds(0)) == std::future_status::ready) {
    if (const auto trace = device_trace()) bytes += bytes_of(*trace);
  }
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<ThreadLog>& log : logs_) bytes += log->bytes();
  for (const DeviceMemory& memory : device_memory_) {
    bytes += memory.events().size() * sizeof(DeviceMemoryEvent);
  }
  return bytes;
}

}  // namespace tbtrace::recorder
