#include <array>
#include <cstdint>

#include <isa-l/igzip_lib.h>

#include "io/deflater.h"

namespace tbtrace::io {

std::string_view gzip_library() { return "isa-l"; }

struct Deflater::Library {
  isal_zstream stream;
  std::array<std::uint8_t, ISAL_DEF_LVL1_DEFAULT> level_buffer;
};

Deflater::Deflater() : library_(std::make_unique<Library>()) {
  isal_zstream& stream = library_->stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = 1;  // 0, the default, uses fixed Huffman codes: files are a fifth larger
  stream.level_buf = library_->level_buffer.data();
  stream.level_buf_size = static_cast<std::uint32_t>(library_->level_buffer.size());
}

Deflater::~Deflater() = default;

Deflater::Step Deflater::deflate(std::span<const char> input, std::span<char> output, bool last) {
  isal_zstream& stream = library_->stream;
  // The library takes non-const input and does not write to it.
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<std::uint32_t>(input.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(output.data());
  stream.avail_out = static_cast<std::uint32_t>(output.size());
  stream.end_of_stream = last ? 1 : 0;
  stream.flush = NO_FLUSH;
  isal_deflate(&stream);  // fails only for unsupported settings
  return {input.size() - stream.avail_in, output.size() - stream.avail_out,
          stream.internal_state.state == ZSTATE_END};
}

}  // namespace tbtrace::io
