#include "io/sink.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/remedies.h"

namespace tbtrace::io {
namespace {

Status failure(const std::string& what) { return {StatusCode::unwritable_output, what}; }
Status exists() { return {StatusCode::output_exists, "exists already"}; }
Status system_failure(const char* what) {
  return failure(std::string(what) + ": " + std::strerror(errno) + "; " +
                 std::string(kChooseWritablePlace));
}

/// Writes straight to a descriptor: standard output, a pipe, a device, a file.
class DirectSink final : public ByteSink {
 public:
  /// Opens a descriptor of its own with open().
  DirectSink() : owned_(true) {}
  explicit DirectSink(int descriptor) : descriptor_(descriptor) {}
  DirectSink(const DirectSink&) = delete;
  DirectSink& operator=(const DirectSink&) = delete;
  ~DirectSink() override {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  }

  /// False, and errno, if it cannot be opened.
  bool open(const std::string& path, int flags) {
    constexpr mode_t kMode = 0666;  // before the umask
    descriptor_ = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, kMode);
    return descriptor_ >= 0;
  }

  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0) {
        if (errno == EINTR || (errno == EAGAIN && wait_for_room())) continue;
        return system_failure("cannot write");
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status close() override {
    if (!owned_ || ::close(std::exchange(descriptor_, -1)) == 0) return {};
    return system_failure("cannot write");
  }

  /// Waits until the bytes are on disk, if the file system supports that.
  Status synchronize() const {
    if (::fdatasync(descriptor_) == 0 || errno == EINVAL || errno == ENOSYS) return {};
    return system_failure("cannot write");
  }

  /// Has the system start writing these bytes to disk, usually without waiting. Only saves time
  /// later; what fails is reported by fdatasync().
  void start_synchronizing(std::uint64_t from, std::uint64_t count) const {
    static_cast<void>(::sync_file_range(descriptor_, static_cast<off_t>(from),
                                        static_cast<off_t>(count), SYNC_FILE_RANGE_WRITE));
  }

  void set_permissions(mode_t mode) const { static_cast<void>(::fchmod(descriptor_, mode)); }

 private:
  /// Another program (a shell, another process on the terminal) may have made the descriptor
  /// non-blocking. False, with errno set, if waiting failed.
  bool wait_for_room() const {
    pollfd descriptor = {descriptor_, POLLOUT, 0};
    return ::poll(&descriptor, 1, -1) >= 0 || errno == EINTR;
  }

  int descriptor_ = -1;
  bool owned_ = false;
};

/// Writes to a temporary file beside the final path and renames it at the end.
class FileSink final : public ByteSink {
 public:
  FileSink(std::string path, const FileOptions& options)
      : path_(std::move(path)), options_(options) {}
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  /// Creates the file under an unused name.
  Status open() {
    for (int attempt = 0;; ++attempt) {
      std::string name =
          path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      if (direct_.open(name, O_CREAT | O_EXCL)) {
        temporary_ = std::move(name);
        take_permissions();
        return {};
      }
      if (errno != EEXIST) return system_failure("cannot create");
    }
  }

  Status write(std::string_view bytes) override {
    if (!failure_.ok()) return failure_;
    failure_ = direct_.write(bytes);
    written_ += bytes.size();
    if (failure_.ok() && options_.durable && written_ - synchronizing_ >= kSynchronizedAtOnce) {
      direct_.start_synchronizing(synchronizing_, written_ - synchronizing_);
      synchronizing_ = written_;
    }
    return failure_;
  }

  Status close() override {
    if (!failure_.ok()) return failure_;
    if (options_.durable) {
      if (Status safe = direct_.synchronize(); !safe.ok()) return safe;
    }
    if (Status closed = direct_.close(); !closed.ok()) return closed;
    if (options_.overwrite || !renamed_to_free_name()) {
      if (!options_.overwrite && errno == EEXIST) return exists();
      struct stat info = {};
      if (!options_.overwrite && ::stat(path_.c_str(), &info) == 0) return exists();
      if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
        return system_failure("cannot write");
    }
    temporary_.clear();
    return {};
  }

 private:
  /// Takes over the permissions of the replaced file, which may be private.
  void take_permissions() const {
    struct stat info = {};
    if (options_.overwrite && ::stat(path_.c_str(), &info) == 0) {
      direct_.set_permissions(info.st_mode & 07777);
    }
  }

  /// Renames only if the name is free. Fails on file systems that cannot do this in one step.
  bool renamed_to_free_name() const {
    return ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) ==
           0;
  }

  /// Few enough that the disk is busy early, and enough that it is asked seldom.
  static constexpr std::uint64_t kSynchronizedAtOnce = std::uint64_t{2} << 20;

  DirectSink direct_;
  std::uint64_t written_ = 0;
  std::uint64_t synchronizing_ = 0;  // bytes that are on their way to the disk
  Status failure_;                   // of the first write that failed
  std::string temporary_;            // empty if there is no such file
  std::string path_;
  FileOptions options_;
};

class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::string& text) : text_(text) {}
  Status write(std::string_view bytes) override {
    text_.append(bytes);
    return {};
  }
  Status close() override { return {}; }

 private:
  std::string& text_;
};

class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(std::ostream& stream) : stream_(stream) {}
  Status write(std::string_view bytes) override {
    try {
      stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    } catch (...) {
      // The stream's owner enabled exceptions. The stream's state is checked below.
    }
    return stream_ ? Status() : failure("cannot write to the stream");
  }
  Status close() override { return {}; }

 private:
  std::ostream& stream_;
};

/// The path with links resolved, so that a rename replaces the target and not the link
/// (`/dev/stdout` is a link).
std::string followed(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> target(::realpath(path.c_str(), nullptr),
                                                           &std::free);
  return target == nullptr ? path : target.get();
}

/// Whether its folder is there and writable; errno says why not.
bool can_create(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

}  // namespace

Status check_place(const std::string& name, bool overwrite) {
  struct stat info = {};
  if (::stat(name.c_str(), &info) != 0) {
    return errno == ENOENT && can_create(name) ? Status() : system_failure("cannot create");
  }
  if (S_ISDIR(info.st_mode)) return failure("is a directory; name a file");
  return overwrite || !S_ISREG(info.st_mode) ? Status() : exists();
}

Result<std::unique_ptr<ByteSink>> create_file(const std::string& name, const FileOptions& options) {
  if (Status place = check_place(name, options.overwrite); !place.ok()) return place;
  // The sink is created before its file, so the file is removed if memory runs out.
  const std::string path = followed(name);
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    auto direct = std::make_unique<DirectSink>();
    if (!direct->open(path, 0)) return system_failure("cannot open");
    return std::unique_ptr<ByteSink>(std::move(direct));
  }
  auto file = std::make_unique<FileSink>(path, options);
  if (Status opened = file->open(); !opened.ok()) return opened;
  return std::unique_ptr<ByteSink>(std::move(file));
}

std::unique_ptr<ByteSink> standard_output() { return std::make_unique<DirectSink>(STDOUT_FILENO); }

std::unique_ptr<ByteSink> memory_sink(std::string& text) {
  return std::make_unique<MemorySink>(text);
}

std::unique_ptr<ByteSink> stream_sink(std::ostream& stream) {
  return std::make_unique<StreamSink>(stream);
}

}  // namespace tbtrace::io
