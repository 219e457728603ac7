// Finds the members of a JSON object that a later one with the same key replaces, as in
// json.loads().
// Reuses its buffers; one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "trace/event_batch.h"

namespace tbtrace::chrome {

class RepeatedKeys {
 public:
  /// Analyses an object, replacing the previous result.
  void find(std::span<const RowMember> members);

  /// Whether a later member has the same key as this one.
  bool comes_again(std::size_t member) const { return !replaced_.empty() && replaced_[member]; }

 private:
  bool may_repeat(std::span<const RowMember> members);

  std::vector<bool> replaced_;  // empty if no key is repeated
  std::vector<std::string_view> unknown_;
  std::unordered_set<std::string_view> seen_;
};

}  // namespace tbtrace::chrome
