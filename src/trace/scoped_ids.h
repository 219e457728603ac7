// Rows by an id that is unique within one process (process_scopes.h).
// Owns its memory. One writer, or any number of readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/id_map.h"

namespace tbtrace {

class ScopedIds {
 public:
  static constexpr std::uint32_t kNone = IdMap::kNone;

  /// `scopes`: number of processes. `expected`: approximate number of ids.
  explicit ScopedIds(std::size_t scopes, std::size_t expected = 0)
      : first_(expected), has_ids_(scopes, false) {}

  /// Gives the id a row if it has none yet in the scope. Returns whether the id was new.
  bool insert(std::uint32_t scope, std::int64_t id, std::uint32_t row) {
    const bool is_new = first_.insert(id, row).second;
    if (has_ids_.size() <= 1 || scope >= has_ids_.size()) return is_new;
    has_ids_[scope] = true;
    const bool is_new_here = by_scope_.try_emplace({scope, id}, row).second;
    if (!is_new && is_new_here) shared_.insert(id, 0);
    return is_new_here;
  }

  /// Gives the id a row in the scope and returns its previous one, kNone if it had none.
  std::uint32_t replace(std::uint32_t scope, std::int64_t id, std::uint32_t row) {
    const std::uint32_t before = first_.replace(id, row);
    if (has_ids_.size() <= 1 || scope >= has_ids_.size()) return before;
    has_ids_[scope] = true;
    const auto [here, is_new_here] = by_scope_.try_emplace({scope, id}, row);
    if (before != kNone && is_new_here) shared_.insert(id, 0);
    return is_new_here ? kNone : std::exchange(here->second, row);
  }

  /// The row of the id in the scope. If that process has no ids at all, or is unknown: the row in
  /// the only process that has the id. kNone if there is none.
  std::uint32_t find(std::uint32_t scope, std::int64_t id) const {
    if (has_ids_.size() <= 1) return first_.find(id);
    if (scope < has_ids_.size() && has_ids_[scope]) {
      const auto found = by_scope_.find({scope, id});
      return found == by_scope_.end() ? kNone : found->second;
    }
    return shared_.find(id) == kNone ? first_.find(id) : kNone;
  }

  bool empty() const { return first_.size() == 0; }

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return hash_integer(static_cast<std::uint64_t>(key.second), key.first);
    }
  };

  IdMap first_;  // over all processes; the last row set by replace()
  std::vector<bool> has_ids_;
  std::unordered_map<Key, std::uint32_t, KeyHash> by_scope_;  // if there are several
  IdMap shared_;                                              // ids that several processes have
};

}  // namespace tbtrace
