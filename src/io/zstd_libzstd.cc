#include "io/zstd.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include <zstd.h>
#include <zstd_errors.h>

#include "io/failures.h"

namespace tbtrace::io {
namespace {

constexpr std::size_t kZstdInputSize = std::size_t{64} << 10;
constexpr std::size_t kZstdMagicSize = 4;
constexpr std::size_t kBlockHeader = 3;  // RFC 8878, section 3.1.1.2
/// 128 MiB, which `zstd --long` uses and zstd(1) reads without being asked to.
constexpr int kLargestWindow = 27;

struct Free {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/// Bytes after the last frame are an error unless they are zero padding, as in GzipSource.
class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kLargestWindow);
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!end_.ok()) return end_;
    std::size_t filled = 0;
    while (filled < buffer.size() && !finished_) {
      if (between_frames_) {
        if (!start_frame()) return stop(filled);
        continue;
      }
      if (unread_.empty() && !input_ended_) fill();
      // One block at a time: if the next one is damaged, the library says nothing of what it
      // inflated before in the same call.
      ZSTD_inBuffer input = {unread_.data(), std::min(unread_.size(), wanted_), 0};
      ZSTD_outBuffer output = {buffer.data() + filled, buffer.size() - filled, 0};
      const std::size_t code = ZSTD_decompressStream(context_.get(), &output, &input);
      if (ZSTD_isError(code) != 0) return stop(filled, failure_of(code));
      unread_ = unread_.subspan(input.pos);
      filled += output.pos;
      between_frames_ = code == 0;
      // The library asks for a block and the header of the next one.
      wanted_ = std::max<std::size_t>(code > kBlockHeader ? code - kBlockHeader : code, 1);
      if (input.pos > 0 || output.pos > 0 || between_frames_) continue;
      if (!unread_.empty()) return stop(filled, damaged());
      if (input_ended_) return stop(filled, ended_too_early());
    }
    return filled;
  }

  std::uint64_t position() const override { return source_->position(); }
  std::uint64_t total() const override { return source_->total(); }

 private:
  static Status damaged() {
    return read_failure("the zstd data is damaged; everything before the damage was read");
  }

  Status ended_too_early() const {
    if (!source_failure_.ok()) return source_failure_;
    return read_failure("the zstd data ends too early; everything before the cut was read");
  }

  static Status failure_of(std::size_t code) {
    switch (ZSTD_getErrorCode(code)) {
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        return read_failure(
            "the zstd data needs a window of more than 128 MiB to unpack it; unpack it with `zstd "
            "-d --long=31`");
      case ZSTD_error_dictionary_wrong:
        return read_failure(
            "the zstd data needs a dictionary; unpack it with `zstd -d -D DICTIONARY`");
      default:
        return damaged();
    }
  }

  /// Appends to what is unread, which is less than a magic number.
  void fill() {
    std::copy(unread_.begin(), unread_.end(), input_.begin());
    const std::span<char> free = std::span<char>(input_).subspan(unread_.size());
    // After a failure the input that came before it is inflated.
    const Result<std::size_t> got = source_->read(free);
    if (!got.ok()) source_failure_ = got.status();
    const std::size_t count = got.ok() ? *got : 0;
    unread_ = std::span<const char>(input_).first(unread_.size() + count);
    input_ended_ = count == 0;
  }

  /// False if no other frame follows.
  bool start_frame() {
    while (any_frame_ && !unread_.empty() && unread_.front() == 0) unread_ = unread_.subspan(1);
    while (unread_.size() < kZstdMagicSize && !input_ended_) {
      fill();
      while (any_frame_ && !unread_.empty() && unread_.front() == 0) unread_ = unread_.subspan(1);
    }
    if (any_frame_ && unread_.empty()) {
      finished_ = true;
      end_ = source_failure_;
      return false;
    }
    if (any_frame_ && !begins_as_zstd({unread_.data(), unread_.size()})) {
      const bool is_cut = unread_.size() < kZstdMagicSize &&
                          std::string_view("\x28\xb5\x2f\xfd")
                              .starts_with(std::string_view(unread_.data(), unread_.size()));
      end_ = is_cut ? ended_too_early()
                    : read_failure(
                          "the zstd data is followed by something else; the zstd data was "
                          "read");
      return false;
    }
    any_frame_ = true;
    between_frames_ = false;
    wanted_ = kZstdMagicSize + 1;
    return true;
  }

  /// Returns what was inflated before the failure; the next read returns the failure.
  Result<std::size_t> stop(std::size_t filled, const Status& status) {
    end_ = status;
    return stop(filled);
  }
  Result<std::size_t> stop(std::size_t filled) const {
    if (filled > 0 || end_.ok()) return filled;
    return end_;
  }

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::array<char, kZstdInputSize> input_;
  std::span<const char> unread_;
  std::size_t wanted_ = 0;  // how much of it the library takes at most
  Status source_failure_;
  Status end_;
  bool input_ended_ = false;
  bool between_frames_ = true;
  bool any_frame_ = false;
  bool finished_ = false;
};

}  // namespace

bool knows_zstd() { return true; }

Result<std::unique_ptr<ByteSource>> zstd_source(std::unique_ptr<ByteSource> source) {
  return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(source)));
}

}  // namespace tbtrace::io
