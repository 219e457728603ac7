#include "io/archives/unpacked.h"

#include <span>
#include <string>
#include <utility>

#include "io/archives/stream.h"

namespace tbtrace::io {
namespace {

/// The text of a compression that libarchive inflates.
class PackedText final : public ByteSource {
 public:
  explicit PackedText(std::unique_ptr<ArchiveStream> stream) : stream_(std::move(stream)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!end_.ok()) return end_;
    if (!begun_) {
      begun_ = true;
      ArchiveStream::Entry entry;
      const Result<bool> any = stream_->next(entry);
      if (!any.ok()) end_ = any.status();
      if (!any.ok()) return end_;
      is_empty_ = !*any;
    }
    if (is_empty_) return std::size_t{0};
    Result<std::size_t> got = stream_->read(buffer);
    if (!got.ok()) end_ = got.status();
    return got;
  }
  std::uint64_t position() const override { return stream_->source().position(); }
  std::uint64_t total() const override { return stream_->source().total(); }

 private:
  std::unique_ptr<ArchiveStream> stream_;
  Status end_;
  bool begun_ = false;
  bool is_empty_ = false;
};

}  // namespace

Result<Unpacked> unpacked(std::unique_ptr<ByteSource> source) {
  for (int layer = 0;; ++layer) {
    const Result<bool> inflated = inflate_layer(source);
    if (!inflated.ok()) return inflated.status();
    if (!*inflated) {
      const Result<std::string> start = peek(source, kPackedStart);
      // If it cannot be read, the next read fails in the same way.
      const PackedKind kind = start.ok() ? packed_kind(*start) : PackedKind::none;
      if (kind == PackedKind::none || is_archive(kind)) return Unpacked{std::move(source), kind};
      Result<std::unique_ptr<ArchiveStream>> stream = ArchiveStream::open(std::move(source), kind);
      if (!stream.ok()) return stream.status();
      source = std::make_unique<PackedText>(*std::move(stream));
    }
    if (layer == kMostLayers) return too_many_layers();
  }
}

}  // namespace tbtrace::io
