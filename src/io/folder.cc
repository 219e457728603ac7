#include "io/folder.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <unistd.h>

namespace tbtrace::io {
namespace fs = std::filesystem;
namespace {

std::error_code error_of(int number) {
  if (number == ENOMEM) throw std::bad_alloc();
  return {number, std::generic_category()};
}

fs::file_type type_of(const dirent& entry, const fs::path& path) {
  switch (entry.d_type) {
    case DT_REG:
      return fs::file_type::regular;
    case DT_DIR:
      return fs::file_type::directory;
    case DT_LNK:
      return fs::file_type::symlink;
    default:
      break;  // another type, or a file system that does not tell
  }
  std::error_code error;
  return fs::symlink_status(path, error).type();
}

}  // namespace

std::vector<FolderEntry> entries_of(const fs::path& folder, std::error_code& error) {
  error.clear();
  std::vector<FolderEntry> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (open == nullptr) {
    error = error_of(errno);
    return entries;
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = &entry->d_name[0];
    if (name == "." || name == "..") continue;
    fs::path path = folder / name;
    const fs::file_type type = type_of(*entry, path);
    entries.push_back({std::move(path), type});
  }
  if (errno != 0) error = error_of(errno);
  return entries;
}

std::vector<FolderEntry> all_entries_below(const fs::path& folder) {
  std::error_code error;
  std::vector<FolderEntry> entries = entries_of(folder, error);
  for (std::size_t at = 0; at < entries.size(); ++at) {
    if (entries[at].type != fs::file_type::directory) continue;
    std::vector<FolderEntry> below = entries_of(entries[at].path, error);
    std::ranges::move(below, std::back_inserter(entries));
  }
  std::ranges::reverse(entries);
  return entries;
}

void remove_folder(const fs::path& folder) {
  for (const FolderEntry& entry : all_entries_below(folder)) {
    if (entry.type == fs::file_type::directory) {
      ::rmdir(entry.path.c_str());
    } else {
      ::unlink(entry.path.c_str());
    }
  }
  ::rmdir(folder.c_str());
}

}  // namespace tbtrace::io
