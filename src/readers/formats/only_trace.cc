#include "readers/formats/only_trace.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/archives/archive.h"
#include "io/archives/stream.h"
#include "io/rereadable.h"
#include "readers/formats/format.h"

namespace tbtrace::readers {
namespace {

/// A source that belongs to another one, or that needs one to be there.
class Borrowed final : public io::ByteSource {
 public:
  explicit Borrowed(io::ByteSource& source) : source_(source) {}

  Result<std::size_t> read(std::span<char> buffer) override { return source_.read(buffer); }
  std::uint64_t position() const override { return source_.position(); }
  std::uint64_t total() const override { return source_.total(); }
  bool seek(std::uint64_t position) override { return source_.seek(position); }

 private:
  io::ByteSource& source_;
};

class Bounded final : public io::ByteSource {
 public:
  explicit Bounded(io::ByteSource& source) : source_(source) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    Result<std::size_t> got = source_.read(buffer);
    if (!got.ok()) return got;
    const Status within = limit_.add(*got, source_);
    return within.ok() ? got : Result<std::size_t>(within);
  }
  std::uint64_t position() const override { return source_.position(); }
  std::uint64_t total() const override { return source_.total(); }

 private:
  io::ByteSource& source_;
  io::InflationLimit limit_;
};

class OfCopy final : public io::ByteSource {
 public:
  explicit OfCopy(std::unique_ptr<io::Rereadable> copy)
      : copy_(std::move(copy)), source_(copy_->source()) {}

  Result<std::size_t> read(std::span<char> buffer) override { return source_->read(buffer); }
  std::uint64_t position() const override { return source_->position(); }
  std::uint64_t total() const override { return source_->total(); }
  bool seek(std::uint64_t position) override { return source_->seek(position); }

 private:
  std::unique_ptr<io::Rereadable> copy_;
  std::unique_ptr<io::ByteSource> source_;
};

bool is_hidden(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return name.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with('.') ||
         name.starts_with("__MACOSX/");
}

}  // namespace

Result<std::unique_ptr<io::ByteSource>> only_trace(io::Unpacked archive) {
  if (!archive.source->seek(0)) {
    Bounded bounded(*archive.source);
    Result<std::unique_ptr<io::Rereadable>> copy = io::Rereadable::copy_of(bounded);
    if (!copy.ok()) return copy.status();
    archive.source = std::make_unique<OfCopy>(*std::move(copy));
  }
  std::string found;
  std::size_t count = 0;
  const io::MemberVisitor visitor = {
      .wants = [](std::string_view name) { return !is_hidden(name); },
      .take =
          [&](const std::string& name, Result<std::unique_ptr<io::ByteSource>> content) {
            if (!content.ok()) return;
            const Result<std::string> start = io::peek(*content, kSniffSize);
            if (!start.ok() || !find_format(*start).ok()) return;
            if (++count == 1) found = name;
          },
  };
  const std::string what(io::described(archive.archive));
  const Status visited =
      io::visit_members({std::make_unique<Borrowed>(*archive.source), archive.archive}, visitor);
  if (!visited.ok() && count == 0) return visited;
  if (count == 0) {
    return Status(StatusCode::unreadable_input,
                  "is " + what + " without a trace; name the file that holds the trace");
  }
  if (count > 1) {
    return Status(StatusCode::unreadable_input,
                  "is " + what + " of " + std::to_string(count) +
                      " files that may be traces; name one, after the archive's path: .../" +
                      found);
  }
  archive.source->seek(0);
  return io::open_member(std::move(archive), found);
}

}  // namespace tbtrace::readers
