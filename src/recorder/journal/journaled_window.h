// The part of a journal that one recording has.
// Any thread. Keeps its journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "recorder/journal/definitions.h"
#include "recorder/journal/device_log.h"
#include "recorder/journal/journal.h"
#include "recorder/log/log_home.h"
#include "recorder/log/window_journal.h"

namespace tbtrace::recorder::journal {

class JournaledWindow final : public WindowJournal,
                              public std::enable_shared_from_this<JournaledWindow> {
 public:
  JournaledWindow(std::shared_ptr<Journal> journal, std::uint64_t window);
  ~JournaledWindow() override;

  void start(const WindowStart& start) override;
  std::shared_ptr<LogHome> add_log(std::uint32_t log, const ThreadIdentity& identity,
                                   std::uint64_t began) override;
  void add_metadata(const std::string& key, const std::string& json) override;
  void add_known_tensors(std::span<const KnownTensor> tensors) override;
  std::shared_ptr<DeviceJournal> devices() override;
  std::shared_ptr<DeviceMemoryJournal> device_memory() override;
  void close(const ClockSample& ended, std::uint64_t lost) override;
  void forget() override;
  void keep() override;

 private:
  friend class JournaledLog;

  void define(DefinitionKind kind, std::string_view bytes);
  template <typename Log>
  std::shared_ptr<Log> log_of(std::unique_ptr<Log>& log, std::uint64_t number);

  const std::shared_ptr<Journal> journal_;
  const std::uint64_t window_;
  std::atomic<std::uint64_t>* const losses_;  // null: there is no place to count them
  std::atomic<bool> is_kept_ = false;

  std::mutex mutex_;  // of the definitions, and while the other logs are made
  std::unique_ptr<ThreadLog> definitions_;
  // Given back before the definition that nobody asks for them.
  std::unique_ptr<DeviceLog> devices_;
  std::unique_ptr<DeviceMemoryLog> device_memory_;
};

/// The chunks of one log; as JournaledWindow, or the journal's own.
class JournaledLog final : public LogHome {
 public:
  JournaledLog(Journal& journal, std::shared_ptr<JournaledWindow> window, std::uint64_t number,
               std::uint64_t log)
      : journal_(journal),
        window_(std::move(window)),
        is_kept_(window_->is_kept_),
        number_(number),
        log_(log) {}
  /// Of definitions or devices, which have no names. `is_kept` outlives the log.
  JournaledLog(Journal& journal, const std::atomic<bool>& is_kept, std::uint64_t number,
               std::uint64_t log = kDefinitions)
      : journal_(journal), is_kept_(is_kept), number_(number), log_(log) {}

  Chunk* take(std::size_t words, std::size_t bytes) override;
  void fill(Chunk* chunk) override;
  void give(Chunk* chunk) override;
  void add_name(NameNumber number, const Name& name) override;
  void count_lost() override;

 private:
  Journal& journal_;
  const std::shared_ptr<JournaledWindow> window_;  // null: of definitions or devices
  const std::atomic<bool>& is_kept_;
  const std::uint64_t number_;
  const std::uint64_t log_;
  std::uint64_t sequence_ = 0;
};

}  // namespace tbtrace::recorder::journal
