// Lists and removes folders. The iterators of std::filesystem are not used for this: those of GNU's
// library end the program where memory runs out while they advance.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace tbtrace::io {

struct FolderEntry {
  std::filesystem::path path;       // the folder's path and the name
  std::filesystem::file_type type;  // of a link: symlink, wherever it leads
};

/// What a folder contains, in the order of the file system. If it cannot be read, or not to its
/// end, `error` says why and the result has what was read.
/// Throws std::bad_alloc, never an error, if memory runs out.
std::vector<FolderEntry> entries_of(const std::filesystem::path& folder, std::error_code& error);

/// The same of a folder and all below it; folders come after their contents. Links are not
/// followed, and folders that cannot be read count as empty.
std::vector<FolderEntry> all_entries_below(const std::filesystem::path& folder);

/// Removes a folder and all below it as far as the system permits. Links are not followed.
void remove_folder(const std::filesystem::path& folder);

}  // namespace tbtrace::io
