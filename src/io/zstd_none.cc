#include "io/failures.h"
#include "io/zstd.h"

namespace tbtrace::io {

bool knows_zstd() { return false; }

Result<std::unique_ptr<ByteSource>> zstd_source(std::unique_ptr<ByteSource> source) {
  static_cast<void>(source);
  return read_failure(
      "is zstd data, and this tbtrace was built without libzstd; unpack it with `zstd -d`");
}

}  // namespace tbtrace::io
