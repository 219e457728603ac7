// Compresses with ISA-L if available, else with zlib, both at their level 1.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "io/deflater.h"
#include "io/sink.h"

namespace tbtrace::io {
namespace {

constexpr std::size_t kInputSize = std::size_t{256} << 10;
constexpr std::size_t kOutputSize = std::size_t{64} << 10;

/// Compresses blocks of one size, so that the output does not depend on how the text was cut into
/// writes.
class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> sink)
      : sink_(std::move(sink)), input_(kInputSize), output_(kOutputSize) {}

  Status write(std::string_view bytes) override {
    while (failure_.ok() && !bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), input_.size() - filled_);
      std::copy_n(bytes.data(), count, input_.data() + filled_);
      filled_ += count;
      bytes.remove_prefix(count);
      if (filled_ == input_.size()) compress(false);
    }
    return failure_;
  }

  Status close() override {
    if (failure_.ok()) compress(true);
    if (failure_.ok()) failure_ = sink_->close();
    return failure_;
  }

 private:
  void compress(bool last) {
    std::span<const char> input = std::span<const char>(input_).first(filled_);
    filled_ = 0;
    for (;;) {
      const Deflater::Step step = deflater_.deflate(input, output_, last);
      input = input.subspan(step.consumed);
      if (step.produced > 0) failure_ = sink_->write({output_.data(), step.produced});
      const bool all_taken = input.empty() && step.produced < output_.size();
      if (!failure_.ok() || step.finished || (!last && all_taken)) return;
    }
  }

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> input_;
  std::vector<char> output_;
  std::size_t filled_ = 0;
  Deflater deflater_;
  Status failure_;  // the first one
};

}  // namespace

std::unique_ptr<ByteSink> gzip_sink(std::unique_ptr<ByteSink> sink) {
  return std::make_unique<GzipSink>(std::move(sink));
}

Result<std::unique_ptr<ByteSink>> open_output(const std::string& name, const FileOptions& options) {
  if (name == "-") return standard_output();
  Result<std::unique_ptr<ByteSink>> file = create_file(name, options);
  if (!file.ok() || !name.ends_with(".gz")) return file;
  return gzip_sink(*std::move(file));
}

}  // namespace tbtrace::io
