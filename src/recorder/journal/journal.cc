#include "recorder/journal/journal.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <new>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "base/forks.h"
#include "base/host_name.h"
#include "recorder/journal/checksums.h"
#include "recorder/journal/journaled_window.h"
#include "recorder/journal/signs_of_life.h"
#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder::journal {

namespace {

/// The system has written by then what was stored before: it does so after 30 s (proc(5),
/// dirty_expire_centisecs).
constexpr std::chrono::milliseconds kWrittenBySystem = std::chrono::minutes(1);

/// That hear of the process's names. In a forked child there are none.
std::vector<Journal*>& open_journals() {
  static NeverDestroyed<std::vector<Journal*>> all;
  return *all;
}
/// Likewise those of this process, from before their first file on.
std::vector<const FolderHere*>& folders_here() {
  static NeverDestroyed<std::vector<const FolderHere*>> all;
  return *all;
}
void forget_after_fork() {
  open_journals().clear();
  folders_here().clear();
}

std::mutex& open_journals_mutex() {
  return process_mutex<PartOrder::journals, forget_after_fork>();
}

template <std::size_t kSize>
void put_text(std::array<char, kSize>& into, std::string_view text) {
  const std::size_t size = std::min(text.size(), kSize - 1);
  std::memcpy(into.data(), text.data(), size);
}

/// The program's handlers are for its own threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

FolderHere::FolderHere(std::filesystem::path folder) : path_(std::move(folder)) {
  const std::lock_guard lock(open_journals_mutex());
  folders_here().push_back(this);
}

FolderHere::~FolderHere() {
  const std::lock_guard lock(open_journals_mutex());
  std::erase(folders_here(), this);
}

Result<std::shared_ptr<Journal>> Journal::open(const std::filesystem::path& directory,
                                               JournalOptions options) {
  const std::string name =
      fmt::format("{}_{}_{}", host_name(), ::getpid(), sample_clocks().unix_ns);
  auto folder = std::make_unique<FolderHere>(directory / name);
  Result<std::unique_ptr<SegmentFiles>> files = segment_files(folder->path());
  if (!files.ok()) return files.status();
  return open_in(*std::move(files), std::move(options), std::move(folder));
}

Result<std::shared_ptr<Journal>> Journal::open_in(std::unique_ptr<SegmentFiles> files,
                                                  JournalOptions options,
                                                  std::unique_ptr<FolderHere> folder) {
  const std::shared_ptr<Journal> journal(
      new Journal(std::move(files), std::move(options), std::move(folder)));
  if (Status begun = journal->begin(); !begun.ok()) {
    journal->files_->remove({});
    return begun;
  }
  return journal;
}

Journal::Journal(std::unique_ptr<SegmentFiles> files, JournalOptions options,
                 std::unique_ptr<FolderHere> folder)
    : folder_(std::move(folder)),
      path_(folder_ == nullptr ? std::filesystem::path() : folder_->path()),
      files_(std::move(files)),
      options_(std::move(options)),
      slots_(*files_, options_.slots),
      forks_(fork_count()) {}

bool Journal::is_of_this_process() const { return forks_ == fork_count(); }

Status Journal::begin() {
  const Result<char*> memory = files_->create(kHeadName, kHeadBytes);
  if (!memory.ok()) return memory.status();
  head_ = new (*memory) Head;
  head_->version = kVersion;
  head_->byte_order = kByteOrder;
  head_->process = ::getpid();
  head_->first_sample = first_clock_sample();
  put_text(head_->boot, boot_id());
  put_text(head_->host, host_name());
  head_->magic = kHeadMagic;
  head_->checksum = checksum_of(*head_);
  head_->is_begun.store(1, std::memory_order_release);
  beat();
  if (Status prepared = slots_.prepare(); !prepared.ok()) return prepared;
  definitions_ = std::make_unique<ThreadLog>(
      ThreadIdentity(), std::make_shared<const RecordingOptions>(), ticks(),
      std::make_shared<JournaledLog>(*this, has_kept_, kProcessWindow));
  {
    const std::lock_guard names_lock(process_mutex<PartOrder::names>());
    NameTable& names = process_names();
    for (std::size_t at = 1; at <= names.size(); ++at) {
      const auto number = static_cast<NameNumber>(at);
      add_process_name(number, names[number]);
    }
    const std::lock_guard lock(open_journals_mutex());
    open_journals().push_back(this);
    names.set_listener([](NameNumber number, const Name& name) {
      const std::lock_guard all_lock(open_journals_mutex());
      for (Journal* const journal : open_journals()) journal->add_process_name(number, name);
    });
  }
  if (options_.heartbeat.count() == 0) return {};
  try {
    const NoSignals none;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return {StatusCode::check_failed,
            std::string("a thread for the journal cannot be started: ") + error.what()};
  }
  return {};
}

void Journal::add_process_name(NameNumber number, const Name& name) {
  const std::string bytes = bytes_of_name(0, number, name);
  const std::lock_guard lock(definitions_mutex_);
  write_definition(*definitions_, DefinitionKind::process_name, bytes);
}

Journal::~Journal() {
  if (!is_of_this_process()) {
    if (thread_.joinable()) thread_.detach();  // the parent's
    static_cast<void>(files_.release());
    static_cast<void>(definitions_.release());
    return;
  }
  end();
}

void Journal::end() {
  if (!is_of_this_process()) return;
  {
    const std::lock_guard lock(open_journals_mutex());
    std::erase(open_journals(), this);
  }
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  const std::lock_guard end_lock(end_mutex_);
  if (thread_.joinable()) thread_.join();
  if (!has_kept_.load() && !std::exchange(is_removed_, true)) {
    std::vector<std::span<char>> kept = slots_.taken_at_end();
    kept.emplace_back(reinterpret_cast<char*>(head_), kHeadBytes);
    files_->remove(kept);
  }
  folder_.reset();
}

std::shared_ptr<WindowJournal> Journal::new_window() {
  return std::make_shared<JournaledWindow>(shared_from_this(), windows_.fetch_add(1) + 1);
}

std::atomic<std::uint64_t>* Journal::losses_of(std::uint64_t window) {
  for (Losses& losses : head_->losses) {
    std::uint64_t free = 0;
    if (losses.window.compare_exchange_strong(free, window)) return &losses.records;
  }
  return nullptr;
}

void Journal::want_slots() {
  if (slots_.wants_more()) changed_.notify_one();
}

void Journal::run() {
  bool has_room = true;  // otherwise it is tried again with the next heartbeat, not at once
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    changed_.wait_for(lock, options_.heartbeat,
                      [this, has_room] { return is_ending_ || (has_room && slots_.wants_more()); });
    lock.unlock();
    try {
      has_room = look_after(Clock::now());
    } catch (const std::bad_alloc&) {
      has_room = false;
    }
    lock.lock();
  }
}

bool Journal::look_after(Clock::time_point now) {
  const Status prepared = slots_.prepare();
  if (!prepared.ok()) {
    warn_once("the journal gets no more room, so records may be lost: " + prepared.message());
  }
  beat();
  slots_.mark();
  const bool is_synced = options_.sync.count() > 0;
  if (now >= synced_ + (is_synced ? options_.sync : kWrittenBySystem)) {
    const Status status = is_synced ? files_->sync() : Status();
    if (status.ok()) {
      slots_.settle();
    } else {
      warn_once("the journal cannot be brought to the disk: " + status.message());
    }
    synced_ = now;
  }
  return prepared.ok();
}

void Journal::beat() {
  Heartbeat beat{.sample = sample_clocks(), .number = ++beats_, .checksum = 0};
  beat.checksum = checksum_of(beat);
  head_->heartbeats[beats_ % 2] = beat;
}

void Journal::warn_once(const std::string& sentence) {
  if (std::exchange(warned_, sentence) == sentence || options_.warn == nullptr) return;
  try {
    options_.warn(sentence);
  } catch (...) {
    // What listens may throw, but not here.
  }
}

bool is_open_here(const std::filesystem::path& folder) {
  const std::lock_guard lock(open_journals_mutex());
  return std::any_of(folders_here().begin(), folders_here().end(), [&](const FolderHere* here) {
    std::error_code error;
    return std::filesystem::equivalent(here->path(), folder, error);
  });
}

}  // namespace tbtrace::recorder::journal
