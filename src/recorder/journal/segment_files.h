// The files of a journal, and the memory that they are.
// One thread at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <tbtrace/status.h>

namespace tbtrace::recorder::journal {

/// To keep a journal elsewhere, such as in a test, implement this.
class SegmentFiles {
 public:
  virtual ~SegmentFiles() = default;

  /// A new file of zeros, whose storage is reserved, and the memory that it is: what is stored
  /// there is in the file, also after the process has ended. The memory lasts as long as this
  /// object.
  virtual Result<char*> create(const std::string& name, std::size_t bytes) = 0;
  /// All that was stored until now outlasts the machine's end.
  virtual Status sync() = 0;
  /// Removes the files. Their memory stays, but only these parts of it keep what is in them.
  virtual void remove(std::span<const std::span<char>> kept) = 0;
};

/// In a folder that nobody else has, which is made. Until it is closed, others find its head
/// locked.
Result<std::unique_ptr<SegmentFiles>> segment_files(const std::filesystem::path& folder);

}  // namespace tbtrace::recorder::journal
