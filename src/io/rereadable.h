// An input that can be read from its start more than once. To add one, implement Rereadable.
// The sources that it opens must not outlive it. Any number of threads may open.
// Files are read in place; what can be read once only is copied to a temporary file without a name.
#pragma once

#include <memory>
#include <string>

#include "io/source.h"

namespace tbtrace::io {

class Rereadable {
 public:
  /// A file, or `-` for standard input.
  static Result<std::unique_ptr<Rereadable>> open(const std::string& path);

  Rereadable() = default;
  Rereadable(const Rereadable&) = delete;
  Rereadable& operator=(const Rereadable&) = delete;
  virtual ~Rereadable() = default;

  /// From the start, to where the end was when it was opened.
  virtual std::unique_ptr<ByteSource> source() const = 0;

  /// Whether it has been written to since it was opened.
  virtual bool has_changed() const = 0;
};

}  // namespace tbtrace::io
