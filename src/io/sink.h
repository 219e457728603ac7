// Where bytes go. To add a sink, implement ByteSink.
// A sink owns its handle. One thread at a time.
// A failed write or close returns a Status of code unwritable_output, and no half file appears.
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

  /// Makes the output appear. A sink destroyed without a successful close() leaves nothing behind.
  virtual Status close() = 0;
};

/// What create_file() would refuse already, so that no long work is done for nothing.
Status check_place(const std::string& name, bool overwrite);

struct FileOptions {
  /// An existing file is replaced and keeps its permissions; otherwise it is a failure.
  bool overwrite = false;
  /// The bytes are on the disk before the file appears, so that it is not empty or cut after a
  /// power failure (fdatasync()).
  bool durable = false;
};

/// A file that is written next to its place under a temporary name and renamed at close(). Without
/// `overwrite` an existing file is a failure, now or at close(). Links are followed and stay;
/// devices and pipes are written to directly.
Result<std::unique_ptr<ByteSink>> create_file(const std::string& name, const FileOptions& options);

/// Standard output; a closed pipe is a failed write, not a signal, if SIGPIPE is ignored.
std::unique_ptr<ByteSink> standard_output();

/// Appends to a string, which must outlive the sink.
std::unique_ptr<ByteSink> memory_sink(std::string& text);

/// Writes to a stream, which must outlive the sink.
std::unique_ptr<ByteSink> stream_sink(std::ostream& stream);

/// Compresses into `sink`, which it owns; close() ends the gzip member, then closes `sink`. The
/// same text gives the same bytes, however it was cut into writes.
std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> sink);

}  // namespace tbtrace::io
