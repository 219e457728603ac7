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

  /// Bytes taken from the outermost source so far, for progress (compressed ones of a compressed
  /// file).
  virtual std::uint64_t position() const = 0;

  /// What position() will be at the end, 0 if unknown (a pipe).
  virtual std::uint64_t total() const = 0;

  /// Goes on at a position, at most total(). False, and nothing changes, if the source can only be
  /// read in order.
  virtual bool seek(std::uint64_t position) {
    static_cast<void>(position);
    return false;
  }
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

/// How often data may be compressed one in the other, as gzip in gzip.
inline constexpr int kMostLayers = 4;
Status too_many_layers();

/// Replaces a source of gzip or zstd data, recognised by its content, not its name, by a source
/// that inflates it; false if it is something else. Fails for zstd data in a build without libzstd.
/// Damaged data show as a failed read after the bytes that could be inflated.
Result<bool> inflate_layer(std::unique_ptr<ByteSource>& source);

/// Inflates gzip and zstd data, also one in the other; other bytes are passed through.
Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> source);

/// Inflates gzip data.
std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> source);

}  // namespace tbtrace::io
