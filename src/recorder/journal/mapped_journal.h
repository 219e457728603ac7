// The files of a journal in memory, for reading: changes stay in memory.
// Owns the mappings. Immutable but for what a reader puts into its chunks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/status.h>

#include "recorder/journal/layout.h"

namespace tbtrace::recorder::journal {

class MappedJournal {
 public:
  /// A slot that belongs to a window.
  struct Slot {
    SlotHead* head;
    std::size_t bytes;
  };

  static Result<std::shared_ptr<MappedJournal>> open(const std::filesystem::path& folder);
  MappedJournal(const MappedJournal&) = delete;
  MappedJournal& operator=(const MappedJournal&) = delete;
  ~MappedJournal();

  /// Null: the process ended before it had begun to record.
  const Head* head() const { return head_; }
  bool is_alive() const { return is_alive_; }
  const std::vector<Slot>& slots() const { return slots_; }
  std::size_t unreadable() const { return unreadable_; }

 private:
  MappedJournal() = default;

  std::optional<std::pair<char*, std::size_t>> map(int descriptor);
  void add_segment(const std::filesystem::path& path);

  std::vector<std::pair<char*, std::size_t>> mappings_;
  const Head* head_ = nullptr;
  bool is_alive_ = false;
  std::vector<Slot> slots_;
  std::size_t unreadable_ = 0;
};

}  // namespace tbtrace::recorder::journal
