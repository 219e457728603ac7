#include "recorder/journal/claim.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/journal/layout.h"
#include "recorder/process/never_destroyed.h"

namespace tbtrace::recorder::journal {

namespace {

struct Claims {
  std::mutex mutex;
  std::vector<std::filesystem::path> folders;
};

Claims& claims() {
  static NeverDestroyed<Claims> all;
  return *all;
}

}  // namespace

Claim::Claim(const std::filesystem::path& folder) : folder_(folder) {
  {
    const std::lock_guard lock(claims().mutex);
    auto& folders = claims().folders;
    if (std::find(folders.begin(), folders.end(), folder) != folders.end()) return;
    folders.push_back(folder);
    is_listed_ = true;
  }
  descriptor_ = ::open((folder / kHeadName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (descriptor_ < 0) {
    is_ours_ = errno != ENOENT;  // the journal ended meanwhile
    return;
  }
  struct stat file = {};
  is_ours_ = ::fcntl(descriptor_, F_SETLK, &whole) == 0 && ::fstat(descriptor_, &file) == 0 &&
             file.st_nlink > 0;  // 0: somebody else recovered and removed it
}

Claim::~Claim() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!is_listed_) return;
  const std::lock_guard lock(claims().mutex);
  std::erase(claims().folders, folder_);
}

}  // namespace tbtrace::recorder::journal
