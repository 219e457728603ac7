// Keeps others from the journal of a dead process while this one recovers it.
// Owns a lock of the process, which other processes see, and a place in a list, which its own
// threads see. A journal whose files may not be written can be claimed by several.
#pragma once

#include <filesystem>

namespace tbtrace::recorder::journal {

class Claim {
 public:
  explicit Claim(const std::filesystem::path& folder);
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim();

  /// False: the journal's process is alive, or somebody else recovers it, or has removed it.
  bool is_ours() const { return is_ours_; }

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
  bool is_listed_ = false;
  bool is_ours_ = false;
};

}  // namespace tbtrace::recorder::journal
