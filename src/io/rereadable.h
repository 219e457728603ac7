// An input that can be read from its start more than once.
// Owns a descriptor; the sources that it opens must not outlive it. Any number of threads may open.
// Files are read in place; what can be read once only is copied to a temporary file without a name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/source.h"

namespace tbtrace::io {

class Rereadable {
 public:
  /// `-` is standard input.
  static Result<std::unique_ptr<Rereadable>> open(const std::string& path);

  Rereadable(const Rereadable&) = delete;
  Rereadable& operator=(const Rereadable&) = delete;
  ~Rereadable();

  /// From the start, to where the end was when it was opened.
  std::unique_ptr<ByteSource> source() const;

  /// Whether a file has been written to since it was opened.
  bool has_changed() const;

 private:
  Rereadable(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  std::uint64_t size_;
  std::int64_t changed_s_ = 0;  // when it was written to; of files
  std::int64_t changed_ns_ = 0;
  bool is_file_ = false;
};

}  // namespace tbtrace::io
