// Where a log's chunks come from and who hears of its names, if that is not the process's own
// memory: a journal, which outlasts the process.
// take(), fill() and give() may be called by any thread, one at a time per log; add_name() and
// count_lost() by the recorded thread. None of them throws or waits for anything slow.
#pragma once

#include <cstddef>

#include "recorder/log/chunk.h"
#include "recorder/log/name_table.h"

namespace tbtrace::recorder {

/// To keep logs elsewhere, implement this and hand it to the log.
class LogHome {
 public:
  virtual ~LogHome() = default;

  /// As take_chunk(). Null: there is no room, and the record is lost.
  virtual Chunk* take(std::size_t words, std::size_t bytes) = 0;
  /// The chunk, which was taken, will not be written to any more.
  virtual void fill(Chunk* chunk) = 0;
  /// Nobody needs the chunk any more.
  virtual void give(Chunk* chunk) = 0;
  /// A name that records may have from now on.
  virtual void add_name(NameNumber number, const Name& name) = 0;
  virtual void count_lost() = 0;
  /// The table that numbers of the process's names are of; null: that of this process.
  virtual const NameTable* process_names() const { return nullptr; }
};

}  // namespace tbtrace::recorder
