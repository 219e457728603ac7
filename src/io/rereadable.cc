#include "io/rereadable.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/failures.h"

namespace tbtrace::io {
namespace {

class PositionedSource final : public ByteSource {
 public:
  PositionedSource(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    buffer = buffer.first(std::min<std::uint64_t>(buffer.size(), size_ - position_));
    for (;;) {
      const ssize_t got =
          ::pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(position_));
      if (got >= 0) {
        position_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR)
        return system_read_failure("cannot read", "copy the file again, or to another disk");
    }
  }
  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return size_; }
  bool seek(std::uint64_t position) override {
    position_ = std::min(position, size_);
    return true;
  }

 private:
  int descriptor_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
};

std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

/// The input is readable; its temporary copy cannot be written.
Status cannot_keep() {
  const int code = errno;
  return {StatusCode::unwritable_output, "cannot copy the input to a temporary file in " +
                                             temporary_folder() + ": " + std::strerror(code) +
                                             "; set TMPDIR to a directory with room for it"};
}

/// An unlinked temporary file, which disappears when closed.
Result<int> nameless_file() {
  std::string name = temporary_folder() + "/tbtrace-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    return cannot_keep();
  }
  ::unlink(name.c_str());
  return descriptor;
}

Status write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return cannot_keep();
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Owns a descriptor, of the input itself or of its copy.
class StoredInput final : public Rereadable {
 public:
  StoredInput(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  ~StoredInput() override { ::close(descriptor_); }

  std::unique_ptr<ByteSource> source() const override {
    return std::make_unique<PositionedSource>(descriptor_, size_);
  }

  bool has_changed() const override {
    struct stat info = {};
    if (!is_file_) return false;
    return ::fstat(descriptor_, &info) != 0 || info.st_size != static_cast<off_t>(size_) ||
           info.st_mtim.tv_sec != changed_s_ || info.st_mtim.tv_nsec != changed_ns_;
  }

  /// Makes has_changed() notice changes of the file from now on.
  void watch(const struct stat& info) {
    changed_s_ = info.st_mtim.tv_sec;
    changed_ns_ = info.st_mtim.tv_nsec;
    is_file_ = true;
  }
  void grow(std::uint64_t size) { size_ += size; }

 private:
  int descriptor_;
  std::uint64_t size_;
  std::int64_t changed_s_ = 0;  // modification time, for files
  std::int64_t changed_ns_ = 0;
  bool is_file_ = false;
};

}  // namespace

Result<std::unique_ptr<Rereadable>> Rereadable::open(const std::string& path) {
  std::unique_ptr<ByteSource> once;
  if (path == "-") {
    once = standard_input();
  } else {
    struct stat info = {};
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) {
        return system_read_failure("cannot open", "check the path and its permissions");
      }
      // The times of the opened file, in case the path was replaced in between.
      if (::fstat(descriptor, &info) != 0) {
        const Status failed =
            system_read_failure("cannot read", "copy the file again, or to another disk");
        ::close(descriptor);
        return failed;
      }
      auto file =
          std::make_unique<StoredInput>(descriptor, static_cast<std::uint64_t>(info.st_size));
      file->watch(info);
      return std::unique_ptr<Rereadable>(std::move(file));
    }
    Result<std::unique_ptr<ByteSource>> file = open_file(path);
    if (!file.ok()) return file.status();
    once = *std::move(file);
  }
  return copy_of(*once);
}

Result<std::unique_ptr<Rereadable>> Rereadable::copy_of(ByteSource& once) {
  const Result<int> descriptor = nameless_file();
  if (!descriptor.ok()) return descriptor.status();
  auto copy = std::make_unique<StoredInput>(*descriptor, 0);
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const Result<std::size_t> got = once.read(buffer);
    if (!got.ok()) return got.status();
    if (*got == 0) return std::unique_ptr<Rereadable>(std::move(copy));
    if (Status kept = write_all(*descriptor, {buffer.data(), *got}); !kept.ok()) return kept;
    copy->grow(*got);
  }
}

}  // namespace tbtrace::io
