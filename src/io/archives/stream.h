// One pass of libarchive over a source: its entries, and the bytes of each.
// Owns its source. One thread at a time. Nothing is written anywhere.
// What an archive says of itself is not trusted: names are data, and how much comes out is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/archives/kinds.h"
#include "io/archives/library.h"
#include "io/source.h"

namespace tbtrace::io {

/// Fails once more comes out of a source than any real archive holds: 4 GiB, and 1,000 times the
/// bytes of the outermost file.
class InflationLimit {
 public:
  Status add(std::uint64_t bytes, const ByteSource& source);

 private:
  std::uint64_t inflated_ = 0;
};

class ArchiveStream {
 public:
  struct Entry {
    std::string path;  ///< any bytes
    bool is_file;      ///< a regular file with bytes of its own, not a link
  };

  /// `source` begins as `kind`. Fails if libarchive is not there, with the command that unpacks it.
  static Result<std::unique_ptr<ArchiveStream>> open(std::unique_ptr<ByteSource> source,
                                                     PackedKind kind);
  ArchiveStream(const ArchiveStream&) = delete;
  ArchiveStream& operator=(const ArchiveStream&) = delete;
  ~ArchiveStream();

  /// Goes on to the next entry; false at the end.
  Result<bool> next(Entry& entry);

  /// Bytes of the current entry; 0 at its end.
  Result<std::size_t> read(std::span<char> buffer);

  PackedKind kind() const { return kind_; }
  const ByteSource& source() const { return *source_; }

 private:
  ArchiveStream(std::unique_ptr<ByteSource> source, PackedKind kind, const ArchiveLibrary& library);

  static ssize_t read_source(void* archive, void* client, const void** buffer);
  static std::int64_t seek_source(void* archive, void* client, std::int64_t offset, int whence);
  Status failure();

  std::unique_ptr<ByteSource> source_;
  PackedKind kind_;
  const ArchiveLibrary& library_;
  void* archive_;
  std::vector<char> buffer_;
  InflationLimit taken_;  // by libarchive
  InflationLimit given_;  // to the reader
  Status source_failure_;
  bool no_memory_ = false;
  // The rest of the block that libarchive returned last.
  std::span<const char> block_;
  std::int64_t at_ = 0;  // where it ends in the entry
  bool encrypted_ = false;
};

}  // namespace tbtrace::io
