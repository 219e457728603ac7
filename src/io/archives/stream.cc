#include "io/archives/stream.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "io/failures.h"

namespace tbtrace::io {
namespace {

constexpr std::size_t kBufferSize = std::size_t{256} << 10;
constexpr std::uint64_t kFreeInflation = std::uint64_t{4} << 30;
constexpr std::uint64_t kMostInflation = 1000;

/// In ASCII, because archives name things in it.
std::string plain_text(const char* text) {
  std::string plain = text == nullptr ? "unknown error" : text;
  constexpr std::size_t kMost = 100;
  if (plain.size() > kMost) plain.resize(kMost);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return plain;
}

bool set_up(const ArchiveLibrary& library, void* archive, PackedKind kind) {
  // A filter that is not OK would run a program.
  switch (kind) {
    case PackedKind::xz:
      if (library.support_filter_xz(archive) != kArchiveOk) return false;
      break;
    case PackedKind::bzip2:
      if (library.support_filter_bzip2(archive) != kArchiveOk) return false;
      break;
    case PackedKind::tar:
      return library.support_format_tar(archive) == kArchiveOk;
    case PackedKind::zip:
      return library.support_format_zip(archive) == kArchiveOk;
    case PackedKind::none:
      return false;
  }
  return library.support_format_empty(archive) == kArchiveOk &&
         library.support_format_raw(archive) == kArchiveOk;
}

}  // namespace

Status InflationLimit::add(std::uint64_t bytes, const ByteSource& source) {
  inflated_ += bytes;
  const std::uint64_t outermost = std::max(source.position(), source.total());
  if (inflated_ <= kFreeInflation || (inflated_ - kFreeInflation) / kMostInflation < outermost)
    return {};
  return read_failure(
      "inflates to more than 1,000 times its size, so it was not read further; "
      "unpack it first if you trust it");
}

Result<std::unique_ptr<ArchiveStream>> ArchiveStream::open(std::unique_ptr<ByteSource> source,
                                                           PackedKind kind) {
  const Result<const ArchiveLibrary*> library = libarchive();
  if (library.status().code() == StatusCode::out_of_memory) return library.status();
  if (!library.ok()) {
    return read_failure("is " + std::string(described(kind)) + ", but " +
                        library.status().message() + ", or unpack it with `" +
                        std::string(unpack_command(kind)) + "`");
  }
  std::unique_ptr<ArchiveStream> stream(new ArchiveStream(std::move(source), kind, **library));
  if (!set_up(**library, stream->archive_, kind)) {
    return read_failure("is " + std::string(described(kind)) +
                        ", which the libarchive of this machine does not read; unpack it with `" +
                        std::string(unpack_command(kind)) + "`");
  }
  (*library)->set_read_callback(stream->archive_, read_source);
  // Without seeking, a zip archive is read by the headers between its members.
  if (stream->source_->total() > 0 && stream->source_->seek(0)) {
    (*library)->set_seek_callback(stream->archive_, seek_source);
  }
  (*library)->set_callback_data(stream->archive_, stream.get());
  const int code = (*library)->open(stream->archive_);
  if (code != kArchiveOk && code != kArchiveWarning) return stream->failure();
  return stream;
}

ArchiveStream::ArchiveStream(std::unique_ptr<ByteSource> source, PackedKind kind,
                             const ArchiveLibrary& library)
    : source_(std::move(source)),
      kind_(kind),
      library_(library),
      archive_(library.read_new()),
      buffer_(kBufferSize) {
  if (archive_ == nullptr) throw std::bad_alloc();
}

ArchiveStream::~ArchiveStream() { library_.read_free(archive_); }

Result<bool> ArchiveStream::next(Entry& entry) {
  void* found = nullptr;
  const int code = library_.next_header(archive_, &found);
  if (no_memory_) throw std::bad_alloc();
  if (code == kArchiveEnd) return false;
  // A warning is about names in another encoding.
  if (code != kArchiveOk && code != kArchiveWarning) return failure();
  block_ = {};
  at_ = 0;
  encrypted_ = library_.is_data_encrypted(found) == 1;
  const char* path = library_.pathname_utf8(found);
  if (path == nullptr) path = library_.pathname(found);
  entry.path = path == nullptr ? "unnamed" : path;
  entry.is_file = library_.filetype(found) == kArchiveFile && library_.hardlink(found) == nullptr;
  return true;
}

Result<std::size_t> ArchiveStream::read(std::span<char> buffer) {
  if (encrypted_) {
    return read_failure("is encrypted; unpack the archive with its password first");
  }
  if (block_.empty()) {
    const void* data = nullptr;
    std::size_t size = 0;
    std::int64_t offset = 0;
    int code = kArchiveOk;
    while (code == kArchiveOk && size == 0) {
      code = library_.data_block(archive_, &data, &size, &offset);
    }
    if (no_memory_) throw std::bad_alloc();
    if (code == kArchiveEnd) return std::size_t{0};
    if (code != kArchiveOk && code != kArchiveWarning) return failure();
    if (size == 0) return std::size_t{0};
    if (offset != at_) {
      return read_failure("has holes, so it is not the text that a trace is; unpack it first");
    }
    if (const Status within = given_.add(size, *source_); !within.ok()) return within;
    block_ = {static_cast<const char*>(data), size};
    at_ += static_cast<std::int64_t>(size);
  }
  const std::size_t count = std::min(block_.size(), buffer.size());
  std::copy_n(block_.begin(), count, buffer.begin());
  block_ = block_.subspan(count);
  return count;
}

Status ArchiveStream::failure() {
  if (!source_failure_.ok()) return source_failure_;
  const bool is_text = kind_ == PackedKind::xz || kind_ == PackedKind::bzip2;
  return read_failure((is_text ? "the " : "is ") + std::string(described(kind_)) +
                      (is_text ? " are damaged (" : " that is damaged (") +
                      plain_text(library_.error_string(archive_)) +
                      "); everything before the damage was read; copy the file again");
}

ssize_t ArchiveStream::read_source(void*, void* client, const void** buffer) {
  ArchiveStream& stream = *static_cast<ArchiveStream*>(client);
  try {
    const Result<std::size_t> got = stream.source_->read(stream.buffer_);
    stream.source_failure_ = got.status();
    if (got.ok()) stream.source_failure_ = stream.taken_.add(*got, *stream.source_);
    if (!stream.source_failure_.ok()) return -1;
    *buffer = stream.buffer_.data();
    return static_cast<ssize_t>(*got);
  } catch (const std::bad_alloc&) {
    stream.no_memory_ = true;
    return -1;
  }
}

std::int64_t ArchiveStream::seek_source(void*, void* client, std::int64_t offset, int whence) {
  ArchiveStream& stream = *static_cast<ArchiveStream*>(client);
  const auto total = static_cast<std::int64_t>(stream.source_->total());
  if (whence == SEEK_CUR) offset += static_cast<std::int64_t>(stream.source_->position());
  if (whence == SEEK_END) offset += total;
  offset = std::clamp<std::int64_t>(offset, 0, total);
  return stream.source_->seek(static_cast<std::uint64_t>(offset)) ? offset : -1;
}

}  // namespace tbtrace::io
