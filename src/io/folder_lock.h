// Keeps two processes from working in one folder.
// Owns a file `.lock` in the folder, which is removed with the lock. One thread at a time.
// On file systems without flock() the lock silently has no effect.
#pragma once

#include <filesystem>
#include <memory>

#include <tbtrace/status.h>

namespace tbtrace::io {

class FolderLock {
 public:
  /// Creates the folder if missing and locks it. Null if another process has the lock, a failure if
  /// the folder or the lock file cannot be created.
  static Result<std::unique_ptr<FolderLock>> try_lock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(std::filesystem::path file);

  std::filesystem::path file_;
  int descriptor_ = -1;  // of the lock file; -1: we do not have the lock
};

}  // namespace tbtrace::io
