#include "io/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/failures.h"

namespace tbtrace::io {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, std::uint64_t total, bool owned)
      : descriptor_(descriptor), total_(total), owned_(owned) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (owned_) ::close(descriptor_);
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
      if (got >= 0) {
        position_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR)
        return system_read_failure("cannot read", "copy the file again, or to another disk");
    }
  }
  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return total_; }
  bool seek(std::uint64_t position) override {
    // A file without a size may be one of /proc, or a pipe.
    if (total_ == 0 || ::lseek(descriptor_, static_cast<off_t>(position), SEEK_SET) < 0)
      return false;
    position_ = position;
    return true;
  }

 private:
  int descriptor_;
  std::uint64_t total_;
  bool owned_;
  std::uint64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - position_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, buffer.begin());
    position_ += count;
    return count;
  }
  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return bytes_.size(); }
  bool seek(std::uint64_t position) override {
    position_ = std::min<std::uint64_t>(position, bytes_.size());
    return true;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

class PrefixedSource final : public ByteSource {
 public:
  PrefixedSource(std::string start, std::unique_ptr<ByteSource> rest)
      : start_(std::move(start)), rest_(std::move(rest)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (given_ == start_.size()) return rest_->read(buffer);
    const std::size_t count = std::min(buffer.size(), start_.size() - given_);
    std::memcpy(buffer.data(), start_.data() + given_, count);
    given_ += count;
    return count;
  }
  std::uint64_t position() const override { return rest_->position(); }
  std::uint64_t total() const override { return rest_->total(); }
  bool seek(std::uint64_t position) override {
    if (!rest_->seek(position)) return false;
    given_ = start_.size();
    return true;
  }

 private:
  std::string start_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t given_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return system_read_failure("cannot open", "check the path and its permissions");
  struct stat info = {};
  if (::fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(descriptor);
    return read_failure("is a directory; name the traces in it");
  }
  const std::uint64_t total = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(descriptor, total, true));
}

std::unique_ptr<ByteSource> standard_input() {
  return std::make_unique<FileSource>(STDIN_FILENO, 0, false);
}

std::unique_ptr<ByteSource> memory_source(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

std::unique_ptr<ByteSource> prefixed(std::string start, std::unique_ptr<ByteSource> rest) {
  return std::make_unique<PrefixedSource>(std::move(start), std::move(rest));
}

Result<std::string> peek(std::unique_ptr<ByteSource>& source, std::size_t size) {
  std::string start(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    Result<std::size_t> got = source->read(std::span<char>(start).subspan(filled));
    if (!got.ok() && filled == 0) return got.status();
    if (!got.ok() || *got == 0) break;  // a source that failed once fails again at the next read
    filled += *got;
  }
  start.resize(filled);
  source = prefixed(start, std::move(source));
  return start;
}

}  // namespace tbtrace::io
