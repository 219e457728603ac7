#include <new>

#include <zlib.h>

#include "io/inflater.h"

namespace tbtrace::io {

struct Inflater::Library {
  z_stream stream = {};
};

Inflater::Inflater() : library_(std::make_unique<Library>()) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&library_->stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() { inflateEnd(&library_->stream); }

void Inflater::reset() { inflateReset(&library_->stream); }

Inflater::Step Inflater::inflate(std::span<const char> input, std::span<char> output) {
  z_stream& stream = library_->stream;
  // The library takes non-const input and does not write to it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  const int code = ::inflate(&stream, Z_NO_FLUSH);
  Step step = {input.size() - stream.avail_in, output.size() - stream.avail_out, State::more};
  if (code == Z_STREAM_END) {
    step.state = State::end_of_member;
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    step.state = State::damaged;
  }
  return step;
}

}  // namespace tbtrace::io
