// Which file each part of a process's memory was mapped from.
// Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tbtrace::recorder {

struct MappedFile {
  std::uint64_t begin = 0;  ///< addresses
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< of `begin` in the file
  std::string path;
};

class AddressMap {
 public:
  AddressMap() = default;
  explicit AddressMap(std::vector<MappedFile> files) : files_(std::move(files)) {
    std::sort(files_.begin(), files_.end(),
              [](const MappedFile& a, const MappedFile& b) { return a.begin < b.begin; });
  }

  const std::vector<MappedFile>& files() const { return files_; }  ///< by address
  /// Null: no file is there.
  const MappedFile* at(std::uint64_t address) const {
    auto after = std::upper_bound(
        files_.begin(), files_.end(), address,
        [](std::uint64_t value, const MappedFile& file) { return value < file.begin; });
    if (after == files_.begin()) return nullptr;
    --after;
    return address < after->end ? &*after : nullptr;
  }

 private:
  std::vector<MappedFile> files_;
};

}  // namespace tbtrace::recorder
