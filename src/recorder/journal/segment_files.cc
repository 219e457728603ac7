#include "recorder/journal/segment_files.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/journal/layout.h"

namespace tbtrace::recorder::journal {

namespace {

Status failed(const std::string& what, int error) {
  return {StatusCode::unwritable_output, what + ": " + std::generic_category().message(error)};
}

class Folder final : public SegmentFiles {
 public:
  explicit Folder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  ~Folder() override {
    for (const File& file : files_) {
      ::munmap(file.memory, file.bytes);
      if (file.descriptor >= 0) ::close(file.descriptor);
    }
  }

  Result<char*> create(const std::string& name, std::size_t bytes) override {
    // Others find the head when it is locked, not before: they would take the journal for a dead
    // process's.
    const bool is_head = name == kHeadName;
    const std::filesystem::path path = folder_ / (is_head ? name + ".new" : name);
    constexpr mode_t kOwnersOnly = 0600;  // names of a program's functions may be anybody's secret
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnersOnly);
    if (descriptor < 0) return failed(path.string(), errno);
    const auto give_up = [&](int error) {
      ::close(descriptor);
      ::unlink(path.c_str());
      return failed(path.string(), error);
    };
    // A store into a page that the disk has no room for would end the program.
    if (const int error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)); error != 0) {
      return give_up(error);
    }
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return give_up(errno);
    const std::filesystem::path shown = folder_ / name;
    if (is_head && (!lock(descriptor) || ::rename(path.c_str(), shown.c_str()) != 0)) {
      const Status status = failed(path.string() + " cannot be locked", errno);
      ::munmap(memory, bytes);
      static_cast<void>(give_up(0));
      return status;
    }
    files_.push_back({shown, descriptor, memory, bytes});
    return static_cast<char*>(memory);
  }

  Status sync() override {
    for (const File& file : files_) {
      if (::msync(file.memory, file.bytes, MS_SYNC) != 0) return failed(file.path.string(), errno);
    }
    return {};
  }

  void remove(std::span<const std::span<char>> kept) override {
    for (File& file : files_) {
      ::unlink(file.path.c_str());
      leave(file, kept);
    }
    ::rmdir(folder_.c_str());
  }

 private:
  struct File {
    std::filesystem::path path;
    int descriptor;
    void* memory;
    std::size_t bytes;
  };

  /// Puts memory of the process where the file's was. To free a file takes time, which is spent
  /// here and not by whoever is the last to use its memory.
  static void leave(File& file, std::span<const std::span<char>> kept) {
    void* const memory = ::mmap(nullptr, file.bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    char* const start = static_cast<char*>(file.memory);
    for (const std::span<char> part : kept) {
      if (part.data() < start || part.data() >= start + file.bytes) continue;
      std::memcpy(static_cast<char*>(memory) + (part.data() - start), part.data(), part.size());
    }
    if (::mremap(memory, file.bytes, file.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, file.memory) ==
        MAP_FAILED) {
      ::munmap(memory, file.bytes);
      return;
    }
    ::close(std::exchange(file.descriptor, -1));
  }

  /// A lock of the process, which forked children have not, and which its end releases.
  static bool lock(int descriptor) {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(descriptor, F_SETLK, &whole) == 0;
  }

  std::filesystem::path folder_;
  std::vector<File> files_;
};

}  // namespace

Result<std::unique_ptr<SegmentFiles>> segment_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  constexpr mode_t kOwnersOnly = 0700;
  if (::mkdir(folder.c_str(), kOwnersOnly) != 0) return failed(folder.string(), errno);
  return std::unique_ptr<SegmentFiles>(std::make_unique<Folder>(folder));
}

}  // namespace tbtrace::recorder::journal
