// An input that can be read from its start more than once. To add one, implement Rereadable.
// The sources that it opens must not outlive it. Any number of threads may open sources.
// Files are read in place; an input that can be read only once is copied to an unlinked temporary
// file.
#pragma once

#include <memory>
#include <string>

#include "io/source.h"

namespace tbtrace::io {

class Rereadable {
 public:
  /// A file, or `-` for standard input.
  static Result<std::unique_ptr<Rereadable>> open(const std::string& path);
  /// The rest of a source, copied to an unlinked temporary file.
  static Result<std::unique_ptr<Rereadable>> copy_of(ByteSource& once);

  Rereadable() = default;
  Rereadable(const Rereadable&) = delete;
  Rereadable& operator=(const Rereadable&) = delete;
  virtual ~Rereadable() = default;

  /// A source from the start of the input to where its end was in open().
  virtual std::unique_ptr<ByteSource> source() const = 0;

  /// Whether the input was written to since open().
  virtual bool has_changed() const = 0;
};

}  // namespace tbtrace::io
