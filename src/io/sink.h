// Byte outputs. To add one, implement ByteSink.
// A sink owns its handle. One thread at a time.
// A failed write or close returns a Status of code unwritable_output, and no partial file appears.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::io {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  virtual Status write(std::string_view bytes) = 0;

  /// Makes the output visible. A sink destroyed without a successful close() leaves no file.
  virtual Status close() = 0;
};

/// Fails if create_file() would refuse this path anyway, so that no long computation is wasted.
Status check_place(const std::string& name, bool overwrite);

struct FileOptions {
  /// Replaces an existing file and keeps its permissions; otherwise an existing file is a failure.
  bool overwrite = false;
  /// Flushes the bytes to disk (fdatasync()) before the file appears, so that it is not empty or
  /// truncated after a power failure.
  bool durable = false;
};

/// A file that is written next to its final path under a temporary name and renamed at close().
/// Without `overwrite` an existing file is a failure, now or at close(). Links are followed and
/// kept; devices and pipes are written to directly.
Result<std::unique_ptr<ByteSink>> create_file(const std::string& name, const FileOptions& options);

/// Standard output. If SIGPIPE is ignored, a closed pipe is a failed write instead of a signal.
std::unique_ptr<ByteSink> standard_output();

/// Appends to a string, which must outlive the sink.
std::unique_ptr<ByteSink> memory_sink(std::string& text);

/// Writes to a stream, which must outlive the sink.
std::unique_ptr<ByteSink> stream_sink(std::ostream& stream);

/// Compresses into `sink`, which it owns; close() ends the gzip member, then closes `sink`. The
/// compressed bytes do not depend on how the text was split into writes.
std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> sink);

/// What a user names as an output: `-` is standard output, a file whose name ends in `.gz` is
/// compressed.
Result<std::unique_ptr<ByteSink>> open_output(const std::string& name, const FileOptions& options);

}  // namespace tbtrace::io
