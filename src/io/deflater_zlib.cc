#include <new>

#include <zlib.h>

#include "io/deflater.h"

namespace tbtrace::io {

std::string_view gzip_library() { return "zlib"; }

struct Deflater::Library {
  z_stream stream = {};
};

Deflater::Deflater() : library_(std::make_unique<Library>()) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kDefaultMemory = 8;
  if (deflateInit2(&library_->stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kDefaultMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

Deflater::~Deflater() { deflateEnd(&library_->stream); }

Deflater::Step Deflater::deflate(std::span<const char> input, std::span<char> output, bool last) {
  z_stream& stream = library_->stream;
  // The library takes non-const input and does not write to it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  const int code = ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
  return {input.size() - stream.avail_in, output.size() - stream.avail_out, code == Z_STREAM_END};
}

}  // namespace tbtrace::io
