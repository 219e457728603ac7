// Keeps two processes from working in one folder.
// Owns a file `.lock` in the folder, which goes with it. One thread at a time.
// Where the file system knows no locks, there is none and nothing says so.
#pragma once

#include <filesystem>
#include <memory>

#include <tbtrace/status.h>

namespace tbtrace::io {

class FolderLock {
 public:
  /// Makes the folder where it is missing and locks it: nothing if somebody else has the lock, a
  /// failure if the folder or the file in it cannot be made.
  static Result<std::unique_ptr<FolderLock>> try_lock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(std::filesystem::path file);

  std::filesystem::path file_;
  int descriptor_ = -1;  // of the file if we have the lock
};

}  // namespace tbtrace::io
