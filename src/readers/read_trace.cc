#include <istream>
#include <memory>
#include <string>
#include <utility>

#include <tbtrace/trace.h>

#include "io/source.h"
#include "readers/format.h"

namespace tbtrace {
namespace {

class StreamSource final : public io::ByteSource {
 public:
  explicit StreamSource(std::istream& stream) : stream_(stream) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    stream_.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
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

Result<Trace> read_source(std::unique_ptr<io::ByteSource> raw, const ReadOptions& options) {
  Result<std::unique_ptr<io::ByteSource>> source = io::decompressed(std::move(raw));
  if (!source.ok()) return source.status();
  const Result<std::string> start = io::peek(*source, readers::kSniffSize);
  if (!start.ok()) return start.status();
  const Result<const readers::Format*> format = readers::find_format(*start);
  if (!format.ok()) return format.status();
  Result<Trace> trace = (*format)->read(**source, options);
  if (trace.ok() && options.strict && !trace->issues().empty()) {
    const Issue& first = trace->issues().front();
    return Status(StatusCode::check_failed,
                  "strict reading failed: " + std::to_string(first.count) + " x " +
                      std::string(first.id) + ": " + std::string(first.sentence));
  }
  return trace;
}

}  // namespace

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  if (path == "-") return read_source(io::standard_input(), options);
  Result<std::unique_ptr<io::ByteSource>> file = io::open_file(path);
  if (!file.ok()) return file.status();
  return read_source(std::move(*file), options);
}

Result<Trace> read_trace(std::istream& stream, const ReadOptions& options) {
  return read_source(std::make_unique<StreamSource>(stream), options);
}

}  // namespace tbtrace
