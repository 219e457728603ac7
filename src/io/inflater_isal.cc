#include <algorithm>

#include <isa-l/igzip_lib.h>

#include "io/inflater.h"

namespace tbtrace::io {

struct Inflater::Library {
  inflate_state state;
  // Kept here because the library, when it reads headers itself, forgets the flags and the checksum
  // of a header that does not arrive in one piece.
  isal_gzip_header header;
  bool in_header;
  bool damaged;

  int run() {
    if (in_header) {
      if (const int code = isal_read_gzip_header(&state, &header); code != ISAL_DECOMP_OK) {
        return code;
      }
      in_header = false;
    }
    return isal_inflate(&state);
  }

  /// Copies out data that was inflated before the damage but did not fit into the caller's buffer.
  /// The library itself would continue reading after the damage.
  void give_rest() {
    const auto count = std::min<std::uint32_t>(
        state.avail_out, static_cast<std::uint32_t>(state.tmp_out_valid - state.tmp_out_processed));
    std::copy_n(state.tmp_out_buffer + state.tmp_out_processed, count, state.next_out);
    state.tmp_out_processed += static_cast<std::int32_t>(count);
    state.avail_out -= count;
  }
  bool has_rest() const { return state.tmp_out_processed < state.tmp_out_valid; }
};

Inflater::Inflater() : library_(std::make_unique<Library>()) { reset(); }
Inflater::~Inflater() = default;

void Inflater::reset() {
  isal_inflate_init(&library_->state);
  library_->state.crc_flag = ISAL_GZIP_NO_HDR_VER;  // check CRC and length at the end
  isal_gzip_header_init(&library_->header);
  library_->in_header = true;
  library_->damaged = false;
}

Inflater::Step Inflater::inflate(std::span<const char> input, std::span<char> output) {
  inflate_state& state = library_->state;
  // The library takes non-const input and does not write to it.
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
  state.avail_in = static_cast<std::uint32_t>(input.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(output.data());
  state.avail_out = static_cast<std::uint32_t>(output.size());
  if (!library_->damaged) {
    const int code = library_->run();
    library_->damaged =
        code != ISAL_DECOMP_OK && code != ISAL_END_INPUT && code != ISAL_OUT_OVERFLOW;
  }
  if (library_->damaged) library_->give_rest();
  Step step = {0, output.size() - state.avail_out, State::more};
  if (library_->damaged) {
    // After damage, the number of consumed bytes is unreliable.
    if (!library_->has_rest()) step.state = State::damaged;
    return step;
  }
  step.consumed = input.size() - state.avail_in;
  if (state.block_state == ISAL_BLOCK_FINISH) step.state = State::end_of_member;
  return step;
}

}  // namespace tbtrace::io
