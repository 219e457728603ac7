#include <isa-l/igzip_lib.h>

#include "io/inflater.h"

namespace tbtrace::io {

struct Inflater::Library {
  inflate_state state;
};

Inflater::Inflater() : library_(std::make_unique<Library>()) { reset(); }
Inflater::~Inflater() = default;

void Inflater::reset() {
  isal_inflate_init(&library_->state);
  library_->state.crc_flag = ISAL_GZIP;  // parse the header, check CRC and length at the end
}

Inflater::Step Inflater::inflate(std::span<const char> input, std::span<char> output) {
  inflate_state& state = library_->state;
  // The library takes non-const input and does not write to it.
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
  state.avail_in = static_cast<std::uint32_t>(input.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(output.data());
  state.avail_out = static_cast<std::uint32_t>(output.size());
  const int code = isal_inflate(&state);
  Step step = {input.size() - state.avail_in, output.size() - state.avail_out, State::more};
  if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT && code != ISAL_OUT_OVERFLOW) {
    step.state = State::damaged;
  } else if (state.block_state == ISAL_BLOCK_FINISH) {
    step.state = State::end_of_member;
  }
  return step;
}

}  // namespace tbtrace::io
