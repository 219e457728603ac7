#include "recorder/journal/journaled_window.h"

#include <charconv>
#include <exception>
#include <fstream>
#include <utility>
#include <vector>

namespace tbtrace::recorder::journal {

namespace {

std::uint64_t hexadecimal(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);  // and the sign that follows
  return number;
}

/// The code of this process: lines `begin-end r-xp offset device inode path` of proc_pid_maps(5).
AddressMap code_of_process() {
  std::vector<MappedFile> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::string_view left = line;
    MappedFile file;
    file.begin = hexadecimal(left);
    file.end = hexadecimal(left);
    const bool is_code = left.size() > 5 && left[2] == 'x';
    const std::size_t path = left.find('/');
    if (!is_code || path == std::string_view::npos) continue;
    file.path = left.substr(path);
    left.remove_prefix(5);
    file.offset = hexadecimal(left);
    files.push_back(std::move(file));
  }
  return AddressMap(std::move(files));
}

}  // namespace

JournaledWindow::JournaledWindow(std::shared_ptr<Journal> journal, std::uint64_t window)
    : journal_(std::move(journal)),
      window_(window),
      losses_(journal_->losses_of(window)),
      definitions_(std::make_unique<ThreadLog>(
          ThreadIdentity(), std::make_shared<const RecordingOptions>(), ticks(),
          std::make_shared<JournaledLog>(*journal_, is_kept_, window))) {}

JournaledWindow::~JournaledWindow() {
  // Chunks of a window that is kept, or of another process, are not given back: JournaledLog.
  if (is_kept_.load() || losses_ == nullptr || !journal_->is_of_this_process()) return;
  losses_->store(0);
  for (Losses& losses : journal_->head_->losses) {
    if (&losses.records == losses_) losses.window.store(0);
  }
}

void JournaledWindow::define(DefinitionKind kind, std::string_view bytes) {
  if (!journal_->is_of_this_process()) return;
  const std::lock_guard lock(mutex_);
  if (!write_definition(*definitions_, kind, bytes) && losses_ != nullptr) losses_->fetch_add(1);
}

void JournaledWindow::start(const WindowStart& start) {
  define(DefinitionKind::window, bytes_of(start));
  if (start.options.with_stack) define(DefinitionKind::addresses, bytes_of(code_of_process()));
}

std::shared_ptr<LogHome> JournaledWindow::add_log(std::uint32_t log, const ThreadIdentity& identity,
                                                  std::uint64_t began) {
  if (!journal_->is_of_this_process()) return nullptr;
  define(DefinitionKind::thread,
         bytes_of(ThreadDefinition{.log = log, .identity = identity, .began = began}));
  return std::make_shared<JournaledLog>(*journal_, shared_from_this(), window_, log);
}

void JournaledWindow::add_metadata(const std::string& key, const std::string& json) {
  define(DefinitionKind::metadata, bytes_of(MetadataDefinition{.key = key, .json = json}));
}

void JournaledWindow::add_known_tensors(std::span<const KnownTensor> tensors) {
  if (!tensors.empty()) define(DefinitionKind::known_tensors, bytes_of(tensors));
}

/// Belongs to the window, which lives as long as somebody writes to it.
template <typename Log>
std::shared_ptr<Log> JournaledWindow::log_of(std::unique_ptr<Log>& log, std::uint64_t number) {
  if (!journal_->is_of_this_process()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (log == nullptr) {
    log = std::make_unique<Log>(
        std::make_shared<JournaledLog>(*journal_, is_kept_, window_, number), losses_);
  }
  return {shared_from_this(), log.get()};
}

std::shared_ptr<DeviceJournal> JournaledWindow::devices() { return log_of(devices_, kDevices); }

std::shared_ptr<DeviceMemoryJournal> JournaledWindow::device_memory() {
  return log_of(device_memory_, kDeviceMemory);
}

void JournaledWindow::close(const ClockSample& ended, std::uint64_t lost) {
  define(DefinitionKind::close, bytes_of(CloseDefinition{.ended = ended, .lost = lost}));
}

void JournaledWindow::forget() {
  if (!is_kept_.load()) define(DefinitionKind::forget, {});
}

void JournaledWindow::keep() {
  is_kept_.store(true);
  journal_->has_kept_.store(true);
}

Chunk* JournaledLog::take(std::size_t words, std::size_t /*bytes*/) {
  if (!journal_.is_of_this_process()) return nullptr;
  Chunk* const chunk = journal_.slots_.take(words, number_, log_, sequence_);
  if (chunk != nullptr) ++sequence_;
  journal_.want_slots();
  return chunk;
}

void JournaledLog::fill(Chunk* chunk) {
  if (journal_.is_of_this_process()) journal_.slots_.fill(chunk);
}

void JournaledLog::give(Chunk* chunk) {
  if (is_kept_.load()) return;
  if (journal_.is_of_this_process()) journal_.slots_.give(chunk);
}

void JournaledLog::add_name(NameNumber number, const Name& name) {
  if (window_ == nullptr) return;
  window_->define(DefinitionKind::name,
                  bytes_of_name(static_cast<std::uint32_t>(log_), number, name));
}

void JournaledLog::count_lost() {
  if (window_ != nullptr && window_->losses_ != nullptr) window_->losses_->fetch_add(1);
}

}  // namespace tbtrace::recorder::journal
