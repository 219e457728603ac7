#include "io/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/remedies.h"

namespace tbtrace::io {
namespace {

Status lock_failure(const std::filesystem::path& path) {
  return {StatusCode::unwritable_output, "cannot create " + path.string() + ": " +
                                             std::strerror(errno) + "; " +
                                             std::string(kChooseWritablePlace)};
}

/// Whether `file` is still the opened file: the previous owner of the lock may have removed it.
bool is_same_file(int descriptor, const std::filesystem::path& file) {
  struct stat ours = {};
  struct stat there = {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(file.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

}  // namespace

FolderLock::FolderLock(std::filesystem::path file) : file_(std::move(file)) {}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  // Unlink before releasing the lock, unless another process has recreated the folder and the file.
  if (is_same_file(descriptor_, file_)) ::unlink(file_.c_str());
  ::close(descriptor_);
}

Result<std::unique_ptr<FolderLock>> FolderLock::try_lock(const std::filesystem::path& folder) {
  constexpr int kAttempts = 100;  // an attempt fails only if another owner has just left
  const std::filesystem::path file = folder / ".lock";
  std::unique_ptr<FolderLock> lock(new FolderLock(file));  // created before its file
  for (int attempt = 1;; ++attempt) {
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return lock_failure(folder);
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      if (errno == ENOENT && attempt < kAttempts) continue;
      return lock_failure(file);
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor);
      return std::unique_ptr<FolderLock>();
    }
    if (is_same_file(descriptor, file) || attempt == kAttempts) {
      lock->descriptor_ = descriptor;
      return lock;
    }
    ::close(descriptor);
  }
}

}  // namespace tbtrace::io
