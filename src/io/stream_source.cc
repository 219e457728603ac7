#include "io/stream_source.h"

#include <cstddef>
#include <cstdint>

namespace tbtrace::io {
namespace {

class StreamSource final : public ByteSource {
 public:
  explicit StreamSource(std::istream& stream) : stream_(stream) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    try {
      stream_.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    } catch (...) {
      // The owner asked for exceptions, of the end of the stream too. What counts is in its state.
    }
    if (stream_.bad()) return Status(StatusCode::unreadable_input, "cannot read the stream");
    position_ += static_cast<std::uint64_t>(stream_.gcount());
    return static_cast<std::size_t>(stream_.gcount());
  }
  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return 0; }

 private:
  std::istream& stream_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> stream_source(std::istream& stream) {
  return std::make_unique<StreamSource>(stream);
}

}  // namespace tbtrace::io
