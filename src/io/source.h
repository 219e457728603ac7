// Byte inputs. To add one, implement ByteSource.
// A source owns its handle; a buffer belongs to the caller. One thread at a time.
// A failed read returns a Status of code unreadable_input; data read before it stays valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills the start of `buffer` and returns how many bytes it wrote; 0 only at the end. It may
  /// return fewer bytes than asked for. After a failure every further read fails too.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;

  /// Bytes taken from the outermost source so far, for progress (compressed ones of a gzip file).
  virtual std::uint64_t position() const = 0;

  /// What position() will be at the end, 0 if unknown (a pipe).
  virtual std::uint64_t total() const = 0;
};

/// Opens a file. Fails with the reason for a directory, a missing file or missing permission.
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

/// Standard input.
std::unique_ptr<ByteSource> standard_input();

/// Bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);

/// `start`, then the content of `rest`: for a source whose first bytes were already read.
std::unique_ptr<ByteSource> prefixed(std::string start, std::unique_ptr<ByteSource> rest);

/// Reads up to `size` bytes from the start of `source`, and replaces it by a source that returns
/// them again.
Result<std::string> peek(std::unique_ptr<ByteSource>& source, std::size_t size);

/// Inflates gzip data, recognised by its content, not its name; other bytes are passed through.
/// Fails for unsupported compression (zstd, xz, bzip2, zip), which the message names. Damaged gzip
/// data shows as a failed read after the bytes that could be inflated.
Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> source);

}  // namespace tbtrace::io
