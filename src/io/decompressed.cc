// Which compressions are read without another library's help, by their first bytes.
#include <string>
#include <utility>

#include "io/failures.h"
#include "io/source.h"
#include "io/zstd.h"

namespace tbtrace::io {
namespace {

constexpr std::size_t kMagicSize = 4;

}  // namespace

Status too_many_layers() {
  static_assert(kMostLayers == 4);
  return read_failure("is compressed more than 4 times, one in the other; unpack it first");
}

Result<bool> inflate_layer(std::unique_ptr<ByteSource>& source) {
  const Result<std::string> start = peek(source, kMagicSize);
  if (!start.ok()) return false;  // the next read fails in the same way
  if (start->starts_with("\x1f\x8b")) {
    source = gzip_source(std::move(source));
    return true;
  }
  if (!begins_as_zstd(*start)) return false;
  Result<std::unique_ptr<ByteSource>> inflated = zstd_source(std::move(source));
  if (!inflated.ok()) return inflated.status();
  source = *std::move(inflated);
  return true;
}

Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> source) {
  for (int layer = 0;; ++layer) {
    const Result<bool> inflated = inflate_layer(source);
    if (!inflated.ok()) return inflated.status();
    if (!*inflated) return source;
    if (layer == kMostLayers) return too_many_layers();
  }
}

}  // namespace tbtrace::io
